//! The chart: its values, and the objects that it renders.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use serde_json::{Value as Json, json};
use testkit::postgres::{self, PostgresServer};

use crate::helm::{CHART, Helm, Objects, RELEASE};
use crate::machine::Machine;
use crate::{kubernetes, page, yaml};

/// The kinds that are not part of Kubernetes. Nothing here checks their fields.
const CUSTOM_KINDS: &[&str] = &["ServiceMonitor"];

/// A set of values, and what the chart renders with it.
struct Case {
    name: String,
    values: Vec<String>,
    objects: Objects,
}

impl Case {
    /// What the values set at a place. Null if it is the chart's default.
    fn setting(&self, pointer: &str) -> Json {
        let set = self.values.iter().rev().find_map(|text| yaml::document(text).pointer(pointer).cloned());
        set.unwrap_or_default()
    }
}

/// All cases. Each is rendered once for all tests of this process.
fn cases(helm: &Helm) -> &'static [Case] {
    static CASES: OnceLock<Vec<Case>> = OnceLock::new();
    let render = |(name, values): (String, Vec<String>)| {
        let objects = helm.render(&values).unwrap_or_else(|error| panic!("{name}: {error}"));
        Case { name, values, objects }
    };
    CASES.get_or_init(|| values().into_iter().map(render).collect())
}

/// The values of all cases, each with its name: those of `ci/`, and those of the page.
fn values() -> Vec<(String, Vec<String>)> {
    let ci = files("ci").into_iter().map(|path| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, vec![fs::read_to_string(path).unwrap()])
    });
    let [one, several] = &page::blocks("yaml")[..] else { panic!("the page shows two blocks of values") };
    let first = ("the page".to_owned(), vec![one.clone()]);
    let both = ("the page, with several replicas".to_owned(), vec![one.clone(), several.clone()]);
    ci.chain([first, both]).collect()
}

/// The text of a file of the chart.
fn text(name: &str) -> String {
    page::text(&format!("{CHART}/{name}"))
}

/// The paths of the files in a folder of the chart, in order.
fn files(folder: &str) -> Vec<PathBuf> {
    let folder = fs::read_dir(page::repository(CHART).join(folder)).unwrap();
    let mut files: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn find<'o>(objects: &'o Objects, kind: &str) -> &'o Json {
    let mut all = objects.values().flatten();
    all.find(|object| object["kind"] == kind).unwrap_or_else(|| panic!("there is no {kind}"))
}

/// The values of the smallest release, with others over them.
fn smallest(over: &Json) -> [String; 2] {
    [json!({"image": {"repository": "r"}, "config": "[control-plane]\n"}).to_string(), over.to_string()]
}

/// Values of all settings with a free text. Each text is a number, a boolean or null, if it is written without quotes.
fn texts_like_numbers() -> [String; 2] {
    let over = json!({
        "fullnameOverride": "123", "nameOverride": "0x10", "priorityClassName": "1e3",
        "image": {"repository": "1", "pullPolicy": "Always"},
        "secrets": {"environment": "1", "files": "2", "tls": "3"},
        "database": {"postgresql": {"existingSecret": "4", "key": "true"}},
        "ingress": {"className": "5", "hosts": [{"host": "6", "paths": [{"path": "7"}]}]},
        "serviceMonitor": {"interval": "30", "scrapeTimeout": "10", "tokenSecret": {"name": "8", "key": "null"}},
        "serviceAccount": {"name": "9"},
    });
    [text("ci/postgresql-values.yaml"), over.to_string()]
}

/// `helm lint` also compares the values with the chart's own schema.
#[test]
fn lint_accepts_all_values() {
    let Some(helm) = Helm::find() else { return };
    let default = ("values.yaml".to_owned(), Vec::new());
    for (name, values) in values().into_iter().chain([default]) {
        assert_eq!(helm.lint(&values), Ok(()), "{name}");
    }
}

#[test]
fn the_schema_refuses_unknown_values() {
    let Some(helm) = Helm::find() else { return };
    for (over, name) in [(json!({"replicas": 2}), "replicas"), (json!({"replicaCount": "2"}), "replicaCount")] {
        let error = helm.render(&smallest(&over)).unwrap_err();
        assert!(error.starts_with("Error: values don't meet the specifications of the schema"), "{error}");
        let problems: Vec<_> = error.lines().filter(|line| line.starts_with("- ")).collect();
        assert!(problems.len() == 1 && problems[0].contains(name), "{error}");
    }
}

/// Every value of `values.yaml` is in the schema, so no value can be misspelled.
#[test]
fn the_schema_describes_every_value() {
    fn check(values: &Json, schema: &Json, path: &str) {
        let (Some(values), Some(described)) = (values.as_object(), schema["properties"].as_object()) else { return };
        for (name, value) in values {
            let found = described.get(name).unwrap_or_else(|| panic!("{path}.{name} is not in the schema"));
            check(value, found, &format!("{path}.{name}"));
        }
        let more: Vec<_> = described.keys().filter(|name| !values.contains_key(*name) && *name != "global").collect();
        assert!(more.is_empty(), "{path}: {more:?} are not in values.yaml");
    }
    let schema: Json = serde_json::from_str(&text("values.schema.json")).unwrap();
    check(&yaml::document(&text("values.yaml")), &schema, "");
}

#[test]
fn kubernetes_accepts_every_object() {
    let Some(all) = kubernetes::schemas() else { return };
    let Some(helm) = Helm::find() else { return };
    let numbers = helm.render(&texts_like_numbers()).unwrap();
    let cases = cases(&helm).iter().map(|case| (case.name.as_str(), &case.objects)).chain([("numbers", &numbers)]);
    let mut unchecked = BTreeSet::new();
    for (name, object) in cases.flat_map(|(name, objects)| objects.values().flatten().map(move |found| (name, found))) {
        let kind = object["kind"].as_str().unwrap();
        for schemas in &all {
            match schemas.problems(object) {
                Some(problems) => assert_eq!(problems, [""; 0], "{name}: {kind} in {}", schemas.version),
                None => drop(unchecked.insert(kind)),
            }
        }
    }
    assert_eq!(unchecked.into_iter().collect::<Vec<_>>(), CUSTOM_KINDS);
    let wrong =
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"nam": "a"}, "spec": {"ports": [{"port": "x"}]}});
    for schemas in &all {
        assert_eq!(schemas.problems(&wrong).unwrap().len(), 2, "{}", schemas.version);
    }
}

/// The fields of the only kind without a schema.
#[test]
fn the_texts_of_a_service_monitor_stay_texts() {
    let Some(helm) = Helm::find() else { return };
    let objects = helm.render(&texts_like_numbers()).unwrap();
    let endpoint = &find(&objects, "ServiceMonitor")["spec"]["endpoints"][0];
    assert_eq!((&endpoint["interval"], &endpoint["scrapeTimeout"]), (&json!("30"), &json!("10")));
    assert_eq!(endpoint["authorization"]["credentials"], json!({"name": "8", "key": "null"}));
}

#[test]
fn every_template_renders_an_object_in_some_case() {
    let Some(helm) = Helm::find() else { return };
    let cases = cases(&helm);
    for path in files("templates").into_iter().filter(|path| path.extension().is_some_and(|kind| kind == "yaml")) {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(cases.iter().any(|case| case.objects.contains_key(name)), "{name}");
    }
}

#[test]
fn the_notes_show_the_next_commands_and_warnings() {
    let Some(helm) = Helm::find() else { return };
    let check = |values: &[String], expected: &[&str], warnings: usize| {
        let notes = helm.notes(values);
        assert!(expected.iter().all(|text| notes.contains(text)), "{notes}");
        assert_eq!(notes.matches("WARNING: ").count(), warnings, "{notes}");
    };
    let create = "kubectl --namespace kalypso exec deployment/kalypso -- kalypso hub token create admin --role admin\n";
    check(&[text("ci/maintenance-values.yaml")], &[create, "WARNING: there is no persistent volume"], 1);
    let query = "KALYPSO_HUB_URL=https://127.0.0.1:8080 ";
    check(&[text("ci/postgresql-values.yaml")], &["port-forward service/kalypso 8080:443\n", query], 0);
    let ingress = smallest(&json!({"ingress": {"enabled": true}}));
    check(&ingress, &["KALYPSO_HUB_URL=http://", "WARNING: the Ingress has no TLS section"], 1);
}

#[test]
fn combinations_that_cannot_work_are_refused() {
    let Some(helm) = Helm::find() else { return };
    let check = |over: Json, message: &str| {
        let error = helm.render(&smallest(&over)).unwrap_err();
        assert!(error.contains(message), "{error}");
    };
    check(json!({"config": ""}), "config: write the content of kalypso.toml");
    check(json!({"image": {"repository": ""}}), "image.repository: name your image");
    check(json!({"replicaCount": 2}), "replicaCount: only one replica can use SQLite");
    check(json!({"database": {"type": "postgresql"}}), "database.postgresql.existingSecret: name the Secret");
    check(json!({"secrets": {"tls": "a"}}), "secrets.tls: also set hub.tls-certificate and hub.tls-key");
    check(json!({"serviceMonitor": {"enabled": true}}), "serviceMonitor.tokenSecret.name: name the Secret");
    assert!(helm.render(&smallest(&json!({}))).is_ok());
}

#[test]
fn containers_run_without_privileges_on_a_read_only_file_system() {
    let Some(helm) = Helm::find() else { return };
    for Case { name, objects, .. } in cases(&helm) {
        let pod = &find(objects, "Deployment")["spec"]["template"]["spec"];
        let user = &pod["securityContext"];
        assert_eq!(user["runAsNonRoot"], true, "{name}");
        assert!(user["runAsUser"].as_u64().unwrap() > 0, "{name}");
        assert_eq!(user["seccompProfile"]["type"], "RuntimeDefault", "{name}");
        assert_eq!(pod["automountServiceAccountToken"], false, "{name}");
        let containers = ["initContainers", "containers"].map(|list| pod[list].as_array().unwrap());
        for container in containers.into_iter().flatten() {
            let rights = &container["securityContext"];
            assert_eq!(rights["readOnlyRootFilesystem"], true, "{name}");
            assert_eq!(rights["allowPrivilegeEscalation"], false, "{name}");
            assert_eq!(rights["capabilities"], json!({"drop": ["ALL"]}), "{name}");
            assert_ne!(container["resources"]["requests"], Json::Null, "{name}");
        }
    }
}

/// Whether labels contain all those of a selector.
fn matches(labels: &Json, selector: &Json) -> bool {
    let selector = selector.as_object().unwrap();
    !selector.is_empty() && selector.iter().all(|(name, value)| labels[name] == *value)
}

#[test]
fn selectors_match_labels() {
    let Some(helm) = Helm::find() else { return };
    for Case { name, objects, .. } in cases(&helm) {
        let pods = &find(objects, "Deployment")["spec"]["template"]["metadata"]["labels"];
        let service = &find(objects, "Service")["metadata"]["labels"];
        for object in objects.values().flatten() {
            let spec = &object["spec"];
            let (labels, selector) = match object["kind"].as_str().unwrap() {
                "Deployment" | "PodDisruptionBudget" => (pods, &spec["selector"]["matchLabels"]),
                "NetworkPolicy" => (pods, &spec["podSelector"]["matchLabels"]),
                "Service" => (pods, &spec["selector"]),
                "ServiceMonitor" => (service, &spec["selector"]["matchLabels"]),
                _ => continue,
            };
            assert!(matches(labels, selector), "{name}: {}", object["kind"]);
        }
    }
}

#[test]
fn names_refer_to_objects_and_volumes() {
    let Some(helm) = Helm::find() else { return };
    for Case { name, objects, .. } in cases(&helm) {
        let pod = &find(objects, "Deployment")["spec"]["template"]["spec"];
        let volumes = pod["volumes"].as_array().unwrap();
        let exists = |kind: &str, referred: &Json| {
            let mut found = objects.values().flatten().filter(|object| object["kind"] == kind);
            assert!(
                referred.is_null() || found.any(|object| object["metadata"]["name"] == *referred),
                "{name}: {referred}"
            );
        };
        exists("ServiceAccount", &pod["serviceAccountName"]);
        for volume in volumes {
            exists("PersistentVolumeClaim", &volume["persistentVolumeClaim"]["claimName"]);
            exists("ConfigMap", if volume["name"] == "config" { &volume["configMap"]["name"] } else { &Json::Null });
        }
        for mount in pod["containers"][0]["volumeMounts"].as_array().unwrap() {
            assert!(volumes.iter().any(|volume| volume["name"] == mount["name"]), "{name}: {mount}");
        }
        assert!(objects.values().flatten().all(|object| object["metadata"]["namespace"] == RELEASE), "{name}");
    }
}

/// The certificate of the tests of TLS. No other program trusts it.
fn add_certificate(machine: &Machine) {
    for (name, file) in [("tls.crt", "certificate.pem"), ("tls.key", "key.pem")] {
        let text = page::text(&format!("crates/hub/tests/http/certificate/{file}"));
        machine.write(&format!("/run/secrets/kalypso-tls/{name}"), &text);
    }
}

/// Starts the program as the pod does.
fn serve(objects: &Objects, database: Option<&str>) {
    let container = &find(objects, "Deployment")["spec"]["template"]["spec"]["containers"][0];
    let configuration = find(objects, "ConfigMap")["data"]["kalypso.toml"].as_str().unwrap();
    let mut machine = Machine::new(configuration);
    add_certificate(&machine);
    machine.write("/run/secrets/kalypso/webhook-secret", "secret");
    machine.set("KALYPSO_HOST_TOKEN", "token");
    for variable in container["env"].as_array().unwrap() {
        let value = variable["value"].as_str().or(database).unwrap();
        machine.set(variable["name"].as_str().unwrap(), value);
    }
    machine.create_token();
    let arguments = container["args"].as_array().unwrap().iter();
    let running = machine.start(&arguments.map(|argument| argument.as_str().unwrap().to_owned()).collect::<Vec<_>>());
    for probe in ["startupProbe", "livenessProbe"] {
        let request = &container[probe]["httpGet"];
        let is_encrypted = running.log().contains("listening on https://");
        assert_eq!(request["scheme"], if is_encrypted { "HTTPS" } else { "HTTP" });
        assert!(running.get(request["path"].as_str().unwrap()).contains("200"), "{probe}");
    }
    let ready = running.get(container["readinessProbe"]["httpGet"]["path"].as_str().unwrap());
    assert!(ready.contains("200"), "{ready}");
    running.stop();
}

#[test]
fn program_runs_with_the_rendered_arguments_and_configuration() {
    let Some(helm) = Helm::find() else { return };
    let mut served = 0;
    for case in cases(&helm).iter().filter(|case| case.setting("/maintenance") != true) {
        println!("{}", case.name);
        if case.setting("/database/type") != "postgresql" {
            serve(&case.objects, None);
        } else if let Err(reason) = postgres::availability() {
            println!("skipped: {reason}");
            continue;
        } else {
            let server = PostgresServer::start_private(&[]).unwrap();
            let database = server.create_database().unwrap();
            serve(&case.objects, Some(&database.url()));
        }
        served += 1;
    }
    assert!(served >= 2);
}

#[test]
fn the_version_of_the_chart_is_that_of_the_program() {
    let chart = yaml::document(&text("Chart.yaml"));
    assert_eq!(chart["apiVersion"], "v2");
    assert_eq!(chart["appVersion"], env!("CARGO_PKG_VERSION"));
    assert!(page::text("docs/how-to/deploy-the-service.md").contains("Kubernetes 1.25 or later"));
    assert_eq!(chart["kubeVersion"], ">=1.25.0-0");
}
