//! Who repaired, when, and how far each came.

use anstyle::Style;
use holdover_sim::history::{History, Turn, TurnEnd};
use holdover_sim::id::EventId;

use super::super::style::{DIM, PLAIN};
use super::super::words;

/// More turns than these are only counted: the first ones and the last.
const SHOWN: usize = 8;

/// The turns, each with its label.
pub(super) fn told(history: &History, turns: &[Turn]) -> Vec<(String, String, Style)> {
    if let [turn] = turns {
        return vec![("by".to_owned(), one(history, turn), PLAIN)];
    }
    let mut told: Vec<(String, String, Style)> = Vec::new();
    let left_out = turns.len().saturating_sub(SHOWN);
    for (index, turn) in turns.iter().enumerate() {
        // The last one is how it ended.
        if index < SHOWN - 1 || index + 1 == turns.len() {
            told.push((format!("turn {}", index + 1), one(history, turn), PLAIN));
        } else if index == SHOWN - 1 && left_out > 0 {
            told.push((String::new(), words::many(left_out, "more turn", "more turns"), DIM));
        }
    }
    told
}

fn one(history: &History, turn: &Turn) -> String {
    let at = |event: EventId| words::utc(history, history.event(event).at);
    let token = turn.token.map_or(String::new(), |token| format!(" with {token}"));
    let mut told =
        vec![format!("{}{token} stops dispatch at {}", words::name(history, turn.operator), at(turn.stopped))];
    if let Some(fenced) = turn.fenced {
        told.push(format!("fences the ledger at {}", at(fenced)));
    }
    match turn.gateway {
        Some((event, true)) => told.push(format!("fences the gateway at {}", at(event))),
        Some((_, false)) => told.push("can't fence the gateway: it checks no tokens".to_owned()),
        None => {}
    }
    if let Some(resumed) = turn.resumed {
        let first = turn.elected.and_then(|(_, elected)| elected);
        let first = first.map_or(String::new(), |worker| format!(" for {}", words::name(history, worker)));
        told.push(format!("lets dispatch go on{first} at {}", at(resumed)));
    }
    told.push(match turn.end {
        TurnEnd::Ended { event, .. } => format!("ends at {}", at(event)),
        TurnEnd::GaveWay(event) => format!("gives way to another operator at {}", at(event)),
        TurnEnd::Died(event) => format!("dies at {}", at(event)),
        TurnEnd::BegunAnew(event) => format!("begins anew at {}", at(event)),
        TurnEnd::UnderWay => "has not come to its end".to_owned(),
    });
    told.join(" · ")
}
