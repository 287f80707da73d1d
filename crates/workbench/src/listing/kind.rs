//! The kinds that are listed, and the words for them on the command line.

use model::kind::Kind;
use model::similar;

use crate::Failure;

macro_rules! listed_kinds {
    ($($variant:ident: $one:literal $many:literal $kind:expr,)+) => {
        /// A kind that is listed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum ListedKind {
            $(#[doc = concat!("The kind that the command line calls `", $one, "`.")] $variant,)+
        }

        impl ListedKind {
            /// All kinds, in the order of the help.
            pub const ALL: [Self; [$($one),+].len()] = [$(Self::$variant),+];

            /// The word of the command line, and the same in the plural.
            pub fn words(self) -> (&'static str, &'static str) {
                match self {
                    $(Self::$variant => ($one, $many),)+
                }
            }

            /// The kind of the objects. None for assignments and values.
            pub fn of_objects(self) -> Option<Kind> {
                match self {
                    $(Self::$variant => $kind,)+
                }
            }
        }
    };
}

// In the order of the help: the words of the command line, and the kind of the objects.
listed_kinds! {
    Environment: "environment" "environments" Some(Kind::Environment),
    Promotion: "promotion" "promotions" Some(Kind::Promotion),
    ClusterType: "cluster-type" "cluster-types" Some(Kind::ClusterType),
    Cluster: "cluster" "clusters" Some(Kind::Cluster),
    Workload: "workload" "workloads" Some(Kind::Workload),
    Target: "target" "targets" Some(Kind::DeploymentTarget),
    Policy: "policy" "policies" Some(Kind::SchedulingPolicy),
    Config: "config" "configs" Some(Kind::ConfigMap),
    Schema: "schema" "schemas" Some(Kind::ConfigSchema),
    Template: "template" "templates" Some(Kind::Template),
    Assignment: "assignment" "assignments" None,
    Pin: "pin" "pins" Some(Kind::ReleasePin),
    Mapping: "mapping" "mappings" Some(Kind::LabelMapping),
    Registration: "registration" "registrations" Some(Kind::WorkloadRegistration),
    BaseRepo: "base-repo" "base-repos" Some(Kind::BaseRepo),
    GitOpsRepo: "gitops-repo" "gitops-repos" Some(Kind::GitOpsRepo),
    Value: "value" "values" None,
}

impl ListedKind {
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
