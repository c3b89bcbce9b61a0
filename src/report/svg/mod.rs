//! A still of the lanes: who thought what of the lease, what the services did, and where it broke.
//!
//! The protocols stand below each other. Each has all of the run in small, and below it the part where what matters
//! happens, on the same axis for all protocols. Both axes are true time and even. `panel` draws the lanes, `marks` what
//! happens in them, `axis` has the time, and `canvas` the shapes.

mod axis;
mod canvas;
mod marks;
mod panel;

use std::io::{self, Write};

use holdover_sim::check::Verdict;
use holdover_sim::history::{History, Role, overlaps};
use holdover_sim::id::NodeId;
use holdover_sim::time::{Span, TrueTime};

use self::axis::Axis;
use self::canvas::{Canvas, Px, escaped, fitted, width};
use self::panel::{Panel, Picture};
use super::acts::{Acts, Standing};
use super::closing::planned_fault;
use super::excerpt::Excerpt;
use super::lanes::most_interesting;
use super::style;
use super::{summary, words};
use crate::replay::{JudgedRun, Replay};

const STYLE: &str = include_str!("style.css");

/// The width of the picture, and of what is beside the lanes.
const WIDTH: i64 = 1_440;
const MARGIN: i64 = 24;
const NAMES: i64 = 148;

/// The most workers that have a lane; more would leave no room to see anything.
const MOST_WORKERS: usize = 8;

/// The most faults that are listed.
const MOST_FAULTS: usize = 20;

/// Tenths of a pixel for a column of text, in its sizes.
const COLUMN: i64 = 67;
const WIDE_COLUMN: i64 = 128;

/// Writes the picture of `replay`, of no more than `excerpt`.
///
/// # Errors
/// What `out` says.
pub fn write(replay: &Replay<'_>, excerpt: &Excerpt, out: &mut impl Write) -> io::Result<()> {
    let mut canvas = Canvas::default();
    let mut y = head(replay, &mut canvas);
    let (whole, detail) = stretches(replay, excerpt);
    for run in &replay.runs {
        y = draw_run(run, excerpt, whole, detail, y, &mut canvas);
    }
    if let Some(first) = replay.runs.first() {
        y = faults(&first.history, y, &mut canvas);
        y = key(y, &mut canvas);
    }
    let height = y.plus(MARGIN / 2);
    let title = escaped(replay.premise.title);
    let told = replay.runs.iter().map(|run| format!("{}: {}.", run.protocol.name(), phrases(run)));
    let told = escaped(&told.collect::<Vec<_>>().join(" "));
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         role=\"img\" aria-labelledby=\"title told\">"
    )?;
    writeln!(
        out,
        "<title id=\"title\">{title}</title>\n<desc id=\"told\">{told}</desc>\n<style>\n{STYLE}</style>"
    )?;
    writeln!(
        out,
        "<defs><pattern id=\"hatch\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" \
         patternTransform=\"rotate(45)\"><line class=\"hatchline\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"7\"/></pattern></defs>"
    )?;
    writeln!(out, "<rect class=\"page\" x=\"0\" y=\"0\" width=\"{WIDTH}\" height=\"{height}\"/>")?;
    out.write_all(canvas.into_text().as_bytes())?;
    writeln!(out, "</svg>")
}

fn phrases(run: &JudgedRun) -> String {
    summary::told(run).into_iter().map(|(told, _)| told).collect::<Vec<_>>().join("; ")
}

/// Title and origin. Returns where what comes next begins.
fn head(replay: &Replay<'_>, canvas: &mut Canvas) -> Px {
    let (left, room) = (Px::of(MARGIN), Px::of(WIDTH - 2 * MARGIN));
    canvas.text("h1", (left, Px::of(40)), &fitted(replay.premise.title, room, WIDE_COLUMN));
    let start = replay.premise.start;
    let protocols: Vec<&str> = replay.runs.iter().map(|run| run.protocol.name()).collect();
    let origin = format!(
        "seed {} · {} from {} UTC · true time from left to right · {}",
        replay.seed.0,
        words::date(start),
        words::time_of_day(start),
        if protocols.is_empty() { "no protocol".to_owned() } else { protocols.join(", ") }
    );
    canvas.text("dim", (left, Px::of(62)), &fitted(&origin, room, COLUMN));
    Px::of(78)
}

/// The stretch that all of a run is drawn in, and the shorter one in which what matters happens, if there is one.
fn stretches(replay: &Replay<'_>, excerpt: &Excerpt) -> ((TrueTime, TrueTime), Option<(TrueTime, TrueTime)>) {
    let ended = replay.runs.iter().map(|run| run.history.ended_at).max().unwrap_or(TrueTime::START);
    let whole = (excerpt.from.unwrap_or(TrueTime::START), excerpt.to.unwrap_or(ended));
    let length = whole.1 - whole.0;
    if excerpt.from.is_some() || excerpt.to.is_some() {
        return (whole, None);
    }
    let instants = replay.runs.iter().flat_map(matters);
    let hull = instants.fold(None, |hull: Option<(TrueTime, TrueTime)>, at| {
        Some(hull.map_or((at, at), |(first, last)| (first.min(at), last.max(at))))
    });
    let detail = hull.and_then(|(first, last)| {
        let pad = Span::nanos(((last - first).as_nanos() / 9).max(length.as_nanos() / 2_000));
        let padded = ((first - pad).max(whole.0), (last + pad).min(whole.1));
        // Where nothing would become larger there is nothing to enlarge.
        ((padded.1 - padded.0).times(2) < length).then_some(padded)
    });
    (whole, detail)
}

/// The instants that nobody should have to search for.
fn matters(run: &JudgedRun) -> Vec<TrueTime> {
    let history = &run.history;
    let acts = Acts::of(history);
    let stands_out = acts.all().iter().filter(|act| act.standing != Standing::Done).map(|act| act.at);
    let broken = run.verdicts.iter().flat_map(|(_, verdict)| match verdict {
        Verdict::Violated { witness, .. } => witness.events(),
        _ => Vec::new(),
    });
    let broken = broken.map(|id| history.event(id).at);
    let overlaps = overlaps(history).into_iter().flat_map(|overlap| [overlap.from, overlap.until]);
    stands_out.chain(broken).chain(overlaps).collect()
}

/// The nodes that have a lane, and how many workers have none.
fn lanes(history: &History, excerpt: &Excerpt) -> (Vec<NodeId>, usize) {
    let of = |role| history.nodes_with(role).filter(|node| excerpt.has(*node));
    let workers: Vec<NodeId> = of(Role::Worker).collect();
    let mut lanes = most_interesting(history, &workers, MOST_WORKERS);
    let left_out = workers.len() - lanes.len();
    lanes.extend(Role::DRAWN.into_iter().filter(|role| *role != Role::Worker).flat_map(of));
    (lanes, left_out)
}

/// One run: its name and what it came to, all of it in small, and what matters in large.
fn draw_run(
    run: &JudgedRun,
    excerpt: &Excerpt,
    whole: (TrueTime, TrueTime),
    detail: Option<(TrueTime, TrueTime)>,
    mut y: Px,
    canvas: &mut Canvas,
) -> Px {
    let (lanes, left_out) = lanes(&run.history, excerpt);
    let picture = Picture::new(run, lanes);
    let left = Px::of(MARGIN);
    let name = fitted(run.protocol.name(), Px::of(300), COLUMN);
    canvas.text("h2", (left, y.plus(22)), &name);
    let mut x = left + width(&name, 115).plus(14);
    let mut baseline = y.plus(22);
    for (told, colour) in summary::told(run) {
        let class = match colour {
            colour if colour == style::BAD => "bad strong",
            colour if colour == style::GOOD => "good strong",
            colour if colour == style::FAULT => "unsure strong",
            _ => "dim",
        };
        let needed = width(&told, COLUMN);
        if x + needed > Px::of(WIDTH - MARGIN) {
            (x, baseline) = (left, baseline.plus(17));
        }
        canvas.text(class, (x, baseline), &fitted(&told, Px::of(WIDTH - MARGIN) - x, COLUMN));
        x = x + needed.plus(14);
    }
    y = baseline.plus(12);
    let (panel_left, panel_width) = (Px::of(MARGIN + NAMES), Px::of(WIDTH - 2 * MARGIN - NAMES));
    let axis = |(from, until)| Axis { from, until, left: panel_left, width: panel_width };
    if let Some(detail) = detail {
        let small = Panel { axis: axis(whole), top: y, lane: Px::of(15), is_large: false };
        y = small.draw(&picture, canvas);
        let (from, until) = (small.axis.x(detail.0), small.axis.x(detail.1));
        let top = y.plus(26);
        // From the stretch in small to the same in large.
        let small_top = small.top;
        canvas.path("lens", &[(from, small_top), (until.plus(1), small_top), (until.plus(1), y), (from, y)], true);
        canvas.path("lens", &[(from, y), (until.plus(1), y), (small.axis.right(), top), (panel_left, top)], true);
        y = top;
    }
    let large = Panel { axis: axis(detail.unwrap_or(whole)), top: y, lane: Px::of(46), is_large: true };
    y = large.draw(&picture, canvas).plus(8);
    if left_out > 0 {
        let others = words::many(left_out, "other worker isn't drawn", "other workers aren't drawn");
        canvas.text("dim", (left, y.plus(10)), &others);
        y = y.plus(18);
    }
    y = violations(run, y, canvas);
    y.plus(10)
}

/// What shows each violation, under its letter.
fn violations(run: &JudgedRun, mut y: Px, canvas: &mut Canvas) -> Px {
    for (letter, rule, witness) in panel::violations(run) {
        y = y.plus(18);
        canvas.anchored("ringtext", (Px::of(MARGIN + 10), y), "middle", &letter.to_string());
        canvas.text("bad strong", (Px::of(MARGIN + 28), y), rule);
        let told = words::witness(&run.history, witness);
        let at = Px::of(MARGIN + NAMES + 12);
        canvas.text("plain", (at, y), &fitted(&told, Px::of(WIDTH - MARGIN) - at, COLUMN));
    }
    y.plus(8)
}

/// What the numbers of the faults stand for.
fn faults(history: &History, mut y: Px, canvas: &mut Canvas) -> Px {
    for (index, planned) in history.plan.iter().enumerate().take(MOST_FAULTS) {
        y = y.plus(19);
        let middle = (Px::of(MARGIN + 10), y.plus(-4));
        canvas.circle("badge", middle, Px::of(8));
        canvas.anchored("badgetext", (middle.0, middle.1.plus(4)), "middle", &(index + 1).to_string());
        let told = fitted(&planned_fault(history, planned), Px::of(WIDTH - 2 * MARGIN - 28), COLUMN);
        canvas.text("plain", (Px::of(MARGIN + 28), y), &told);
    }
    if history.plan.len() > MOST_FAULTS {
        y = y.plus(19);
        let more = words::many(history.plan.len() - MOST_FAULTS, "more fault", "more faults");
        canvas.text("dim", (Px::of(MARGIN + 28), y), &format!("and {more}"));
    }
    y.plus(10)
}

/// What the marks mean.
fn key(y: Px, canvas: &mut Canvas) -> Px {
    let (mut x, mut base) = (Px::of(MARGIN), y.plus(20));
    for (sample, meaning) in marks::KEY {
        let room = width(meaning, 64).plus(46);
        if x + room > Px::of(WIDTH - MARGIN) {
            (x, base) = (Px::of(MARGIN), base.plus(26));
        }
        marks::sample(*sample, (x.plus(10), base.plus(-4)), canvas);
        canvas.text("dim small", (x.plus(26), base), meaning);
        x = x + room;
    }
    base.plus(10)
}
