//! Reports keys of `manifests` that no template reads, and that are nearly a key that one reads.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::object::release::RELEASE_KEYS;
use model::similar;

use crate::prepare::Prepared;

/// The keys that Kalypso itself reads, beside those that name a release.
const OWN_KEYS: [&str; 2] = ["repo", "path"];

/// A warning for each misspelled key of a target. Empty if a template may read any key: then no key is surely unread.
///
/// A key that is like no other one may be for something else, so it is not reported.
pub(crate) fn diagnostics(prepared: &Prepared) -> Vec<Diagnostic> {
    let Some(read) = prepared.read_manifests_keys() else { return Vec::new() };
    let mut nearest: BTreeMap<&Arc<str>, Option<&str>> = BTreeMap::new();
    let mut nearest = |key| {
        *nearest.entry(key).or_insert_with(|| {
            let is_known = read.contains(&**key) || RELEASE_KEYS.iter().chain(&OWN_KEYS).any(|known| **known == **key);
            if is_known { None } else { similar::nearest(key, read.iter().copied()) }
        })
    };
    let mut found = Vec::new();
    for target in prepared.targets() {
        for key in target.manifests.keys() {
            let Some(nearest) = nearest(key) else { continue };
            let (object, path) = &target.origin;
            let message = format!("no template reads the key `{key}` in the manifests of `{}`", target.name);
            let diagnostic = Diagnostic::warning(Code::UnreadManifestsKey, message)
                .at(Origin::field(object, path.key("manifests").key(Arc::clone(key))), "it has no effect")
                .help(format!("the nearest key that a template reads is `{nearest}`"))
                .about(object);
            found.push(diagnostic);
        }
    }
    found
}
