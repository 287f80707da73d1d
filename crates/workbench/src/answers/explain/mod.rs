//! The reasons for an assignment, the origins of its values, and overviews of what a name means.

mod assignment;
mod held;
mod overview;
mod value;

pub use self::assignment::{AssignmentFacts, explained_assignment};
pub use self::overview::{NameOverviews, Overviews};
pub use self::value::explained_value;
