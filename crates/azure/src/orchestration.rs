//! Solutions of Azure's Workload Orchestration (`Microsoft.Edge/targets/solutions/instances`).
//!
//! <https://github.com/Azure/azure-rest-api-specs/tree/main/specification/edge/Microsoft.Edge.ConfigurationManager.Management>

use std::collections::BTreeMap;

use hub_api::report::{Report, WorkloadName};
use hub_api::timestamp::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use crate::flux::status_of;
use crate::hosts::{Host, HostKind};
use crate::problem::PollProblem;
use crate::resource::ResourceId;
use crate::row::row;

/// The query for all targets of a subscription.
pub(crate) const TARGETS_QUERY: &str = "resources | where type =~ 'microsoft.edge/targets' \
    | project id, properties = pack('extendedLocation', extendedLocation.name) | order by id asc";

/// The query for all instances of a subscription.
pub(crate) const INSTANCES_QUERY: &str = "extensibilityresources \
    | where type =~ 'microsoft.edge/targets/solutions/instances' | project id, properties | order by id asc";

/// The API version for Resource Manager.
pub(crate) const VERSION: &str = "2025-06-01";

/// The kind of these reconcilers, as in Microsoft's hub.
const KIND: &str = "wo";

/// A target of solutions.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// Its id, in the original notation.
    pub(crate) id: String,
    /// The host of the target.
    pub(crate) host: Host,
}

/// An instance of a solution on a target.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    /// Its id.
    pub(crate) id: String,
    /// The key of the target.
    pub(crate) target: String,
    /// Its report, without the host.
    pub(crate) report: Report,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetProperties {
    extended_location: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct InstanceProperties {
    solution_version_id: Option<String>,
    active_state: Option<String>,
    status: Option<DeploymentStatus>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DeploymentStatus {
    last_modified: Option<String>,
    status: Option<String>,
    status_details: Option<String>,
    target_statuses: Option<Vec<TargetStatus>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetStatus {
    name: Option<String>,
    status: Option<String>,
    component_statuses: Option<Vec<ComponentStatus>>,
}

#[derive(Default, Deserialize)]
struct ComponentStatus {
    name: Option<String>,
    status: Option<String>,
}

impl Target {
    /// Parses the target in a row of the graph.
    ///
    /// # Errors
    /// If it is not a target, or has no location.
    pub(crate) fn read(value: Value) -> Result<Self, PollProblem> {
        let (id, properties) = row(value)?;
        let complain = |message: String| PollProblem::new(&id, message);
        let properties: TargetProperties =
            serde_json::from_value(properties).map_err(|error| complain(format!("properties: {error}")))?;
        let location = properties.extended_location.unwrap_or_default();
        let host = ResourceId::parse(&location).map(|location| Host::new(HostKind::Location, &location));
        let host =
            host.ok_or_else(|| complain(format!("extendedLocation.name: `{location}` is not a custom location")))?;
        if ResourceId::parse(&id).is_none_or(|id| !id.is_of("Microsoft.Edge", "targets")) {
            return Err(complain("id: is not that of a target".to_owned()));
        }
        Ok(Self { id, host })
    }

    /// The key to compare targets.
    pub(crate) fn key(&self) -> String {
        self.id.to_lowercase()
    }
}

/// Parses the instance in a row of the graph or an answer of Resource Manager. None if the instance is switched off.
///
/// # Errors
/// If it is not an instance.
pub(crate) fn read(value: Value, now: Timestamp) -> Result<Option<Instance>, PollProblem> {
    let (id, properties) = row(value)?;
    let complain = |message: String| PollProblem::new(&id, message);
    let properties: InstanceProperties =
        serde_json::from_value(properties).map_err(|error| complain(format!("properties: {error}")))?;
    let resource = ResourceId::parse(&id).filter(|id| id.is_of("Microsoft.Edge", "targets"));
    let names = resource.as_ref().and_then(|id| Some((id.of_type("solutions")?, id.of_type("instances")?)));
    let (Some(resource), Some((solution, instance))) = (&resource, names) else {
        return Err(complain("id: is not that of an instance of a solution on a target".to_owned()));
    };
    if properties.active_state.is_some_and(|state| state.eq_ignore_ascii_case("inactive")) {
        return Ok(None);
    }
    let status = properties.status.unwrap_or_default();
    let timestamp = status.last_modified.as_deref().map(str::parse::<Timestamp>).transpose();
    let timestamp = timestamp.map_err(|error| complain(format!("properties.status.lastModified: {error}")))?;
    let target = resource.name();
    let version = properties.solution_version_id.as_deref().and_then(|id| version(id, solution));
    let report = Report {
        host: String::new(),
        reconciler: if instance.eq_ignore_ascii_case(solution) {
            format!("{target}/{solution}")
        } else {
            format!("{target}/{solution}/{instance}")
        },
        kind: KIND.to_owned(),
        endpoint: None,
        revision: String::new(),
        tree: None,
        version,
        workload: Some(WorkloadName { name: solution.to_owned(), environment: None }),
        status: status_of(status.status.as_deref().unwrap_or_default()),
        is_waiting: false,
        message: status.message(),
        observed_on: timestamp.map_or(now, |timestamp| timestamp.min(now)),
        heartbeat: None,
        labels: BTreeMap::new(),
    };
    Ok(Some(Instance { target: resource.root(), id: id.clone(), report }))
}

/// The version in the id of a solution's version, `…/versions/<solution>-<version>.<revision>`. The revision counts the configurations of the same version,
/// and is removed.
fn version(id: &str, solution: &str) -> Option<String> {
    let name = id.rsplit('/').next().unwrap_or_default();
    let own = name.strip_prefix(solution).and_then(|rest| rest.strip_prefix('-'));
    let own = own.filter(|rest| rest.starts_with(|character: char| character.is_ascii_digit()));
    let numbers = own.or_else(|| name.rsplit('-').next()).unwrap_or_default();
    let version = numbers.rsplit_once('.').map_or(numbers, |(version, _)| version);
    Some(version.to_owned()).filter(|version| !version.is_empty())
}

impl DeploymentStatus {
    fn message(&self) -> String {
        let pair = |name: &Option<String>, status: &Option<String>| {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            format!("{}: {}", text(name), text(status))
        };
        let mut lines: Vec<String> = self.status_details.iter().cloned().collect();
        for target in self.target_statuses.iter().flatten() {
            lines.push(pair(&target.name, &target.status));
            let components = target.component_statuses.iter().flatten();
            lines.extend(components.map(|component| pair(&component.name, &component.status)));
        }
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn versions_are_the_part_before_the_revision() {
        for (id, version) in [
            ("/a/solutions/hello/versions/hello-0.0.126.2", Some("0.0.126")),
            ("hello-world-1.0.0.1", Some("1.0.0")),
            ("hello-1.0.0-beta.1.2", Some("1.0.0-beta.1")),
            ("other-1.2", Some("1")),
            ("1.2.3", Some("1.2")),
            ("", None),
            ("hello-", None),
        ] {
            assert_eq!(super::version(id, "hello").as_deref(), version, "{id}");
        }
    }

    /// An instance with these properties.
    fn check(properties: Value) -> String {
        let id =
            "/subscriptions/S/resourceGroups/G/providers/Microsoft.Edge/targets/Line-7/solutions/hello/instances/hello";
        match read(json!({"id": id, "properties": properties}), Timestamp::MAX) {
            Ok(Some(Instance { target, report, .. })) => {
                let version = report.version.unwrap_or_default();
                format!(
                    "{target} {} {version} {} {} {}",
                    report.reconciler, report.status, report.observed_on, report.message
                )
            }
            Ok(None) => "none".to_owned(),
            Err(problem) => problem.message,
        }
    }

    #[test]
    fn an_instance_becomes_a_report() {
        let properties = json!({
            "solutionVersionId": "/subscriptions/S/resourceGroups/G/providers/Microsoft.Edge/targets/line-7/solutions/hello/versions/hello-1.0.0.1",
            "targetId": "x", "activeState": "active", "deploymentTimestampEpoch": 30,
            "status": {
                "lastModified": "2025-01-24T11:05:01.921Z", "deployed": 1, "status": "Succeeded", "statusDetails": "",
                "targetStatuses": [{"name": "line-7", "status": "OK", "componentStatuses": [{"name": "chart", "status": "Untouched"}]}],
            },
        });
        let target = "/subscriptions/s/resourcegroups/g/providers/microsoft.edge/targets/line-7";
        let report =
            format!("{target} Line-7/hello 1.0.0 success 2025-01-24T11:05:01.921Z \nline-7: OK\nchart: Untouched");
        assert_eq!(check(properties), report);
    }

    #[test]
    fn inactive_or_invalid_instances_are_not_reported() {
        assert_eq!(check(json!({"activeState": "inactive"})), "none");
        assert_eq!(check(json!({"status": null})).split(' ').nth(3), Some("in_progress"));
        assert!(
            check(json!({"status": {"lastModified": "soon"}})).starts_with("properties.status.lastModified: `soon`")
        );
        assert!(check(json!({"status": []})).starts_with("properties: "));
        assert!(
            Target::read(json!({"id": "x", "properties": {}})).unwrap_err().message.contains("not a custom location")
        );
    }
}
