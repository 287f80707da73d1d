//! The rules of Kubernetes for names, namespaces and labels, and those of Flux, Argo CD and Fleet, which copy names into labels.

use model::diagnostic::{Code, Severity};
use model::label;
use model::yaml::{Node, NodeValue};

use super::{Finding, Manifest, TextMap, class_of};

/// The groups and kinds whose names their controllers write into labels of other objects.
const COPIED_INTO_LABELS: &[(&str, &str, &str)] = &[
    ("kustomize.toolkit.fluxcd.io", "Kustomization", "Flux"),
    ("helm.toolkit.fluxcd.io", "HelmRelease", "Flux"),
    ("argoproj.io", "Application", "Argo CD"),
    ("fleet.cattle.io", "GitRepo", "Fleet"),
];

/// The fields that contain the name of a namespace, by the API group of their objects.
const NAMESPACES: &[(&str, &[&[&str]])] = &[
    ("kustomize.toolkit.fluxcd.io", &[&["spec", "targetNamespace"], &["spec", "sourceRef", "namespace"]]),
    ("helm.toolkit.fluxcd.io", &[&["spec", "targetNamespace"], &["spec", "storageNamespace"]]),
    ("argoproj.io", &[&["spec", "destination", "namespace"]]),
    ("fleet.cattle.io", &[&["spec", "targetNamespace"], &["spec", "defaultNamespace"]]),
];

pub(super) fn review(manifest: &Manifest<'_>, findings: &mut Vec<Finding>) {
    if let Some(name) = manifest.at(&["metadata", "name"]) {
        findings.extend(name_refused(manifest, name));
    }
    let of_group = NAMESPACES.iter().filter(|(group, _)| *group == manifest.group).flat_map(|(_, paths)| *paths);
    for path in [&["metadata", "namespace"][..]].iter().chain(of_group) {
        findings.extend(manifest.at(path).and_then(|node| namespace_refused(&path.join("."), node)));
    }
    for TextMap { path, are_labels } in manifest.text_maps() {
        for (key, value) in manifest.at(path).and_then(Node::as_mapping).unwrap_or_default() {
            findings.extend(entry_refused((key, value), are_labels));
        }
    }
}

fn refused(node: &Node, message: String) -> Finding {
    Finding::new(Code::NameRefused, Severity::Error, node, message)
}

/// The rule that the name of an object breaks.
fn name_refused(manifest: &Manifest<'_>, node: &Node) -> Option<Finding> {
    let Manifest { group, kind, .. } = *manifest;
    let Some(scalar) = node.as_scalar() else {
        return Some(refused(node, format!("Kubernetes refuses the name of a {kind}: it is not a text")));
    };
    let class = class_of(scalar);
    // The missing value is reported.
    if class.has_no_value() {
        return None;
    }
    if (group, kind) == ("", "Namespace") {
        return namespace_refused("metadata.name", node);
    }
    let reason = if (group, kind) == ("", "Service") && !class.is_service_name() {
        "only lower case letters, digits and `-` are allowed, a letter first, and at most 63 characters"
    } else if group == "rbac.authorization.k8s.io" {
        if class.is_path_segment() {
            return None;
        }
        "`/` and `%` are not allowed"
    } else if !class.is_name() {
        "only lower case letters, digits, `-` and `.` are allowed, letters or digits at both ends, and at most 253 characters"
    } else if let Some((_, _, controller)) =
        COPIED_INTO_LABELS.iter().find(|copied| (copied.0, copied.1) == (group, kind) && !class.is_label_value())
    {
        let message = format!("{controller} can't use the name of this {kind}: it has more than 63 characters");
        return Some(
            refused(node, message)
                .help(format!("{controller} writes the name into labels, which have at most 63 characters"))
                .help("print it with `shortName 63`"),
        );
    } else {
        return None;
    };
    let message = format!("Kubernetes refuses the name of a {kind}: {reason}");
    Some(
        refused(node, message).help("print it with `shortName 63`, which returns a name that fits, or change the name"),
    )
}

fn namespace_refused(field: &str, node: &Node) -> Option<Finding> {
    let scalar = node.as_scalar()?;
    let class = class_of(scalar);
    if class.is_empty() || class.is_dns_label() || class.has_no_value() {
        return None;
    }
    let message = format!(
        "Kubernetes refuses the namespace in `{field}`: only lower case letters, digits and `-` are allowed, and at most 63 characters"
    );
    let finding = refused(node, message).help("print `.Namespace`, or a name without dots and capital letters");
    Some(Finding { namespace: Some(scalar.text.clone()), ..finding })
}

fn entry_refused((key, value): (&Node, &Node), is_label: bool) -> Option<Finding> {
    let what = if is_label { "label" } else { "annotation" };
    let name = key.as_scalar().map_or("", |scalar| &*scalar.text);
    if let Err(reason) = label::check_key(name) {
        return Some(refused(key, format!("Kubernetes refuses the key `{name}` of this {what}: {reason}")));
    }
    let NodeValue::Scalar(scalar) = &value.value else {
        return Some(refused(value, format!("Kubernetes refuses the {what} `{name}`: its value is not a text")));
    };
    // The types of values are reported by the rules for texts.
    if !is_label || class_of(scalar).is_label_value() || class_of(scalar).has_no_value() {
        return None;
    }
    let reason = label::check_value(&scalar.text).err().unwrap_or("it is not a text");
    let finding = refused(value, format!("Kubernetes refuses the value of the label `{name}`: {reason}"));
    Some(finding.help("print it with `shortName 63`, which returns a value that fits, or as an annotation"))
}
