//! Options for reading a text.

use super::Limits;

/// The options for reading a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The dialect of the text.
    pub dialect: Dialect,
    /// The limits for the text.
    pub limits: Limits,
}

impl Options {
    /// For files of Kubernetes objects.
    pub const OBJECTS: Self = Self { dialect: Dialect::Objects, limits: Limits::DEFAULT };

    /// For the values inside a `ConfigMap`.
    pub const VALUES: Self = Self { dialect: Dialect::Values, limits: Limits::DEFAULT };

    /// For JSON inside a field of an object.
    pub const JSON: Self = Self { dialect: Dialect::Json, limits: Limits::DEFAULT };
}

/// The rules for keys and merge keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Objects, by the rules of Flux and Kubernetes: a duplicate key in a mapping is a problem, and a merge key overrides nothing.
    Objects,
    /// Values, by the rules of Go's `yaml.v2`: the last entry counts, also with merge keys.
    Values,
    /// JSON, which another reader has accepted: the last entry counts. Forms that Go's YAML libraries refuse are no problem, such as the escape `\/`.
    Json,
}
