//! Promotions: how changes move through the environments, the decisions of people about them, and the history of moves.

mod command;
mod event;
#[cfg(feature = "fuzz")]
mod fuzz;
mod status;

pub use self::command::{PromotionAction, PromotionCommand, PromotionReceipt, PromotionRefusal};
pub use self::event::{
    PromotionChange, PromotionEvent, PromotionEventError, PromotionEventFilter, PromotionEventPage,
    PromotionEventReceipt,
};
#[cfg(feature = "fuzz")]
pub use self::fuzz::fuzz;
pub use self::status::{
    GateProgress, GateProgressStatus, MovePhase, MoveStatus, OverrideStatus, PersonDecision, PromotionStatus,
    ProvedStatus, RingCounts, RingProgress, RingState, SubjectKind, SubjectStatus, Wait,
};

/// The service that moves changes through environments, in the process of the hub.
pub trait PromotionService: std::fmt::Debug + Send + Sync {
    /// The state of one environment or of all, by the order of the graph. Empty if there is no such environment. It does not block.
    fn status(&self, environment: Option<&str>) -> Vec<PromotionStatus>;

    /// Carries out a decision of a person, and may block until it is stored. `by` is the name of the caller's token, or the subject of an identity provider.
    ///
    /// # Errors
    /// If there is no such environment or subject, the decision is not possible or not allowed to the caller, or can't be stored.
    fn command(
        &self,
        environment: &str,
        command: &PromotionCommand,
        by: &str,
    ) -> Result<PromotionReceipt, PromotionRefusal>;
}
