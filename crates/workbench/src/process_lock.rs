//! Locks of files that last as long as a process.

use std::fs::{File, TryLockError};
use std::time::{Duration, Instant};
use std::{io, thread};

/// How long a lock is waited for, and the pause between two attempts. A process of git that a killed program has just begun may hold its lock for a moment.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(50);

/// Locks a file until it is dropped. Returns false if another process holds the lock.
///
/// # Errors
/// If the file system has no locks, or fails.
pub fn lock(file: &File) -> io::Result<bool> {
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_ends_soon_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let open = || File::create(folder.path().join("lock")).unwrap();
        let (first, second) = (open(), open());
        assert!(lock(&first).unwrap() && !lock(&second).unwrap());
        let ends = thread::spawn(move || {
            thread::sleep(Duration::from_millis(200));
            drop(first);
        });
        assert!(lock(&second).unwrap());
        ends.join().unwrap();
    }
}
