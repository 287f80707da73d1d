//! The control plane as a step sees it: the graph, the line of commits, and where each environment stands.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::promotion::graph::{Graph, Step};
use engine::promotion::in_force::in_force;
use engine::promotion::state::{AdvanceState, Revision};
use git::RepositoryError;
use model::diagnostic::Diagnostic;
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::object::Promotion;
use model::object::environment::RepositoryPlace;

use super::line::{self, Line};
use super::settled::{self, SettledRecord};
use crate::access::RepositoryAccess;
use crate::reading::{PromotionGraph, promotion_graph, promotion_graph_at};
use crate::states::promoted_commit::{self, PromotedCommit, PromotedCommitError};
use crate::states::rollout_store::{self, AdmittedPromotion, Advances, StoredSource, StoredStates};

/// The control plane at the heads of its branches.
pub struct Plane<'a> {
    pub(super) access: &'a RepositoryAccess,
    /// The order of all environments, and the gates between them.
    pub graph: Graph,
    /// The commits of the main branch.
    pub line: Line,
    /// Why the promotions are not known. Nothing moves then.
    pub problem: Option<Arc<str>>,
    places: BTreeMap<EnvironmentName, RepositoryPlace>,
}

/// What was read of environments' branches, by their heads, for later steps.
#[derive(Debug, Default)]
pub struct KnownBranches(BTreeMap<EnvironmentName, PromotedCommit>);

/// Where an environment stands.
#[derive(Clone, Debug)]
pub struct EnvironmentStanding {
    /// The environment's branch.
    pub promoted: PromotedCommit,
    /// The commit that its sources name: the promoted one, or the head of the main branch. None: it does not build on the main branch.
    pub at: Option<Revision>,
    /// The state of the commits of the main branch in it. None: there is none, so its output has what its sources name.
    pub state: Option<AdvanceState>,
    /// The admitted commit of the environment's branch. None: none is recorded, so its output has the head.
    values: Option<GitId>,
}

impl<'a> Plane<'a> {
    /// Reads the control plane.
    ///
    /// # Errors
    /// If the main branch can't be read.
    pub fn read(access: &'a RepositoryAccess) -> Result<Self, RepositoryError> {
        let line = Line::read(access)?;
        let PromotionGraph { graph, declarations, diagnostics, .. } = promotion_graph(access);
        let mut places = BTreeMap::new();
        for object in &declarations.environments {
            places.entry(object.name.clone()).or_insert_with(|| object.spec.control_plane.clone());
        }
        let problem = (!declarations.are_known()).then(|| match first_error(&diagnostics) {
            Some(first) => format!("the promotions can't be read: {first}").into(),
            None => "the promotions can't be read".into(),
        });
        Ok(Self { access, graph, line, problem, places })
    }

    /// How changes reach an environment, if a promotion leads to it: a `Promotion` object, or annotations.
    pub fn step(&self, environment: &EnvironmentName) -> Option<&Step> {
        let step = self.graph.step(environment.as_str())?;
        (self.graph.object(environment.as_str()).is_some() || !step.before.is_empty()).then_some(step)
    }

    /// The promotion into an environment, with the gates of the head of the main branch, of the admitted promotion, and of the commit of the main branch that moves.
    /// None: there is none.
    pub fn in_force(&self, environment: &EnvironmentName, stored: &StoredStates) -> Option<Promotion> {
        let moving = stored.advances.iter().flatten().find_map(|known| known.platform.as_ref()?.current.as_ref());
        let moving = moving.map(|moving| &moving.revision).filter(|moving| self.line.head() != Some(*moving));
        let at_head = self.promotion(environment, None);
        let at_moving = moving.and_then(|moving| self.promotion(environment, Some(moving)));
        in_force(stored.admitted_promotion(), &at_head.iter().chain(&at_moving).collect::<Vec<_>>())
    }

    /// The promotion into an environment at a commit of the main branch, or at its head. None: there is none.
    pub(super) fn promotion(&self, environment: &EnvironmentName, commit: Option<&Revision>) -> Option<Promotion> {
        match commit {
            Some(commit) => Some(self.promotion_at(environment, line::commit(commit)?)?.spec),
            None => Some((*self.step(environment)?.promotion).clone()),
        }
    }

    /// The `Promotion` of an environment at a commit of the main branch, with its file.
    pub(super) fn promotion_at(&self, environment: &EnvironmentName, commit: GitId) -> Option<AdmittedPromotion> {
        let found = promotion_graph_at(self.access, commit);
        let object = found.graph.object(environment.as_str())?;
        let file = Arc::clone(&found.files.get(object.address.file).content);
        Some(AdmittedPromotion { file, spec: object.spec.clone() })
    }

    /// Whether an environment is in a promotion: changes move into it, or from it.
    pub fn is_part(&self, environment: &EnvironmentName) -> bool {
        self.graph.is_in_promotion(environment.as_str())
    }

    /// Where an environment stands. None if there is no such environment.
    ///
    /// # Errors
    /// If its branch can't be read.
    pub fn standing(
        &self,
        environment: &EnvironmentName,
        known: &mut KnownBranches,
    ) -> Result<Option<EnvironmentStanding>, PromotedCommitError> {
        let Some(place) = self.places.get(environment) else { return Ok(None) };
        let head = promoted_commit::head(self.access, environment, place)?;
        let found = known.0.get(environment).filter(|known| known.head == head).cloned();
        let promoted = match found {
            Some(found) => found,
            None => PromotedCommit::read(self.access, environment, place)?,
        };
        known.0.insert(environment.clone(), promoted.clone());
        let at = match promoted.commit {
            Some(commit) => Some(line::revision(commit)),
            None if promoted.is_declared() => self.line.head().cloned(),
            None => None,
        };
        let unreadable = |error| {
            let reason = format!("the state of promotions into `{environment}`: {error}");
            PromotedCommitError::Unreadable { environment: environment.clone(), reason }
        };
        let advances = rollout_store::read_advances(self.access, environment)?.transpose().map_err(unreadable)?;
        let Advances { platform: state, sources, .. } = advances.unwrap_or_default();
        let own = (promoted.head.url.as_str(), promoted.head.revision.name());
        let is_own = |stored: &&StoredSource| (&*stored.source.0, &*stored.source.1) == (own.0, &*own.1);
        let values = sources.values().find(is_own).and_then(|stored| line::commit(stored.state.admitted.as_ref()?));
        Ok(Some(EnvironmentStanding { promoted, at, state, values }))
    }

    /// The path of an environment's objects on its branch.
    pub fn path(&self, environment: &EnvironmentName) -> &str {
        self.places.get(environment).map_or("", |place| &place.path)
    }

    /// The record that an environment is settled where it stands.
    ///
    /// # Errors
    /// The reason in words why it is not.
    pub fn settled(
        &self,
        environment: &EnvironmentName,
        standing: &EnvironmentStanding,
    ) -> Result<SettledRecord, Arc<str>> {
        let record = settled::read(self.access, environment).map_err(|error| Arc::from(error.to_string()))?;
        standing.settled(record)
    }
}

impl EnvironmentStanding {
    /// The revision that the output of the environment has: the admitted one.
    pub fn has(&self) -> Option<&Revision> {
        self.state.as_ref().and_then(|state| state.admitted.as_ref()).or(self.at.as_ref())
    }

    /// The commit of the main branch that the output of the environment has.
    pub fn commit(&self) -> Option<GitId> {
        self.has().and_then(line::commit)
    }

    /// The commit of the environment's branch that its output has.
    pub fn head(&self) -> GitId {
        self.values.unwrap_or(self.promoted.head.id)
    }

    /// The record that the environment is settled, if it is about where it stands.
    ///
    /// # Errors
    /// The reason in words why it is not.
    pub fn settled(&self, record: Option<SettledRecord>) -> Result<SettledRecord, Arc<str>> {
        let record = record.filter(|record| record.is_at(self.commit(), self.head()));
        record.ok_or_else(|| "its output is not published yet, or a rollout is open".into())
    }
}

/// The first error of a list, as a reason.
fn first_error(diagnostics: &[Diagnostic]) -> Option<String> {
    let first = diagnostics.iter().find(|found| found.is_error())?;
    Some(format!("[{}] {}", first.code, first.message))
}
