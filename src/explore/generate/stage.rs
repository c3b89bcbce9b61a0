//! What of a world matters for where its faults should strike: who works and when, when leases run out, and who repairs
//! what goes wrong.

use holdover_sim::history::{EVENTS, EVENTS_OF_REPLICAS, REPAIR_EVENTS};
use holdover_sim::id::NodeId;
use holdover_sim::service::{MESSAGES, OF_REPLICAS, REPLICA_LETTERS};
use holdover_sim::time::{Span, TrueTime};
use holdover_sim::world::{LEASE_STORE, LEDGER, LeaseSpec, PROVIDER, PayoutSpec, WorldSpec, worker_node};

/// Where the faults of a plan are to strike. Guessed from the world, as if nothing went wrong; nothing is run.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    /// The lease.
    pub(super) lease: LeaseSpec,
    /// How long a caller waits.
    pub(super) timeout: Span,
    /// The end of the run.
    pub(super) end: TrueTime,
    /// How many operations the batch has.
    pub(super) operations: u32,
    /// The workers; the one that probably gets the lease comes first.
    pub(super) workers: Vec<NodeId>,
    /// The services; replicas of the lease service are one each.
    pub(super) services: Vec<NodeId>,
    /// The replicas of the lease service, if it has any.
    pub(super) replicas: Vec<NodeId>,
    /// What workers ask about.
    pub(super) messages: Vec<&'static str>,
    /// What can happen.
    pub(super) events: Vec<&'static str>,
    /// The nodes with a time daemon.
    pub(super) disciplined: Vec<NodeId>,
    /// The shortest interval at which one of those asks for the time; the lease's TTL if there are none.
    pub(super) source_poll: Span,
    /// When the first worker asks for the lease.
    pub(super) asks: TrueTime,
    /// When the work begins.
    pub(super) work: TrueTime,
    /// How long it takes.
    pub(super) takes: Span,
    /// When the lease runs out of whoever stops renewing it at the beginning of the work.
    pub(super) runs_out: TrueTime,
    /// What operators do afterwards, if there are any.
    pub(super) repair: Option<Repair>,
}

/// A repair, as far as it can be guessed.
#[derive(Clone, Debug)]
pub(super) struct Repair {
    /// The operators; at least one.
    pub(super) operators: Vec<NodeId>,
    /// When the first of them begins.
    pub(super) begins: TrueTime,
    /// How long it takes.
    pub(super) takes: Span,
    /// The lengths that matter to it: how long payouts and refunds take, and how long operators wait.
    pub(super) lengths: [Span; 4],
}

impl Stage {
    /// That of `world`.
    pub(super) fn of(world: &WorldSpec) -> Stage {
        let LeaseSpec { ttl, renew_every, .. } = world.lease;
        let mut by_start: Vec<_> = world.workers.iter().enumerate().collect();
        by_start.sort_by_key(|(_, worker)| worker.starts);
        let workers = by_start.iter().map(|(index, _)| worker_node(*index)).collect();
        let first = by_start.first().map(|(_, worker)| *worker);
        let asks = first.map_or(TrueTime::START, |worker| worker.starts);
        // The job is due by the wall clock of whoever has the lease.
        let offset = first.map_or(Span::ZERO, |worker| worker.clock.offset);
        let due = TrueTime::START + (world.job.due - world.start) - offset;
        let work = due.max(asks);
        let renewals = (work - asks).as_nanos() / renew_every.as_nanos().max(1);
        let (internal, provider) = (world.network.internal.max, world.network.provider.max);
        let operation = world.job.pace.max(internal.times(4) + provider.times(2));
        let services = world.service_clocks.iter().map(|(node, clock)| (*node, clock.discipline));
        // Operators' nodes come right behind the workers'.
        let clocks = world.workers.iter().chain(&world.operators).enumerate();
        let clocks = clocks.map(|(index, worker)| (worker_node(index), worker.clock.discipline));
        let daemons: Vec<_> =
            services.chain(clocks).filter_map(|(node, daemon)| Some((node, daemon?.poll))).collect();
        Stage {
            lease: world.lease,
            timeout: world.network.timeout,
            end: world.limits.end,
            operations: world.job.operations,
            workers,
            services: services_of(world),
            replicas: world.replicas(),
            messages: messages(world),
            events: events(world),
            disciplined: daemons.iter().map(|(node, _)| *node).collect(),
            source_poll: daemons.iter().map(|(_, poll)| *poll).min().unwrap_or(ttl),
            asks,
            work,
            takes: operation.times(world.job.operations.into()) + internal.times(8),
            runs_out: asks + renew_every.times(renewals) + ttl,
            repair: Repair::of(world),
        }
    }

    /// Those who ask services: the workers, and then the operators.
    pub(super) fn askers(&self) -> impl Iterator<Item = NodeId> {
        let operators = self.repair.iter().flat_map(|repair| &repair.operators);
        self.workers.iter().chain(operators).copied()
    }

    /// Whether anybody has a time daemon.
    pub(super) fn has_daemons(&self) -> bool {
        !self.disciplined.is_empty()
    }

    /// The length of the run.
    pub(super) fn run(&self) -> Span {
        self.end - TrueTime::START
    }

    /// The instant, or the one in the run that is nearest.
    pub(super) fn within(&self, at: TrueTime) -> TrueTime {
        let last = TrueTime::from_nanos(self.end.as_nanos() - 1);
        at.min(last).max(TrueTime::START)
    }
}

impl Repair {
    /// That of `world`, as if an operation or two needed a refund and the rest only a question.
    fn of(world: &WorldSpec) -> Option<Repair> {
        let begins = world.operators.iter().map(|operator| operator.starts).min()?;
        let operators = (0..world.operators.len()).map(|index| world.operator_node(index)).collect();
        let PayoutSpec { known_in, settles_in, refunds_in, .. } = world.payouts().unwrap_or_default();
        let (ask_every, quiet_for) = (world.repair.ask_every, world.repair.quiet_for);
        let (internal, provider) = (world.network.internal.max, world.network.provider.max);
        let questions = (internal.times(2) + provider.times(2)).times(world.job.operations.into());
        let payouts = known_in.max + settles_in.max + refunds_in.max;
        let lengths = [settles_in.max, refunds_in.max, ask_every, quiet_for];
        Some(Repair { operators, begins, takes: questions + payouts + quiet_for, lengths })
    }
}

fn services_of(world: &WorldSpec) -> Vec<NodeId> {
    let lease = world.replicas();
    let lease = if lease.is_empty() { vec![LEASE_STORE] } else { lease };
    lease.into_iter().chain([LEDGER, PROVIDER]).collect()
}

/// What workers of `world` ask about.
fn messages(world: &WorldSpec) -> Vec<&'static str> {
    let is_row = world.replicas().is_empty();
    let is_asked = |about: &&str| match is_row {
        true => !OF_REPLICAS.contains(about),
        false => !REPLICA_LETTERS.contains(about),
    };
    MESSAGES.iter().map(|(about, _)| *about).filter(is_asked).collect()
}

/// What can happen in `world`, but for what only repairs have, which are drawn for on their own.
fn events(world: &WorldSpec) -> Vec<&'static str> {
    let is_row = world.replicas().is_empty();
    let is_told_elsewhere = |event: &&str| {
        // Nothing comes after a replica that stopped, and hardly any does.
        REPAIR_EVENTS.contains(event)
            || *event == "replica-stopped"
            || is_row && EVENTS_OF_REPLICAS.contains(event)
    };
    EVENTS.iter().map(|(event, _)| *event).filter(|event| !is_told_elsewhere(event)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use holdover_sim::limits::Limits;
    use holdover_sim::time::WallTime;
    use holdover_sim::world::{
        ClockSpec, JobSpec, Latency, LedgerSpec, NetworkSpec, ProviderSpec, RepairSpec, WorkerSpec,
    };

    use super::*;

    fn millis(min: i64, max: i64) -> Latency {
        Latency { min: Span::millis(min), max: Span::millis(max) }
    }

    /// Workers that start after so many seconds, with a job that is due after `due`.
    fn world(starts: &[i64], due: i64, operations: u32, pace: Span) -> WorldSpec {
        let worker = |starts: &i64| WorkerSpec {
            name: format!("worker-{starts}"),
            starts: TrueTime::START + Span::secs(*starts),
            clock: ClockSpec::default(),
        };
        let start = WallTime::from_nanos(1_768_442_370_000_000_000);
        WorldSpec {
            start,
            workers: starts.iter().map(worker).collect(),
            service_clocks: BTreeMap::new(),
            lease: LeaseSpec {
                ttl: Span::secs(40),
                renew_every: Span::secs(10),
                poll_every: Span::secs(1),
                expiry: None,
                service: None,
            },
            ledger: LedgerSpec::default(),
            provider: ProviderSpec::default(),
            operators: Vec::new(),
            repair: RepairSpec::default(),
            job: JobSpec { operations, due: start + Span::secs(due), pace },
            network: NetworkSpec {
                internal: millis(1, 3),
                provider: millis(24, 30),
                timeout: NetworkSpec::DEFAULT_TIMEOUT,
            },
            limits: Limits { end: TrueTime::START + Span::secs(120), steps: Limits::DEFAULT_STEPS },
            progress_within: Span::secs(60),
        }
    }

    /// When the first worker asks, when the work begins, how long it takes and when the lease runs out.
    #[track_caller]
    fn check(world: WorldSpec, expected: &str) {
        let stage = Stage::of(&world);
        let [asks, work, out] = [stage.asks, stage.work, stage.runs_out].map(|at| at - TrueTime::START);
        assert_eq!(format!("{asks} {work} {} {out}", stage.takes), expected);
    }

    #[test]
    fn the_work_and_the_end_of_the_lease_are_guessed() {
        let pace = Span::millis(100);
        check(world(&[0, 0], 0, 14, pace), "0s 0s 1.424s 40s");
        check(world(&[0, 0], 0, 100, pace), "0s 0s 10.024s 40s");
        // As fast as the network lets it.
        check(world(&[0, 0], 0, 14, Span::ZERO), "0s 0s 1.032s 40s");
        // The last renewal before the work is at 28 s.
        check(world(&[9, 8], 29, 14, pace), "8s 29s 1.424s 68s");
        check(world(&[8], 5, 14, pace), "8s 8s 1.424s 48s");
        check(world(&[], 0, 14, pace), "0s 0s 1.424s 40s");
    }

    #[test]
    fn a_repair_is_guessed_where_there_are_operators() {
        let mut world = world(&[0, 0], 0, 14, Span::millis(100));
        assert!(Stage::of(&world).repair.is_none());
        let operator =
            |seconds| WorkerSpec { starts: TrueTime::START + Span::secs(seconds), ..world.workers[0].clone() };
        world.operators = vec![operator(70), operator(60)];
        let repair = Stage::of(&world).repair.expect("there are operators");
        assert_eq!(repair.operators, [worker_node(2), worker_node(3)]);
        let begins = repair.begins - TrueTime::START;
        assert_eq!(
            format!("{begins} {} {:?}", repair.takes, repair.lengths.map(|length| length.to_string())),
            r#"1m 13.224s ["4s", "3s", "500ms", "5s"]"#
        );
    }

    #[test]
    fn who_starts_first_comes_first() {
        let stage = Stage::of(&world(&[3, 0, 5], 0, 1, Span::ZERO));
        assert_eq!(stage.workers, [worker_node(1), worker_node(0), worker_node(2)]);
        assert_eq!(stage.within(TrueTime::NEVER), TrueTime::from_nanos(stage.end.as_nanos() - 1));
    }
}
