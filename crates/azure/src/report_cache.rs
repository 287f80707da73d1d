//! Caches the last reports, so that an unchanged status is only confirmed.

use std::collections::HashMap;
use std::time::Duration;

use hub_api::report::Report;
use hub_api::timestamp::Timestamp;

/// The last report of each reconciler of a source.
#[derive(Debug, Default)]
pub(crate) struct ReportCache(HashMap<(String, String), LastReport>);

#[derive(Clone, Copy, Debug)]
struct LastReport {
    digest: i64,
    reported_on: Timestamp,
    found_on: Timestamp,
}

/// The age after which a reconciler that is no longer found is removed. If it is found again, it is reported as new, which is harmless.
const AGE_MAX: Duration = Duration::from_hours(24);

impl ReportCache {
    /// The reports to submit for a status: one with the time of its last change, if the status is new, and one that confirms it.
    ///
    /// `report.observed_on` is the time of the last change. `connected_on` is the time of the host's last connection. None: the time is not known.
    pub(crate) fn reports(
        &mut self,
        report: Report,
        connected_on: Option<Timestamp>,
        now: Timestamp,
    ) -> impl Iterator<Item = Report> + use<> {
        let key = (report.host.clone(), report.reconciler.clone());
        let digest = report.digest();
        let last = self.0.get(&key).copied();
        let is_known = last.is_some_and(|last| last.digest == digest);
        // The graph lags behind. A new status must not begin before the last confirmation of the old one.
        let after = last.map(|last| last.reported_on.after(Duration::from_millis(1)));
        let since = after.map_or(report.observed_on, |after| report.observed_on.max(after));
        let first = (!is_known).then(|| Report { observed_on: since, ..report.clone() });
        let reported = if is_known { last.map(|last| last.reported_on) } else { Some(since) };
        let again = connected_on.filter(|connected| reported.is_none_or(|reported| *connected > reported));
        let again = again.map(|observed_on| Report { observed_on, ..report });
        let reported_on = again.as_ref().map(|report| report.observed_on).or(reported).unwrap_or(since);
        self.0.insert(key, LastReport { digest, reported_on, found_on: now });
        first.into_iter().chain(again)
    }

    /// Removes reconcilers that were not found for a long time.
    pub(crate) fn remove_old(&mut self, now: Timestamp) {
        self.0.retain(|_, last| now.since(last.found_on) < AGE_MAX);
    }

    /// Removes all reports, so that everything is reported again.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hub_api::report::example::report;

    /// Adds a status with `message` since a time, of a host that was connected at a time or never. Returns the times of the reports.
    fn check(cache: &mut ReportCache, message: &str, since: i64, connected: Option<i64>) -> Vec<i64> {
        let report = Report { message: message.into(), observed_on: Timestamp::from_millis(since), ..report() };
        cache
            .reports(report, connected.map(Timestamp::from_millis), Timestamp::MIN)
            .map(|report| report.observed_on.millis())
            .collect()
    }

    #[test]
    fn unchanged_states_are_confirmed() {
        let mut cache = ReportCache::default();
        assert_eq!(check(&mut cache, "a", 5, Some(10)), [5, 10]);
        assert_eq!(check(&mut cache, "a", 5, Some(20)), [20]);
        assert_eq!(check(&mut cache, "a", 15, Some(30)), [30]);
        assert_eq!(check(&mut cache, "b", 35, Some(40)), [35, 40]);
        cache.clear();
        assert_eq!(check(&mut cache, "b", 35, Some(50)), [35, 50]);
    }

    #[test]
    fn disconnected_host_confirms_nothing() {
        let mut cache = ReportCache::default();
        assert_eq!(check(&mut cache, "a", 5, Some(10)), [5, 10]);
        assert_eq!(check(&mut cache, "a", 5, Some(10)), [0; 0]);
        assert_eq!(check(&mut cache, "a", 5, None), [0; 0]);
        assert_eq!(check(&mut cache, "b", 50, Some(45)), [50]);
    }

    #[test]
    fn late_states_start_after_the_last_confirmation() {
        let mut cache = ReportCache::default();
        assert_eq!(check(&mut cache, "a", 5, Some(10)), [5, 10]);
        assert_eq!(check(&mut cache, "b", 7, Some(20)), [11, 20]);
    }
}
