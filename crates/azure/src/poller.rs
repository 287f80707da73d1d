//! One poll of one source: all that Azure says now, as reports, and what went wrong.

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
use crate::memory::Memory;
use crate::options::Source;
use crate::problem::Problem;

/// Asks one source, and remembers what it said.
pub struct Poller {
    source: Source,
    azure: Azure,
    hosts: HostNames,
    memory: Memory,
}

/// What a poll brought.
#[derive(Debug, Default)]
pub struct Polled {
    /// Reports, in the form in which they are stored.
    pub reports: Vec<Report>,
    /// What could not be read, or not be asked. Everything else is in the reports.
    pub problems: Vec<Problem>,
    /// Subscriptions of which everything was listed.
    pub complete: usize,
}

impl Poller {
    /// Asks a source. Hosts are named together with those of other sources.
    ///
    /// # Errors
    /// There is no TLS on this machine.
    pub fn new(source: Source, hosts: HostNames) -> Result<Self, String> {
        Self::pausing(source, hosts, Arc::new(|duration| tokio::time::sleep(duration).boxed()))
    }

    /// The same with another way to wait.
    ///
    /// # Errors
    /// There is no TLS on this machine.
    pub fn pausing(source: Source, hosts: HostNames, pause: Pause) -> Result<Self, String> {
        let client = Client::new(pause).map_err(|failure| failure.to_string())?;
        let tokens = Tokens::new(source.credential.clone(), &source.management);
        let azure = Azure::new(client, tokens, &source.management);
        Ok(Self { source, azure, hosts, memory: Memory::default() })
    }

    /// The time between two polls.
    pub fn interval(&self) -> Duration {
        self.source.interval
    }

    /// The tenant that is asked.
    pub fn tenant(&self) -> &str {
        &self.source.tenant
    }

    /// Asks for clusters only, so that names that clusters of several sources share are known before the first report. What goes wrong is said by the
    /// first poll.
    pub async fn learn(&mut self) {
        for subscription in &self.source.subscriptions {
            let collector = Collector::new(&mut self.azure, subscription, Timestamp::MIN);
            for host in collector.clusters_only().await {
                self.hosts.learn(&host);
            }
        }
    }

    /// Asks for everything.
    pub async fn poll(&mut self, now: Timestamp) -> Polled {
        let mut polled = Polled::default();
        let mut observations = Vec::new();
        for subscription in &self.source.subscriptions {
            let collector = Collector::new(&mut self.azure, subscription, now);
            let collected = collector.everything(self.source.workload_orchestration).await;
            let Collected { hosts, observations: found, problems, is_complete } = collected;
            polled.complete += usize::from(is_complete);
            polled.problems.extend(problems);
            polled.problems.extend(hosts.iter().filter_map(|host| clash(&host.qualified, &self.hosts.learn(host))));
            observations.extend(found);
        }
        let mut named = BTreeSet::new();
        for observation in observations {
            let (subject, alive) = (observation.subject.clone(), observation.alive);
            match self
                .named(observation, &mut named)
                .and_then(|report| report.check(now).map_err(|error| error.to_string()))
            {
                Ok(report) => polled.reports.extend(self.memory.reports(report, alive.on(now), now)),
                Err(message) => polled.problems.push(Problem::new(subject, message)),
            }
        }
        self.memory.tidy(now);
        polled
    }

    /// What was reported last is not stored: the next poll says it again.
    pub fn forget(&mut self) {
        self.memory.forget();
    }

    /// The report of an observation. A reconciler speaks once in a poll.
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

/// Clusters that have the same name.
fn clash(host: &str, others: &[String]) -> Option<Problem> {
    let message =
        format!("has the same name as {}: they are reported with resource group and subscription", others.join(", "));
    (!others.is_empty()).then(|| Problem::new(host, message))
}
