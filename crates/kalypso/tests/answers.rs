//! The reference names every field of every structured answer.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use kalypso::reference::answers::{ANSWERS, REPORT};
use serde_json::Value;

const PLATFORM: &str = r#"
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {name: drone, labels: {region: east}}
spec: {reconciler: any, namespaceService: any, configType: values}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: SchedulingPolicy
metadata: {name: all}
spec:
  deploymentTargetSelector: {labelSelector: {matchLabels: {purpose: test}}}
  clusterTypeSelector: {labelSelector: {matchLabels: {region: east}}}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: any}
spec: {type: reconciler, manifests: ["a: 1"]}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: values}
spec: {type: config, manifests: ["{{ toYaml .ConfigData }}"]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: common, labels: {platform-config: "true"}}
data: {REGION: none}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: east, labels: {platform-config: "true", region: east}}
data: {REGION: east}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: west, labels: {platform-config: "true", region: west}}
data: {REGION: west}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ConfigSchema
metadata: {name: regions}
spec: {schema: '{"properties": {"REGION": {"type": "string"}, "PORT": {"type": "integer"}}}'}
---
apiVersion: fleet.kalypso.io/v1alpha1
kind: ReleasePin
metadata: {name: hold}
spec:
  deploymentTargetSelector: {labelSelector: {matchLabels: {purpose: test}}}
  clusterTypeSelector: {labelSelector: {matchLabels: {region: east}}}
  manifests: {branch: release-1}
  reason: Not yet.
---
apiVersion: fleet.kalypso.io/v1alpha1
kind: LabelMapping
metadata: {name: tests}
spec: {from: {purpose: test}, add: {tier: lab}}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata: {name: hello}
spec:
  deploymentTargets:
    - {name: web, environment: dev, labels: {purpose: test}, manifests: {repo: r}}
"#;

/// What is wrong for one target only, so that one assignment fails.
const BROKEN: &str = r#"
apiVersion: v1
kind: ConfigMap
metadata: {name: broken, labels: {platform-config: "true", deployment-target: hello-web}}
data: {PORT: many}
"#;

/// Adds a value.
const PATCH: &str = "\
diff --git a/port.yaml b/port.yaml
new file mode 100644
--- /dev/null
+++ b/port.yaml
@@ -0,0 +1,4 @@
+apiVersion: v1
+kind: ConfigMap
+metadata: {name: port, labels: {platform-config: \"true\"}}
+data: {PORT: \"80\"}
";

fn run(folder: &Path, arguments: &[&str]) -> Value {
    let output =
        Command::new(env!("CARGO_BIN_EXE_kalypso")).args(arguments).args(["-o", "json"]).current_dir(folder).output();
    let output = output.unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// The paths of all fields but those inside reports and places, which have tables of their own, and of labels.
fn fields(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(entries) if path != REPORT && !path.ends_with("place") && !path.ends_with("labels") => {
            for (key, value) in entries {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                fields(value, &path, found);
            }
        }
        Value::Array(items) if items.is_empty() => drop(found.insert(format!("{path}[]"))),
        Value::Array(items) => items.iter().for_each(|item| fields(item, &format!("{path}[]"), found)),
        _ => drop(found.insert(path.to_owned())),
    }
}

fn check(title: &str, answers: &[Value]) {
    let mut found = BTreeSet::new();
    answers.iter().for_each(|answer| fields(answer, "", &mut found));
    let (_, documented) = ANSWERS.iter().find(|(name, _)| *name == title).unwrap();
    let documented: BTreeSet<_> = documented.iter().map(|(field, _)| (*field).to_owned()).collect();
    // An empty list stands for the fields of its items, and the values of `explain` have a table of their own.
    let is_known =
        |field: &&String| field.starts_with("values[].") || documented.iter().any(|other| other.starts_with(&***field));
    let unknown: Vec<_> = found.iter().filter(|field| !is_known(field)).collect();
    assert!(unknown.is_empty(), "{title}: {unknown:?} are not in the reference");
    // A field that holds others is there through them.
    let is_there = |field: &&String| found.contains(*field) || found.iter().any(|other| other.starts_with(&**field));
    let gone: Vec<_> = documented.iter().filter(|field| !is_there(field)).collect();
    assert!(gone.is_empty(), "{title}: {gone:?} are in the reference, but not in the answer");
}

fn platform() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("in")).unwrap();
    fs::write(folder.path().join("in/platform.yaml"), PLATFORM).unwrap();
    folder
}

#[test]
fn answers_hold_what_the_reference_says() {
    let folder = platform();
    let source = ["--from", "in", "-e", "dev"];
    let run = |arguments: &[&str]| run(folder.path(), &[arguments, &source].concat());
    check("explain", &[run(&["explain", "drone/hello-web"])]);
    check("explain KEY", &[run(&["explain", "drone/hello-web", "REGION"])]);
    let rendered = run(&["render", "--out", "out"]);
    fs::write(folder.path().join("out/drone/hello-web/platform-config.yaml"), "REGION: other\n").unwrap();
    let mut plans = vec![run(&["plan", "--against", "out", "--diff"]), run(&["plan", "--diff"])];
    fs::write(folder.path().join("it.patch"), PATCH).unwrap();
    plans.extend([run(&["plan", "--patch", "it.patch"]), run(&["plan", "--limit", "0"])]);
    fs::write(folder.path().join("in/broken.yaml"), BROKEN).unwrap();
    plans.extend([run(&["plan", "--against", "out"]), run(&["plan"])]);
    check("plan", &plans);
    check("render", &[rendered, run(&["render", "--digest"])]);
}

#[test]
fn a_publication_answers_what_the_reference_says() {
    let folder = tempfile::tempdir().unwrap();
    let demo = Command::new(env!("CARGO_BIN_EXE_kalypso"))
        .args(["demo", "acme", "--no-hub"])
        .current_dir(folder.path())
        .output();
    assert!(demo.unwrap().status.success());
    let answer = run(&folder.path().join("acme"), &["publish", "-e", "prod"]);
    assert_eq!(answer["published"][0]["result"], "unchanged");
    check("publish", &[answer]);
}

#[test]
fn the_hub_answers_what_the_reference_says() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| run(folder.path(), &[&["hub"], arguments].concat());
    let group =
        ["--hosts", "chicago-*", "--reconciler-type", "flux", "--place", "https://a", "--label", "a=b", "--signing"];
    check("hub token create", &[run(&[&["token", "create", "chicago"], &group[..]].concat())]);
    run(&["token", "create", "berlin", "--host", "berlin-1"]);
    check("hub token rotate", &[run(&["token", "rotate", "chicago"])]);
    check("hub token list", &[run(&["token", "list"])]);
    let add = ["hub", "host", "add", "berlin-1", "--reconciler", "checkout"];
    let added = Command::new(env!("CARGO_BIN_EXE_kalypso")).args(add).current_dir(folder.path()).status();
    assert!(added.unwrap().success());
    check("hub host list", &[run(&["host", "list"])]);
}

#[test]
fn reports_answer_what_the_reference_says() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| run(folder.path(), arguments);
    let token = run(&["hub", "token", "create", "site", "--hosts", "berlin-*", "--signing"]);
    fs::write(folder.path().join("token"), token["token"].as_str().unwrap()).unwrap();
    let line = |host: &str| format!("{{\"host\": \"{host}\", \"reconciler\": \"a\", \"status\": \"success\"}}\n");
    fs::write(folder.path().join("in.ndjson"), line("berlin-1") + &line("paris-1")).unwrap();
    let keep = ["report", "--file", "in.ndjson", "--token-file", "token", "--out", "a.signed"];
    check("report OUT", &[run(&keep)]);
    check("hub import", &[run(&["hub", "import", "a.signed", "in.ndjson"])]);
}
