//! Filters warnings about objects that several environments share. An object without effect in one environment may have an effect in another one.

use std::collections::BTreeSet;
use std::sync::Arc;

use git::load::ReadRole;
use model::diagnostic::{Code, Diagnostic};
use model::object_key::ObjectKey;

use crate::sources::loaded::Loaded;

/// Identifies a warning about a shared object in all environments.
type Shared = (Arc<str>, ObjectKey, Code, String);

/// Removes warnings about shared objects that have an effect in another one of these environments. `found` contains the diagnostics of each environment.
pub fn without_used_elsewhere(environments: &[&Loaded], found: Vec<Vec<Diagnostic>>) -> Vec<Vec<Diagnostic>> {
    let given: Vec<BTreeSet<Shared>> = environments
        .iter()
        .zip(&found)
        .map(|(loaded, found)| found.iter().filter_map(|diagnostic| shared(loaded, diagnostic)).collect())
        .collect();
    let is_elsewhere = |shared: &Shared| {
        let (url, object, ..) = shared;
        environments
            .iter()
            .zip(&given)
            .any(|(loaded, given)| url_of(loaded, object).is_some_and(|found| found == *url) && !given.contains(shared))
    };
    let certain = |(loaded, found): (&&Loaded, Vec<Diagnostic>)| -> Vec<Diagnostic> {
        let is_certain =
            |diagnostic: &Diagnostic| !shared(loaded, diagnostic).is_some_and(|shared| is_elsewhere(&shared));
        found.into_iter().filter(is_certain).collect()
    };
    environments.iter().zip(found).map(certain).collect()
}

/// Removes warnings about shared objects, because these may have an effect in environments that were not read.
pub fn without_possibly_used(loaded: &Loaded, found: &[Diagnostic]) -> Vec<Diagnostic> {
    found.iter().filter(|diagnostic| shared(loaded, diagnostic).is_none()).cloned().collect()
}

/// The key of a warning that an object of a base repository has no effect. None for any other diagnostic.
fn shared(loaded: &Loaded, diagnostic: &Diagnostic) -> Option<Shared> {
    let has_no_effect = matches!(
        diagnostic.code,
        Code::NoClusterTypeSelected | Code::NoTargetSelected | Code::UnusedPin | Code::AppliesToNothing
    );
    let object = diagnostic.object.as_ref().filter(|_| has_no_effect)?;
    let address = loaded.fleet.address(object)?;
    let source = &loaded.fleet.files.get(address.file).source;
    let is_source = |read: &&git::load::Read| read.url.as_str() == &*source.url && read.revision == source.revision;
    let is_base = |read: &git::load::Read| matches!(read.role, ReadRole::Base(_) | ReadRole::Flux(_));
    let is_shared = loaded.reads.iter().any(|read| is_source(&read) && is_base(read));
    let is_own = loaded.reads.iter().any(|read| is_source(&read) && read.role == ReadRole::Environment);
    let label = diagnostic.labels.first().map(|label| format!("{:?}", label.origin)).unwrap_or_default();
    (is_shared && !is_own).then(|| (Arc::clone(&source.url), object.clone(), diagnostic.code, label))
}

/// The URL of the repository that contains an object.
fn url_of(loaded: &Loaded, object: &ObjectKey) -> Option<Arc<str>> {
    let address = loaded.fleet.address(object)?;
    Some(Arc::clone(&loaded.fleet.files.get(address.file).source.url))
}
