//! Reviews rendered manifests: finds what Kubernetes refuses, or reads as another type than the author wrote.
//!
//! The rules look at keys, at the classes of scalars ([`ScalarClass`]), and at the values of `apiVersion` and `kind`. So two files with the same
//! [outline](model::yaml::outline) have the same findings. The only exceptions are long files, which have no outline.

mod names;
pub(super) mod shell;
mod texts;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use model::diagnostic::{Code, Severity};
use model::yaml::{Node, Scalar, ScalarClass, ScalarStyle, YamlOptions, read};

/// Something in a rendered file that Kubernetes refuses or reads differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) code: Code,
    pub(super) severity: Severity,
    /// The bytes of the file that it is about.
    pub(super) at: Range<usize>,
    /// One sentence. It contains no texts of the file but keys, so it is the same for many assignments.
    pub(super) message: String,
    pub(super) help: Vec<String>,
    /// The namespace that can't be used.
    pub(super) namespace: Option<Arc<str>>,
    /// The key of the platform's value that is printed, if the entry has the same key.
    pub(super) value_key: Option<Arc<str>>,
    /// Whether it is about a text of an application.
    pub(super) is_of_application: bool,
}

impl Finding {
    fn new(code: Code, severity: Severity, node: &Node, message: String) -> Self {
        let at = node.span.range();
        Self {
            code,
            severity,
            at,
            message,
            help: Vec::new(),
            namespace: None,
            value_key: None,
            is_of_application: false,
        }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

/// A Kubernetes object in a file.
pub(super) struct Manifest<'n> {
    root: &'n Node,
    pub(super) group: &'n str,
    pub(super) kind: &'n str,
}

impl<'n> Manifest<'n> {
    /// The objects in a document: itself, or the items of a list.
    pub(super) fn all_in(root: &'n Node) -> Vec<Self> {
        let field = |name: &str| root.get(name).and_then(Node::as_scalar).map(|scalar| &*scalar.text);
        let (Some(version), Some(kind)) = (field("apiVersion"), field("kind")) else { return Vec::new() };
        let items = root.get("items").and_then(Node::as_sequence).filter(|_| kind.ends_with("List"));
        if let Some(items) = items {
            return items.iter().flat_map(Self::all_in).collect();
        }
        let group = version.split_once('/').map_or("", |(group, _)| group);
        vec![Self { root, group, kind }]
    }

    /// The fields of the object that map keys to texts. Other kinds may have other meanings for fields of these names below `spec`.
    fn text_maps(&self) -> impl Iterator<Item = TextMap> {
        let has_pods = matches!(self.group, "" | "apps" | "batch");
        let is_of_flux = self.group.ends_with(".toolkit.fluxcd.io");
        TEXT_MAPS.iter().copied().filter(move |TextMap { path, .. }| match path {
            ["spec", "commonMetadata", ..] => is_of_flux,
            ["spec", ..] => has_pods,
            _ => true,
        })
    }

    /// The value at a path.
    pub(super) fn at(&self, path: &[&str]) -> Option<&'n Node> {
        path.iter().try_fold(self.root, |node, key| node.get(key))
    }
}

/// A field that maps keys to texts: labels, or annotations, whose values are any text.
#[derive(Clone, Copy)]
struct TextMap {
    path: &'static [&'static str],
    are_labels: bool,
}

const TEXT_MAPS: &[TextMap] = &[
    TextMap { path: &["metadata", "labels"], are_labels: true },
    TextMap { path: &["metadata", "annotations"], are_labels: false },
    TextMap { path: &["spec", "commonMetadata", "labels"], are_labels: true },
    TextMap { path: &["spec", "commonMetadata", "annotations"], are_labels: false },
    TextMap { path: &["spec", "selector", "matchLabels"], are_labels: true },
    TextMap { path: &["spec", "template", "metadata", "labels"], are_labels: true },
    TextMap { path: &["spec", "template", "metadata", "annotations"], are_labels: false },
];

/// The class of a scalar.
fn class_of(scalar: &Scalar) -> ScalarClass {
    match scalar.style {
        ScalarStyle::Plain if scalar.tag.is_none() => ScalarClass::of_plain(&scalar.text),
        _ => ScalarClass::of_text(&scalar.text),
    }
}

/// Everything in a file that Kubernetes refuses or reads differently. `application_texts` are the ranges of the file that come from texts of an application,
/// without quotes of functions.
pub(super) fn review(text: &str, application_texts: &[Range<usize>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for document in read(text, &YamlOptions::OBJECTS).documents {
        for manifest in Manifest::all_in(&document.root) {
            names::review(&manifest, &mut findings);
            texts::review(&manifest, &mut findings);
        }
        texts::review_application_texts(&document.root, application_texts, &mut findings);
    }
    // A scalar that two rules are about is reported once, by the rule for its field.
    let mut places = BTreeSet::new();
    findings.retain(|finding| places.insert((finding.at.start, finding.at.end)));
    for finding in &mut findings {
        finding.is_of_application |= application_texts.iter().any(|part| touches(part, &finding.at));
    }
    findings
}

fn touches(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

#[cfg(test)]
mod tests;
