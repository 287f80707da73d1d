//! Tests of validation: each rule, and a set of manifests as charts have them.

use model::diagnostic::{Origin, Severity};
use model::source::Source;

use super::*;
use crate::settings::ApplicationSettings;

const SETTINGS: &str = "\
workspace = \"store-team\"
source = { chart = \"chart\" }
gitops = { repo = \"../shop-gitops\" }
environments = [{ name = \"dev\" }]
";

/// What manifests are validated with.
#[derive(Default)]
struct Setup<'a> {
    /// The section `[kubernetes]`.
    options: &'a str,
    folder: &'a [(&'a str, &'a str)],
    chart: &'a [(&'a str, &'a str)],
    /// None: the limit of the program.
    steps_max: Option<usize>,
}

fn set(texts: &[(&str, &str)]) -> FileSet {
    FileSet::of_texts(&Arc::new(Source::directory()), texts.iter().copied())
}

impl Setup<'_> {
    /// The validation of manifests, with what is wrong with the schemas.
    fn validate(&self, manifests: &str) -> Validation {
        let settings = format!("{SETTINGS}[kubernetes]\n{}", self.options);
        let settings = ApplicationSettings::parse(&settings, FileId::default()).unwrap().kubernetes;
        let (folder, chart) = (set(self.folder), set(self.chart));
        let mut files = Files::default();
        let mut schemas = TargetSchemas::new(&settings, (&folder, &mut files), [Some(&chart)]);
        schemas.steps_max = self.steps_max.unwrap_or(schemas.steps_max);
        let parsed = manifests::parse(manifests.as_bytes(), FileId::default());
        assert_eq!(parsed.problems, []);
        let mut validation = schemas.validate(&parsed.objects, 0);
        validation.problems.extend(schemas.problems());
        validation
    }

    /// The problems, each with its severity, the text at its place, and its advice.
    fn problems(&self, manifests: &str) -> Vec<String> {
        let problem = |found: Diagnostic| {
            let at = match found.labels[0].origin {
                Origin::Span(_, span) => manifests.get(span.range()).unwrap_or("in a schema").to_owned(),
                _ => "file".to_owned(),
            };
            let at = at.lines().next().unwrap_or_default().to_owned();
            format!("{} at {at}: {}; {}", found.severity, found.message, found.help.join("; "))
        };
        self.validate(manifests).problems.into_iter().map(problem).collect()
    }
}

fn problems(manifests: &str) -> Vec<String> {
    Setup::default().problems(manifests)
}

/// An object with this specification.
fn object(kind: &str, spec: &str) -> String {
    let (api_version, kind) = kind.rsplit_once('/').unwrap_or(("v1", kind));
    format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: shop}}\nspec: {spec}\n")
}

fn deployment(spec: &str) -> String {
    let template = "{metadata: {labels: {app: a}}, spec: {containers: [{name: c}]}}";
    object("apps/v1/Deployment", &format!("{{selector: {{matchLabels: {{app: a}}}}, template: {template}, {spec}}}"))
}

const ROLES: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: roles.acme.example}
spec:
  group: acme.example
  scope: Namespaced
  names: {kind: Role, plural: roles}
  versions:
  - {name: v1beta1, served: false, storage: false}
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          metadata: {type: object, properties: {name: {type: string, maxLength: 8}}}
          spec:
            type: object
            required: [port]
            properties:
              port: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}
              size: {type: integer, minimum: 1, maximum: 9, exclusiveMaximum: true}
              name: {type: string, pattern: '^[a-z]+$', minLength: 2}
              mode: {type: string, enum: [fast, slow]}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
              labels: {type: object, additionalProperties: {type: string}}
              note: {type: string, nullable: true}
              pod: {type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
              target:
                type: object
                properties: {host: {type: string}, ip: {type: string}}
                oneOf: [{required: [host]}, {required: [ip]}]
              closed: {type: object}
              last: {type: string, not: {enum: [never]}}
";

#[test]
fn wrong_types_are_errors() {
    assert_eq!(
        problems(&deployment("replicas: '3'")),
        ["error at '3': `spec.replicas` of Deployment shop is a text, and must be an integer; remove the quotes"]
    );
    assert_eq!(
        problems(&deployment("replicas: three")),
        ["error at three: `spec.replicas` of Deployment shop is a text, and must be an integer; "]
    );
    let quote = "put it in quotes: in a template, `{{ … | quote }}`";
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {version: 1.0}}\ndata: {on: yes, a: '1'}\n";
    assert_eq!(
        problems(map),
        [
            format!("error at 1.0: `metadata.labels.version` of ConfigMap a is a number, and must be a text; {quote}"),
            format!("error at yes: `data.on` of ConfigMap a is a boolean, and must be a text; {quote}"),
        ]
    );
    let ports = object("Service", "{ports: {name: http}}");
    assert_eq!(problems(&ports), ["error at ports: `spec.ports` of Service shop is a map, and must be a list; "]);
    assert_eq!(
        problems(&deployment("replicas: 1.5")),
        ["error at 1.5: `spec.replicas` of Deployment shop is a number with a fraction, and must be an integer; "]
    );
    assert_eq!(
        problems(&deployment("replicas: 3000000000")),
        ["error at 3000000000: `spec.replicas` of Deployment shop must be between -2147483648 and 2147483647; "]
    );
}

#[test]
fn values_that_kubernetes_accepts_are_no_problem() {
    // Null fields are dropped, whole floats are integers, ports are numbers or names, quantities are texts or numbers, and an empty text is no value.
    let container = "{name: c, imagePullPolicy: '', livenessProbe: {httpGet: {port: http}, initialDelaySeconds: 1e+01}, \
         readinessProbe: {tcpSocket: {port: 80}}, resources: {limits: {cpu: 1, memory: 1Gi, pods: 0.5}}}";
    let pod = object("Pod", &format!("{{containers: [{container}], nodeSelector: null, volumes: ~}}"));
    assert_eq!(problems(&pod), [""; 0]);
    assert_eq!(problems(&object("Pod", "{containers: [null, {name: c}]}")), [""; 0]);
    let status = object("Service", "{}").replace("spec:", "status: {loadBalancer: {}, other: 1}\nspec:");
    assert_eq!(problems(&status), [""; 0]);
}

#[test]
fn missing_fields_are_errors() {
    let help = "add it: the schema of Deployment requires it";
    assert_eq!(
        problems(&object("apps/v1/Deployment", "{selector: null, template: {spec: {containers: [{image: a}]}}}")),
        [
            format!("error at spec: `spec.selector` is missing in Deployment shop; {help}"),
            format!(
                "error at {{image: a}}: `spec.template.spec.containers[0].name` is missing in Deployment shop; {help}"
            ),
        ]
    );
}

#[test]
fn values_that_are_not_listed_are_errors() {
    assert_eq!(
        problems(&object("Service", "{type: NodePorts}")),
        [
            "error at NodePorts: `spec.type` of Service shop is `NodePorts`, and must be one of `ClusterIP`, `ExternalName`, `LoadBalancer`, `NodePort`; did you mean `NodePort`?"
        ]
    );
}

#[test]
fn unknown_fields_are_warnings() {
    assert_eq!(
        problems(&deployment("replica: 3, paused: true, strategi: {}, other: [1]")),
        [
            "warning at replica: `spec.replica` is no field of Deployment shop; did you mean `replicas`?",
            "warning at strategi: `spec.strategi` is no field of Deployment shop; did you mean `strategy`?",
            "warning at other: `spec.other` is no field of Deployment shop; correct its name or its indentation, or remove it",
        ]
    );
}

#[test]
fn values_of_secrets_are_in_no_message() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ntype: 3\ndata: {a: hunter2, b: 12345}\n";
    let found = problems(secret);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(
        found.iter().all(|text| text.contains(" at file: ") && !text.contains("hunter2") && !text.contains("12345"))
    );
    assert!(found[1].contains("`data.a` of Secret a is not in base64"), "{found:?}");
    let pod =
        object("Pod", "{containers: [{name: c, env: [{name: DB_PASSWORD, value: 12345678}, {name: SIZE, value: 3}]}]}");
    let places: Vec<_> = problems(&pod).into_iter().map(|text| text.split(':').next().unwrap().to_owned()).collect();
    assert_eq!(places, ["error at file", "error at 3"]);
    let roles = ROLES.replace("mode: {", "password: {");
    let found = problems(&format!("{roles}---\n{}", object("acme.example/v1/Role", "{port: 1, password: hunter2}")));
    assert_eq!(
        found,
        ["error at file: `spec.password` of Role shop has another value, and must be one of `fast`, `slow`; "]
    );
}

#[test]
fn versions_that_kubernetes_removed_are_warnings() {
    let check = |kind: &str, expected: &str| assert_eq!(problems(&object(kind, "{}")), [expected], "{kind}");
    let older = "clusters of this version refuse or ignore the older one";
    check(
        "policy/v1beta1/PodDisruptionBudget",
        &format!(
            "warning at policy/v1beta1: Kubernetes 1.37 has no PodDisruptionBudget of `policy/v1beta1`; write `policy/v1`: {older}"
        ),
    );
    check(
        "extensions/v1beta1/Ingress",
        &format!(
            "warning at extensions/v1beta1: Kubernetes 1.37 has no Ingress of `extensions/v1beta1`; write `networking.k8s.io/v1`: {older}"
        ),
    );
    check(
        "apps/v1/Deploymnet",
        "warning at apps/v1: Kubernetes 1.37 has no Deploymnet of `apps/v1`; did you mean `Deployment`?",
    );
    check(
        "policy/v1beta1/PodSecurityPolicy",
        "warning at policy/v1beta1: Kubernetes 1.37 has no PodSecurityPolicy of `policy/v1beta1`; remove it, or replace it by another kind",
    );
}

#[test]
fn kinds_without_a_schema_are_counted() {
    let validation = Setup::default().validate(&object("acme.example/v1/Role", "{a: 1}"));
    assert_eq!((validation.problems, validation.unknown.len()), (Vec::new(), 1));
    let note = unvalidated(&validation.unknown, FileId::default()).unwrap();
    assert_eq!(
        (note.severity, note.message.as_str()),
        (Severity::Note, "1 manifest has no known schema, so it is not validated: 1 Role")
    );
    assert_eq!(unvalidated(&BTreeMap::new(), FileId::default()), None);
}

#[test]
fn definitions_of_the_target_are_schemas() {
    let check = |spec: &str, expected: &[&str]| {
        let found = problems(&format!("{ROLES}---\n{}", object("acme.example/v1/Role", spec)));
        assert_eq!(found, expected, "{spec}");
    };
    check("{port: 1, size: 8, free: {a: 1}, labels: {a: b}, note: null, closed: {}, target: {ip: a}}", &[]);
    check("{port: a, pod: {apiVersion: v1, kind: Pod, metadata: {labels: {a: b}}, spec: {x: 1}}}", &[]);
    check("{size: 3}", &["error at spec: `spec.port` is missing in Role shop; add it: the schema of Role requires it"]);
    check(
        "{port: 1.5}",
        &[
            "error at 1.5: `spec.port` of Role shop is a number with a fraction, and must be a text or an integer; put it in quotes: in a template, `{{ … | quote }}`",
        ],
    );
    check("{port: 1, size: 0}", &["error at 0: `spec.size` of Role shop must be at least 1; "]);
    check("{port: 1, size: 9}", &["error at 9: `spec.size` of Role shop must be less than 9; "]);
    check("{port: 1, name: A1}", &["error at A1: `spec.name` of Role shop does not match the pattern `^[a-z]+$`; "]);
    check("{port: 1, name: a}", &["error at a: `spec.name` of Role shop has 1 characters, and must have at least 2; "]);
    check("{port: 1, mode: ''}", &["error at '': `spec.mode` of Role shop is ``, and must be one of `fast`, `slow`; "]);
    check(
        "{port: 1, target: {}}",
        &["error at target: `spec.target` of Role shop fits none of the forms that its schema allows; "],
    );
    check(
        "{port: 1, target: {ip: a, host: b}}",
        &["error at target: `spec.target` of Role shop fits several forms of which its schema allows exactly one; "],
    );
    check(
        "{port: 1, last: never}",
        &["error at never: `spec.last` of Role shop has a value that its schema excludes; "],
    );
    check(
        "{port: 1, closed: {a: 1}}",
        &["warning at a: `spec.closed.a` is no field of Role shop; correct its name or its indentation, or remove it"],
    );
    check(
        "{port: 1, pod: {metadata: {labels: {a: 1}}}}",
        &[
            "error at 1: `spec.pod.metadata.labels.a` of Role shop is a number, and must be a text; put it in quotes: in a template, `{{ … | quote }}`",
        ],
    );
}

#[test]
fn a_definition_can_limit_names_and_versions() {
    let role = object("acme.example/v1/Role", "{port: 1}");
    let found = problems(&format!("{ROLES}---\n{}", role.replace("shop", "department")));
    assert_eq!(
        found,
        ["error at department: `metadata.name` of Role department has 10 characters, and must have at most 8; "]
    );
    let found = problems(&format!("{ROLES}---\n{}", role.replace("/v1", "/v1beta1")));
    assert_eq!(
        found,
        ["warning at acme.example/v1beta1: the definition of Role has no such version; write `acme.example/v1`"]
    );
}

#[test]
fn definitions_of_charts_and_folders_are_schemas() {
    let role = object("acme.example/v1/Role", "{}");
    let expected = "error at spec: `spec.port` is missing in Role shop; add it: the schema of Role requires it";
    let chart = Setup { chart: &[("charts/roles/crds/roles.yaml", ROLES)], ..Setup::default() };
    assert_eq!(chart.problems(&role), [expected]);
    let no_crds = Setup { chart: &[("templates/roles.yaml", ROLES)], ..Setup::default() };
    assert_eq!(no_crds.problems(&role), [""; 0]);
    let folder = Setup { folder: &[("roles.yaml", ROLES)], ..Setup::default() };
    assert_eq!(folder.problems(&role), [expected]);
    let useless = Setup { folder: &[("a.yaml", role.as_str()), ("README.md", "x")], ..Setup::default() };
    assert!(useless.problems(&role)[0].contains("this file has no `CustomResourceDefinition`"));
}

#[test]
fn json_schemas_of_a_folder_come_before_those_of_kubernetes() {
    let schema = r##"{"type": "object", "properties": {"apiVersion": {}, "kind": {}, "spec": {"$ref": "#/definitions/spec"},
        "metadata": {"$ref": "https://example.com/_definitions.json#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}},
        "definitions": {"spec": {"required": ["type"], "properties": {"type": {"$ref": "https://example.com/other.json"}}}},
        "additionalProperties": false}"##;
    let setup = Setup { folder: &[("v1.30/Service-v1.json", schema)], ..Setup::default() };
    assert_eq!(setup.problems(&object("Service", "{type: any, other: 1}")), [""; 0]);
    let wrong = object("Service", "{}").replace("{name: shop}", "{name: shop, labels: [a]}");
    assert_eq!(
        setup.problems(&format!("{wrong}data: {{}}\n")),
        [
            "error at labels: `metadata.labels` of Service shop is a list, and must be a map; ",
            "error at spec: `spec.type` is missing in Service shop; add it: the schema of Service requires it",
            "warning at data: `data` is no field of Service shop; correct its name or its indentation, or remove it",
        ]
    );
    for (broken, reason) in [("{\"properties\": 3}", "invalid type"), ("", "it is empty"), ("{", "")] {
        let setup = Setup { folder: &[("service-v1.json", broken)], ..Setup::default() };
        let found = setup.problems(&object("Service", "{}"));
        assert!(
            found.len() == 1 && found[0].contains("this schema can't be used") && found[0].contains(reason),
            "{found:?}"
        );
    }
}

#[test]
fn validation_can_be_switched_off() {
    let wrong = object("Service", "{type: 3}");
    let count = |options: &str| Setup { options, ..Setup::default() }.problems(&wrong).len();
    assert_eq!(count(""), 1);
    for (options, expected) in [
        ("validate = false", 0),
        ("skip-kinds = [\"Service\"]", 0),
        ("skip-kinds = [\"/Service\"]", 0),
        ("skip-kinds = [\"apps/Service\", \"Pod\"]", 1),
    ] {
        assert_eq!(count(options), expected, "{options}");
    }
}

mod chart;
mod hostile;
