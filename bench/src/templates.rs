//! The number of templates that are rendered per second, on one thread.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use gotemplate::{PartCache, RenderOptions, Template, Value};

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

/// Three typical templates with forty values, ten of them nested, and two of these templates with values that many assignments share.
pub(crate) fn rows() -> Result<Vec<Row>> {
    let config = config();
    let dot = data(&config);
    let Value::Map(map) = &config else { anyhow::bail!("the values are no map") };
    let cache = Arc::new(PartCache::new("ConfigData", Arc::clone(map)));
    let row = |(name, text, part_cache)| {
        let template = Template::parse(name, text)?;
        let options = RenderOptions { part_cache, ..RenderOptions::default() };
        template.render_with(&dot, &options)?;
        let rate = per_second(|| drop(std::hint::black_box(template.render_with(&dot, &options))));
        Ok(Row::measured(format!("template: {name}"), rate, "per second"))
    };
    let templates = [
        ("Flux manifest", FLUX, None),
        ("ConfigMap with toYaml", CONFIG_MAP, None),
        ("ConfigMap with toYaml of shared values", CONFIG_MAP, Some(&cache)),
        ("environment file", ENV_FILE, None),
        ("environment file of shared values", ENV_FILE, Some(&cache)),
    ];
    templates.into_iter().map(row).collect()
}

fn config() -> Value {
    let nested = |index: usize| {
        let options = Value::dict([("retries", Value::int(index as i64)), ("timeout", Value::text("30s"))]);
        Value::dict([("host", Value::text("db.example")), ("port", Value::int(5432)), ("options", options)])
    };
    let value = |index: usize| if index.is_multiple_of(4) { nested(index) } else { Value::text("some text") };
    Value::dict((0..40).map(|index| (format!("KEY_{index:02}"), value(index))))
}

fn data(config: &Value) -> Value {
    let text = |key: &'static str, text: &str| (key, Value::text(text));
    let manifests = Value::text_map([("path", "./live"), ("repo", "https://git.example/acme/hello")]);
    Value::dict([
        text("DeploymentTargetName", "hello-live"),
        text("Namespace", "prod-large-hello-live"),
        ("Manifests", manifests),
        ("ConfigData", config.clone()),
    ])
}

/// How often `work` runs in a second, measured over half a second.
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
