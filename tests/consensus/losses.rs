//! Replicas that lose what they wrote: rules may break, but every run comes to an end of its own.

use holdover::explore::generate::{Profile, Selection};
use holdover::explore::hunt::Hunt;
use holdover::scenario::Scenario;
use holdover::sim::check::{Verdict, judge};
use holdover::sim::fault::{Anchor, Fault, Loses, PlannedFault, Restart};
use holdover::sim::history::What;
use holdover::sim::lease::{Ending, Flaw, LeaseService, ReplicaSpec};
use holdover::sim::limits::Ending as RunEnding;
use holdover::sim::protocol::FencedConsensus;
use holdover::sim::run::run;
use holdover::sim::seed::Seed;
use holdover::sim::time::{Span, TrueTime};
use holdover::sim::world::LEASE_STORE;

use crate::support::incident;

/// Numbers that follow from a seed, each below its bound.
struct Numbers(u64);

impl Numbers {
    /// Splitmix64.
    fn below(&mut self, bound: i64) -> i64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed >> 33) as i64 % bound
    }
}

/// The incident's world on such a service, in which something is going on for a while.
fn world(service: LeaseService) -> Scenario {
    let mut scenario = incident();
    scenario.world.lease.service = Some(service);
    scenario.world.job.pace = Span::secs(2);
    scenario.plan.clear();
    scenario
}

/// A drawn night in which each replica restarts a few times, and loses the newest of what it wrote.
fn night(hunt: &Hunt<'_>, seed: u64) -> Scenario {
    let mut night = hunt.scenario_of(seed, "fenced-consensus");
    let mut numbers = Numbers(seed);
    let restart = |numbers: &mut Numbers, node| {
        let (at, down) = (Span::millis(numbers.below(60_000)), Span::millis(1 + numbers.below(4_000)));
        let lost = Span::millis(1 + numbers.below(30_000));
        let inject = Fault::from(Restart { node, lasting: down, loses: Loses::Unsynced(lost) });
        PlannedFault { name: None, when: Anchor::At(TrueTime::START + at), inject, note: None }
    };
    for node in night.world.replicas() {
        for _ in 0..numbers.below(4) {
            night.plan.push(restart(&mut numbers, node));
        }
    }
    night
}

/// So many nights come to an end, and can be judged.
#[track_caller]
fn all_end(service: LeaseService, nights: u64) {
    let world = world(service);
    let faults =
        "pause,restart,failover,split-brain,disk-stall,network".parse::<Selection>().expect("there are these");
    let hunt = Hunt::new(&world).profile(Profile::Hostile).faults(faults);
    for seed in 0..nights {
        let night = night(&hunt, seed);
        let history = run(&night.world, &FencedConsensus, &night.plan, night.seed);
        let ending = &history.ending;
        assert!(!matches!(ending, RunEnding::Panicked { .. }), "seed {seed} of {service:?}: {ending:?}");
        let panicked =
            |verdict: &Verdict| matches!(verdict, Verdict::Unknown { reason } if reason.contains("panic"));
        assert!(!judge(&history).iter().any(|(_, verdict)| panicked(verdict)), "seed {seed} of {service:?}");
    }
}

/// As many in an optimised build, in which these tests are run as well; else a tenth.
fn many(nights: u64) -> u64 {
    if cfg!(debug_assertions) { nights / 10 } else { nights }
}

/// The night in which it was found: the leader lost what it had written in the last seconds, and the others went by that. In
/// some of its seeds the leader was told that more had been decided than it had in its log.
#[test]
fn a_leader_that_lost_writes_stops_and_the_run_goes_on() {
    let text = r#"
        title = "A leader loses its last writes"
        start = 2026-01-15T01:59:30Z
        end = "+2m"
        protocols = ["fenced-consensus"]
        lease = { ttl = "40s", renew_every = "10s" }
        job = { operations = 5, due = "01:59:49.100" }
        worker = [{ name = "worker-a", starts = "01:59:38" }, { name = "worker-b", starts = "01:59:38.050" }]
        [[fault]]
        when = { point = "write.begun", delay = "4.343s" }
        inject = { restart = { node = "lease-store", for = "1ms", loses = "unsynced", unsynced = "5.441s" } }
        [[fault]]
        when = { point = "export.done" }
        inject = { reorder = { between = ["lease-store"], percent = 48, by = "4.842s", for = "2.366s" } }
        # worker-a takes the job for due, and begins early.
        [[fault]]
        when = { at = "+0s" }
        inject = { zone-error = { node = "worker-a", by = "1h", for = "8.015s" } }"#;
    let night = Scenario::parse("night.toml", text).expect("it is one");
    let mut stopped = 0;
    for seed in 0..100 {
        let history = run(&night.world, &FencedConsensus, &night.plan, Seed(seed));
        assert_eq!(history.ending, RunEnding::Finished, "seed {seed}");
        let stops: Vec<_> = history.numbered().filter(|(_, event)| event.what == What::ReplicaStopped).collect();
        let Some((stop, event)) = stops.first() else { continue };
        assert_eq!((stops.len(), event.node), (1, LEASE_STORE), "seed {seed}");
        let after = &history.events[stop.index()..];
        let letters = after.iter().filter(|event| event.node == LEASE_STORE && is_letter(&event.what));
        assert_eq!(letters.count(), 0, "seed {seed}: it writes to nobody");
        stopped += 1;
    }
    assert!(stopped > 5, "{stopped}");
}

fn is_letter(what: &What) -> bool {
    matches!(what, What::MessageSent { about: "lease.heartbeat" | "lease.agree", .. })
}

#[test]
fn replicas_that_agree_lose_writes() {
    for count in [3, 5] {
        all_end(LeaseService::Consensus(ReplicaSpec { count, ..ReplicaSpec::THREE }), many(2_000));
    }
}

#[test]
fn replicas_that_copy_lose_writes() {
    for count in [2, 3, 5] {
        all_end(LeaseService::AsyncReplica(ReplicaSpec { count, ..ReplicaSpec::PAIR }), many(1_000));
    }
}

#[test]
fn replicas_of_all_other_kinds_lose_writes() {
    let three = ReplicaSpec::THREE;
    let flaws = [
        Flaw::RevokesUnconfirmed,
        Flaw::RenewsUnconfirmed,
        Flaw::CountsTokensItself,
        Flaw::ForgetsRetries,
        Flaw::TruncatesAtRestart,
        Flaw::FollowersJudge,
    ];
    let others = [
        ReplicaSpec { ending: Ending::ReplicatedDeadlines, ..three },
        ReplicaSpec { ending: Ending::LockDelay(Span::secs(15)), ..three },
        ReplicaSpec { confirms_renewals: false, confirms_revocations: false, ..three },
    ];
    for spec in flaws.map(|flaw| ReplicaSpec { flaw: Some(flaw), ..three }).into_iter().chain(others) {
        all_end(LeaseService::Consensus(spec), many(100));
        all_end(LeaseService::AsyncReplica(spec), many(100));
    }
}
