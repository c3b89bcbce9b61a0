//! The grants of the lease, each from when to when.

use holdover_sim::history::{History, Role, What};
use holdover_sim::id::{Epoch, EventId, NodeId, Token};
use holdover_sim::time::{TrueTime, WallTime};

/// One grant, as the lease store has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    /// The event by which it was granted.
    pub(super) event: EventId,
    /// The store.
    pub(super) store: NodeId,
    /// Who got it.
    pub(super) worker: NodeId,
    pub(super) epoch: Epoch,
    pub(super) token: Option<Token>,
    pub(super) from: TrueTime,
    /// When it was given back or went to somebody else; the end of the run, if neither happened.
    pub(super) until: TrueTime,
    /// The end that is written in the store at last, as a time that is right. By the clocks it may be another.
    pub(super) expiry: TrueTime,
    /// Whether the store's deposed primary granted it.
    pub(super) by_deposed: bool,
}

/// The grants of `history`, in order.
pub(super) fn grants(history: &History) -> Vec<Grant> {
    let true_time = |reading: WallTime| TrueTime::START + (reading - history.start);
    let mut grants: Vec<Grant> = Vec::new();
    for (id, event) in history.numbered() {
        if !history.is(event.node, Role::LeaseStore) {
            continue;
        }
        match event.what {
            What::LeaseGranted { worker, epoch, token, until, .. } => {
                let by_deposed = history.by_deposed(event);
                let same_half = grants.iter_mut().rev().find(|grant| grant.by_deposed == by_deposed);
                if let Some(before) = same_half {
                    before.until = before.until.min(event.at);
                }
                grants.push(Grant {
                    event: id,
                    store: event.node,
                    worker,
                    epoch,
                    token,
                    from: event.at,
                    until: history.ended_at,
                    expiry: true_time(until),
                    by_deposed,
                });
            }
            What::LeaseRenewed { epoch, until, .. } => {
                if let Some(grant) = of(&mut grants, epoch) {
                    grant.expiry = true_time(until);
                }
            }
            What::LeaseReleased { epoch, .. } => {
                if let Some(grant) = of(&mut grants, epoch) {
                    grant.until = grant.until.min(event.at);
                }
            }
            _ => {}
        }
    }
    grants
}

fn of(grants: &mut [Grant], epoch: Epoch) -> Option<&mut Grant> {
    grants.iter_mut().rev().find(|grant| grant.epoch == epoch)
}
