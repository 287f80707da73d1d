//! The environments before another one, as their records describe them.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::promotion::advance::FromEnvironment;
use engine::promotion::state::{AdvanceState, Revision};
use engine::promotion::step::Subject;
use model::name::EnvironmentName;

use super::context::Context;
use super::plane::KnownBranches;
use super::settled::{self, ShownOutput};
use crate::access::renderer::SUBJECT;
use crate::states::rollout_store;

/// An environment before.
pub(super) struct BeforeEnvironment {
    name: Arc<str>,
    /// The commit of the main branch that its output has, and the state of these commits.
    main: (Option<Revision>, Option<AdvanceState>),
    /// The releases that it has, and the version that rendered it.
    releases: BTreeMap<Arc<str>, Arc<str>>,
    /// The states of its releases.
    states: BTreeMap<Arc<str>, AdvanceState>,
    /// Whether it is settled, and where its output is.
    pub(super) shown: ShownOutput,
}

impl BeforeEnvironment {
    /// Reads an environment. Of one that can't be read, nothing is known.
    pub(super) fn read(context: &Context<'_>, name: &Arc<str>, branches: &mut KnownBranches) -> Self {
        Self::try_read(context, name, branches).unwrap_or_else(|reason| Self {
            name: Arc::clone(name),
            main: (None, None),
            releases: BTreeMap::new(),
            states: BTreeMap::new(),
            shown: ShownOutput::recorded(Err(reason)),
        })
    }

    fn try_read(context: &Context<'_>, name: &Arc<str>, branches: &mut KnownBranches) -> Result<Self, Arc<str>> {
        let no_such = || Arc::from("there is no such environment");
        let reason = |error: &dyn std::fmt::Display| Arc::from(error.to_string());
        let environment = EnvironmentName::new(Arc::clone(name)).map_err(|_| no_such())?;
        let standing = context.plane.standing(&environment, branches).map_err(|error| reason(&error))?;
        let standing = standing.ok_or_else(no_such)?;
        let record = settled::read(context.access, &environment).map_err(|error| reason(&error))?;
        let advances = rollout_store::read_advances(context.access, &environment).map_err(|error| reason(&error))?;
        let advances = advances.transpose().map_err(|error| reason(&error))?;
        Ok(Self {
            name: Arc::clone(name),
            main: (standing.has().cloned(), standing.state.clone()),
            releases: record.as_ref().map(|record| record.releases.clone()).unwrap_or_default(),
            shown: ShownOutput::recorded(standing.settled(record)),
            states: advances.map(|advances| advances.releases).unwrap_or_default(),
        })
    }

    /// The commit of the main branch that its output has.
    pub(super) fn commit(&self) -> Option<&Revision> {
        self.main.0.as_ref()
    }

    /// What it shows of a subject, without the state of its places.
    pub(super) fn shows(&self, subject: &Subject) -> FromEnvironment {
        let (has, state) = match subject {
            Subject::Main => (self.main.0.clone(), self.main.1.as_ref()),
            Subject::Release(workload) => self.release(workload),
            Subject::Renderer => self.release(SUBJECT),
        };
        FromEnvironment::new(Arc::clone(&self.name), (has, self.shown.settled.check(subject)), state)
    }

    fn release(&self, name: &str) -> (Option<Revision>, Option<&AdvanceState>) {
        (self.releases.get(name).cloned().map(Revision), self.states.get(name))
    }
}
