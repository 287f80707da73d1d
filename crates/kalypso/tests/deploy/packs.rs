//! The template packs of `kalypso init`: each renders a sample assignment.

use std::fs;
use std::path::Path;
use std::process::Command;

use authoring::scaffold::Pack;
use authoring::scaffold::packs::ALL;
use serde_json::{Value as Json, json};
use tempfile::TempDir;

use crate::kubernetes;
use crate::yaml::{document, documents};

const WORKLOAD: &str = "\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: DeploymentTarget
metadata:
  name: hello-api
  labels: {workload: hello, workspace: hello-team}
spec:
  environment: dev
  manifests: {repo: 'https://git.example/acme/hello', branch: dev, path: ./api, package: hello}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: SchedulingPolicy
metadata: {name: all}
spec:
  deploymentTargetSelector: {labelSelector: {}}
  clusterTypeSelector: {labelSelector: {}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: values, labels: {platform-config: 'true'}}
data: {REGION: it's west, database: '{pool: {max: 5}}'}
";

/// A cluster type with the templates of a reconciler's pack, named after the pack.
fn cluster_type(pack: &'static Pack) -> String {
    let fields: String =
        pack.with_others().iter().map(|pack| format!("  {}: {}\n", pack.role.field(), pack.template)).collect();
    format!(
        "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: ClusterType\nmetadata: {{name: on-{}}}\nspec:\n{fields}",
        pack.name
    )
}

/// What clusters of each reconciler would get, in a folder for each.
fn rendered() -> TempDir {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    fs::create_dir(folder.path().join("templates")).unwrap();
    ALL.iter().map(|pack| pack.file(None)).for_each(|file| write(&file.path, &file.text));
    Pack::reconcilers().for_each(|pack| write(&format!("{}.yaml", pack.name), &cluster_type(pack)));
    write("workload.yaml", WORKLOAD);
    let mut command = Command::new(env!("CARGO_BIN_EXE_kalypso"));
    command.current_dir(folder.path()).env("KALYPSO_CACHE_DIR", folder.path().join("cache"));
    let output = command.args(["render", "--from", ".", "-e", "dev", "--out", "out", "--strict"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder
}

fn read(folder: &Path, path: &str) -> String {
    fs::read_to_string(folder.join("out").join(path)).unwrap()
}

#[test]
fn every_pack_renders_a_sample_assignment() {
    let folder = rendered();
    let check = |path: &str, pointer: &str, expected: Json| {
        let found = documents(&read(folder.path(), path));
        let found = found.iter().find_map(|document| document.pointer(pointer));
        assert_eq!(found, Some(&expected), "{path} {pointer}");
    };
    check("on-flux/hello-api/reconciler.yaml", "/spec/targetNamespace", json!("dev-on-flux-hello-api"));
    check("on-flux/hello-api/platform-config.yaml", "/data/REGION", json!("it's west"));
    check("on-argocd/hello-api/reconciler.yaml", "/spec/source/path", json!("./api"));
    check("on-argocd/hello-api/namespace.yaml", "/metadata/labels/workspace", json!("hello-team"));
    check("on-pull-script/hello-api/reconciler.yaml", "/package", json!("hello"));
    check("on-pull-script/hello-api/namespace.yaml", "/user", json!("hello-api"));
    let variables = read(folder.path(), "on-pull-script/hello-api/platform-config.sh");
    let shell = Command::new("sh").args(["-c", &format!("{variables}\necho \"$REGION $database\"")]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&shell.stdout), "it's west {\"pool\":{\"max\":5}}\n", "{variables}");
}

#[test]
fn objects_of_kubernetes_have_its_shape() {
    let Some(schemas) = kubernetes::schemas() else { return };
    let folder = rendered();
    for pack in ["flux", "argocd"] {
        for file in ["namespace.yaml", "platform-config.yaml"] {
            let object = document(&read(folder.path(), &format!("on-{pack}/hello-api/{file}")));
            for schemas in &schemas {
                assert_eq!(schemas.problems(&object), Some(Vec::new()), "{pack} {file} {}", schemas.version);
            }
        }
    }
}
