//! Collects the state of one subscription from Azure, as observations of hosts. The names of the hosts are set later.

use std::collections::BTreeMap;

use hub_api::report::Report;
use hub_api::timestamp::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use crate::client::Failure;
use crate::flux;
use crate::graph::Azure;
use crate::hosts::{Host, HostKind};
use crate::limits::DETAILS_MAX;
use crate::orchestration::{self, Target};
use crate::problem::PollProblem;
use crate::resource::ResourceId;
use crate::row::row;

/// The query for all clusters with their connectivity.
const CLUSTERS_QUERY: &str = "resources \
    | where type in~ ('microsoft.kubernetes/connectedclusters', 'microsoft.containerservice/managedclusters') \
    | project id, properties = pack('connectivityStatus', properties.connectivityStatus, \
    'lastConnectivityTime', properties.lastConnectivityTime, 'power', properties.powerState.code) | order by id asc";

/// Collects the state of one subscription.
pub(crate) struct Collector<'a> {
    azure: &'a mut Azure,
    subscription: &'a str,
    now: Timestamp,
    collected: Collected,
}

/// The state of a subscription.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub(crate) hosts: Vec<Host>,
    pub(crate) observations: Vec<Observation>,
    pub(crate) problems: Vec<PollProblem>,
    /// Whether all resources could be listed.
    pub(crate) is_complete: bool,
}

/// The status of a reconciler on a host.
#[derive(Clone, Debug)]
pub(crate) struct Observation {
    /// The id of the resource with this status.
    pub(crate) subject: String,
    pub(crate) host: Host,
    pub(crate) connection: Connection,
    /// The report without the name of the host. `observed_on` is the time of the last change.
    pub(crate) report: Report,
}

/// The connection of a host to Azure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Connection {
    /// It is connected.
    Now,
    /// It is not connected, and was connected last at this time.
    LastOn(Timestamp),
    /// It is not connected. The time of its last connection is not known.
    Unknown,
}

impl Connection {
    /// The time of the last connection. None if it is not known.
    pub(crate) fn last_on(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Now => Some(now),
            Self::LastOn(timestamp) => Some(timestamp.min(now)),
            Self::Unknown => None,
        }
    }
}

/// The connectivity of a cluster. Arc provides its connection, and AKS only its power state.
/// <https://learn.microsoft.com/azure/azure-arc/kubernetes/conceptual-cluster-connect>
#[derive(Deserialize)]
struct Connectivity {
    #[serde(rename = "connectivityStatus")]
    status: Option<String>,
    #[serde(rename = "lastConnectivityTime")]
    last_on: Option<String>,
    power: Option<String>,
}

impl<'a> Collector<'a> {
    /// Creates a collector. It sends no request yet.
    pub(crate) fn new(azure: &'a mut Azure, subscription: &'a str, now: Timestamp) -> Self {
        Self { azure, subscription, now, collected: Collected::default() }
    }

    /// Collects only the clusters. Errors are ignored.
    pub(crate) async fn clusters_only(mut self) -> Vec<Host> {
        // After an error, the clusters of the pages before it are used.
        let _ = self.clusters().await;
        self.collected.hosts
    }

    /// Collects clusters, Flux configurations and, if requested, solutions of Workload Orchestration.
    pub(crate) async fn collect(mut self, with_orchestration: bool) -> Collected {
        let clusters = self.clusters().await;
        let configurations = self.configurations(&clusters.0).await;
        let solutions = if with_orchestration { self.solutions().await } else { Ok(()) };
        let results = [
            ("clusters", clusters.1),
            ("Flux configurations", configurations),
            ("solutions of Workload Orchestration", solutions),
        ];
        self.collected.is_complete = results.iter().all(|(_, result)| result.is_ok());
        let mut failures: Vec<(&str, String)> = Vec::new();
        for (what, result) in results {
            let Err(reason) = result.map_err(|failure| failure.to_string()) else { continue };
            // The same reason, for example a missing permission, is reported only once.
            if failures.iter().all(|(_, other)| *other != reason) {
                failures.push((what, reason));
            }
        }
        let subject = format!("subscription {}", self.subscription);
        let problem = |(what, reason): (&str, String)| {
            PollProblem::new(&subject, format!("{what} can't be listed, or not in full: {reason}"))
        };
        self.collected.problems.extend(failures.into_iter().map(problem));
        self.collected
    }

    /// Collects the clusters. Returns their connections by id. After an error, the map contains the clusters of the pages before it.
    async fn clusters(&mut self) -> (BTreeMap<String, Connection>, Result<(), Failure>) {
        let mut rows = Vec::new();
        let listed = self.azure.query(self.subscription, CLUSTERS_QUERY, |row| rows.push(cluster(row))).await;
        let mut clusters = BTreeMap::new();
        for row in rows {
            match row {
                Ok((host, id, connection)) => {
                    self.collected.hosts.push(host);
                    clusters.insert(id, connection);
                }
                Err(problem) => self.collected.problems.push(problem),
            }
        }
        (clusters, listed)
    }

    async fn configurations(&mut self, clusters: &BTreeMap<String, Connection>) -> Result<(), Failure> {
        let (mut rows, now) = (Vec::new(), self.now);
        let listed = self.azure.query(self.subscription, flux::QUERY, |row| rows.push(flux::read(row, now))).await;
        let mut details = 0;
        for row in rows {
            match row {
                Ok(found) if found.lacks_statuses && details < DETAILS_MAX => {
                    details += 1;
                    let found = self.detail(found).await;
                    self.observe(found, clusters);
                }
                Ok(found) => self.observe(found, clusters),
                Err(problem) => self.collected.problems.push(problem),
            }
        }
        listed
    }

    /// Reads a configuration from Resource Manager, with its statuses. After an error, returns it as the graph has it.
    async fn detail(&mut self, found: flux::FluxConfiguration) -> flux::FluxConfiguration {
        let answer = self.azure.get(&found.id, flux::VERSION).await;
        let answer =
            answer.map_err(|failure| PollProblem::new(&found.id, format!("the statuses of its objects: {failure}")));
        match answer.and_then(|row| flux::read(row, self.now)) {
            Ok(detailed) => detailed,
            Err(problem) => {
                self.collected.problems.push(problem);
                found
            }
        }
    }

    fn observe(&mut self, found: flux::FluxConfiguration, clusters: &BTreeMap<String, Connection>) {
        let connection = clusters.get(&found.cluster).copied().unwrap_or(Connection::Now);
        self.collected.problems.extend(found.problems);
        let observation =
            |report| Observation { subject: found.id.clone(), host: found.host.clone(), connection, report };
        self.collected.observations.extend(found.reports.into_iter().map(observation));
        self.collected.hosts.push(found.host);
    }

    /// Collects the instances of solutions from the graph. If the graph has targets but no instances, they are read from Resource Manager.
    async fn solutions(&mut self) -> Result<(), Failure> {
        let (mut rows, mut targets) = (Vec::new(), BTreeMap::new());
        self.azure.query(self.subscription, orchestration::TARGETS_QUERY, |row| rows.push(Target::read(row))).await?;
        for row in rows {
            match row {
                Ok(target) => drop(targets.insert(target.key(), target)),
                Err(problem) => self.collected.problems.push(problem),
            }
        }
        if targets.is_empty() {
            return Ok(());
        }
        let mut rows = Vec::new();
        let listed = self.azure.query(self.subscription, orchestration::INSTANCES_QUERY, |row| rows.push(row)).await;
        let listed = if listed.is_ok() && rows.is_empty() { self.instances(&targets, &mut rows).await } else { listed };
        for row in rows {
            match orchestration::read(row, self.now) {
                Ok(Some(instance)) => self.observe_instance(instance, &targets),
                Ok(None) => {}
                Err(problem) => self.collected.problems.push(problem),
            }
        }
        listed
    }

    /// Reads the instances from Resource Manager: all solutions of all targets.
    async fn instances(&mut self, targets: &BTreeMap<String, Target>, rows: &mut Vec<Value>) -> Result<(), Failure> {
        let mut count = 0;
        for target in targets.values() {
            let mut solutions = Vec::new();
            let path = format!("{}/solutions", target.id);
            self.azure.list(&path, orchestration::VERSION, |solution| solutions.push(row(solution))).await?;
            for (solution, _) in solutions.into_iter().flatten() {
                count += 1;
                if count > DETAILS_MAX {
                    let message =
                        format!("there are more than {DETAILS_MAX} solutions, and the graph has none of them");
                    return Err(Failure::Malformed(message));
                }
                let path = format!("{solution}/instances");
                self.azure.list(&path, orchestration::VERSION, |instance| rows.push(instance)).await?;
            }
        }
        Ok(())
    }

    fn observe_instance(&mut self, instance: orchestration::Instance, targets: &BTreeMap<String, Target>) {
        let orchestration::Instance { id, target, report } = instance;
        let Some(target) = targets.get(&target) else {
            self.collected.problems.push(PollProblem::new(id, "its target is not in the subscription"));
            return;
        };
        let host = target.host.clone();
        self.collected.hosts.push(host.clone());
        self.collected.observations.push(Observation { subject: id, host, connection: Connection::Now, report });
    }
}

/// Parses a row of the query for clusters: the host, the id, and the connection.
pub(crate) fn cluster(value: Value) -> Result<(Host, String, Connection), PollProblem> {
    let (id, properties) = row(value)?;
    let problem = |message: String| PollProblem::new(&id, message);
    let resource = ResourceId::parse(&id).ok_or_else(|| problem("id: is not that of a cluster".to_owned()))?;
    let connectivity: Connectivity =
        serde_json::from_value(properties).map_err(|error| problem(format!("properties: {error}")))?;
    let connection = connectivity.connection().map_err(problem)?;
    Ok((Host::new(HostKind::Cluster, &resource), resource.root(), connection))
}

impl Connectivity {
    fn connection(&self) -> Result<Connection, String> {
        let is = |text: &Option<String>, word: &str| text.as_ref().is_some_and(|text| text.eq_ignore_ascii_case(word));
        let is_off = is(&self.power, "stopped");
        if !is_off && (self.status.is_none() || is(&self.status, "connected")) {
            return Ok(Connection::Now);
        }
        let last = self.last_on.as_deref().map(str::parse::<Timestamp>).transpose();
        let last = last.map_err(|error| format!("properties.lastConnectivityTime: {error}"))?;
        Ok(last.map_or(Connection::Unknown, Connection::LastOn))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(properties: Value) -> String {
        let id = "/subscriptions/S/resourceGroups/G/providers/Microsoft.Kubernetes/connectedClusters/edge";
        match cluster(json!({"id": id, "properties": properties})) {
            Ok((_, _, connection)) => format!("{connection:?}"),
            Err(problem) => problem.message,
        }
    }

    #[test]
    fn connection_times_of_clusters_are_read() {
        assert_eq!(
            check(json!({"connectivityStatus": "Connected", "lastConnectivityTime": "2026-11-21T13:00:00Z"})),
            "Now"
        );
        assert_eq!(check(json!({"connectivityStatus": null, "power": "Running"})), "Now");
        assert_eq!(check(json!({"power": "Stopped"})), "Unknown");
        let offline = json!({"connectivityStatus": "Offline", "lastConnectivityTime": "1970-01-01T00:00:01.5Z"});
        assert_eq!(check(offline), "LastOn(Timestamp(1500))");
        assert_eq!(check(json!({"connectivityStatus": "Connecting", "lastConnectivityTime": null})), "Unknown");
        assert!(check(json!({"connectivityStatus": 3})).starts_with("properties: invalid type"));
    }

    #[test]
    fn rows_have_ids_and_properties() {
        let problem = |value: Value| row(value).unwrap_err();
        assert_eq!(problem(json!(3)), PollProblem::new("a row without an id", "is not an object"));
        assert_eq!(problem(json!({"properties": {}})), PollProblem::new("a row without an id", "id: is missing"));
        assert_eq!(problem(json!({"id": "x", "properties": null})), PollProblem::new("x", "properties: are missing"));
    }
}
