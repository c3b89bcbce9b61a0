//! Histories that fit an order, and such that don't.

use super::*;
use crate::id::{EventId, NodeId, Token};
use crate::time::TrueTime;

const A: NodeId = NodeId(3);
const B: NodeId = NodeId(4);
const TTL: Span = Span::secs(40);
const PLAIN: Rules = Rules { is_delayed: false, error: Span::ZERO };

const ACQUIRE: LeaseAsk = LeaseAsk::Acquire { ttl: TTL };
const REFUSED: Option<LeaseTold> = Some(LeaseTold::Refused);
const DONE: Option<LeaseTold> = Some(LeaseTold::Done);

fn renew(token: u64) -> LeaseAsk {
    LeaseAsk::Renew { token: Token(token), ttl: TTL }
}

fn release(token: u64) -> LeaseAsk {
    LeaseAsk::Release { token: Token(token) }
}

fn granted(token: u64) -> Option<LeaseTold> {
    Some(LeaseTold::Granted { token: Token(token) })
}

fn held(by: Option<(NodeId, u64)>) -> Option<LeaseTold> {
    Some(LeaseTold::Held { by: by.map(|(node, token)| (node, Token(token))) })
}

/// A request: whose, when it was made and answered in seconds, what, and the answer.
type Written = (NodeId, i64, i64, LeaseAsk, Option<LeaseTold>);

/// The requests, with events in the order of their instants; at one instant all is asked before anything is told.
fn ops_of(written: &[Written]) -> Vec<Op> {
    let at = |secs| TrueTime::START + Span::secs(secs);
    let mut events: Vec<_> = (0..written.len()).flat_map(|index| [(index, false), (index, true)]).collect();
    events.sort_by_key(|&(index, is_told)| (if is_told { written[index].2 } else { written[index].1 }, is_told));
    let event = |wanted| events.iter().position(|event| *event == wanted).map_or(0, |place| place as u32);
    let op = |(index, &(client, from, by, ask, told)): (usize, &Written)| Op {
        client,
        ask,
        asked: EventId(event((index, false))),
        from: at(from),
        told: told.map(|told| (EventId(event((index, true))), at(by), told)),
    };
    written.iter().enumerate().map(op).collect()
}

#[track_caller]
fn check(written: &[Written], rules: Rules, expected: Outcome) {
    assert_eq!(order::search(&ops_of(written), rules, MOST_STEPS), expected);
}

#[track_caller]
fn fits(written: &[Written]) {
    check(written, PLAIN, Outcome::Found);
}

#[track_caller]
fn stuck(written: &[Written], stuck: usize) {
    check(written, PLAIN, Outcome::None { stuck });
}

#[test]
fn one_after_the_other() {
    fits(&[]);
    fits(&[(A, 0, 1, ACQUIRE, granted(3)), (B, 2, 3, ACQUIRE, REFUSED), (A, 10, 11, renew(3), DONE)]);
    stuck(&[(A, 0, 1, ACQUIRE, REFUSED)], 0);
    stuck(&[(A, 0, 1, ACQUIRE, granted(3)), (B, 2, 3, ACQUIRE, granted(4))], 1);
    fits(&[(A, 0, 1, ACQUIRE, granted(3)), (A, 2, 3, release(3), DONE), (B, 4, 5, ACQUIRE, granted(6))]);
    stuck(&[(A, 0, 1, ACQUIRE, granted(3)), (A, 2, 3, release(3), DONE), (B, 4, 5, ACQUIRE, REFUSED)], 2);
    stuck(&[(A, 0, 1, ACQUIRE, granted(3)), (B, 2, 3, release(3), DONE)], 1);
}

#[test]
fn at_the_same_time() {
    fits(&[(A, 0, 9, ACQUIRE, granted(3)), (B, 0, 9, ACQUIRE, REFUSED)]);
    fits(&[(B, 0, 9, ACQUIRE, REFUSED), (A, 1, 9, ACQUIRE, granted(3))]);
    stuck(&[(B, 0, 1, ACQUIRE, REFUSED), (A, 2, 9, ACQUIRE, granted(3))], 0);
    fits(&[(A, 0, 9, ACQUIRE, granted(3)), (B, 1, 8, LeaseAsk::Read, held(None))]);
    fits(&[(A, 0, 9, ACQUIRE, granted(3)), (B, 1, 8, LeaseAsk::Read, held(Some((A, 3))))]);
    stuck(&[(A, 0, 9, ACQUIRE, granted(3)), (B, 1, 8, LeaseAsk::Read, held(Some((A, 4))))], 1);
}

#[test]
fn a_lease_lasts_as_long_as_it_was_promised() {
    let taken =
        |at| [(A, 0, 1, ACQUIRE, granted(3)), (A, 10, 11, renew(3), DONE), (B, at, at, ACQUIRE, granted(9))];
    fits(&taken(50));
    stuck(&taken(49), 2);
    fits(&[(A, 0, 1, ACQUIRE, granted(3)), (A, 41, 42, renew(3), REFUSED)]);
    stuck(&[(A, 0, 1, ACQUIRE, granted(3)), (A, 20, 21, renew(3), REFUSED)], 1);
    // Whoever asked while it was another's gets it when it has run out.
    fits(&[(A, 0, 1, ACQUIRE, granted(3)), (B, 2, 60, ACQUIRE, granted(9)), (B, 61, 62, release(9), DONE)]);
    stuck(&[(A, 0, 1, ACQUIRE, granted(3)), (B, 2, 39, ACQUIRE, granted(9))], 1);
    fits(&[(A, 0, 1, ACQUIRE, granted(3)), (B, 2, 60, ACQUIRE, granted(9)), (A, 55, 56, renew(3), REFUSED)]);
    // It lasts longer if nobody takes it away.
    fits(&[(A, 0, 1, ACQUIRE, granted(3)), (B, 90, 91, ACQUIRE, REFUSED), (A, 95, 96, renew(3), DONE)]);
    // Renewed by one that leads no longer, while it is another's.
    stuck(&[(A, 0, 1, ACQUIRE, granted(3)), (B, 45, 46, ACQUIRE, granted(9)), (A, 50, 51, renew(3), DONE)], 2);
}

#[test]
fn what_nobody_was_told() {
    fits(&[(A, 0, 0, ACQUIRE, None), (B, 5, 6, ACQUIRE, REFUSED)]);
    fits(&[(A, 0, 0, ACQUIRE, None), (B, 5, 6, ACQUIRE, granted(3))]);
    // It may happen at any time later, but once.
    fits(&[
        (A, 0, 0, ACQUIRE, None),
        (B, 5, 6, ACQUIRE, granted(3)),
        (B, 7, 8, release(3), DONE),
        (B, 9, 10, ACQUIRE, REFUSED),
    ]);
    stuck(
        &[
            (A, 0, 0, ACQUIRE, None),
            (B, 5, 6, ACQUIRE, REFUSED),
            (B, 47, 48, ACQUIRE, granted(3)),
            (B, 49, 50, release(3), DONE),
            (B, 51, 52, ACQUIRE, REFUSED),
        ],
        4,
    );
    fits(&[(A, 0, 1, ACQUIRE, granted(3)), (A, 20, 20, renew(3), None), (B, 59, 60, ACQUIRE, granted(9))]);
    fits(&[(A, 0, 1, ACQUIRE, granted(3)), (A, 2, 2, release(3), None), (B, 4, 5, ACQUIRE, granted(9))]);
}

#[test]
fn who_comes_anew_has_nothing() {
    fits(&[(A, 0, 1, ACQUIRE, granted(3)), (A, 5, 6, LeaseAsk::Come, DONE), (B, 7, 8, ACQUIRE, granted(6))]);
    stuck(&[(A, 0, 1, ACQUIRE, granted(3)), (A, 5, 6, LeaseAsk::Come, DONE), (A, 7, 8, renew(3), DONE)], 2);
    fits(&[(A, 0, 1, ACQUIRE, granted(3)), (B, 5, 6, LeaseAsk::Come, DONE), (A, 7, 8, renew(3), DONE)]);
}

#[test]
fn a_delay_after_a_lease_ran_out() {
    let refused = [(A, 0, 1, ACQUIRE, granted(3)), (A, 45, 46, renew(3), REFUSED), (B, 47, 48, ACQUIRE, REFUSED)];
    check(&refused, PLAIN, Outcome::None { stuck: 2 });
    check(&refused, Rules { is_delayed: true, ..PLAIN }, Outcome::Found);
    // But none after it was given back.
    let back = [(A, 0, 1, ACQUIRE, granted(3)), (A, 5, 6, release(3), DONE), (B, 7, 8, ACQUIRE, REFUSED)];
    check(&back, Rules { is_delayed: true, ..PLAIN }, Outcome::None { stuck: 2 });
}

#[test]
fn a_search_that_takes_too_long_says_so() {
    let many: Vec<Written> = (0..40).map(|n| (NodeId(n), 0, 100, ACQUIRE, REFUSED)).collect();
    assert_eq!(order::search(&ops_of(&many), PLAIN, 10), Outcome::None { stuck: 0 });
    let grants: Vec<Written> = (0..20).map(|n| (NodeId(n), 0, 0, ACQUIRE, None)).collect();
    let all: Vec<Written> =
        grants.into_iter().chain([(A, 500, 501, release(7), DONE), (B, 502, 503, release(9), DONE)]).collect();
    assert_eq!(order::search(&ops_of(&all), PLAIN, 3), Outcome::GaveUp);
}

#[test]
fn at_one_instant_events_say_what_came_first() {
    let nth = |client, ask, asked: u32, told: u32, answer| Op {
        client,
        ask,
        asked: EventId(asked),
        from: TrueTime::START,
        told: Some((EventId(told), TrueTime::START, answer)),
    };
    let (come, granted) = (
        |client, asked| nth(client, LeaseAsk::Come, asked, asked + 1, LeaseTold::Done),
        |token| LeaseTold::Granted { token: Token(token) },
    );
    let search = |ops: &[Op]| order::search(ops, PLAIN, MOST_STEPS);
    // A comes before it asks, so it doesn't give back what it got.
    let one_after_the_other = [come(A, 0), nth(A, ACQUIRE, 2, 3, granted(3)), nth(B, ACQUIRE, 4, 5, granted(4))];
    assert_eq!(search(&one_after_the_other), Outcome::None { stuck: 2 });
    let at_once = [nth(A, ACQUIRE, 0, 3, granted(3)), come(A, 1), nth(B, ACQUIRE, 4, 5, granted(4))];
    assert_eq!(search(&at_once), Outcome::Found);
    let refused = LeaseTold::Refused;
    let before = [nth(B, ACQUIRE, 0, 1, refused), nth(A, ACQUIRE, 2, 3, granted(3))];
    assert_eq!(search(&before), Outcome::None { stuck: 0 });
    assert_eq!(search(&[nth(B, ACQUIRE, 0, 3, refused), nth(A, ACQUIRE, 1, 2, granted(3))]), Outcome::Found);
}

#[test]
fn a_token_that_nobody_was_told_is_any_but_one() {
    let unknown = (A, 0, 0, ACQUIRE, None);
    fits(&[unknown, (B, 1, 2, ACQUIRE, REFUSED), (A, 3, 4, renew(3), REFUSED), (A, 5, 6, renew(4), DONE)]);
    stuck(&[unknown, (B, 1, 2, ACQUIRE, REFUSED), (A, 3, 4, renew(3), REFUSED), (A, 5, 6, renew(3), DONE)], 3);
    stuck(&[unknown, (B, 1, 2, LeaseAsk::Read, held(Some((A, 3)))), (A, 3, 4, renew(4), DONE)], 2);
}

#[test]
fn a_long_history_takes_a_step_for_each_answer() {
    let turn = |n: i64| {
        let (at, token) = (6 * n, 3 * n as u64);
        [
            (A, at, at + 1, ACQUIRE, granted(token)),
            (A, at + 2, at + 3, renew(token), DONE),
            (A, at + 4, at + 5, release(token), DONE),
        ]
    };
    let many: Vec<Written> = (0..2_000).flat_map(turn).collect();
    assert_eq!(order::search(&ops_of(&many), PLAIN, many.len()), Outcome::Found);
}
