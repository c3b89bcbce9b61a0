//! Reading scenarios: a complete one comes out as it was meant, defaults are what they should be, and files that are no
//! scenarios at all are refused by what is the matter with them.

mod render;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use holdover::scenario::{Expected, MAX_BYTES, SMALLEST, Scenario, ScenarioError};
use holdover::sim::clock::Rate;
use holdover::sim::fault::{
    Anchor, ClockSlew, ClockStep, Crash, DelayMessage, DiskStall, Failover, Fault, Links, LoseMessage, Loses,
    Part, Partition, Pause, PauseClocks, PlannedFault, Restart, Shutdown, SplitBrain, Throttle,
};
use holdover::sim::id::NodeId;
use holdover::sim::limits::Limits;
use holdover::sim::repair::{Chosen, DeleteOneWorkersRecords, Reconcile};
use holdover::sim::seed::Seed;
use holdover::sim::service::lease_store::Expiry;
use holdover::sim::time::{Span, TrueTime, WallTime};
use holdover::sim::world::{
    ClockSpec, Discipline, JobSpec, Keys, Latency, LeaseSpec, LedgerSpec, NetworkSpec, PayoutSpec, ProviderSpec,
    RepairSpec, TimeDaemon, WorkerSpec, WorldSpec,
};

const COMPLETE: &str = include_str!("data/complete.toml");

/// 2026-01-15T01:59:30Z, the start of all scenarios here.
const START: WallTime = WallTime::from_nanos(1_768_442_370_000_000_000);

const LEASE_STORE: NodeId = NodeId(0);
const LEDGER: NodeId = NodeId(1);
const PROVIDER: NodeId = NodeId(2);
const WORKER_A: NodeId = NodeId(3);
const WORKER_B: NodeId = NodeId(4);
const OPERATOR: NodeId = NodeId(5);
const SECOND: NodeId = NodeId(6);

fn parse(text: &str) -> Scenario {
    Scenario::parse("test.toml", text).unwrap_or_else(|error| panic!("{}", render::plain(&error, 100)))
}

fn at(millis: i64) -> TrueTime {
    TrueTime::START + Span::millis(millis)
}

#[test]
fn a_complete_scenario_comes_out_as_it_was_meant() {
    let scenario = parse(COMPLETE);
    assert_eq!(scenario.title, "A clock jump creates two lease holders");
    assert_eq!(scenario.story.as_deref(), Some("Worker A pauses for 38 s.\nThen its clock is stepped back.\n"));
    assert_eq!(scenario.seed, Seed(u64::MAX));
    let latency = |min, max| Latency { min: Span::micros(min), max: Span::micros(max) };
    assert_eq!(
        scenario.world,
        WorldSpec {
            start: START,
            workers: vec![
                WorkerSpec {
                    name: "worker-a".to_owned(),
                    starts: at(8_000),
                    clock: ClockSpec {
                        offset: Span::millis(-5),
                        drift: Rate::from_ppb(30_500).expect("in range"),
                        discipline: Some(Discipline { daemon: TimeDaemon::Chrony, poll: Span::secs(16) }),
                    },
                },
                WorkerSpec { name: "worker-b".to_owned(), starts: TrueTime::START, clock: ClockSpec::default() },
            ],
            service_clocks: BTreeMap::from([(
                LEDGER,
                ClockSpec {
                    offset: Span::secs(1),
                    drift: Rate::EXACT,
                    discipline: Some(Discipline { daemon: TimeDaemon::Timesyncd, poll: Span::secs(32) }),
                }
            )]),
            lease: LeaseSpec {
                ttl: Span::secs(40),
                renew_every: Span::secs(10),
                poll_every: Span::millis(500),
                expiry: Some(Expiry::ByStore),
                service: None,
            },
            ledger: LedgerSpec { forgets_tokens: true },
            provider: ProviderSpec {
                keys: Some(Keys::For(Span::secs(86_400))),
                checks_tokens: Some(true),
                payouts: Some(PayoutSpec {
                    known_in: latency(50_000, 200_000),
                    settles_in: latency(3_000_000, 3_000_000),
                    fails_percent: 5,
                    refunds_in: latency(1_000_000, 60_000_000),
                    refunds_fail_percent: 20,
                    answers: false,
                    page: 10,
                }),
            },
            operators: vec![
                WorkerSpec {
                    name: "operator".to_owned(),
                    starts: at(75_000),
                    clock: ClockSpec {
                        offset: Span::ZERO,
                        drift: Rate::from_ppb(-12_500).expect("in range"),
                        discipline: Some(Discipline { daemon: TimeDaemon::Ntpd, poll: Span::secs(64) }),
                    },
                },
                WorkerSpec { name: "second".to_owned(), starts: TrueTime::START, clock: ClockSpec::default() },
            ],
            repair: RepairSpec {
                procedure: Chosen(&DeleteOneWorkersRecords),
                ask_every: Span::millis(250),
                ask_for: Span::secs(120),
                quiet_for: Span::secs(10),
            },
            job: JobSpec { operations: 14, due: START + Span::millis(19_100), pace: Span::millis(250) },
            network: NetworkSpec {
                internal: latency(500, 2_000),
                provider: latency(20_000, 20_000),
                timeout: Span::secs(3)
            },
            limits: Limits { end: at(120_000), steps: 1_000 },
            progress_within: Span::secs(90),
        }
    );
    let at_time = |millis| Anchor::At(at(millis));
    let fault = |when, inject| PlannedFault { when, inject, note: None, name: None };
    let lasting = Span::secs(5);
    let throttle = |node, quota, period| {
        let (quota, period) = (Span::millis(quota), Span::millis(period));
        Fault::Throttle(Throttle { node, quota, period, lasting })
    };
    let split = |node, old: &[NodeId], lag| {
        Fault::SplitBrain(SplitBrain { node, old: old.to_vec(), lag: Span::secs(lag), lasting })
    };
    assert_eq!(
        scenario.plan,
        vec![
            PlannedFault {
                when: Anchor::Point {
                    point: "write.checked".to_owned(),
                    node: Some(WORKER_A),
                    after: at(20_000),
                    nth: 2,
                    delay: Span::ZERO,
                },
                inject: Pause::of(WORKER_A, Span::secs(38), PauseClocks::Running).into(),
                note: Some("host migration".to_owned()),
                name: Some("migration".to_owned()),
            },
            fault(at_time(58_150), Fault::ClockStep(ClockStep { node: WORKER_A, by: Span::millis(-420) })),
            fault(
                at_time(60_000),
                Fault::ClockSlew(ClockSlew {
                    node: WORKER_B,
                    rate: Rate::from_ppb(-500_000).expect("in range"),
                    lasting: Span::secs(30),
                })
            ),
            fault(
                at_time(61_000),
                Fault::Restart(Restart {
                    node: LEDGER,
                    lasting: Span::secs(2),
                    loses: Loses::Unsynced(Span::millis(1_500))
                })
            ),
            fault(
                at_time(62_000),
                Fault::Failover(Failover { node: LEDGER, lag: Span::secs(3), lasting: Span::secs(1) })
            ),
            fault(at_time(63_000), Fault::Crash(Crash { node: WORKER_A, lasting: Some(Span::secs(5)) })),
            fault(at_time(64_000), Fault::Shutdown(Shutdown { node: WORKER_B, lasting: Span::secs(2) })),
            fault(
                Anchor::Point {
                    point: "renew.due".to_owned(),
                    node: None,
                    after: TrueTime::START,
                    nth: 1,
                    delay: Span::ZERO
                },
                Pause::of(WORKER_B, Span::secs(1), PauseClocks::Frozen).into(),
            ),
            fault(at_time(70_000), Pause::of(WORKER_B, Span::secs(1), PauseClocks::Suspended).into()),
            fault(
                Anchor::Event {
                    event: "lease-granted".to_owned(),
                    node: Some(WORKER_B),
                    after: at(1_000),
                    nth: 2,
                    delay: Span::millis(10),
                },
                Fault::Partition(Partition {
                    links: Links {
                        between: [WORKER_A].into_iter().collect(),
                        and: [LEDGER, LEASE_STORE].into_iter().collect(),
                        one_way: true,
                    },
                    lasting: Span::secs(20),
                })
            ),
            fault(
                Anchor::Fault { name: "migration".to_owned(), end: true, delay: Span::millis(50) },
                Fault::DelayMessage(DelayMessage {
                    message: "lease.renew".to_owned(),
                    part: Part::Answer,
                    node: WORKER_A,
                    by: Span::secs(5),
                    nth: 3,
                })
            ),
            fault(at_time(80_000), throttle(WORKER_B, 20, 100)),
            fault(at_time(81_000), throttle(LEDGER, 1, 1_000)),
            fault(at_time(82_000), split(LEASE_STORE, &[WORKER_B, WORKER_A], 0)),
            fault(at_time(83_000), split(LEDGER, &[WORKER_A], 2)),
            fault(at_time(84_000), Fault::DiskStall(DiskStall { node: PROVIDER, lasting })),
            fault(
                Anchor::Point {
                    point: "repair.decided".to_owned(),
                    node: Some(OPERATOR),
                    after: TrueTime::START,
                    nth: 3,
                    delay: Span::ZERO,
                },
                Fault::Crash(Crash { node: SECOND, lasting: Some(lasting) })
            ),
            fault(
                Anchor::Event {
                    event: "operation-decided".to_owned(),
                    node: Some(SECOND),
                    after: TrueTime::START,
                    nth: 1,
                    delay: Span::ZERO,
                },
                Fault::LoseMessage(LoseMessage {
                    message: "provider.refund".to_owned(),
                    part: Part::Answer,
                    node: OPERATOR,
                    nth: 1,
                })
            ),
        ]
    );
    assert_eq!(scenario.protocols, ["fenced", "naive"]);
    let naive = &scenario.expect["naive"];
    let verdicts: Vec<(&str, Expected)> = naive.verdicts.iter().map(|(name, it)| (name.as_str(), *it)).collect();
    assert_eq!(
        verdicts,
        [
            ("export-agreement", Expected::Violated),
            ("progress", Expected::Unknown),
            ("single-writer", Expected::Violated),
        ]
    );
    assert_eq!(naive.seen, ["takeover", "stale-write-tried"]);
    assert_eq!(scenario.expect["fenced"].verdicts["single-writer"], Expected::Holds);
    assert!(scenario.expect["fenced"].seen.is_empty());
}

#[test]
fn what_is_left_out_has_a_default() {
    let scenario = parse(SMALLEST);
    let latency = |min, max| Latency { min: Span::millis(min), max: Span::millis(max) };
    assert_eq!(scenario.seed, Seed(0));
    assert_eq!(scenario.story, None);
    assert_eq!(scenario.world.lease.poll_every, Span::secs(1));
    assert_eq!(scenario.world.job, JobSpec { operations: 14, due: START, pace: Span::millis(100) });
    assert_eq!(
        scenario.world.network,
        NetworkSpec { internal: latency(1, 3), provider: latency(24, 30), timeout: Span::secs(5) }
    );
    assert_eq!(scenario.world.limits, Limits { end: at(600_000), steps: Limits::DEFAULT_STEPS });
    assert_eq!(scenario.world.progress_within, Span::secs(60));
    assert_eq!(scenario.world.provider, ProviderSpec { keys: None, checks_tokens: None, payouts: None });
    assert_eq!((&scenario.world.operators, scenario.world.payouts()), (&Vec::new(), None));
    assert_eq!(
        scenario.world.repair,
        RepairSpec {
            procedure: Chosen(&Reconcile),
            ask_every: Span::millis(500),
            ask_for: Span::secs(300),
            quiet_for: Span::secs(5),
        }
    );
    assert_eq!(scenario.plan, []);
    assert_eq!(scenario.protocols, ["naive", "monotonic", "fenced"]);
    assert!(scenario.expect.is_empty());
}

/// What a provider is when the file says this of it: its keys, its payouts as it takes their time, and whether it does.
#[test]
fn what_is_said_of_payouts_has_them_take_their_time() {
    #[track_caller]
    fn check(said: &str, keys: Option<Keys>, payouts: Option<PayoutSpec>) {
        let world = parse(&format!("{SMALLEST}[provider]\n{said}\n")).world;
        assert_eq!((world.provider.keys, world.payouts()), (keys, payouts), "{said}");
    }
    let usual = PayoutSpec::default();
    check("", None, None);
    check("gateway = \"open\"", None, None);
    check("keys = \"none\"", Some(Keys::None), None);
    check("keys = \"kept\"", Some(Keys::Kept), None);
    check("keys = \"1h30m\"", Some(Keys::For(Span::secs(5_400))), Some(usual));
    check("answers = true", None, Some(usual));
    check("page = 5", None, Some(usual));
    check("fails_percent = 0", None, Some(usual));
    check("refunds_fail_percent = 99", None, Some(PayoutSpec { refunds_fail_percent: 99, ..usual }));
    check("settles_in = \"2s..4s\"", None, Some(usual));
    let exactly = |span| Latency { min: span, max: span };
    check("refunds_in = \"2d\"", None, Some(PayoutSpec { refunds_in: exactly(Span::secs(172_800)), ..usual }));
    check("known_in = \"0s\"", None, Some(PayoutSpec { known_in: exactly(Span::ZERO), ..usual }));
    let operator = parse(&format!("{SMALLEST}[[operator]]\nname = \"operator\"\n")).world;
    assert_eq!((operator.provider, operator.payouts()), (ProviderSpec::default(), Some(usual)));
}

#[test]
fn an_expectation_chooses_its_protocol() {
    let fenced = format!("{SMALLEST}\n[expect.fenced]\n");
    assert_eq!(parse(&fenced).protocols, ["fenced"]);
    let both = format!("{fenced}\n[expect.naive]\n");
    assert_eq!(parse(&both).protocols, ["naive", "fenced"]);
}

#[test]
fn faults_that_touch_or_agree_are_no_contradiction() {
    let fault =
        |at: &str, inject: &str| format!("[[fault]]\nwhen = {{ at = \"{at}\" }}\ninject = {{ {inject} }}\n");
    for (one, other) in [
        // One ends as the other begins.
        (
            fault("+10s", "pause = { node = \"worker-a\", for = \"5s\" }"),
            fault("+15s", "pause = { node = \"worker-a\", for = \"5s\", clocks = \"frozen\" }"),
        ),
        // They overlap and agree.
        (
            fault("+10s", "pause = { node = \"worker-a\", for = \"5s\" }"),
            fault("+12s", "pause = { node = \"worker-a\", for = \"5s\", clocks = \"running\" }"),
        ),
        // They are on two nodes.
        (
            fault("+10s", "pause = { node = \"worker-a\", for = \"5s\" }"),
            fault("+10s", "pause = { node = \"worker-b\", for = \"5s\", clocks = \"frozen\" }"),
        ),
        // They are of two kinds.
        (
            fault("+10s", "clock-step = { node = \"worker-a\", by = \"5s\" }"),
            fault("+10s", "clock-slew = { node = \"worker-a\", ppm = 500, for = \"5s\" }"),
        ),
        (
            fault("+10s", "clock-step = { node = \"worker-a\", by = \"5s\" }"),
            fault("+10.000000001s", "clock-step = { node = \"worker-a\", by = \"5s\" }"),
        ),
    ] {
        assert_eq!(parse(&format!("{SMALLEST}{one}{other}")).plan.len(), 2);
        assert_eq!(parse(&format!("{SMALLEST}{other}{one}")).plan.len(), 2);
    }
}

#[test]
fn a_long_pause_contradicts_more_than_its_neighbour() {
    let pause = |at: u32, seconds: u32, clocks: &str| {
        format!(
            "[[fault]]\nwhen = {{ at = \"+{at}s\" }}\n\
             inject = {{ pause = {{ node = \"worker-a\", for = \"{seconds}s\", clocks = \"{clocks}\" }} }}\n"
        )
    };
    let text =
        [pause(10, 60, "running"), pause(20, 1, "running"), pause(30, 1, "frozen"), pause(40, 1, "running")];
    let error = Scenario::parse("test.toml", &format!("{SMALLEST}{}", text.concat())).expect_err("contradictory");
    let ScenarioError::Text(error) = error else { panic!("{error}") };
    assert_eq!(error.mistakes().count(), 1);
}

#[test]
fn byte_order_mark_and_windows_lines_are_fine() {
    let windows = format!("\u{feff}{}", COMPLETE.replace('\n', "\r\n"));
    assert_eq!(parse(&windows), parse(COMPLETE));
}

/// A place for a file of this test run; the file itself may not be there.
fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// What loading a file with these bytes says, with the path shortened to the name.
fn complaint(name: &str, bytes: &[u8]) -> String {
    let path = scratch(name);
    fs::write(&path, bytes).expect("the target directory can be written");
    complaint_about(&path)
}

fn complaint_about(path: &Path) -> String {
    let error = Scenario::load(path).expect_err("no scenario");
    // So wide that the length of the path, which differs between machines, breaks no line.
    render::plain(&error, 1_000).replace(env!("CARGO_TARGET_TMPDIR"), "TMP")
}

#[test]
fn a_good_file_loads() {
    let path = scratch("good.toml");
    fs::write(&path, SMALLEST).expect("the target directory can be written");
    assert_eq!(Scenario::load(&path).expect("a scenario"), parse(SMALLEST));
}

#[test]
fn files_that_are_no_scenarios_are_refused() {
    let two_mebibytes = vec![b'#'; 2 * MAX_BYTES as usize];
    let mut one_too_many = SMALLEST.as_bytes().to_vec();
    one_too_many.resize(MAX_BYTES as usize + 1, b'\n');
    let complaints = [
        complaint_about(&scratch("missing.toml")),
        complaint_about(&scratch("")),
        complaint_about(Path::new("-")),
        complaint("empty.toml", b""),
        complaint("comments.toml", b"\xef\xbb\xbf# nothing\n\n  # but comments\r\n"),
        complaint("large.toml", &two_mebibytes),
        complaint("one-byte-too-large.toml", &one_too_many),
        complaint("latin-1.toml", b"title = \"Caf\xe9\"\n"),
        complaint("utf-16.toml", b"\xff\xfet\0i\0t\0l\0e\0"),
        complaint("binary.toml", b"\x7fELF\x02\x01\x01\0\0\0"),
        complaint("long-line.toml", format!("{SMALLEST}# {}", "-".repeat(10_000)).as_bytes()),
        complaint("escape.toml", b"title = 'A'\n# \x1b[31mred\n"),
    ];
    insta::assert_snapshot!(complaints.join("\n\n"));
}

#[test]
fn the_largest_file_is_read() {
    let mut bytes = SMALLEST.as_bytes().to_vec();
    bytes.resize(MAX_BYTES as usize, b'\n');
    let path = scratch("largest.toml");
    fs::write(&path, bytes).expect("the target directory can be written");
    assert_eq!(Scenario::load(&path).expect("a scenario").world, parse(SMALLEST).world);
}

#[cfg(unix)]
#[test]
fn devices_and_sockets_are_not_waited_for() {
    let socket = scratch("socket");
    // Left over from an earlier run, if there was one.
    drop(fs::remove_file(&socket));
    let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
    for path in [Path::new("/dev/zero"), &socket] {
        let said = complaint_about(path);
        assert!(said.contains("not a regular file"), "{said}");
    }
}

#[test]
fn too_many_of_anything_is_refused() {
    let workers: String = (0..1_001).map(|i| format!("[[worker]]\nname = \"w{i}\"\n")).collect();
    let workers = format!("{}{workers}", SMALLEST.split("[[worker]]").next().expect("a beginning"));
    let fault = "[[fault]]\nwhen = { at = \"+1s\" }\ninject = { pause = { node = \"worker-a\", for = \"1s\" } }\n";
    for (text, message) in
        [(workers, "1001 workers"), (format!("{SMALLEST}{}", fault.repeat(10_001)), "10001 faults")]
    {
        assert_eq!(Scenario::parse("test.toml", &text).expect_err("too many").to_string(), message);
    }
    assert_eq!(parse(&format!("{SMALLEST}{}", fault.repeat(10_000))).plan.len(), 10_000);
}
