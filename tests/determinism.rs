//! Scenario, protocol and seed in, one history out: byte for byte, wherever and whenever it is run.

mod draws;
#[path = "../examples/outside/tests/same.rs"]
mod same;

use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use holdover::replay::{Replay, protocols_of};
use holdover::report::jsonl;
use holdover::scenario::Scenario;
use holdover::sim::history::History;
use holdover::sim::protocol::AnyProtocol;
use holdover::sim::run::run;
use holdover::sim::seed::Seed;

/// How many seeds beside its own each scenario is run with.
const SEEDS: u64 = 200;

/// The incident and its controls.
fn files() -> Vec<PathBuf> {
    let folder = Path::new("scenarios/incidents").read_dir().expect("the repository has this folder");
    let mut files: Vec<_> = folder.map(|entry| entry.expect("a folder can be read").path()).collect();
    files.sort_unstable();
    assert!(files.len() >= 6);
    files
}

fn load(path: &Path) -> Scenario {
    Scenario::load(path).expect("the incident's files are scenarios")
}

/// One run to be repeated.
#[derive(Clone)]
struct Case {
    scenario: Arc<Scenario>,
    protocol: &'static dyn AnyProtocol,
    seed: Seed,
}

impl Case {
    fn run(&self) -> History {
        run(&self.scenario.world, self.protocol, &self.scenario.plan, self.seed)
    }

    #[track_caller]
    fn check(&self, bytes: &[u8], how: &str) {
        let Case { scenario, protocol, seed } = self;
        let title = &scenario.title;
        assert!(self.run().bytes() == bytes, "{title} under {} with seed {}: {how}", protocol.name(), seed.0);
    }
}

/// Each scenario with its own seed and `seeds` others; the protocols take turns.
fn cases(seeds: u64) -> Vec<Case> {
    let mut cases = Vec::new();
    for path in files() {
        let scenario = Arc::new(load(&path));
        for seed in [scenario.seed].into_iter().chain((0..seeds).map(Seed)) {
            let scenario = &scenario;
            cases.extend(protocols_of(scenario).into_iter().map(|protocol| Case {
                scenario: scenario.clone(),
                protocol,
                seed,
            }));
        }
    }
    cases
}

fn bytes(cases: &[Case]) -> Vec<Vec<u8>> {
    cases.iter().map(|case| case.run().bytes()).collect()
}

#[test]
fn once_more_on_the_same_thread_after_other_seeds_protocols_and_scenarios() {
    let cases = cases(SEEDS);
    let bytes = bytes(&cases);
    for (case, bytes) in cases.iter().zip(&bytes).rev() {
        case.check(bytes, "differs when it runs after the others");
    }
    cases[0].check(&bytes[0], "differs when it runs after itself");
}

#[test]
fn on_two_threads_at_once() {
    let cases = cases(SEEDS);
    let reversed: Vec<_> = cases.iter().rev().cloned().collect();
    let (forward, backward) = thread::scope(|scope| {
        let (one, other) = (scope.spawn(|| bytes(&cases)), scope.spawn(|| bytes(&reversed)));
        (one.join().expect("no run panics"), other.join().expect("no run panics"))
    });
    for (i, (one, other)) in forward.iter().zip(backward.iter().rev()).enumerate() {
        let Case { scenario, protocol, seed } = &cases[i];
        assert!(one == other, "{} under {} with seed {}", scenario.title, protocol.name(), seed.0);
    }
}

#[test]
fn on_a_thread_of_its_own() {
    for case in cases(20) {
        let of_thread = thread::scope(|scope| scope.spawn(|| case.run().bytes()).join()).expect("no run panics");
        case.check(&of_thread, "differs on a thread of its own");
    }
}

#[test]
fn other_seeds_give_other_histories() {
    let cases = cases(5);
    let mut bytes = bytes(&cases);
    bytes.sort_unstable();
    bytes.dedup();
    assert_eq!(bytes.len(), cases.len());
}

/// What a process of its own prints of the histories.
fn printed(path: &Path, seed: u64, log: &str) -> Vec<u8> {
    let output = Command::new(env!("CARGO_BIN_EXE_holdover"))
        .args(["replay", "--format", "jsonl", "--seed", &seed.to_string()])
        .arg(path)
        .env("RUST_LOG", log)
        .output()
        .expect("the program was built");
    assert!(output.status.success(), "{path:?} with seed {seed}: {output:?}");
    assert_eq!(output.stderr.is_empty(), log.is_empty(), "{log:?}");
    output.stdout
}

#[test]
fn in_a_process_of_its_own_whether_it_logs_or_not() {
    for path in files() {
        let scenario = load(&path);
        for seed in [7, 8, u64::MAX] {
            let mut here = Vec::new();
            let replay = Replay::new(&scenario, &protocols_of(&scenario), Seed(seed));
            jsonl::write(&replay, &mut here).expect("a Vec takes any bytes");
            for log in ["", "", "holdover=trace"] {
                assert!(printed(&path, seed, log) == here, "{path:?} with seed {seed}, RUST_LOG={log:?}");
            }
        }
    }
}

/// The tests are run as they are and optimised, and on any machine: all of them must come to these fingerprints.
///
/// They change whenever the histories do. `cargo insta review` then shows which.
#[test]
fn whatever_the_build_and_the_machine() {
    let mut table = String::new();
    for path in files() {
        let scenario = load(&path);
        let name = path.file_stem().expect("a file has a name").display();
        for protocol in protocols_of(&scenario) {
            let fingerprint = run(&scenario.world, protocol, &scenario.plan, scenario.seed).fingerprint();
            writeln!(table, "{name:26} {:8} {fingerprint}", protocol.name()).expect("a String takes any text");
        }
    }
    insta::assert_snapshot!("fingerprints", table);
}

/// Keeps all that is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no logger panics").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The subscriber also asks for the time whenever something is logged, which is time on the simulated host.
#[test]
fn whoever_listens_to_the_log() {
    for case in cases(5) {
        let log = Log::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        let logged = tracing::subscriber::with_default(subscriber, || case.run());
        case.check(&logged.bytes(), "differs when it is logged");
        let log = String::from_utf8(log.0.lock().expect("no logger panics").clone()).expect("logs are texts");
        let lines = log.lines().filter(|line| line.contains(" holdover: ")).count();
        assert_eq!(lines, logged.events.len(), "every event is logged");
    }
}

#[test]
fn a_fault_taken_away_leaves_every_other_draw_as_it_was() {
    for case in cases(20) {
        let with_all = case.run();
        for taken_away in 0..case.scenario.plan.len() {
            let mut plan = case.scenario.plan.clone();
            plan.remove(taken_away);
            let without = run(&case.scenario.world, case.protocol, &plan, case.seed);
            assert_ne!(with_all.events, without.events);
            let compared = draws::agree(&with_all, &without);
            assert!(compared > 100, "only {compared} draws compared");
        }
    }
}
