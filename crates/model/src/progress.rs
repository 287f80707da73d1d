//! How far work has come: counted by those who do it, looked at from another thread.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A part of the work, in the order in which the parts mostly follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Repositories are asked and fetched; counted in revisions.
    Fetching,
    /// Files are read; counted in files.
    Reading,
    /// What all assignments need is made ready; counted in cluster types and clusters.
    Preparing,
    /// Values are composed and checked, each once for all assignments that share them; counted in sets of values.
    Composing,
    /// Assignments are rendered; counted in assignments.
    Compiling,
    /// What is and what should be are compared; counted in folders.
    Comparing,
    /// Objects of git or folders of assignments are written; counted in these.
    Writing,
}

impl Phase {
    /// All of them.
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

/// Where work is counted. A clone counts into the same place; [`Progress::default`] counts nothing, for when nobody looks.
///
/// Numbers only grow: work of one phase that is done several times, or by several threads at once, is added up.
#[derive(Clone, Debug, Default)]
pub struct Progress(Option<Arc<Board>>);

/// What is being done, as it is seen at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The phase that was begun last.
    pub phase: Phase,
    /// How much of it is done.
    pub done: u64,
    /// How much there is to do, as far as that is known; 0 while nobody knows.
    pub total: u64,
    /// What is under way by name, in the order in which it was begun.
    pub under_way: Vec<Arc<str>>,
}

impl Progress {
    /// One that somebody looks at.
    pub fn watched() -> Self {
        Self(Some(Arc::default()))
    }

    /// Goes over to a phase, or on with it, and gives out its counter.
    pub fn begin(&self, phase: Phase) -> Counter<'_> {
        let board = self.0.as_deref();
        if let Some(board) = board {
            board.phase.store(phase as u8 + 1, Ordering::Relaxed);
        }
        Counter { board, phase }
    }

    /// How far the phase is that was begun last; none before the first one, and where nothing is counted.
    pub fn seen(&self) -> Option<Seen> {
        let board = self.0.as_deref()?;
        let phase = *Phase::ALL.get(usize::from(board.phase.load(Ordering::Relaxed)).checked_sub(1)?)?;
        let count = &board.counts[phase as usize];
        let [done, total] = [&count.done, &count.total].map(|number| number.load(Ordering::Relaxed));
        let names = board.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        let names = names.iter().filter(|(of, _)| *of == phase).map(|(_, name)| Arc::clone(name));
        Some(Seen { phase, done, total, under_way: names.collect() })
    }
}

/// Counts the work of one phase, from any number of threads. Counting costs an atomic addition.
#[derive(Clone, Copy, Debug)]
pub struct Counter<'a> {
    board: Option<&'a Board>,
    phase: Phase,
}

impl<'a> Counter<'a> {
    /// There is so much more to do.
    pub fn expect(self, more: usize) {
        if let Some(count) = self.count() {
            count.total.fetch_add(more as u64, Ordering::Relaxed);
        }
    }

    /// So much more is done.
    pub fn advance(self, more: usize) {
        if let Some(count) = self.count() {
            count.done.fetch_add(more as u64, Ordering::Relaxed);
        }
    }

    /// Something with a name is being done, until what this returns is dropped; it counts as one. For few and slow things only: it takes a lock.
    #[must_use]
    pub fn named(self, name: impl FnOnce() -> Arc<str>) -> Named<'a> {
        self.expect(1);
        let name = self.board.map(|board| {
            let name = name();
            board.under_way.lock().unwrap_or_else(PoisonError::into_inner).push((self.phase, Arc::clone(&name)));
            name
        });
        Named { counter: self, name }
    }

    fn count(self) -> Option<&'a Count> {
        self.board.map(|board| &board.counts[self.phase as usize])
    }
}

/// Something with a name that is being done.
#[derive(Debug)]
pub struct Named<'a> {
    counter: Counter<'a>,
    name: Option<Arc<str>>,
}

impl Drop for Named<'_> {
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
    /// The phase that was begun last, counted from 1; 0 before the first.
    phase: AtomicU8,
    counts: [Count; Phase::ALL.len()],
    under_way: Mutex<Vec<(Phase, Arc<str>)>>,
}

#[derive(Debug, Default)]
struct Count {
    done: AtomicU64,
    total: AtomicU64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(progress: &Progress, expected: Option<(Phase, u64, u64, &[&str])>) {
        let expected = expected.map(|(phase, done, total, names)| {
            let under_way = names.iter().map(|name| Arc::from(*name)).collect();
            Seen { phase, done, total, under_way }
        });
        assert_eq!(progress.seen(), expected);
    }

    #[test]
    fn many_threads_count_into_one_place() {
        let progress = Progress::watched();
        check(&progress, None);
        let counter = progress.begin(Phase::Compiling);
        counter.expect(4000);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|_| counter.advance(1)));
            }
        });
        check(&progress, Some((Phase::Compiling, 4000, 4000, &[])));
    }

    #[test]
    fn a_phase_that_is_begun_again_goes_on() {
        let progress = Progress::watched();
        progress.begin(Phase::Reading).advance(2);
        progress.begin(Phase::Compiling).expect(7);
        check(&progress.clone(), Some((Phase::Compiling, 0, 7, &[])));
        progress.begin(Phase::Reading).advance(1);
        check(&progress, Some((Phase::Reading, 3, 0, &[])));
    }

    #[test]
    fn what_is_under_way_has_its_name() {
        let progress = Progress::watched();
        let first = progress.begin(Phase::Fetching).named(|| "a".into());
        let second = progress.begin(Phase::Fetching).named(|| "b".into());
        check(&progress, Some((Phase::Fetching, 0, 2, &["a", "b"])));
        drop(first);
        check(&progress, Some((Phase::Fetching, 1, 2, &["b"])));
        drop(second);
        check(&progress, Some((Phase::Fetching, 2, 2, &[])));
    }

    #[test]
    fn where_nobody_looks_nothing_is_counted() {
        let progress = Progress::default();
        drop(progress.begin(Phase::Fetching).named(|| unreachable!("nobody sees the name")));
        check(&progress, None);
    }
}
