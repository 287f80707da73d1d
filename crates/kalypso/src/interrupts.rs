//! What happens when somebody interrupts the program.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::Exit;

/// Whether a command ends in its own way.
static ARE_HANDLED: AtomicBool = AtomicBool::new(false);

/// From now on an interrupted program ends, with the status that says so.
pub(crate) fn end_the_program() {
    // A write that was interrupted left no file in pieces: files are renamed into their place.
    let _ = ctrlc::set_handler(|| {
        if !ARE_HANDLED.load(Ordering::Acquire) {
            crate::cache::remove_temporary();
            std::process::exit(Exit::Interrupted.code().into());
        }
    });
}

/// From now on the command that runs notices interrupts itself, and stops in order.
pub(crate) fn are_handled() {
    ARE_HANDLED.store(true, Ordering::Release);
}
