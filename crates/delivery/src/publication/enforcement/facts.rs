//! Finds whether a commit of the main branch may enter an environment, from the publications and the stored states of promotions.

use engine::promotion::open_gates::open_gates;
use engine::promotion::state::{AdvanceState, CandidatePhase, GateRecord, Revision};
use git::publications::Publications;
use model::git_id::GitId;
use model::name::EnvironmentName;

use super::ancestry::contains;
use crate::access::RepositoryAccess;
use crate::reading;
use crate::sources::loaded::Loaded;
use crate::states::rollout_store;

/// Why a commit that is no candidate may not enter.
pub(super) const NOT_LET_IN: &str = "the controller has not let it in";

/// Why nothing is known of an environment that was published before it had gates.
const NO_STEP: &str =
    "no step of promotions was made for it yet: `kalypso publish` and `kalypso rollout advance` make one";

/// Whether a commit may enter an environment.
pub(super) enum Admission {
    /// It may, or is there already.
    Admitted,
    /// It is there already, because a person published it past its gates.
    Overridden(String),
    /// The controller did not let it in.
    MovedByHand(Vec<String>),
    /// There is no proof, and nothing that contradicts it.
    Unknown(Vec<String>),
}

/// What decides about commits.
pub(super) struct Facts<'a> {
    pub(super) access: &'a RepositoryAccess,
}

impl Facts<'_> {
    pub(super) fn admission(&self, loaded: &Loaded, commit: GitId) -> Admission {
        let environment = &loaded.fleet.environment;
        let published = match published(loaded, self.access) {
            Ok(published) => published,
            Err(reason) => return Admission::Unknown(vec![format!("its publications can't be read: {reason}")]),
        };
        let stored = platform_state(self.access, environment);
        match self.present(&published, commit) {
            Some(_) if self.is_newer(&stored, commit) => {}
            Some(present) => return present,
            None => {}
        }
        let stored = match stored {
            Ok(stored) => stored,
            Err(reason) => return Admission::Unknown(vec![reason]),
        };
        match stored.filter(|state| state.admitted.is_some() || state.current.is_some()) {
            Some(state) => by_controller(&state, commit),
            // What an environment begins with moves past no gate.
            None if published.iter().all(|published| published.publications.is_empty()) => Admission::Admitted,
            None => match loaded.graph.step(environment.as_str()).and_then(|step| step.problem.as_deref()) {
                Some(problem) => Admission::Unknown(vec![format!("no change can move into it: {problem}")]),
                None => Admission::Unknown(vec![NO_STEP.to_owned()]),
            },
        }
    }

    /// Whether the last publication has the commit.
    fn present(&self, published: &[Publications], commit: GitId) -> Option<Admission> {
        let url = self.access.settings.repo.as_str();
        let mut is_present = false;
        for publications in published {
            let with =
                publications.publications.iter().take_while(|publication| publication.has_pinned_source(url, commit));
            for publication in with {
                is_present = true;
                if let Some(reason) = &publication.override_reason {
                    return Some(Admission::Overridden(reason.to_string()));
                }
            }
        }
        is_present.then_some(Admission::Admitted)
    }

    /// Whether a commit came after the one that the controller admitted, and was not proved. It is not there already, whatever commits of the GitOps branch say:
    /// people can write those, too.
    fn is_newer(&self, stored: &Result<Option<AdvanceState>, String>, commit: GitId) -> bool {
        let Ok(Some(state)) = stored else { return false };
        let admitted = state.admitted.as_ref().and_then(|admitted| GitId::from_hex(&admitted.0));
        let Some(admitted) = admitted.filter(|admitted| *admitted != commit) else { return false };
        !state.has_proved(&Revision(commit.to_string().into()))
            && contains(self.access, commit, admitted).unwrap_or(false)
    }
}

/// The gates that have not let a commit in that the branch of an environment names. None: it is admitted, or on its way by a decision of the controller. Empty: it is
/// no candidate of the controller.
pub(super) fn by_hand(state: &AdvanceState, commit: GitId) -> Option<Vec<GateRecord>> {
    let id = commit.to_string();
    if state.admitted.as_ref().is_some_and(|admitted| *admitted.0 == *id) {
        return None;
    }
    match state.current.as_ref().filter(|current| *current.revision.0 == *id) {
        Some(current) if current.phase != CandidatePhase::Gated => None,
        Some(current) => Some(open_gates(current).cloned().collect()),
        None => Some(Vec::new()),
    }
}

/// Whether the controller let the commit in.
fn by_controller(state: &AdvanceState, commit: GitId) -> Admission {
    match by_hand(state, commit) {
        None => Admission::Admitted,
        Some(gates) if gates.is_empty() => Admission::MovedByHand(vec![NOT_LET_IN.to_owned()]),
        Some(gates) => Admission::MovedByHand(gates.iter().map(gate_text).collect()),
    }
}

pub(super) fn gate_text(gate: &GateRecord) -> String {
    format!("gate `{}` waits since {}: {}", gate.name, gate.since, gate.text)
}

/// The commit of the main branch that the last publication was rendered from. None: it is not known, or the branches have different ones.
pub(super) fn published_commit(loaded: &Loaded, access: &RepositoryAccess) -> Option<GitId> {
    let (url, branch) = (access.settings.repo.as_str(), access.settings.branch.as_str());
    let published = published(loaded, access).ok()?;
    let mut commits = published.iter().map(|publications| publications.newest()?.branch_commit(url, branch));
    let first = commits.next()??;
    commits.all(|commit| commit == Some(first)).then_some(first)
}

/// The publications on the branches that clusters pull.
pub(super) fn published(loaded: &Loaded, access: &RepositoryAccess) -> Result<Vec<Publications>, String> {
    let environment = &loaded.fleet.environment;
    if loaded.destinations.is_empty() {
        let places: Vec<_> = loaded.fleet.gitops_repos.values().map(|object| object.spec.place.clone()).collect();
        return reading::publications((access, environment), &places).map_err(|error| error.to_string());
    }
    let heads = loaded.destinations.iter().filter_map(|found| found.heads.as_ref().ok());
    let read = heads.map(|heads| Publications::read(&*access.repositories, &heads.base, environment));
    read.collect::<Result<_, _>>().map_err(|error| error.to_string())
}

fn platform_state(access: &RepositoryAccess, environment: &EnvironmentName) -> Result<Option<AdvanceState>, String> {
    let wrong = |reason: String| format!("the state of promotions into `{environment}` can't be read: {reason}");
    match rollout_store::read_advances(access, environment).map_err(|error| wrong(error.to_string()))? {
        None => Ok(None),
        Some(Ok(advances)) => Ok(advances.platform),
        Some(Err(error)) => Err(wrong(error.to_string())),
    }
}
