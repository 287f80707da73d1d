//! Recognises documents that are probably misspelled objects of Kalypso.

use crate::decode::text;
use crate::kind::{Kind, SCHEDULER_GROUP};
use crate::limits::SIMILAR_WORD_BYTES_MAX;
use crate::similar;
use crate::yaml::Node;

/// The parts of objects. A document with two of them is an object, or its author meant it to be one.
const PARTS: [&str; 4] = ["apiVersion", "kind", "metadata", "spec"];
const PARTS_MIN: usize = 2;

/// Whether a document without a kind is probably meant to be an object: it has several parts of objects, or its API version or kind is one of Kalypso's.
/// Files of other tools, such as `Chart.yaml`, `values.yaml` or pipelines, are not.
pub(super) fn is_like_object(root: &Node) -> bool {
    let entries = root.as_mapping().unwrap_or_default();
    let keys = || entries.iter().filter_map(|(key, value)| Some((&*key.as_scalar()?.text, value)));
    let has_part = |part: &&str| keys().any(|(key, _)| is_part(part, key));
    let names_kind = |(key, value): (&str, &Node)| {
        let kind = value.as_scalar().map_or("", |scalar| &*scalar.text);
        is_part("kind", key) && Kind::ALL.iter().any(|known| known.name() == kind)
    };
    PARTS.iter().filter(|part| has_part(part)).count() >= PARTS_MIN
        || keys().any(names_kind)
        || is_of_ours(&text(root, &["apiVersion"]))
}

fn is_part(part: &str, written: &str) -> bool {
    part.eq_ignore_ascii_case(written) || similar::nearest(written, [part]).is_some()
}

/// Whether an object of an unknown kind is probably a misspelled object of Kalypso, not an object of another system. That is so if its group is one of
/// Kalypso's, or similar to one; or if its kind is similar to a known kind, and its group is that kind's group or is missing.
pub(super) fn is_meant_for_us(api_version: &str, kind: &str) -> bool {
    let (group, _) = api_version.rsplit_once('/').unwrap_or_default();
    let stem = kind.strip_suffix("List").unwrap_or(kind);
    let is_like = |known: &Kind| {
        let is_of_group = known.group() == group || (group.is_empty() && known.is_own());
        is_of_group && (is_near(known.name(), kind) || known.name() == stem)
    };
    is_of_ours(api_version) || Kind::ALL.iter().any(is_like)
}

/// Whether the group of an API version is one of Kalypso's, or similar to one.
fn is_of_ours(api_version: &str) -> bool {
    let (group, _) = api_version.rsplit_once('/').unwrap_or_default();
    let is_ours = |own: &Kind| own.is_own() && (is_near(own.group(), group) || own.group() == api_version);
    let (_, domain) = SCHEDULER_GROUP.split_once('.').unwrap_or_default();
    let is_below = group.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    is_below || Kind::ALL.iter().any(is_ours)
}

fn is_near(known: &str, written: &str) -> bool {
    const LETTERS_MAX: usize = 2;
    written.len() <= SIMILAR_WORD_BYTES_MAX && strsim::damerau_levenshtein(known, written) <= LETTERS_MAX
}

/// The known kind that the author probably meant.
pub(super) fn nearest_kind(written: &str) -> Option<Kind> {
    const LETTERS_MAX: usize = 3;
    if written.len() > SIMILAR_WORD_BYTES_MAX {
        return None;
    }
    let distance = |kind: &Kind| strsim::damerau_levenshtein(kind.name(), written);
    Kind::ALL.iter().copied().filter(|kind| distance(kind) <= LETTERS_MAX).min_by_key(distance)
}
