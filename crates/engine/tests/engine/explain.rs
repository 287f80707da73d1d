//! Explanations: the values of an assignment, and the lines of rendered files that depend on a value.

use std::io::{self, Result};
use std::sync::Arc;

use engine::compile::Prepared;
use model::diagnostic::AssignmentId;
use model::name::{DeploymentTargetName, PlaceName};
use testkit::generator::ENVIRONMENT;

/// A fleet with one assignment. Its configuration file has a line for each manifest before the values.
const FLEET: &str = r#"
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {name: edge}
spec: {reconciler: flux, namespaceService: flux, configType: values}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: flux}
spec: {type: reconciler, manifests: ["name: {{ .DeploymentTargetName }}"]}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: values}
spec: {type: config, manifests: ["{{ range $key, $value := .Manifests }}{{ $key }}: {{ $value }}\n{{ end }}{{ toYaml .ConfigData }}"]}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: DeploymentTarget
metadata: {name: shop-live}
spec: {environment: prod, manifests: {repo: https://git.example/shop, branch: prod}}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: SchedulingPolicy
metadata: {name: all}
spec: {deploymentTargetSelector: {labelSelector: {}}, clusterTypeSelector: {labelSelector: {}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: all, labels: {platform-config: "true"}}
data: {REGION: west}
"#;

/// A pin that holds the assignment and sets one more manifest.
const PIN: &str = r"
---
apiVersion: fleet.kalypso.io/v1alpha1
kind: ReleasePin
metadata: {name: hold}
spec: {deploymentTargetSelector: {labelSelector: {}}, clusterTypeSelector: {labelSelector: {}}, manifests: {commit: abc}, reason: slow}
";

/// Compares the files and lines that depend on the value `REGION`.
fn check(files: &[&str], expected: &[(&str, usize)]) -> Result<()> {
    let text = files.concat().into_bytes();
    let (fleet, found) = testkit::directory::fleet_of(vec![("all.yaml".to_owned(), text)], ENVIRONMENT)?;
    assert_eq!(found, []);
    let place = PlaceName::new("edge").map_err(io::Error::other)?;
    let id = AssignmentId { place, target: DeploymentTargetName::new("shop-live").map_err(io::Error::other)? };
    let reason = Prepared::new(&Arc::new(fleet)).explain_value(&id, "REGION");
    let found = reason.map(|reason| reason.rendered_lines).unwrap_or_default();
    let found: Vec<_> = found.iter().map(|(file, line)| (&**file, *line)).collect();
    assert_eq!(found, expected);
    Ok(())
}

#[test]
fn the_lines_of_a_held_release_are_those_of_its_files() -> Result<()> {
    check(&[FLEET], &[("platform-config.yaml", 3)])?;
    check(&[FLEET, PIN], &[("platform-config.yaml", 4)])
}

#[test]
fn assignment_without_values_explains_no_values() -> Result<()> {
    let values = |data: &str| -> Result<Vec<String>> {
        let text = FLEET.replace("data: {REGION: west}", data).into_bytes();
        let (fleet, _) = testkit::directory::fleet_of(vec![("all.yaml".to_owned(), text)], ENVIRONMENT)?;
        let place = PlaceName::new("edge").map_err(io::Error::other)?;
        let id = AssignmentId { place, target: DeploymentTargetName::new("shop-live").map_err(io::Error::other)? };
        let explanation =
            Prepared::new(&Arc::new(fleet)).explain(&id).ok_or_else(|| io::Error::other("no assignment"))?;
        Ok(explanation.values.iter().map(|value| value.path.to_string()).collect())
    };
    assert_eq!(values("data: {}")?, [""; 0]);
    assert_eq!(values("data: {LIMITS: \"{}\"}")?, ["LIMITS"]);
    Ok(())
}

#[test]
fn a_credential_in_clear_is_not_shown() -> Result<()> {
    let secret = "ghp_0123456789abcdefghij0123456789abcdef";
    let text = FLEET.replace(
        "data: {REGION: west}",
        &format!("data: {{REGION: west, URL_AUTH: {secret}, db: \"{{password: Hunter2-x, port: 1}}\"}}"),
    );
    let (fleet, _) = testkit::directory::fleet_of(vec![("all.yaml".to_owned(), text.into_bytes())], ENVIRONMENT)?;
    let place = PlaceName::new("edge").map_err(io::Error::other)?;
    let id = AssignmentId { place, target: DeploymentTargetName::new("shop-live").map_err(io::Error::other)? };
    let prepared = Prepared::new(&Arc::new(fleet));
    let explanation = prepared.explain(&id).ok_or_else(|| io::Error::other("no assignment"))?;
    let shown: Vec<_> = explanation
        .values
        .iter()
        .map(|value| (value.path.to_string(), value.shown.clone().unwrap_or_default()))
        .collect();
    let is_hidden = |path: &str| shown.iter().any(|(known, text)| known == path && text.starts_with("(sensitive"));
    assert_eq!(
        ["REGION", "URL_AUTH", "db.password", "db.port"].map(is_hidden),
        [false, true, true, false],
        "{shown:?}"
    );
    let files =
        prepared.shown_files(&id, &std::collections::BTreeSet::new()).ok_or_else(|| io::Error::other("no files"))?;
    assert!(files.has_sensitive);
    Ok(())
}
