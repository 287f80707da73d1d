//! Whether the program is stopping. Waits end early then.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

static IS_STOPPING: Mutex<bool> = Mutex::new(false);
static STOPPED: Condvar = Condvar::new();

/// Ends all waits, and all that begin from now on.
pub(crate) fn begin() {
    *IS_STOPPING.lock().unwrap_or_else(PoisonError::into_inner) = true;
    STOPPED.notify_all();
}

/// Waits. Returns false if the program is stopping, so that the wait ended early.
pub(crate) fn wait(pause: Duration) -> bool {
    let is_stopping = IS_STOPPING.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = STOPPED.wait_timeout_while(is_stopping, pause, |is_stopping| !*is_stopping);
    !*waited.unwrap_or_else(PoisonError::into_inner).0
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_stop_ends_waits() {
        assert!(wait(Duration::from_millis(1)));
        let (start, waiting) = (Instant::now(), std::thread::spawn(|| wait(Duration::from_hours(1))));
        begin();
        assert!(!waiting.join().unwrap() && !wait(Duration::from_hours(1)));
        assert!(start.elapsed() < Duration::from_mins(1));
    }
}
