//! What a scenario can set, each turned to values far from the usual ones.

use holdover::sim::clock::Rate;
use holdover::sim::lease::{Ending, LeaseService, ReplicaSpec};
use holdover::sim::repair::{Chosen, PROCEDURES};
use holdover::sim::service::lease_store::Expiry;
use holdover::sim::time::{Span, TrueTime};
use holdover::sim::world::{
    ClockSpec, Discipline, Keys, LEASE_STORE, LEDGER, Latency, PROVIDER, PayoutSpec, TimeDaemon, WorkerSpec,
    WorldSpec,
};

/// A setting turned to a value: its name, and what it does to a world.
pub(crate) type Setting = (String, Box<dyn Fn(&mut WorldSpec)>);

pub(crate) fn range(min: i64, max: i64) -> Latency {
    Latency { min: Span::millis(min), max: Span::millis(max) }
}

fn rate(ppm: i32) -> Rate {
    Rate::from_ppb(ppm * 1_000).expect("it is in range")
}

fn set(settings: &mut Vec<Setting>, name: impl Into<String>, to: impl Fn(&mut WorldSpec) + 'static) {
    settings.push((name.into(), Box::new(to)));
}

/// Each setting at its extremes, and a bit beyond the usual.
pub(crate) fn settings() -> Vec<Setting> {
    let mut all: Vec<Setting> = Vec::new();
    set(&mut all, "as it is", |_| {});
    for millis in [20, 400, 1_500, 600_000] {
        set(&mut all, format!("lease.ttl = {millis}ms"), move |world| {
            world.lease.ttl = Span::millis(millis);
            world.lease.renew_every = Span::millis(millis / 4);
        });
    }
    set(&mut all, "lease.renew_every just below", |world| {
        world.lease.renew_every = world.lease.ttl - Span::nanos(1);
    });
    set(&mut all, "lease.renew_every = 1ms", |world| world.lease.renew_every = Span::millis(100));
    set(&mut all, "lease.poll_every = 1ms", |world| world.lease.poll_every = Span::millis(10));
    set(&mut all, "lease.poll_every = 100s", |world| world.lease.poll_every = Span::secs(100));
    for expiry in [Expiry::ByAsker, Expiry::ByStore, Expiry::AT_TRANSACTION_START] {
        set(&mut all, format!("lease.expiry = {expiry:?}"), move |world| {
            if world.lease.service.is_none() {
                world.lease.expiry = Some(expiry);
            }
        });
    }
    set(&mut all, "lease.expiry = asker, of clocks that disagree", |world| {
        world.lease.expiry = Some(Expiry::ByAsker).filter(|_| world.lease.service.is_none());
        world.workers.iter_mut().skip(1).for_each(|worker| worker.clock.offset = Span::secs(3_600));
    });
    set(&mut all, "lease.service = table", |world| world.lease.service = Some(LeaseService::Table));
    let (three, pair) = (ReplicaSpec::THREE, ReplicaSpec::PAIR);
    let endings = [
        Ending::LeaderTimers,
        Ending::ReplicatedDeadlines,
        Ending::LockDelay(Span::millis(1)),
        Ending::LockDelay(Span::secs(100)),
    ];
    for ending in endings {
        let services = [
            LeaseService::Consensus(ReplicaSpec { ending, ..three }),
            LeaseService::Consensus(ReplicaSpec { ending, count: 5, ..three }),
            LeaseService::Consensus(ReplicaSpec { ending, confirms_renewals: false, ..three }),
            LeaseService::Consensus(ReplicaSpec { ending, confirms_revocations: false, ..three }),
            LeaseService::AsyncReplica(ReplicaSpec { ending, ..pair }),
            LeaseService::AsyncReplica(ReplicaSpec { ending, count: 5, confirms_renewals: false, ..pair }),
        ];
        for service in services {
            set(&mut all, format!("lease.service = {service:?}"), move |world| {
                if world.operators.is_empty() {
                    world.lease.service = Some(service);
                }
            });
        }
    }
    set(&mut all, "ledger.highest_token = memory", |world| world.ledger.forgets_tokens = true);
    for keys in [
        Keys::None,
        Keys::Kept,
        Keys::For(Span::nanos(1)),
        Keys::For(Span::secs(1)),
        Keys::For(Span::secs(86_400)),
    ] {
        set(&mut all, format!("provider.keys = {keys:?}"), move |world| world.provider.keys = Some(keys));
    }
    for checks in [true, false] {
        set(&mut all, format!("provider.gateway checks {checks}"), move |world| {
            world.provider.checks_tokens = Some(checks)
        });
    }
    let usual = PayoutSpec::default();
    let payouts = [
        ("usual", usual),
        ("known_in = 60s", PayoutSpec { known_in: range(60_000, 60_000), ..usual }),
        ("known_in = 0", PayoutSpec { known_in: range(0, 0), ..usual }),
        ("settles_in = 100s", PayoutSpec { settles_in: range(100_000, 200_000), ..usual }),
        ("settles_in = 0", PayoutSpec { settles_in: range(0, 0), ..usual }),
        ("fails_percent = 100", PayoutSpec { fails_percent: 100, ..usual }),
        ("fails_percent = 20", PayoutSpec { fails_percent: 20, ..usual }),
        ("refunds_in = 300s", PayoutSpec { refunds_in: range(300_000, 300_000), ..usual }),
        ("refunds_fail_percent = 99", PayoutSpec { refunds_fail_percent: 99, ..usual }),
        ("answers = false", PayoutSpec { answers: false, ..usual }),
        ("page = 1", PayoutSpec { page: 1, ..usual }),
    ];
    for (name, payouts) in payouts {
        set(&mut all, format!("provider.{name}"), move |world| world.provider.payouts = Some(payouts));
    }
    for keys in [Keys::None, Keys::For(Span::secs(1))] {
        set(&mut all, format!("answers = false, keys {keys:?}"), move |world| {
            world.provider.payouts = Some(PayoutSpec { answers: false, ..usual });
            world.provider.keys = Some(keys);
        });
    }
    for procedure in PROCEDURES {
        set(&mut all, format!("repair.procedure = {}", procedure.name()), move |world| {
            world.repair.procedure = Chosen(*procedure)
        });
    }
    for (name, span) in [("1ms", Span::millis(1)), ("200s", Span::secs(200))] {
        set(&mut all, format!("repair.ask_every = {name}"), move |world| world.repair.ask_every = span);
        set(&mut all, format!("repair.ask_for = {name}"), move |world| world.repair.ask_for = span);
        set(&mut all, format!("repair.quiet_for = {name}"), move |world| world.repair.quiet_for = span);
    }
    set(&mut all, "job.operations = 1", |world| world.job.operations = 1);
    set(&mut all, "job.operations = 60", |world| world.job.operations = 60);
    set(&mut all, "job.pace = 1ns", |world| world.job.pace = Span::nanos(1));
    set(&mut all, "job.pace = 20s", |world| world.job.pace = Span::secs(20));
    set(&mut all, "job.due at the start", |world| world.job.due = world.start);
    set(&mut all, "job.due after 100s", |world| world.job.due = world.start + Span::secs(100));
    set(&mut all, "job.finish_within = 1ms", |world| world.progress_within = Span::millis(1));
    for (name, latency) in [
        ("0", range(0, 0)),
        ("0..900ms", range(0, 900)),
        ("1900ms", range(1_900, 1_900)),
        ("0..30s", range(0, 30_000)),
    ] {
        set(&mut all, format!("network.internal = {name}"), move |world| world.network.internal = latency);
        set(&mut all, format!("network.provider = {name}"), move |world| world.network.provider = latency);
    }
    for millis in [1, 4, 40, 1_000_000] {
        set(&mut all, format!("network.timeout = {millis}ms"), move |world| {
            world.network.timeout = Span::millis(millis)
        });
    }
    set(&mut all, "steps = 500", |world| world.limits.steps = 500);
    set(&mut all, "end early", |world| world.limits.end = TrueTime::START + Span::secs(20));
    for seconds in [-3_600, -2, 2, 3_600] {
        for who in ["first", "all"] {
            set(&mut all, format!("worker.clock.offset of {who} = {seconds}s"), move |world| {
                let count = if who == "all" { usize::MAX } else { 1 };
                world.workers.iter_mut().take(count).for_each(|worker| worker.clock.offset = Span::secs(seconds));
            });
        }
        for node in [LEASE_STORE, LEDGER, PROVIDER] {
            set(&mut all, format!("clock.offset of {node:?} = {seconds}s"), move |world| {
                world
                    .service_clocks
                    .insert(node, ClockSpec { offset: Span::secs(seconds), ..ClockSpec::default() });
            });
        }
    }
    for ppm in [-100_000, -400, 400, 100_000] {
        set(&mut all, format!("worker.clock.drift_ppm = {ppm}"), move |world| {
            world.workers[0].clock.drift = rate(ppm)
        });
        for node in [LEASE_STORE, LEDGER, PROVIDER] {
            set(&mut all, format!("clock.drift_ppm of {node:?} = {ppm}"), move |world| {
                world.service_clocks.insert(node, ClockSpec { drift: rate(ppm), ..ClockSpec::default() });
            });
        }
    }
    for (name, clock) in [
        ("offset = 3600s", ClockSpec { offset: Span::secs(3_600), ..ClockSpec::default() }),
        ("drift_ppm = 100000", ClockSpec { drift: rate(100_000), ..ClockSpec::default() }),
        ("drift_ppm = -100000", ClockSpec { drift: rate(-100_000), ..ClockSpec::default() }),
    ] {
        set(&mut all, format!("clock of every replica: {name}"), move |world| {
            for node in world.replicas() {
                world.service_clocks.insert(node, clock);
            }
        });
    }
    for daemon in TimeDaemon::ALL {
        set(&mut all, format!("discipline = {}", daemon.name()), move |world| {
            for (worker, millis) in world.workers.iter_mut().zip([-700, 90]) {
                let discipline = Some(Discipline { daemon, poll: Span::secs(1) });
                worker.clock = ClockSpec { offset: Span::millis(millis), drift: rate(200), discipline };
            }
        });
    }
    set(&mut all, "one worker", |world| world.workers.truncate(1));
    set(&mut all, "six workers", |world| {
        for number in world.workers.len()..6 {
            world.workers.push(WorkerSpec { name: format!("worker-{number}"), ..world.workers[0].clone() });
        }
    });
    set(&mut all, "workers start late", |world| {
        world.workers.iter_mut().for_each(|worker| worker.starts = TrueTime::START + Span::secs(70));
    });
    all
}
