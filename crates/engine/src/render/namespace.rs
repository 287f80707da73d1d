//! The namespaces of assignments.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::kind::Kind;

use super::{Content, Context};
use crate::settings::LongNames;

/// The longest name of a namespace that Kubernetes allows, in bytes.
pub const NAMESPACE_LENGTH_MAX: usize = 63;

/// How many digits of its hash a shortened namespace ends with.
const HASH_DIGITS: usize = 8;

/// The namespace as Microsoft's Kalypso names it, or shortened if that is wanted.
pub(super) fn namespace(context: &Context<'_>) -> String {
    let whole = whole_namespace(context);
    if whole.len() <= NAMESPACE_LENGTH_MAX || context.long_names == LongNames::Error {
        return whole;
    }
    let start = whole[..NAMESPACE_LENGTH_MAX - HASH_DIGITS - 1].trim_end_matches(['-', '.']);
    format!("{start}-{}", crate::digest::hex(whole.as_bytes(), HASH_DIGITS))
}

/// Whether the namespace is longer than Kubernetes allows.
pub(super) fn is_too_long(context: &Context<'_>) -> bool {
    const DASHES: usize = 2;
    let parts = [context.environment.as_str(), context.place.name_text(), context.target.name.as_str()];
    let length = parts.iter().map(|part| part.len()).sum::<usize>() + DASHES;
    context.long_names == LongNames::Error && length > NAMESPACE_LENGTH_MAX
}

fn whole_namespace(context: &Context<'_>) -> String {
    format!("{}-{}-{}", context.environment, context.place.name_text(), context.target.name)
}

/// Reports a namespace that is too long, where it is in a file. Templates that cut it themselves are fine.
pub(super) fn check_namespace(context: &Context<'_>, files: &BTreeMap<Arc<str>, Content>) -> Option<Diagnostic> {
    if !is_too_long(context) {
        return None;
    }
    let name = namespace(context);
    let contains = |content: &Content| match content {
        Content::Bytes(bytes) => String::from_utf8_lossy(bytes).contains(&name),
        Content::Known(_) => false,
    };
    let (file, _) = files.iter().find(|(_, content)| contains(content))?;
    let key = context.place.key();
    let what = context.place.kind();
    let message =
        format!("the namespace `{name}` has {} characters, Kubernetes allows {NAMESPACE_LENGTH_MAX}", name.len());
    let (object, path) = &context.target.origin;
    let path = if object.kind == Kind::Workload { path.key("name") } else { FieldPath::from(["metadata", "name"]) };
    Some(
        Diagnostic::error(Code::NamespaceTooLong, message)
            .at(Origin::field(object, path), "the target's part of the name")
            .at(Origin::field(&key, FieldPath::from(["metadata", "name"])), format!("the {what}'s part of the name"))
            .note(format!("it is used in {file}"))
            .help(
                "shorten one of the names, or put the annotation `names.kalypso.io/long: shorten` on the environment",
            ),
    )
}
