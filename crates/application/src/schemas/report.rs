//! The diagnostics of manifests that do not fit their schemas.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::count::count;
use model::credential::likely;
use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldStep;
use model::similar;
use model::source::FileId;
use model::yaml::{Node, Span};

use super::kubernetes;
use super::walk::{FieldProblem, Mismatch};
use crate::manifests::ManifestObject;

/// The group of kinds that moved to other groups.
const MOVED: &str = "extensions";

/// Whether an object is a secret: its values are in no message, and no line of it is shown.
pub(super) fn is_secret(object: &ManifestObject) -> bool {
    (&*object.id.group, &*object.id.kind) == ("", "Secret")
}

/// A field that does not fit its schema.
pub(super) fn mismatch(object: &ManifestObject, found: Mismatch) -> Diagnostic {
    let Mismatch { path, span, problem } = found;
    // Many targets of one chart have the same problem.
    let cause = |what: &str| format!("{} {path} {what}", object.id.kind);
    let diagnostic = match problem {
        FieldProblem::Missing => {
            let message = format!("`{path}` is missing in {}", object.id);
            Diagnostic::error(Code::ManifestSchema, message)
                .help(format!("add it: the schema of {} requires it", object.id.kind))
                .because(cause("missing"))
        }
        FieldProblem::Unknown { nearest } => {
            let message = format!("`{path}` is no field of {}", object.id);
            let help = nearest.map(|nearest| format!("did you mean `{nearest}`?"));
            let help = help.unwrap_or_else(|| "correct its name or its indentation, or remove it".to_owned());
            Diagnostic::warning(Code::ManifestSchema, message)
                .note("a cluster refuses it or drops it, unless it has a newer version of the kind")
                .help(help)
                .because(cause("unknown"))
        }
        FieldProblem::Wrong { predicate, help } => {
            let message = match path.steps() {
                [] => format!("{} {predicate}", object.id),
                _ => format!("`{path}` of {} {predicate}", object.id),
            };
            let cause = cause(&predicate);
            let diagnostic = Diagnostic::error(Code::ManifestSchema, message).because(cause);
            help.into_iter().fold(diagnostic, Diagnostic::help)
        }
    };
    let is_hidden = is_secret(object) || is_likely_secret(object, path.steps());
    diagnostic.at(if is_hidden { Origin::File(object.place.file) } else { place(object, span) }, "")
}

fn place(object: &ManifestObject, span: Span) -> Origin {
    Origin::Span(object.place.file, span)
}

/// Whether the value of a field looks like a credential by its key: also that of an environment variable with such a name.
fn is_likely_secret(object: &ManifestObject, path: &[FieldStep]) -> bool {
    let mut node = Some(&object.node);
    let mut key = "";
    for step in path {
        let named = node.and_then(|node| node.get("name")).and_then(Node::as_scalar);
        (node, key) = match step {
            FieldStep::Index(index) => (node.and_then(|node| node.index(*index)), key),
            FieldStep::Key(name) => {
                let named = named.filter(|_| &**name == "value").map_or(&**name, |named| &*named.text);
                (node.and_then(|node| node.get(name)), named)
            }
        };
    }
    node.and_then(Node::as_scalar).is_some_and(|scalar| likely(key, &scalar.text).is_some())
}

/// An object of a custom kind, in a version that its definition does not have.
pub(super) fn other_version(object: &ManifestObject, versions: &[&str]) -> Diagnostic {
    let versions: Vec<_> = versions.iter().map(|version| format!("`{}/{version}`", object.id.group)).collect();
    let message = format!("the definition of {} has no such version", object.id.kind);
    let help = match versions.as_slice() {
        [] => "the definition serves none".to_owned(),
        versions => format!("write {}", versions.join(" or ")),
    };
    at_version(object, message).help(help)
}

/// An object of a group of Kubernetes, in a version or of a kind that the schemas do not have. None: the group is another one.
pub(super) fn removed(object: &ManifestObject, api_version: &str) -> Option<Diagnostic> {
    let (group, kind) = (&*object.id.group, &*object.id.kind);
    let schemas = kubernetes::schemas();
    let kinds = schemas.kinds_of(group);
    if kinds.is_empty() && group != MOVED {
        return None;
    }
    let mut known: Vec<_> = schemas.versions(group, kind).collect();
    if known.is_empty() && group == MOVED {
        known = schemas.named(kind).collect();
    }
    let names = known.iter().map(|known| match &*known.group {
        "" => format!("`{}`", known.version),
        group => format!("`{group}/{}`", known.version),
    });
    let names = names.collect::<Vec<_>>().join(" or ");
    let message = format!("Kubernetes {} has no {kind} of `{api_version}`", schemas.version);
    let found = at_version(object, message);
    Some(match (names.as_str(), similar::nearest(kind, kinds.iter().copied())) {
        ("", Some(nearest)) => found.help(format!("did you mean `{nearest}`?")),
        ("", None) => found.help("remove it, or replace it by another kind"),
        (names, _) => found.help(format!("write {names}: clusters of this version refuse or ignore the older one")),
    })
}

fn at_version(object: &ManifestObject, message: String) -> Diagnostic {
    let span = object.node.get("apiVersion").map_or(object.node.span, |node| node.span);
    let origin = if is_secret(object) { Origin::File(object.place.file) } else { place(object, span) };
    let cause = format!("{message} {}", object.id.group);
    Diagnostic::warning(Code::ManifestSchema, message)
        .at(origin, "")
        .note(format!("it is {}", object.id))
        .because(cause)
}

/// The warning that the rest of the objects was not compared, from this one on.
pub(super) fn incomplete(object: &ManifestObject, too_many: bool) -> Diagnostic {
    let reason = if too_many { "there are too many problems" } else { "the schemas and manifests are too large" };
    let message = format!("the manifests are validated only up to {}: {reason}", object.id);
    Diagnostic::warning(Code::ManifestSchema, message)
        .at(Origin::File(object.place.file), "")
        .help("correct the first ones; `skip-kinds` in `[kubernetes]` leaves kinds out")
}

/// The note that objects were not validated, because their kinds have no known schema. None: there are no such objects.
pub fn unvalidated(unknown: &BTreeMap<Arc<str>, usize>, settings_file: FileId) -> Option<Diagnostic> {
    let total: usize = unknown.values().sum();
    if total == 0 {
        return None;
    }
    let kinds: Vec<_> = unknown.iter().map(|(kind, number)| format!("{number} {kind}")).collect();
    let (verb, are) = if total == 1 { ("has", "it is") } else { ("have", "they are") };
    let message =
        format!("{} {verb} no known schema, so {are} not validated: {}", count(total, "manifest"), kinds.join(", "));
    let found = Diagnostic::hint(Code::ManifestSchema, message).at(Origin::File(settings_file), "");
    Some(found.help(
        "put their custom resource definitions into a folder, and name it: `schemas = \"schemas\"` in `[kubernetes]`",
    ))
}
