//! Whatever a protocol's code draws comes from the seed, or is caught.

use std::cell::Cell;
use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::future::{Future, ready};
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use futures_util::FutureExt;
use holdover::sim::history::What;
use holdover::sim::run::repeats;
use holdover::sim::seed::Seed;
use holdover::sim::time::TrueTime;
use rand::Rng;
use uuid::Uuid;

use crate::{Draws, draws, fingerprint, history, smallest};

/// Which of two branches that are both ready is taken, 64 times.
fn choices<F: Future<Output = bool>>(choose: impl Fn() -> F) -> u64 {
    let chosen = || choose().now_or_never().expect("both branches are ready");
    (0..64).fold(0, |bits, _| (bits << 1) | u64::from(chosen()))
}

fn order<'a>(items: impl Iterator<Item = &'a u64>) -> u64 {
    items.fold(0, |order: u64, item| order.wrapping_mul(31).wrapping_add(*item))
}

fn of_map() -> u64 {
    let map: HashMap<u64, ()> = (0..40).map(|key| (key, ())).collect();
    order(map.keys())
}

fn of_set() -> u64 {
    order((0..40).collect::<HashSet<u64>>().iter())
}

fn of_hasher() -> u64 {
    RandomState::new().hash_one(7)
}

fn of_thread_local() -> u64 {
    thread_local!(static CALLS: Cell<u64> = const { Cell::new(0) });
    CALLS.set(CALLS.get() + 1);
    CALLS.get()
}

fn of_static() -> u64 {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    CALLS.fetch_add(1, Ordering::Relaxed)
}

fn of_rand() -> u64 {
    rand::rng().next_u64()
}

/// It makes the system call itself, past libc.
fn of_old_rand() -> u64 {
    rand_0_8::random()
}

fn of_uuid() -> u64 {
    Uuid::new_v4().as_u64_pair().0
}

fn of_fastrand() -> u64 {
    fastrand::u64(..)
}

fn of_system_time() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_nanos() as u64
}

fn of_instant() -> u64 {
    thread_local!(static FIRST: Instant = Instant::now());
    FIRST.with(Instant::elapsed).as_nanos() as u64
}

fn of_biased_select() -> u64 {
    choices(|| async {
        tokio::select! {
            biased;
            one = ready(true) => one,
            other = ready(false) => other,
        }
    })
}

fn of_tokio_select() -> u64 {
    choices(|| async {
        tokio::select! {
            one = ready(true) => one,
            other = ready(false) => other,
        }
    })
}

fn of_biased_futures_select() -> u64 {
    choices(|| async {
        futures_util::select_biased! {
            one = ready(true).fuse() => one,
            other = ready(false).fuse() => other,
        }
    })
}

fn of_futures_select() -> u64 {
    choices(|| async {
        futures_util::select! {
            one = ready(true).fuse() => one,
            other = ready(false).fuse() => other,
        }
    })
}

fn of_thread_id() -> u64 {
    RandomState::new().hash_one(thread::current().id())
}

fn of_thread_name() -> u64 {
    thread::current().name().map_or(0, |name| name.bytes().map(u64::from).sum())
}

/// Draws something.
type Draw = fn() -> u64;

/// Draws that the seed determines, however the protocol is run.
const DETERMINED: &[(&str, Draw)] = &[
    ("HashMap", of_map),
    ("HashSet", of_set),
    ("RandomState", of_hasher),
    ("thread_local!", of_thread_local),
    ("rand::rng()", of_rand),
    ("Uuid::new_v4()", of_uuid),
    ("fastrand", of_fastrand),
    ("SystemTime", of_system_time),
    ("Instant", of_instant),
    ("tokio::select! { biased; .. }", of_biased_select),
    ("select_biased!", of_biased_futures_select),
    ("the thread's name", of_thread_name),
];

/// Draws that outlast a run.
const NOT_DETERMINED: &[(&str, Draw)] = &[
    ("a static counter", of_static),
    ("tokio::select!", of_tokio_select),
    ("futures::select!", of_futures_select),
    ("the thread's number", of_thread_id),
    ("rand 0.8", of_old_rand),
];

#[test]
fn three_runs_of_a_seed_are_the_same_on_this_thread_on_another_and_after_others() {
    for (name, draw) in DETERMINED {
        let protocol = draws(*draw);
        let one = fingerprint(&protocol, 7);
        let check = |other, how| assert_eq!(one, other, "{name}: {how}");
        check(fingerprint(&protocol, 7), "twice on one thread");
        let elsewhere = thread::scope(|scope| scope.spawn(|| fingerprint(&protocol, 7)).join());
        check(elsewhere.expect("no run panics"), "on another thread");
        for (_, other) in DETERMINED.iter().chain(NOT_DETERMINED) {
            // What ran before on this thread is of all kinds, inside of runs and outside.
            (0..3).for_each(|seed| drop(history(&draws(*other), seed)));
            other();
        }
        check(fingerprint(&protocol, 7), "after others");
        let scenario = smallest();
        assert!(repeats(&scenario.world, &protocol, &[], Seed(7), &history(&protocol, 7)), "{name}");
    }
}

/// When the first worker asks for the lease; its latency is drawn as well, and isn't in that.
fn asked_at(protocol: &Draws, seed: u64) -> TrueTime {
    let history = history(protocol, seed);
    let asked = history.events.iter().find(|event| matches!(event.what, What::MessageSent { .. }));
    asked.expect("a worker asks for the lease").at
}

#[test]
fn another_seed_draws_something_else() {
    for (name, draw) in DETERMINED {
        let protocol = draws(*draw);
        let is_drawn =
            ["HashMap", "HashSet", "RandomState", "rand::rng()", "Uuid::new_v4()", "fastrand"].contains(name);
        assert_eq!(asked_at(&protocol, 1) != asked_at(&protocol, 2), is_drawn, "{name}");
    }
}

#[test]
fn what_outlasts_a_run_is_caught() {
    let scenario = smallest();
    for (name, draw) in NOT_DETERMINED {
        let protocol = draws(*draw);
        assert!(!repeats(&scenario.world, &protocol, &[], Seed(7), &history(&protocol, 7)), "{name}");
    }
}

/// What it reads of this machine is another time, and other bytes, when it is run again.
#[test]
fn without_a_host_whatever_is_read_of_the_machine_is_caught() {
    let scenario = smallest();
    let asking = DETERMINED.iter().filter(|(name, _)| !name.contains("biased") && !name.contains("name"));
    for (name, draw) in asking.chain(NOT_DETERMINED) {
        let protocol = Draws { is_hosted: false, ..draws(*draw) };
        // The thread isn't new to it.
        draw();
        assert!(!repeats(&scenario.world, &protocol, &[], Seed(7), &history(&protocol, 7)), "{name}");
    }
    let protocol = Draws { is_hosted: false, ..draws(|| 5) };
    assert!(repeats(&scenario.world, &protocol, &[], Seed(7), &history(&protocol, 7)), "one that doesn't");
}
