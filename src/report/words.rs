//! The words that reports use for times, nodes, faults and witnesses.

pub(super) mod replicas;

use holdover_sim::check::{Verdict, Witness};
use holdover_sim::clock::Clock;
use holdover_sim::fault::{Anchor, Fault, PlannedFault};
use holdover_sim::history::{Claim, Event, History, Refusal, What};
use holdover_sim::id::{Amount, EventId, NodeId, OpId};
use holdover_sim::time::{Span, TimeOfDay, TrueTime, WallTime};
use jiff::Timestamp;
use jiff::tz::Offset;

/// Nanoseconds in a day.
const DAY: i64 = 86_400 * 1_000_000_000;

/// A wall-clock reading as a time of day to the millisecond, rounded down.
pub(super) fn time_of_day(reading: WallTime) -> String {
    let millis = reading.as_nanos().div_euclid(1_000_000);
    TimeOfDay(WallTime::from_nanos(millis.saturating_mul(1_000_000))).to_string()
}

/// A wall-clock reading to the millisecond: its time of day, behind its date if that isn't the day of the start.
pub(super) fn clock(history: &History, reading: WallTime) -> String {
    let time = time_of_day(reading);
    if day(reading) == day(history.start) { time } else { format!("{} {time}", date(reading)) }
}

/// The day of a wall-clock reading, counted from 1970-01-01.
pub(super) fn day(reading: WallTime) -> i64 {
    reading.as_nanos().div_euclid(DAY)
}

/// The date of a wall-clock reading, such as `2026-01-15`.
pub(super) fn date(reading: WallTime) -> String {
    let instant = Timestamp::from_nanosecond(reading.as_nanos().into());
    instant.map_or(String::new(), |instant| Offset::UTC.to_datetime(instant).date().to_string())
}

/// An instant as the correct time of day, behind its date if that isn't the day of the start.
pub(super) fn utc(history: &History, at: TrueTime) -> String {
    clock(history, history.utc(at))
}

/// A span to the microsecond, rounded to the nearest.
pub(super) fn rounded(span: Span) -> Span {
    Span::micros((span.as_nanos().saturating_add(500)).div_euclid(1_000))
}

/// A node's name.
pub(super) fn name(history: &History, node: NodeId) -> &str {
    &history.node(node).name
}

/// What a fault does, as a phrase: `pause of worker-a for 38s, its clocks running`.
pub(super) fn fault(history: &History, fault: &Fault) -> String {
    fault.phrase(&|node| name(history, node).to_owned())
}

/// A clock's name, as histories spell it.
pub(super) fn name_of_clock(clock: Clock) -> &'static str {
    match clock {
        Clock::Wall => "wall",
        Clock::Monotonic => "monotonic",
        Clock::Raw => "raw",
        Clock::Boottime => "boottime",
    }
}

/// When a fault strikes, as a phrase.
pub(super) fn anchor(history: &History, planned: &PlannedFault) -> String {
    match &planned.when {
        Anchor::At(at) => format!("at {}", utc(history, *at)),
        Anchor::Point { point, node, after, nth, delay } => {
            let who = node.map_or("any worker", |node| name(history, node));
            let which = which_time(history, *nth, *after);
            format!("{} {who} passes {point}{which}", when(*delay))
        }
        Anchor::Event { event, node, after, nth, delay } => {
            let of = node.map_or(String::new(), |node| format!(" of {}", name(history, node)));
            let which = which_time(history, *nth, *after);
            format!("{} {event}{of} happens{which}", when(*delay))
        }
        Anchor::Fault { name, end, delay } => {
            format!("{} the fault {name} {}", when(*delay), if *end { "ends" } else { "begins" })
        }
    }
}

fn when(delay: Span) -> String {
    if delay == Span::ZERO { "when".to_owned() } else { format!("{delay} after") }
}

/// Which of several times counts, as the end of a phrase.
fn which_time(history: &History, nth: u32, after: TrueTime) -> String {
    let times = if nth == 1 { String::new() } else { format!(" for the {} time", ordinal(nth)) };
    let since = match after {
        TrueTime::START => String::new(),
        after => format!(" from {} on", utc(history, after)),
    };
    times + &since
}

fn ordinal(n: u32) -> String {
    let ending = match (n % 10, n % 100) {
        (1, tens) if tens != 11 => "st",
        (2, tens) if tens != 12 => "nd",
        (3, tens) if tens != 13 => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}

/// That a deposed primary did it, to stand behind what it did; nothing if `event` is nobody's but the service's.
pub(super) fn half(history: &History, event: &Event) -> String {
    if history.by_deposed(event) { at_deposed(history, event.node) } else { String::new() }
}

/// That something is done by the deposed primary of a service, to stand behind it.
pub(super) fn at_deposed(history: &History, service: NodeId) -> String {
    format!(" (at the deposed {})", name(history, service))
}

/// How often, in words that follow a verb.
pub(super) fn many(count: usize, one: &str, more: &str) -> String {
    format!("{} {}", grouped(count as u64), if count == 1 { one } else { more })
}

/// A number with its thousands apart: `74,211`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Why a door turned somebody away.
pub(super) fn refusal(why: Refusal, token: Option<holdover_sim::id::Token>) -> String {
    match (why, token) {
        (Refusal::TokenTooLow { highest }, Some(token)) => {
            format!("its {token} is below {}", highest.0)
        }
        (Refusal::TokenTooLow { highest }, None) => format!("it has no token, and {highest} was there"),
        (Refusal::NoToken, _) => "it has no token".to_owned(),
    }
}

/// Operations as `operation 3`, `operations 1–10` or `operations 1–10, 12`; the slice isn't empty.
pub(super) fn operations(ops: &[OpId]) -> String {
    /// More ranges than these are only counted.
    const SHOWN: usize = 8;
    let mut ranges: Vec<(OpId, OpId)> = Vec::new();
    for op in ops {
        match ranges.last_mut() {
            Some((_, last)) if *op == *last => {}
            Some((_, last)) if last.0.checked_add(1) == Some(op.0) => *last = *op,
            _ => ranges.push((*op, *op)),
        }
    }
    let mut told: Vec<String> = ranges.iter().take(SHOWN).map(|(first, last)| range(*first, *last)).collect();
    if ranges.len() > SHOWN {
        told.push("…".to_owned());
    }
    let one = matches!(ranges[..], [(first, last)] if first == last);
    format!("{} {}", if one { "operation" } else { "operations" }, told.join(", "))
}

fn range(first: OpId, last: OpId) -> String {
    if first == last { first.number().to_string() } else { format!("{}–{}", first.number(), last.number()) }
}

/// An amount with its thousands apart: `74,211.08`.
pub(super) fn amount(amount: Amount) -> String {
    let minor = amount.0.unsigned_abs();
    let sign = if amount.0 < 0 { "−" } else { "" };
    format!("{sign}{}.{:02}", grouped(minor / 100), minor % 100)
}

/// A verdict as a table shows it.
pub(super) fn verdict(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Holds { judged: 0 } => "holds (nothing to judge)".to_owned(),
        Verdict::Holds { .. } => "holds".to_owned(),
        Verdict::Violated { times: 1, .. } => "VIOLATED".to_owned(),
        Verdict::Violated { times, .. } => format!("VIOLATED {}×", grouped(*times as u64)),
        Verdict::Unknown { .. } => "unknown".to_owned(),
    }
}

/// What a witness shows, as a sentence without its full stop.
pub(super) fn witness(history: &History, witness: &Witness) -> String {
    let told = |id: EventId| mutation(history, history.event(id));
    match *witness {
        Witness::TwoWriters { first, second } => {
            format!("{}, in the generation that {} began", told(second), opened(history, history.event(first)))
        }
        Witness::StaleWrite { newer, stale } => {
            format!("{}, after {}", told(stale), opened(history, history.event(newer)))
        }
        Witness::NoOrder { asked, told } => replicas::no_order(history, asked, told),
        Witness::TokenNotHigher { earlier, later } => {
            let token = |id: EventId| match history.event(id).what {
                What::LeaseGranted { token: Some(token), .. }
                | What::DispatchStopped { claim: Claim { token: Some(token), .. } } => {
                    format!("{token}{}", half(history, history.event(id)))
                }
                _ => "no token".to_owned(),
            };
            format!("{} was handed out after {}", token(later), token(earlier))
        }
        Witness::ExportsDiffer { first, second, op, rows } => format!(
            "{} and {} differ in {rows} {}, the first of them {op}",
            told(first),
            told(second),
            if rows == 1 { "row" } else { "rows" }
        ),
        Witness::PaidTwice { op, first, second } => format!(
            "the provider paid {op} for {} at {} and again for {} at {}",
            claimant(history, first),
            utc(history, history.event(first).at),
            claimant(history, second),
            utc(history, history.event(second).at)
        ),
        Witness::NeverPaid { op, .. } => format!("the settlement was published, but {op} was never paid"),
        Witness::EnteredTwice { op, first, second } => format!(
            "the ledger has {op} from {} at {} and again from {} at {}",
            claimant(history, first),
            utc(history, history.event(first).at),
            claimant(history, second),
            utc(history, history.event(second).at)
        ),
        Witness::NeverEntered { op, .. } => format!("the settlement was published, but {op} is not in the ledger"),
        Witness::WrongAmount { entry, right } => {
            format!("{}, but the batch has {}", told(entry), amount(right))
        }
        Witness::NothingLeft { op, payout, back } if payout == back => {
            let at = utc(history, history.event(payout).at);
            format!("{op} was paid at {at}, but that payout failed and there is no other")
        }
        Witness::NothingLeft { op, payout, back } => {
            let (paid, back) = (utc(history, history.event(payout).at), utc(history, history.event(back).at));
            format!("{op} was paid at {paid}, but that was taken back at {back} and there is no other payout")
        }
        Witness::RecordDeleted { deleted } => match history.event(deleted).what {
            What::EntryDeleted { claim, op, entry } => {
                let (who, at) = (name(history, claim.worker), utc(history, history.event(deleted).at));
                format!("{who} deleted {entry}, of {op}, at {at}")
            }
            _ => format!("a record was deleted at {}", utc(history, history.event(deleted).at)),
        },
        Witness::CompensatedTwice { op, first, second } => format!(
            "a payout of {op} was taken back at {} and again at {}",
            utc(history, history.event(first).at),
            utc(history, history.event(second).at)
        ),
        Witness::SubmittedTwice { op, first, second } => format!(
            "operators had {op} paid at {} and again at {}",
            utc(history, history.event(first).at),
            utc(history, history.event(second).at)
        ),
        Witness::DecidedAnew { op, first, second } => format!(
            "{op} was closed at {} and decided anew at {}, although nothing had happened meanwhile",
            utc(history, history.event(first).at),
            utc(history, history.event(second).at)
        ),
        Witness::NotFinished => {
            let since =
                if history.healed_at() < history.due { "the job was due" } else { "the last fault healed" };
            let (by, within) = (utc(history, history.progress_by()), history.progress_within);
            format!("no export was published by {by}, {within} after {since}")
        }
    }
}

/// An accepted mutation as the subject of a sentence: who did what, when.
fn mutation(history: &History, event: &Event) -> String {
    let at = utc(history, event.at) + &half(history, event);
    let by = |node: NodeId| name(history, node).to_owned();
    match event.what {
        What::WriteAccepted { claim, op, amount: sum, .. } => {
            format!("{} entered {op} ({}) at {at}", by(claim.worker), amount(sum))
        }
        What::WriteRepeated { claim, op, .. } => format!("{} entered {op} again at {at}", by(claim.worker)),
        What::CheckpointMoved { claim, .. } => format!("{} moved the checkpoint at {at}", by(claim.worker)),
        What::ExportPublished { claim, .. } => format!("{}'s export of {at}", by(claim.worker)),
        What::GenerationOpened { claim, .. } => format!("{} fenced the ledger at {at}", by(claim.worker)),
        what => match repaired(&what) {
            Some((claim, did, _)) => format!("{} {did} at {at}", by(claim.worker)),
            None => format!("{} at {at}", by(event.node)),
        },
    }
}

/// The act that opened a generation, as an object.
fn opened(history: &History, event: &Event) -> String {
    let at = utc(history, event.at) + &half(history, event);
    match event.what {
        What::GenerationOpened { claim, .. } => {
            format!("{}'s fence at {at}", name(history, claim.worker))
        }
        What::WriteAccepted { claim, op, .. } => format!("{}'s {op} at {at}", name(history, claim.worker)),
        What::CheckpointMoved { claim, .. } => format!("{}'s checkpoint at {at}", name(history, claim.worker)),
        What::ExportPublished { claim, .. } => format!("{}'s export at {at}", name(history, claim.worker)),
        what => match repaired(&what) {
            Some((claim, _, its)) => format!("{}'s {its} at {at}", name(history, claim.worker)),
            None => format!("event {at}"),
        },
    }
}

/// What an operator changed: under which authority, as what it did, and as its doing.
pub(super) fn repaired(what: &What) -> Option<(Claim, String, String)> {
    Some(match *what {
        What::DispatchStopped { claim } => {
            (claim, "stopped dispatch".to_owned(), "stopping of dispatch".to_owned())
        }
        What::PayoutVoided { claim, op, payout } => {
            (claim, format!("had {payout} of {op} voided"), format!("voiding of {payout} of {op}"))
        }
        What::RefundBegun { claim, op, payout, .. } => {
            (claim, format!("asked for a refund of {payout} of {op}"), format!("refund of {payout} of {op}"))
        }
        What::GenerationMarked { claim, .. } => {
            (claim, "marked what is affected".to_owned(), "mark of what is affected".to_owned())
        }
        What::EntrySuperseded { claim, op, entry, .. } => {
            (claim, format!("superseded {entry} of {op}"), format!("superseding of {entry} of {op}"))
        }
        What::EntryDeleted { claim, op, entry } => {
            (claim, format!("deleted {entry} of {op}"), format!("deletion of {entry} of {op}"))
        }
        What::OperationDecided { claim, op, .. } => {
            (claim, format!("decided on {op}"), format!("decision on {op}"))
        }
        What::CheckpointRebuilt { claim, .. } => {
            (claim, "rebuilt the checkpoint".to_owned(), "rebuilt checkpoint".to_owned())
        }
        What::ExportSuperseded { claim, export } => {
            (claim, format!("superseded {export}"), format!("superseding of {export}"))
        }
        _ => return None,
    })
}

fn claimant(history: &History, id: EventId) -> &str {
    match history.event(id).what {
        What::PayoutMade { claim, .. } | What::WriteAccepted { claim, .. } => name(history, claim.worker),
        _ => name(history, history.event(id).node),
    }
}

/// That the service of this name no longer hangs in a write.
pub(super) fn write_returned(service: &str, written: bool) -> String {
    match written {
        true => format!("{service}'s write is on disk, and it goes on"),
        false => format!("{service} no longer waits for its write, which is lost: nobody was told of it"),
    }
}
