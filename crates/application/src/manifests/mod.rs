//! Manifests of Kubernetes: the objects in a text, and what is probably wrong with them.

mod checks;
mod object;

pub use self::checks::check;
pub use self::object::{ManifestObject, ObjectId, ObjectPlace, Parsed, parse};
pub(crate) use self::object::{contents, is_manifest};
