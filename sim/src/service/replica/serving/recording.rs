//! What the history is told of what a replica has carried out.

use std::rc::Rc;

use super::Replica;
use crate::engine::ServiceContext;
use crate::history::What;
use crate::id::LeaseId;
use crate::service::replica::machine::{Command, Effect, Held};
use crate::time::WallTime;

impl Replica {
    fn until(held: &Held, context: &ServiceContext<'_>) -> WallTime {
        held.deadline.unwrap_or(context.wall() + held.ttl)
    }

    pub(super) fn renewal(&self, held: &Held, context: &ServiceContext<'_>) -> What {
        let (worker, epoch) = (held.by.client, self.epoch(held, context));
        What::LeaseRenewed { worker, epoch, until: Replica::until(held, context) }
    }

    /// Records what came of a command, if this replica is the first to have it done.
    pub(super) fn record(&self, command: Command, effect: Effect, context: &ServiceContext<'_>) {
        let Some(what) = self.told(command, effect, context) else { return };
        let (notes, position) = (Rc::clone(&self.notes), self.machine.position);
        context.record_if(move || notes.borrow_mut().is_first(position, command), what);
    }

    fn told(&self, command: Command, effect: Effect, context: &ServiceContext<'_>) -> Option<What> {
        Some(match (effect, command) {
            (Effect::Granted(held), _) => What::LeaseGranted {
                worker: held.by.client,
                epoch: self.epoch(&held, context),
                lease: LeaseId(held.granted),
                token: Some(held.token),
                until: Replica::until(&held, context),
            },
            (Effect::Refused { holder }, Command::Ask { by, .. }) => {
                What::LeaseRefused { worker: by.client, holder }
            }
            (Effect::Renewed(held), _) => self.renewal(&held, context),
            (Effect::RenewalRefused { token }, Command::Ask { by, .. }) => {
                let epoch = self.notes.borrow().epoch_of(token)?;
                What::RenewalRefused { worker: by.client, epoch }
            }
            (Effect::Released(held), _) => {
                What::LeaseReleased { worker: held.by.client, epoch: self.epoch(&held, context) }
            }
            (Effect::Revoked(held), _) => {
                What::LeaseRevoked { worker: held.by.client, epoch: self.epoch(&held, context) }
            }
            _ => return None,
        })
    }
}
