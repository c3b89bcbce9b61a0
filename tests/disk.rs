//! A disk that takes no writes for a while: who waits for it and who doesn't, what becomes of a write that hangs when something
//! else befalls the service meanwhile, and what the others do while a leader hangs.
//!
//! All latencies are fixed, so that a fault can be put between two given messages: the first entry is sent at
//! 01:59:49.104, reaches the ledger at .106, and its answer arrives at .108.

use holdover::scenario::Scenario;
use holdover::sim::check::judge;
use holdover::sim::history::{Event, History, What};
use holdover::sim::id::{NodeId, OpId};
use holdover::sim::limits::Ending;
use holdover::sim::protocol::{AnyProtocol, Fenced, FencedConsensus, Monotonic};
use holdover::sim::run::run;
use holdover::sim::time::TimeOfDay;
use holdover::sim::world::worker_node;

const A: NodeId = worker_node(0);

const WORLD: &str = r#"
title = "A disk that stalls"
start = 2026-01-15T01:59:30Z
end = "+3m"
[lease]
ttl = "40s"
renew_every = "10s"
[job]
operations = 2
due = "01:59:49.100"
[network]
internal = "2ms"
provider = "20ms"
timeout = "10s"
[[worker]]
name = "worker-a"
[[worker]]
name = "worker-b"
starts = "+5s"
"#;

fn scenario(world: &str, faults: &[(&str, &str)]) -> Scenario {
    let faults = faults
        .iter()
        .map(|(when, inject)| format!("[[fault]]\nwhen = {{ at = \"{when}\" }}\ninject = {{ {inject} }}\n"));
    let text = format!("{world}\n{}", faults.collect::<String>());
    Scenario::parse("disk.toml", &text).unwrap_or_else(|error| panic!("{error:?}"))
}

fn history_of(world: &str, faults: &[(&str, &str)], protocol: &dyn AnyProtocol) -> History {
    let scenario = scenario(world, faults);
    run(&scenario.world, protocol, &scenario.plan, scenario.seed)
}

/// What `tells` of `history`, each with its time of day.
fn told(history: &History, tells: impl Fn(&Event) -> Option<&'static str>) -> Vec<String> {
    let told = history.events.iter().filter_map(|event| {
        let time = TimeOfDay(history.utc(event.at)).to_string();
        tells(event).map(|what| format!("{} {what}", &time[3..]))
    });
    told.collect()
}

/// What becomes of worker-a's entry for the first operation, and of the write.
fn of_entry(event: &Event) -> Option<&'static str> {
    match event.what {
        What::WriteAccepted { op: OpId(0), claim, .. } if claim.worker == A => Some("accepted"),
        What::WriteRepeated { op: OpId(0), claim, .. } if claim.worker == A => Some("repeated"),
        What::MessageLost { .. } => Some("lost"),
        What::WriteHung { .. } => Some("hangs"),
        What::WriteReturned { written: true, .. } => Some("written"),
        What::WriteReturned { written: false, .. } => Some("given up"),
        _ => None,
    }
}

#[track_caller]
fn check(faults: &[(&str, &str)], expected: &[&str]) {
    assert_eq!(told(&history_of(WORLD, faults, &Fenced), of_entry), expected);
}

fn stall(node: &str, lasting: &str) -> String {
    format!(r#"disk-stall = {{ node = "{node}", for = "{lasting}" }}"#)
}

const BEFORE: &str = "01:59:49.103";
const LATER: &str = "01:59:50";

#[test]
fn a_write_is_accepted_when_the_disk_takes_it() {
    let five = stall("ledger", "5s");
    check(&[(BEFORE, &five)], &["59:49.106 hangs", "59:54.103 written", "59:54.103 accepted"]);
    // The next write is that of the checkpoint.
    check(&[("01:59:49.107", &five)], &["59:49.106 accepted", "59:49.150 hangs", "59:54.107 written"]);
    // Over before anybody writes, or on another disk.
    check(&[("01:59:44", &five)], &["59:49.106 accepted"]);
    check(&[(BEFORE, &stall("provider", "20ms"))], &["59:49.106 accepted"]);
    // At the provider too, by which the first operation is paid at .128.
    let paid = |event: &Event| match event.what {
        What::PayoutMade { op: OpId(0), .. } => Some("paid"),
        _ => of_entry(event),
    };
    let history = history_of(WORLD, &[(BEFORE, &stall("provider", "5s"))], &Fenced);
    let expected = ["59:49.106 accepted", "59:49.128 hangs", "59:54.103 written", "59:54.103 paid"];
    assert_eq!(told(&history, paid), expected);
}

#[test]
fn whoever_hangs_takes_nothing_in_and_does_it_in_order_afterwards() {
    // The caller asks again after a while. Each of its requests waits, and is carried out.
    let impatient = WORLD.replace("timeout = \"10s\"", "timeout = \"1s\"");
    let history = history_of(&impatient, &[(BEFORE, &stall("ledger", "3s"))], &Fenced);
    let expected =
        ["59:49.106 hangs", "59:52.103 written", "59:52.103 accepted", "59:52.103 repeated", "59:52.103 repeated"];
    assert_eq!(told(&history, of_entry)[..5], expected);
}

#[test]
fn what_writes_nothing_is_answered() {
    // Nobody fences, so the first that the ledger is asked is where to go on.
    let read = |event: &Event| matches!(event.what, What::CheckpointRead { .. }).then_some("read");
    let history = history_of(WORLD, &[("01:59:49", &stall("ledger", "5s"))], &Monotonic);
    assert_eq!(told(&history, read)[0], "59:49.102 read");
    assert_eq!(told(&history, of_entry)[..2], ["59:49.106 hangs", "59:54.000 written"]);
    // Who asks for a lease that another has is refused. The renewal at .002 hangs, and all wait that ask later.
    let asked = |event: &Event| match event.what {
        What::LeaseRefused { .. } => Some("refused"),
        What::LeaseRenewed { .. } => Some("renewed"),
        _ => of_entry(event),
    };
    let history = history_of(WORLD, &[("01:59:38.500", &stall("lease-store", "3s"))], &Fenced);
    let expected = [
        "59:35.002 refused",
        "59:36.002 refused",
        "59:37.002 refused",
        "59:38.002 refused",
        "59:39.002 refused",
        "59:40.002 hangs",
        "59:41.500 written",
        "59:41.500 renewed",
        "59:41.500 refused",
    ];
    assert_eq!(told(&history, asked)[..9], expected);
}

#[test]
fn a_grant_lasts_from_when_it_was_decided() {
    let grant = |faults: &[(&str, &str)]| {
        let history = history_of(WORLD, faults, &Fenced);
        let grants = history.events.iter().filter_map(|event| match event.what {
            What::LeaseGranted { until, .. } => Some((event.at, until)),
            _ => None,
        });
        grants.collect::<Vec<_>>()[0]
    };
    let (usual, late) = (grant(&[]), grant(&[("+0s", &stall("lease-store", "4s"))]));
    assert_eq!(usual.1, late.1);
    assert_eq!((late.0 - usual.0).to_string(), "3.998s");
}

#[test]
fn who_is_killed_in_a_write_has_not_written() {
    let stalled = stall("ledger", "900ms");
    let restart = |loses| format!(r#"restart = {{ node = "ledger", for = "300ms", {loses} }}"#);
    let given_up = [
        "59:49.106 hangs",
        "59:50.000 given up",
        "59:50.000 lost",
        "59:50.104 lost",
        "59:50.208 lost",
        "59:50.312 accepted",
    ];
    for loses in [r#"loses = "memory""#, r#"loses = "unsynced", unsynced = "1ms""#] {
        check(&[(BEFORE, &stalled), (LATER, &restart(loses))], &given_up);
    }
    check(
        &[(BEFORE, &stalled), (LATER, r#"failover = { node = "ledger", lag = "1ms", for = "300ms" }"#)],
        &given_up,
    );
    // Who shuts down in order sees to it first, and only the answer is lost.
    let in_order = [
        "59:49.106 hangs",
        "59:50.000 written",
        "59:50.000 accepted",
        "59:50.002 lost",
        "59:50.104 lost",
        "59:50.208 lost",
        "59:50.312 repeated",
    ];
    check(&[(BEFORE, &stalled), (LATER, &restart(r#"loses = "nothing""#))], &in_order);
    // The disk may stall for longer than the service is down.
    check(
        &[(BEFORE, &stall("ledger", "3s")), (LATER, &restart(r#"loses = "memory""#))],
        &[&given_up[..5], &["59:50.312 hangs", "59:52.103 written", "59:52.103 accepted"]].concat(),
    );
}

#[test]
fn who_is_deposed_in_a_write_gives_it_up() {
    let split = |old: &str| format!(r#"split-brain = {{ node = "ledger", old = ["{old}"], for = "10s" }}"#);
    for old in ["worker-a", "worker-b"] {
        check(
            &[(BEFORE, &stall("ledger", "900ms")), (LATER, &split(old))],
            &["59:49.106 hangs", "59:50.000 given up", "59:50.000 lost", "59:50.104 accepted"],
        );
    }
    // Both halves write to the disk that stalls, and what a half hangs in goes with it.
    let hangs = ["59:49.106 hangs", "59:49.200 given up", "59:49.200 lost", "59:49.304 accepted"];
    let short = r#"split-brain = { node = "ledger", old = ["worker-a"], for = "1.2s" }"#;
    check(&[("01:59:48", short), (BEFORE, &stall("ledger", "150ms"))], &hangs);
}

#[test]
fn a_pause_and_a_stall_are_over_when_the_later_is() {
    let pause = |lasting| format!(r#"pause = {{ node = "ledger", for = "{lasting}", clocks = "frozen" }}"#);
    let two = [(BEFORE, stall("ledger", "2s")), (LATER, pause("3s"))];
    let faults = two.each_ref().map(|(when, fault)| (*when, fault.as_str()));
    check(&faults, &["59:49.106 hangs", "59:53.000 written", "59:53.000 accepted"]);
    let two = [(BEFORE, stall("ledger", "4s")), (LATER, pause("1s"))];
    let faults = two.each_ref().map(|(when, fault)| (*when, fault.as_str()));
    check(&faults, &["59:49.106 hangs", "59:53.103 written", "59:53.103 accepted"]);
}

#[test]
fn a_stall_that_the_end_of_the_run_cuts_off_has_written_nothing() {
    let short = WORLD.replace("+3m", "+25s");
    let history = history_of(&short, &[(BEFORE, &stall("ledger", "1m"))], &Fenced);
    assert_eq!(told(&history, of_entry), ["59:49.106 hangs", "59:55.000 given up"]);
    assert_eq!(history.ending, Ending::TimeUp);
}

const REPLICAS: &str = r#"
service = "consensus"
[job]"#;

/// worker-a's renewal at 01:59:40 hangs. The others elect a leader meanwhile; the old one, when it goes on, has the word of none
/// but itself.
#[test]
fn a_leader_that_hangs_is_followed_by_another_and_confirms_nothing() {
    let world = WORLD.replace("\n[job]", REPLICAS).replace("timeout = \"10s\"", "timeout = \"1s\"");
    let history = history_of(&world, &[("01:59:39.990", &stall("lease-1", "8s"))], &FencedConsensus);
    let led = |event: &Event| match event.what {
        What::LeaderElected => Some("elected"),
        _ => of_entry(event).filter(|told| ["hangs", "written"].contains(told)),
    };
    assert_eq!(told(&history, led), ["59:40.002 hangs", "59:42.004 elected", "59:47.990 written"]);
    let leader = history.nodes.iter().position(|node| node.name == "lease-1");
    let leader = NodeId(leader.expect("there is such a replica") as u16);
    let mut behind = history.events.iter().filter(|event| event.node == leader);
    behind.find(|event| matches!(event.what, What::WriteHung { .. })).expect("it hangs");
    // Not a letter leaves, and none is taken in.
    assert!(matches!(behind.next().map(|event| event.what), Some(What::FaultEnded { .. })));
    assert!(behind.all(|event| !matches!(
        event.what,
        What::LeaseGranted { .. }
            | What::LeaseRenewed { .. }
            | What::LeaseRefused { .. }
            | What::LeaseRevoked { .. }
    )));
    for (checker, verdict) in judge(&history) {
        assert!(verdict.name() == "holds", "{}: {verdict:?}", checker.name);
    }
}

/// A primary that copies answers before others know. What hangs in its write nobody was told of, so it may be lost.
#[test]
fn a_primary_that_is_killed_in_a_write_has_granted_nothing() {
    let world = WORLD.replace("\n[job]", &REPLICAS.replace("consensus", "async-replica"));
    let restart = r#"restart = { node = "lease-1", for = "300ms" }"#;
    let history = history_of(&world, &[("+4ms", &stall("lease-1", "20s")), ("+2s", restart)], &FencedConsensus);
    let grants = |event: &Event| match event.what {
        What::LeaseGranted { .. } => Some("granted"),
        _ => of_entry(event).filter(|told| ["hangs", "given up"].contains(told)),
    };
    let told = told(&history, grants);
    assert_eq!(told[..2], ["59:30.006 hangs", "59:32.000 given up"]);
    for (checker, verdict) in judge(&history) {
        assert!(verdict.name() == "holds", "{}: {verdict:?}", checker.name);
    }
}
