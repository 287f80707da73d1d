//! The namespaces of assignments.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::kind::Kind;

use super::{Content, Context};
use crate::settings::LongNames;

/// The maximum length of a namespace name in Kubernetes, in bytes.
pub const NAMESPACE_LENGTH_MAX: usize = 63;

/// The namespace name as in Microsoft's Kalypso: `<environment>-<place>-<target>`. If the setting is [`LongNames::Shorten`], a name that is no DNS label is
/// shortened.
pub(super) fn namespace(context: &Context<'_>) -> String {
    let whole = whole_namespace(context);
    match context.long_names {
        LongNames::Error => whole,
        LongNames::Shorten => gotemplate::short_label(&whole, NAMESPACE_LENGTH_MAX),
    }
}

/// Whether the namespace name is too long for Kubernetes and is not shortened.
pub(super) fn is_too_long(context: &Context<'_>) -> bool {
    const DASHES: usize = 2;
    let parts = [context.environment.as_str(), context.place.name_text(), context.target.name.as_str()];
    let length = parts.iter().map(|part| part.len()).sum::<usize>() + DASHES;
    context.long_names == LongNames::Error && length > NAMESPACE_LENGTH_MAX
}

fn whole_namespace(context: &Context<'_>) -> String {
    format!("{}-{}-{}", context.environment, context.place.name_text(), context.target.name)
}

/// Reports a namespace name that is too long, if a file contains it. Templates may shorten the name themselves.
pub(super) fn check_namespace(context: &Context<'_>, files: &BTreeMap<Arc<str>, Content>) -> Option<Diagnostic> {
    if !is_too_long(context) {
        return None;
    }
    let name = namespace(context);
    // Other names that Kubernetes refuses are found where a manifest uses them as a namespace.
    let contains = |content: &Content| match content {
        Content::Bytes(bytes) => String::from_utf8_lossy(bytes).contains(&name),
        Content::Shared(_) => false,
    };
    let (file, _) = files.iter().find(|(_, content)| contains(content))?;
    Some(refused(context, file))
}

/// Reports that Kubernetes refuses the namespace name that a file contains.
pub(super) fn refused(context: &Context<'_>, file: &str) -> Diagnostic {
    let name = namespace(context);
    let key = context.place.key();
    let what = context.place.kind();
    let (message, change) = if name.len() > NAMESPACE_LENGTH_MAX {
        let length = name.len();
        (
            format!("the namespace `{name}` has {length} characters, Kubernetes allows {NAMESPACE_LENGTH_MAX}"),
            "shorten one of the names",
        )
    } else {
        let allowed = "only lower case letters, digits and `-` are allowed";
        (format!("Kubernetes refuses the namespace `{name}`: {allowed}"), "use names without dots")
    };
    let (object, path) = &context.target.origin;
    let path = if object.kind == Kind::Workload { path.key("name") } else { FieldPath::from(["metadata", "name"]) };
    Diagnostic::error(Code::NamespaceTooLong, message)
        .at(Origin::field(object, path), "the target's part of the name")
        .at(Origin::field(&key, FieldPath::from(["metadata", "name"])), format!("the {what}'s part of the name"))
        .note(format!("it is used in {file}"))
        .help(format!("{change}, or put the annotation `names.kalypso.io/long: shorten` on the environment"))
}
