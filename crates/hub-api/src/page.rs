//! Which page of a list.

use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

/// Which page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct Page {
    /// What the page before had as `next`; none for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// How many rows at most: 100 if it is not said, 1000 at most. A page may have fewer, or none, and yet a `next`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub limit: Option<usize>,
}
