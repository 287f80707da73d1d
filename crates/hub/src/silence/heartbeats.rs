//! Heartbeats that the configuration requires (`[[hub.heartbeat]]`), for reconcilers that announce none. Argo CD, for example, announces none.

use std::time::Duration;

use hub_api::limits::{HEARTBEAT_MAX, HEARTBEAT_MIN};
use hub_api::timestamp;
use model::selector::LabelSelector;
use serde::Deserialize;

use crate::limits::HEARTBEATS_MAX;
use crate::questions::HostKind;
use crate::store::Parameters;

/// A required heartbeat as it is configured.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HeartbeatOptions {
    /// The longest time between two reports, such as `2h`.
    pub every: String,
    /// Only reconcilers of this type.
    pub reconciler_type: Option<String>,
    /// Only reconcilers that apply a folder of this environment.
    pub environment: Option<String>,
    /// Only hosts of this cluster type.
    pub cluster_type: Option<String>,
    /// Only hosts with these labels.
    pub selector: Option<String>,
}

/// A required heartbeat: the selected reconcilers, and the time within which each of them must report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// The longest time between two reports.
    pub every: Duration,
    /// The type of the reconcilers; none for all types.
    pub reconciler_type: Option<String>,
    /// The environment of the folder that they apply; none for all environments.
    pub environment: Option<String>,
    /// The cluster type of their hosts; none for all cluster types.
    pub cluster_type: Option<String>,
    /// The labels that their hosts must have.
    pub labels: LabelSelector,
}

/// A required heartbeat is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("hub.heartbeat number {number}: {field}: {message}")]
pub struct HeartbeatError {
    number: usize,
    field: &'static str,
    message: String,
}

impl HeartbeatOptions {
    /// Parses required heartbeats.
    ///
    /// # Errors
    /// A duration or a selector is not valid.
    pub fn resolve_all(options: Vec<Self>) -> Result<Vec<Heartbeat>, HeartbeatError> {
        if options.len() > HEARTBEATS_MAX {
            let message = format!("there are more than {HEARTBEATS_MAX}");
            return Err(HeartbeatError { number: options.len(), field: "every", message });
        }
        options.into_iter().enumerate().map(|(index, options)| options.resolve(index + 1)).collect()
    }

    fn resolve(self, number: usize) -> Result<Heartbeat, HeartbeatError> {
        let wrong = |field, message: String| HeartbeatError { number, field, message };
        let every = timestamp::length(&self.every).filter(|every| (HEARTBEAT_MIN..=HEARTBEAT_MAX).contains(every));
        let every = every.ok_or_else(|| {
            wrong("every", format!("`{}` is no length of time from 10s to 31d, such as 30m or 2h", self.every))
        })?;
        let labels = LabelSelector::parse(self.selector.as_deref().unwrap_or_default());
        let labels = labels.map_err(|error| wrong("selector", error.to_string()))?;
        let Self { reconciler_type, environment, cluster_type, .. } = self;
        Ok(Heartbeat { every, reconciler_type, environment, cluster_type, labels })
    }
}

impl Heartbeat {
    /// An SQL condition that selects the reconcilers of this heartbeat. `reconciler_id` is the column with their ids.
    pub(crate) fn condition(&self, reconciler_id: &str, parameters: &mut Parameters) -> String {
        let mut conditions = vec![format!("b.id = {reconciler_id} and b.retired_on is null and bh.retired_on is null")];
        conditions.extend(self.reconciler_type.as_deref().map(|name| parameters.equals("b.reconciler_type", name)));
        conditions.extend(self.environment.as_deref().map(|name| parameters.equals("be.name", name)));
        let hosts = HostKind {
            labels: self.labels.clone(),
            cluster_types: self.cluster_type.iter().cloned().collect(),
            environment_id: None,
        };
        conditions.extend(hosts.condition("b.host_id", parameters));
        format!(
            "exists (select 1 from reconciler b join host bh on bh.id = b.host_id left join place bp on bp.id = b.place_id \
             left join place_group bg on bg.id = bp.place_group_id left join environment be on be.id = bg.environment_id where {})",
            conditions.join(" and ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(every: &str, selector: Option<&str>) -> Result<Heartbeat, String> {
        let options = HeartbeatOptions {
            every: every.into(),
            selector: selector.map(str::to_owned),
            ..HeartbeatOptions::default()
        };
        HeartbeatOptions::resolve_all(vec![options]).map(|mut all| all.remove(0)).map_err(|error| error.to_string())
    }

    #[test]
    fn heartbeat_is_a_bounded_duration() {
        assert_eq!(check("2h", Some("site=berlin")).unwrap().every, Duration::from_hours(2));
        for wrong in ["", "2", "5s", "32d", "soon"] {
            let error = check(wrong, None).unwrap_err();
            assert!(error.starts_with("hub.heartbeat number 1: every: "), "{error}");
        }
        assert!(check("2h", Some("a in b")).unwrap_err().starts_with("hub.heartbeat number 1: selector: "));
    }
}
