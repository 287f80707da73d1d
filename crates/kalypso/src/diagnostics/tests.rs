//! Tests of the text output.

use insta::assert_snapshot;
use model::diagnostic::merged;
use model::locate::Locator;
use workbench::diagnostics::{DiagnosticBatch, DiagnosticReport};

use super::{ReportFormat, render};

mod formats;

/// A control plane with one cluster type and one target. The target's schema requires `PORT`.
const PLATFORM: (&str, &[u8]) = ("platform.yaml", br#"
{apiVersion: scheduler.kalypso.io/v1alpha1, kind: ClusterType, metadata: {name: edge}, spec: {reconciler: r, namespaceService: r, configType: c}}
---
{apiVersion: scheduler.kalypso.io/v1alpha1, kind: SchedulingPolicy, metadata: {name: all}, spec: {deploymentTargetSelector: {labelSelector: {}}, clusterTypeSelector: {labelSelector: {}}}}
---
{apiVersion: scheduler.kalypso.io/v1alpha1, kind: Template, metadata: {name: r}, spec: {type: reconciler, manifests: ["a: 1"]}}
"#);
const TEMPLATE: (&str, &[u8]) = ("config.yaml", CONFIG_TEMPLATE.as_bytes());
const CONFIG_TEMPLATE: &str = "
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata:
  name: c
spec:
  type: config
  manifests:
    - |
      a: 1
";
const WORKLOAD_WITHOUT_SCHEMA: (&str, &[u8]) = ("shop.yaml", b"{apiVersion: scheduler.kalypso.io/v1alpha1, kind: Workload, metadata: {name: shop}, spec: {deploymentTargets: [{name: eu, environment: prod, manifests: {repo: r}}]}}");
const WORKLOAD: (&str, &[u8]) = (
    "shop.yaml",
    br#"
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata:
  name: shop
spec:
  deploymentTargets:
    - {name: eu, environment: prod, manifests: {repo: r}}
    - {name: us, environment: prod, manifests: {repo: r}}
  configSchemas:
    - |
      {
        "type": "object",
        "required": ["PORT"],
        "properties": { "PORT": { "type": "integer" } }
      }
"#,
);

/// The text output for these files.
fn seen(files: &[(&str, &[u8])]) -> String {
    let files = files.iter().map(|(path, content)| ((*path).to_owned(), content.to_vec()));
    let (fleet, mut diagnostics) = testkit::directory::fleet_of(files.collect(), "prod").unwrap();
    let fleet = std::sync::Arc::new(fleet);
    let compiled = engine::compile::Compiled::new(&fleet);
    diagnostics.extend(compiled.diagnostics());
    let diagnostics = merged(diagnostics);
    let assignments = Some(compiled.len());
    let mut report = DiagnosticReport::new();
    let sensitive = Some(compiled.prepared().sensitive());
    let batch = DiagnosticBatch { diagnostics: &diagnostics, assignments, sensitive, ..DiagnosticBatch::default() };
    report.add(batch, &mut Locator::new(&fleet));
    anstream::adapter::strip_str(&render(&report, ReportFormat::Human)).to_string()
}

#[test]
fn a_missing_value() {
    assert_snapshot!(seen(&[PLATFORM, TEMPLATE, WORKLOAD]), @r#"
    error[K0311]: `PORT` is missing
      --> shop.yaml:14:9
       |
    14 |         "required": ["PORT"],
       |         ^^^^^^^^^^ required by Workload `shop`
       |
       = reaches 2 assignments: edge/shop-eu and edge/shop-us
       = these are left out
       = help: give `PORT` in a ConfigMap that matches the assignment

    1 error in 3 files
    "#);
}

#[test]
fn a_wrong_value() {
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: west, labels: {platform-config: 'true'}}\ndata:\n  PORT: \"54x2\"\n";
    assert_snapshot!(seen(&[PLATFORM, TEMPLATE, WORKLOAD, ("west.yaml", config.as_bytes())]), @r#"
    error[K0312]: `PORT` must be an integer, here it is "54x2"
      --> west.yaml:5:9
       |
     5 |   PORT: "54x2"
       |         ^^^^^^ this value
       |
      ::: shop.yaml:15:35
       |
    15 |         "properties": { "PORT": { "type": "integer" } }
       |                                   ------ required by Workload `shop`
       |
       = reaches 2 assignments: edge/shop-eu and edge/shop-us
       = these are left out

    1 error in 4 files
    "#);
}

#[test]
fn broken_yaml() {
    assert_snapshot!(seen(&[("a.yaml", b"metadata:\n  name: west\n   labels: {}\n")]), @r"
    error[K0101]: this line is indented under a line that has a value already
     --> a.yaml:3:4
      |
    2 |   name: west
      |   ---------- this is the line above
    3 |    labels: {}
      |    ^^^^^^^^^^
      |
      = help: begin it in the column of the key above

    1 error in 1 file
    ");
}

#[test]
fn an_object_that_exists_twice() {
    let map = b"\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: west\n";
    assert_snapshot!(seen(&[("a.yaml", map), ("b/west.yaml", map)]), @r"
    error[K0111]: ConfigMap `west` exists 2 times
     --> a.yaml:5:9
      |
    5 |   name: west
      |         ^^^^ once here
      |
     ::: b/west.yaml:5:9
      |
    5 |   name: west
      |         ---- and again here
      |
      = what was published of what depends on it stays
      = help: remove or rename all but one

    1 error in 2 files
    ");
}

#[test]
fn a_template_that_fails() {
    let template = CONFIG_TEMPLATE.replace("a: 1", "a: 1\n      b: {{ index .ConfigData 1 2 }}");
    assert_snapshot!(seen(&[PLATFORM, ("config.yaml", template.as_bytes()), WORKLOAD_WITHOUT_SCHEMA]), @r"
    error[K0402]: template `c`: error calling index: value has type int; should be string
      --> config.yaml:11:13
       |
    11 |       b: {{ index .ConfigData 1 2 }}
       |             ^
       |
       = reaches 1 assignment: edge/shop-eu
       = it is left out

    1 error in 3 files
    ");
}

#[test]
fn a_file_as_a_whole() {
    assert_snapshot!(seen(&[("a/kustomization.yaml", b"resources: []\n")]), @r"
    error[K0116]: `kustomization.yaml` in `a` is not supported: no file at or below that folder is read
    --> a/kustomization.yaml
     = help: write the objects as the kustomization would make them and remove the file, or name the folder in `.sourceignore`

    1 error in 1 file
    ");
}

#[test]
fn letters_of_all_widths() {
    assert_snapshot!(seen(&[("\u{fc}.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {\u{6771}\u{4eac}: \"\u{6771}\",\t\"\u{e9}\": 8}\n".as_bytes())]), @r#"
    error[K0107]: `é` must be a text, here it is a number
     --> ü.yaml:4:22
      |
    4 | data: {東京: "東",    "é": 8}
      |                            ^
      |
      = help: put it in quotes: "8"

    1 error in 1 file
    "#);
}

#[test]
fn control_characters_in_names_and_values() {
    assert_snapshot!(seen(&[("a\u{1b}[2J.yaml", b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"\x1b[31mred\"}\n")]), @r#"
    error[K0103]: there is a control character (U+001B) in the text
     --> a␛[2J.yaml:3:19
      |
    3 | metadata: {name: "␛[31mred"}
      |                   ^
      |
      = help: remove it, or write it as an escape in double quotes

    1 error in 1 file
    "#);
}

#[test]
fn bytes_that_are_no_text() {
    assert_snapshot!(seen(&[("a.yaml", b"\x00\x01\x02"), ("b.yaml", b"name: \xff\xfe\n")]), @r"
    error[K0103]: there is a control character (U+0000) in the text
    --> a.yaml:1:1
     = help: remove it, or write it as an escape in double quotes

    error[K0103]: this is not UTF-8
     --> b.yaml:1:7
      |
    1 | name: ��
      |       ^
      |
      = help: save the text as UTF-8

    2 errors in 2 files
    ");
}
