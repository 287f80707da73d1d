//! What was reported already, so that what is still so is only confirmed.

use std::collections::HashMap;
use std::time::Duration;

use hub_api::report::Report;
use hub_api::timestamp::Timestamp;

/// The latest of each reconciler that this source reported.
#[derive(Debug, Default)]
pub(crate) struct Memory(HashMap<(String, String), Last>);

#[derive(Clone, Copy, Debug)]
struct Last {
    digest: i64,
    reported_on: Timestamp,
    found_on: Timestamp,
}

/// What was not found for that long is forgotten. Should it come again, it is reported as if it were new, which changes nothing.
const AGE_MAX: Duration = Duration::from_hours(24);

impl Memory {
    /// The reports to make of what Azure says now: since when it is so, if that is news, and that it is still so.
    ///
    /// `report.observed_on` is the moment since which it is so. `alive_on` is the last moment at which the host was connected, none if that is not known.
    pub(crate) fn reports(
        &mut self,
        report: Report,
        alive_on: Option<Timestamp>,
        now: Timestamp,
    ) -> impl Iterator<Item = Report> + use<> {
        let key = (report.host.clone(), report.reconciler.clone());
        let digest = report.digest();
        let last = self.0.get(&key).copied();
        let is_known = last.is_some_and(|last| last.digest == digest);
        // The graph lags behind: what was confirmed until a poll was not different before it.
        let after = last.map(|last| last.reported_on.after(Duration::from_millis(1)));
        let since = after.map_or(report.observed_on, |after| report.observed_on.max(after));
        let first = (!is_known).then(|| Report { observed_on: since, ..report.clone() });
        let reported = if is_known { last.map(|last| last.reported_on) } else { Some(since) };
        let again = alive_on.filter(|alive| reported.is_none_or(|reported| *alive > reported));
        let again = again.map(|observed_on| Report { observed_on, ..report });
        let reported_on = again.as_ref().map(|report| report.observed_on).or(reported).unwrap_or(since);
        self.0.insert(key, Last { digest, reported_on, found_on: now });
        first.into_iter().chain(again)
    }

    /// Forgets what was not found for long.
    pub(crate) fn tidy(&mut self, now: Timestamp) {
        self.0.retain(|_, last| now.since(last.found_on) < AGE_MAX);
    }

    /// Nothing was reported, as far as is known: everything is news again.
    pub(crate) fn forget(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hub_api::report::example::report;

    /// Says `message` since a moment; alive at another one, or not. Gives the moments of the reports.
    fn check(memory: &mut Memory, message: &str, since: i64, alive: Option<i64>) -> Vec<i64> {
        let report = Report { message: message.into(), observed_on: Timestamp::from_millis(since), ..report() };
        memory
            .reports(report, alive.map(Timestamp::from_millis), Timestamp::MIN)
            .map(|report| report.observed_on.millis())
            .collect()
    }

    #[test]
    fn what_is_still_so_is_confirmed() {
        let mut memory = Memory::default();
        assert_eq!(check(&mut memory, "a", 5, Some(10)), [5, 10]);
        assert_eq!(check(&mut memory, "a", 5, Some(20)), [20]);
        assert_eq!(check(&mut memory, "a", 15, Some(30)), [30]);
        assert_eq!(check(&mut memory, "b", 35, Some(40)), [35, 40]);
        memory.forget();
        assert_eq!(check(&mut memory, "b", 35, Some(50)), [35, 50]);
    }

    #[test]
    fn a_host_that_is_away_confirms_nothing() {
        let mut memory = Memory::default();
        assert_eq!(check(&mut memory, "a", 5, Some(10)), [5, 10]);
        assert_eq!(check(&mut memory, "a", 5, Some(10)), [0; 0]);
        assert_eq!(check(&mut memory, "a", 5, None), [0; 0]);
        assert_eq!(check(&mut memory, "b", 50, Some(45)), [50]);
    }

    #[test]
    fn what_azure_learns_late_does_not_reach_into_what_was_confirmed() {
        let mut memory = Memory::default();
        assert_eq!(check(&mut memory, "a", 5, Some(10)), [5, 10]);
        assert_eq!(check(&mut memory, "b", 7, Some(20)), [11, 20]);
    }
}
