//! Workers' code of other kinds: what combines futures in its own way goes on as well, and what doesn't repeat itself is
//! told so.

use std::cell::Cell;
use std::rc::Rc;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use holdover::sim::fault::Original;
use holdover::sim::history::What;
use holdover::sim::id::{EventId, NodeId};
use holdover::sim::limits::Ending;
use holdover::sim::point::Point;
use holdover::sim::protocol::{Fenced, Protocol, Renewal};
use holdover::sim::service::lease_store::LeaseStoreRules;
use holdover::sim::service::ledger::{Checkpoint, LedgerRules};
use holdover::sim::service::provider::GatewayRules;
use holdover::sim::time::Span;
use holdover::sim::worker::{Lease, Setback, Worker};

use crate::{A, at, later, restore, restorings, run_under, snapshot, when};

/// [`Fenced`], but its renewals are one of several things that are waited for at once, and only what was woken is looked
/// at.
#[derive(Clone)]
struct Combining;

/// [`Fenced`], but what a check says depends on how often any process ever asked.
#[derive(Clone)]
struct Straying;

thread_local! {
    static CHECKS: Cell<u32> = const { Cell::new(0) };
}

macro_rules! fenced_but {
    ($protocol:ident, $name:literal, $($rest:tt)*) => {
        impl Protocol for $protocol {
            fn name(&self) -> &'static str {
                $name
            }

            fn summary(&self) -> &'static str {
                "fenced, for this test"
            }

            fn lease_store(&self) -> LeaseStoreRules {
                Protocol::lease_store(&Fenced)
            }

            fn ledger(&self) -> LedgerRules {
                Protocol::ledger(&Fenced)
            }

            fn gateway(&self) -> GatewayRules {
                Protocol::gateway(&Fenced)
            }

            async fn acquire(&self, worker: &Worker) -> Option<Rc<Lease>> {
                Fenced.acquire(worker).await
            }

            async fn take_over(&self, worker: &Worker, lease: &Lease) -> Result<Checkpoint, Setback> {
                Fenced.take_over(worker, lease).await
            }

            $($rest)*
        }
    };
}

fenced_but! { Combining, "combining",
    async fn renew(&self, worker: &Worker, lease: &Lease) -> Renewal {
        let waits = [700, 100, 400].map(|millis| worker.sleep(Span::millis(millis)));
        let mut waits: FuturesUnordered<_> = waits.into_iter().collect();
        let mut renewal = Renewal::Unsure;
        while waits.next().await.is_some() {
            renewal = Fenced.renew(worker, lease).await;
        }
        renewal
    }

    fn holds(&self, lease: &Lease) -> bool {
        Fenced.holds(lease)
    }
}

fenced_but! { Straying, "straying",
    async fn renew(&self, worker: &Worker, lease: &Lease) -> Renewal {
        Fenced.renew(worker, lease).await
    }

    fn holds(&self, lease: &Lease) -> bool {
        CHECKS.set(CHECKS.get() + 1);
        Fenced.holds(lease) && CHECKS.get() < 4
    }
}

#[test]
fn whatever_combines_futures_goes_on_as_well() {
    for millis in (2_000..5_000).step_by(37) {
        for original in Original::ALL {
            let plan = [(at(millis), snapshot()), (later(10), restore(original))];
            let history = run_under(&Combining, &plan);
            assert_eq!(history.ending, Ending::Finished, "{millis}");
            let (id, taken) = restorings(&history)[0];
            let node = history.event(id).node;
            let renewals = |node: NodeId, id: EventId| {
                let sent = history.events[id.index() + 1..].iter().filter(|event| event.node == node);
                let sent = sent.filter(|event| {
                    matches!(event.what, What::MessageSent { about: "lease.renew", answer: false, .. })
                });
                sent.map(|event| event.at).next()
            };
            // By the clocks that were put back, the next renewal is due when it was due.
            if let (Some(then), Some(now)) = (renewals(A, taken), renewals(node, id))
                && original == Original::Alive
            {
                let (since, again) = (then - history.event(taken).at, now - history.event(id).at);
                assert!((since - again).as_nanos().abs() < 6_000_000, "{millis}: {since} {again}");
            }
        }
    }
}

#[test]
fn code_that_does_not_repeat_itself_is_told_so() {
    CHECKS.set(0);
    let plan = [(when(Point::WRITE_CHECKED, 3), snapshot()), (later(100), restore(Original::Gone))];
    let history = run_under(&Straying, &plan);
    let Ending::Panicked { node, message } = &history.ending else { panic!("{:?}", history.ending) };
    assert_eq!(*node, A);
    assert!(message.contains("did something else when its memory was built again"), "{message}");
}
