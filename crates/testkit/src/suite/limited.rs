//! The limits of base repositories in a case.

use std::collections::BTreeMap;

use model::fleet::limits::Chain;
use model::fleet::{AuthorRole, FleetFile, Limits};
use model::object::AnyObject;
use model::source::Files;

/// The start of the paths of base repositories: `base/NAME@REVISION:PATH`.
pub(super) const PREFIX: &str = "base/";

/// The maximum number of base repositories below one another.
const DEPTH_MAX: usize = 8;

/// Sets the limits of files in base repositories, and in the repositories that are registered there.
pub(super) fn apply(contents: &mut [FleetFile], files: &Files) {
    // The limits of a repository are known after those of the repository that declares it.
    for _ in 0..DEPTH_MAX {
        let (mut bases, mut registrations) = (BTreeMap::new(), BTreeMap::new());
        for file in &*contents {
            let chain = file.limits.chains().into_iter().next().unwrap_or_default();
            for object in &file.objects.objects {
                match object {
                    AnyObject::BaseRepo(base) => drop(bases.insert(base.name.to_string(), chain.below(base))),
                    AnyObject::WorkloadRegistration(found) => {
                        registrations.insert(found.name.clone(), file.limits.clone());
                    }
                    _ => {}
                }
            }
        }
        for file in contents.iter_mut() {
            let name = &files.get(file.file).source.label;
            file.limits = match &file.role {
                AuthorRole::Application(registration) => registrations.get(registration).cloned().unwrap_or_default(),
                AuthorRole::Platform => Limits::from_chain(bases.get(&**name).cloned().unwrap_or_else(Chain::default)),
            };
        }
    }
}
