//! Requests to several repositories at once.

use rayon::prelude::*;

use crate::limits::FETCHES_AT_ONCE;

/// Threads for requests to repositories, which wait for servers most of the time.
pub struct RequestThreads(Option<rayon::ThreadPool>);

impl RequestThreads {
    /// Threads for so many requests. For one request, or if the system can't create threads, requests are made one after another.
    pub fn for_requests(count: usize) -> Self {
        let pool = || rayon::ThreadPoolBuilder::new().num_threads(FETCHES_AT_ONCE.min(count)).build().ok();
        Self((count > 1).then(pool).flatten())
    }

    /// Calls `work` for each item, in parallel. The results have the order of the items.
    pub fn map<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
        match &self.0 {
            Some(threads) if items.len() > 1 => threads.install(|| items.par_iter().map(&work).collect()),
            _ => items.iter().map(work).collect(),
        }
    }
}
