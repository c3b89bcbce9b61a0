//! A trace in the Trace Event Format, which Perfetto and Chrome open.
//!
//! A node is a process, one of each protocol's run, and has a thread for each kind of thing: what it thinks of the lease (or
//! what the store has granted), when it stands still, its messages, and what happens to it. Messages are flows, faults are
//! asynchronous slices, and how far a wall clock is off is a counter. Times are true times since the start, in microseconds.

use std::io::{self, Write};

use holdover_sim::check::Verdict;
use holdover_sim::history::{Event, History, Role, What, beliefs};
use holdover_sim::id::{EventId, NodeId};
use holdover_sim::time::{Span, TrueTime};
use serde::Serialize;
use serde_json::{Value, json};

use super::acts::{Acts, Standing};
use super::clock_errors::clock_errors;
use super::grants::{Grant, grants};
use super::lanes::{State, lines};
use super::layout::harmless;
use super::timeline::lease;
use super::words;
use crate::replay::{JudgedRun, Replay};

/// A run's processes have numbers from a multiple of this on; 0 is no process.
const PROCESSES: u64 = 100_000;

/// The threads of a node, in the order in which they are shown.
const THREADS: [(u64, &str); 5] = [
    (LEASE, "lease"),
    (DEPOSED, "lease, at the deposed"),
    (STANDSTILL, "standstill"),
    (MESSAGES, "messages"),
    (EVENTS, "events"),
];
const LEASE: u64 = 1;
const DEPOSED: u64 = 2;
const STANDSTILL: u64 = 3;
const MESSAGES: u64 = 4;
const EVENTS: u64 = 5;

/// An event of the format. `ph` is what it is: a complete slice, an instant, the begin or end of an asynchronous slice or of
/// a flow, a counter, or metadata.
#[derive(Serialize)]
struct Traced<'a> {
    ph: &'static str,
    name: &'a str,
    cat: &'static str,
    pid: u64,
    tid: u64,
    ts: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// To what an instant belongs: its thread or its process.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'static str>,
    /// A flow ends at the slice around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'static str>,
    args: Value,
}

/// Writes the trace of all runs of `replay`.
///
/// # Errors
/// What `out` says.
pub fn write(replay: &Replay<'_>, file: &str, command: &str, out: &mut impl Write) -> io::Result<()> {
    let other = json!({
        "holdover": env!("CARGO_PKG_VERSION"),
        "title": harmless(replay.premise.title),
        "file": harmless(file),
        "command": harmless(command),
        "seed": replay.seed.0.to_string(),
        "start": words::date(replay.premise.start) + "T" + &words::time_of_day(replay.premise.start) + "Z",
        "fingerprints": replay.runs.iter().map(|run| json!({run.protocol.name(): run.fingerprint.to_string()})).collect::<Value>(),
    });
    write!(out, "{{\"displayTimeUnit\":\"ms\",\"otherData\":")?;
    serde_json::to_writer(&mut *out, &other)?;
    write!(out, ",\"traceEvents\":[")?;
    let mut trace = Trace { out, is_first: true };
    for (index, run) in replay.runs.iter().enumerate() {
        let (history, acts, grants) = (&run.history, Acts::of(&run.history), grants(&run.history));
        Track { run, history, acts, grants, base: (index as u64 + 1) * PROCESSES }.write(&mut trace)?;
    }
    writeln!(trace.out, "\n]}}")
}

/// Where the events go.
struct Trace<'a, W> {
    out: &'a mut W,
    is_first: bool,
}

impl<W: Write> Trace<'_, W> {
    fn put(&mut self, traced: Traced<'_>) -> io::Result<()> {
        self.out.write_all(if self.is_first { b"\n" } else { b",\n" })?;
        self.is_first = false;
        serde_json::to_writer(&mut *self.out, &traced)?;
        Ok(())
    }
}

/// One run.
struct Track<'a> {
    run: &'a JudgedRun,
    history: &'a History,
    acts: Acts,
    grants: Vec<Grant>,
    /// The process that the faults are in; those of the nodes come behind it.
    base: u64,
}

impl Track<'_> {
    fn write<W: Write>(&self, trace: &mut Trace<'_, W>) -> io::Result<()> {
        self.names(trace)?;
        self.faults(trace)?;
        self.lease(trace)?;
        self.standstills(trace)?;
        for (id, event) in self.history.numbered() {
            self.event(id, event, trace)?;
        }
        self.violations(trace)?;
        self.clocks(trace)
    }

    /// The number of a fault or a message, among those of all runs.
    fn number(&self, own: u64) -> String {
        format!("{:#x}", (self.base / PROCESSES) << 32 | own)
    }

    fn process(&self, node: NodeId) -> u64 {
        self.base + 1 + u64::from(node.0)
    }

    /// What processes and threads are called, and in which order they stand: the workers first.
    fn names<W: Write>(&self, trace: &mut Trace<'_, W>) -> io::Result<()> {
        let protocol = self.run.protocol.name();
        self.metadata(self.base, 0, "process_name", json!({ "name": format!("{protocol}: faults") }), trace)?;
        self.metadata(self.base, 0, "process_sort_index", json!({ "sort_index": self.base }), trace)?;
        let roles = Role::DRAWN;
        let nodes = roles.into_iter().flat_map(|role| self.history.nodes_with(role));
        for (place, node) in nodes.enumerate() {
            let (pid, name) = (self.process(node), harmless(words::name(self.history, node)));
            self.metadata(pid, 0, "process_name", json!({ "name": format!("{protocol}: {name}") }), trace)?;
            self.metadata(
                pid,
                0,
                "process_sort_index",
                json!({ "sort_index": self.base + 1 + place as u64 }),
                trace,
            )?;
            let has_deposed = self.grants.iter().any(|grant| grant.by_deposed && grant.store == node);
            for (tid, name) in THREADS.into_iter().filter(|(tid, _)| *tid != DEPOSED || has_deposed) {
                self.metadata(pid, tid, "thread_name", json!({ "name": name }), trace)?;
                self.metadata(pid, tid, "thread_sort_index", json!({ "sort_index": tid }), trace)?;
            }
        }
        Ok(())
    }

    fn metadata<W: Write>(
        &self,
        pid: u64,
        tid: u64,
        name: &str,
        args: Value,
        trace: &mut Trace<'_, W>,
    ) -> io::Result<()> {
        trace.put(Traced { ph: "M", cat: "__metadata", ..traced(pid, tid, name, TrueTime::START, args) })
    }

    /// The faults, which may overlap, each from its strike to its end.
    fn faults<W: Write>(&self, trace: &mut Trace<'_, W>) -> io::Result<()> {
        for (id, event) in self.history.numbered() {
            let (ph, fault) = match event.what {
                What::FaultBegan { fault } => ("b", fault),
                What::FaultEnded { fault } => ("e", fault),
                _ => continue,
            };
            let planned = &self.history.plan[fault.index()];
            let name = harmless(&words::fault(self.history, &planned.inject));
            let note = planned.note.as_ref().map(|note| harmless(note));
            let args = json!({ "event": id.0, "note": note });
            let id = Some(self.number(u64::from(fault.0)));
            trace.put(Traced { ph, cat: "fault", id, ..traced(self.base, EVENTS, &name, event.at, args) })?;
        }
        Ok(())
    }

    /// What workers think of the lease, and what the store has granted.
    fn lease<W: Write>(&self, trace: &mut Trace<'_, W>) -> io::Result<()> {
        for belief in beliefs(self.history) {
            let args = json!({ "epoch": belief.epoch.0 });
            let name = format!("thinks that it holds {}", lease(belief.epoch));
            self.slice(belief.worker, LEASE, &name, (belief.from, belief.until), args, trace)?;
        }
        for grant in &self.grants {
            let worker = harmless(words::name(self.history, grant.worker));
            let token = grant.token.map(|token| token.0);
            let args = json!({ "event": grant.event.0, "worker": worker, "epoch": grant.epoch.0, "token": token,
                "expiry": words::utc(self.history, grant.expiry), "by_deposed": grant.by_deposed });
            let name = format!("{} of {worker}", lease(grant.epoch));
            // What a deposed primary granted overlaps what the new one did.
            let tid = if grant.by_deposed { DEPOSED } else { LEASE };
            self.slice(grant.store, tid, &name, (grant.from, grant.until), args, trace)?;
        }
        Ok(())
    }

    fn standstills<W: Write>(&self, trace: &mut Trace<'_, W>) -> io::Result<()> {
        let kinds = [(State::Paused, "paused"), (State::Halved, "one task paused"), (State::Absent, "not there")];
        for (node, line) in lines(self.history).iter().enumerate() {
            for (state, name) in kinds {
                for stretch in line.stretches(state, self.history.ended_at) {
                    self.slice(NodeId(node as u16), STANDSTILL, name, stretch, json!({}), trace)?;
                }
            }
        }
        Ok(())
    }

    fn slice<W: Write>(
        &self,
        node: NodeId,
        tid: u64,
        name: &str,
        (from, until): (TrueTime, TrueTime),
        args: Value,
        trace: &mut Trace<'_, W>,
    ) -> io::Result<()> {
        let dur = Some(micros(until - from));
        trace.put(Traced { ph: "X", dur, ..traced(self.process(node), tid, name, from, args) })
    }

    /// One event: a message's end is a slice of a nanosecond, so that a flow has something to begin and end at; all else is
    /// an instant.
    fn event<W: Write>(&self, id: EventId, event: &Event, trace: &mut Trace<'_, W>) -> io::Result<()> {
        let pid = self.process(event.node);
        let args = self.args(id, event);
        let (ph, name, bp) = match event.what {
            What::MessageSent { to, about, answer, .. } => {
                let what = if answer { "answer" } else { "request" };
                ("s", format!("{about} {what} to {}", words::name(self.history, to)), None)
            }
            What::MessageDelivered { from, .. } => {
                ("f", format!("{} from {}", self.about(event), words::name(self.history, from)), Some("e"))
            }
            What::FaultBegan { .. } | What::FaultEnded { .. } => return Ok(()),
            _ => {
                let name = self.instant(id, event);
                let s = Some("t");
                return trace.put(Traced {
                    ph: "i",
                    s,
                    cat: event.what.kind(),
                    ..traced(pid, EVENTS, &name, event.at, args)
                });
            }
        };
        let name = harmless(&name);
        let dur = Some(micros(Span::nanos(1)));
        // A flow belongs to the slice that has its category and begins when it does.
        trace.put(Traced { ph: "X", cat: "message", dur, ..traced(pid, MESSAGES, &name, event.at, args) })?;
        let (What::MessageSent { message, .. } | What::MessageDelivered { message, .. }) = event.what else {
            return Ok(());
        };
        // A flow has one name at both ends, and its number is its own among all runs.
        let id = Some(self.number(u64::from(message.0)));
        trace.put(Traced { ph, cat: "message", id, bp, ..traced(pid, MESSAGES, "message", event.at, json!({})) })
    }

    /// What the message that was delivered by `event` is about.
    fn about(&self, event: &Event) -> String {
        match event.cause.map(|cause| self.history.event(cause).what) {
            Some(What::MessageSent { about, answer: true, .. }) => format!("{about} answer"),
            Some(What::MessageSent { about, .. }) => format!("{about} request"),
            _ => "message".to_owned(),
        }
    }

    /// What an event is called: its kind, and how it stands out.
    fn instant(&self, id: EventId, event: &Event) -> String {
        let kind = event.what.kind();
        match self.acts.standing(id) {
            Standing::Stale => format!("STALE: {kind}"),
            Standing::Again => format!("AGAIN: {kind}"),
            Standing::Done | Standing::Known | Standing::Rejected => kind.to_owned(),
        }
    }

    /// The event's number, cause and fields, and the times of that instant.
    fn args(&self, id: EventId, event: &Event) -> Value {
        let wall = self.history.wall(id, event.node);
        json!({ "event": id.0, "cause": event.cause.map(|cause| cause.0), "utc": words::utc(self.history, event.at),
            "wall": words::clock(self.history, wall), "what": event.what })
    }

    /// The rules that were broken, where the first event shows it.
    fn violations<W: Write>(&self, trace: &mut Trace<'_, W>) -> io::Result<()> {
        for (checker, verdict) in &self.run.verdicts {
            let Verdict::Violated { witness, times } = verdict else { continue };
            let Some(id) = witness.events().last().copied() else { continue };
            let event = self.history.event(id);
            let name = format!("VIOLATED: {}", checker.name);
            let args =
                json!({ "event": id.0, "times": times, "why": harmless(&words::witness(self.history, witness)) });
            let pid = self.process(event.node);
            trace.put(Traced {
                ph: "i",
                s: Some("p"),
                cat: "violation",
                ..traced(pid, EVENTS, &name, event.at, args)
            })?;
        }
        Ok(())
    }

    /// How far wall clocks are ahead of true time: those of the workers, and others that are off at some time.
    fn clocks<W: Write>(&self, trace: &mut Trace<'_, W>) -> io::Result<()> {
        for (index, node) in self.history.nodes.iter().enumerate() {
            let errors = clock_errors(self.history, &node.clocks);
            if node.role != Role::Worker && errors.iter().all(|(_, error)| *error == Span::ZERO) {
                continue;
            }
            for (at, error) in in_steps(&errors) {
                let args = json!({ "ms": error.as_nanos() as f64 / 1e6 });
                let pid = self.process(NodeId(index as u16));
                trace.put(Traced { ph: "C", cat: "clock", ..traced(pid, 0, "wall clock error", at, args) })?;
            }
        }
        Ok(())
    }
}

/// An event at `at`, of which all else is still to be said.
fn traced(pid: u64, tid: u64, name: &str, at: TrueTime, args: Value) -> Traced<'_> {
    let ts = micros(at - TrueTime::START);
    Traced { ph: "i", name, cat: "holdover", pid, tid, ts, dur: None, id: None, s: None, bp: None, args }
}

/// A line as values that each hold up to the next: where it is bent or slanted, in as many as show that it is.
fn in_steps(corners: &[(TrueTime, Span)]) -> Vec<(TrueTime, Span)> {
    const STEPS: i64 = 16;
    let mut steps: Vec<(TrueTime, Span)> = Vec::new();
    for pair in corners.windows(2) {
        let [(from, error), (until, next)] = [pair[0], pair[1]];
        let (length, rise) = ((until - from).as_nanos(), (next - error).as_nanos());
        steps.push((from, error));
        if length > STEPS && rise != 0 {
            let part = |whole: i64, step: i64| Span::nanos(whole / STEPS * step);
            steps.extend((1..STEPS).map(|step| (from + part(length, step), error + part(rise, step))));
        }
    }
    steps.extend(corners.last());
    steps
}

fn micros(span: Span) -> f64 {
    span.as_nanos() as f64 / 1_000.0
}
