//! Promotions without the service: steps and decisions in this process, on the control plane's repository.

use std::sync::Arc;

use delivery::access::RepositoryAccess;
use delivery::promotion::controller::command::{DecisionCommand, decide};
use delivery::promotion::controller::plane::Plane;
use delivery::promotion::controller::published::PublicationFacts;
use delivery::promotion::controller::restoration::{Restoration, RestorationError, RestoredStates, restore};
use delivery::promotion::controller::{Memory, StepOutcome, StepRequest, status_of};
use delivery::publication::hub_publication::HubReceiver;
use delivery::publication::publication_preview::preview;
use delivery::publication::publish::{DestinationFailure, End, Outcome, PublishOptions, Request, publish};
use delivery::pull_requests::GitHosts;
use engine::promotion::command::{Command, CommandKind};
use engine::promotion::gates::Teams;
use engine::promotion::state::Revision;
use hub_api::promotions::{PromotionAction, PromotionCommand, PromotionReceipt, PromotionStatus};
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::progress::Progress;
use workbench::FailureKind;
use workbench::branch::decider;
use workbench::source::unknown_environment;

use crate::arguments::{HubConnection, RolloutRestore};
use crate::configuration::Settings;
use crate::exit::{Exit, Failure, destination_failure, refusal};
use crate::hub_client::Hub;
use crate::promotion_steps::{SteppedPublication, Steps};

/// A control plane whose promotions are moved by this process.
pub(super) struct LocalController {
    pub(super) access: Arc<RepositoryAccess>,
    hosts: Option<GitHosts>,
    sources: checks::EvidenceSources,
    hub: Option<Hub>,
    environments: Vec<String>,
}

/// An environment of the control plane.
pub(super) struct LocalEnvironment {
    pub(super) name: EnvironmentName,
    /// Whether it is in a promotion.
    is_part: bool,
    /// Its status, before anything is evaluated.
    status: PromotionStatus,
}

/// The result of a step of one environment.
pub(super) struct LocalStep {
    /// Where the changes into it stand. None: it is in no promotion.
    pub(super) status: Option<PromotionStatus>,
    pub(super) exit: Exit,
    pub(super) warnings: Vec<String>,
}

impl LocalController {
    /// Reads the configuration, as the service does.
    pub(super) fn open(connection: &HubConnection) -> anyhow::Result<Self> {
        let settings = Settings::read(connection.config.as_deref())?;
        let read = settings.service(None)?;
        let access = Arc::new(RepositoryAccess::new(read.control_plane, Progress::default()));
        let hub = Hub::configured_by(connection, &settings)?;
        let environments = settings.environments().to_vec();
        Ok(Self { access, hosts: read.hosts.for_deliveries(), sources: read.evidence, hub, environments })
    }

    /// The environments in the order of promotion, or the named one.
    pub(super) fn names(&self, named: Option<&str>) -> anyhow::Result<Vec<EnvironmentName>> {
        let plane = Plane::read(&self.access).map_err(|error| Failure::outside(error.to_string()))?;
        let Some(named) = named else { return Ok(plane.graph.order().to_vec()) };
        let found = plane.graph.order().iter().find(|name| name.as_str() == named);
        let found = found.ok_or_else(|| unknown_environment(named, plane.graph.order()))?;
        Ok(vec![found.clone()])
    }

    /// The environments in the order of promotion, or the named one, each without its subjects.
    pub(super) fn environments(&self, named: Option<&str>) -> anyhow::Result<Vec<LocalEnvironment>> {
        let names = self.names(named)?;
        let plane = Plane::read(&self.access).map_err(|error| Failure::outside(error.to_string()))?;
        let environment = |name: EnvironmentName| {
            let status = status_of(&plane.graph, &name, jiff::Timestamp::now());
            LocalEnvironment { is_part: plane.is_part(&name), status, name }
        };
        Ok(names.into_iter().map(environment).collect())
    }

    /// Publishes an environment and makes steps, until nothing is to be published again.
    pub(super) fn advance(&self, environment: &LocalEnvironment) -> LocalStep {
        let hub = self.hub.as_ref().map(|hub| HubReceiver { hub, environments: &self.environments });
        let options = PublishOptions { hosts: self.hosts.as_ref(), ..PublishOptions::default() };
        let request = Request { environment: &environment.name, gitops_repo: None, options, hub, is_hub_only: false };
        let publish = || publish(&self.access, &request, &|_, _| {}).map_err(super::super::publish::failure);
        let (made, warnings) = match self.steps().publish(&environment.name, &publish) {
            Ok(SteppedPublication { output, step, warnings }) => {
                (step.map(|step| (step, unpublished(&output))), warnings)
            }
            Err(error) => (Err(error), Vec::new()),
        };
        LocalStep::new(environment, made, warnings)
    }

    fn steps(&self) -> Steps<'_> {
        let Self { access, hosts, sources, hub, .. } = self;
        Steps {
            access,
            hosts: hosts.as_ref(),
            sources,
            hub: hub.as_ref(),
            needs_hub: false,
            may_begin_by_annotations: true,
        }
    }

    /// Where changes into an environment stand. Nothing is written.
    pub(super) fn look(&self, environment: &LocalEnvironment) -> LocalStep {
        if !environment.is_part {
            return LocalStep { status: None, exit: Exit::Good, warnings: Vec::new() };
        }
        LocalStep::new(environment, self.planned_step(&environment.name), Vec::new())
    }

    fn planned_step(&self, environment: &EnvironmentName) -> anyhow::Result<(Option<StepOutcome>, Option<Failure>)> {
        let output = preview(&self.access, environment).map_err(super::super::publish::failure)?;
        let published = PublicationFacts::from_outcome(&output);
        let steps = self.steps();
        let request = steps.request(environment);
        let request = StepRequest { is_read_only: true, published: Some(&published), output: Some(&output), ..request };
        Ok((Some(steps.step(&request, &mut Memory::default())?), unpublished(&output)))
    }

    /// Stores a decision on the branch with the states, as the user of git.
    pub(super) fn decide(&self, environment: &str, command: &PromotionCommand) -> anyhow::Result<PromotionReceipt> {
        let name = self.names(Some(environment))?.remove(0);
        let (author, by) = decider(&self.access);
        let reason = command.reason.as_deref().unwrap_or_default().into();
        let decided = Command { kind: kind(command)?, by: by.into(), at: jiff::Timestamp::now(), reason };
        let decision = DecisionCommand {
            environment: &name,
            subject: command.subject.as_deref(),
            command: &decided,
            revision: command.revision.as_deref().filter(|_| command.command != PromotionAction::Promote),
            // Only the service knows who approves.
            teams: &Teams::new(),
            author: &author,
            lease: None,
        };
        let receipt = decide(&self.access, &decision).map_err(refusal)?;
        Ok(PromotionReceipt {
            environment: environment.to_owned(),
            subject: receipt.subject.map(|subject| subject.to_string()),
            revision: receipt.revision.map(|revision| revision.0.to_string()),
            text: receipt.text,
        })
    }
}

impl LocalController {
    /// Restores the states of an environment, as the user of git.
    pub(super) fn restore(&self, options: &RolloutRestore) -> anyhow::Result<PromotionReceipt> {
        let name = self.names(Some(&options.environment))?.remove(0);
        let to = match &options.to {
            Some(text) => RestoredStates::Commit(GitId::from_hex(text).ok_or_else(|| {
                Failure::usage(format!("`{text}` is no full commit id"))
                    .help("write all 40 digits, as the error shows them")
            })?),
            None if options.baseline => RestoredStates::Baseline,
            None => RestoredStates::Published,
        };
        let ((author, by), at) = (decider(&self.access), jiff::Timestamp::now());
        let reason = &options.reason;
        let restoration = Restoration { environment: &name, to, author: &author, by: &by, reason, at };
        let text = restore(&self.access, &restoration).map_err(not_restored)?;
        Ok(PromotionReceipt { environment: options.environment.clone(), subject: None, revision: None, text })
    }
}

impl LocalStep {
    /// The result of a step, or the reason why it could not be made, as a problem of the environment.
    fn new(
        environment: &LocalEnvironment,
        made: anyhow::Result<(Option<StepOutcome>, Option<Failure>)>,
        mut warnings: Vec<String>,
    ) -> Self {
        let (outcome, failure) = match made {
            Ok((outcome, failure)) => (outcome.unwrap_or_default(), failure),
            Err(error) => {
                let status = PromotionStatus { problem: Some(format!("{error:#}")), ..environment.status.clone() };
                return Self { status: Some(status), exit: crate::exit::status(&error), warnings };
            }
        };
        warnings.extend(outcome.warnings);
        warnings.extend(outcome.refused.iter().cloned());
        warnings.sort_unstable();
        warnings.dedup();
        let mut status = outcome.status;
        let is_broken = status.as_ref().is_some_and(|status| status.problem.is_some());
        let moving = if outcome.is_moving { Exit::Pending } else { Exit::Good };
        let mut exit = moving.unless(outcome.is_stopped || is_broken || !outcome.refused.is_empty());
        if let Some(failure) = failure {
            let status = status.get_or_insert_with(|| environment.status.clone());
            status.problem.get_or_insert(failure.message);
            exit = exit.and(failure.kind.into());
        }
        Self { status, exit, warnings }
    }

    /// The exit status if something could not be reached. Otherwise success: what waits or failed is shown.
    pub(super) fn unreachable(&self) -> Exit {
        if self.exit == Exit::Unreachable { self.exit } else { Exit::Good }
    }
}

/// Why the output of an environment is not published or compared at all. None: it is, also if it has errors.
fn unpublished(outcome: &Outcome) -> Option<Failure> {
    match &outcome.end {
        End::Complete => {}
        End::LostRaces => return Some(Failure::outside("other programs moved its branches while it was published")),
        End::Incomplete(loaded) => {
            let errors = || loaded.diagnostics.iter().filter(|diagnostic| diagnostic.is_error());
            let first = errors().find(|error| error.code.is_outside()).or_else(|| errors().next());
            let reason = first.map(|error| format!(": [{}] {}", error.code, error.message)).unwrap_or_default();
            let make = if loaded.is_unreachable() { Failure::outside } else { Failure::refused };
            return Some(make(format!("not all of it can be read{reason}")));
        }
    }
    let DestinationFailure { gitops_repo, error } = outcome.failures.first()?;
    let message = format!("nothing is published to {gitops_repo}: {error}");
    let kind = destination_failure(error).map_or(FailureKind::Outside, |failure| failure.kind);
    Some(Failure { kind, ..Failure::outside(message) })
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
            let message = "an approval needs the service, which identifies you by your token";
            return Err(Failure::refused(message).help(
                "name its hub with --hub or KALYPSO_HUB_URL, or approve the pull request of the promotion on the git host",
            ));
        }
        PromotionAction::Rollback => CommandKind::Rollback {
            to: command.to.as_deref().map(|to| Revision(to.into())),
            with_values: command.with_values,
        },
        PromotionAction::Promote => {
            CommandKind::Request { revision: Revision(command.revision.as_deref().ok_or_else(incomplete)?.into()) }
        }
    })
}

fn not_restored(error: RestorationError) -> Failure {
    let message = error.to_string();
    match error {
        RestorationError::Lost { .. } => Failure::refused(message).help(
            "`--to COMMIT` restores another commit of the branch; if none is left, `--baseline` admits what is published",
        ),
        RestorationError::NotLost { .. } => Failure::refused(message).help("restore it: leave `--baseline` out"),
        RestorationError::Repository(_) | RestorationError::Store(_) | RestorationError::LostRaces(_) => {
            Failure::outside(message)
        }
        _ => Failure::refused(message),
    }
}
