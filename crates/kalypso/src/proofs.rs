//! The hub as a proof that environments have proved commits of the main branch.

use std::path::Path;

use delivery::enforcement::{self, HubProof, Proof};
use delivery::loaded::Loaded;
use hub_api::client::ClientError;
use hub_api::evidence::PlaceEvidence;
use hub_api::places::PlaceState;
use model::diagnostic::Diagnostic;

use crate::arguments::PublicationHub;
use crate::hub_client::Hub;

/// The hub that is configured. None: only the stored state of promotions proves commits.
pub(crate) struct Proofs(Option<Hub>);

impl Proofs {
    /// The hub of the environment variable, else of the configuration file.
    pub(crate) fn configured(config: Option<&Path>) -> anyhow::Result<Self> {
        Ok(Self(Hub::for_publications(&PublicationHub::default(), config)?))
    }

    /// Why commits of the main branch may not be published into an environment.
    pub(crate) fn diagnostics(&self, loaded: &Loaded) -> Vec<Diagnostic> {
        let states = self.0.as_ref().map(HubStates);
        let proof = states.as_ref().zip(loaded.access.as_deref()).map(|(hub, access)| HubProof { access, hub });
        let proofs: Vec<&dyn Proof> = proof.iter().map(|proof| proof as &dyn Proof).collect();
        enforcement::diagnostics(loaded, &proofs)
    }
}

/// The states of places in a hub.
pub(crate) struct HubStates<'a>(pub(crate) &'a Hub);

impl PlaceEvidence for HubStates<'_> {
    fn place_states(&self, environment: &str, workload: Option<&str>) -> Result<Vec<PlaceState>, ClientError> {
        self.0.place_states(environment, workload)
    }
}
