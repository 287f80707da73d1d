//! Counts of reconcilers by the values of one or two dimensions.

use std::fmt;
use std::str::FromStr;

use model::rollout::Counts;
use serde::{Deserialize, Serialize};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{IntoParams, ToSchema};

use crate::timestamp::Timestamp;

/// What reconcilers are counted by. The text is the name, such as `environment`; of a label `hostLabel:KEY` or `targetLabel:KEY`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum CountDimension {
    /// The environment of the folder.
    Environment,
    /// The workspace of the folder's targets.
    Workspace,
    /// The workload of the folder's targets. Workloads of several applications with one name are one value, as in filters.
    Workload,
    /// The folder's deployment targets, by their own name. Targets of several workloads with one name are one value, as in filters.
    Target,
    /// The cluster type of the folder. Folders with the manifests of workloads have none.
    ClusterType,
    /// The version that the reconciler has, as far as the desired state names it.
    Version,
    /// The version of the configuration that the reconciler has. Only folders of the platform have one.
    ConfigVersion,
    /// The rollout state.
    State,
    /// The host.
    Host,
    /// The value of a label of the host.
    HostLabel(String),
    /// The value of a label of the folder's targets.
    TargetLabel(String),
}

/// A text that is the name of no dimension.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no dimension: there are {known}, hostLabel:KEY and targetLabel:KEY", known = known())]
pub struct UnknownDimension(String);

/// What precedes the key of a label of hosts.
const HOST_LABEL: &str = "hostLabel:";
/// What precedes the key of a label of targets.
const TARGET_LABEL: &str = "targetLabel:";

impl CountDimension {
    /// The dimensions without a key.
    pub const NAMED: [Self; 9] = [
        Self::Environment,
        Self::Workspace,
        Self::Workload,
        Self::Target,
        Self::ClusterType,
        Self::Version,
        Self::ConfigVersion,
        Self::State,
        Self::Host,
    ];

    /// The name, without a key.
    fn name(&self) -> &'static str {
        match self {
            Self::Environment => "environment",
            Self::Workspace => "workspace",
            Self::Workload => "workload",
            Self::Target => "target",
            Self::ClusterType => "clusterType",
            Self::Version => "version",
            Self::ConfigVersion => "configVersion",
            Self::State => "state",
            Self::Host => "host",
            Self::HostLabel(_) => HOST_LABEL,
            Self::TargetLabel(_) => TARGET_LABEL,
        }
    }
}

fn known() -> String {
    CountDimension::NAMED.iter().map(CountDimension::name).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for CountDimension {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())?;
        match self {
            Self::HostLabel(key) | Self::TargetLabel(key) => formatter.write_str(key),
            _ => Ok(()),
        }
    }
}

impl FromStr for CountDimension {
    type Err = UnknownDimension;

    fn from_str(text: &str) -> Result<Self, UnknownDimension> {
        let key = |prefix: &str| text.strip_prefix(prefix).filter(|key| !key.is_empty()).map(str::to_owned);
        let named = || Self::NAMED.into_iter().find(|dimension| dimension.name() == text);
        let of_label = key(HOST_LABEL).map(Self::HostLabel).or_else(|| key(TARGET_LABEL).map(Self::TargetLabel));
        of_label.or_else(named).ok_or_else(|| UnknownDimension(text.to_owned()))
    }
}

impl From<CountDimension> for String {
    fn from(dimension: CountDimension) -> Self {
        dimension.to_string()
    }
}

impl TryFrom<String> for CountDimension {
    type Error = UnknownDimension;

    fn try_from(text: String) -> Result<Self, UnknownDimension> {
        text.parse()
    }
}

impl utoipa::PartialSchema for CountDimension {
    fn schema() -> RefOr<Schema> {
        let description = format!("One of {}, `hostLabel:KEY` and `targetLabel:KEY`.", known());
        ObjectBuilder::new().schema_type(Type::String).description(Some(description)).into()
    }
}

impl ToSchema for CountDimension {}

/// What is counted by what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct CountQuery {
    /// The dimension of the rows: `environment`, `workspace`, `workload`, `target`, `clusterType`, `version`, `configVersion`, `state`, `host`,
    /// `hostLabel:KEY` or `targetLabel:KEY`.
    #[param(inline)]
    pub rows: CountDimension,
    /// The dimension of the columns. None: there are only rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(inline)]
    pub columns: Option<CountDimension>,
    /// Count the states at this timestamp (RFC 3339). Without it, the answer is the current state. For an earlier time, names and labels
    /// are those of now. At most 5000 reconcilers are examined one by one; of these, `silent` is not known then. The counts of more are those that the hub recorded
    /// (`recordedOn`); these are not known by hosts and their labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The order of rows and columns. Default: `worst`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(inline)]
    pub sort: Option<CountOrder>,
    /// The maximum number of rows. Default 40, at most 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1, maximum = 100, default = 40)]
    pub row_limit: Option<usize>,
    /// The maximum number of columns. Default 40, at most 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1, maximum = 100, default = 40)]
    pub column_limit: Option<usize>,
}

impl CountQuery {
    /// The counts by one dimension, now.
    pub fn by(rows: CountDimension) -> Self {
        Self { rows, columns: None, at: None, sort: None, row_limit: None, column_limit: None }
    }
}

/// The order of the groups of a dimension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum CountOrder {
    /// The most failed reconcilers first, then the most silent ones, then the most that are not done for other reasons; then by name.
    #[default]
    Worst,
    /// By name, and the group without a value last.
    Name,
}

/// The number of reconcilers in each state, by the values of one or two dimensions.
///
/// The environment, cluster type and targets are those of the folder that a reconciler applies. A reconciler counts once in each group that its folder
/// belongs to: if its folder is for several deployment targets, it counts in the group of each of them, but once in a group that several of its targets
/// have in common. So the rows, the columns, and the cells of a row, can add up to more than `total`. The folder of a whole cluster type or cluster is for no
/// single target: its reconcilers are in the group without a value. Groups without reconcilers are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CountTable {
    /// The groups of the rows.
    pub rows: Vec<CountGroup>,
    /// The groups of the columns. Empty without the parameter `columns`.
    pub columns: Vec<CountGroup>,
    /// The counts of rows and columns together, by row and then by column. Cells without reconcilers are left out.
    pub cells: Vec<CountCell>,
    /// The states of all selected reconcilers. Each counts once.
    pub total: Counts,
    /// The number of rows, with those that are left out because of `rowLimit`.
    pub row_count: usize,
    /// The number of columns, with those that are left out because of `columnLimit`.
    pub column_count: usize,
    /// The sum of the rows that are left out.
    pub other_rows: Counts,
    /// The sum of the columns that are left out.
    pub other_columns: Counts,
    /// The counts are those that the hub recorded at this time. None: they are exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_on: Option<Timestamp>,
}

/// The reconcilers with a value of a dimension.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CountGroup {
    /// The value. Null: those without a value, such as hosts without the label.
    pub value: Option<String>,
    /// The states of its reconcilers.
    pub counts: Counts,
}

/// The reconcilers in a row and a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CountCell {
    /// The position of the row in `rows`, from 0.
    pub row: usize,
    /// The position of the column in `columns`, from 0.
    pub column: usize,
    /// The states of its reconcilers.
    pub counts: Counts,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<CountDimension>) {
        let parsed = text.parse::<CountDimension>();
        assert_eq!(parsed.as_ref().map(ToString::to_string).ok().as_deref(), expected.as_ref().map(|_| text), "{text}");
        assert_eq!(parsed.ok(), expected, "{text}");
    }

    #[test]
    fn dimensions_round_trip() {
        for dimension in CountDimension::NAMED {
            check(&dimension.to_string(), Some(dimension.clone()));
        }
        check(
            "hostLabel:topology.kubernetes.io/region",
            Some(CountDimension::HostLabel("topology.kubernetes.io/region".into())),
        );
        check("targetLabel:ring", Some(CountDimension::TargetLabel("ring".into())));
        for wrong in ["", "hostLabel", "hostLabel:", "Environment", "label:ring"] {
            check(wrong, None);
        }
        let error = "region".parse::<CountDimension>().unwrap_err().to_string();
        assert!(error.contains("`region` is no dimension: there are environment, ") && error.contains("hostLabel:KEY"));
    }
}
