//! What a worker has in hand, for whoever tells it to stop; and how its code learns that it was told.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::rc::{Rc, Weak};
use std::task::{Poll, Waker};

use super::{Lease, Worker};
use crate::engine::TaskHandle;

/// What a worker has in hand.
#[derive(Default)]
pub(super) struct Hands {
    /// Weak, because a lease knows its worker.
    lease: RefCell<Weak<Lease>>,
    renewals: RefCell<Option<TaskHandle>>,
    stops: Cell<bool>,
    /// What waits to be told to stop.
    waiting: RefCell<Vec<Waker>>,
}

impl Hands {
    pub(super) fn take(&self, lease: &Rc<Lease>) {
        *self.lease.borrow_mut() = Rc::downgrade(lease);
    }
}

impl Worker {
    /// Notes the task that renews the worker's lease, for whoever tells it to stop.
    pub fn take_in_hand(&self, renewals: TaskHandle) {
        *self.0.hands.renewals.borrow_mut() = Some(renewals);
    }

    /// The lease that the worker took last, if it still has it in hand.
    pub fn lease_in_hand(&self) -> Option<Rc<Lease>> {
        self.0.hands.lease.borrow().upgrade()
    }

    /// Ends the renewals that are in hand, if there are any.
    pub fn stop_renewing(&self) {
        let renewals = self.0.hands.renewals.borrow_mut().take();
        if let Some(renewals) = renewals {
            renewals.cancel();
        }
    }

    /// Notes that the worker was told to stop, and wakes what waits for that.
    pub(crate) fn note_told_to_stop(&self) {
        self.0.hands.stops.set(true);
        self.0.hands.waiting.take().into_iter().for_each(Waker::wake);
    }

    /// Whether the worker was told to stop. The settlement then asks for no more leases.
    pub fn is_told_to_stop(&self) -> bool {
        self.0.hands.stops.get()
    }

    /// Waits until the worker is told to stop; for ever, if it never is.
    pub fn told_to_stop(&self) -> impl Future<Output = ()> + use<'_> {
        poll_fn(|context| match self.is_told_to_stop() {
            true => Poll::Ready(()),
            false => {
                let waiting = &mut *self.0.hands.waiting.borrow_mut();
                if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
                    waiting.push(context.waker().clone());
                }
                Poll::Pending
            }
        })
    }
}
