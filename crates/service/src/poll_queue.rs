//! The repositories that are polled, each once for all environments that depend on it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use git::RepositoryUrl;
use model::git_id::GitId;
use retry::Jitter;

use crate::limits::RETRY;

/// The references of a repository, by their full names.
pub(crate) type References = BTreeMap<String, GitId>;

/// The repositories that are polled, and when.
#[derive(Debug)]
pub(crate) struct PollQueue {
    pause: Duration,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    repositories: BTreeMap<RepositoryUrl, Polled>,
    is_stopping: bool,
}

#[derive(Debug)]
struct Polled {
    due: Instant,
    is_running: bool,
    failures: u32,
    references: Option<References>,
}

impl PollQueue {
    pub(crate) fn new(pause: Duration) -> Self {
        Self { pause, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Polls exactly these repositories from now on. New ones are polled at once.
    pub(crate) fn keep<'u>(&self, urls: impl Iterator<Item = &'u RepositoryUrl>) {
        let urls: BTreeSet<_> = urls.collect();
        let mut state = self.state();
        state.repositories.retain(|url, _| urls.contains(url));
        for url in urls {
            let new = || Polled { due: Instant::now(), is_running: false, failures: 0, references: None };
            state.repositories.entry(url.clone()).or_insert_with(new);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Polls the repositories that are selected at once. Returns whether there is one.
    pub(crate) fn hurry(&self, is_selected: impl Fn(&RepositoryUrl) -> bool) -> bool {
        let mut state = self.state();
        let selected = state.repositories.iter_mut().filter(|(url, _)| is_selected(url));
        let count = selected.map(|(_, polled)| polled.due = Instant::now()).count();
        drop(state);
        self.changed.notify_all();
        count > 0
    }

    pub(crate) fn stop(&self) {
        self.state().is_stopping = true;
        self.changed.notify_all();
    }

    /// Waits for the next repository that is due, with its references at the last poll. None if the service stops.
    pub(crate) fn next(&self) -> Option<(RepositoryUrl, Option<References>)> {
        let mut state = self.state();
        loop {
            if state.is_stopping {
                return None;
            }
            let now = Instant::now();
            let waiting = state.repositories.iter_mut().filter(|(_, polled)| !polled.is_running);
            let pause = match waiting.min_by_key(|(_, polled)| polled.due) {
                Some((url, polled)) if polled.due <= now => {
                    polled.is_running = true;
                    return Some((url.clone(), polled.references.clone()));
                }
                Some((_, polled)) => polled.due.saturating_duration_since(now),
                None => Duration::from_hours(1),
            };
            state = self.changed.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Notes the result of a poll. None: it failed.
    pub(crate) fn done(&self, url: &RepositoryUrl, references: Option<References>) {
        let mut state = self.state();
        let Some(polled) = state.repositories.get_mut(url) else { return };
        polled.is_running = false;
        polled.failures = if references.is_some() { 0 } else { polled.failures.saturating_add(1) };
        let pause = match polled.failures {
            0 => Jitter { from: 0.9, to: 1.1 }.vary(self.pause),
            failures => RETRY.pause(failures).max(self.pause),
        };
        polled.due = Instant::now() + pause;
        polled.references = references.or_else(|| polled.references.take());
        drop(state);
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
