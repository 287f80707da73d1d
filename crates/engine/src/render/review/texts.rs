//! Values that have to be texts, and texts of applications that are read as another type.

use std::ops::Range;

use model::diagnostic::{Code, Severity};
use model::name::is_data_key;
use model::yaml::{Node, NodeValue, ScalarStyle, TypeForm};

use super::{Finding, Manifest, TextMap, class_of, touches};

/// The largest data of a `ConfigMap` or `Secret`, in bytes.
const DATA_BYTES_MAX: usize = 1 << 20;

/// Fields that are texts, by the API group of their objects.
const TEXT_FIELDS: &[(&str, &[&[&str]])] = &[
    (
        "source.toolkit.fluxcd.io",
        &[
            &["spec", "url"],
            &["spec", "endpoint"],
            &["spec", "bucketName"],
            &["spec", "chart"],
            &["spec", "version"],
            &["spec", "interval"],
            &["spec", "secretRef", "name"],
            &["spec", "ref", "branch"],
            &["spec", "ref", "tag"],
            &["spec", "ref", "semver"],
            &["spec", "ref", "name"],
            &["spec", "ref", "commit"],
            &["spec", "ref", "digest"],
        ],
    ),
    (
        "kustomize.toolkit.fluxcd.io",
        &[
            &["spec", "path"],
            &["spec", "interval"],
            &["spec", "targetNamespace"],
            &["spec", "sourceRef", "name"],
            &["spec", "serviceAccountName"],
        ],
    ),
    (
        "helm.toolkit.fluxcd.io",
        &[
            &["spec", "interval"],
            &["spec", "releaseName"],
            &["spec", "targetNamespace"],
            &["spec", "chartRef", "name"],
            &["spec", "chart", "spec", "chart"],
            &["spec", "chart", "spec", "version"],
            &["spec", "chart", "spec", "sourceRef", "name"],
        ],
    ),
    (
        "argoproj.io",
        &[
            &["spec", "project"],
            &["spec", "destination", "name"],
            &["spec", "destination", "server"],
            &["spec", "destination", "namespace"],
        ],
    ),
    ("fleet.cattle.io", &[&["spec", "repo"], &["spec", "branch"], &["spec", "revision"], &["spec", "targetNamespace"]]),
];

/// Fields of a source of an Argo CD `Application` that are texts.
const ARGO_SOURCE_FIELDS: &[&[&str]] =
    &[&["repoURL"], &["path"], &["chart"], &["targetRevision"], &["helm", "releaseName"], &["helm", "values"]];

/// Fields that are booleans or numbers, by the API group of their objects. A template that prints them in quotes makes them texts.
const TYPED_FIELDS: &[(&str, &str, &[&[&str]])] = &[
    (
        "kustomize.toolkit.fluxcd.io",
        BOOLEAN,
        &[&["spec", "prune"], &["spec", "wait"], &["spec", "force"], &["spec", "suspend"]],
    ),
    ("source.toolkit.fluxcd.io", BOOLEAN, &[&["spec", "suspend"], &["spec", "insecure"]]),
    ("helm.toolkit.fluxcd.io", BOOLEAN, &[&["spec", "suspend"]]),
    (
        "argoproj.io",
        BOOLEAN,
        &[&["spec", "syncPolicy", "automated", "prune"], &["spec", "syncPolicy", "automated", "selfHeal"]],
    ),
    ("fleet.cattle.io", BOOLEAN, &[&["spec", "paused"]]),
    ("apps", NUMBER, &[&["spec", "replicas"]]),
];

pub(super) fn review(manifest: &Manifest<'_>, findings: &mut Vec<Finding>) {
    for TextMap { path, .. } in manifest.text_maps() {
        for (key, value) in manifest.at(path).and_then(Node::as_mapping).unwrap_or_default() {
            // The API server takes null as an empty text here.
            findings.extend(not_a_text(value).filter(|what| *what != NULL).map(|what| {
                let name = format!("{}.{}", path.join("."), text_of(key));
                text_required(value, &format!("Kubernetes refuses `{name}`: it has to be a text, and is {what}"))
            }));
        }
    }
    let name = [&["metadata", "name"][..], &["metadata", "namespace"]];
    let of_group = TEXT_FIELDS.iter().filter(|(group, _)| *group == manifest.group).flat_map(|(_, paths)| *paths);
    for path in name.iter().chain(of_group) {
        findings.extend(manifest.at(path).and_then(|value| wrong_text((&path.join("."), value), manifest)));
    }
    review_types(manifest, findings);
    review_reconciler_maps(manifest, findings);
    if manifest.group.is_empty() && matches!(manifest.kind, "ConfigMap" | "Secret") {
        review_data(manifest, findings);
    }
    if let Some(template) = manifest.at(&["spec", "template", "spec"]) {
        review_containers(template, findings);
    }
    if let Some(pod) = manifest.at(&["spec"]).filter(|_| manifest.group.is_empty() && manifest.kind == "Pod") {
        review_containers(pod, findings);
    }
}

/// Reports fields that have to be booleans or numbers, and are something else.
fn review_types(manifest: &Manifest<'_>, findings: &mut Vec<Finding>) {
    for (_, required, paths) in TYPED_FIELDS.iter().filter(|(group, ..)| *group == manifest.group) {
        for path in *paths {
            let Some(value) = manifest.at(path) else { continue };
            let is = type_of(value);
            // The API server takes null as a field that is not there.
            if is != *required && is != NULL {
                let message = format!("`{}` of {} has to be {required}, and is {is}", path.join("."), a(manifest.kind));
                let finding = Finding::new(Code::TypeChanged, Severity::Warning, value, message);
                findings.push(finding.help("print it without quotes"));
            }
        }
    }
}

/// Reports a field that has to be a text, if it is none.
fn wrong_text((field, value): (&str, &Node), manifest: &Manifest<'_>) -> Option<Finding> {
    let what = not_a_text(value)?;
    Some(text_required(value, &format!("`{field}` of {} has to be a text, and is {what}", a(manifest.kind))))
}

/// The texts in maps and lists of reconcilers: what Flux substitutes, and the sources of Argo CD.
fn review_reconciler_maps(manifest: &Manifest<'_>, findings: &mut Vec<Finding>) {
    let mut texts: Vec<(String, &Node)> = Vec::new();
    if manifest.group == "kustomize.toolkit.fluxcd.io" {
        let substitutes = manifest.at(&["spec", "postBuild", "substitute"]).and_then(Node::as_mapping);
        let entries = substitutes.unwrap_or_default().iter();
        let entries = entries.filter(|(_, value)| type_of(value) != NULL);
        texts.extend(entries.map(|(key, value)| (format!("spec.postBuild.substitute.{}", text_of(key)), value)));
    }
    if manifest.group == "argoproj.io" {
        let only = manifest.at(&["spec", "source"]).into_iter().map(|source| ("spec.source", source));
        let several = manifest.at(&["spec", "sources"]).and_then(Node::as_sequence).unwrap_or_default();
        for (name, source) in only.chain(several.iter().map(|source| ("spec.sources[]", source))) {
            let at = |path: &[&str]| path.iter().try_fold(source, |node, key| node.get(key));
            let field = |path: &&[&str]| Some((format!("{name}.{}", path.join(".")), at(path)?));
            texts.extend(ARGO_SOURCE_FIELDS.iter().filter_map(field));
            let parameters = at(&["helm", "parameters"]).and_then(Node::as_sequence).unwrap_or_default();
            let values = parameters.iter().filter_map(|parameter| parameter.get("value"));
            texts.extend(values.map(|value| (format!("{name}.helm.parameters[].value"), value)));
        }
    }
    for (field, value) in texts {
        findings.extend(wrong_text((&field, value), manifest));
    }
}

/// Reports scalars that come from texts of an application, without quotes, and that are read as a value that prints differently.
pub(super) fn review_application_texts(node: &Node, parts: &[Range<usize>], findings: &mut Vec<Finding>) {
    match &node.value {
        NodeValue::Scalar(scalar) => {
            let at = node.span.range();
            let changes = matches!(class_of(scalar).form, TypeForm::Null | TypeForm::OtherBool | TypeForm::OtherNumber);
            let is_plain = scalar.style == ScalarStyle::Plain && scalar.tag.is_none();
            if is_plain && changes && parts.iter().any(|part| touches(part, &at)) {
                let what = not_a_text(node).unwrap_or("another value");
                let message =
                    format!("a text of the application is read as {what}, because it is printed without quotes");
                findings.push(text_required(node, &message));
            }
        }
        NodeValue::Sequence(items) => items.iter().for_each(|item| review_application_texts(item, parts, findings)),
        NodeValue::Mapping(entries) => {
            entries.iter().for_each(|(_, value)| review_application_texts(value, parts, findings));
        }
    }
}

fn text_required(node: &Node, message: &str) -> Finding {
    Finding::new(Code::TypeChanged, Severity::Warning, node, message.to_owned())
        .help("print it with `toJson`, or in quotes")
}

/// What the value is, if it is not a text.
fn not_a_text(node: &Node) -> Option<&'static str> {
    Some(type_of(node)).filter(|what| *what != TEXT)
}

/// A kind with its article.
fn a(kind: &str) -> String {
    format!("{} {kind}", if kind.starts_with(['A', 'E', 'I', 'O', 'U']) { "an" } else { "a" })
}

const TEXT: &str = "a text";
const BOOLEAN: &str = "a boolean";
const NUMBER: &str = "a number";
const NULL: &str = "null";

fn type_of(node: &Node) -> &'static str {
    match &node.value {
        NodeValue::Mapping(_) => "a mapping",
        NodeValue::Sequence(_) => "a list",
        NodeValue::Scalar(scalar) => match class_of(scalar).form {
            TypeForm::Text => TEXT,
            TypeForm::Null => NULL,
            TypeForm::Bool | TypeForm::OtherBool => BOOLEAN,
            TypeForm::Number | TypeForm::OtherNumber => NUMBER,
        },
    }
}

fn text_of(node: &Node) -> &str {
    node.as_scalar().map_or("", |scalar| &scalar.text)
}

/// The data of a `ConfigMap` or `Secret`: texts, with keys that are names of files, up to 1 MiB.
fn review_data(manifest: &Manifest<'_>, findings: &mut Vec<Finding>) {
    let kind = manifest.kind;
    let refused = |node: &Node, message: String| Finding::new(Code::DataRefused, Severity::Warning, node, message);
    let mut bytes = 0;
    for field in ["data", "stringData", "binaryData"] {
        let Some(data) = manifest.root.get(field) else { continue };
        let NodeValue::Mapping(entries) = &data.value else {
            if data.as_scalar().is_none_or(|scalar| class_of(scalar).form != TypeForm::Null) {
                findings.push(refused(data, format!("Kubernetes refuses `{field}` of a {kind}: it is not a mapping")));
            }
            continue;
        };
        for (key, value) in entries.iter() {
            let name = text_of(key);
            bytes += name.len() + text_of(value).len();
            if !is_data_key(name) {
                let message = format!("Kubernetes refuses the key `{name}` of a {kind}");
                findings.push(refused(key, message).help(
                    "a key has letters, digits, `-`, `_` and `.`, at most 253 characters, and does not begin with `..`",
                ));
            }
            if let Some(what) = not_a_text(value) {
                let message =
                    format!("Kubernetes refuses `{field}.{name}` of a {kind}: it has to be a text, and is {what}");
                let finding = refused(value, message).help(
                    "`stringify .ConfigData` prints all values as texts; `toJson` and quotes print one as a text",
                );
                findings.push(Finding { value_key: Some(name.into()), ..finding });
            }
        }
    }
    if bytes > DATA_BYTES_MAX {
        let message =
            format!("Kubernetes refuses this {kind}: its data has {bytes} bytes, at most {DATA_BYTES_MAX} are allowed");
        findings.push(
            refused(manifest.root, message).help("move large values into files of the application, or split them"),
        );
    }
}

/// The texts of containers: names, images, commands, arguments, and values of environment variables.
fn review_containers(pod: &Node, findings: &mut Vec<Finding>) {
    let lists = ["containers", "initContainers"].into_iter().filter_map(|field| pod.get(field)?.as_sequence());
    for container in lists.flatten() {
        let mut texts: Vec<(&str, &Node)> = Vec::new();
        texts.extend(["name", "image"].into_iter().filter_map(|field| Some((field, container.get(field)?))));
        for field in ["command", "args"] {
            let items = container.get(field).and_then(Node::as_sequence).unwrap_or_default();
            texts.extend(items.iter().map(|item| (field, item)));
        }
        for variable in container.get("env").and_then(Node::as_sequence).unwrap_or_default() {
            let value = variable.get("value").filter(|value| not_a_text(value) != Some("null"));
            texts.extend(variable.get("name").map(|name| ("env[].name", name)));
            texts.extend(value.map(|value| ("env[].value", value)));
        }
        for (field, node) in texts {
            findings.extend(not_a_text(node).map(|what| {
                let message =
                    format!("Kubernetes refuses `{field}` of a container: it has to be a text, and is {what}");
                text_required(node, &message)
            }));
        }
    }
}
