//! Counts calls by their results.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::calls::CallCounts;
use crate::error::HostError;

/// The calls so far.
#[derive(Debug, Default)]
pub(super) struct CallCounters {
    answered: AtomicU64,
    refused: AtomicU64,
    limited: AtomicU64,
    failed: AtomicU64,
}

impl CallCounters {
    /// Counts a call that ended.
    pub(super) fn count<T>(&self, result: &Result<T, HostError>) {
        let counter = match result {
            Ok(_) => &self.answered,
            Err(HostError::Refused { .. }) => &self.refused,
            Err(HostError::RateLimited { .. }) => &self.limited,
            Err(_) => &self.failed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn counts(&self) -> CallCounts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        CallCounts {
            answered: read(&self.answered),
            refused: read(&self.refused),
            limited: read(&self.limited),
            failed: read(&self.failed),
        }
    }
}
