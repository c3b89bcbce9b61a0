//! What stands above the faults: the keys at the top, the tables of the world, its workers and services. The other half
//! of `lower`.

use holdover_sim::limits::Limits;
use holdover_sim::time::{Span, TrueTime};
use holdover_sim::world::{
    ClockSpec, JobSpec, LeaseSpec, LedgerSpec, NetworkSpec, ProviderSpec, RepairSpec, WorkerSpec, WorldSpec,
};

use super::keys::{Keys, Setting, other_than};
use super::page::Page;
use super::text;
use crate::scenario::lower::{FINISH_WITHIN, INTERNAL, PACE, PROVIDER};
use crate::scenario::{Scenario, calendar, clocks, expectations, lease, provider, repair};

/// The keys at the top of the file.
pub(super) fn top<'s>(scenario: &Scenario, setting: &'s Setting<'_>) -> Keys<'s> {
    let WorldSpec { start, limits, workers, .. } = &scenario.world;
    let mut keys = Keys::new(setting);
    keys.text("title", scenario.title.as_str());
    keys.story("story", scenario.story.as_deref());
    keys.bare("start", calendar::write_start(*start));
    keys.number("seed", other_than(0, scenario.seed.0));
    keys.time("end", other_than(TrueTime::START + Limits::DEFAULT_RUN, limits.end));
    keys.number("steps", other_than(Limits::DEFAULT_STEPS, limits.steps));
    keys.texts("protocols", expectations::listed_protocols(scenario));
    // Without any their key would be missing, and this is a place to blame for it.
    keys.texts("worker", workers.is_empty().then_some(&[]));
    keys
}

/// The tables of the world; those with nothing in them are left out.
pub(super) fn tables(world: &WorldSpec, setting: &Setting<'_>, page: &mut Page) {
    page.table("[lease]", "[lease]", lease(&world.lease, setting));
    if world.ledger != LedgerSpec::default() {
        page.table("[ledger]", "[ledger]", ledger(world.ledger, setting));
    }
    if world.provider != ProviderSpec::default() {
        let mut keys = Keys::new(setting);
        provider::write(&world.provider, &mut keys);
        page.table("[provider]", "[provider]", keys);
    }
    page.table("[job]", "[job]", job(&world.job, world, setting));
    let network = network(&world.network, setting);
    if !network.is_empty() {
        page.table("[network]", "[network]", network);
    }
    for (spec, number) in world.workers.iter().zip(1..) {
        page.table("[[worker]]", &format!("worker {number}"), worker(spec, setting));
    }
    for (spec, number) in world.operators.iter().zip(1..) {
        page.table("[[operator]]", &format!("operator {number}"), worker(spec, setting));
    }
    if world.repair != RepairSpec::default() {
        let mut keys = Keys::new(setting);
        repair::write(&world.repair, &mut keys);
        page.table("[repair]", "[repair]", keys);
    }
    for (node, clock) in &world.service_clocks {
        let header = format!("[service.{}]", text::key(&setting.name(*node)));
        page.table(&header, &header, with_clock(Keys::new(setting), clock));
    }
}

fn lease<'s>(spec: &LeaseSpec, setting: &'s Setting<'_>) -> Keys<'s> {
    let mut keys = Keys::new(setting);
    lease::write(spec, &mut keys);
    keys
}

fn ledger<'s>(ledger: LedgerSpec, setting: &'s Setting<'_>) -> Keys<'s> {
    let mut keys = Keys::new(setting);
    keys.text("highest_token", ledger.forgets_tokens.then_some("memory"));
    keys
}

fn job<'s>(job: &JobSpec, world: &WorldSpec, setting: &'s Setting<'_>) -> Keys<'s> {
    let mut keys = Keys::new(setting);
    keys.number("operations", u64::from(job.operations));
    keys.time("due", other_than(Span::ZERO, job.due - world.start).map(|after| TrueTime::START + after));
    keys.duration("pace", other_than(PACE, job.pace));
    keys.duration("finish_within", other_than(FINISH_WITHIN, world.progress_within));
    keys
}

fn network<'s>(network: &NetworkSpec, setting: &'s Setting<'_>) -> Keys<'s> {
    let mut keys = Keys::new(setting);
    keys.latency("internal", other_than(INTERNAL, network.internal));
    keys.latency("provider", other_than(PROVIDER, network.provider));
    keys.duration("timeout", other_than(NetworkSpec::DEFAULT_TIMEOUT, network.timeout));
    keys
}

fn worker<'s>(worker: &WorkerSpec, setting: &'s Setting<'_>) -> Keys<'s> {
    let mut keys = Keys::new(setting);
    keys.text("name", worker.name.as_str());
    keys.time("starts", other_than(TrueTime::START, worker.starts));
    with_clock(keys, &worker.clock)
}

fn with_clock<'s>(mut keys: Keys<'s>, clock: &ClockSpec) -> Keys<'s> {
    if *clock != ClockSpec::default() {
        keys.table("clock", |keys| clocks::write(clock, keys));
    }
    keys
}
