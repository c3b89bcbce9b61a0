//! `[provider]`: which keys it remembers, what its gateway checks, how payouts take their time; read and written.

use holdover_sim::world::{Keys as KeyMemory, Latency, PayoutSpec, ProviderSpec};
use toml::Spanned;

use super::error::Wrong;
use super::file::{ProviderFile, Written};
use super::lower::Lower;
use super::names::{GATEWAYS, KEY_MEMORIES, closest, did_you_mean, listed, quoted};
use super::value;
use super::write::{Keys, other_than};

/// Of a hundred payouts, how many can fail.
pub(super) const FAILING_PAYOUTS: std::ops::RangeInclusive<u64> = 0..=100;

/// Of a hundred refunds, how many can fail: if all did, none would ever come to an end.
pub(super) const FAILING_REFUNDS: std::ops::RangeInclusive<u64> = 0..=99;

/// What the file says of the provider.
pub(super) fn lower(lower: &mut Lower, file: &ProviderFile) -> ProviderSpec {
    ProviderSpec {
        keys: lower.value(file.keys.as_ref(), None, |text| key_memory(text).map(Some)),
        checks_tokens: file.gateway.as_ref().and_then(|gateway| gateway_checks(lower, gateway)),
        payouts: payouts(lower, file),
    }
}

fn key_memory(text: &str) -> Result<KeyMemory, Wrong> {
    match text {
        "none" => Ok(KeyMemory::None),
        "kept" => Ok(KeyMemory::Kept),
        time if time.contains(|c: char| c.is_ascii_digit()) => value::positive_duration(time).map(KeyMemory::For),
        other => {
            let time = "or say for how long they are remembered, such as \"24h\"";
            let help = match closest(other, KEY_MEMORIES) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("keys are one of: {}; {time}", listed(KEY_MEMORIES)),
            };
            Err(Wrong::new(format!("keys can't be {}", quoted(other))).help(help))
        }
    }
}

fn gateway_checks(lower: &mut Lower, gateway: &Spanned<String>) -> Option<bool> {
    match gateway.get_ref().as_str() {
        "open" => Some(false),
        "checks-tokens" => Some(true),
        other => {
            let help = did_you_mean(other, "it is one of", GATEWAYS.iter().copied());
            lower.mistake(gateway, Wrong::new(format!("a gateway can't be {}", quoted(other))).help(help));
            None
        }
    }
}

/// How payouts take their time, if the file says anything of it.
fn payouts(lower: &mut Lower, file: &ProviderFile) -> Option<PayoutSpec> {
    let is_said = [&file.known_in, &file.settles_in, &file.refunds_in].into_iter().any(Option::is_some)
        || [&file.fails_percent, &file.refunds_fail_percent, &file.page].into_iter().any(Option::is_some)
        || file.answers.is_some();
    let usual = PayoutSpec::default();
    let mut range =
        |key: &Option<Spanned<Written>>, usual: Latency| lower.value(key.as_ref(), usual, value::range);
    let known_in = range(&file.known_in, usual.known_in);
    let settles_in = range(&file.settles_in, usual.settles_in);
    let refunds_in = range(&file.refunds_in, usual.refunds_in);
    let page = lower.above_zero(file.page.as_ref(), "page", usual.page as u64);
    let payouts = PayoutSpec {
        known_in,
        settles_in,
        fails_percent: failing(lower, file.fails_percent.as_ref(), "payouts"),
        refunds_in,
        refunds_fail_percent: failing(lower, file.refunds_fail_percent.as_ref(), "refunds"),
        answers: file.answers.unwrap_or(usual.answers),
        page: usize::try_from(page).unwrap_or(usize::MAX),
    };
    is_said.then_some(payouts)
}

/// Of a hundred, how many fail; none if it isn't there. `what` fails.
fn failing(lower: &mut Lower, written: Option<&Spanned<u64>>, what: &str) -> u8 {
    let Some(written) = written else { return 0 };
    let (percent, possible) = match what {
        "refunds" => (*written.get_ref(), FAILING_REFUNDS),
        _ => (*written.get_ref(), FAILING_PAYOUTS),
    };
    if !possible.contains(&percent) {
        let (message, why) = match percent {
            100 => (format!("{what} that all fail"), ": if all failed, none would ever come to an end"),
            _ => (format!("{percent} percent of the {what} are more than all"), ""),
        };
        let help = format!("write {} to {}{why}", possible.start(), possible.end());
        lower.mistake(written, Wrong::new(message).help(help));
    }
    u8::try_from(percent).unwrap_or(u8::MAX)
}

/// The keys of `[provider]`.
pub(super) fn write(provider: &ProviderSpec, keys: &mut Keys<'_>) {
    match provider.keys {
        None => {}
        Some(KeyMemory::None) => keys.text("keys", "none"),
        Some(KeyMemory::Kept) => keys.text("keys", "kept"),
        Some(KeyMemory::For(time)) => keys.duration("keys", time),
    }
    keys.text("gateway", provider.checks_tokens.map(|checks| if checks { "checks-tokens" } else { "open" }));
    let Some(payouts) = provider.payouts else { return };
    let usual = PayoutSpec::default();
    // That payouts take their time must be said somehow, also if nothing about it is unusual.
    let settles_in =
        if payouts == usual { Some(usual.settles_in) } else { other_than(usual.settles_in, payouts.settles_in) };
    keys.latency("known_in", other_than(usual.known_in, payouts.known_in));
    keys.latency("settles_in", settles_in);
    keys.number("fails_percent", other_than(usual.fails_percent, payouts.fails_percent).map(u64::from));
    keys.latency("refunds_in", other_than(usual.refunds_in, payouts.refunds_in));
    let refunds_fail = other_than(usual.refunds_fail_percent, payouts.refunds_fail_percent);
    keys.number("refunds_fail_percent", refunds_fail.map(u64::from));
    keys.bare("answers", other_than(usual.answers, payouts.answers).map(|answers| answers.to_string()));
    keys.number("page", other_than(usual.page, payouts.page).map(|page| page as u64));
}
