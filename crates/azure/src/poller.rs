//! Polls one source: its current state as reports, and the problems.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use hub_api::report::{Report, WorkloadName};
use hub_api::timestamp::Timestamp;

use crate::client::{Client, Pause};
use crate::collect::{Collected, Collector, Observation};
use crate::credential::Tokens;
use crate::graph::Azure;
use crate::hosts::HostNames;
use crate::options::AzureSource;
use crate::problem::PollProblem;
use crate::report_cache::ReportCache;

/// Polls one source, and caches its last reports.
pub struct Poller {
    source: AzureSource,
    azure: Azure,
    hosts: HostNames,
    cache: ReportCache,
}

/// The result of a poll.
#[derive(Debug, Default)]
pub struct Polled {
    /// The checked reports.
    pub reports: Vec<Report>,
    /// The resources that could not be read. All others are in the reports.
    pub problems: Vec<PollProblem>,
    /// The number of subscriptions that were listed completely.
    pub complete: usize,
}

impl Poller {
    /// Creates a poller. `hosts` is shared with other sources, so that host names are unique.
    ///
    /// # Errors
    /// If TLS can't be initialized.
    pub fn new(source: AzureSource, hosts: HostNames) -> Result<Self, String> {
        Self::with_pause(source, hosts, Arc::new(|duration| tokio::time::sleep(duration).boxed()))
    }

    /// Same as [`Self::new`], but waits with `pause`.
    ///
    /// # Errors
    /// If TLS can't be initialized.
    pub fn with_pause(source: AzureSource, hosts: HostNames, pause: Pause) -> Result<Self, String> {
        let client = Client::new(pause).map_err(|failure| failure.to_string())?;
        let tokens = Tokens::new(source.credential.clone(), &source.management);
        let azure = Azure::new(client, tokens, &source.management);
        Ok(Self { source, azure, hosts, cache: ReportCache::default() })
    }

    /// The time between two polls.
    pub fn interval(&self) -> Duration {
        self.source.interval
    }

    /// The tenant of the source.
    pub fn tenant(&self) -> &str {
        &self.source.tenant
    }

    /// Reads only the clusters, so that ambiguous names of several sources are known before the first report. Errors are ignored: the first poll reports them.
    pub async fn read_host_names(&mut self) {
        for subscription in &self.source.subscriptions {
            let collector = Collector::new(&mut self.azure, subscription, Timestamp::MIN);
            for host in collector.clusters_only().await {
                self.hosts.add(&host);
            }
        }
    }

    /// Polls all subscriptions of the source.
    pub async fn poll(&mut self, now: Timestamp) -> Polled {
        let mut polled = Polled::default();
        let mut observations = Vec::new();
        for subscription in &self.source.subscriptions {
            let collector = Collector::new(&mut self.azure, subscription, now);
            let collected = collector.collect(self.source.workload_orchestration).await;
            let Collected { hosts, observations: found, problems, is_complete } = collected;
            polled.complete += usize::from(is_complete);
            polled.problems.extend(problems);
            polled
                .problems
                .extend(hosts.iter().filter_map(|host| ambiguous_name(&host.qualified, &self.hosts.add(host))));
            observations.extend(found);
        }
        let mut named = BTreeSet::new();
        for observation in observations {
            let (subject, connection) = (observation.subject.clone(), observation.connection);
            match self
                .named(observation, &mut named)
                .and_then(|report| report.check(now).map_err(|error| error.to_string()))
            {
                Ok(report) => polled.reports.extend(self.cache.reports(report, connection.last_on(now), now)),
                Err(message) => polled.problems.push(PollProblem::new(subject, message)),
            }
        }
        self.cache.remove_old(now);
        polled
    }

    /// Clears the cache, because the last reports could not be stored. The next poll reports everything again.
    pub fn clear(&mut self) {
        self.cache.clear();
    }

    /// The report of an observation, with the name of its host. A second report of the same reconciler in one poll is an error.
    fn named(&self, observation: Observation, named: &mut BTreeSet<(String, String)>) -> Result<Report, String> {
        let Observation { host, report, .. } = observation;
        let host = if self.source.qualified_host_names { host.qualified.clone() } else { self.hosts.name(&host) };
        let environment = self.source.environment.clone();
        let workload = report.workload.clone().map(|workload| WorkloadName { environment, ..workload });
        let report = Report { host, workload, heartbeat: Some(self.source.interval), ..report };
        if named.insert((report.host.clone(), report.reconciler.clone())) {
            Ok(report)
        } else {
            Err(format!("`{}` on `{}` has been reported already; this is left out", report.reconciler, report.host))
        }
    }
}

/// The problem of a cluster whose name is not unique. None if `others` is empty.
fn ambiguous_name(host: &str, others: &[String]) -> Option<PollProblem> {
    let message =
        format!("has the same name as {}: they are reported with resource group and subscription", others.join(", "));
    (!others.is_empty()).then(|| PollProblem::new(host, message))
}
