//! Warns of credentials in clear, in the values of containers and in the texts of targets.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::credential;
use model::diagnostic::{Code, Diagnostic, FieldPart, Origin};
use model::field_path::FieldPath;

use crate::compose::container::Container;
use crate::prepare::Prepared;
use crate::schedule::target::Target;
use crate::sensitive::redaction;

/// Warns of each credential once, at its place. Values that the platform marks as sensitive are left out.
pub(crate) fn diagnostics(prepared: &Prepared) -> Vec<Diagnostic> {
    let marked = &prepared.schemas.sensitive_everywhere;
    let of_containers = prepared.containers.list.iter().flat_map(|container| of_container(container, marked));
    of_containers.chain(prepared.targets().iter().flat_map(|target| of_target(target))).collect()
}

fn of_container<'c>(
    container: &'c Container,
    marked: &'c BTreeSet<FieldPath>,
) -> impl Iterator<Item = Diagnostic> + 'c {
    let unmarked = container.credentials.iter().filter(|found| !redaction::covers(marked, &found.path));
    unmarked.filter_map(|found| {
        let entry = container.entries.iter().find(|entry| *entry.key == *found.key())?;
        let inside: FieldPath = found.path.steps().iter().skip(1).cloned().collect();
        let part = if inside.steps().is_empty() { FieldPart::Value } else { FieldPart::Inside(inside) };
        Some(warning(&found.path, found.kind).at(container.origin(entry, part), "").about(&container.key()))
    })
}

fn of_target(target: &Target) -> Vec<Diagnostic> {
    let (object, path) = &target.origin;
    let found = target.manifests.iter().filter_map(|(key, text)| Some((key, credential::likely(key, text)?)));
    let diagnostic = |(key, kind): (&Arc<str>, &'static str)| {
        let at = path.key("manifests").key(Arc::clone(key));
        warning(&FieldPath::from([&**key]), kind).at(Origin::field(object, at), "").about(object)
    };
    found.map(diagnostic).collect()
}

fn warning(path: &FieldPath, kind: &str) -> Diagnostic {
    Diagnostic::warning(
        Code::ClearCredential,
        format!("`{path}` looks like {kind}, which all readers of the repository see"),
    )
    .help("replace the credential, put the new one into a vault, and write here where it is")
}
