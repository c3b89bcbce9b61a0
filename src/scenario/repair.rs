//! `[repair]`: how operators go about it, read and written.

use holdover_sim::repair::{Chosen, PROCEDURES, find};
use holdover_sim::world::RepairSpec;
use toml::Spanned;

use super::error::{Mistake, Wrong};
use super::file::{RepairFile, Table};
use super::lower::Lower;
use super::names::{did_you_mean, quoted};
use super::value;
use super::write::{Keys, other_than};

/// What the file says of repairs. Without an operator nobody would go by it.
pub(super) fn lower(
    lower: &mut Lower,
    file: Option<&Spanned<Table<RepairFile>>>,
    has_operators: bool,
) -> RepairSpec {
    let usual = RepairSpec::default();
    let Some(written) = file else { return usual };
    if !has_operators {
        let wrong = Wrong::new("nobody is there to repair anything")
            .help("add an [[operator]] table with name = \"operator\", or take [repair] away");
        lower.mistakes.add(Mistake::at(written.span(), "no operator goes by this", wrong));
    }
    let file = &written.get_ref().0;
    RepairSpec {
        procedure: file.procedure.as_ref().map_or(usual.procedure, |name| procedure(lower, name)),
        ask_every: lower.value(file.ask_every.as_ref(), usual.ask_every, value::positive_duration),
        ask_for: lower.value(file.ask_for.as_ref(), usual.ask_for, value::duration),
        quiet_for: lower.value(file.quiet_for.as_ref(), usual.quiet_for, value::duration),
    }
}

fn procedure(lower: &mut Lower, name: &Spanned<String>) -> Chosen {
    find(name.get_ref()).unwrap_or_else(|| {
        let known = PROCEDURES.iter().map(|procedure| procedure.name());
        let help = did_you_mean(name.get_ref(), "procedures", known);
        let wrong = Wrong::new(format!("unknown procedure {}", quoted(name.get_ref()))).help(help);
        lower.mistakes.add(Mistake::at(name.span(), "no such procedure", wrong));
        RepairSpec::default().procedure
    })
}

/// The keys of `[repair]`.
pub(super) fn write(repair: &RepairSpec, keys: &mut Keys<'_>) {
    let usual = RepairSpec::default();
    keys.text("procedure", other_than(usual.procedure, repair.procedure).map(|Chosen(chosen)| chosen.name()));
    keys.duration("ask_every", other_than(usual.ask_every, repair.ask_every));
    keys.duration("ask_for", other_than(usual.ask_for, repair.ask_for));
    keys.duration("quiet_for", other_than(usual.quiet_for, repair.quiet_for));
}
