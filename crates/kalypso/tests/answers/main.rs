//! Tests that the reference documents every field of all structured output.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may")]

mod hub;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use git_host::HostKind;
use git_host::double::{BareRepository, HostDouble};
use git_host::hosts::memory::MemoryHost;
use kalypso::reference::answers::{REPORT, answers as documented_answers, counts};
use serde_json::Value;

const PLATFORM: &str = include_str!("platform.yaml");

/// Adds an error for one target, so that one assignment fails.
const BROKEN: &str = r#"
apiVersion: v1
kind: ConfigMap
metadata: {name: broken, labels: {platform-config: "true", deployment-target: hello-web}}
data: {PORT: many}
"#;

/// Adds a value that is missing with advice, and a target that no policy assigns.
const MISSING: &str = r#"
apiVersion: v1
kind: ConfigMap
metadata: {name: host, labels: {platform-config: "true", region: west}}
data: {HOST: west.example}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: mistake, labels: {platform-config: "true"}}
data: {HOSTT: any.example}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ConfigSchema
metadata: {name: hosts}
spec: {schema: '{"required": ["HOST"], "properties": {"HOST": {"type": "string"}}}'}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: DeploymentTarget
metadata: {name: other, labels: {workload: hello}}
spec: {environment: dev, manifests: {repo: r}}
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

/// The paths of all fields, except for labels and for fields inside of reports, places and counts, which have tables of their own.
fn fields(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(entries) if entries.contains_key("succeededButSilent") => {
            let documented: BTreeSet<_> = counts().into_iter().map(|(field, _)| field).collect();
            assert_eq!(entries.keys().cloned().collect::<BTreeSet<_>>(), documented);
            found.insert(path.to_owned());
        }
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

/// The fields with any data, by the title of their answer.
const FREE_DATA: [(&str, &str); 4] = [
    ("hub audit", "entries[].detail"),
    ("events", "event.evidence"),
    ("history", "items[].event.evidence"),
    ("explain", "releasePins[].manifests"),
];

fn check(title: &str, answers: &[Value]) {
    let mut found = BTreeSet::new();
    answers.iter().for_each(|answer| fields(answer, "", &mut found));
    let all = documented_answers();
    let (_, documented) = all.iter().find(|(name, _)| *name == title).unwrap();
    // An empty list stands for the fields of its items. The reference does not list the fields of items that another command has, nor of free data.
    let is_elsewhere = |field: &str, meaning: &str| {
        meaning.contains("same as `") || meaning.contains("as in `") || FREE_DATA.contains(&(title, field))
    };
    let is_known = |field: &&String| {
        documented.iter().any(|(other, meaning)| {
            other.starts_with(&***field) || (is_elsewhere(other, meaning) && field.starts_with(&format!("{other}.")))
        })
    };
    let unknown: Vec<_> = found.iter().filter(|field| !is_known(field)).collect();
    assert!(unknown.is_empty(), "{title}: {unknown:?} are not in the reference");
    // An object is documented by its nested fields.
    let is_in = |field: &str, other: &str| {
        other.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    let has = |field: &str| found.iter().any(|other| is_in(field, other));
    // The fields of a type are documented once. They are also there if another field of the same type has them.
    let has_same = |field: &str| {
        documented.iter().any(|(other, meaning)| {
            let first = meaning.split("The same as `").nth(1).and_then(|rest| rest.split('`').next());
            let rest = first.and_then(|first| field.strip_prefix(first)).filter(|rest| rest.starts_with('.'));
            rest.is_some_and(|rest| has(&format!("{other}{rest}")))
        })
    };
    let is_there = |field: &str| has(field) || has_same(field);
    let gone: Vec<_> = documented.iter().map(|(field, _)| field.as_str()).filter(|field| !is_there(field)).collect();
    assert!(gone.is_empty(), "{title}: {gone:?} are in the reference, but not in the answer");
}

#[test]
fn contract() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("all.yaml"), [PLATFORM, BROKEN, MISSING].join("---\n")).unwrap();
    check("contract", &[run(folder.path(), &["contract", "hello", "--from", ".", "-e", "dev"])]);
}

fn git(repository: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Ann", "-c", "user.email=ann@acme.example"]).args(arguments);
    assert!(command.current_dir(repository).status().unwrap().success());
}

/// The company of the demo in the folder `acme`. The branch of environment `prod` is checked out.
fn demo() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut demo = Command::new(env!("CARGO_BIN_EXE_kalypso"));
    let made = demo.args(["demo", "acme", "--no-hub"]).current_dir(folder.path()).output();
    assert!(made.unwrap().status.success());
    git(&folder.path().join("acme/control-plane"), &["switch", "--quiet", "prod"]);
    folder
}

const PIN: &str = r"
apiVersion: fleet.kalypso.io/v1alpha1
kind: ReleasePin
metadata: {name: hold}
spec:
  deploymentTargetSelector: {labelSelector: {matchLabels: {workload: checkout}}}
  clusterTypeSelector: {labelSelector: {matchLabels: {region: central-us}}}
  manifests: {branch: release-41}
";

/// The output of `explain` and `plan` for an assignment that fails and is held by a release pin; and a plan of a change that is not committed.
fn held() -> [Value; 3] {
    let folder = demo();
    let control_plane = folder.path().join("acme/control-plane");
    let central = control_plane.join("configs/central.yaml");
    let text = fs::read_to_string(&central).unwrap();
    fs::write(&central, text.replace("postgres://", "mysql://")).unwrap();
    fs::write(control_plane.join("hold.yaml"), PIN).unwrap();
    git(&control_plane, &["add", "."]);
    git(&control_plane, &["commit", "--quiet", "-m", "Another database"]);
    let run = |arguments: &[&str]| run(&folder.path().join("acme"), &[arguments, &["-e", "prod"]].concat());
    let held = [run(&["explain", "chicago-edge/checkout-us"]), run(&["plan"])];
    fs::write(&central, text).unwrap();
    let [explained, planned] = held;
    [explained, planned, run(&["plan", "--working-tree"])]
}

fn platform() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("in")).unwrap();
    fs::write(folder.path().join("in/platform.yaml"), PLATFORM).unwrap();
    folder
}

#[test]
fn command_answers_match_the_reference() {
    let folder = platform();
    let source = ["--from", "in", "-e", "dev"];
    let run = |arguments: &[&str]| run(folder.path(), &[arguments, &source].concat());
    let [explained_held, planned_held, not_committed] = held();
    check("explain", &[run(&["explain", "drone/hello-web"]), explained_held]);
    let explained = ["REGION", "LIMITS"].map(|key| run(&["explain", "drone/hello-web", key]));
    check("explain KEY", &explained);
    check_missing(folder.path());
    let rendered = run(&["render", "--out", "out"]);
    fs::write(
        folder.path().join("out/drone/hello-web/platform-config.yaml"),
        "REGION: other\nPORTS: [1, 2, 3, 4, 5, 6]\n",
    )
    .unwrap();
    let mut plans = vec![run(&["plan", "--against", "out", "--diff"]), run(&["plan", "--diff"])];
    fs::write(folder.path().join("it.patch"), PATCH).unwrap();
    plans.extend([run(&["plan", "--patch", "it.patch"]), run(&["plan", "--limit", "0"])]);
    fs::write(folder.path().join("in/broken.yaml"), BROKEN).unwrap();
    plans.extend([run(&["plan", "--against", "out"]), run(&["plan"])]);
    // All assignments are removed, which requires a confirmation.
    fs::write(folder.path().join("in/platform.yaml"), PLATFORM.replace("name: drone", "name: plane")).unwrap();
    plans.extend([run(&["plan", "--against", "out"]), planned_held, not_committed]);
    check("plan", &plans);
    check("render", &[rendered, run(&["render", "--digest"])]);
}

const CLUSTER: &str = r"
apiVersion: fleet.kalypso.io/v1alpha1
kind: Cluster
metadata: {name: drone-7}
spec: {clusterType: drone}
";

const PROMOTION: &str = r"
apiVersion: fleet.kalypso.io/v1alpha1
kind: Promotion
metadata: {name: to-dev}
spec:
  to: dev
  gates: [{name: by-hand, manual: {}}]
  rings: [{name: first, labelSelector: {matchLabels: {region: west-us}}, enter: [{name: begin, manual: {}}], prove: [{name: let, manual: {}}]}, {name: rest}]
";

/// The answer of a command in a plain folder with one object of most kinds, and in the demo, with the other kinds.
fn listed(arguments: &[&str], demo: &Path) -> [Value; 2] {
    let folder = platform();
    fs::write(folder.path().join("in/cluster.yaml"), CLUSTER).unwrap();
    fs::write(folder.path().join("in/promotion.yaml"), PROMOTION).unwrap();
    let plain = run(folder.path(), &[arguments, &["--from", "in", "-e", "dev"]].concat());
    [plain, run(demo, &[arguments, &["-e", "prod"]].concat())]
}

#[test]
fn lists_match_the_reference() {
    let demo = demo();
    let demo = demo.path().join("acme");
    let all = documented_answers();
    for (title, _) in all.iter().filter(|(title, _)| title.starts_with("get ") && !title.contains("--key")) {
        check(title, &listed(&title.split(' ').collect::<Vec<_>>(), &demo));
    }
    check("get values --key", &listed(&["get", "values", "--key", "REGION"], &demo));
}

#[test]
fn descriptions_match_the_reference() {
    let demo = demo();
    let demo = demo.path().join("acme");
    let objects = [
        "cluster-type/drone",
        "config/common",
        "target/hello-web",
        "workload/hello",
        "template/any",
        "promotion/to-dev",
    ];
    let all: Vec<_> = objects.iter().flat_map(|object| listed(&["describe", object], &demo)).collect();
    check("describe", &all);
}

/// Objects that almost make an assignment, with labels from each kind of object.
const NEAR: &str = include_str!("near.yaml");

/// Checks the answers about what is missing, and the overviews.
fn check_missing(folder: &Path) {
    fs::create_dir_all(folder.join("near")).unwrap();
    fs::write(folder.join("near/platform.yaml"), PLATFORM).unwrap();
    fs::write(folder.join("near/near.yaml"), NEAR).unwrap();
    let run = |arguments: &[&str]| run(folder, &[arguments, &["--from", "near", "-e", "dev"]].concat());
    let questions: [&[&str]; 9] = [
        &["plane/hello-web"],
        &["plane"],
        &["drone/moon-web"],
        &["lost/hello-webb"],
        &["drone/hello-web", "configmap/west"],
        &["drone/hello-web", "configmap/first"],
        &["drone/hello-web", "configmap/other"],
        &["drone/hello-web", "configmap/common", "REGION"],
        &["drone/hello-web", "configmap/east", "REGION"],
    ];
    let mut missing = questions.map(|words| run(&[&["why-not"], words].concat())).to_vec();
    fs::write(folder.join("near/broken.yaml"), BROKEN).unwrap();
    check("explain NAME", &["drone", "hello-web", "hello", "moon"].map(|name| run(&["explain", name])));
    missing.push(run(&["why-not", "drone/hello-web"]));
    check("why-not", &missing);
}

#[test]
fn publication_answers_match_the_reference() {
    let folder = demo();
    let answer = run(&folder.path().join("acme"), &["publish", "-e", "prod"]);
    assert_eq!(answer["published"][0]["result"], "unchanged");
    let control_plane = folder.path().join("acme/control-plane");
    git(&control_plane, &["rm", "--quiet", "-r", "cluster-types/central"]);
    git(&control_plane, &["commit", "--quiet", "-m", "Tidying up"]);
    let refused = run(&folder.path().join("acme"), &["publish", "-e", "prod", "--direct"]);
    assert_eq!(refused["published"][0]["result"], "refused");
    let host = git_host(folder.path());
    let opened = run(&folder.path().join("acme"), &["publish", "-e", "prod"]);
    assert_eq!(opened["published"][0]["pullRequest"]["result"], "opened");
    host.revoke_tokens();
    let failed = run(&folder.path().join("acme"), &["publish", "-e", "prod"]);
    assert_eq!(failed["published"][0]["pullRequest"]["result"], "failed");
    check("publish", &[answer, refused, opened, failed]);
}

/// A git host with the GitOps repository of the demo, and the configuration for it.
fn git_host(folder: &Path) -> HostDouble {
    let state = MemoryHost::new(HostKind::Gitea);
    let repository = BareRepository::open(&folder.join("acme/platform-gitops.git")).unwrap();
    state.add_repository("acme/platform-gitops", Box::new(repository));
    let host = HostDouble::start(&state).unwrap();
    host.accept_token("a-token", "kalypso-bot");
    std::fs::write(folder.join("token"), "a-token").unwrap();
    let file = folder.join("acme/kalypso.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let url = host.url();
    let section = format!(
        "\n[host]\nkind = \"gitea\"\nurl = \"https://git.acme.example\"\napi-url = \"{url}/api/v1\"\ntoken-file = \"../token\"\n"
    );
    // The demo has these sections for the git host that `kalypso serve` runs there.
    let sections = text.split("\n[").filter(|part| !part.starts_with("host]") && !part.starts_with("demo]"));
    let others = sections.collect::<Vec<_>>().join("\n[");
    std::fs::write(&file, others + &section).unwrap();
    host
}
