//! Values of an environment, found by their keys and texts.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::assignment_name::AssignmentName;
use super::position::SourcePosition;

/// What is searched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct ValueQuery {
    /// A part of a key or of a value; upper and lower case are the same. The text of a sensitive value is never compared.
    pub q: String,
    /// The maximum number of values. Default 100, at most 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub limit: Option<usize>,
}

/// Values that were found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompiledValues {
    /// The values, by key.
    pub items: Vec<CompiledValue>,
    /// Whether there are more: a longer text finds fewer.
    pub has_more: bool,
}

/// A value of assignments, from the same `ConfigMap`s.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompiledValue {
    /// The key.
    pub key: String,
    /// The value, in the form that may be shown.
    pub value: String,
    /// Whether it is sensitive; then `value` is a digest.
    pub is_sensitive: bool,
    /// What sets it; several if each sets a part.
    pub set_by: Vec<ValueSetter>,
    /// The number of assignments that have it.
    pub assignment_count: usize,
    /// The first ones of them.
    pub assignments: Vec<AssignmentName>,
}

/// A `ConfigMap` that sets a value or a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValueSetter {
    /// The name of the `ConfigMap`.
    pub config_map: String,
    /// Where the value is written.
    pub place: Option<SourcePosition>,
}
