//! The time of single functions on one thread: reading YAML, and rendering a template.

#![allow(missing_docs, clippy::unwrap_used, reason = "a program for developers")]

use std::sync::Arc;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use gotemplate::{PartCache, RenderOptions, Template, Value};
use model::yaml::{self, YamlOptions};
use testkit::generator::{self, Size};

/// The same allocator as in `kalypso`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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

/// Typical templates: a Flux manifest, a `ConfigMap` with `toYaml`, and an environment file.
const TEMPLATES: [(&str, &str); 3] = [("flux", FLUX), ("config_map", CONFIG_MAP), ("env_file", ENV_FILE)];

fn main() {
    divan::main();
}

/// A template, with forty values, ten of them nested.
#[divan::bench(args = TEMPLATES.map(|(name, _)| name))]
fn template(bencher: Bencher<'_, '_>, name: &str) {
    render(bencher, name, (config(), RenderOptions::default()));
}

/// A template with values that many assignments share: the parts that use nothing else are rendered once.
#[divan::bench(args = ["config_map", "env_file"])]
fn template_of_shared_values(bencher: Bencher<'_, '_>, name: &str) {
    let config = config();
    let Value::Map(map) = &config else { unreachable!("the values are a map") };
    // The cache is for this map, not for an equal one.
    let cache = Arc::new(PartCache::new("ConfigData", Arc::clone(map)));
    render(bencher, name, (config, RenderOptions { part_cache: Some(&cache), ..RenderOptions::default() }));
}

fn render(bencher: Bencher<'_, '_>, name: &str, (config, options): (Value, RenderOptions<'_>)) {
    let (_, text) = TEMPLATES.iter().find(|(known, _)| *known == name).unwrap();
    let (template, data) = (Template::parse(name, text).unwrap(), data(config));
    bencher.bench_local(|| template.render_with(black_box(&data), &options).unwrap());
}

/// The objects of a generated fleet, in a file each, and all in one file.
#[divan::bench(args = ["many_files", "one_file"])]
fn yaml(bencher: Bencher<'_, '_>, form: &str) {
    let files: Vec<String> = generator::fleet(Size::HUNDRED, 1).into_values().collect();
    let texts = if form == "one_file" { vec![files.join("---\n")] } else { files };
    let bytes = texts.iter().map(String::len).sum::<usize>();
    bencher.counter(BytesCount::new(bytes)).bench_local(|| {
        for text in &texts {
            let reading = yaml::read_bytes(black_box(text.as_bytes()), &YamlOptions::OBJECTS);
            assert!(reading.problems.is_empty(), "a generated file has a problem: {:?}", reading.problems);
            black_box(reading);
        }
    });
}

fn config() -> Value {
    let nested = |index: usize| {
        let options = Value::dict([("retries", Value::int(index as i64)), ("timeout", Value::text("30s"))]);
        Value::dict([("host", Value::text("db.example")), ("port", Value::int(5432)), ("options", options)])
    };
    let value = |index: usize| if index.is_multiple_of(4) { nested(index) } else { Value::text("some text") };
    Value::dict((0..40).map(|index| (format!("KEY_{index:02}"), value(index))))
}

fn data(config: Value) -> Value {
    let text = |key: &'static str, text: &str| (key, Value::text(text));
    let manifests = Value::text_map([("path", "./live"), ("repo", "https://git.example/acme/hello")]);
    Value::dict([
        text("DeploymentTargetName", "hello-live"),
        text("Namespace", "prod-large-hello-live"),
        ("Manifests", manifests),
        ("ConfigData", config),
    ])
}
