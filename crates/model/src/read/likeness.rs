//! What looks like an object of Kalypso's, and is none.

use crate::decode::text;
use crate::kind::{Kind, SCHEDULER_GROUP};
use crate::limits::SIMILAR_WORD_BYTES_MAX;
use crate::similar;
use crate::yaml::Node;

/// The parts that objects have. What has two of them is one, or was meant to be.
const PARTS: [&str; 4] = ["apiVersion", "kind", "metadata", "spec"];
const PARTS_MIN: usize = 2;

/// Whether a document without a kind was probably meant to be an object: it has parts that only objects have, or says that it is one of ours. Files of
/// other tools, such as `Chart.yaml`, `values.yaml` or pipelines, are none.
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

/// Whether an object of no known kind is more probably a misspelled one of ours than one of another system: its group is ours, or nearly so; or its
/// group, or lack of one, is that of a known kind which is written nearly so.
pub(super) fn is_meant_for_us(api_version: &str, kind: &str) -> bool {
    let (group, _) = api_version.rsplit_once('/').unwrap_or_default();
    let stem = kind.strip_suffix("List").unwrap_or(kind);
    let is_like = |known: &Kind| {
        let is_of_group = known.group() == group || (group.is_empty() && known.is_own());
        is_of_group && (is_near(known.name(), kind) || known.name() == stem)
    };
    is_of_ours(api_version) || Kind::ALL.iter().any(is_like)
}

/// Whether an API version is of a group of ours, or nearly so.
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

/// The kind that was probably meant.
pub(super) fn nearest_kind(written: &str) -> Option<Kind> {
    const LETTERS_MAX: usize = 3;
    if written.len() > SIMILAR_WORD_BYTES_MAX {
        return None;
    }
    let distance = |kind: &Kind| strsim::damerau_levenshtein(kind.name(), written);
    Kind::ALL.iter().copied().filter(|kind| distance(kind) <= LETTERS_MAX).min_by_key(distance)
}
