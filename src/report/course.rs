//! What goes on for a while and is told in one row: operations, renewals, a connection that keeps breaking.

use std::collections::BTreeSet;

use holdover_sim::history::{Claim, Event, History, Reason};
use holdover_sim::id::{Epoch, NodeId, OpId};
use holdover_sim::time::{Span, TrueTime, WallTime};

use super::repair::phrases;
use super::timeline::lease;
use super::words;

/// Something that goes on.
#[derive(Clone)]
pub(super) enum Course {
    /// Operations of one worker, under one grant.
    Progress(Progress),
    /// Renewals of one grant.
    Renewals { worker: NodeId, epoch: Epoch, times: u32, until: WallTime, half: String },
    /// What an operator does about one operation after the other.
    Rounds { claim: Claim, does: Does, ops: Vec<OpId>, until: TrueTime },
    /// What keeps a worker from getting through to a service, or from hearing of it.
    Trouble { trouble: Trouble, from: NodeId, to: NodeId, about: &'static str, times: u32 },
}

/// What an operator does in rounds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    /// It finds that an operation has its one effect.
    Closes,
    /// It asks the provider under the key that an operation was paid under.
    AsksByKey,
    /// It leaves an operation to a person.
    GivesUp(Reason),
    /// It has the entry of an operation deleted.
    Deletes,
}

/// What can go wrong between a worker and a service.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The connection breaks.
    Breaks,
    /// A request is lost.
    RequestLost,
    /// An answer is lost.
    AnswerLost,
    /// A request arrives twice.
    Twice,
    /// No answer comes in time.
    Silence,
}

/// Operations of one worker, under one grant, that nothing disturbs.
#[derive(Clone)]
pub(super) struct Progress {
    claim: Claim,
    /// The services that it is at, and whether at their deposed primaries.
    halves: Vec<(NodeId, bool)>,
    until: TrueTime,
    pub(super) entered: Vec<OpId>,
    pub(super) paid: Vec<OpId>,
    pub(super) moved: Vec<OpId>,
}

impl Progress {
    /// Progress by `claim` that begins with `event`.
    pub(super) fn new(history: &History, claim: Claim, event: &Event) -> Progress {
        let halves = vec![(event.node, history.by_deposed(event))];
        Progress {
            claim,
            halves,
            until: TrueTime::START,
            entered: Vec::new(),
            paid: Vec::new(),
            moved: Vec::new(),
        }
    }

    /// Whether `next` is at the same half of each service that both are at.
    fn is_at_halves_of(&self, next: &Progress) -> bool {
        let differs = |half: &(NodeId, bool)| self.halves.contains(&(half.0, !half.1));
        !next.halves.iter().any(differs)
    }
}

impl Course {
    /// The node at the other end, if it isn't where the event is.
    pub(super) fn reaches(&self) -> Option<NodeId> {
        match self {
            Course::Trouble { to, .. } => Some(*to),
            _ => None,
        }
    }

    /// Whether `next` is the same thing going on.
    pub(super) fn continues_as(&self, next: &Course) -> bool {
        match (self, next) {
            (Course::Progress(this), Course::Progress(next)) => {
                this.claim == next.claim && this.is_at_halves_of(next)
            }
            (Course::Renewals { epoch, half, .. }, Course::Renewals { epoch: next, half: next_half, .. }) => {
                (epoch, half) == (next, next_half)
            }
            (Course::Rounds { claim, does, .. }, Course::Rounds { claim: next, does: next_does, .. }) => {
                (claim, does) == (next, next_does)
            }
            (
                Course::Trouble { trouble, from, to, .. },
                Course::Trouble { trouble: next_trouble, from: next_from, to: next_to, .. },
            ) => (trouble, from, to) == (next_trouble, next_from, next_to),
            _ => false,
        }
    }

    /// Whether this, beginning now, ends the `others`: it is work, and they are work of somebody else, or troubles.
    pub(super) fn ends<'a>(&self, mut others: impl Iterator<Item = &'a Course>) -> bool {
        match self {
            Course::Progress(_) => others.any(|other| !matches!(other, Course::Renewals { .. })),
            // What an operator does by turns, it does beside each other.
            Course::Rounds { claim: this, .. } => others.any(|other| match other {
                Course::Renewals { .. } => false,
                Course::Rounds { claim, .. } => claim != this,
                _ => true,
            }),
            Course::Trouble { .. } => {
                others.any(|other| matches!(other, Course::Progress(_) | Course::Rounds { .. }))
            }
            Course::Renewals { .. } => false,
        }
    }

    /// Notes one more time, at `at`, with what `next` says of it.
    pub(super) fn note(&mut self, at: TrueTime, next: &Course) {
        match self {
            Course::Progress(progress) => {
                progress.until = at;
                if let Course::Progress(next) = next {
                    let new = next.halves.iter().filter(|half| !progress.halves.contains(half)).copied();
                    progress.halves.extend(new.collect::<Vec<_>>());
                }
            }
            Course::Renewals { times, until, .. } => {
                *times += 1;
                if let Course::Renewals { until: next, .. } = next {
                    *until = *next;
                }
            }
            Course::Rounds { ops, until, .. } => {
                *until = at;
                if let Course::Rounds { ops: next, .. } = next {
                    ops.extend(next);
                }
            }
            Course::Trouble { times, .. } => *times += 1,
        }
    }

    /// What there is to say of it in the end; it began at `begin`.
    pub(super) fn text(&self, history: &History, begin: TrueTime) -> String {
        let name = |node| words::name(history, node);
        match self {
            Course::Progress(progress) => {
                let mut text = format!("{} {}", name(progress.claim.worker), progress.text());
                for (node, _) in progress.halves.iter().filter(|(_, deposed)| *deposed) {
                    text += &words::at_deposed(history, *node);
                }
                text + &later(history, begin, progress.until)
            }
            Course::Renewals { worker, epoch, times, until, half } => {
                let (worker, lease, until) = (name(*worker), lease(*epoch), words::clock(history, *until));
                match times {
                    0 | 1 => format!("{worker} renews {lease} until {until}{half}"),
                    2 => format!("{worker} renews {lease} twice, at last until {until}{half}"),
                    _ => format!(
                        "{worker} renews {lease} again and again ({times} times), at last until {until}{half}"
                    ),
                }
            }
            Course::Rounds { claim, does, ops, until } => {
                let ops: Vec<OpId> = BTreeSet::from_iter(ops.iter().copied()).into_iter().collect();
                let (who, which) = (name(claim.worker), words::operations(&ops));
                let (their, each) =
                    if ops.len() == 1 { ("its key", "it has") } else { ("their keys", "each has") };
                let until = later(history, begin, *until);
                match does {
                    Does::Closes => format!("{who} closes {which}{until}: {each} one payout that settled"),
                    Does::AsksByKey => format!("{who} asks under {their} what became of {which}{until}"),
                    Does::GivesUp(why) => {
                        format!("{who} leaves {which} to a person{until}: {}", phrases::reason(*why))
                    }
                    Does::Deletes if ops.len() == 1 => format!("DELETED: an entry of {which}, by {who}"),
                    Does::Deletes => format!("DELETED: entries of {which}, by {who}"),
                }
            }
            Course::Trouble { trouble, from, to, about, times } => {
                let told = trouble.text(name(*from), name(*to), about, *times);
                match times {
                    0 | 1 => told,
                    2 => format!("{told} twice"),
                    _ => format!("{told} again and again ({times} times)"),
                }
            }
        }
    }
}

/// Until when it went on, if that was for long.
fn later(history: &History, begin: TrueTime, until: TrueTime) -> String {
    if until - begin >= Span::secs(1) { format!(", until {}", words::utc(history, until)) } else { String::new() }
}

impl Trouble {
    /// It as a sentence without its full stop, of one time or of several.
    fn text(self, worker: &str, service: &str, about: &str, times: u32) -> String {
        match (self, times) {
            (Trouble::Breaks, _) => format!("the connection of {worker} to {service} breaks"),
            (Trouble::RequestLost, 0 | 1) => format!("{worker}'s {about} is lost on its way to {service}"),
            (Trouble::RequestLost, _) => format!("requests of {worker} to {service} are lost"),
            (Trouble::AnswerLost, 0 | 1) => format!("the answer to {worker}'s {about} is lost"),
            (Trouble::AnswerLost, _) => format!("answers of {service} to {worker} are lost"),
            (Trouble::Twice, 0 | 1) => format!("{worker}'s {about} is brought to {service} a second time"),
            (Trouble::Twice, _) => format!("requests of {worker} to {service} are brought a second time,"),
            (Trouble::Silence, 0 | 1) => format!("{worker}'s {about} gets no answer from {service}"),
            (Trouble::Silence, _) => format!("requests of {worker} to {service} get no answer"),
        }
    }
}

impl Progress {
    /// Which operations were entered, paid and put behind the checkpoint; what was done for the same ones is told
    /// together.
    fn text(&self) -> String {
        let Progress { entered, paid, moved, .. } = self;
        if entered == paid && paid == moved {
            return format!("applies {}", words::operations(entered));
        }
        let mut told: Vec<(String, &[OpId])> = Vec::new();
        for (verb, ops) in [("enters", entered), ("pays", paid), ("moves the checkpoint behind", moved)] {
            match told.last_mut() {
                _ if ops.is_empty() => {}
                Some((verbs, same)) if same == ops => *verbs += &format!(" and {verb}"),
                _ => told.push((verb.to_owned(), ops)),
            }
        }
        let told: Vec<_> =
            told.into_iter().map(|(verbs, ops)| format!("{verbs} {}", words::operations(ops))).collect();
        told.join(", ")
    }
}
