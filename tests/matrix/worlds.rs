//! Worlds of all kinds: those of the repository's scenarios, with what can be said of a world changed at random, clocks and
//! faults drawn, any protocols, and expectations that are met or not.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use holdover::explore::generate::{Generator, Profile, Selection, with_drawn_clocks};
use holdover::replay::Replay;
use holdover::scenario::{Expectation, Expected, Scenario};
use holdover::sim::check::CHECKERS;
use holdover::sim::lease::{Ending, LeaseService, ReplicaSpec};
use holdover::sim::protocol::{self, AnyProtocol};
use holdover::sim::repair::{Chosen, PROCEDURES};
use holdover::sim::seed::Seed;
use holdover::sim::service::lease_store::Expiry;
use holdover::sim::time::{Span, TrueTime};
use holdover::sim::world::{ClockSpec, Keys, PayoutSpec, WorkerSpec, WorldSpec};

use crate::dice::Dice;

/// Titles that nobody means well by.
const TITLES: [&str; 5] =
    ["One of many", "Größe 日本 👩\u{200d}🚀", "a \u{202e}b", "<b> & `c` | \"d\" 'e' $f", "-"];

/// Names of files, likewise.
const FILES: [&str; 6] =
    ["world.toml", "a world.toml", "it's.toml", "\u{202e}\u{200b}.toml", "-w.toml", "$(x) 日本.toml"];

/// The node that there is only under some protocols.
const LEASE_STORE: &str = "lease-store";

/// A drawn world, as a file.
pub(crate) struct Drawn {
    pub(crate) scenario: Scenario,
    pub(crate) text: String,
    pub(crate) file: &'static str,
    /// The names of the nodes that it has under every protocol.
    pub(crate) nodes: Vec<String>,
}

/// The repository's scenarios, by folder.
pub(crate) struct Bases(Vec<Vec<Scenario>>);

impl Bases {
    pub(crate) fn of_the_repository() -> Bases {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
        let mut folders: BTreeMap<PathBuf, Vec<Scenario>> = BTreeMap::new();
        let mut open = vec![root];
        while let Some(folder) = open.pop() {
            let entries = fs::read_dir(&folder).expect("a folder of scenarios can be read");
            let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
            paths.sort();
            for path in paths {
                if path.is_dir() && path.file_name().is_some_and(|name| name != "invalid") {
                    open.push(path);
                } else if path.extension().is_some_and(|end| end == "toml") {
                    let scenario = Scenario::load(&path).expect("it is a scenario");
                    folders.entry(folder.clone()).or_default().push(scenario);
                }
            }
        }
        Bases(folders.into_values().collect())
    }

    /// A world with at most `faults` of its own or drawn.
    pub(crate) fn draw(&self, dice: &mut Dice, faults: usize) -> Drawn {
        loop {
            let folder = dice.one_of(&self.0);
            let mut scenario = dice.one_of(folder).clone();
            twist(&mut scenario.world, dice);
            plan(&mut scenario, dice, faults);
            let known: Vec<String> = protocol::named()
                .filter(|known| protocol::can_run(*known as &dyn AnyProtocol, &scenario.world))
                .map(|known| known.name().to_owned())
                .collect();
            if known.is_empty() {
                continue;
            }
            scenario.protocols = dice.some_of(&known);
            scenario.expect.clear();
            scenario.seed = Seed(dice.below(1 << 40));
            if dice.chance(30) {
                scenario.title = dice.name(&TITLES).to_owned();
            }
            // What no file can say, such as a fault on a node that isn't there, isn't drawn.
            let Ok(text) = scenario.to_toml() else { continue };
            let Ok(mut scenario) = Scenario::parse("drawn", &text) else {
                panic!("what was written is read:\n{text}")
            };
            expect(&mut scenario, dice);
            let text = scenario.to_toml().expect("expectations can be written");
            let nodes = holdover::sim::world::node_names(&scenario.world);
            // A protocol that keeps its lease on replicas has no store.
            let nodes = nodes.iter().filter(|name| **name != LEASE_STORE).map(|name| name.to_string()).collect();
            return Drawn { scenario, text, file: dice.name(&FILES), nodes };
        }
    }
}

/// Changes what can be said of a world, each thing now and then.
fn twist(world: &mut WorldSpec, dice: &mut Dice) {
    if dice.chance(25) {
        world.lease.service = Some(service(dice));
    }
    if dice.chance(15) {
        let ttl = *dice.one_of(&[500, 3_000, 20_000, 60_000]);
        world.lease.ttl = Span::millis(ttl);
        world.lease.renew_every = Span::millis(ttl / *dice.one_of(&[2, 3, 5]));
    }
    if dice.chance(10) {
        let rules = [None, Some(Expiry::ByAsker), Some(Expiry::ByStore), Some(Expiry::AT_TRANSACTION_START)];
        world.lease.expiry = *dice.one_of(&rules);
    }
    if dice.chance(20) {
        world.job.operations = 1 + dice.below(20) as u32;
    }
    if dice.chance(15) {
        let count = 1 + dice.below(4) as usize;
        world.workers.truncate(count);
        while world.workers.len() < count {
            world.workers.push(person(&format!("worker-{}", world.workers.len()), dice));
        }
    }
    if dice.chance(10) {
        world.ledger.forgets_tokens = !world.ledger.forgets_tokens;
    }
    if dice.chance(15) {
        world.provider.keys =
            *dice.one_of(&[None, Some(Keys::None), Some(Keys::Kept), Some(Keys::For(Span::secs(30)))]);
        world.provider.checks_tokens = *dice.one_of(&[None, Some(true), Some(false)]);
        world.provider.payouts = *dice.one_of(&[None, Some(PayoutSpec::default())]);
    }
    if dice.chance(15) {
        world.operators.clear();
        for number in 0..dice.below(3) {
            let mut operator = person(&format!("operator-{number}"), dice);
            operator.starts = TrueTime::START + Span::secs(60 + dice.below(30) as i64);
            world.operators.push(operator);
        }
        world.repair.procedure = Chosen(*dice.one_of(PROCEDURES));
    }
    if dice.chance(6) {
        world.limits.steps = 20 + dice.below(600);
    }
    if dice.chance(8) {
        world.limits.end = TrueTime::START + Span::secs(1 + dice.below(200) as i64);
    }
}

fn person(name: &str, dice: &mut Dice) -> WorkerSpec {
    WorkerSpec {
        name: name.to_owned(),
        starts: TrueTime::START + Span::secs(dice.below(10) as i64),
        clock: ClockSpec::default(),
    }
}

fn service(dice: &mut Dice) -> LeaseService {
    let endings = [Ending::LeaderTimers, Ending::ReplicatedDeadlines, Ending::LockDelay(Span::secs(15))];
    let three = ReplicaSpec { ending: *dice.one_of(&endings), ..ReplicaSpec::THREE };
    match dice.below(5) {
        0 => LeaseService::Table,
        1 => LeaseService::AsyncReplica(ReplicaSpec::PAIR),
        2 => LeaseService::AsyncReplica(three),
        3 => LeaseService::Consensus(three),
        _ => LeaseService::Consensus(ReplicaSpec { count: 5, ..three }),
    }
}

/// Draws clocks and a plan, in place of the scenario's own or on top of it, or leaves them.
fn plan(scenario: &mut Scenario, dice: &mut Dice, faults: usize) {
    let profile = *dice.one_of(&Profile::ALL);
    let seed = Seed(dice.number());
    let (draws_clocks, draws_plan) = (dice.chance(40), dice.chance(70));
    if draws_plan {
        let mut generator = Generator::new(&scenario.world, profile);
        if dice.chance(30) {
            let groups = Selection::groups();
            generator = generator.only(dice.one_of(&groups).0.parse().expect("it is a group"));
        }
        if dice.chance(30) {
            generator = generator.on_top_of(&scenario.plan);
        }
        scenario.plan = generator.plan(seed);
    }
    scenario.plan.truncate(faults);
    if draws_clocks {
        scenario.world = with_drawn_clocks(&scenario.world, &scenario.plan, profile, seed);
    }
}

/// Expects what it comes to, or something, or nothing.
fn expect(scenario: &mut Scenario, dice: &mut Dice) {
    match dice.below(4) {
        0 | 1 => {
            let replay = Replay::of(scenario);
            let verdicts = replay.runs.iter().map(|run| {
                let named = |name: &str| Expected::ALL.into_iter().find(|known| known.name() == name);
                let verdicts = run.verdicts.iter().filter_map(|(checker, verdict)| {
                    Some((checker.name.to_owned(), named(verdict.name())?))
                        .filter(|(_, is)| *is != Expected::Holds)
                });
                let expectation = Expectation { verdicts: verdicts.collect(), seen: Vec::new() };
                (run.protocol.name().to_owned(), expectation)
            });
            let met: BTreeMap<String, Expectation> = verdicts.collect();
            scenario.expect = met.into_iter().filter(|(_, one)| !one.verdicts.is_empty()).collect();
        }
        2 => {
            let protocol = dice.one_of(&scenario.protocols).clone();
            let verdicts = [(dice.one_of(CHECKERS).name.to_owned(), *dice.one_of(&Expected::ALL))];
            let seen = if dice.chance(50) { vec!["takeover".to_owned()] } else { Vec::new() };
            scenario.expect.insert(protocol, Expectation { verdicts: verdicts.into(), seen });
        }
        _ => {}
    }
}
