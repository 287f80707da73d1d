//! Decisions of people about values and applications.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::promotion::command::CommandKind;
use engine::promotion::state::Revision;
use model::name::EnvironmentName;
use model::object::promotion::ChangeOrigin;

use super::{CommandError, DecisionCommand};
use crate::access::RepositoryAccess;
use crate::promotion::controller::changes::Change;
use crate::promotion::controller::line;
use crate::promotion::controller::sources::begun;
use crate::reading;
use crate::sources::found_sources::{self, APPLICATION, VALUES};
use crate::states::rollout_store::{self, StoredSource, StoredStates};

/// Whether a decision is about values or an application. Workloads have no such names.
pub(super) fn is_source(subject: &str) -> bool {
    let is_below = |parent: &str| subject.strip_prefix(parent).is_some_and(|rest| rest.starts_with('/'));
    subject == VALUES || is_below(VALUES) || is_below(APPLICATION)
}

/// The origin of the changes of a subject that an override admits.
pub(super) fn origin(subject: &str) -> ChangeOrigin {
    match subject {
        _ if !is_source(subject) => ChangeOrigin::Main,
        _ if subject.starts_with(APPLICATION) => ChangeOrigin::Application,
        _ => ChangeOrigin::Values,
    }
}

/// A hold of an environment also records the sources that it holds, so that nothing of them is published between the decision and the next step.
pub(super) fn with_held_sources(
    access: &Arc<RepositoryAccess>,
    decision: &DecisionCommand<'_>,
    (mut change, stored): (Change, &StoredStates),
) -> Change {
    if decision.command.kind == CommandKind::Hold && decision.subject.is_none() {
        let mut sources = read(access, decision.environment);
        sources.extend(stored.advances.iter().flatten().flat_map(|known| known.sources.clone()));
        change.set_sources(sources);
    }
    change
}

/// The sources of an environment as they are read now. What can't be read is not among them.
pub(super) fn read(access: &Arc<RepositoryAccess>, environment: &EnvironmentName) -> BTreeMap<Arc<str>, StoredSource> {
    let Ok(loaded) = reading::for_publication(access, environment, None) else { return BTreeMap::new() };
    begun(access, &loaded.reads)
}

/// A source with its newest commit.
pub(super) type Waiting = (Option<Arc<str>>, Revision);

/// The newest commits of recorded sources that are not admitted, also those that came after the last step.
pub(super) fn waiting(
    access: &Arc<RepositoryAccess>,
    environment: &EnvironmentName,
) -> Result<Vec<Waiting>, CommandError> {
    let recorded = rollout_store::read(access, environment)?.known_advances()?.sources;
    if recorded.is_empty() {
        return Ok(Vec::new());
    }
    let loaded = reading::for_publication(access, environment, None);
    let loaded = loaded.map_err(|error| CommandError::Unreadable(error.to_string()))?;
    let mut found = Vec::new();
    for source in found_sources::of_reads(access, &loaded.reads) {
        let Some(known) = recorded.get(&source.name).filter(|known| known.source == source.source_name()) else {
            continue;
        };
        let head = line::revision(source.head(&*access.repositories)?.id);
        if known.state.admitted.as_ref() != Some(&head) {
            found.push((Some(Arc::clone(&source.name)), head));
        }
    }
    Ok(found)
}
