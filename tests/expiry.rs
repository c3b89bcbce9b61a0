//! Leases end at the very instant that was promised: whoever asks a nanosecond earlier is refused, and whoever asks then gets
//! the lease.

use holdover::replay::Replay;
use holdover::scenario::Scenario;
use holdover::sim::history::What;
use holdover::sim::time::Span;

/// The first worker is granted a lease of 40 s as soon as the run begins, and stalls. The second one asks for the first time
/// so many nanoseconds from when the lease has lasted for 40 s at the same point of a request's way. Messages take 2 ms, so
/// nothing but that decides.
fn second_is_granted(lease: &str, nanos: i64) -> bool {
    let text = format!(
        "title = \"The very instant\"\nstart = 2026-01-15T02:00:00Z\nend = \"+41s\"\nprotocols = [\"fenced\"]\n\
         [lease]\nttl = \"40s\"\nrenew_every = \"20s\"\npoll_every = \"10s\"\n{lease}\n\
         [job]\noperations = 1\ndue = \"+40500ms\"\n[network]\ninternal = \"2ms\"\n\
         [[worker]]\nname = \"worker-a\"\n[[worker]]\nname = \"worker-b\"\nstarts = \"+{}\"\n\
         [[fault]]\nwhen = {{ at = \"+1s\" }}\ninject = {{ pause = {{ node = \"worker-a\", for = \"90s\" }} }}\n",
        Span::secs(40) + Span::nanos(nanos),
    );
    let scenario = Scenario::parse("instant", &text).expect("a scenario");
    let replay = Replay::of(&scenario);
    let history = &replay.runs[0].history;
    let grants = history.events.iter().filter(|event| matches!(event.what, What::LeaseGranted { .. }));
    let refused = history.events.iter().any(|event| matches!(event.what, What::LeaseRefused { .. }));
    let grants = grants.count();
    assert_eq!(grants == 1, refused, "it asked once, and was told one or the other");
    grants == 2
}

#[test]
fn the_row_ends_at_the_very_instant_by_whatever_clock() {
    for expiry in ["asker", "store", "transaction-start"] {
        let lease = format!("expiry = \"{expiry}\"");
        for (nanos, granted) in [(-1_000_000, false), (-1, false), (0, true), (1, true), (1_000_000, true)] {
            assert_eq!(second_is_granted(&lease, nanos), granted, "by {expiry}, {nanos} ns from the end");
        }
    }
}
