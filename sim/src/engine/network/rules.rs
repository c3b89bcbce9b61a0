//! What faults do to messages: rules that are looked at when a message is sent, and never once it is under way.

use super::Network;
use crate::fault::Links;
use crate::id::{FaultId, NodeId};
use crate::seed::{Purpose, Seed, Stream};
use crate::time::{Span, TrueTime};
use crate::world::Latency;

/// A message that is about to be sent.
#[derive(Clone, Copy)]
pub(crate) struct Sending {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    /// What it is about, such as `ledger.write`.
    pub(crate) about: &'static str,
    /// A request, or the answer to one.
    pub(crate) answer: bool,
}

/// What a rule does to the messages that go over its links.
pub(crate) enum Effect {
    /// It loses all of them.
    Lose,
    /// It has them take another time than their link does.
    Take(Latency),
    /// It loses so many percent of them.
    LoseSome(u8),
    /// It has so many percent of the requests arrive twice.
    RepeatSome(u8),
    /// It holds so many percent of them back by up to a span.
    HoldSomeBack(u8, Span),
    /// It lets none arrive before an instant, and then all in the order in which they were sent.
    HoldUntil {
        /// The instant.
        end: TrueTime,
        /// When the last of those that were held arrives.
        last: TrueTime,
    },
}

/// A single message that a fault waits for.
pub(crate) struct Wanted {
    /// What it is about, such as `ledger.write`.
    pub(crate) about: String,
    /// The request, or the answer to it.
    pub(crate) answer: bool,
    /// Who asks.
    pub(crate) node: NodeId,
    /// Which of them, from 1.
    pub(crate) nth: u32,
    /// By how much it is delayed; `None` if it is lost.
    pub(crate) delay: Option<Span>,
}

impl Wanted {
    fn is(&self, sending: &Sending) -> bool {
        let asker = if sending.answer { sending.to } else { sending.from };
        asker == self.node && sending.answer == self.answer && sending.about == self.about
    }
}

/// A rule of a fault that is in force.
pub(super) enum Rule {
    /// For all messages over some links.
    Links {
        /// Which.
        links: Links,
        /// What happens to them.
        effect: Effect,
        /// What the fault's draws are keyed by.
        key: u128,
        /// For each direction of each link what is drawn from; made when first used.
        streams: Vec<((NodeId, NodeId), Stream)>,
    },
    /// For one message.
    One(Wanted),
}

/// What a fault does to one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Touch {
    pub(crate) fault: FaultId,
    pub(crate) what: Touched,
    /// Whether the fault is over with it.
    pub(crate) is_last: bool,
}

/// How a message is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touched {
    /// It is lost.
    Lost,
    /// It takes so much longer than its link would.
    Delayed(Span),
    /// It arrives a second time.
    Repeated,
}

impl Network {
    /// Whether any fault is on the network.
    #[inline]
    pub(crate) fn has_rules(&self) -> bool {
        !self.rules.is_empty()
    }

    /// Whether nothing gets from `from` to `to`.
    pub(crate) fn is_cut_off(&self, from: NodeId, to: NodeId) -> bool {
        self.rules.iter().any(|(_, rule)| match rule {
            Rule::Links { links, effect: Effect::Lose, .. } => links.carry(from, to),
            _ => false,
        })
    }

    /// From now on `effect` happens to the messages over `links`. What is drawn for it is keyed by `key`.
    pub(crate) fn add_rule(&mut self, fault: FaultId, links: Links, effect: Effect, key: u128) {
        self.rules.push((fault, Rule::Links { links, effect, key, streams: Vec::new() }));
    }

    /// From now on a message is waited for.
    pub(crate) fn want(&mut self, fault: FaultId, wanted: Wanted) {
        self.rules.push((fault, Rule::One(wanted)));
    }

    /// Ends what `fault` does to messages.
    pub(crate) fn remove_rule(&mut self, fault: FaultId) {
        self.rules.retain(|(of, _)| *of != fault);
    }

    /// Draws the latency of a message that is sent `now`, and finds what the rules do to it, the oldest first. What a
    /// link draws, and in what order, is the same whatever the rules are.
    pub(crate) fn send_by_rules(&mut self, now: TrueTime, sending: &Sending) -> (Span, Vec<Touch>) {
        let mut rules = std::mem::take(&mut self.rules);
        let before = self.next_draw(sending.from, sending.to);
        let latency = self.latency(sending.from, sending.to);
        let mut touches = Vec::new();
        let mut arrival = now + latency;
        // Of several that change what the links take, the one that began last counts.
        let taken = rules.iter().rev().find_map(|(fault, rule)| match rule {
            Rule::Links { links, effect: Effect::Take(range), .. } if links.carry(sending.from, sending.to) => {
                Some((*fault, before.clone().between(range.min, range.max)))
            }
            _ => None,
        });
        if let Some((fault, taken)) = taken.filter(|(_, taken)| *taken != latency) {
            arrival = now + taken;
            touches.push(Touch { fault, what: Touched::Delayed(taken - latency), is_last: false });
        }
        for (fault, rule) in &mut rules {
            let Some(what) = rule.touch(self.seed, &self.draws_as, sending, &mut arrival) else { continue };
            touches.push(Touch { fault: *fault, what, is_last: matches!(rule, Rule::One(_)) });
        }
        self.rules = rules;
        (latency, touches)
    }
}

impl Rule {
    /// What it does to a message that would arrive at `arrival`, if it does anything.
    fn touch(
        &mut self,
        seed: Seed,
        draws_as: &[NodeId],
        sending: &Sending,
        arrival: &mut TrueTime,
    ) -> Option<Touched> {
        let delayed = |arrival: &mut TrueTime, by: Span| {
            *arrival = *arrival + by;
            Some(Touched::Delayed(by))
        };
        match self {
            Rule::One(wanted) => {
                if !wanted.is(sending) || wanted.nth == 0 {
                    return None;
                }
                wanted.nth -= 1;
                match wanted.delay {
                    _ if wanted.nth > 0 => None,
                    None => Some(Touched::Lost),
                    Some(by) => delayed(arrival, by),
                }
            }
            Rule::Links { links, effect, key, streams } => {
                let link = (sending.from, sending.to);
                if !links.carry(link.0, link.1) {
                    return None;
                }
                let mut draws = Draws { seed, draws_as, key: *key, link, streams };
                match effect {
                    Effect::Lose => Some(Touched::Lost),
                    Effect::Take(_) => None,
                    Effect::LoseSome(percent) => draws.is_among(*percent).then_some(Touched::Lost),
                    Effect::RepeatSome(percent) => {
                        let is_drawn = draws.is_among(*percent);
                        (is_drawn && !sending.answer).then_some(Touched::Repeated)
                    }
                    Effect::HoldSomeBack(percent, most) => {
                        // Both are drawn for every message, so that each has draws of its own.
                        let is_drawn = draws.is_among(*percent);
                        let by = draws.stream().between(Span::nanos(1), *most);
                        if is_drawn { delayed(arrival, by) } else { None }
                    }
                    Effect::HoldUntil { end, last } => {
                        let free = *arrival;
                        *last = free.max(*end).max(*last);
                        let by = *last - free;
                        if by > Span::ZERO { delayed(arrival, by) } else { None }
                    }
                }
            }
        }
    }
}

/// Where a rule draws from for one direction of one link.
struct Draws<'a> {
    seed: Seed,
    draws_as: &'a [NodeId],
    key: u128,
    link: (NodeId, NodeId),
    streams: &'a mut Vec<((NodeId, NodeId), Stream)>,
}

impl Draws<'_> {
    fn stream(&mut self) -> &mut Stream {
        let Draws { seed, draws_as, key, link, .. } = *self;
        let index = self.streams.iter().position(|(of, _)| *of == link).unwrap_or_else(|| {
            let purpose = Purpose::Fault(key, draws_as[link.0.index()], draws_as[link.1.index()]);
            self.streams.push((link, Stream::new(seed, purpose)));
            self.streams.len() - 1
        });
        &mut self.streams[index].1
    }

    /// Whether a message is among so many percent. One draw.
    fn is_among(&mut self, percent: u8) -> bool {
        is_below(self.stream().below(100), percent)
    }
}

/// Whether a number of 0 to 99 is among so many percent of them.
fn is_below(number: u64, percent: u8) -> bool {
    number < u64::from(percent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::NetworkSpec;

    const A: NodeId = NodeId(3);
    const B: NodeId = NodeId(4);
    const LEDGER: NodeId = NodeId(1);
    const PROVIDER: NodeId = NodeId(2);

    fn network() -> Network {
        let range = |min, max| Latency { min: Span::millis(min), max: Span::millis(max) };
        let timeout = NetworkSpec::DEFAULT_TIMEOUT;
        Network::new(
            Seed(7),
            NetworkSpec { internal: range(1, 3), provider: range(24, 30), timeout },
            PROVIDER,
            (0..5).map(NodeId).collect(),
        )
    }

    /// A rule on what goes between `between` and the ledger.
    fn add(network: &mut Network, fault: u16, between: NodeId, effect: Effect) {
        let links = Links {
            between: [between].into_iter().collect(),
            and: [LEDGER].into_iter().collect(),
            one_way: false,
        };
        network.add_rule(FaultId(fault), links, effect, u128::from(between.0));
    }

    /// Sends 300 requests of each worker's and as many answers, 10 ms apart, and tells their latencies, and what `fault`
    /// does to each.
    fn send(network: &mut Network, fault: u16) -> (Vec<Span>, Vec<Option<Touched>>) {
        let mut now = TrueTime::START;
        let mut next = |from, to, answer| {
            now = now + Span::millis(10);
            let (latency, touches) =
                network.send_by_rules(now, &Sending { from, to, about: "ledger.write", answer });
            let touch = touches.into_iter().find(|touch| touch.fault == FaultId(fault)).map(|touch| touch.what);
            (latency, touch)
        };
        let calls = [(A, LEDGER, false), (LEDGER, A, true), (B, LEDGER, false), (LEDGER, B, true)];
        (0..300).flat_map(|_| calls).map(|(from, to, answer)| next(from, to, answer)).unzip()
    }

    fn count(touched: &[Option<Touched>]) -> usize {
        touched.iter().flatten().count()
    }

    #[test]
    fn links_draw_the_same_whatever_the_rules_are() {
        let (free, untouched) = send(&mut network(), 0);
        assert_eq!(count(&untouched), 0);
        let slow = Latency { min: Span::secs(1), max: Span::secs(2) };
        for effect in
            [Effect::Lose, Effect::Take(slow), Effect::LoseSome(50), Effect::HoldSomeBack(50, Span::secs(1))]
        {
            let mut network = network();
            add(&mut network, 0, A, effect);
            let (latencies, touched) = send(&mut network, 0);
            assert_eq!(latencies, free);
            assert!(count(&touched) > 200);
        }
    }

    #[test]
    fn what_a_rule_draws_is_its_own() {
        let drawn = |others: &[u16]| {
            let mut network = network();
            for other in others {
                add(&mut network, *other, B, Effect::LoseSome(50));
                add(&mut network, *other, A, Effect::HoldSomeBack(20, Span::secs(1)));
                add(&mut network, *other, A, Effect::Lose);
            }
            add(&mut network, 9, A, Effect::LoseSome(30));
            send(&mut network, 9).1
        };
        let alone = drawn(&[]);
        assert!((130..230).contains(&count(&alone)), "{}", count(&alone));
        assert_eq!(alone, drawn(&[1]));
        assert_eq!(alone, drawn(&[1, 2]));
    }

    #[test]
    fn less_of_it_strikes_some_of_the_same_messages() {
        let drawn = |percent| {
            let mut network = network();
            add(&mut network, 0, A, Effect::LoseSome(percent));
            send(&mut network, 0).1
        };
        let (some, more, all) = (drawn(10), drawn(40), drawn(100));
        assert!(some.iter().zip(&more).all(|(some, more)| some.is_none() || more.is_some()));
        assert!(count(&some) > 0 && count(&some) < count(&more));
        assert_eq!(count(&all), 600);
    }

    /// Of a hundred numbers that can be drawn, so many are among them as the percentage says.
    #[test]
    fn a_percentage_is_exact() {
        for percent in [0, 1, 50, 99, 100] {
            let among = (0..100).filter(|number| is_below(*number, percent)).count();
            assert_eq!(among, usize::from(percent));
        }
    }

    /// Each effect goes by the numbers that are drawn for it: what is as high as its percentage is not among them.
    #[test]
    fn a_message_is_touched_if_the_number_that_is_drawn_for_it_is_below_the_percentage() {
        let effects = |percent| {
            [
                (Effect::LoseSome(percent), false, 1),
                (Effect::RepeatSome(percent), true, 1),
                (Effect::HoldSomeBack(percent, Span::secs(1)), false, 2),
            ]
        };
        let all = (0..=100).flat_map(|percent| effects(percent).map(|effect| (percent, effect)));
        for (percent, (effect, repeats, draws)) in all {
            let mut network = network();
            add(&mut network, 0, A, effect);
            let mut links = [(A, LEDGER), (LEDGER, A)]
                .map(|(from, to)| Stream::new(Seed(7), Purpose::Fault(u128::from(A.0), from, to)));
            for (index, touched) in send(&mut network, 0).1.into_iter().enumerate() {
                // Of four messages the first and the second go over the link.
                let Some(stream) = links.get_mut(index % 4) else { continue };
                let is_among = stream.below(100) < u64::from(percent);
                for _ in 1..draws {
                    stream.next();
                }
                assert_eq!(
                    touched.is_some(),
                    is_among && !(repeats && index % 4 == 1),
                    "{percent} %, message {index}"
                );
            }
        }
    }

    #[test]
    fn only_requests_are_repeated() {
        let mut network = network();
        add(&mut network, 0, A, Effect::RepeatSome(100));
        assert_eq!(count(&send(&mut network, 0).1), 300);
    }

    #[test]
    fn of_two_latencies_the_newer_counts() {
        let mut network = network();
        for (fault, millis) in [(0, 50), (1, 70)] {
            let range = Latency { min: Span::millis(millis), max: Span::millis(millis) };
            add(&mut network, fault, A, Effect::Take(range));
        }
        assert_eq!(count(&send(&mut network, 0).1), 0);
        let (latencies, touched) = send(&mut network, 1);
        let whole = latencies.iter().zip(&touched).filter_map(|(latency, touched)| match touched {
            Some(Touched::Delayed(by)) => Some(*latency + *by),
            _ => None,
        });
        assert!(whole.eq(std::iter::repeat_n(Span::millis(70), 600)));
    }

    #[test]
    fn what_is_held_arrives_in_the_order_of_sending() {
        let mut network = network();
        let end = TrueTime::START + Span::millis(50);
        add(&mut network, 0, A, Effect::HoldUntil { end, last: end });
        let mut last = TrueTime::START;
        for millis in 0..60 {
            let now = TrueTime::START + Span::millis(millis);
            let sending = Sending { from: A, to: LEDGER, about: "ledger.write", answer: false };
            let (latency, touches) = network.send_by_rules(now, &sending);
            let by = touches.iter().map(|touch| match touch.what {
                Touched::Delayed(by) => by,
                other => panic!("{other:?}"),
            });
            let arrival = by.fold(now + latency, |arrival, by| arrival + by);
            assert!(arrival >= end && arrival >= last);
            last = arrival;
        }
    }

    #[test]
    fn one_message_is_waited_for_and_no_other() {
        let mut network = network();
        let about = "ledger.write".to_owned();
        network.want(FaultId(0), Wanted { about, answer: true, node: B, nth: 3, delay: None });
        let (_, touched) = send(&mut network, 0);
        let struck: Vec<usize> = (0..touched.len()).filter(|index| touched[*index].is_some()).collect();
        assert_eq!(struck, [11]);
    }
}
