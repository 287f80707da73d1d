//! One limit of what a repository may bring.

use std::sync::Arc;

use crate::object::allow::Allow;
use crate::object_key::ObjectKey;
use crate::source::Address;

/// One `allow`, with the object that declares it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Limit {
    /// The address of the `Environment` or `BaseRepo`.
    pub address: Address,
    /// The `Environment` or `BaseRepo`.
    pub by: ObjectKey,
    /// What it allows.
    pub allow: Arc<Allow>,
}
