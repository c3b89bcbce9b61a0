//! Words for what a lease service that is several is asked and answers.

use holdover_sim::history::{History, What};
use holdover_sim::id::EventId;
use holdover_sim::lease::{LeaseAsk, LeaseTold};

use super::{name, utc};

/// That no order explains an answer, as a sentence without its full stop.
pub(super) fn no_order(history: &History, asked: EventId, told: EventId) -> String {
    let (asked, told) = (history.event(asked), history.event(told));
    let worker = name(history, asked.node);
    let (at, from) = (utc(history, told.at), utc(history, asked.at));
    let what = wish(&asked.what);
    let answer = answer(history, &told.what);
    format!(
        "{worker} asked {what} at {from} and was told {answer} at {at}, which no order of the requests explains"
    )
}

/// What a lease service is asked, behind `asks`.
pub(in crate::report) fn wish(asked: &What) -> String {
    match asked {
        What::LeaseAsked { ask: LeaseAsk::Acquire { .. }, .. } => "for the lease".to_owned(),
        What::LeaseAsked { ask: LeaseAsk::Renew { token, .. }, .. } => format!("to keep the lease of {token}"),
        What::LeaseAsked { ask: LeaseAsk::Release { token }, .. } => format!("to give the lease of {token} back"),
        What::LeaseAsked { ask: LeaseAsk::Read, .. } => "who has the lease".to_owned(),
        _ => "to be known".to_owned(),
    }
}

/// What a replica does whose disk lacks what it relies on, behind its name.
pub(in crate::report) const STOPPED: &str = "finds writes gone that it relies on, and takes part in nothing more";

/// What it answers, behind `is told`.
pub(in crate::report) fn answer(history: &History, told: &What) -> String {
    match *told {
        What::LeaseTold { told: LeaseTold::Granted { token }, .. } => format!("that it has it, with {token}"),
        What::LeaseTold { told: LeaseTold::Done, .. } => "that it is done".to_owned(),
        What::LeaseTold { told: LeaseTold::Refused, .. } => "no".to_owned(),
        What::LeaseTold { told: LeaseTold::Held { by: None }, .. } => "nobody".to_owned(),
        What::LeaseTold { told: LeaseTold::Held { by: Some((holder, token)) }, .. } => {
            format!("{}, with {token}", name(history, holder))
        }
        _ => "nothing".to_owned(),
    }
}
