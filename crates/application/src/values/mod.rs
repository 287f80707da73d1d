//! The values of targets: a tree of folders with `values.yaml` files, which are merged from the root to each leaf.

mod data;
mod merge;
mod tree;

pub use self::data::json;
pub(crate) use self::merge::unknown_variable;
pub use self::merge::{Layer, MergedValue, Overridden, ValueContent, ValuePlace, merge};
pub use self::tree::{TargetPath, VALUES_FILE, ValuesTree};
