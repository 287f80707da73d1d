//! Promotions without the service: steps and decisions in this process, on the control plane's repository.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use delivery::access::RepositoryAccess;
use delivery::controller::command::{CommandError, PersonDecision, decide};
use delivery::controller::error::ControllerError;
use delivery::controller::evidence::Evidence;
use delivery::controller::plane::Plane;
use delivery::controller::published::Published;
use delivery::controller::{Memory, StepOutcome, StepRequest, step};
use delivery::hub_publication::Receiver;
use delivery::publish::{Options, Request, publish};
use delivery::pull_requests::GitHosts;
use engine::promotion::command::{Command, CommandKind};
use engine::promotion::state::Revision;
use git::Person;
use git::publish::{AUTHOR_EMAIL, AUTHOR_NAME};
use hub_api::evidence::{PlaceEvidence, PromotionEvents};
use hub_api::promotions::{PromotionAction, PromotionCommand, PromotionReceipt};
use model::name::EnvironmentName;
use model::progress::Progress;
use service::{ConfiguredChecks, teams};

use crate::arguments::HubConnection;
use crate::configuration;
use crate::exit::Failure;
use crate::hub_client::Hub;

/// The number of times that a step publishes what it moved.
const ROUNDS_MAX: usize = 10;

/// A control plane whose promotions are moved by this process.
pub(super) struct LocalController {
    pub(super) access: Arc<RepositoryAccess>,
    hosts: Option<GitHosts>,
    sources: checks::EvidenceSources,
    hub: Option<Hub>,
    environments: Vec<String>,
}

impl LocalController {
    /// Reads the configuration, as the service does.
    pub(super) fn open(connection: &HubConnection) -> anyhow::Result<Self> {
        let config = connection.config.as_deref();
        let read = configuration::read_service(config, None)?;
        let access = Arc::new(RepositoryAccess::new(read.control_plane, Progress::default()));
        let hub = Hub::configured(connection)?;
        let environments = configuration::read_environments(config)?;
        Ok(Self { access, hosts: read.hosts.for_deliveries(), sources: read.evidence, hub, environments })
    }

    /// The environments in the order of promotion, or the named one.
    pub(super) fn names(&self, named: Option<&str>) -> anyhow::Result<Vec<EnvironmentName>> {
        let plane = Plane::read(&self.access).map_err(|error| Failure::outside(error.to_string()))?;
        let Some(named) = named else { return Ok(plane.graph.order().to_vec()) };
        let found = plane.graph.order().iter().find(|name| name.as_str() == named);
        let found = found.ok_or_else(|| Failure::refused(format!("there is no environment `{named}`")))?;
        Ok(vec![found.clone()])
    }

    /// Publishes an environment and makes steps, until nothing is to be published again.
    pub(super) fn advance(&self, environment: &EnvironmentName) -> anyhow::Result<StepOutcome> {
        let mut memory = Memory::default();
        let mut outcome = self.published_step(environment, &mut memory)?;
        for _ in 1..ROUNDS_MAX {
            if !outcome.must_publish {
                break;
            }
            let warnings = std::mem::take(&mut outcome.warnings);
            outcome = self.published_step(environment, &mut memory)?;
            outcome.warnings.extend(warnings);
        }
        outcome.warnings.sort_unstable();
        outcome.warnings.dedup();
        Ok(outcome)
    }

    fn published_step(&self, environment: &EnvironmentName, memory: &mut Memory) -> anyhow::Result<StepOutcome> {
        let hub = self.hub.as_ref().map(|hub| Receiver { hub, environments: &self.environments });
        let options = Options { hosts: self.hosts.as_ref(), ..Options::default() };
        let request = Request { environment, gitops_repo: None, options, hub, is_hub_only: false };
        let output = publish(&self.access, &request, &|_, _| {});
        let output = output.map_err(|error| Failure::outside(error.to_string()))?;
        let published = Published::of(&output);
        let request = StepRequest { published: Some(&published), output: Some(&output), ..self.request(environment) };
        self.step(&request, memory)
    }

    /// Where changes into an environment stand. Nothing is written.
    pub(super) fn look(&self, environment: &EnvironmentName) -> anyhow::Result<StepOutcome> {
        let request = StepRequest { is_read_only: true, ..self.request(environment) };
        self.step(&request, &mut Memory::default())
    }

    fn request<'a>(&'a self, environment: &'a EnvironmentName) -> StepRequest<'a> {
        const NO_TEAMS: &BTreeMap<Arc<str>, BTreeSet<Arc<str>>> = &BTreeMap::new();
        StepRequest {
            environment,
            hosts: self.hosts.as_ref(),
            evidence: Evidence { hub: None, checks: None, teams: NO_TEAMS },
            history: self.hub.as_ref().map(|hub| hub as &dyn PromotionEvents),
            lease: None,
            published: None,
            output: None,
            is_read_only: false,
            now: jiff::Timestamp::now(),
        }
    }

    fn step(&self, request: &StepRequest<'_>, memory: &mut Memory) -> anyhow::Result<StepOutcome> {
        let teams = teams(&self.sources);
        let checks = ConfiguredChecks(&self.sources.checks);
        let hub = self.hub.as_ref().map(|hub| hub as &dyn PlaceEvidence);
        let evidence = Evidence { hub, checks: Some(&checks), teams: &teams };
        Ok(step(&self.access, &StepRequest { evidence, ..*request }, memory).map_err(failure)?)
    }

    /// Stores a decision on the branch with the states, as the user of git.
    pub(super) fn decide(&self, environment: &str, command: &PromotionCommand) -> anyhow::Result<PromotionReceipt> {
        let name = self.names(Some(environment))?.remove(0);
        let author = author(&self.access);
        let by = if author.email == AUTHOR_EMAIL { author.name.clone() } else { author.to_string() };
        let reason = command.reason.as_deref().unwrap_or_default().into();
        let decided = Command { kind: kind(command)?, by: by.into(), at: jiff::Timestamp::now(), reason };
        let decision = PersonDecision {
            environment: &name,
            subject: command.subject.as_deref(),
            command: &decided,
            revision: command.revision.as_deref().filter(|_| command.command != PromotionAction::Promote),
            author: &author,
            lease: None,
        };
        let receipt = decide(&self.access, &decision).map_err(refusal)?;
        Ok(PromotionReceipt {
            environment: environment.to_owned(),
            subject: command.subject.clone(),
            revision: receipt.revision.map(|revision| revision.0.to_string()),
            text: receipt.text,
        })
    }
}

/// The person who decides: the user of git, or Kalypso if git knows none.
pub(in crate::commands) fn author(access: &RepositoryAccess) -> Person {
    let here = std::env::current_dir().unwrap_or_default();
    let ours = || Person { name: AUTHOR_NAME.to_owned(), email: AUTHOR_EMAIL.to_owned() };
    git::checkout::identity(&access.settings.git, &here).unwrap_or_else(ours)
}

fn kind(command: &PromotionCommand) -> Result<CommandKind, Failure> {
    let incomplete = || Failure::usage("the command is not complete");
    Ok(match command.command {
        PromotionAction::Hold => CommandKind::Hold,
        PromotionAction::Resume => CommandKind::Resume,
        PromotionAction::Abort => CommandKind::Abort,
        PromotionAction::Retry => CommandKind::Retry,
        PromotionAction::Skip => CommandKind::Skip { gate: command.gate.as_deref().ok_or_else(incomplete)?.into() },
        PromotionAction::Approve => {
            let message = "an approval needs the service, which knows who you are";
            return Err(Failure::refused(message).help(
                "name its hub with --hub or KALYPSO_HUB_URL, or approve the pull request of the promotion on the git host",
            ));
        }
        PromotionAction::Rollback => CommandKind::Rollback { to: command.to.as_deref().map(|to| Revision(to.into())) },
        PromotionAction::Promote => {
            CommandKind::Request { revision: Revision(command.revision.as_deref().ok_or_else(incomplete)?.into()) }
        }
    })
}

fn failure(error: ControllerError) -> Failure {
    match error {
        ControllerError::UnknownEnvironment(_) => Failure::refused(error.to_string()),
        _ => Failure::outside(error.to_string()),
    }
}

/// The failure for a decision that is not stored.
pub(in crate::commands) fn refusal(error: CommandError) -> Failure {
    match error {
        CommandError::Repository(_) | CommandError::Store(_) | CommandError::LostRaces(_) => {
            Failure::outside(error.to_string())
        }
        _ => Failure::refused(error.to_string()),
    }
}
