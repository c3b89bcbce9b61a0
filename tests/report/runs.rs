//! What small runs read like.

use crate::support::{SMALL, Small, snapshot};

#[test]
fn nothing_is_planned() {
    snapshot!("no-faults", &SMALL.told("fenced"));
}

#[test]
fn a_fault_that_never_strikes_and_one_that_misses() {
    let small = Small {
        faults: &[
            (
                "point = \"export.done\", node = \"worker-b\", nth = 2, after = \"+5s\"",
                "pause = { node = \"worker-a\", for = \"1s\" }",
            ),
            (
                "point = \"export.done\", nth = 11",
                "pause = { node = \"worker-b\", for = \"1s\", clocks = \"frozen\" }",
            ),
            ("at = \"+10s\"", "clock-step = { node = \"worker-b\", by = \"-420ms\" }"),
            ("at = \"+1m\"", "restart = { node = \"ledger\", for = \"1s\" }"),
        ],
        ..SMALL
    };
    snapshot!("missed-faults", &small.told("fenced"));
}

#[test]
fn the_end_comes_before_the_export() {
    let small = Small { top: "end = \"+300ms\"", operations: 10, ..SMALL };
    snapshot!("time-up", &small.told("fenced"));
}

#[test]
fn the_end_comes_after_the_deadline() {
    let small = Small { job: "due = \"+10s\"\nfinish_within = \"500ms\"", operations: 20, ..SMALL };
    snapshot!("too-late", &small.told("naive"));
}

#[test]
fn the_bound_on_steps_is_hit() {
    let small = Small { top: "steps = 50", ..SMALL };
    snapshot!("bound-hit", &small.told("fenced"));
}

#[test]
fn three_workers_and_two_takeovers() {
    let small = Small {
        workers: &["anna", "bertram", "c"],
        operations: 6,
        faults: &[
            ("point = \"write.checked\", node = \"anna\"", "pause = { node = \"anna\", for = \"60s\" }"),
            (
                "point = \"payout.done\", node = \"bertram\", nth = 2",
                "pause = { node = \"bertram\", for = \"50s\" }",
            ),
            ("point = \"payout.done\", node = \"c\", nth = 2", "pause = { node = \"c\", for = \"50s\" }"),
        ],
        ..SMALL
    };
    snapshot!("three-workers", &small.told("naive"));
}

#[test]
fn services_that_pause_and_restart() {
    let small = Small {
        operations: 8,
        faults: &[
            ("at = \"+200ms\"", "pause = { node = \"ledger\", for = \"2s\" }"),
            ("at = \"+1s\"", "restart = { node = \"ledger\", for = \"300ms\" }"),
            ("at = \"+2300ms\"", "restart = { node = \"provider\", for = \"1s\" }"),
            ("at = \"+2500ms\"", "pause = { node = \"lease-store\", for = \"3s\", clocks = \"suspended\" }"),
        ],
        ..SMALL
    };
    snapshot!("services", &small.told("fenced"));
}

#[test]
fn clocks_that_are_bent_and_frozen() {
    let small = Small {
        operations: 30,
        faults: &[
            ("at = \"+100ms\"", "clock-slew = { node = \"worker-a\", ppm = -500.5, for = \"4s\" }"),
            ("at = \"+1s\"", "pause = { node = \"worker-a\", for = \"3s\", clocks = \"frozen\" }"),
            ("at = \"+4500ms\"", "clock-step = { node = \"worker-a\", by = \"+1d\" }"),
        ],
        ..SMALL
    };
    snapshot!("clocks", &small.told("fenced"));
}

#[test]
fn one_worker_alone() {
    let small = Small { workers: &["worker-a"], operations: 1, ..SMALL };
    snapshot!("one-worker", &small.told("naive"));
}

#[test]
fn waiting_is_told_once() {
    let small = Small {
        top: "end = \"+30m\"",
        job: "due = \"+20m\"",
        faults: &[
            ("at = \"+21m\"", "restart = { node = \"provider\", for = \"1ms\" }"),
            ("at = \"+1200s\"", "restart = { node = \"ledger\", for = \"5m\" }"),
        ],
        ..SMALL
    };
    snapshot!("waiting", &small.told("fenced"));
}

#[test]
fn a_task_a_host_and_a_migration() {
    let small = Small {
        job: "pace = \"2s\"",
        operations: 8,
        faults: &[
            ("at = \"+3s\"", "pause = { node = \"worker-a\", task = \"work\", for = \"2s\" }"),
            ("at = \"+7s\"", "pause = { nodes = [\"worker-a\", \"ledger\"], for = \"1s\", clocks = \"counted\" }"),
            (
                "at = \"+9s\"",
                "pause = { node = \"worker-b\", for = \"1s\", clocks = \"migrated\", lost = \"80ms\", \
                 drift_change_ppm = -30.5 }",
            ),
            (
                "at = \"+11s\"",
                "pause = { node = \"worker-a\", for = \"2s\", clocks = \"frozen\", corrected_after = \"1s\" }",
            ),
        ],
        ..SMALL
    };
    snapshot!("pauses", &small.told("fenced"));
}

#[test]
fn clocks_that_jump_about_and_are_set_right() {
    let small = Small {
        job: "pace = \"2s\"",
        operations: 8,
        faults: &[
            ("at = \"+2s\"", "clock-drift = { node = \"worker-a\", ppm = 200 }"),
            ("at = \"+3s\"", "clock-drift = { node = \"worker-b\", ppm = -10000, for = \"2s\" }"),
            (
                "at = \"+5s\"",
                "clock-strobe = { node = \"worker-b\", by = \"200ms\", every = \"10ms\", for = \"1s\" }",
            ),
            ("at = \"+7s\"", "zone-error = { node = \"worker-b\", by = \"-5h30m\", for = \"2s\" }"),
            ("at = \"+9s\"", "leap-second = { stepped = [\"worker-a\"], smeared = [\"worker-b\"] }"),
            ("at = \"+10s\"", "time-source = { error = \"-300ms\", for = \"5s\" }"),
        ],
        expect: "[service.ledger]\nclock = { offset = \"2s\", discipline = \"timesyncd\", poll = \"4s\" }\n\
                 [service.provider]\nclock = { offset = \"20m\", discipline = \"ntpd\", poll = \"4s\" }",
        ..SMALL
    };
    snapshot!("clocks-set-right", &small.told("fenced"));
}

#[test]
fn two_halves_of_a_service_and_a_throttled_worker() {
    let small = Small {
        operations: 6,
        job: "due = \"+1s\"",
        top: "end = \"+3m\"",
        faults: &[
            (
                "event = \"write-accepted\", node = \"worker-b\"",
                "split-brain = { node = \"ledger\", old = [\"worker-b\"], for = \"60s\" }",
            ),
            (
                "point = \"write.checked\", node = \"worker-b\", nth = 4",
                "pause = { node = \"worker-b\", for = \"45s\" }",
            ),
            (
                "point = \"write.done\", node = \"worker-a\"",
                "throttle = { node = \"worker-a\", quota = \"20ms\", period = \"1s\", for = \"5s\" }",
            ),
        ],
        ..SMALL
    };
    snapshot!("two-halves", &small.told("fenced"));
}
