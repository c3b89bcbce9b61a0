//! The daily settlement, the same under every protocol: get the lease, take over, apply the batch, export.
//!
//! Two tasks share the lease: one renews it, one works. Every step is a [`Point`], and there is always one between
//! looking whether the lease holds and acting on it.

use std::rc::Rc;

use crate::history::Row;
use crate::id::OpId;
use crate::point::Point;
use crate::protocol::{Protocol, Renewal};
use crate::service::ledger::Checkpoint;
use crate::time::Span;
use crate::worker::{Lease, Setback, Worker};

/// How long a worker waits after a broken connection before it tries again.
const RETRY_AFTER: Span = Span::millis(100);

/// Why a worker stopped working on the settlement before it was published.
enum Stop {
    /// Its lease ran out or was lost.
    LeaseOver,
    /// A door turned it away.
    Refused,
}

/// The life of a worker's process: it works whenever it gets the lease, until the settlement is published.
pub(crate) async fn work<P: Protocol>(protocol: P, worker: Worker) {
    loop {
        let lease = obtain(&protocol, &worker).await;
        worker.take_in_hand(worker.spawn(keep_renewing(protocol.clone(), worker.clone(), lease.clone())));
        let published = settle(&protocol, &worker, &lease).await;
        worker.stop_renewing();
        lease.give_up();
        if published.is_ok() {
            // A lease that can't be given back runs out by itself.
            let _released = worker.release(&lease).await;
        }
        worker.point(Point::LEASE_ENDED).await;
        if published.is_ok() {
            return worker.finish();
        }
        worker.sleep(worker.lease_spec().poll_every).await;
    }
}

/// What a worker does beside its work when it is told to stop: it gives its lease back, and forgets that the work goes on.
pub(crate) async fn stop(worker: Worker) {
    worker.stop_renewing();
    if let Some(lease) = worker.lease_in_hand() {
        // A lease that can't be given back runs out by itself.
        let _released = worker.release(&lease).await;
    }
}

/// Asks for the lease at every polling interval until it is granted.
async fn obtain<P: Protocol>(protocol: &P, worker: &Worker) -> Rc<Lease> {
    let mut next = worker.mono();
    loop {
        if worker.is_told_to_stop() {
            std::future::pending::<()>().await;
        }
        worker.point(Point::LEASE_WANTED).await;
        if let Some(lease) = protocol.acquire(worker).await {
            worker.point(Point::LEASE_GRANTED).await;
            return lease;
        }
        next = next + worker.lease_spec().poll_every;
        worker.sleep_until(next).await;
    }
}

/// The renewal task: renews at whole intervals from when the lease was asked for.
async fn keep_renewing<P: Protocol>(protocol: P, worker: Worker, lease: Rc<Lease>) {
    let every = worker.lease_spec().renew_every;
    let mut next = lease.since() + every;
    loop {
        worker.sleep_until(next).await;
        worker.point(Point::RENEW_DUE).await;
        let renewal = protocol.renew(&worker, &lease).await;
        worker.point(Point::RENEW_DONE).await;
        if renewal == Renewal::Lost {
            return;
        }
        next = next + every;
    }
}

/// Takes the settlement over and works through what is left of it.
async fn settle<P: Protocol>(protocol: &P, worker: &Worker, lease: &Lease) -> Result<(), Stop> {
    worker.sleep_until_wall(worker.job().due).await;
    // Operations are due at even intervals from here; a worker that is behind goes on without waiting.
    let mut next = worker.mono();
    let checkpoint = take_over(protocol, worker, lease).await?;
    if checkpoint.published {
        return Ok(());
    }
    let mut rows = checkpoint.rows;
    for index in rows.len()..worker.batch().len() {
        worker.sleep_until(next).await;
        next = next + worker.job().pace;
        rows.push(apply(protocol, worker, lease, OpId(index as u32)).await?);
    }
    export(protocol, worker, lease, rows).await
}

async fn take_over<P: Protocol>(protocol: &P, worker: &Worker, lease: &Lease) -> Result<Checkpoint, Stop> {
    loop {
        worker.point(Point::TAKEOVER_BEGUN).await;
        let taken = protocol.take_over(worker, lease).await;
        worker.point(Point::TAKEOVER_DONE).await;
        if let Some(checkpoint) = settle_for(worker, taken).await? {
            return Ok(checkpoint);
        }
    }
}

/// Applies one operation: check, enter, pay, move the checkpoint. After a broken connection all of it is done again,
/// from the check on: what was asked for may have happened or not, and only repeating it tells.
async fn apply<P: Protocol>(protocol: &P, worker: &Worker, lease: &Lease, op: OpId) -> Result<Row, Stop> {
    loop {
        worker.point(Point::WRITE_BEGUN).await;
        check(protocol, worker, lease)?;
        worker.point(Point::WRITE_CHECKED).await;
        let applied = apply_checked(worker, lease, op).await;
        if let Some(row) = settle_for(worker, applied).await? {
            return Ok(row);
        }
    }
}

async fn apply_checked(worker: &Worker, lease: &Lease, op: OpId) -> Result<Row, Setback> {
    let entry = worker.write(lease, op).await;
    worker.point(Point::WRITE_DONE).await;
    let entry = entry?;
    let payout = worker.pay(lease, op).await;
    worker.point(Point::PAYOUT_DONE).await;
    let row = Row { op, amount: worker.batch()[op.index()], entry, payout: payout? };
    let moved = worker.move_checkpoint(lease, row).await;
    worker.point(Point::CHECKPOINT_MOVED).await;
    moved.map(|()| row)
}

async fn export<P: Protocol>(protocol: &P, worker: &Worker, lease: &Lease, rows: Vec<Row>) -> Result<(), Stop> {
    loop {
        worker.point(Point::EXPORT_BEGUN).await;
        check(protocol, worker, lease)?;
        worker.point(Point::EXPORT_CHECKED).await;
        let published = worker.publish(lease, rows.clone()).await;
        worker.point(Point::EXPORT_DONE).await;
        if let Some(()) = settle_for(worker, published).await? {
            return Ok(());
        }
    }
}

/// Looks whether the lease still holds, and records what the worker concluded.
fn check<P: Protocol>(protocol: &P, worker: &Worker, lease: &Lease) -> Result<(), Stop> {
    let valid = protocol.holds(lease);
    worker.note_check(lease, valid);
    if valid { Ok(()) } else { Err(Stop::LeaseOver) }
}

/// What came of a step: its result, a stop, or, after a broken connection and a wait, `None`: it is to be done again.
async fn settle_for<T>(worker: &Worker, outcome: Result<T, Setback>) -> Result<Option<T>, Stop> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(Setback::Refused(_)) => Err(Stop::Refused),
        Err(Setback::Broken) => {
            worker.sleep(RETRY_AFTER).await;
            Ok(None)
        }
    }
}
