//! What a fault is to what broke, in words.

use anstyle::Style;
use holdover_sim::check::Bite;
use holdover_sim::time::Span;

use super::super::style::{BAD, DIM, FAULT, GOOD};
use super::super::words;
use super::{listed, numbered, rules, rules_among, which};
use crate::explore::Signature;
use crate::explore::explain::{Difference, Outcome, Role};

/// The sentences on a fault, each with how it stands out: first what it is to what broke. `others` says whether there are
/// other faults.
pub(in crate::report) fn sentences(role: &Role, whole: &Outcome, others: bool) -> Vec<(String, Style)> {
    let difference = role.difference(whole);
    let mut told = vec![first(role, whole, difference)];
    if difference == Difference::NecessaryForSome
        && let Some(changes) = changes(whole, &role.without)
    {
        told.push(match role.change(whole) {
            Difference::Worse => (format!("MAKES THE REST WORSE: {changes}"), FAULT),
            Difference::Better => (format!("KEEPS THE REST FROM BEING WORSE: {changes}"), GOOD),
            _ => (format!("CHANGES THE REST: {changes}"), FAULT),
        });
    }
    let instead = role.instead(whole);
    if !instead.is_empty() {
        told.push((format!("without it {} broken instead", are(role, whole, &instead)), FAULT));
    }
    match role.bite {
        Bite::NeverStruck => told.push(("it never struck".to_owned(), DIM)),
        Bite::Missed => told.push(("it struck, but touched no lease".to_owned(), DIM)),
        Bite::Bit => {}
    }
    if !role.followers.is_empty() {
        let wait = if role.followers.len() == 1 { "waits" } else { "wait" };
        told.push((format!("taken away together with {}, which {wait} for it", numbered(&role.followers)), DIM));
    }
    if others {
        told.push((alone(role, whole), DIM));
    }
    told
}

fn first(role: &Role, whole: &Outcome, difference: Difference) -> (String, Style) {
    let gone = role.gone(whole);
    let one = gone.len() == 1;
    // What breaks instead is told by itself.
    let changed = |word: &str| match changes(whole, &role.without) {
        Some(changes) => format!("{word}: {changes}"),
        None => word.to_owned(),
    };
    match difference {
        Difference::Necessary if role.without.broken.is_empty() => {
            ("NECESSARY: without it nothing is violated".to_owned(), BAD)
        }
        Difference::Necessary => (format!("NECESSARY: without it {} not broken", are(role, whole, &gone)), BAD),
        Difference::NecessaryForSome => {
            let gone = names(role, whole, &gone);
            let verb = if one { "is" } else { "are" };
            (format!("NECESSARY for {gone}, which {verb} not broken without it"), BAD)
        }
        Difference::Worse => (changed("MAKES IT WORSE"), FAULT),
        Difference::Better => (changed("KEEPS IT FROM BEING WORSE"), GOOD),
        Difference::Other => (changed("CHANGES IT"), FAULT),
        Difference::None => ("makes no difference".to_owned(), DIM),
    }
}

/// The rules of some of the signatures, told from all others with and without the fault.
fn names(role: &Role, whole: &Outcome, signatures: &[Signature]) -> String {
    let all: Vec<Signature> = whole.signatures().chain(role.without.signatures()).collect();
    rules_among(signatures, &all)
}

/// The same as the subject of a sentence, with its verb.
fn are(role: &Role, whole: &Outcome, signatures: &[Signature]) -> String {
    format!("{} {}", names(role, whole, signatures), if signatures.len() == 1 { "is" } else { "are" })
}

fn alone(role: &Role, whole: &Outcome) -> String {
    let with = match role.leaders.len() {
        0 => "alone".to_owned(),
        1 => format!("alone with {}, for which it waits,", numbered(&role.leaders)),
        _ => format!("alone with {}, for which it has to wait,", numbered(&role.leaders)),
    };
    let there: Vec<Signature> = role.alone.signatures().collect();
    let all: Vec<Signature> = whole.signatures().collect();
    match there.len() {
        0 => format!("{with} it breaks nothing"),
        _ if there == all => format!("{with} it breaks {}", which(&there, &all)),
        _ => format!("{with} it breaks {}", rules(&there)),
    }
}

/// How the measures change with it, from what they are without it.
fn changes(with: &Outcome, without: &Outcome) -> Option<String> {
    let (now, before) = (with.measures, without.measures);
    let mut changes = Vec::new();
    let mut count = |before: usize, now: usize, what: &str| {
        if before != now {
            let (sign, by) = if now > before { ('+', now - before) } else { ('-', before - now) };
            changes.push(format!("{what} {now} instead of {before} ({sign}{by})"));
        }
    };
    count(before.stale_writes_accepted, now.stale_writes_accepted, "stale writes accepted");
    if before.stale_writes_accepted == now.stale_writes_accepted {
        count(before.stale_writes_tried, now.stale_writes_tried, "stale writes tried");
    }
    count(before.effects_doubled, now.effects_doubled, "payouts made again");
    if before.belief_overlap != now.belief_overlap {
        let by = words::rounded(now.belief_overlap - before.belief_overlap);
        let (now, before) = (told(now.belief_overlap), told(before.belief_overlap));
        changes.push(format!("belief overlap {now} instead of {before} ({by:+})"));
    }
    if changes.is_empty() {
        for signature in with.signatures() {
            let (before, now) = (without.times(signature), with.times(signature));
            if before != now && before > 0 {
                changes.push(format!("{} {now}× instead of {before}×", signature.checker()));
            }
        }
    }
    (!changes.is_empty()).then(|| format!("with it {}", listed(&changes)))
}

fn told(overlap: Span) -> String {
    if overlap == Span::ZERO { "none".to_owned() } else { words::rounded(overlap).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::Measures;

    /// An outcome in which these rules are broken so often, with so many stale writes and so long a belief overlap.
    fn outcome(broken: &[(&str, &str, usize)], stale: usize, overlap: Span) -> Outcome {
        let signature = |(checker, kind, times): &(&str, &str, usize)| {
            (Signature::named(checker, kind).expect("a known signature"), *times)
        };
        let measures = Measures {
            belief_overlap: overlap,
            stale_writes_tried: stale,
            stale_writes_accepted: stale,
            effects_doubled: 0,
        };
        Outcome { broken: broken.iter().map(signature).collect(), measures }
    }

    #[track_caller]
    fn check(without: Outcome, told: &[&str]) {
        let whole =
            outcome(&[("stale-write", "stale-write", 3), ("effect-once", "paid-twice", 1)], 3, Span::millis(20));
        let alone = outcome(&[], 0, Span::ZERO);
        let role = Role { bite: Bite::Bit, followers: vec![], leaders: vec![], without, alone };
        let sentences = sentences(&role, &whole, false);
        assert_eq!(sentences.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>(), told);
    }

    #[test]
    fn each_difference_is_told() {
        let (stale, paid) = (("stale-write", "stale-write", 3), ("effect-once", "paid-twice", 1));
        let (never, differ) = (("effect-once", "never-paid", 1), ("export-agreement", "exports-differ", 1));
        let (same, none) = (Span::millis(20), Span::ZERO);
        check(outcome(&[stale, paid], 3, same), &["makes no difference"]);
        check(outcome(&[], 0, none), &["NECESSARY: without it nothing is violated"]);
        check(
            outcome(&[differ], 0, none),
            &[
                "NECESSARY: without it stale-write and effect-once are not broken",
                "without it export-agreement is broken instead",
            ],
        );
        check(
            outcome(&[stale], 3, none),
            &[
                "NECESSARY for effect-once, which is not broken without it",
                "MAKES THE REST WORSE: with it belief overlap 20ms instead of none (+20ms)",
            ],
        );
        // The same rule may be broken in another way.
        check(
            outcome(&[stale, never], 3, same),
            &[
                "NECESSARY for effect-once (an operation paid twice), which is not broken without it",
                "without it effect-once (an operation never paid) is broken instead",
            ],
        );
        check(
            outcome(&[stale, paid], 5, same),
            &["KEEPS IT FROM BEING WORSE: with it stale writes accepted 3 instead of 5 (-2)"],
        );
        check(
            outcome(&[stale, paid, differ], 3, same),
            &["KEEPS IT FROM BEING WORSE", "without it export-agreement is broken instead"],
        );
        check(
            outcome(&[("stale-write", "stale-write", 2), paid], 3, same),
            &["MAKES IT WORSE: with it stale-write 3× instead of 2×"],
        );
        check(
            outcome(&[stale, paid], 5, none),
            &["CHANGES IT: with it stale writes accepted 3 instead of 5 (-2) and belief overlap 20ms instead of \
                 none (+20ms)"],
        );
    }
}
