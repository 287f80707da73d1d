//! The annotations that Kalypso uses.

use super::config_map::{MERGE, PRIORITY};
use super::environment::{LONG_NAMES, MISSING_VALUES, NEXT, PRECEDENCE};
use super::gitops_repo::FAN_OUT;
use super::template::{EXTENSION, LITERAL, MISSING_KEY, UNCHECKED};
use super::workload_registration::RELEASE;
use crate::earlier_names::{RENAMED_FROM, RENAMED_TARGETS};
use crate::expiry::Expiry;
use crate::kind::Kind;
use crate::owners::OWNERS;

/// The end of the domain of each annotation, before the slash.
pub const DOMAIN: &str = "kalypso.io";

/// The start of annotations that acknowledge a warning about their object. The code of the warning follows.
pub const ACKNOWLEDGE: &str = "kalypso.io/acknowledge.";

/// On a `DeploymentDescriptor`: the digest of everything that the manifests beside it depend on. `kalypso app` writes it, and renders only targets with another one.
pub const APPLICATION_INPUTS: &str = "application.kalypso.io/inputs";

/// On a `DeploymentDescriptor`: the files that were written with it and their blob ids, as JSON. `kalypso app` writes it, and changes no other file.
pub const APPLICATION_FILES: &str = "application.kalypso.io/files";

/// On a `DeploymentDescriptor`: the version of the application, if the manifests beside it have a version of their own: that of a chart of others. `kalypso app` writes it.
pub const APPLICATION_VERSION: &str = "application.kalypso.io/version";

/// On a `DeploymentDescriptor`: what the version consists of beside its number, such as the tag of the image, as JSON. `kalypso app` writes it, so that new values are rendered with the same.
pub const APPLICATION_RELEASE: &str = "application.kalypso.io/release";

/// On a `DeploymentDescriptor`: the digests that the images of the manifests beside it got, as JSON. `kalypso app` writes it, so that new values are rendered with the same images.
pub const APPLICATION_IMAGES: &str = "application.kalypso.io/images";

/// The content of an acknowledgement: the time until which it is valid, and the reason. None if it has no reason, or an invalid date.
///
/// The value is the reason; or `until <day>: <reason>`.
pub fn acknowledgement(value: &str) -> Option<(Option<Expiry>, &str)> {
    let value = value.trim();
    let dated = value.strip_prefix("until ").filter(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    let (until, reason) = match dated {
        None => (None, value),
        Some(dated) => {
            let (day, reason) = dated.split_once(": ")?;
            (Some(day.trim().parse().ok()?), reason.trim())
        }
    };
    (!reason.is_empty()).then_some((until, reason))
}

/// The keys of all annotations, with the kinds that may have them.
pub const ALL: &[(&str, &[Kind])] = &[
    (PRIORITY, &[Kind::ConfigMap]),
    (MERGE, &[Kind::ConfigMap]),
    (MISSING_VALUES, &[Kind::Environment, Kind::ConfigSchema]),
    (LONG_NAMES, &[Kind::Environment]),
    (PRECEDENCE, &[Kind::Environment, Kind::BaseRepo]),
    (NEXT, &[Kind::Environment]),
    (RELEASE, &[Kind::WorkloadRegistration]),
    (FAN_OUT, &[Kind::GitOpsRepo]),
    (LITERAL, &[Kind::Template]),
    (UNCHECKED, &[Kind::Template]),
    (MISSING_KEY, &[Kind::Template]),
    (EXTENSION, &[Kind::Template]),
    (OWNERS, &[Kind::Environment, Kind::BaseRepo, Kind::WorkloadRegistration]),
    (
        RENAMED_FROM,
        &[Kind::ClusterType, Kind::Cluster, Kind::Workload, Kind::DeploymentTarget, Kind::WorkloadRegistration],
    ),
    (RENAMED_TARGETS, &[Kind::Workload]),
    (APPLICATION_INPUTS, &[Kind::DeploymentDescriptor]),
    (APPLICATION_FILES, &[Kind::DeploymentDescriptor]),
    (APPLICATION_VERSION, &[Kind::DeploymentDescriptor]),
    (APPLICATION_RELEASE, &[Kind::DeploymentDescriptor]),
    (APPLICATION_IMAGES, &[Kind::DeploymentDescriptor]),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, expected: Option<(Option<&str>, &str)>) {
        let found = acknowledgement(value);
        let found = found.map(|(until, reason)| (until.map(|until| until.to_string()), reason));
        assert_eq!(found, expected.map(|(until, reason)| (until.map(str::to_owned), reason)), "{value}");
    }

    #[test]
    fn an_acknowledgement_has_a_reason_and_may_have_an_end() {
        check(" The sale begins in November. ", Some((None, "The sale begins in November.")));
        check("until the sale: none", Some((None, "until the sale: none")));
        check("until 2026-12-01: the sale", Some((Some("2026-12-01"), "the sale")));
        check("until 2026-13-01: the sale", None);
        check("until 2026-12-01", None);
        check("until 2026-12-01: ", None);
        check(" ", None);
    }
}
