//! What the history is told of what a replica has carried out.

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

    pub(super) fn record_renewal(&self, held: &Held, context: &ServiceContext<'_>) {
        let (worker, epoch) = (held.by.client, self.epoch(held, context));
        context.record(What::LeaseRenewed { worker, epoch, until: Replica::until(held, context) });
    }

    pub(super) fn record(&self, command: Command, effect: Effect, context: &ServiceContext<'_>) {
        let what = match (effect, command) {
            (Effect::Nothing, _) => return,
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
            (Effect::Renewed(held), _) => return self.record_renewal(&held, context),
            (Effect::RenewalRefused { token }, Command::Ask { by, .. }) => {
                let epoch = self.notes.borrow().epoch_of(token);
                let Some(epoch) = epoch else { return };
                What::RenewalRefused { worker: by.client, epoch }
            }
            (Effect::Released(held), _) => {
                What::LeaseReleased { worker: held.by.client, epoch: self.epoch(&held, context) }
            }
            (Effect::Revoked(held), _) => {
                What::LeaseRevoked { worker: held.by.client, epoch: self.epoch(&held, context) }
            }
            _ => return,
        };
        context.record(what);
    }
}
