//! Whether each fault of a run bit: whether it touched anything that the lease protects.

use serde::Serialize;

use super::places::Places;
use super::strike::Strike;
use crate::fault::PlannedFault;
use crate::history::History;
use crate::id::FaultId;

/// What became of one fault of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bite {
    /// Its anchor never came.
    NeverStruck,
    /// It struck, and nothing that a lease protects was touched.
    Missed,
    /// It struck where it could hurt.
    Bit,
}

/// What became of each fault of the plan, in the plan's order.
pub fn bites(history: &History) -> Vec<Bite> {
    let found = Places::of(history);
    let bite = |(planned, fault): (&PlannedFault, u16)| match Strike::of(history, &found, FaultId(fault)) {
        None => Bite::NeverStruck,
        Some(strike) if planned.inject.bit(history, &strike) => Bite::Bit,
        Some(_) => Bite::Missed,
    };
    history.plan.iter().zip(0..).map(bite).collect()
}

#[cfg(test)]
mod tests {
    use super::Bite::{Bit, Missed, NeverStruck};
    use super::*;
    use crate::clock::Clock::{Boottime, Monotonic, Raw, Wall};
    use crate::clock::Rate;
    use crate::fault::{
        ClockDrift, ClockSlew, ClockStep, ClockStrobe, Crash, DiskStall, Failover, Fault, LeapSecond, Links,
        Loses, Loss, NodeSet, Pause, PauseClocks, Restart, Shutdown, SplitBrain, Throttle, TimeSource, ZoneError,
    };
    use crate::history::What;
    use crate::history::fixture::{A, B, C, LEDGER, PROVIDER, STORE, Story, pause};
    use crate::id::{MessageId, NodeId};
    use crate::limits::Ending;
    use crate::time::Span;

    #[track_caller]
    fn check(story: Story, expected: Bite) {
        assert_eq!(bites(&story.history()), [expected]);
    }

    fn plan(fault: Fault) -> Story {
        Story::new().plan(fault)
    }

    fn step(by: i64) -> Fault {
        Fault::ClockStep(ClockStep { node: A, by: Span::millis(by) })
    }

    fn slew() -> Fault {
        Fault::ClockSlew(ClockSlew {
            node: A,
            rate: Rate::from_ppb(100_000_000).expect("in range"),
            lasting: Span::secs(1),
        })
    }

    fn restart(node: NodeId) -> Fault {
        Fault::Restart(Restart { node, lasting: Span::secs(1), loses: Loses::Memory })
    }

    #[test]
    fn each_fault_of_the_plan_has_its_own() {
        let story = plan(pause(A)).plan(pause(B)).plan(step(1)).granted(B, 1, None);
        assert_eq!(bites(&story.at(5).begins(0).begins(1).history()), [Missed, Bit, NeverStruck]);
        assert_eq!(bites(&Story::new().history()), []);
    }

    #[test]
    fn a_pause_bites_a_worker_that_has_the_lease_at_the_store() {
        check(plan(pause(A)).granted(A, 1, None), NeverStruck);
        check(plan(pause(A)).begins(0).at(10).heals(0), Missed);
        check(plan(pause(A)).granted(A, 1, None).at(5).begins(0), Bit);
        check(plan(pause(A)).granted(B, 1, None).at(5).begins(0).at(10).heals(0), Missed);
        check(plan(pause(A)).granted(A, 1, None).granted(B, 2, None).at(5).begins(0), Missed);
        check(plan(pause(A)).granted(A, 1, None).released(A, 1).at(5).begins(0), Missed);
        check(plan(pause(A)).granted(A, 1, None).at(3_600_000).begins(0), Bit);
        check(plan(pause(A)).granted(A, 1, None).granted(A, 2, None).released(A, 1).begins(0), Bit);
    }

    #[test]
    fn a_grant_during_the_pause_counts_and_one_after_it_does_not() {
        let paused = || plan(pause(A)).at(5).begins(0);
        check(paused().at(7).granted(A, 1, None).at(10).heals(0), Bit);
        check(paused().at(7).granted(A, 1, None).granted(B, 2, None).at(10).heals(0), Bit);
        check(paused().at(10).heals(0).granted(A, 1, None), Missed);
        check(paused().at(10).granted(A, 1, None).heals(0), Bit);
    }

    #[test]
    fn a_pause_bites_a_service_that_a_message_has_to_wait_for() {
        let sent = |latency| plan(pause(LEDGER)).granted(A, 1, None).sent(A, LEDGER, 0, latency);
        check(sent(3).at(5).begins(0).at(10).heals(0), Missed);
        check(sent(7).at(5).begins(0).at(10).heals(0), Bit);
        check(sent(10).at(5).begins(0).at(10).heals(0), Missed);
        check(sent(12).at(5).begins(0).at(10).heals(0), Missed);
        check(sent(5).at(5).begins(0).at(10).heals(0), Bit);
        check(sent(5).at(5).delivered(A, LEDGER, 0).begins(0).at(10).heals(0), Missed);
        check(sent(7).at(5).begins(0).at(6).ends(Ending::TimeUp), Missed);
        check(plan(pause(LEDGER)).begins(0).sent(A, LEDGER, 0, 3).at(10).heals(0), Bit);
        check(plan(pause(LEDGER)).begins(0).sent(A, PROVIDER, 0, 3).at(10).heals(0), Missed);
        check(plan(pause(LEDGER)).begins(0).at(10).heals(0).sent(A, LEDGER, 0, 0), Missed);
    }

    #[test]
    fn a_step_bites_a_lease_by_the_wall_clock() {
        let held = |by, clock| plan(step(by)).held(A, 1, clock, 40);
        check(held(1, Wall).at(10).begins(0), Bit);
        check(held(-1, Wall).at(10).begins(0), Bit);
        for clock in [Monotonic, Raw, Boottime] {
            check(held(-1, clock).at(10).begins(0), Missed);
        }
        check(held(-1, Wall).dropped(A, 1).at(10).begins(0), Missed);
        check(held(-1, Wall).on(A, What::WorkerFinished).at(10).begins(0), Missed);
        check(held(-1, Wall).dropped(A, 2).at(10).begins(0), Bit);
        check(plan(step(-1)).held(B, 1, Wall, 40).at(10).begins(0), Missed);
        check(plan(step(-1)).at(10).begins(0).held(A, 1, Wall, 40), Missed);
    }

    #[test]
    fn a_step_back_past_the_end_revives_a_lease() {
        let held = |by| plan(step(by)).held(A, 1, Wall, 40);
        check(held(-10).at(45).begins(0), Bit);
        check(held(-10).at(50).begins(0), Missed);
        check(held(-10).at(49).begins(0), Bit);
        check(held(10).at(40).begins(0), Missed);
        check(held(10).at(39).begins(0), Bit);
    }

    #[test]
    fn a_step_bites_when_it_takes_somebody_elses_lease_too_early() {
        // A lease of the fixture ends 40 s after its grant.
        let granted = |to, at| plan(step(1)).granted(B, 1, None).at(10).begins(0).at(at).granted(to, 2, None);
        check(granted(A, 39_000), Bit);
        check(granted(A, 41_000), Missed);
        check(granted(B, 39_000), Missed);
        check(plan(step(1)).granted(B, 1, None).at(5).granted(A, 2, None).dropped(A, 2).at(10).begins(0), Missed);
        check(plan(step(1)).granted(B, 1, None).at(10).begins(0).released(B, 1).granted(A, 2, None), Missed);
    }

    #[test]
    fn a_slew_bites_a_lease_by_a_clock_that_it_bends() {
        for (clock, bite) in [(Wall, Bit), (Monotonic, Bit), (Boottime, Bit), (Raw, Missed)] {
            check(plan(slew()).held(A, 1, clock, 40).at(10).begins(0).at(20).heals(0), bite);
            check(plan(slew()).at(10).begins(0).at(15).held(A, 1, clock, 40).at(20).heals(0), bite);
        }
        check(plan(slew()).held(A, 1, Wall, 40).at(40).begins(0).at(50).heals(0), Missed);
        check(plan(slew()).held(A, 1, Wall, 40).dropped(A, 1).at(10).begins(0).at(20).heals(0), Missed);
        check(plan(slew()).at(10).begins(0).at(20).heals(0).held(A, 1, Wall, 40), Missed);
        check(plan(slew()).held(B, 1, Wall, 40).at(10).begins(0).at(20).heals(0), Missed);
    }

    #[test]
    fn a_drift_bites_a_lease_by_any_clock() {
        let drift = |lasting| {
            let rate = Rate::from_ppb(100_000_000).expect("in range");
            Fault::ClockDrift(ClockDrift { node: A, rate, lasting })
        };
        for clock in [Wall, Monotonic, Raw, Boottime] {
            check(plan(drift(Some(Span::secs(1)))).held(A, 1, clock, 40).at(10).begins(0).at(20).heals(0), Bit);
            check(plan(drift(None)).at(10).begins(0).heals(0).at(15).held(A, 1, clock, 40), Bit);
            check(plan(drift(Some(Span::secs(1)))).at(10).begins(0).at(20).heals(0).held(A, 1, clock, 40), Missed);
        }
        check(plan(drift(None)).held(A, 1, Wall, 40).dropped(A, 1).at(10).begins(0).heals(0), Missed);
        check(plan(drift(None)).held(B, 1, Wall, 40).at(10).begins(0).heals(0), Missed);
    }

    #[test]
    fn a_wall_clock_that_goes_away_and_comes_back_bites_a_lease_by_it() {
        let strobe = |by| {
            let (by, every) = (Span::millis(by), Span::millis(1));
            Fault::ClockStrobe(ClockStrobe { node: A, by, every, lasting: Span::secs(1) })
        };
        let zone = |by| Fault::ZoneError(ZoneError { node: A, by: Span::millis(by), lasting: Span::secs(1) });
        for fault in [strobe as fn(i64) -> Fault, zone] {
            check(plan(fault(5)).held(A, 1, Wall, 40).at(10).begins(0).at(20).heals(0), Bit);
            check(plan(fault(50)).held(A, 1, Wall, 40).at(10).begins(0).at(20).heals(0), Bit);
            check(plan(fault(-5)).at(10).begins(0).at(15).held(A, 1, Wall, 40).at(20).heals(0), Bit);
            check(plan(fault(5)).held(A, 1, Monotonic, 40).at(10).begins(0).at(20).heals(0), Missed);
            check(plan(fault(5)).held(A, 1, Wall, 40).at(50).begins(0).at(60).heals(0), Missed);
            check(plan(fault(5)).at(10).begins(0).at(20).heals(0).held(A, 1, Wall, 40), Missed);
        }
        check(plan(zone(5)).at(10).begins(0).granted(A, 1, None).at(20).heals(0), Bit);
        check(plan(strobe(5)).at(10).begins(0).granted(A, 1, None).at(20).heals(0), Missed);
    }

    #[test]
    fn a_leap_second_bites_whoever_has_a_lease_by_the_wall_clock() {
        let leap = |stepped: &[NodeId], smeared: &[NodeId]| {
            Fault::LeapSecond(LeapSecond { stepped: stepped.to_vec(), smeared: smeared.to_vec() })
        };
        check(plan(leap(&[A], &[])).held(A, 1, Wall, 40).at(10).begins(0).heals(0), Bit);
        check(plan(leap(&[], &[B, A])).held(A, 1, Wall, 40).at(10).begins(0).heals(0), Bit);
        check(plan(leap(&[B], &[])).held(A, 1, Wall, 40).at(10).begins(0).heals(0), Missed);
        check(plan(leap(&[A], &[])).held(A, 1, Monotonic, 40).at(10).begins(0).heals(0), Missed);
    }

    #[test]
    fn a_time_source_bites_whose_clock_is_set_meanwhile() {
        let source = || {
            plan(Fault::TimeSource(TimeSource { nodes: vec![A], error: Span::secs(1), lasting: Span::secs(1) }))
        };
        let by = Span::secs(1);
        check(source().at(5).begins(0).on(A, What::ClockCorrected { by }).at(10).heals(0), Bit);
        check(source().at(5).begins(0).on(A, What::ClockSlewed { ppb: 1 }).at(10).heals(0), Bit);
        check(source().at(5).begins(0).on(B, What::ClockCorrected { by }).at(10).heals(0), Missed);
        check(source().at(5).begins(0).at(10).heals(0).on(A, What::ClockCorrected { by }), Missed);
    }

    #[test]
    fn a_pause_of_a_host_bites_any_of_its_nodes() {
        let host = |nodes: &[NodeId]| {
            let pause = Pause::of(nodes[0], Span::secs(1), PauseClocks::Running);
            plan(Pause { beside: nodes[1..].to_vec(), ..pause }.into())
        };
        check(host(&[C, A]).granted(A, 1, None).at(5).begins(0).at(10).heals(0), Bit);
        check(host(&[C, LEDGER]).sent(A, LEDGER, 0, 7).at(5).begins(0).at(10).heals(0), Bit);
        check(host(&[C, B]).granted(A, 1, None).at(5).begins(0).at(10).heals(0), Missed);
    }

    #[test]
    fn clocks_of_the_store_matter_where_leases_end_by_them() {
        let stepped =
            |clock| plan(Fault::ClockStep(ClockStep { node: STORE, by: Span::secs(1) })).leases_end_by(clock);
        check(stepped(Wall).granted(A, 1, None).at(5).begins(0).heals(0), Bit);
        check(stepped(Wall).at(5).begins(0).heals(0), Missed);
        check(stepped(Monotonic).granted(A, 1, None).at(5).begins(0).heals(0), Missed);
        let by_asker = plan(Fault::ClockStep(ClockStep { node: STORE, by: Span::secs(1) }));
        check(by_asker.granted(A, 1, None).at(5).begins(0).heals(0), Missed);
    }

    #[test]
    fn a_death_bites_who_has_the_lease() {
        let crash = |node| Fault::Crash(Crash { node, lasting: Some(Span::secs(1)) });
        let shutdown = |node| Fault::Shutdown(Shutdown { node, lasting: Span::secs(1) });
        for fault in [crash(A), shutdown(A)] {
            check(plan(fault.clone()).granted(A, 1, None).at(5).begins(0).at(10).heals(0), Bit);
            check(plan(fault.clone()).granted(B, 1, None).at(5).begins(0).at(10).heals(0), Missed);
            check(plan(fault.clone()).granted(A, 1, None).released(A, 1).at(5).begins(0).at(10).heals(0), Missed);
            check(plan(fault.clone()).at(5).begins(0).at(7).granted(A, 1, None).at(10).heals(0), Bit);
        }
    }

    #[test]
    fn a_fault_on_the_network_bites_if_it_touches_a_message() {
        let links = Links { between: [A].into_iter().collect(), and: NodeSet::default(), one_way: false };
        let loss = || plan(Loss { links: links.clone(), percent: 50, lasting: Span::secs(1) }.into());
        let message = MessageId(0);
        let dropped = |fault| What::MessageDropped { message, to: LEDGER, fault: FaultId(fault) };
        let delayed = |fault| What::MessageDelayed { message, by: Span::millis(1), fault: FaultId(fault) };
        let copy = MessageId(1);
        let repeated = |fault| What::MessageRepeated { message, to: LEDGER, copy, fault: FaultId(fault) };
        check(loss().begins(0).sent(A, LEDGER, 0, 3).at(10).heals(0), Missed);
        for (own, other) in [(dropped(0), dropped(1)), (delayed(0), delayed(1)), (repeated(0), repeated(1))] {
            check(loss().begins(0).sent(A, LEDGER, 0, 3).on(A, own).at(10).heals(0), Bit);
            check(loss().begins(0).sent(A, LEDGER, 0, 3).on(A, other).at(10).heals(0), Missed);
        }
    }

    #[test]
    fn a_failover_bites_what_the_service_had_written() {
        let failover = Fault::Failover(Failover { node: LEDGER, lag: Span::secs(1), lasting: Span::secs(1) });
        let lost = |story: Story, since| {
            let story =
                story.at(10).begins(0).on(LEDGER, What::WritesLost { since: crate::history::fixture::ms(since) });
            story.at(20).heals(0)
        };
        check(lost(plan(failover.clone()).at(5).wrote(A, 1, 0), 4), Bit);
        check(lost(plan(failover.clone()).at(5).wrote(A, 1, 0), 5), Missed);
        check(lost(plan(failover.clone()).at(5).paid(A, 1, 0), 4), Missed);
    }

    #[test]
    fn a_disk_stall_bites_who_writes_meanwhile() {
        let stall = || plan(Fault::DiskStall(DiskStall { node: LEDGER, lasting: Span::secs(1) })).at(10).begins(0);
        let hangs = |fault| What::WriteHung { fault: FaultId(fault) };
        check(stall().at(15).on(LEDGER, hangs(0)).at(20).heals(0), Bit);
        check(stall().at(15).on(LEDGER, What::LeaderElected).at(20).heals(0), Missed);
        check(stall().at(20).heals(0).on(LEDGER, hangs(0)), Missed);
        // Another's, of the same plan.
        check(stall().at(15).on(PROVIDER, hangs(1)).at(20).heals(0), Missed);
    }

    #[test]
    fn a_split_brain_bites_if_the_old_primary_is_asked_or_the_new_one_is_behind() {
        let (old, lasting) = (vec![A], Span::secs(1));
        let split = || plan(Fault::SplitBrain(SplitBrain { node: LEDGER, old, lag: Span::ZERO, lasting }));
        let story = split().at(5).wrote(A, 1, 0).at(10).begins(0);
        check(story.clone().wrote(B, 2, 0).at(20).heals(0), Missed);
        check(story.clone().deposed(LEDGER, A).wrote(A, 1, 1).at(20).heals(0), Bit);
        let behind = What::WritesLost { since: crate::history::fixture::ms(4) };
        check(story.on(LEDGER, behind).at(20).heals(0), Bit);
    }

    #[test]
    fn a_pause_bites_a_message_when_it_arrives_and_not_when_it_would_have() {
        let sent = || plan(pause(LEDGER)).sent(A, LEDGER, 0, 3);
        let fault = FaultId(9);
        let message = MessageId(0);
        let late = What::MessageDelayed { message, by: Span::millis(4), fault };
        check(sent().on(A, late).at(5).begins(0).at(10).heals(0), Bit);
        check(sent().on(A, late).at(8).begins(0).at(10).heals(0), Missed);
        let dropped = What::MessageDropped { message, to: LEDGER, fault };
        check(sent().on(A, dropped).at(2).begins(0).at(10).heals(0), Missed);
    }

    #[test]
    fn a_throttle_bites_the_holder_and_a_service_that_is_asked_while_it_stalls() {
        let (quota, period) = (Span::millis(20), Span::millis(100));
        let throttle = |node| plan(Fault::Throttle(Throttle { node, quota, period, lasting: Span::secs(1) }));
        check(throttle(A).granted(A, 1, None).at(5).begins(0).at(1_005).heals(0), Bit);
        check(throttle(A).granted(B, 1, None).at(5).begins(0).at(1_005).heals(0), Missed);
        let asked = |latency| throttle(LEDGER).at(5).begins(0).sent(A, LEDGER, 0, latency).at(1_005).heals(0);
        for (latency, bite) in [(79, Bit), (80, Missed), (99, Missed), (100, Bit), (980, Missed), (1_000, Missed)]
        {
            check(asked(latency), bite);
        }
    }

    #[test]
    fn a_restart_bites_what_is_on_its_way() {
        let sent = |latency| plan(restart(LEDGER)).sent(A, LEDGER, 0, latency);
        check(sent(7).at(5).begins(0).at(7).lost(A, LEDGER, 0).at(10).heals(0), Bit);
        check(sent(12).at(5).begins(0).at(10).heals(0), Bit);
        check(sent(3).at(3).delivered(A, LEDGER, 0).at(5).begins(0).at(10).heals(0), Missed);
        check(sent(5).at(5).delivered(A, LEDGER, 0).begins(0).at(10).heals(0), Missed);
        check(plan(restart(LEDGER)).at(5).begins(0).at(10).heals(0).sent(A, LEDGER, 0, 1), Missed);
        check(plan(restart(LEDGER)).at(5).begins(0).lost(A, STORE, 0).at(10).heals(0), Missed);
    }

    #[test]
    fn a_restart_bites_a_message_that_a_pause_had_kept_waiting() {
        let story = plan(restart(LEDGER)).sent(A, LEDGER, 0, 3).at(5).begins(0);
        check(story.lost(A, LEDGER, 0).at(10).heals(0), Bit);
    }

    #[test]
    fn a_restart_bites_a_lease_only_at_its_store() {
        for (node, bite) in [(STORE, Bit), (LEDGER, Missed), (PROVIDER, Missed)] {
            check(plan(restart(node)).granted(A, 1, None).at(5).begins(0).at(10).heals(0), bite);
            check(plan(restart(node)).granted(A, 1, None).released(A, 1).at(5).begins(0).at(10).heals(0), Missed);
        }
    }
}
