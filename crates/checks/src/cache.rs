//! The last measurements: several gates share one, and a check is not measured more often than its interval.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use crate::limits::{CONCURRENT_MAX, KEPT_BYTES_MAX};
use crate::measurement::{Measured, size};

/// What a check asks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CheckQuestion {
    /// The name of the check.
    pub(crate) check: Arc<str>,
    /// An address, a query, or the change that a command gets.
    pub(crate) text: String,
    /// How long an answer is used.
    pub(crate) interval: Duration,
}

/// A measurement with its time.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) at: Timestamp,
    pub(crate) measured: Arc<Measured>,
    /// How long it is used.
    interval: Duration,
}

/// The last measurement of one check. While it is being measured, other threads wait here for the result.
type Slot = Arc<Mutex<Option<Kept>>>;

/// The last measurements, and the number of those that run.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    slots: Mutex<BTreeMap<CheckQuestion, Slot>>,
    running: Mutex<usize>,
    has_ended: Condvar,
}

/// A place among the measurements that run at the same time.
struct Permit<'c>(&'c Cache);

impl Kept {
    /// Whether it is still used. After the clock was set back, it is not.
    fn is_fresh(&self, now: Timestamp) -> bool {
        let age = now.duration_since(self.at);
        !age.is_negative() && age.unsigned_abs() < self.interval
    }
}

impl Cache {
    /// The last measurement, or a new one if that is too old.
    pub(crate) fn get(
        &self,
        question: CheckQuestion,
        now: &dyn Fn() -> Timestamp,
        measure: &dyn Fn() -> Measured,
    ) -> Kept {
        let interval = question.interval;
        let slot = Arc::clone(lock(&self.slots).entry(question).or_default());
        let mut held = lock(&slot);
        if let Some(kept) = held.as_ref().filter(|kept| kept.is_fresh(now())) {
            return kept.clone();
        }
        let permit = self.permit();
        let measured = Arc::new(measure());
        drop(permit);
        let kept = Kept { at: now(), measured, interval };
        *held = Some(kept.clone());
        drop(held);
        drop(slot);
        self.evict(now());
        kept
    }

    fn permit(&self) -> Permit<'_> {
        let running = lock(&self.running);
        let running = self.has_ended.wait_while(running, |running| *running >= CONCURRENT_MAX);
        *running.unwrap_or_else(PoisonError::into_inner) += 1;
        Permit(self)
    }

    /// Forgets measurements that are too old, and the oldest ones if all together are too large. Those in use stay.
    fn evict(&self, now: Timestamp) {
        let mut slots = lock(&self.slots);
        let mut kept: Vec<(Timestamp, CheckQuestion, usize)> = Vec::new();
        slots.retain(|key, slot| {
            let is_used = Arc::strong_count(slot) > 1;
            let Ok(held) = slot.try_lock() else { return true };
            match held.as_ref() {
                _ if is_used => true,
                Some(found) if found.is_fresh(now) => {
                    kept.push((found.at, key.clone(), size(&found.measured)));
                    true
                }
                _ => false,
            }
        });
        kept.sort();
        let mut bytes: usize = kept.iter().map(|(_, _, bytes)| bytes).sum();
        for (_, key, size) in kept {
            if bytes <= KEPT_BYTES_MAX {
                break;
            }
            slots.remove(&key);
            bytes -= size;
        }
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *lock(&self.0.running) -= 1;
        self.0.has_ended.notify_one();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

    use super::*;

    fn smoke(text: String, interval_s: u64) -> CheckQuestion {
        CheckQuestion { check: "smoke".into(), text, interval: Duration::from_secs(interval_s) }
    }

    /// A cache with a clock in seconds, and the number of measurements.
    #[derive(Default)]
    struct World {
        cache: Cache,
        clock: AtomicI64,
        count: AtomicUsize,
    }

    impl World {
        fn get(&self, name: &str, second: i64) -> usize {
            self.clock.store(second, Ordering::SeqCst);
            let now = || Timestamp::from_second(self.clock.load(Ordering::SeqCst)).unwrap();
            let measure = || {
                self.count.fetch_add(1, Ordering::SeqCst);
                Err("x".to_owned())
            };
            self.cache.get(smoke(name.to_owned(), 30), &now, &measure);
            self.count.load(Ordering::SeqCst)
        }
    }

    #[test]
    fn a_measurement_is_used_for_its_interval() {
        let world = World::default();
        let counts = [0, 29, 30, 59, 10].map(|second| world.get("a", second));
        // The clock that goes back makes a measurement useless.
        assert_eq!(counts, [1, 1, 2, 2, 3]);
    }

    #[test]
    fn each_question_has_its_own_measurement() {
        let world = World::default();
        assert_eq!([world.get("a", 0), world.get("b", 0), world.get("a", 1)], [1, 2, 2]);
    }

    #[test]
    fn old_measurements_are_forgotten() {
        let world = World::default();
        world.get("a", 0);
        world.get("b", 60);
        assert_eq!(lock(&world.cache.slots).len(), 1);
    }

    #[test]
    fn the_oldest_measurements_are_forgotten_if_all_are_too_large() {
        let cache = Cache::default();
        for second in 0..5 {
            let now = move || Timestamp::from_second(second).unwrap();
            let measure = || Err("x".repeat(KEPT_BYTES_MAX / 3));
            cache.get(smoke(second.to_string(), 30), &now, &measure);
        }
        let kept: Vec<String> = lock(&cache.slots).keys().map(|question| question.text.clone()).collect();
        assert_eq!(kept, ["3", "4"]);
    }

    #[test]
    fn several_threads_share_one_measurement() {
        let world = World::default();
        std::thread::scope(|scope| {
            (0..20).for_each(|_| drop(scope.spawn(|| world.get("a", 0))));
        });
        assert_eq!(world.count.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn only_some_measurements_run_at_the_same_time() {
        let (cache, running, most) = (Cache::default(), AtomicUsize::new(0), AtomicUsize::new(0));
        let now = || Timestamp::UNIX_EPOCH;
        let measure = || {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            (0..1_000).for_each(|_| std::thread::yield_now());
            running.fetch_sub(1, Ordering::SeqCst);
            Err(String::new())
        };
        std::thread::scope(|scope| {
            for number in 0..40 {
                let (cache, measure) = (&cache, &measure);
                scope.spawn(move || cache.get(smoke(number.to_string(), 1), &now, measure));
            }
        });
        assert!(most.load(Ordering::SeqCst) <= CONCURRENT_MAX);
    }
}
