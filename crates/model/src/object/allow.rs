//! `spec.allow`: what a repository may bring, and all repositories below it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::config_map::IGNORED_LABELS;
use crate::decode::{self, Decoder, is_null, scalar_text};
use crate::diagnostic::Code;
use crate::field_path::FieldPath;
use crate::kind::Kind;
use crate::label::Labels;
use crate::shape::{Field, Shape, optional};
use crate::yaml::{Node, Resolved, Scalar};

/// What a repository may bring. A part that is not set limits nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Allow {
    /// The kinds of its objects.
    pub kinds: Option<BTreeSet<Kind>>,
    /// The names of its objects.
    pub names: Option<Vec<Pattern>>,
    /// The labels that each of its objects has or requires.
    pub labels: Labels,
    /// The keys that its `ConfigMap`s set.
    pub keys: Option<Vec<Pattern>>,
    /// The priorities of its `ConfigMap`s.
    pub priority: Option<PriorityRange>,
    /// The workspaces of its registrations.
    pub workspaces: Option<Vec<Pattern>>,
}

/// A range of priorities, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PriorityRange {
    /// The lowest priority.
    pub min: Option<i64>,
    /// The highest priority.
    pub max: Option<i64>,
}

/// A text in which `*` stands for any text, also for none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pattern(Arc<str>);

/// The kinds that `kinds` can name. `Environment`s and `Promotion`s are read from the control plane's main branch only.
const KINDS: &[&str] = &[
    "BaseRepo",
    "Cluster",
    "ClusterType",
    "ConfigMap",
    "ConfigSchema",
    "DeploymentTarget",
    "GitOpsRepo",
    "GitRepository",
    "Kustomization",
    "LabelMapping",
    "ReleasePin",
    "SchedulingPolicy",
    "Template",
    "Workload",
    "WorkloadRegistration",
];

/// The field `allow` of a `spec`.
pub(super) const ALLOW: Field = optional(
    "allow",
    Shape::Fields(&[
        optional(
            "kinds",
            Shape::List(&Shape::OneOf(KINDS)),
            "The kinds that it may bring. Left out: all; with `labels`, all that labels can limit.",
        ),
        optional(
            "names",
            Shape::List(&Shape::Text),
            "The names that its objects may have, also its registrations' workloads. `*` matches any text.",
        ),
        optional(
            "labels",
            Shape::TextMap,
            "Labels that its values, schemas, cluster types and clusters must have, and its policies and pins must select.",
        ),
        optional("keys", Shape::List(&Shape::Text), "The keys that its `ConfigMap`s may set. `*` matches any text."),
        optional(
            "priority",
            Shape::Fields(&[
                optional("min", Shape::Integer, "The lowest priority."),
                optional("max", Shape::Integer, "The highest priority."),
            ]),
            "The priorities that its `ConfigMap`s may have; without an annotation, a priority is 0.",
        ),
        optional(
            "workspaces",
            Shape::List(&Shape::Text),
            "The workspaces that its registrations may name. `*` matches any text.",
        ),
    ]),
    "Limits what this repository may bring, and all that it refers to. Left out: everything.",
);

impl Allow {
    /// The path of a field of `allow`.
    pub fn path(field: &str) -> FieldPath {
        FieldPath::from(["spec", "allow", field])
    }

    /// Reads `spec.allow`. None if it is not set.
    pub(super) fn decode(root: &Node, decoder: &mut Decoder<'_>) -> Option<Arc<Self>> {
        let node = decode::node(root, &["spec", "allow"])?;
        let entries = node.as_mapping().unwrap_or_default();
        if entries.is_empty() {
            let span = decode::node(root, &["spec"]).and_then(|spec| spec.key_span("allow")).unwrap_or(node.span);
            decoder.error(Code::InvalidAllow, span, "`allow` is empty, so it would limit nothing");
            decoder.help("write what is allowed below it, or remove it");
            return None;
        }
        for (key, value) in entries {
            let is_empty = match value.as_sequence() {
                Some(items) => items.is_empty(),
                None => value.as_mapping().map_or_else(|| is_null(value), <[_]>::is_empty),
            };
            if is_empty {
                let name = scalar_text(key);
                decoder.error(Code::InvalidAllow, key.span, format!("`{name}` is empty"));
                decoder.help(format!("write what is allowed, or remove `{name}`, which allows everything"));
            }
        }
        Some(Arc::new(Self {
            kinds: kinds(node),
            names: patterns(node, "names", decoder),
            labels: labels(node, decoder),
            keys: patterns(node, "keys", decoder),
            priority: priority(node, decoder),
            workspaces: patterns(node, "workspaces", decoder),
        }))
    }
}

fn kinds(allow: &Node) -> Option<BTreeSet<Kind>> {
    let items = allow.get("kinds")?.as_sequence()?;
    let names: Vec<_> = items.iter().map(scalar_text).collect();
    Some(Kind::ALL.iter().copied().filter(|kind| names.iter().any(|name| **name == *kind.name())).collect())
}

fn patterns(allow: &Node, field: &str, decoder: &mut Decoder<'_>) -> Option<Vec<Pattern>> {
    let items = allow.get(field)?.as_sequence()?;
    let is_possible = |character: char| match field {
        "names" => matches!(character, 'a'..='z' | '0'..='9' | '-' | '.' | '*'),
        "keys" => character.is_ascii_alphanumeric() || matches!(character, '-' | '.' | '_' | '*'),
        _ => !character.is_control(),
    };
    for item in items {
        let text = scalar_text(item);
        if text.is_empty() {
            decoder.error(Code::InvalidAllow, item.span, format!("an empty text in `{field}` matches nothing"));
            decoder.help("write a text; `*` in it matches any text");
        } else if let Some(character) = text.chars().find(|character| !is_possible(*character)) {
            let message = format!("this pattern matches nothing: {character:?} can't be in {field}");
            decoder.error(Code::InvalidAllow, item.span, message);
            decoder.help("only `*` has a special meaning: it matches any text");
        }
    }
    Some(items.iter().map(|item| Pattern(scalar_text(item))).collect())
}

fn labels(allow: &Node, decoder: &mut Decoder<'_>) -> Labels {
    let entries = allow.get("labels").and_then(Node::as_mapping).unwrap_or_default();
    for (key, _) in entries {
        let name = scalar_text(key);
        if IGNORED_LABELS.contains(&&*name) {
            decoder.error(Code::InvalidAllow, key.span, format!("the label `{name}` selects no assignments"));
            decoder.help("name a label of cluster types, clusters or deployment targets, such as `site`");
        }
    }
    decode::labels(allow, &["labels"])
}

fn priority(allow: &Node, decoder: &mut Decoder<'_>) -> Option<PriorityRange> {
    let node = allow.get("priority")?;
    let mut end = |name| {
        let node = node.get(name).filter(|node| !is_null(node))?;
        if let Some(Resolved::Int(number)) = node.as_scalar().map(Scalar::resolve) {
            return Some(number);
        }
        decoder.error(Code::InvalidAllow, node.span, format!("`{name}` is too large for a priority"));
        None
    };
    let range = PriorityRange { min: end("min"), max: end("max") };
    if let PriorityRange { min: Some(min), max: Some(max) } = range
        && min > max
    {
        let span = node.key_span("min").unwrap_or(node.span);
        decoder.error(Code::InvalidAllow, span, format!("no priority is at least {min} and at most {max}"));
        decoder.help("exchange `min` and `max`");
    }
    Some(range)
}

impl PriorityRange {
    /// Whether the range contains a priority.
    pub fn contains(&self, priority: i64) -> bool {
        self.min.is_none_or(|min| min <= priority) && self.max.is_none_or(|max| priority <= max)
    }
}

/// Writes `0 to 99`, `at least 0` or `at most 99`.
impl std::fmt::Display for PriorityRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.min, self.max) {
            (Some(min), Some(max)) => write!(f, "{min} to {max}"),
            (Some(min), None) => write!(f, "at least {min}"),
            (None, Some(max)) => write!(f, "at most {max}"),
            (None, None) => f.write_str("any"),
        }
    }
}

impl Pattern {
    /// Whether a text matches. The time is at most the product of both lengths.
    pub fn matches(&self, text: &str) -> bool {
        let mut parts = self.0.split('*');
        let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
        let Some(last) = parts.next_back() else { return rest.is_empty() };
        for part in parts {
            let Some(at) = rest.find(part) else { return false };
            rest = rest.get(at + part.len()..).unwrap_or_default();
        }
        rest.ends_with(last)
    }
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::AnyObject;
    use crate::read::read_file;
    use crate::source::FileId;

    fn check_pattern(pattern: &str, matching: &[&str], others: &[&str]) {
        let pattern = Pattern(pattern.into());
        assert!(matching.iter().all(|text| pattern.matches(text)), "{pattern}");
        assert!(!others.iter().any(|text| pattern.matches(text)), "{pattern}");
    }

    #[test]
    fn a_star_matches_any_text() {
        check_pattern("chicago-*", &["chicago-", "chicago-7", "chicago-a-b"], &["chicago", "x-chicago-7"]);
        check_pattern("*", &["", "a"], &[]);
        check_pattern("a*b*c", &["abc", "axbxc", "abbc"], &["ab", "acb", "abcd"]);
        check_pattern("a*a", &["aa", "aba"], &["a"]);
        check_pattern("plain", &["plain"], &["plain2", ""]);
    }

    fn check(allow: &str, expected: &[&str]) {
        let text = format!(
            "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: BaseRepo\nmetadata: {{name: a}}\nspec: {{repo: r, branch: b, path: p, allow: {allow}}}\n"
        );
        let read = read_file(FileId::default(), "a.yaml", text.as_bytes());
        let found: Vec<_> = read.diagnostics.iter().map(|found| format!("{} {}", found.code, found.message)).collect();
        assert_eq!(found, expected);
        assert_eq!(read.objects.is_empty(), !expected.is_empty(), "an object with errors must not count");
    }

    #[test]
    fn a_wrong_limit_is_an_error_and_never_a_wider_limit() {
        check("{}", &["K0149 `allow` is empty, so it would limit nothing"]);
        check("", &["K0149 `allow` is empty, so it would limit nothing"]);
        check("{kinds: []}", &["K0149 `kinds` is empty"]);
        check("{names: , keys: [A]}", &["K0149 `names` is empty"]);
        check("{kinds: [Clster]}", &["K0107 `kinds` can't be \"Clster\""]);
        check("{kind: [Cluster]}", &["K0105 there is no field `kind` here"]);
        check("{names: ['chicago-?']}", &["K0149 this pattern matches nothing: '?' can't be in names"]);
        check("{keys: ['']}", &["K0149 an empty text in `keys` matches nothing"]);
        check("{labels: {platform-config: 'true'}}", &["K0149 the label `platform-config` selects no assignments"]);
        check("{priority: {min: 5, max: 4}}", &["K0149 no priority is at least 5 and at most 4"]);
        check("{priority: {max: high}}", &["K0107 `max` must be a whole number, here it is a text"]);
        check("{priority: {max: 1.5}}", &["K0107 `max` must be a whole number, here it is a number"]);
    }

    #[test]
    fn a_limit_is_read() {
        let text = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: BaseRepo\nmetadata: {name: a}\nspec:\n  repo: r\n  branch: b\n  path: p\n  \
            allow: {kinds: [Cluster, GitRepository], names: ['a-*'], labels: {site: a}, priority: {max: -1}}\n";
        let read = read_file(FileId::default(), "a.yaml", text.as_bytes());
        let Some(AnyObject::BaseRepo(base)) = read.objects.first() else { panic!("{:?}", read.diagnostics) };
        let allow = base.spec.allow.as_ref().unwrap();
        assert_eq!(allow.kinds, Some(BTreeSet::from([Kind::Cluster, Kind::FluxGitRepository])));
        assert_eq!(allow.labels, Labels::from_iter([("site", "a")]));
        let range = allow.priority.unwrap();
        assert!(range.contains(-1) && !range.contains(0) && allow.keys.is_none());
        assert_eq!(range.to_string(), "at most -1");
    }

    #[test]
    fn every_kind_of_fleets_can_be_named() {
        let others = Kind::ALL.iter().filter(|kind| !KINDS.contains(&kind.name()));
        assert_eq!(
            others.copied().collect::<Vec<_>>(),
            [Kind::DeploymentDescriptor, Kind::Environment, Kind::Promotion]
        );
    }
}
