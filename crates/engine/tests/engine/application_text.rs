//! A text in a workload of an application team stays a text in the rendered manifests, or the target is not rendered.

use std::path::Path;
use std::sync::LazyLock;

use model::yaml::{Node, NodeValue, YamlOptions, read};
use proptest::prelude::*;
use testkit::suite::{self, Case, run_with};

static SHOP: LazyLock<Case> =
    LazyLock::new(|| suite::cases(&Path::new(suite::FOLDER).join("shop.md")).unwrap().remove(0));

/// Templates that only print the texts `.Manifests.x`, `.Manifests.y` and `.Labels.l`, at all positions where YAML allows a text.
const TEMPLATES: &[&str] = &[
    "kind: A\nx: {{ .Manifests.x }}\ny: {{ .Manifests.y }}\nafter: b\n",
    "kind: A\nx: a/{{ .Manifests.x }}/b\nl: {{ .Labels.l }}-{{ .Manifests.x }}{{ .Manifests.y }}\n",
    "kind: A\nx: \"{{ .Manifests.x }}\"\ny: \"{{ .Manifests.y }}\"\n",
    "kind: A\nx: '{{ .Manifests.x }}'\ny: '{{ .Manifests.y }}'\n",
    "kind: A\nx: {y: {{ .Manifests.x }}, l: [{{ .Manifests.y }}, {{ .Labels.l }}], after: b}\n",
    "kind: A\nx: {y: \"{{ .Manifests.x }}\", l: ['{{ .Labels.l }}'], after: b}\n",
    "kind: A\nx:\n  - {{ .Manifests.x }}\n  - {{ .Manifests.y }}\n  - l: {{ .Labels.l }}\n",
    "kind: A\nx: |\n  {{ .Manifests.x }}\n  {{ .Manifests.y }}\nl: >-\n  {{ .Labels.l }}\n",
    "# {{ .Manifests.x }}\nkind: A # {{ .Manifests.y }}\n{{ .Labels.l }}: b\n",
    "{{ .Manifests.x }}\n---\nkind: A\n---\n{{ .Manifests.y }}\n",
    "kind: A\nx: {{ quote .Manifests.x }}\ny: {{ toJson .Manifests.y }}\nl: {{ toYaml .Labels.l }}\nz: {a: {{ toYaml .Labels.l }}, b: c}\n",
    "kind: A\nx: '{{ toJson .Manifests }}'\ny: {l: '{{ toJson .Labels }}', after: b}\n",
    "kind: A\nx: {{ .Manifests.x | b64dec }}\ny: {{ .Manifests.y | replace \"<\" \"{\" }}\nl: {{ printf \"%s%s\" .Labels.l .Manifests.x }}\n",
    "kind: A\nx: {{ \"{\" }}{{ .Manifests.x }}{{ \"}\" }}\ny: b\n",
    "kind: A\nx: {{ .Manifests.x | trunc 3 }}\ny: {{ regexFind \".*\" .Manifests.y | squote }}\n",
];

/// Parts of texts with a meaning in YAML or in templates.
const PIECES: &[&str] = &[
    "p",
    "q",
    " ",
    "  ",
    ": ",
    ":",
    ", ",
    ",",
    "#",
    " # ",
    "- ",
    "-",
    "---",
    "...",
    "&p ",
    "*p",
    "!!int ",
    "!",
    "|",
    ">",
    "\"",
    "'",
    "\\",
    "\\n",
    "{",
    "}",
    "[",
    "]",
    "{p: q}",
    "? ",
    "%",
    "@",
    "`",
    "<<",
    "=",
    "~",
    "null",
    "{{",
    "}}",
    "{{ .ClusterType }}",
    "{{- .Workload -}}",
    "{{ .ConfigData }}",
    "{{ toJson . }}",
    "{{ `\n` }}",
    "<",
    "< .ConfigData }}",
    "kind: B",
    "e3sgLkNvbmZpZ0RhdGEgfX0=",
    "YTogYgotLS0Ka2luZDogQg==",
    "é",
];

fn text() -> impl Strategy<Value = String> {
    let text = prop::collection::vec(prop::sample::select(PIECES), 1..6).prop_map(|pieces| pieces.concat());
    text.prop_map(|text| text.replace('\n', " "))
}

/// The file that a template renders with these texts. None if it can't be rendered.
fn made(template: &str, annotation: &str, [x, y, l]: [&str; 3]) -> Option<String> {
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let workload = format!(
        "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Workload\nmetadata: {{name: hello}}\nspec:\n  deploymentTargets:\n    - name: web\n      \
         environment: dev\n      labels: {{l: {}}}\n      manifests: {{x: {}, y: {}}}\n",
        quoted(l),
        quoted(x),
        quoted(y)
    );
    let of = |name: &str, kind: &str, text: &str| {
        let lines: String = text.lines().map(|line| format!("      {line}\n")).collect();
        format!(
            "---\napiVersion: scheduler.kalypso.io/v1alpha1\nkind: Template\nmetadata: {{name: {name}, annotations: {{{annotation}}}}}\nspec:\n  type: {kind}\n  \
             manifests:\n    - |\n{lines}"
        )
    };
    let templates =
        of("flux", "reconciler", template) + &of("namespace", "namespace", "") + &of("values", "config", "");
    let values = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: common, labels: {platform-config: \"true\"}}\ndata: {SECRET: hunter2}\n";
    let changed =
        [("hello@main:workload.yaml", workload), ("templates.yaml", templates), ("values.yaml", values.to_owned())];
    let mut files = SHOP.files();
    files.retain(|(path, _)| changed.iter().all(|(changed, _)| path != changed));
    files.extend(changed.map(|(path, text)| (path.to_owned(), text.into_bytes())));
    let outcome = run_with(&SHOP, &files).unwrap();
    let file = outcome.tree.file("drone/hello-web/reconciler.yaml", &model::tree::closed).unwrap();
    file.map(|entry| String::from_utf8(entry.blob.bytes().unwrap().to_vec()).unwrap())
}

/// The structure of a text's documents: kinds, collections and keys. A key with the text of a label is shown as `?`.
fn structure(text: &str) -> Result<Vec<String>, String> {
    let reading = read(text, &YamlOptions::VALUES);
    if !reading.problems.is_empty() {
        return Err(format!("{:?}", reading.problems));
    }
    Ok(reading.documents.iter().map(|document| shape(&document.root)).collect())
}

fn shape(node: &Node) -> String {
    let key = |key: &Node| match key.as_scalar().map(|scalar| &*scalar.text) {
        Some(known @ ("kind" | "x" | "y" | "l" | "z" | "a" | "b" | "after")) => known.to_owned(),
        _ => "?".to_owned(),
    };
    match &node.value {
        NodeValue::Scalar(_) => "s".to_owned(),
        NodeValue::Sequence(items) => format!("[{}]", items.iter().map(shape).collect::<Vec<_>>().join(",")),
        NodeValue::Mapping(entries) => {
            let entry = |(name, value): &(Node, Node)| match (key(name), value.as_scalar()) {
                (name, Some(value)) if name == "kind" => format!("kind={}", value.text),
                (name, _) => format!("{name}:{}", shape(value)),
            };
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(","))
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn a_text_is_a_text_wherever_it_is_printed(
        template in prop::sample::select(TEMPLATES), x in text(), y in text(), l in text(), is_literal: bool
    ) {
        let annotation = if is_literal { "template.kalypso.io/literal: \"true\"" } else { "" };
        // Some templates render nothing, because a text decodes to nothing.
        let plain = made(template, annotation, ["word", "word", "word"]);
        if let (Some(found), Some(plain)) = (made(template, annotation, [&x, &y, &l]), plain) {
            prop_assert_eq!(structure(&found), structure(&plain), "{}", found);
            prop_assert!(!found.contains("hunter2") && !found.contains("SECRET"), "{}", found);
        }
    }
}

#[test]
fn ordinary_texts_are_printed_by_every_template() {
    for template in TEMPLATES {
        for texts in
            [["./a/b", "main", "web"], ["https://a.example/b", "feature/x-1", "v1.2.3"], ["123", "true", "a_b"]]
        {
            let is_decoded = template.contains("b64dec");
            assert!(made(template, "", texts).is_some() || is_decoded, "{template}");
        }
    }
}
