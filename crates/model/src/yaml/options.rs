//! Options for reading a text.

use super::YamlLimits;

/// The options for reading a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct YamlOptions {
    /// The dialect of the text.
    pub dialect: YamlDialect,
    /// The limits for the text.
    pub limits: YamlLimits,
}

impl YamlOptions {
    /// For files of Kubernetes objects.
    pub const OBJECTS: Self = Self { dialect: YamlDialect::Objects, limits: YamlLimits::DEFAULT };

    /// For the values inside a `ConfigMap`.
    pub const VALUES: Self = Self { dialect: YamlDialect::Values, limits: YamlLimits::DEFAULT };

    /// For JSON inside a field of an object.
    pub const JSON: Self = Self { dialect: YamlDialect::Json, limits: YamlLimits::DEFAULT };
}

/// The rules for keys and merge keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum YamlDialect {
    /// Objects, by the rules of Flux and Kubernetes: a duplicate key in a mapping is a problem, and a merge key overrides nothing.
    Objects,
    /// Values, by the rules of Go's `yaml.v2`: the last entry counts, also with merge keys.
    Values,
    /// JSON, which another reader has accepted: the last entry counts. Forms that Go's YAML libraries refuse are no problem, such as the escape `\/`.
    Json,
}
