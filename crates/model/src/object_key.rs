//! The identity of an object: its kind and name.

use std::fmt;
use std::sync::Arc;

use crate::kind::Kind;
use crate::name::RegistrationName;

/// The identity of an object inside a fleet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// The kind of the object.
    pub kind: Kind,
    /// The name of the object.
    pub name: Arc<str>,
    /// The registration whose repository contains the object, for kinds whose names are unique only within a repository: `ConfigSchema`s. None for all others.
    pub of: Option<RegistrationName>,
}

/// Writes the kind and the name: ``policy `edge` ``
impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.kind, self.name)
    }
}
