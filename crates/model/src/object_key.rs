//! The identity of an object: its kind and name.

use std::fmt;
use std::sync::Arc;

use crate::kind::Kind;
use crate::name::RegistrationName;

/// The identity of an object inside a fleet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// Its kind.
    pub kind: Kind,
    /// Its name.
    pub name: Arc<str>,
    /// The registration whose repository it is from, for kinds of which each repository names its own: `ConfigSchema`s.
    pub of: Option<RegistrationName>,
}

/// ``policy `edge` ``
impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.kind, self.name)
    }
}
