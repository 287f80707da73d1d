//! Computes what a publication would do, without writing anything.

use std::sync::Arc;

use engine::output::Adoption;
use model::name::EnvironmentName;

use crate::access::RepositoryAccess;
use crate::branches::push::Delivered;
use crate::error::DestinationError;
use crate::output::compilation::{CompiledEnvironment, KnownResults};
use crate::output::owner_file;
use crate::output::planned::{GitOpsDestination, Planned, each_target};
use crate::output::refusal::refusals;
use crate::publication::enforcement;
use crate::publication::publish::{DestinationFailure, End, Outcome, PlaceOutcome, PublicationFailure};
use crate::reading::for_publication;
use crate::sources::loaded::Loaded;

/// Plans a publication of an environment. If the branch of a destination has the output already, the destination is up to date. Nothing is delivered to the others.
///
/// # Errors
/// If the environment can't be read, or has no destination.
pub fn preview(access: &Arc<RepositoryAccess>, environment: &EnvironmentName) -> Result<Outcome, PublicationFailure> {
    let mut known = KnownResults::new(Some(access.settings.memo_file(environment)));
    let mut loaded = for_publication(access, environment, None)?;
    enforcement::enforce(&mut loaded, None);
    let loaded = Arc::new(loaded);
    let (mut places, mut failures) = (Vec::new(), Vec::new());
    if !loaded.is_complete {
        return Ok(Outcome { places, failures, end: End::Incomplete(loaded), report: None });
    }
    let compiled = Arc::new(known.compile(&loaded, &access.progress, None));
    for (gitops_repo, target) in each_target(&loaded, None, None)? {
        match target
            .and_then(|target| place(&loaded, CompiledEnvironment { compiled: &compiled, known: &mut known }, target))
        {
            Ok(outcome) => places.push(outcome),
            Err(error) => failures.push(DestinationFailure { gitops_repo, error }),
        }
    }
    Ok(Outcome { places, failures, end: End::Complete, report: None })
}

fn place(
    loaded: &Arc<Loaded>,
    compiled: CompiledEnvironment<'_>,
    target: GitOpsDestination,
) -> Result<PlaceOutcome, DestinationError> {
    let mut planned = Planned::new(loaded, compiled, target, &Adoption::Nothing)?;
    let diagnostics = planned.diagnostics(loaded);
    let refusals = refusals(loaded, &planned, None)?;
    if !planned.plan.is_empty() {
        owner_file::add(loaded, &mut planned)?;
    }
    let is_up_to_date = refusals.is_empty() && planned.output.tree == planned.target.branch.tree;
    let delivered = is_up_to_date.then_some(Delivered::UpToDate);
    Ok(PlaceOutcome { diagnostics, refusals, delivered, ..PlaceOutcome::new(loaded, planned) })
}
