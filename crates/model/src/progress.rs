//! The progress of work: worker threads count it, and another thread reads it.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A phase of the work, roughly in the order in which phases follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProgressPhase {
    /// Repositories are listed and fetched. Counted in revisions.
    Fetching,
    /// Files are read. Counted in files.
    Reading,
    /// Data that all assignments need is prepared. Counted in cluster types and clusters.
    Preparing,
    /// Values are composed and checked, once for all assignments that share them. Counted in sets of values.
    Composing,
    /// Assignments are rendered. Counted in assignments.
    Compiling,
    /// The present and the desired output are compared. Counted in folders.
    Comparing,
    /// Objects of git or folders of assignments are written. Counted in these.
    Writing,
}

impl ProgressPhase {
    /// All phases.
    pub const ALL: [Self; 7] = [
        Self::Fetching,
        Self::Reading,
        Self::Preparing,
        Self::Composing,
        Self::Compiling,
        Self::Comparing,
        Self::Writing,
    ];
}

/// A counter of work. Clones share one counter. [`Progress::default`] counts nothing, for programs that do not show progress.
///
/// Numbers only grow: if a phase is repeated, or several threads work on it, the numbers are added up.
#[derive(Clone, Debug, Default)]
pub struct Progress(Option<Arc<Board>>);

/// The progress at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The phase that began last.
    pub phase: ProgressPhase,
    /// The work of the phase that is done.
    pub done: u64,
    /// The known work of the phase, done or not. 0 if it is not known.
    pub total: u64,
    /// The names of the items in work, in the order in which they began.
    pub under_way: Vec<Arc<str>>,
}

impl Progress {
    /// A progress that counts, because a display reads it.
    pub fn watched() -> Self {
        Self(Some(Arc::default()))
    }

    /// Begins or resumes a phase, and returns its counter.
    pub fn begin(&self, phase: ProgressPhase) -> Counter<'_> {
        let board = self.0.as_deref();
        if let Some(board) = board {
            board.phase.store(phase as u8 + 1, Ordering::Relaxed);
        }
        Counter { board, phase }
    }

    /// The progress of the phase that began last. None before the first phase, and if nothing is counted.
    pub fn seen(&self) -> Option<Seen> {
        let board = self.0.as_deref()?;
        let phase = *ProgressPhase::ALL.get(usize::from(board.phase.load(Ordering::Relaxed)).checked_sub(1)?)?;
        let count = &board.counts[phase as usize];
        let [done, total] = [&count.done, &count.total].map(|number| number.load(Ordering::Relaxed));
        let names = board.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        let names = names.iter().filter(|(of, _)| *of == phase).map(|(_, name)| Arc::clone(name));
        Some(Seen { phase, done, total, under_way: names.collect() })
    }
}

/// Counts the work of one phase, from any number of threads. Each call is one atomic addition.
#[derive(Clone, Copy, Debug)]
pub struct Counter<'a> {
    board: Option<&'a Board>,
    phase: ProgressPhase,
}

impl<'a> Counter<'a> {
    /// Adds to the known work of the phase.
    pub fn expect(self, more: usize) {
        if let Some(count) = self.count() {
            count.total.fetch_add(more as u64, Ordering::Relaxed);
        }
    }

    /// Adds to the work that is done.
    pub fn advance(self, more: usize) {
        if let Some(count) = self.count() {
            count.done.fetch_add(more as u64, Ordering::Relaxed);
        }
    }

    /// Shows an item by its name until the returned value is dropped. The item counts as one. It takes a lock, so use it for few and slow items only.
    #[must_use]
    pub fn named(self, name: impl FnOnce() -> Arc<str>) -> NamedItem<'a> {
        self.expect(1);
        let name = self.board.map(|board| {
            let name = name();
            board.under_way.lock().unwrap_or_else(PoisonError::into_inner).push((self.phase, Arc::clone(&name)));
            name
        });
        NamedItem { counter: self, name }
    }

    fn count(self) -> Option<&'a Count> {
        self.board.map(|board| &board.counts[self.phase as usize])
    }
}

/// An item that is shown by its name.
#[derive(Debug)]
pub struct NamedItem<'a> {
    counter: Counter<'a>,
    name: Option<Arc<str>>,
}

impl Drop for NamedItem<'_> {
    fn drop(&mut self) {
        self.counter.advance(1);
        let (Some(board), Some(name)) = (self.counter.board, &self.name) else { return };
        let mut under_way = board.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(position) = under_way.iter().position(|(_, other)| other == name) {
            under_way.remove(position);
        }
    }
}

/// The numbers that all clones share.
#[derive(Debug, Default)]
struct Board {
    /// The phase that began last, counted from 1. 0 before the first phase.
    phase: AtomicU8,
    counts: [Count; ProgressPhase::ALL.len()],
    under_way: Mutex<Vec<(ProgressPhase, Arc<str>)>>,
}

#[derive(Debug, Default)]
struct Count {
    done: AtomicU64,
    total: AtomicU64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(progress: &Progress, expected: Option<(ProgressPhase, u64, u64, &[&str])>) {
        let expected = expected.map(|(phase, done, total, names)| {
            let under_way = names.iter().map(|name| Arc::from(*name)).collect();
            Seen { phase, done, total, under_way }
        });
        assert_eq!(progress.seen(), expected);
    }

    #[test]
    fn concurrent_threads_share_one_counter() {
        let progress = Progress::watched();
        check(&progress, None);
        let counter = progress.begin(ProgressPhase::Compiling);
        counter.expect(4000);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|_| counter.advance(1)));
            }
        });
        check(&progress, Some((ProgressPhase::Compiling, 4000, 4000, &[])));
    }

    #[test]
    fn restarted_phases_keep_their_count() {
        let progress = Progress::watched();
        progress.begin(ProgressPhase::Reading).advance(2);
        progress.begin(ProgressPhase::Compiling).expect(7);
        check(&progress.clone(), Some((ProgressPhase::Compiling, 0, 7, &[])));
        progress.begin(ProgressPhase::Reading).advance(1);
        check(&progress, Some((ProgressPhase::Reading, 3, 0, &[])));
    }

    #[test]
    fn running_tasks_are_named() {
        let progress = Progress::watched();
        let first = progress.begin(ProgressPhase::Fetching).named(|| "a".into());
        let second = progress.begin(ProgressPhase::Fetching).named(|| "b".into());
        check(&progress, Some((ProgressPhase::Fetching, 0, 2, &["a", "b"])));
        drop(first);
        check(&progress, Some((ProgressPhase::Fetching, 1, 2, &["b"])));
        drop(second);
        check(&progress, Some((ProgressPhase::Fetching, 2, 2, &[])));
    }

    #[test]
    fn unwatched_progress_is_not_counted() {
        let progress = Progress::default();
        drop(progress.begin(ProgressPhase::Fetching).named(|| unreachable!("the name is not shown")));
        check(&progress, None);
    }
}
