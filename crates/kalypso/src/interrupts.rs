//! Handling of interrupts (Ctrl-C).

use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::Exit;

/// Whether the current command handles interrupts itself.
static ARE_HANDLED: AtomicBool = AtomicBool::new(false);

/// Sets a handler that ends the program with the exit status for interrupts.
pub(crate) fn end_the_program() {
    // An interrupted write leaves no partial file, because files are renamed into place.
    let _ = ctrlc::set_handler(|| {
        if !ARE_HANDLED.load(Ordering::Acquire) {
            crate::cache::remove_temporary();
            std::process::exit(Exit::Interrupted.code().into());
        }
    });
}

/// From now on the current command handles interrupts itself, and stops in order.
pub(crate) fn are_handled() {
    ARE_HANDLED.store(true, Ordering::Release);
}
