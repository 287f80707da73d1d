//! The problems that are found while a tree is built.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::problem::shown;
use super::resolve::{resolve_plain, resolve_tagged};
use super::{ProblemKind, Scalar, Span, Tag, YamlProblem};

pub(super) fn unknown_alias(name: &str, span: Span) -> YamlProblem {
    let message =
        format!("{} refers to an anchor that this document does not define before it", shown(&format!("*{name}")));
    let hint = "a plain value cannot begin with `*`: put it in quotes if it is a text";
    YamlProblem::new(ProblemKind::Alias, span, message).hint(hint)
}

pub(super) fn cycle(span: Span) -> YamlProblem {
    YamlProblem::new(ProblemKind::Alias, span, "this alias stands for a value that it is a part of")
}

pub(super) fn excessive_aliases(allowed: usize, span: Span) -> YamlProblem {
    let message = format!("the aliases of this document stand for more than {allowed} values");
    YamlProblem::new(ProblemKind::Alias, span, message)
        .hint("repeat less: the values inside an aliased value count every time")
}

pub(super) fn too_deep(limit: usize, span: Span) -> YamlProblem {
    YamlProblem::new(
        ProblemKind::Depth,
        span,
        format!("more than {limit} mappings and lists are inside one another here"),
    )
}

pub(super) fn too_many_nodes(limit: usize, span: Span) -> YamlProblem {
    let message = format!("the text has more than {limit} values; reading stopped here");
    YamlProblem::new(ProblemKind::Limit, span, message).hint("split it into several files")
}

pub(super) fn unknown_tag(tag: &str, place: &granit_parser::Span) -> YamlProblem {
    let range = place.tag_span().and_then(|span| span.byte_range()).or_else(|| place.byte_range()).unwrap_or_default();
    let message = format!("the tag {} has no effect here and is ignored", shown(tag));
    YamlProblem::new(ProblemKind::UnknownTag, Span::new(range.start, range.end), message)
        .hint("put the value in quotes if the `!` belongs to it")
}

/// Converts the content of a scalar as its tag requires: decodes `!!binary`, and checks that a number is valid.
pub(super) fn apply_tag(scalar: &mut Scalar, span: Span) -> Result<(), Box<YamlProblem>> {
    if scalar.tag == Some(Tag::Binary) {
        scalar.tag = Some(Tag::Text);
        scalar.text =
            decode_binary(&scalar.text).map_err(|message| YamlProblem::new(ProblemKind::TagMismatch, span, message))?;
    }
    if resolve_tagged(scalar).is_some() { Ok(()) } else { Err(tag_mismatch(scalar, span).into()) }
}

fn tag_mismatch(scalar: &Scalar, span: Span) -> YamlProblem {
    let expected = match scalar.tag {
        Some(Tag::Null) => "!!null",
        Some(Tag::Bool) => "!!bool",
        Some(Tag::Int) => "!!int",
        _ => "!!float",
    };
    let message =
        format!("{} is {}, but its tag is {expected}", shown(&scalar.text), resolve_plain(&scalar.text).noun());
    YamlProblem::new(ProblemKind::TagMismatch, span, message)
}

/// The text that the content of `!!binary` encodes. All values are texts, so other content is a problem.
fn decode_binary(content: &str) -> Result<Arc<str>, &'static str> {
    let digits: String = content.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let bytes = BASE64_STANDARD.decode(digits).map_err(|_| "this value is not base64, but its tag is !!binary")?;
    String::from_utf8(bytes).map(Into::into).map_err(|_| "this !!binary value is not text")
}
