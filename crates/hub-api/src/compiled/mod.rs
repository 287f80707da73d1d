//! Answers that need the compiled environment: its assignments, the reasons for them, and their values.

mod assignment_name;
mod assignments;
mod contract;
mod explain;
mod files;
mod findings;
mod position;
mod published_content;
mod service;
mod values;
mod why_not;

pub use self::assignment_name::AssignmentName;
pub use self::assignments::{AssignmentOrder, AssignmentQuery, CompiledAssignment, CompiledAssignments};
pub use self::contract::{
    ContractAdvice, ContractAsk, ContractEnvironment, ContractFields, ContractGiven, ContractKey, ContractMissing,
    ContractPlaces, ContractQuery, ContractReach, ContractSchema, ContractUnassigned, ContractUnmet, ContractValue,
    ContractWorkload, ContractWrong, ValueCounts,
};
pub use self::explain::{
    ExplainedAssignment, ExplainedCheck, ExplainedHold, ExplainedLabel, ExplainedLine, ExplainedPart, ExplainedPin,
    ExplainedPolicy, ExplainedSource, ExplainedUnused, ExplainedValue,
};
pub use self::files::{
    AssignmentDifference, AssignmentFile, AssignmentFileChange, AssignmentFiles, DifferenceQuery, FilesQuery,
    FolderFileChange, FolderPublication, NotShownReason,
};
pub use self::findings::{
    CompiledFinding, CompiledFindings, FindingExcerpt, FindingPlace, FindingQuery, FindingSeverity,
};
pub use self::position::SourcePosition;
pub use self::published_content::{PublishedContent, PublishedOrigins};
pub use self::service::{CompiledAnswer, CompiledEnvironments, CompiledRefusal, CompiledScope};
pub use self::values::{CompiledValue, CompiledValues, ValueQuery, ValueSetter};
pub use self::why_not::{
    WhyNotApplied, WhyNotChange, WhyNotCondition, WhyNotEdit, WhyNotEnvironment, WhyNotFields, WhyNotLabel,
    WhyNotObstacle, WhyNotOverride, WhyNotPolicy, WhyNotProblem, WhyNotQuery, WhyNotRequirement, WhyNotSide,
    WhyNotStanding,
};
