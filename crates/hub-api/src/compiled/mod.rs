//! Answers that need the compiled environment: its assignments, the reasons for them, and their values.

mod explain;
mod position;
mod published_content;
mod service;

pub use self::explain::{
    ExplainedAssignment, ExplainedCheck, ExplainedHold, ExplainedLabel, ExplainedLine, ExplainedPart, ExplainedPin,
    ExplainedPolicy, ExplainedSource, ExplainedUnused, ExplainedValue,
};
pub use self::position::SourcePosition;
pub use self::published_content::{PublishedContent, PublishedOrigins};
pub use self::service::{AssignmentName, CompiledAnswer, CompiledEnvironments, CompiledRefusal, CompiledScope};
