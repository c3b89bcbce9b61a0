//! What happens in the lanes of ledger and provider, and the messages that led to it.

use std::collections::BTreeSet;

use holdover_sim::history::{Event, What};
use holdover_sim::id::{EventId, NodeId};
use holdover_sim::time::TrueTime;

use super::super::acts::{Act, Deed, Standing};
use super::super::words;
use super::canvas::{Canvas, Px};
use super::panel::{Panel, Picture};

/// More messages of those that are all right aren't drawn: they would hide the others.
const MOST_MESSAGES: usize = 300;

/// Where there are more acts than these, nobody can point at one of them.
const MOST_TITLES: usize = 1_000;

/// A mark by which something is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    /// A worker's belief, or a grant.
    Band,
    /// A grant that has run out by a clock that is right.
    Late,
    Pause,
    Fault,
    Entry,
    Payout,
    Checkpoint,
    Fence,
    Export,
    Stale,
    Again,
    Rejected,
    Known,
    Clock,
    Ring,
    Overlap,
}

/// What the marks mean.
pub(super) const KEY: &[(Mark, &str)] = &[
    (Mark::Band, "holds the lease, or thinks so"),
    (Mark::Late, "granted, but run out"),
    (Mark::Overlap, "two think so"),
    (Mark::Pause, "paused"),
    (Mark::Fault, "fault"),
    (Mark::Clock, "error of its wall clock"),
    (Mark::Entry, "entry"),
    (Mark::Checkpoint, "checkpoint"),
    (Mark::Payout, "payout"),
    (Mark::Export, "export"),
    (Mark::Fence, "fence"),
    (Mark::Stale, "stale, accepted"),
    (Mark::Again, "done twice"),
    (Mark::Rejected, "rejected"),
    (Mark::Known, "known, not repeated"),
    (Mark::Ring, "breaks a rule"),
];

/// Draws the acts that are in `panel`, with their messages below them.
pub(super) fn draw(panel: &Panel, picture: &Picture<'_>, canvas: &mut Canvas) {
    let shown = |act: &&Act| panel.axis.covers(act.at) && panel.middle_of(picture, act.service).is_some();
    let acts: Vec<&Act> = picture.acts.all().iter().filter(shown).collect();
    if panel.is_large {
        draw_messages(panel, picture, &acts, canvas);
    }
    let has_titles = panel.is_large && acts.len() <= MOST_TITLES;
    // What stands out is on top, and of several marks at one place one is drawn.
    let mut taken = BTreeSet::new();
    let mut by_standing = acts;
    by_standing.sort_by_key(|act| (act.standing, act.event));
    for act in by_standing {
        let Some(middle) = panel.middle_of(picture, act.service) else { continue };
        let x = panel.axis.x(act.at);
        let mark = mark_of(act);
        let apart = if has_titles { 5 } else { 15 };
        if !taken.insert((x.0 / apart, act.service, mark)) {
            continue;
        }
        if has_titles {
            canvas.open("");
            canvas.title(&told(picture, act));
        }
        let class = format!("e{}", act.claim.epoch.0.saturating_sub(1) % 8);
        draw_mark(mark, &class, (x, middle), if panel.is_large { 10 } else { 5 }, canvas);
        if has_titles {
            canvas.close();
        }
    }
}

fn mark_of(act: &Act) -> Mark {
    match (act.standing, act.deed) {
        (Standing::Stale, _) => Mark::Stale,
        (Standing::Again, _) => Mark::Again,
        (Standing::Rejected, _) => Mark::Rejected,
        (Standing::Known, _) => Mark::Known,
        (Standing::Done, Deed::Fence) => Mark::Fence,
        (Standing::Done, Deed::Entry(_)) => Mark::Entry,
        (Standing::Done, Deed::Checkpoint) => Mark::Checkpoint,
        (Standing::Done, Deed::Export) => Mark::Export,
        (Standing::Done, Deed::Payout(_)) => Mark::Payout,
    }
}

/// An act as a phrase.
fn told(picture: &Picture<'_>, act: &Act) -> String {
    let (at, worker) = (words::utc(picture.history, act.at), words::name(picture.history, act.claim.worker));
    let what = match act.deed {
        Deed::Fence => "fence".to_owned(),
        Deed::Entry(op) => format!("entry for {op}"),
        Deed::Checkpoint => "checkpoint".to_owned(),
        Deed::Export => "export".to_owned(),
        Deed::Payout(op) => format!("payout of {op}"),
    };
    let how = match act.standing {
        Standing::Done => "",
        Standing::Known => ", known already",
        Standing::Rejected => ", rejected",
        Standing::Again => ", done twice",
        Standing::Stale => ", stale, and accepted",
    };
    format!("{at} {worker}'s {what} under lease {}{how}", act.claim.epoch.0)
}

/// Draws a mark with its middle at `at`; `tenths` is its size in tenths of the usual one.
fn draw_mark(mark: Mark, class: &str, (x, y): (Px, Px), tenths: i64, canvas: &mut Canvas) {
    // A length in pixels.
    let px = |pixels: i64| Px(pixels * tenths);
    let upright = |canvas: &mut Canvas, half_width: i64, half: i64| {
        let corner = (x - Px(half_width * tenths / 10), y - px(half));
        canvas.rect(class, corner, (Px(half_width * tenths / 5), px(2 * half)), 0);
    };
    let diamond = |canvas: &mut Canvas, x: Px| {
        canvas.path("stale", &[(x, y - px(8)), (x + px(7), y), (x, y + px(8)), (x - px(7), y)], true);
    };
    match mark {
        Mark::Entry => upright(canvas, 15, 9),
        Mark::Checkpoint => upright(canvas, 8, 4),
        Mark::Fence => upright(canvas, 20, 18),
        Mark::Export => canvas.rect(class, (x - px(6), y - px(6)), (px(12), px(12)), 2),
        Mark::Payout => canvas.circle(class, (x, y), px(5)),
        Mark::Stale => diamond(canvas, x),
        Mark::Again => {
            diamond(canvas, x - px(3));
            diamond(canvas, x + px(3));
        }
        Mark::Rejected => {
            canvas.line("rejected", (x - px(5), y - px(5)), (x + px(5), y + px(5)));
            canvas.line("rejected", (x - px(5), y + px(5)), (x + px(5), y - px(5)));
        }
        Mark::Known => canvas.circle("known", (x, y), px(4)),
        Mark::Band => canvas.rect(class, (x - px(10), y - px(6)), (px(20), px(12)), 3),
        Mark::Late => canvas.rect(&format!("{class} late"), (x - px(10), y - px(6)), (px(20), px(12)), 3),
        Mark::Pause => canvas.rect("pause", (x - px(10), y - px(7)), (px(20), px(14)), 0),
        Mark::Fault => {
            canvas.path("fault", &[(x - px(5), y - px(4)), (x + px(5), y - px(4)), (x, y + px(5))], true)
        }
        Mark::Clock => {
            let corners = [(x - px(9), y - px(4)), (x, y - px(4)), (x, y + px(4)), (x + px(9), y + px(4))];
            canvas.path("clock", &corners, false);
        }
        Mark::Ring => canvas.circle("ring", (x, y), px(7)),
        Mark::Overlap => canvas.rect("overlap", (x - px(10), y - px(9)), (px(20), px(18)), 0),
    }
}

/// Draws a mark for the key.
pub(super) fn sample(mark: Mark, at: (Px, Px), canvas: &mut Canvas) {
    draw_mark(mark, "e0", at, 10, canvas);
}

/// Messages as lines from where they were sent to where they arrived: those of what stands out, of grants, and as many of
/// the others as leave something to be seen.
fn draw_messages(panel: &Panel, picture: &Picture<'_>, acts: &[&Act], canvas: &mut Canvas) {
    let plain = acts.iter().filter(|act| act.standing == Standing::Done).count() <= MOST_MESSAGES;
    let mut lines: Vec<(&str, EventId)> = Vec::new();
    for act in acts {
        match act.standing {
            Standing::Stale | Standing::Again => lines.push(("messagebad", act.event)),
            Standing::Rejected | Standing::Known => lines.push(("messagegood", act.event)),
            Standing::Done if plain => lines.push(("message", act.event)),
            Standing::Done => {}
        }
    }
    let grants = picture.grants.iter().filter(|grant| panel.axis.covers(grant.from));
    lines.extend(grants.map(|grant| ("message", grant.event)));
    // Lines on top of each other would say no more.
    let mut taken = BTreeSet::new();
    for (class, id) in lines {
        let event = picture.history.event(id);
        let Some((sender, sent)) = sending(picture, event) else { continue };
        let ends = panel.middle_of(picture, sender).zip(panel.middle_of(picture, event.node));
        let Some((from, to)) = ends else { continue };
        let (begin, end) = (panel.axis.x(sent), panel.axis.x(event.at));
        if taken.insert((class, begin.0 / 10, end.0 / 10, sender, event.node)) {
            canvas.line(class, (begin, from), (end, to));
        }
    }
}

/// Who sent the request that `event` was done for, and when: its cause is the delivery, and that one's the sending.
fn sending(picture: &Picture<'_>, event: &Event) -> Option<(NodeId, TrueTime)> {
    let mut cause = event.cause;
    while let Some(id) = cause {
        let earlier = picture.history.event(id);
        match earlier.what {
            What::MessageSent { .. } => return Some((earlier.node, earlier.at)),
            // What else a service did in the same step, or its primary that was deposed.
            _ if earlier.node == event.node => cause = earlier.cause,
            _ => return None,
        }
    }
    None
}
