//! Tests that cases are read, compared and blessed as `suite/README.md` describes.

use super::*;

const POLICY: &str = "\
# Shop

With an example.

`policy.yaml`:

```yaml
apiVersion: scheduler.kalypso.io/v1alpha1
kind: SchedulingPolicy
metadata: {name: apps}
spec:
  deploymentTargetSelector: {labelSelector: {}}
  clusterTypeSelector: {labelSelector: {matchLabels: {region: west}}}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {name: edge}
spec: {reconciler: any, namespaceService: any, configType: any}
```
";

fn written(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("case.md");
    std::fs::write(&file, text).unwrap();
    (folder, file)
}

/// Blesses a text and returns the new text.
fn blessed(text: &str) -> String {
    let (_folder, file) = written(text);
    bless(&file).unwrap();
    std::fs::read_to_string(&file).unwrap()
}

#[test]
fn blessed_output_is_appended_to_the_case() {
    let text = blessed(POLICY);
    let added = text.strip_prefix(POLICY).unwrap();
    let expected = "\n\
        It says:\n\n```text\n\
        warning[K0201] policy.yaml:6:63 policy `apps` selects no cluster type of dev\n\
        ```\n\nIt makes:\n\n```text\nedge/  README.md\n```\n";
    assert_eq!(added, expected);
    assert_eq!(blessed(&text), text, "blessing the result again changes nothing");
}

#[test]
fn a_case_that_expects_something_else_fails_with_both() {
    let (_folder, file) = written(&format!("{POLICY}\nIt says nothing.\n\nIt makes nothing.\n"));
    let error = check(&cases(&file).unwrap()[0]).unwrap_err();
    assert!(error.contains("case.md:21: It says differs"), "{error}");
    assert!(error.contains("+ warning[K0201] policy.yaml:6:63"), "{error}");
}

#[test]
fn cases_below_headings_share_the_text_above() {
    let (_folder, file) =
        written(&format!("{POLICY}\n## One\n\nOptions: environment `prod`.\n\n## Two\n\nWithout `policy.yaml`.\n"));
    let cases = cases(&file).unwrap();
    assert_eq!(cases.iter().map(|case| case.input.len()).collect::<Vec<_>>(), [1, 0]);
    assert_eq!(&*cases[0].environment, "prod");
    assert_eq!(cases[1].name(file.parent().unwrap()), "case#two");
}

#[test]
fn a_block_that_nothing_explains_is_an_error() {
    let (_folder, file) = written("# Case\n\nTyped wrongly\n\n```yaml\na: 1\n```\n");
    assert!(cases(&file).unwrap_err().contains("line 5"));
}
