//! The objects that declare environments, and the way of changes through them.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::fleet::FleetFile;
use model::kind::Kind;
use model::object::{AnyObject, Environment, Object, Promotion};

/// The `Environment` and `Promotion` objects of a control plane.
#[derive(Clone, Debug, Default)]
pub struct Declarations {
    /// The `Environment`s, in the order of their files.
    pub environments: Vec<Arc<Object<Environment>>>,
    /// The `Promotion`s, in the order of their files.
    pub promotions: Vec<Arc<Object<Promotion>>>,
    /// The names of `Promotion`s with errors that have no earlier version without.
    pub broken: BTreeSet<Arc<str>>,
    /// Whether the files could be read. If not, or if a `Promotion` is broken, gates may be missing here: this never means that there are no gates.
    pub is_complete: bool,
}

impl Declarations {
    /// The declarations in these files.
    pub(super) fn from_files(files: &[FleetFile], is_complete: bool) -> Self {
        let mut found = Self { is_complete, ..Self::default() };
        for object in files.iter().flat_map(|file| &file.objects.objects) {
            match object {
                AnyObject::Environment(environment) => found.environments.push(Arc::clone(environment)),
                AnyObject::Promotion(promotion) => found.promotions.push(Arc::clone(promotion)),
                _ => {}
            }
        }
        let diagnostics = files.iter().flat_map(|file| &file.objects.diagnostics).filter(|found| found.is_error());
        let keys = diagnostics.filter_map(|found| found.object.as_ref()).filter(|key| key.kind == Kind::Promotion);
        let is_read = |name: &Arc<str>| found.promotions.iter().any(|promotion| promotion.name.as_ref() == name);
        found.broken = keys.map(|key| Arc::clone(&key.name)).filter(|name| !is_read(name)).collect();
        found
    }

    /// Whether all `Promotion`s are known.
    pub fn are_known(&self) -> bool {
        self.is_complete && self.broken.is_empty()
    }
}
