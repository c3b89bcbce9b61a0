//! What happens to machines: faults, what sets clocks right, what disks lose, and workers that are put back.

use holdover_sim::history::{Event, What};
use holdover_sim::id::{EventId, FaultId, NodeId};
use holdover_sim::time::TrueTime;

use super::{Mark, Teller};
use crate::report::layout::harmless;
use crate::report::words;

/// A slew by less than this, 0.1 %, isn't told.
const SLEW_TOLD_PPB: i32 = 1_000_000;

impl Teller<'_> {
    pub(super) fn tell_fault(&mut self, id: EventId, event: &Event, fault: FaultId, begin: bool) {
        let planned = &self.history.plan[fault.index()];
        let note = planned.note.as_ref().map_or(String::new(), |note| format!(" ({})", harmless(note)));
        let name = |node: NodeId| self.name(node).to_owned();
        let text = if begin {
            format!("FAULT: {}{note}", planned.inject.phrase(&name))
        } else {
            // What was over as soon as it had struck is told by one row.
            let Some(healed) = planned.inject.healed(&name) else { return };
            healed
        };
        let mark = if begin { Mark::Fault } else { Mark::Healed };
        self.say(id, event, event.node, mark, text);
    }

    /// Slews too small to matter aren't told: a daemon always does a little.
    pub(super) fn tell_discipline(&mut self, id: EventId, event: &Event) {
        let name = self.name(event.node);
        let text = match event.what {
            What::ClockCorrected { by } => {
                let (way, size) = if by.is_negative() { ("back", -by) } else { ("forward", by) };
                format!("{name}'s wall clock is set {way} by {}", words::rounded(size))
            }
            What::ClockSlewed { ppb } if ppb.abs() >= SLEW_TOLD_PPB => {
                self.slewed[event.node.index()] = true;
                let (faster, percent) = (if ppb > 0 { "fast" } else { "slow" }, ppb.unsigned_abs() / 100_000);
                format!(
                    "{name}'s clocks are slewed: {}.{:02} % {faster}, monotonic too",
                    percent / 100,
                    percent % 100
                )
            }
            What::ClockSlewed { .. } if std::mem::take(&mut self.slewed[event.node.index()]) => {
                format!("{name}'s clocks are no longer slewed")
            }
            What::TimeDaemonExited => {
                format!("{name}'s time daemon gives up: the clock is too far off to be believed")
            }
            _ => return,
        };
        self.say(id, event, event.node, Mark::Plain, text);
    }

    pub(super) fn tell_restoring(&mut self, id: EventId, event: &Event, of: NodeId, snapshot: EventId) {
        let then = words::utc(self.history, self.history.event(snapshot).at);
        let how = match of == event.node {
            true => format!("goes on from how it was at {then}, by the clocks of then"),
            false => format!("goes on as {} was at {then}, beside it", self.name(of)),
        };
        self.act(id, event, event.node, &how);
    }

    pub(super) fn tell_loss(&mut self, id: EventId, event: &Event, since: TrueTime) {
        let of_node =
            |earlier: &&Event| earlier.node == event.node && earlier.at > since && earlier.what.is_written();
        // What a deposed primary wrote is lost with that one.
        let earlier = self.history.events[..id.index()].iter().filter(of_node);
        let lost = earlier.filter(|earlier| !self.history.by_deposed(earlier)).count();
        let (name, since) = (self.name(event.node), words::utc(self.history, since));
        let text = match lost {
            0 => format!("LOST: nothing, {name} wrote nothing after {since}"),
            lost => format!("LOST: what {name} wrote after {since}, {}", words::many(lost, "write", "writes")),
        };
        self.say(id, event, event.node, Mark::Fault, text);
    }
}
