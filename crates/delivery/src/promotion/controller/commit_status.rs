//! The status of a promoted commit, as the workflows of Microsoft's Kalypso set it: its context is `<environment> environment`.

use engine::promotion::state::{AdvanceState, CandidatePhase, Revision};
use git_host::status::{CommitStatus, StatusState};
use model::name::EnvironmentName;

/// How far a commit is in an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromotionStage {
    /// It is being written into the environment.
    Promoted,
    /// The environment has it, and proves it.
    Deploying,
    /// The environment proved it.
    Deployed,
    /// It failed in the environment.
    Failed,
}

/// The status of a commit of the main branch. The text and the state are those of the original, because dashboards and workflows read them.
pub(super) fn promotion_status(environment: &EnvironmentName, stage: PromotionStage) -> CommitStatus {
    let (state, description) = match stage {
        PromotionStage::Promoted => (StatusState::Pending, "Promoted"),
        PromotionStage::Deploying => (StatusState::Pending, "Deploying"),
        PromotionStage::Deployed => (StatusState::Success, "Deployed"),
        PromotionStage::Failed => (StatusState::Failure, "Failed to deploy"),
    };
    let (context, description) = (context(environment.as_str()), description.to_owned());
    CommitStatus { context, state, description, target_url: None }
}

/// The context of the statuses about an environment, as the workflows of Microsoft's Kalypso set them.
pub(super) fn context(environment: &str) -> String {
    format!("{environment} environment")
}

/// The commit whose status follows from a state, with its stage. None: no commit was promoted yet.
pub(super) fn stage(state: &AdvanceState) -> Option<(&Revision, PromotionStage)> {
    let Some(current) = &state.current else {
        return state.proved.as_ref().map(|proved| (&proved.revision, PromotionStage::Deployed));
    };
    let stage = match current.phase {
        CandidatePhase::Gated => return None,
        CandidatePhase::Entering { .. } => PromotionStage::Promoted,
        CandidatePhase::Proving { .. } => PromotionStage::Deploying,
        CandidatePhase::Stopped { .. } | CandidatePhase::RollingBack { .. } => PromotionStage::Failed,
    };
    Some((&current.revision, stage))
}
