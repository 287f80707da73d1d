//! The evidence of a step: the state of the fleet from the hub, and the results of checks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::promotion::evidence::CheckResult;
use engine::promotion::gates::Teams;
use hub_api::client::ClientError;
use hub_api::evidence::PlaceEvidence;
use hub_api::places::PlaceState as HubPlace;
use model::object::promotion::{Check, Gate};

/// The sources of evidence.
#[derive(Clone, Copy)]
pub struct Evidence<'a> {
    /// The hub. None: the state of the fleet is not known, so no gate that measures it holds.
    pub hub: Option<&'a dyn PlaceEvidence>,
    /// The accounts whose commit statuses are the evidence where there is no hub.
    pub status_accounts: &'a BTreeSet<String>,
    /// The results of checks. None: no check has a result.
    pub checks: Option<&'a dyn CheckResults>,
    /// The accounts of the members of each team.
    pub teams: &'a Teams,
}

/// What a check is run for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckRequest<'a> {
    /// The environment that the change moves into.
    pub environment: &'a str,
    /// The workload. None: a commit of the platform.
    pub workload: Option<&'a str>,
    /// The revision that moves.
    pub revision: &'a str,
    /// The ring. None: the whole environment.
    pub ring: Option<&'a str>,
}

/// The results of checks. A check that has no recent result runs now, for at most its time limit.
pub trait CheckResults: Send + Sync {
    /// The newest result of a check. None: there is none.
    fn result(&self, check: &Check, subject: CheckRequest<'_>) -> Option<CheckResult>;
}

impl Evidence<'_> {
    /// The rows of the hub about an environment, or about the folders of a workload in it.
    ///
    /// # Errors
    /// The reason in words.
    pub fn places(&self, environment: &str, workload: Option<&str>) -> Result<Vec<HubPlace>, Arc<str>> {
        let Some(hub) = self.hub else {
            return Err("no hub is configured, so no reports of clusters are available".into());
        };
        match hub.place_states(environment, workload) {
            // Nothing of it was published yet.
            Err(ClientError::Refused { status: 404, .. }) => Ok(Vec::new()),
            found => found.map_err(|error| error.to_string().into()),
        }
    }

    /// The last results of the checks of a list of gates, by the name of the gate.
    pub fn checks(&self, gates: &[Gate], subject: CheckRequest<'_>) -> BTreeMap<Arc<str>, CheckResult> {
        let Some(results) = self.checks else { return BTreeMap::new() };
        let result = |gate: &Gate| Some((Arc::clone(&gate.name), results.result(gate.kind.check()?, subject)?));
        gates.iter().filter_map(result).collect()
    }
}
