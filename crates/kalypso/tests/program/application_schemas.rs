//! `kalypso app` compares rendered manifests with the schemas of their kinds.

use crate::application_world::{Application, DEPLOYMENT, SETTINGS};

const MONITOR: &str = "\
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: shop}
spec: {port: http}
";

const DEFINITION: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: servicemonitors.monitoring.coreos.com}
spec:
  group: monitoring.coreos.com
  scope: Namespaced
  names: {kind: ServiceMonitor, plural: servicemonitors}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {ports: {type: string}}}}}
";

#[test]
fn a_mistake_in_a_template_stops_only_the_targets_that_have_it() {
    let Some(application) = Application::new() else { return };
    let mistake = "{{ if .Values.few }}1{{ else }}{{ .Values.replicas | quote }}{{ end }}";
    let template =
        DEPLOYMENT.replace("{{ .Values.replicas }}", mistake).replace("  selector:", "  pausd: true\n  selector:");
    application.write("chart/templates/deployment.yaml", &template);
    application.write("values/dev/eu/values.yaml", "few: true\n");
    application.commit("A mistake");
    application.app("check -e dev").ends(1).says(&[
        "error[K0713]: `spec.replicas` of Deployment us is a text, and must be an integer",
        "rendered@dev:us/manifests.yaml:8:13",
        "the template is shop/templates/deployment.yaml",
        "warning[K0713]: `spec.pausd` is no field of Deployment eu",
        "did you mean `paused`?",
    ]);
    application.app("deploy -e dev --version 1.0.0").ends(1).says(&["K0713", "+ eu  new"]);
    let files = application.files("dev");
    assert!(files.contains("eu/manifests.yaml") && !files.contains("us/manifests.yaml"), "{files}");
    application.write("kalypso-app.toml", &format!("{SETTINGS}kubernetes = {{ validate = false }}\n"));
    application.app("check -e dev --strict").ends(0);
}

#[test]
fn a_folder_has_the_schemas_of_other_kinds() {
    let Some(application) = Application::new() else { return };
    application.write("chart/templates/monitor.yaml", MONITOR);
    application.app("check --strict").ends(0).says(&["3 manifests have no known schema", "3 ServiceMonitor"]);
    application.write("kalypso-app.toml", &format!("{SETTINGS}kubernetes = {{ schemas = \"schemas\" }}\n"));
    application.app("check").ends(1).says(&["there is no folder `schemas`"]);
    application.write("schemas/monitors.yaml", DEFINITION);
    application
        .app("check -e dev")
        .ends(0)
        .says(&["`spec.port` is no field of ServiceMonitor shop", "did you mean `ports`?"]);
    application.app("check -e dev --strict").ends(1);
}
