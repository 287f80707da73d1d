//! Clients whose token is replaced, with the double of each kind.

#![allow(clippy::unwrap_used, reason = "a test may")]

use model::secret::SecretSource;

use super::HostDouble;
use crate::credential::Credential;
use crate::error::HostError;
use crate::hosts::connect;
use crate::hosts::memory::{MemoryBranches, MemoryHost};
use crate::kind::HostKind;
use crate::repository::HostRepository;
use crate::settings::HostSettings;

/// The account for tokens that are used one after the other. The host accepts only `new`.
fn account(kind: HostKind, tokens: &[&str]) -> Result<String, HostError> {
    let host = MemoryHost::new(kind);
    let path = if kind == HostKind::AzureDevOps { "acme/fleet/gitops" } else { "acme/gitops" };
    host.add_repository(path, Box::new(MemoryBranches::new()));
    let double = HostDouble::start(&host).unwrap();
    double.accept_token("new", "kalypso");
    let credential = Credential::Token(SecretSource::sequence(tokens));
    let client = connect(&HostSettings::new(kind, &double.url(), credential)).unwrap();
    client.account(&HostRepository::from_path(&path.split('/').collect::<Vec<_>>()))
}

#[test]
fn a_replaced_token_is_used_at_once() {
    for kind in [HostKind::GitHub, HostKind::GitLab, HostKind::Gitea, HostKind::AzureDevOps] {
        // The first use is the check of its characters. GitHub's client checks before each call.
        let refused = account(kind, &["old"]).unwrap_err();
        assert!(matches!(refused, HostError::Refused { status: 401, .. }), "{kind}: {refused}");
        for uses in [["old", "old", "new"].as_slice(), &["old", "new"]] {
            assert_eq!(account(kind, uses).unwrap(), "kalypso", "{kind}");
        }
    }
}
