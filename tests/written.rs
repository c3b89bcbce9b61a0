//! Writing scenarios: a file of ours that was read and is written says the same and reads well, and what no file can say
//! is refused with the reason.

mod files;

use std::collections::BTreeMap;

use holdover::scenario::{Expectation, Expected, MAX_LINE_BYTES, NotWritable, SMALLEST, Scenario};
use holdover::sim::fault::{
    Anchor, ClockStep, Crash, FAULTS, Fault, LeapSecond, Links, NodeSet, Partition, Pause, PauseClocks,
    PlannedFault, WorkerTask,
};
use holdover::sim::id::NodeId;
use holdover::sim::repair::{Chosen, Procedure};
use holdover::sim::service::lease_store::Expiry;
use holdover::sim::time::{Span, TrueTime, WallTime};
use holdover::sim::world::{
    ClockSpec, Discipline, Keys, Latency, PayoutSpec, SERVICE_NAMES, TimeDaemon, WorkerSpec, worker_node,
};

const COMPLETE: &str = include_str!("data/complete.toml");

const WORKER_A: NodeId = worker_node(0);
const WORKER_B: NodeId = worker_node(1);

#[track_caller]
fn parse(name: &str, text: &str) -> Scenario {
    Scenario::parse(name, text).unwrap_or_else(|error| panic!("{name}: {error:?}\n{text}"))
}

/// The scenario as written, which has been read again and written again.
#[track_caller]
fn written(scenario: &Scenario) -> String {
    let text = scenario.to_toml().unwrap_or_else(|error| panic!("{error}"));
    let read = parse("written", &text);
    assert_eq!(&read, scenario);
    assert_eq!(read.to_toml().as_ref(), Ok(&text));
    text
}

fn smallest() -> Scenario {
    parse("smallest", SMALLEST)
}

fn at(since_start: Span) -> Anchor {
    Anchor::At(TrueTime::START + since_start)
}

fn planned(when: Anchor, inject: impl Into<Fault>) -> PlannedFault {
    PlannedFault { when, inject: inject.into(), note: None, name: None }
}

#[test]
fn every_file_that_can_be_read_is_written_as_it_was_meant() {
    let paths = files::below("scenarios", ".toml");
    let paths: Vec<_> = paths.iter().filter(|path| !path.starts_with("scenarios/invalid/")).collect();
    assert!(paths.len() > 50, "{paths:?}");
    for path in paths {
        written(&parse(path, &files::read(path)));
    }
}

#[test]
fn the_smallest_is_written_as_a_person_wrote_it() {
    assert_eq!(written(&smallest()), SMALLEST);
}

#[test]
fn the_incident_reads_as_a_person_wrote_it() {
    let path = "scenarios/incidents/clock-jump.toml";
    insta::assert_snapshot!(written(&parse(path, &files::read(path))));
}

#[test]
fn every_key_has_its_place() {
    insta::assert_snapshot!(written(&parse("complete", COMPLETE)));
}

/// One night with the first fault of the file for each kind, as far as such a night makes sense.
#[test]
fn every_kind_of_fault_reads_as_a_person_wrote_it() {
    let mut night = smallest();
    night.title = "Everything goes wrong".to_owned();
    for worker in &mut night.world.workers {
        let daemon = TimeDaemon::Timesyncd;
        worker.clock = ClockSpec {
            discipline: Some(Discipline { daemon, poll: daemon.default_poll() }),
            ..ClockSpec::default()
        };
    }
    for kind in FAULTS {
        let path = format!("scenarios/faults/{}.toml", kind.name);
        let mut plan = parse(&path, &files::read(&path)).plan.into_iter();
        night.plan.extend(plan.find(|fault| fault.inject.name() == kind.name));
    }
    assert_eq!(night.plan.len(), FAULTS.len());
    insta::assert_snapshot!(written(&night));
}

#[test]
fn a_crowd_has_its_names_on_several_lines() {
    let mut crowd = smallest();
    let worker = crowd.world.workers[0].clone();
    crowd.world.workers = vec![worker; 1_000];
    for (number, worker) in crowd.world.workers.iter_mut().enumerate() {
        worker.name = format!("worker-{number}");
    }
    let nodes = |from: usize, to: usize| (from..to).map(worker_node);
    let links = Links { between: nodes(0, 9).collect(), and: nodes(9, 1_000).collect(), one_way: false };
    let lasting = Span::secs(5);
    crowd.plan = vec![
        planned(at(Span::secs(1)), Partition { links, lasting }),
        planned(
            at(Span::secs(9)),
            Pause { beside: nodes(1, 12).collect(), ..Pause::of(WORKER_A, lasting, PauseClocks::Frozen) },
        ),
    ];
    let text = written(&crowd);
    assert!(text.lines().all(|line| line.len() < 120));
    let (_, pause) = text.split_once("[[fault]]\nwhen = { at = \"01:59:39\" }\n").expect("the second fault");
    insta::assert_snapshot!(pause);
}

#[test]
fn long_texts_are_broken_where_no_reader_would_take_them() {
    let mut scenario = smallest();
    scenario.title = "A title that nobody reads to the end. ".repeat(1_000);
    scenario.story = Some("x".repeat(MAX_LINE_BYTES * 3));
    scenario.plan = vec![PlannedFault {
        note: Some("\\ \"\"\" ".repeat(5_000)),
        ..planned(at(Span::ZERO), Crash { node: WORKER_A, lasting: None })
    }];
    written(&scenario);
}

/// What `change` makes of the smallest scenario can't be written, and why.
#[track_caller]
fn check(change: impl FnOnce(&mut Scenario), what: &str, why: &str) {
    let mut scenario = smallest();
    change(&mut scenario);
    let expected = NotWritable { what: what.to_owned(), why: why.to_owned() };
    assert_eq!(scenario.to_toml(), Err(expected));
}

/// The same of one with this plan.
#[track_caller]
fn check_plan<const N: usize>(plan: [PlannedFault; N], what: &str, why: &str) {
    check(|scenario| scenario.plan = plan.to_vec(), what, why);
}

/// The same of one whose payouts take their time.
#[track_caller]
fn check_payouts(change: impl FnOnce(&mut PayoutSpec), what: &str, why: &str) {
    check(|scenario| change(scenario.world.provider.payouts.get_or_insert_default()), what, why);
}

fn operator() -> WorkerSpec {
    WorkerSpec { name: "operator".to_owned(), starts: TrueTime::START, clock: ClockSpec::default() }
}

/// A procedure of a program's own.
struct Own;

impl Procedure for Own {
    fn name(&self) -> &'static str {
        "own"
    }

    fn summary(&self) -> &'static str {
        "decides in its own way"
    }
}

#[test]
fn worlds_that_no_file_can_say_are_refused() {
    let late = WallTime::from_nanos(i64::MAX);
    check(|s| s.title = " ".to_owned(), "`title` of the scenario", "the title is empty");
    check(
        |s| s.title = "\u{1b}[31mred".to_owned(),
        "`title` of the scenario",
        "the title has the control character U+001B",
    );
    check(
        |s| s.story = Some("one\r\nother\n".to_owned()),
        "the story",
        "from a file it would come back as another",
    );
    check(|s| s.world.start = late, "`start` of the scenario", "the year 2262 is out of range");
    check(|s| s.world.limits.end = TrueTime::START, "`end` of the scenario", "`01:59:30` is the start of the run");
    check(
        |s| s.world.limits.end = TrueTime::NEVER,
        "`end` of the scenario",
        "`2562047h47m16.854775807s` is too long",
    );
    check(|s| s.world.limits.steps = 0, "`steps` of the scenario", "`steps` is zero");
    check(|s| s.world.workers.clear(), "`worker` of the scenario", "there is no worker");
    check(|s| s.world.lease.ttl = Span::ZERO, "`ttl` of [lease]", "`0s` is no time at all");
    check(
        |s| s.world.lease.renew_every = Span::secs(90),
        "`renew_every` of [lease]",
        "the lease of 40s ends before it is renewed, every 90s",
    );
    check(
        |s| s.world.lease.expiry = Some(Expiry::ByStoreAtTransactionStart { lock_wait: Span::secs(1) }),
        "`expiry` of [lease]",
        "a lease can't end by `transaction-start, 1s ago`",
    );
    check(|s| s.world.job.operations = 0, "`operations` of [job]", "a batch of 0 operations");
    check(
        |s| s.world.job.due = s.world.start + Span::secs(-1),
        "`due` of [job]",
        "`-1s` is before the start of the run",
    );
    check(|s| s.world.job.pace = Span::secs(-1), "`pace` of [job]", "`-1s` is negative");
    check(
        |s| s.world.network.internal = Latency { min: Span::millis(2), max: Span::millis(1) },
        "`internal` of [network]",
        "the range `2ms..1ms` ends below its beginning",
    );
    check(
        |s| s.world.workers[1].name = "worker-a".to_owned(),
        "`name` of worker 2",
        "two workers are called `worker-a`",
    );
    check(
        |s| s.world.workers[0].starts = TrueTime::START + Span::secs(600),
        "`starts` of worker 1",
        "`02:09:30` is not before the end of the run",
    );
    check(
        |s| s.world.workers[0].clock.offset = Span::secs(31 * 86_400),
        "`clock` of worker 1",
        "`31d` is too much for a clock to be off",
    );
    check(
        |s| s.world.service_clocks.extend([(NodeId(7), ClockSpec::default())]),
        "[service.\"node 7\"]",
        "unknown service `node 7`",
    );
    check(
        |s| s.world.operators = vec![s.world.workers[0].clone()],
        "`name` of operator 1",
        "a worker and an operator are both called `worker-a`",
    );
    check(
        |s| {
            let named = |number| WorkerSpec { name: format!("operator-{number}"), ..operator() };
            s.world.operators = (1..=101).map(named).collect();
        },
        "`name` of operator 101",
        "101 operators",
    );
    check(|s| s.world.repair.quiet_for = Span::secs(9), "[repair]", "nobody is there to repair anything");
    check(
        |s| {
            s.world.operators = vec![operator()];
            s.world.repair.ask_every = Span::ZERO;
        },
        "`ask_every` of [repair]",
        "`0s` is no time at all",
    );
    check(
        |s| {
            s.world.operators = vec![operator()];
            s.world.repair.procedure = Chosen(&Own);
        },
        "`procedure` of [repair]",
        "unknown procedure `own`",
    );
    check_payouts(
        |payouts| payouts.settles_in = Latency { min: Span::secs(2), max: Span::secs(1) },
        "`settles_in` of [provider]",
        "the range `2s..1s` ends below its beginning",
    );
    check_payouts(|payouts| payouts.page = 0, "`page` of [provider]", "`page` is zero");
    check_payouts(
        |payouts| payouts.fails_percent = 101,
        "`fails_percent` of [provider]",
        "101 percent of the payouts are more than all",
    );
    check_payouts(
        |payouts| payouts.refunds_fail_percent = 100,
        "`refunds_fail_percent` of [provider]",
        "refunds that all fail",
    );
    check(
        |s| s.world.provider.keys = Some(Keys::For(Span::ZERO)),
        "`keys` of [provider]",
        "`0s` is no time at all",
    );
    check(|s| s.protocols.clear(), "`protocols` of the scenario", "the list of protocols is empty");
    check(|s| s.protocols.push("raft".to_owned()), "`protocols` of the scenario", "unknown protocol `raft`");
    check(
        |s| s.expect.extend([("my lock".to_owned(), Expectation::default())]),
        "[expect.\"my lock\"]",
        "unknown protocol `my lock`",
    );
    check(
        |s| {
            let verdicts = BTreeMap::from([("never-twice".to_owned(), Expected::Holds)]);
            s.expect.insert("naive".to_owned(), Expectation { verdicts, seen: Vec::new() });
            s.protocols = vec!["naive".to_owned()];
        },
        "`never-twice` of [expect.naive]",
        "unknown checker `never-twice`",
    );
    check(
        |s| s.world.workers[0].name = "x".repeat(MAX_LINE_BYTES),
        "`name` of worker 1",
        &format!("`{}…` can't be a worker's name", "x".repeat(60)),
    );
    check(
        |s| s.expect.extend([("x".repeat(MAX_LINE_BYTES), Expectation::default())]),
        "the scenario",
        "its file: line 18 is longer than 10000 bytes",
    );
    check(|s| s.story = Some("x".repeat(1 << 20)), "the scenario", "its file would be larger than 1 MiB");
}

#[test]
fn plans_that_no_file_can_say_are_refused() {
    let step = |seconds| planned(at(Span::secs(seconds)), ClockStep { node: WORKER_A, by: Span::secs(1) });
    let pause = Pause::of(WORKER_A, Span::secs(5), PauseClocks::Frozen);
    // The clean one beside all that are refused.
    let mut scenario = smallest();
    scenario.plan = vec![step(5), planned(at(Span::secs(6)), pause.clone())];
    written(&scenario);

    check_plan(
        [planned(at(Span::secs(1)), Crash { node: NodeId(99), lasting: None })],
        "`inject` of fault 1",
        "unknown node `node 99`",
    );
    check_plan(
        [planned(at(Span::secs(-1)), pause.clone())],
        "`when` of fault 1",
        "`-1s` is before the start of the run",
    );
    check_plan([step(5), step(5)], "`inject` of fault 2", "two steps of the same clock at the same instant");
    check_plan(
        [step(5), planned(at(Span::secs(6)), ClockStep { node: WORKER_A, by: Span::ZERO })],
        "`inject` of fault 2",
        "a step of zero changes nothing",
    );
    check_plan(
        [planned(at(Span::secs(6)), Pause { task: Some(WorkerTask::Work), ..pause.clone() })],
        "`inject` of fault 1",
        "one task alone can't be `frozen`",
    );
    check_plan(
        [planned(at(Span::secs(6)), Pause { beside: vec![WORKER_B, WORKER_B], ..pause.clone() })],
        "`inject` of fault 1",
        "`worker-b` is listed twice",
    );
    let all: NodeSet = (0..SERVICE_NAMES.len() as u16 + 2).map(NodeId).collect();
    for (between, why) in [(NodeSet::default(), "`between` names no node"), (all, "all nodes are on one side")] {
        let links = Links { between, and: NodeSet::default(), one_way: false };
        check_plan(
            [planned(at(Span::secs(6)), Partition { links, lasting: Span::secs(1) })],
            "`inject` of fault 1",
            why,
        );
    }
    check_plan(
        [planned(at(Span::secs(6)), LeapSecond { stepped: Vec::new(), smeared: Vec::new() })],
        "`inject` of fault 1",
        "the leap second reaches nobody",
    );
    let never = Anchor::Fault { name: "never".to_owned(), end: false, delay: Span::ZERO };
    check_plan([planned(never, pause.clone())], "`when` of fault 1", "unknown fault `never`");
    let point = |point: &str, nth| Anchor::Point {
        point: point.to_owned(),
        node: None,
        after: TrueTime::START,
        nth,
        delay: Span::ZERO,
    };
    check_plan([planned(point("my.point", 1), pause.clone())], "`when` of fault 1", "unknown point `my.point`");
    check_plan([planned(point("write.checked", 0), pause.clone())], "`when` of fault 1", "`nth` is zero");
    check_plan(
        [PlannedFault { note: Some("one\nother".to_owned()), ..step(5) }],
        "`note` of fault 1",
        "the note has more than one line",
    );
    check_plan(
        [PlannedFault { name: Some("The First".to_owned()), ..step(5) }],
        "`name` of fault 1",
        "`The First` can't be a fault's name",
    );
}
