//! The kinds that are listed, and the words for them on the command line.

use model::kind::Kind;
use model::similar;

use crate::Failure;

/// A kind that is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each has the name of its kind")]
pub enum ListedKind {
    Environment,
    Promotion,
    ClusterType,
    Cluster,
    Workload,
    Target,
    Policy,
    Config,
    Schema,
    Template,
    Assignment,
    Pin,
    Mapping,
    Registration,
    BaseRepo,
    GitOpsRepo,
    Value,
}

impl ListedKind {
    /// All kinds, in the order of the help.
    pub const ALL: [Self; 17] = [
        Self::Environment,
        Self::Promotion,
        Self::ClusterType,
        Self::Cluster,
        Self::Workload,
        Self::Target,
        Self::Policy,
        Self::Config,
        Self::Schema,
        Self::Template,
        Self::Assignment,
        Self::Pin,
        Self::Mapping,
        Self::Registration,
        Self::BaseRepo,
        Self::GitOpsRepo,
        Self::Value,
    ];

    /// The word of the command line, and the same in the plural.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Environment => ("environment", "environments"),
            Self::Promotion => ("promotion", "promotions"),
            Self::ClusterType => ("cluster-type", "cluster-types"),
            Self::Cluster => ("cluster", "clusters"),
            Self::Workload => ("workload", "workloads"),
            Self::Target => ("target", "targets"),
            Self::Policy => ("policy", "policies"),
            Self::Config => ("config", "configs"),
            Self::Schema => ("schema", "schemas"),
            Self::Template => ("template", "templates"),
            Self::Assignment => ("assignment", "assignments"),
            Self::Pin => ("pin", "pins"),
            Self::Mapping => ("mapping", "mappings"),
            Self::Registration => ("registration", "registrations"),
            Self::BaseRepo => ("base-repo", "base-repos"),
            Self::GitOpsRepo => ("gitops-repo", "gitops-repos"),
            Self::Value => ("value", "values"),
        }
    }

    /// The kind of the objects. None for assignments and values.
    pub fn of_objects(self) -> Option<Kind> {
        Some(match self {
            Self::Environment => Kind::Environment,
            Self::Promotion => Kind::Promotion,
            Self::ClusterType => Kind::ClusterType,
            Self::Cluster => Kind::Cluster,
            Self::Workload => Kind::Workload,
            Self::Target => Kind::DeploymentTarget,
            Self::Policy => Kind::SchedulingPolicy,
            Self::Config => Kind::ConfigMap,
            Self::Schema => Kind::ConfigSchema,
            Self::Template => Kind::Template,
            Self::Pin => Kind::ReleasePin,
            Self::Mapping => Kind::LabelMapping,
            Self::Registration => Kind::WorkloadRegistration,
            Self::BaseRepo => Kind::BaseRepo,
            Self::GitOpsRepo => Kind::GitOpsRepo,
            Self::Assignment | Self::Value => return None,
        })
    }

    /// The kind with a name on the command line: a word, its plural, or the name of the kind.
    pub fn find(text: &str) -> Option<Self> {
        let plain = |text: &str| text.to_ascii_lowercase().replace(['-', '_'], "");
        let text = plain(text);
        Self::ALL.into_iter().find(|kind| {
            let (one, many) = kind.words();
            let name = plain(kind.of_objects().map_or("", Kind::name));
            let names = match name.strip_suffix('y') {
                Some(stem) => format!("{stem}ies"),
                None => format!("{name}s"),
            };
            [plain(one), plain(many), name, names].contains(&text)
        })
    }

    /// Parses a kind.
    ///
    /// # Errors
    /// An error with the most similar kind, or with all kinds.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let unknown = || {
            let all = Self::ALL.map(|kind| kind.words().1);
            let near = similar::nearest(&text.to_ascii_lowercase(), all);
            let help = near.map_or_else(
                || format!("there are {}", all.join(", ")),
                |near| format!("did you mean `{near}`? `kalypso get --help` lists all kinds"),
            );
            Failure::usage(format!("there is no kind `{text}`")).help(help)
        };
        Self::find(text).ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<ListedKind>) {
        assert_eq!(ListedKind::find(text), expected, "{text}");
    }

    #[test]
    fn kinds_are_named_as_in_kubectl() {
        for kind in ListedKind::ALL {
            let (one, many) = kind.words();
            check(one, Some(kind));
            check(many, Some(kind));
            check(kind.of_objects().map_or(one, Kind::name), Some(kind));
        }
        check("ClusterTypes", Some(ListedKind::ClusterType));
        check("schedulingpolicies", Some(ListedKind::Policy));
        check("configmaps", Some(ListedKind::Config));
        check("deployment-targets", Some(ListedKind::Target));
        check("gitopsrepo", Some(ListedKind::GitOpsRepo));
        check("pods", None);
    }

    #[test]
    fn an_unknown_kind_names_the_nearest() {
        let help = |text| ListedKind::parse(text).unwrap_err().help.unwrap();
        assert!(help("polices").starts_with("did you mean `policies`?"));
        assert!(help("pods").starts_with("there are environments, promotions, cluster-types"));
    }
}
