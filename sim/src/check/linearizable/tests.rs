//! Histories that fit an order, and such that don't.

use proptest::prelude::*;

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

fn ops_of(written: &[Written]) -> Vec<Op> {
    let at = |secs| TrueTime::START + Span::secs(secs);
    let ops = written.iter().zip(0..).map(|(&(client, from, by, ask, told), index)| Op {
        client,
        ask,
        asked: EventId(index),
        from: at(from),
        told: told.map(|told| (EventId(100 + index), at(by), told)),
    });
    ops.collect()
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

/// Whether any order at all fits, found by trying all of them.
fn fits_somehow(ops: &[Op], taken: &mut Vec<usize>, state: order::State) -> bool {
    if ops.iter().enumerate().all(|(index, op)| op.told.is_none() || taken.contains(&index)) {
        return true;
    }
    (0..ops.len()).any(|next| {
        let is_late = |other: &Op| other.told.is_some_and(|(_, by, _)| by < ops[next].from);
        let is_next = !taken.contains(&next)
            && !ops
                .iter()
                .enumerate()
                .any(|(index, other)| !taken.contains(&index) && index != next && is_late(other));
        is_next
            && state.after(&ops[next], PLAIN).into_iter().any(|after| {
                taken.push(next);
                let fits = fits_somehow(ops, taken, after);
                taken.pop();
                fits
            })
    })
}

fn written() -> impl Strategy<Value = Written> {
    let ask = prop_oneof![
        Just(LeaseAsk::Come),
        Just(ACQUIRE),
        (3..5_u64).prop_map(renew),
        (3..5_u64).prop_map(release),
        Just(LeaseAsk::Read),
    ];
    (0..2_u16, 0..90_i64, 0..30_i64, ask, 0..6_u8, 3..5_u64).prop_map(|(node, from, takes, ask, told, token)| {
        let client = NodeId(3 + node);
        let told = match (ask, told) {
            (_, 0) if ask != LeaseAsk::Read => None,
            (LeaseAsk::Come, _) => DONE,
            (LeaseAsk::Acquire { .. }, 1..=3) => granted(token),
            (LeaseAsk::Read, 0..=2) => held(None),
            (LeaseAsk::Read, _) => held(Some((client, token))),
            (LeaseAsk::Renew { .. } | LeaseAsk::Release { .. }, 1..=3) => DONE,
            _ => REFUSED,
        };
        (client, from, from + takes, ask, told)
    })
}

proptest! {
    #[test]
    fn an_order_is_found_exactly_if_there_is_one(mut written in prop::collection::vec(written(), 0..6)) {
        written.sort_by_key(|(_, from, ..)| *from);
        let ops = ops_of(&written);
        let found = order::search(&ops, PLAIN, MOST_STEPS) == Outcome::Found;
        prop_assert_eq!(found, fits_somehow(&ops, &mut Vec::new(), order::State::start()));
    }
}
