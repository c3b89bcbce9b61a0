//! Drawn histories, and whether any order at all fits them, found by trying all of them at all instants that matter.
//!
//! It shares nothing with the search but the history: the service is said a second time here, step by step through time.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::CHECKER;
use crate::check::{Verdict, judge_one};
use crate::history::What;
use crate::history::fixture::{A, B, Story};
use crate::id::{NodeId, Token};
use crate::lease::{Ending, LeaseAsk, LeaseService, LeaseTold, ReplicaSpec};
use crate::time::Span;

const TTL: Span = Span::secs(4);

/// A request as whoever told the story meant it; instants in milliseconds.
#[derive(Clone, Copy, Debug)]
struct Meant {
    client: NodeId,
    ask: LeaseAsk,
    asked: usize,
    at: i64,
    told: Option<(usize, i64, LeaseTold)>,
}

/// What happens next in a drawn story.
#[derive(Clone, Copy, Debug)]
enum Move {
    /// Milliseconds go by.
    Wait(i64),
    /// A client asks.
    Ask(NodeId, LeaseAsk),
    /// The client is answered what it asked last: as it should be, or like this.
    Tell(NodeId, Option<LeaseTold>),
    /// Its process dies, and begins anew.
    Restart(NodeId),
    /// Its machine goes back by so many requests, and asks them again or others in their place.
    GoBack(NodeId, u32),
}

/// A client as the story goes on.
#[derive(Clone, Default)]
struct Client {
    session: u64,
    number: u32,
    /// What it asked under which session and number, and the place of the request.
    asked: Vec<(u64, u32, LeaseAsk, usize)>,
    /// The request that it waits for, and by which event it asked when.
    waits: Option<(usize, usize, i64)>,
}

/// A story in the making, and what it means.
struct Told {
    story: Story,
    events: usize,
    at: i64,
    clients: [Client; 2],
    requests: Vec<Meant>,
    /// The lease at a service that does everything at the last moment, for answers that fit.
    lease: Option<(NodeId, Token, i64)>,
    next: u64,
}

impl Told {
    fn new(service: LeaseService) -> Told {
        let (story, clients) = (Story::new().kept_by(service), [Client::default(), Client::default()]);
        Told { story, events: 0, at: 0, clients, requests: Vec::new(), lease: None, next: 3 }
    }

    fn on(&mut self, node: NodeId, what: What) -> usize {
        self.story = std::mem::replace(&mut self.story, Story::new()).at(self.at).on(node, what);
        self.events += 1;
        self.events - 1
    }

    fn step(&mut self, step: Move) {
        match step {
            Move::Wait(millis) => self.at += millis,
            Move::Ask(node, ask) => self.ask(node, ask),
            Move::Tell(node, told) => self.tell(node, told),
            Move::Restart(node) => {
                self.on(node, What::WorkerDied);
                let client = &mut self.clients[place(node)];
                (client.number, client.session, client.waits) = (0, client.session + 100, None);
            }
            Move::GoBack(node, by) => {
                let client = &mut self.clients[place(node)];
                (client.number, client.waits) = (client.number.saturating_sub(by), None);
            }
        }
    }

    fn ask(&mut self, node: NodeId, ask: LeaseAsk) {
        let client = &mut self.clients[place(node)];
        client.number += 1;
        client.session += u64::from(ask == LeaseAsk::Come);
        let (session, number) = (client.session, client.number);
        let asked = self.on(node, What::LeaseAsked { session, number, ask });
        let client = &mut self.clients[place(node)];
        let known = client.asked.iter().find(|(s, n, what, _)| (*s, *n, *what) == (session, number, ask));
        let request = known.map_or(self.requests.len(), |(.., request)| *request);
        client.waits = Some((request, asked, self.at));
        if request == self.requests.len() {
            client.asked.push((session, number, ask, request));
            self.requests.push(Meant { client: node, ask, asked, at: self.at, told: None });
        }
    }

    fn tell(&mut self, node: NodeId, told: Option<LeaseTold>) {
        let client = &mut self.clients[place(node)];
        let (number, Some((request, asked, at))) = (client.number, client.waits.take()) else { return };
        let told = told.unwrap_or_else(|| self.right(node, self.requests[request].ask));
        let event = self.on(node, What::LeaseTold { number, told });
        if told == LeaseTold::Unknown {
            return;
        }
        let meant = &mut self.requests[request];
        let answer = Some((event, self.at, told));
        match meant.told {
            None => meant.told = answer,
            Some((.., before)) if before == told => {}
            // Another answer to what was asked again is one to what was asked then.
            Some(_) => {
                let again = Meant { asked, at, told: answer, ..*meant };
                self.requests.push(again);
            }
        }
    }

    fn right(&mut self, node: NodeId, ask: LeaseAsk) -> LeaseTold {
        self.lease = self.lease.filter(|(_, _, until)| *until > self.at);
        let until = self.at + TTL.as_nanos() / 1_000_000;
        let is_its = |token| self.lease.is_some_and(|(holder, own, _)| (holder, own) == (node, token));
        match ask {
            LeaseAsk::Come => {
                self.lease = self.lease.filter(|(holder, ..)| *holder != node);
                LeaseTold::Done
            }
            LeaseAsk::Acquire { .. } if self.lease.is_some() => LeaseTold::Refused,
            LeaseAsk::Acquire { .. } => {
                let token = Token(self.next.min(4));
                self.next += 1;
                self.lease = Some((node, token, until));
                LeaseTold::Granted { token }
            }
            LeaseAsk::Renew { token, .. } if is_its(token) => {
                self.lease = Some((node, token, until));
                LeaseTold::Done
            }
            LeaseAsk::Release { token } if is_its(token) => {
                self.lease = None;
                LeaseTold::Done
            }
            LeaseAsk::Renew { .. } | LeaseAsk::Release { .. } => LeaseTold::Refused,
            LeaseAsk::Read => LeaseTold::Held { by: self.lease.map(|(holder, token, _)| (holder, token)) },
        }
    }
}

fn place(node: NodeId) -> usize {
    usize::from(node == B)
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let node = || prop_oneof![Just(A), Just(B)];
    let token = || (3..5_u64).prop_map(Token);
    let ask = prop_oneof![
        2 => Just(LeaseAsk::Come),
        4 => Just(LeaseAsk::Acquire { ttl: TTL }),
        2 => token().prop_map(|token| LeaseAsk::Renew { token, ttl: TTL }),
        2 => token().prop_map(|token| LeaseAsk::Release { token }),
        1 => Just(LeaseAsk::Read),
    ];
    let told = prop_oneof![
        token().prop_map(|token| LeaseTold::Granted { token }),
        Just(LeaseTold::Done),
        Just(LeaseTold::Refused),
        Just(LeaseTold::Unknown),
        Just(LeaseTold::Held { by: None }),
        (node(), token()).prop_map(|by| LeaseTold::Held { by: Some(by) }),
    ];
    let told = prop_oneof![2 => Just(None), 1 => told.prop_map(Some)];
    // What clocks may take off a lease of 4 s is 4 ms, and 204 ms where they are wall clocks.
    let wait = prop::sample::select(vec![1, 1_000, 3_795, 3_796, 3_995, 3_996, 4_000]);
    let one = prop_oneof![
        3 => wait.prop_map(Move::Wait),
        8 => (node(), ask).prop_map(|(node, ask)| Move::Ask(node, ask)),
        8 => (node(), told).prop_map(|(node, told)| Move::Tell(node, told)),
        1 => node().prop_map(Move::Restart),
        1 => (node(), 1..3_u32).prop_map(|(node, by)| Move::GoBack(node, by)),
    ];
    prop::collection::vec(one, 0..18)
}

fn services() -> impl Strategy<Value = LeaseService> {
    let endings = vec![Ending::LeaderTimers, Ending::ReplicatedDeadlines, Ending::LockDelay(Span::secs(1))];
    let service = |ending| LeaseService::Consensus(ReplicaSpec { ending, ..ReplicaSpec::THREE });
    prop::sample::select(endings).prop_map(service)
}

/// What is so at an instant: which requests are done, and who has the lease until when.
type Config = (u32, Option<(NodeId, Token, i64)>, bool);

/// What a request does to the lease: the configurations that it may lead to, if it is answered as it was.
fn effects(request: &Meant, lease: Option<(NodeId, Token, i64)>, until: i64) -> Vec<Option<(NodeId, Token, i64)>> {
    let client = request.client;
    let is_its = |token| lease.is_some_and(|(holder, own, _)| (holder, own) == (client, token));
    let told = request.told.map(|(.., told)| told);
    match (request.ask, told) {
        (LeaseAsk::Come, None | Some(LeaseTold::Done)) => vec![lease.filter(|(holder, ..)| *holder != client)],
        (LeaseAsk::Acquire { .. }, Some(LeaseTold::Granted { token })) if lease.is_none() => {
            vec![Some((client, token, until))]
        }
        // Nobody was told the token: one of those that are named somewhere, or none of them.
        (LeaseAsk::Acquire { .. }, None) if lease.is_none() => {
            [3, 4, 9].into_iter().map(|token| Some((client, Token(token), until))).collect()
        }
        (LeaseAsk::Acquire { .. }, Some(LeaseTold::Refused)) if lease.is_some() => vec![lease],
        (LeaseAsk::Renew { token, .. }, None | Some(LeaseTold::Done)) if is_its(token) => {
            vec![Some((client, token, until))]
        }
        (LeaseAsk::Release { token }, None | Some(LeaseTold::Done)) if is_its(token) => vec![None],
        (LeaseAsk::Renew { token, .. } | LeaseAsk::Release { token }, Some(LeaseTold::Refused))
            if !is_its(token) =>
        {
            vec![lease]
        }
        (LeaseAsk::Read, Some(LeaseTold::Held { by }))
            if by == lease.map(|(holder, token, _)| (holder, token)) =>
        {
            vec![lease]
        }
        _ => Vec::new(),
    }
}

/// Whether the requests fit an order, for a service whose leases last so many milliseconds at the least.
fn fits(requests: &[Meant], lasts: i64, is_delayed: bool) -> bool {
    let answered = requests.iter().enumerate().filter(|(_, request)| request.told.is_some());
    let wanted: u32 = answered.map(|(index, _)| 1 << index).sum();
    // Who can't wait any longer does it as early as it may: when it is asked, or when leases end that began so.
    let begin = |request: &Meant| {
        (0..=requests.len() as i64).map(|leases| request.at + leases * lasts).collect::<Vec<_>>()
    };
    let instants: BTreeSet<i64> = requests.iter().flat_map(begin).collect();
    let mut now: BTreeSet<Config> = BTreeSet::from([(0, None, false)]);
    for at in instants {
        let mut waiting: Vec<Config> = now.iter().copied().collect();
        while let Some((done, lease, ran_out)) = waiting.pop() {
            let mut found = |config| {
                if now.insert(config) {
                    waiting.push(config);
                }
            };
            if lease.is_some_and(|(.., until)| until <= at) {
                found((done, None, true));
            }
            for (index, request) in requests.iter().enumerate() {
                let is_now = done & (1 << index) == 0 && request.at <= at;
                let in_time = request.told.is_none_or(|(_, by, _)| at <= by);
                let all_before = requests.iter().enumerate().all(|(other, before)| {
                    done & (1 << other) != 0 || before.told.is_none_or(|(told, ..)| told > request.asked)
                });
                if !(is_now && in_time && all_before) {
                    continue;
                }
                for after in effects(request, lease, at + lasts) {
                    found((done | (1 << index), after, ran_out && after.is_none() && lease.is_none()));
                }
                let is_acquire = matches!(request.ask, LeaseAsk::Acquire { .. });
                let refused = request.told.is_some_and(|(.., told)| told == LeaseTold::Refused);
                if is_acquire && refused && lease.is_none() && is_delayed && ran_out {
                    found((done | (1 << index), None, true));
                }
            }
        }
        if now.iter().any(|(done, ..)| done & wanted == wanted) {
            return true;
        }
    }
    wanted == 0
}

/// The verdict of the rule, and whether any order fits.
fn both(service: LeaseService, moves: &[Move]) -> (Verdict, bool) {
    let mut told = Told::new(service);
    for step in moves {
        if told.requests.len() < 6 || !matches!(step, Move::Ask(..)) {
            told.step(*step);
        }
    }
    let ending = service.replicas().map(|spec| spec.ending);
    let lasts = if ending == Some(Ending::ReplicatedDeadlines) { 3_796 } else { 3_996 };
    let fits = fits(&told.requests, lasts, matches!(ending, Some(Ending::LockDelay(_))));
    (judge_one(&CHECKER, &told.story.history()), fits)
}

proptest! {
    #[test]
    fn an_order_is_found_exactly_if_there_is_one(service in services(), moves in moves()) {
        let (verdict, fits) = both(service, &moves);
        prop_assert_eq!(verdict.name(), if fits { "holds" } else { "violated" });
    }
}

#[test]
fn drawn_histories_are_of_both_kinds() {
    let mut runner = TestRunner::deterministic();
    let mut fit = 0;
    for _ in 0..300 {
        let drawn = (services(), moves()).new_tree(&mut runner).expect("nothing is filtered").current();
        fit += usize::from(both(drawn.0, &drawn.1).1);
    }
    assert!((60..240).contains(&fit), "{fit} of 300");
}
