//! A protocol of one's own under a hunt: with a gateway that lets everybody in it breaks, and the test says how; with one
//! that checks tokens it holds.

use std::panic::catch_unwind;

use holdover::explore::hunt::Hunt;
use holdover::scenario::{SMALLEST, Scenario};
use holdover::sim::protocol::AnyProtocol;
use outside::{BROKEN, RIGHT};

fn hunt(protocol: &'static dyn AnyProtocol, seeds: u64) {
    let scenario = Scenario::parse("two workers", SMALLEST).expect("a scenario");
    let pauses = "pauses".parse().expect("a group of faults");
    Hunt::new(&scenario).protocols(&[protocol]).faults(pauses).seeds(0..seeds).assert_holds();
}

#[test]
fn the_broken_one_is_told_in_its_smallest_form() {
    let panic = catch_unwind(|| hunt(&BROKEN, 1_000)).expect_err("it breaks");
    let message = panic.downcast_ref::<String>().expect("a message");
    assert!(message.starts_with("open-gateway breaks effect-once: an operation paid twice\n"), "{message}");
    assert_eq!(message.matches("[[fault]]").count(), 1, "{message}");
    let again = "To see it again: Hunt::new(&scenario).protocols(&[protocol]).faults(\"pause";
    assert!(message.contains(again) && message.contains(", where protocol is open-gateway"), "{message}");
}

#[test]
fn the_right_one_holds() {
    hunt(&RIGHT, 10_000);
}
