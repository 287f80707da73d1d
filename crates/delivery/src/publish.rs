//! Publishes an environment: reads, compiles, plans, pushes and reports to the hub, again if a branch moves meanwhile.

use std::sync::Arc;

use engine::compile::Compiled;
use engine::plan::ChangeKind;
use model::count::count;
use model::diagnostic::Diagnostic;
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::object::environment::RepositoryPlace;
use model::tree::Sealed;

use crate::access::RepositoryAccess;
use crate::compilation::KnownResults;
use crate::error::{DestinationError, ReadError};
use crate::hub_publication::{self, HubError, Receiver};
use crate::loaded::Loaded;
use crate::owner_file;
use crate::planned::{GitOpsTarget, Planned, targets};
use crate::push::{self, Delivered, Delivery};
use crate::reading::{RACES_MAX, for_publication};
use crate::refusal::{Refusal, refusals};

/// What is to be published.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The environment.
    pub environment: &'a EnvironmentName,
    /// The one `GitOpsRepo` to publish to; none for all.
    pub gitops_repo: Option<&'a str>,
    /// How the output is pushed.
    pub options: Options<'a>,
    /// The hub that gets the publication, if there is one.
    pub hub: Option<Receiver<'a>>,
    /// Pushes nothing: the hub gets what the branch holds.
    pub is_hub_only: bool,
}

/// How output is pushed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// Pushes to the branch that clusters pull, instead of proposing the change on a branch of its own.
    pub is_direct: bool,
    /// The words that confirm removals of direct pushes.
    pub confirmed: &'a [String],
    /// Existing folders without a marker become Kalypso's.
    pub adopt: bool,
    /// The time of the commit, in seconds since 1970; none for now.
    pub committed_on: Option<i64>,
}

/// What came of a publication.
pub struct Outcome {
    /// The result for each place, in the order in which they were dealt with.
    pub places: Vec<PlaceOutcome>,
    /// How it ended.
    pub end: End,
}

/// How a publication ended.
pub enum End {
    /// All places were dealt with.
    Complete,
    /// A branch moved during every attempt.
    LostRaces,
    /// Not all objects of the platform could be read.
    Incomplete(Arc<Loaded>),
}

/// What came of one place.
pub struct PlaceOutcome {
    /// The environment as it was read.
    pub loaded: Arc<Loaded>,
    /// The plan.
    pub planned: Planned,
    /// Everything that is wrong with the environment.
    pub diagnostics: Vec<Diagnostic>,
    /// Why nothing was pushed; empty if nothing was refused.
    pub refusals: Vec<Refusal>,
    /// The result of the push; none if it was not tried.
    pub delivered: Option<Delivered>,
    /// How many folders the hub knows now; none if there is no hub, or no news for it.
    pub hub: Option<Result<usize, HubError>>,
}

/// Why a publication failed.
#[derive(Debug, thiserror::Error)]
pub enum PublicationError {
    /// The environment can't be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A destination can't be read or pushed.
    #[error(transparent)]
    Destination(#[from] DestinationError),
    /// The hub did not accept what the branch holds.
    #[error(transparent)]
    Hub(#[from] HubError),
}

/// Publishes an environment to all its places. If another program pushes meanwhile, nothing of the attempt is used again: the heads of the branches and all
/// sources are read anew. `on_compiled` gets what each attempt compiles.
///
/// # Errors
/// If the environment or a destination can't be read or pushed. What an earlier attempt pushed stays.
pub fn publish(
    access: &Arc<RepositoryAccess>,
    request: &Request<'_>,
    on_compiled: &dyn Fn(&Loaded, &Compiled),
) -> Result<Outcome, PublicationError> {
    let mut places: Vec<PlaceOutcome> = Vec::new();
    for _ in 0..RACES_MAX {
        let loaded = Arc::new(for_publication(access, request.environment, request.gitops_repo)?);
        if !loaded.is_whole {
            return Ok(Outcome { places, end: End::Incomplete(loaded) });
        }
        let mut known = KnownResults::new(Some(access.settings.memo_file(request.environment)));
        let compiled = Arc::new(known.compile(&loaded, &access.progress, None));
        on_compiled(&loaded, &compiled);
        let mut has_lost = false;
        for target in targets(&loaded, request.gitops_repo, None)? {
            if places.iter().any(|place| place.planned.target.name == target.name) {
                continue;
            }
            let outcome = to_place(request, &loaded, (&compiled, &mut known), target)?;
            if matches!(outcome.delivered, Some(Delivered::LostRace)) {
                has_lost = true;
            } else {
                places.push(outcome);
            }
        }
        if !has_lost {
            return Ok(Outcome { places, end: End::Complete });
        }
        // Two large fleets at once may be too many: what no outcome refers to is gone before the next attempt.
    }
    Ok(Outcome { places, end: End::LostRaces })
}

fn to_place(
    request: &Request<'_>,
    loaded: &Arc<Loaded>,
    (compiled, known): (&Arc<Compiled>, &mut KnownResults),
    target: GitOpsTarget,
) -> Result<PlaceOutcome, PublicationError> {
    if let Some(hub) = request.hub.filter(|_| request.is_hub_only) {
        let planned = Planned::new(loaded, (compiled, known), target, request.options.adopt)?;
        let hub = Some(Ok(hub_publication::whole(hub, loaded, &planned)?));
        let (diagnostics, refusals) = (Vec::new(), Vec::new());
        return Ok(PlaceOutcome { loaded: Arc::clone(loaded), planned, diagnostics, refusals, delivered: None, hub });
    }
    let outcome = deliver(&request.options, loaded, (compiled, known), target)?;
    let hub = request
        .hub
        .and_then(|hub| hub_publication::changes(hub, loaded, (&outcome.planned, outcome.delivered.as_ref()?)));
    Ok(PlaceOutcome { hub, ..outcome })
}

/// Publishes an environment to one place, if the branches there are where they were before the environment was read. Sends nothing to the hub.
///
/// # Errors
/// If the place can't be read or pushed.
pub fn deliver(
    options: &Options<'_>,
    loaded: &Arc<Loaded>,
    (compiled, known): (&Arc<Compiled>, &mut KnownResults),
    target: GitOpsTarget,
) -> Result<PlaceOutcome, DestinationError> {
    let mut planned = Planned::new(loaded, (compiled, known), target, options.adopt)?;
    let diagnostics = planned.diagnostics(loaded);
    let refusals = refusals(loaded, &planned, options.is_direct.then_some(options.confirmed))?;
    let loaded = Arc::clone(loaded);
    if !refusals.is_empty() {
        return Ok(PlaceOutcome { loaded, planned, diagnostics, refusals, delivered: None, hub: None });
    }
    if !planned.plan.is_empty() {
        owner_file::add(&loaded, &mut planned)?;
    }
    let delivered = Some(push(options, &loaded, &planned)?);
    Ok(PlaceOutcome { loaded, planned, diagnostics, refusals, delivered, hub: None })
}

fn push(options: &Options<'_>, loaded: &Loaded, planned: &Planned) -> Result<Delivered, DestinationError> {
    let Some((heads, branch)) = planned.target.branch.leases(options.is_direct) else {
        return Ok(Delivered::LostRace);
    };
    let message = message(loaded, planned);
    let held = planned.to_remember()?;
    let open = |sealed: &Sealed| planned.open(sealed);
    let delivery = Delivery {
        place: &planned.target.place,
        branch,
        heads,
        tree: &planned.output.tree,
        open: &open,
        message: &message,
        seconds: options.committed_on,
        held: &held,
        folders: planned.plan.new_folders(),
        progress: planned.progress(),
    };
    push::deliver(loaded, &delivery)
}

/// The first line of the commit message.
fn message(loaded: &Loaded, planned: &Planned) -> String {
    let plan = &planned.plan;
    let parts = [(ChangeKind::Changed, "changed"), (ChangeKind::Added, "added"), (ChangeKind::Removed, "removed")];
    let counts = parts.into_iter().map(|(kind, word)| (plan.count(kind), word)).filter(|(count, _)| *count > 0);
    let counts: Vec<_> = counts.map(|(count, word)| format!("{count} {word}")).collect();
    let subject = if plan.moved > 0 && counts.is_empty() {
        format!("{} moved", count(plan.moved, "folder"))
    } else if counts.is_empty() {
        "files of cluster types changed".to_owned()
    } else {
        format!("assignments {}", counts.join(", "))
    };
    format!("{}: {subject}", loaded.fleet.environment)
}

impl PlaceOutcome {
    /// Where something was pushed, and the commit.
    pub fn pushed(&self) -> Option<(&RepositoryPlace, GitId)> {
        match &self.delivered {
            Some(Delivered::Pushed { commit, .. }) => Some((&self.planned.target.place, *commit)),
            _ => None,
        }
    }
}
