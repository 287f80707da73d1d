//! Proofs that environments have proved commits of the main branch, beside the stored state of promotions: the hub, and commit statuses.

use std::collections::BTreeSet;
use std::path::Path;

use delivery::access::RepositoryAccess;
use delivery::enforcement::{self, HubProof, Proof, StatusProof};
use delivery::loaded::Loaded;
use delivery::pull_requests::GitHosts;
use delivery::state_branch;
use model::diagnostic::Diagnostic;

use crate::arguments::{PublicationHub, SourceOptions};
use crate::configuration;
use crate::hub_client::Hub;

/// The sources of proofs that are configured.
pub(crate) struct Proofs {
    hub: Option<Hub>,
    /// The git hosts with the accounts whose commit statuses count. None if there is no such account.
    statuses: Option<(GitHosts, BTreeSet<String>)>,
}

impl Proofs {
    /// The hub of the environment variable, else of the configuration file, and the git hosts of the file. None for a plain folder, which is never published.
    pub(crate) fn configured(source: &SourceOptions) -> anyhow::Result<Self> {
        if source.from.is_some() {
            return Ok(Self { hub: None, statuses: None });
        }
        let config = source.config.as_deref();
        let hub = Hub::for_publications(&PublicationHub::default(), config)?;
        Ok(Self { hub, ..Self::without_hub(config)? })
    }

    /// The git hosts of the configuration file only.
    pub(crate) fn without_hub(config: Option<&Path>) -> anyhow::Result<Self> {
        let accounts = configuration::read_status_accounts(config)?;
        if accounts.is_empty() {
            return Ok(Self { hub: None, statuses: None });
        }
        let hosts = configuration::read_hosts(config)?.for_deliveries();
        Ok(Self { hub: None, statuses: hosts.map(|hosts| (hosts, accounts)) })
    }

    /// Why nothing, or no commit of the main branch, may be published into an environment.
    pub(crate) fn diagnostics(&self, loaded: &Loaded) -> Vec<Diagnostic> {
        let Some(access) = loaded.access.as_deref() else { return Vec::new() };
        let untrusted = state_branch::diagnostics(loaded);
        let gates = || self.with((access, self.hub.as_ref()), |proofs| enforcement::diagnostics(loaded, proofs));
        if untrusted.is_empty() { gates() } else { untrusted }
    }

    /// Calls `work` with the proofs.
    pub(crate) fn with<R>(
        &self,
        (access, hub): (&RepositoryAccess, Option<&Hub>),
        work: impl FnOnce(&[&dyn Proof]) -> R,
    ) -> R {
        let hub = hub.map(|hub| HubProof { access, hub });
        let is_reporter =
            |account: &str| self.statuses.as_ref().is_some_and(|(_, accounts)| accounts.contains(account));
        let hosts = self.statuses.as_ref().map(|(hosts, _)| hosts);
        let statuses = hosts.map(|hosts| StatusProof { access, hosts, is_reporter: &is_reporter });
        let hub = hub.iter().map(|proof| proof as &dyn Proof);
        let proofs: Vec<_> = hub.chain(statuses.iter().map(|proof| proof as &dyn Proof)).collect();
        work(&proofs)
    }
}
