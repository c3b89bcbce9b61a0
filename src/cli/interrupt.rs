//! Interrupts of commands that take long: the first ends them with what there is, a second one ends the program.

use std::sync::atomic::{AtomicBool, Ordering};

use super::exit::Failure;

/// Whether somebody wants the command to end.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Has interrupts heard from now on.
#[expect(clippy::exit, reason = "a second interrupt ends the program whatever it is at")]
pub(super) fn listen() -> Result<(), Failure> {
    ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            // What was to be kept until then is on disk.
            std::process::exit(130);
        }
    })
    .map_err(Failure::Interrupts)
}

/// Whether there was one.
pub(super) fn came() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}
