//! Steps of promotions in this process: an environment is published, and then it is decided what moves, until nothing is to be published again.

use std::collections::BTreeSet;
use std::sync::Arc;

use delivery::access::RepositoryAccess;
use delivery::promotion::controller::error::ControllerError;
use delivery::promotion::controller::evidence::Evidence;
use delivery::promotion::controller::published::PublicationFacts;
use delivery::promotion::controller::{Memory, StepOutcome, StepRequest, step};
use delivery::publication::publish::{End, Outcome};
use delivery::pull_requests::GitHosts;
use delivery::states::promoted_commit::PromotedCommitError;
use engine::promotion::gates::Teams;
use git::RepositoryError;
use hub_api::evidence::{PlaceEvidence, PromotionEvents};
use hub_api::filter::Filter;
use hub_api::places::PlacePage;
use model::name::EnvironmentName;
use service::{ConfiguredChecks, teams};

use crate::exit::Failure;
use crate::hub_client::Hub;

/// The number of times that a step publishes what it moved.
const ROUNDS_MAX: usize = 10;

/// What steps use: the control plane, and the sources of evidence.
#[derive(Clone, Copy)]
pub(crate) struct Steps<'a> {
    pub(crate) access: &'a Arc<RepositoryAccess>,
    pub(crate) hosts: Option<&'a GitHosts>,
    pub(crate) sources: &'a checks::EvidenceSources,
    pub(crate) hub: Option<&'a Hub>,
    /// Whether nothing is decided if a configured hub does not answer. Otherwise, the gates that measure the fleet wait.
    pub(crate) needs_hub: bool,
    /// Whether a step may be the first one where only annotations order the environments. Where there are `Promotion` objects, it may.
    pub(crate) may_begin_by_annotations: bool,
}

/// An environment that was published with its steps.
pub(crate) struct SteppedPublication {
    /// The last publication.
    pub(crate) output: Outcome,
    /// The step after it. None: the environment is in no promotion. An error: nothing was decided.
    pub(crate) step: anyhow::Result<Option<StepOutcome>>,
    /// What could not be done beside the earlier steps.
    pub(crate) warnings: Vec<String>,
}

impl<'a> Steps<'a> {
    /// Publishes an environment and makes steps, until nothing is to be published again. The publication comes first: a step needs to know what is published.
    pub(crate) fn publish(
        self,
        environment: &EnvironmentName,
        publish: &dyn Fn() -> anyhow::Result<Outcome>,
    ) -> anyhow::Result<SteppedPublication> {
        let (mut memory, mut warnings) = (Memory::default(), Vec::new());
        let mut output = publish()?;
        if !self.is_for(&output) {
            return Ok(SteppedPublication { output, step: Ok(None), warnings });
        }
        for _ in 1..ROUNDS_MAX {
            match self.after(&output, environment, &mut memory) {
                Ok(outcome) if outcome.must_publish => {
                    warnings.extend(outcome.warnings);
                    output = publish()?;
                }
                step => return Ok(SteppedPublication { output, step: step.map(Some), warnings }),
            }
        }
        let step = self.after(&output, environment, &mut memory).map(Some);
        Ok(SteppedPublication { output, step, warnings })
    }

    /// Whether a step is made after a publication. If the environment is not known, the step says why.
    fn is_for(self, output: &Outcome) -> bool {
        let loaded = match &output.end {
            End::Incomplete(loaded) => Some(loaded),
            End::Complete | End::LostRaces => output.places.last().map(|place| &place.loaded),
        };
        let Some(loaded) = loaded else { return true };
        let may_begin = self.may_begin_by_annotations || loaded.graph.is_declared() || loaded.admission.is_some();
        loaded.is_in_promotion() && may_begin
    }

    /// Makes a step after a publication.
    fn after(
        self,
        output: &Outcome,
        environment: &EnvironmentName,
        memory: &mut Memory,
    ) -> anyhow::Result<StepOutcome> {
        self.check_hub(environment)?;
        let published = PublicationFacts::from_outcome(output);
        let request = StepRequest { published: Some(&published), output: Some(output), ..self.request(environment) };
        self.step(&request, memory)
    }

    /// Checks that the hub answers, if it must.
    fn check_hub(self, environment: &EnvironmentName) -> anyhow::Result<()> {
        let Some(hub) = self.hub.filter(|_| self.needs_hub) else { return Ok(()) };
        let filter = Filter { environment: Some(environment.to_string()), ..Filter::default() };
        let page = PlacePage { limit: Some(1), ..PlacePage::default() };
        hub.find(hub.client.place_states(&filter, &page))?;
        Ok(())
    }

    /// A request for a step, without a publication.
    pub(crate) fn request<'r>(self, environment: &'r EnvironmentName) -> StepRequest<'r>
    where
        'a: 'r,
    {
        const NO_ACCOUNTS: &BTreeSet<String> = &BTreeSet::new();
        const NO_TEAMS: &Teams = &Teams::new();
        StepRequest {
            environment,
            hosts: self.hosts,
            evidence: Evidence { hub: None, status_accounts: NO_ACCOUNTS, checks: None, teams: NO_TEAMS },
            history: self.hub.map(|hub| hub as &dyn PromotionEvents),
            lease: None,
            published: None,
            output: None,
            is_read_only: false,
            now: jiff::Timestamp::now(),
        }
    }

    /// Makes a step with the evidence.
    pub(crate) fn step(self, request: &StepRequest<'_>, memory: &mut Memory) -> anyhow::Result<StepOutcome> {
        let teams = teams(self.sources);
        let checks = ConfiguredChecks(&self.sources.checks);
        let hub = self.hub.map(|hub| hub as &dyn PlaceEvidence);
        let status_accounts = &self.sources.accounts.status_reporters;
        let evidence = Evidence { hub, status_accounts, checks: Some(&checks), teams: &teams };
        Ok(step(self.access, &StepRequest { evidence, ..*request }, memory).map_err(failure)?)
    }
}

/// The failure of a step.
fn failure(error: ControllerError) -> Failure {
    use RepositoryError::{Empty, NoRevision};
    match error {
        ControllerError::Store(store) | ControllerError::Environment(PromotedCommitError::States(store))
            if store.needs_person() =>
        {
            Failure::refused(store.to_string())
        }
        ControllerError::UnknownEnvironment(_)
        | ControllerError::Repository(NoRevision { .. } | Empty { .. })
        | ControllerError::Environment(
            PromotedCommitError::Repository(NoRevision { .. } | Empty { .. }) | PromotedCommitError::NoCommit { .. },
        ) => Failure::refused(error.to_string()),
        _ => Failure::outside(error.to_string()),
    }
}
