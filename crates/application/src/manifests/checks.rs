//! Checks of manifests: objects that are there twice, objects of the cluster, and secrets in clear.

use std::collections::BTreeMap;

use model::credential::likely;
use model::diagnostic::{Code, Diagnostic, Origin};
use model::yaml::Node;

use super::object::{ManifestObject, ObjectId};

/// The kinds of objects that belong to no namespace, by API group.
const CLUSTER_SCOPED: [(&str, &[&str]); 11] = [
    ("", &["Namespace", "Node", "PersistentVolume"]),
    (
        "admissionregistration.k8s.io",
        &[
            "MutatingWebhookConfiguration",
            "ValidatingWebhookConfiguration",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
        ],
    ),
    ("apiextensions.k8s.io", &["CustomResourceDefinition"]),
    ("apiregistration.k8s.io", &["APIService"]),
    ("certificates.k8s.io", &["CertificateSigningRequest"]),
    ("flowcontrol.apiserver.k8s.io", &["FlowSchema", "PriorityLevelConfiguration"]),
    ("networking.k8s.io", &["IngressClass"]),
    ("node.k8s.io", &["RuntimeClass"]),
    ("rbac.authorization.k8s.io", &["ClusterRole", "ClusterRoleBinding"]),
    ("scheduling.k8s.io", &["PriorityClass"]),
    ("storage.k8s.io", &["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"]),
];

/// Checks the objects of one target.
pub fn check(objects: &[ManifestObject]) -> Vec<Diagnostic> {
    let mut found = duplicates(objects);
    found.extend(objects.iter().filter(|object| is_of_cluster(&object.id)).map(of_cluster));
    found.extend(objects.iter().flat_map(secrets));
    found
}

/// Whether a kind belongs to no namespace.
pub(crate) fn is_of_cluster(id: &ObjectId) -> bool {
    CLUSTER_SCOPED.iter().any(|(group, kinds)| *group == &*id.group && kinds.contains(&&*id.kind))
}

fn duplicates(objects: &[ManifestObject]) -> Vec<Diagnostic> {
    let mut first: BTreeMap<&ObjectId, &ManifestObject> = BTreeMap::new();
    let mut found = Vec::new();
    for object in objects {
        let Some(other) = first.insert(&object.id, object) else { continue };
        let message = format!("{} is rendered twice; a reconciler applies only one of the two", object.id);
        let diagnostic = Diagnostic::error(Code::DuplicateManifest, message);
        let at = |object: &ManifestObject| Origin::Span(object.place.file, object.node.span);
        found.push(diagnostic.at(at(object), "").at(at(other), "the other one").help("give one of them another name"));
    }
    found
}

fn of_cluster(object: &ManifestObject) -> Diagnostic {
    let message = format!("{} belongs to the whole cluster, not to a namespace", object.id);
    Diagnostic::warning(Code::ClusterManifest, message)
        .at(Origin::Span(object.place.file, object.node.span), "")
        .note("two targets on one cluster overwrite each other's, and the reconciler of a target may not be allowed to apply it")
        .help("ask the platform team to provide it, or switch it off in the values of the chart")
}

/// The keys of an object whose values look like secrets. The values themselves are in no message.
fn secrets(object: &ManifestObject) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if (&*object.id.group, &*object.id.kind) == ("", "Secret") {
        let fields = ["data", "stringData"].into_iter().filter_map(|field| object.node.get(field)?.as_mapping());
        for (key, value) in fields.flatten() {
            let is_set = value.as_scalar().is_some_and(|scalar| !scalar.text.is_empty());
            if let Some(key) = key.as_scalar().filter(|_| is_set) {
                found.push(in_clear(object, (&key.text, "a value of a `Secret`")));
            }
        }
    } else {
        likely_secrets(object, (&object.node, ""), &mut found);
    }
    found
}

fn likely_secrets(object: &ManifestObject, (node, key): (&Node, &str), found: &mut Vec<Diagnostic>) {
    if let Some(what) = node.as_scalar().and_then(|scalar| likely(key, &scalar.text)) {
        found.push(in_clear(object, (key, what)));
    }
    for item in node.as_sequence().unwrap_or_default() {
        likely_secrets(object, (item, key), found);
    }
    let entries = node.as_mapping().unwrap_or_default();
    // An environment variable of a container: its name is the key of its value.
    let name = node.get("name").and_then(Node::as_scalar).filter(|_| node.get("value").is_some());
    for (key, value) in entries {
        let Some(key) = key.as_scalar() else { continue };
        let key = name.filter(|_| &*key.text == "value").unwrap_or(key);
        likely_secrets(object, (value, &key.text), found);
    }
}

/// The warning names no line, because the line contains the value.
fn in_clear(object: &ManifestObject, (key, what): (&str, &str)) -> Diagnostic {
    let message = format!("`{key}` of {} is probably {what}, in clear", object.id);
    Diagnostic::warning(Code::ClearCredential, message)
        .at(Origin::File(object.place.file), "")
        .help("keep it in a vault, and refer to it from here, such as with an `ExternalSecret`")
}

#[cfg(test)]
mod tests {
    use model::source::FileId;

    use super::super::parse;
    use super::*;

    fn messages(content: &str) -> Vec<String> {
        check(&parse(content.as_bytes(), FileId::default()).objects).into_iter().map(|found| found.message).collect()
    }

    #[test]
    fn objects_that_are_there_twice_are_errors() {
        let service = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n";
        let other = "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: a}\n";
        assert_eq!(messages(&format!("{service}---\n{other}")), Vec::<String>::new());
        let expected = ["Service a is rendered twice; a reconciler applies only one of the two"];
        assert_eq!(messages(&format!("{service}---\n{other}---\n{service}")), expected);
    }

    #[test]
    fn objects_of_the_cluster_are_warnings() {
        let role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a}\n";
        assert_eq!(messages(role), ["ClusterRole a belongs to the whole cluster, not to a namespace"]);
        assert!(messages("apiVersion: example.com/v1\nkind: Node\nmetadata: {name: a}\n").is_empty());
    }

    #[test]
    fn secrets_are_named_by_their_key() {
        let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {user: bob, empty: ''}\n";
        assert_eq!(messages(secret), ["`user` of Secret a is probably a value of a `Secret`, in clear"]);
        let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, env: [{name: DB_PASSWORD, value: hunter2}, {name: TOKEN, value: ghp_0123456789abcdef}]}]}\n";
        let found = messages(pod);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("`DB_PASSWORD` of Pod a is probably a password"), "{found:?}");
        assert!(found.iter().all(|message| !message.contains("hunter2") && !message.contains("ghp_")));
    }
}
