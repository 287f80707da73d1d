//! How many templates are rendered a second, on one thread.

use std::time::{Duration, Instant};

use anyhow::Result;
use gotemplate::{Limits, Template, Value};

use crate::report::Row;

const FLUX: &str = r#"apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: "{{ .DeploymentTargetName }}"
  namespace: flux-system
spec:
  interval: 30s
  targetNamespace: "{{ .Namespace }}"
  sourceRef:
    kind: GitRepository
    name: "{{ .DeploymentTargetName }}"
  path: "{{ .Manifests.path }}"
  prune: true
"#;

const CONFIG_MAP: &str = r"apiVersion: v1
kind: ConfigMap
metadata:
  name: platform-config
  namespace: {{ .Namespace }}
data:
  {{ toYaml .ConfigData | indent 2 }}
";

const ENV_FILE: &str = r#"# {{ .Namespace | upper }}
{{- range $key, $value := .ConfigData }}
{{- if ne $key "SKIPPED" }}
export {{ $key }}={{ $value | toJson | squote }}
{{- end }}
{{- end }}
"#;

/// Three templates as people write them, over data with forty values, ten of them nested.
pub(crate) fn rows() -> Result<Vec<Row>> {
    let dot = data();
    let templates = [("Flux manifest", FLUX), ("ConfigMap with toYaml", CONFIG_MAP), ("environment file", ENV_FILE)];
    let row = |(name, text)| {
        let template = Template::parse(name, text)?;
        template.render_nested(&dot, &Limits::default())?;
        let rate = per_second(|| drop(std::hint::black_box(template.render_nested(&dot, &Limits::default()))));
        Ok(Row::measured(format!("template: {name}"), rate, "per second"))
    };
    templates.into_iter().map(row).collect()
}

fn data() -> Value {
    let nested = |index: usize| {
        let options = Value::dict([("retries", Value::int(index as i64)), ("timeout", Value::text("30s"))]);
        Value::dict([("host", Value::text("db.example")), ("port", Value::int(5432)), ("options", options)])
    };
    let value = |index: usize| if index.is_multiple_of(4) { nested(index) } else { Value::text("some text") };
    let config = Value::dict((0..40).map(|index| (format!("KEY_{index:02}"), value(index))));
    let text = |key: &'static str, text: &str| (key, Value::text(text));
    let manifests = Value::text_map([("path", "./live"), ("repo", "https://git.example/acme/hello")]);
    Value::dict([
        text("DeploymentTargetName", "hello-live"),
        text("Namespace", "prod-large-hello-live"),
        ("Manifests", manifests),
        ("ConfigData", config),
    ])
}

/// How often `work` is done in a second, measured over half of one.
fn per_second(work: impl Fn()) -> f64 {
    const SPAN: Duration = Duration::from_millis(500);
    let start = Instant::now();
    let mut count = 0_u32;
    while start.elapsed() < SPAN {
        (0..100).for_each(|_| work());
        count += 100;
    }
    f64::from(count) / start.elapsed().as_secs_f64()
}
