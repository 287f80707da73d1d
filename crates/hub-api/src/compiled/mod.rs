//! Answers that need the compiled environment: its assignments, the reasons for them, and their values.

mod contract;
mod explain;
mod position;
mod published_content;
mod service;
mod why_not;

pub use self::contract::{
    ContractAdvice, ContractAsk, ContractEnvironment, ContractFields, ContractGiven, ContractKey, ContractMissing,
    ContractPlaces, ContractReach, ContractSchema, ContractUnassigned, ContractUnmet, ContractValue, ContractWorkload,
    ContractWrong, ValueCounts,
};
pub use self::explain::{
    ExplainedAssignment, ExplainedCheck, ExplainedHold, ExplainedLabel, ExplainedLine, ExplainedPart, ExplainedPin,
    ExplainedPolicy, ExplainedSource, ExplainedUnused, ExplainedValue,
};
pub use self::position::SourcePosition;
pub use self::published_content::{PublishedContent, PublishedOrigins};
pub use self::service::{AssignmentName, CompiledAnswer, CompiledEnvironments, CompiledRefusal, CompiledScope};
pub use self::why_not::{
    WhyNotApplied, WhyNotChange, WhyNotCondition, WhyNotEdit, WhyNotEnvironment, WhyNotFields, WhyNotLabel,
    WhyNotObstacle, WhyNotOverride, WhyNotPolicy, WhyNotProblem, WhyNotRequirement, WhyNotSide, WhyNotStanding,
};
