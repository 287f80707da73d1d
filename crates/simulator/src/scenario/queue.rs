//! What happens next, in the order of time. Quiet time costs nothing.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Tasks in the order of their times. Tasks of the same time are in the order in which they were added.
#[derive(Debug)]
pub(super) struct Queue<T> {
    heap: BinaryHeap<Reverse<(i64, u64, T)>>,
    added: u64,
}

impl<T: Ord> Default for Queue<T> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), added: 0 }
    }
}

impl<T: Ord> Queue<T> {
    /// Adds a task at a time, in seconds since 1970.
    pub(super) fn add(&mut self, at: i64, task: T) {
        self.added += 1;
        self.heap.push(Reverse((at, self.added, task)));
    }

    /// The time of the next task.
    pub(super) fn next_time(&self) -> Option<i64> {
        self.heap.peek().map(|Reverse((at, _, _))| *at)
    }

    /// The next task until this time.
    pub(super) fn next(&self, until: i64) -> Option<&T> {
        self.heap.peek().filter(|Reverse((at, ..))| *at <= until).map(|Reverse((.., task))| task)
    }

    /// Takes the next task until this time.
    pub(super) fn take_until(&mut self, until: i64) -> Option<(i64, T)> {
        if self.next_time()? > until {
            return None;
        }
        self.heap.pop().map(|Reverse((at, _, task))| (at, task))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_in_the_order_of_time_and_then_of_their_addition() {
        let mut queue = Queue::default();
        for (at, task) in [(5, 'd'), (1, 'b'), (5, 'c'), (1, 'a')] {
            queue.add(at, task);
        }
        let mut taken = Vec::new();
        while let Some((_, task)) = queue.take_until(5) {
            taken.push(task);
        }
        assert_eq!(taken, ['b', 'a', 'd', 'c']);
        queue.add(7, 'e');
        assert_eq!((queue.take_until(6), queue.next_time()), (None, Some(7)));
    }
}
