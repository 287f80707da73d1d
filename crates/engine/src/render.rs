//! Rendering: manifests out of templates and values.

use std::collections::BTreeMap;
use std::sync::Arc;

use gotemplate::value::{Struct, Value};
use gotemplate::{ErrorKind, Limits, Options, TemplateError};
use model::diagnostic::{Code, Diagnostic, ObjectKey, Origin, Part};
use model::field_path::FieldPath;
use model::fleet::Fleet;
use model::name::ClusterTypeName;
use model::object::template::{EXTENSION, LITERAL, MANIFESTS};
use model::object::{ClusterType, Kind, Object, Template};

use crate::compose::Composition;
use crate::settings::LongNames;
use crate::target::Target;

/// The longest name of a namespace that Kubernetes allows, in bytes.
pub const NAMESPACE_LENGTH_MAX: usize = 63;

/// How many digits of its hash a shortened namespace ends with.
const HASH_DIGITS: usize = 8;

/// The rendered files of an assignment by name.
pub type Files = BTreeMap<Arc<str>, Arc<[u8]>>;

/// A template of a fleet, parsed once.
#[derive(Debug)]
pub(crate) struct Parsed {
    key: ObjectKey,
    texts: Vec<gotemplate::Template>,
    is_literal: bool,
    extension: Arc<str>,
    /// Why nothing can be rendered with it.
    problem: Option<Diagnostic>,
    uses_version: bool,
}

/// The templates of a cluster type.
#[derive(Debug)]
pub(crate) struct Templates<'a> {
    reconciler: &'a Parsed,
    namespace: &'a Parsed,
    config: &'a Parsed,
}

/// What an assignment's templates see.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) fleet: &'a Fleet,
    pub(crate) cluster_type: &'a Object<ClusterType>,
    pub(crate) target: &'a Target,
    pub(crate) composition: &'a Composition,
    pub(crate) long_names: LongNames,
    /// Whether some value is itself a template, which may use anything.
    pub(crate) has_nested: bool,
    /// Whether messages must not show what a template makes, because a sensitive value may be in it.
    pub(crate) hides_output: bool,
}

/// Parses every template of a fleet.
pub(crate) fn parse(fleet: &Fleet) -> BTreeMap<Arc<str>, Parsed> {
    fleet
        .templates
        .iter()
        .map(|(name, template)| (Arc::clone(name.as_arc()), parse_template(fleet, template)))
        .collect()
}

fn parse_template(fleet: &Fleet, object: &Object<Template>) -> Parsed {
    let key = object.key();
    let mut problem = fleet.duplicate_diagnostic(&key);
    let mut texts = Vec::new();
    for (index, text) in object.spec.manifests.iter().enumerate() {
        match gotemplate::Template::parse("template", text) {
            Ok(template) => texts.push(template),
            Err(error) => {
                problem.get_or_insert_with(|| failure(&key, index, &error));
            }
        }
    }
    let by_type = if &*object.spec.content_type == "sh" { "sh" } else { "yaml" };
    let extension = match object.annotations.get(EXTENSION) {
        None => by_type.into(),
        Some(extension) if is_extension(extension) => Arc::clone(extension),
        Some(extension) => {
            problem.get_or_insert_with(|| bad_extension(&key, extension));
            by_type.into()
        }
    };
    let is_literal = object.annotations.get(LITERAL).is_some_and(|value| &**value == "true");
    // A template that prints all of its data, `{{ . }}`, prints the version with it.
    let uses_version = object
        .spec
        .manifests
        .iter()
        .any(|text| text.contains("ConfigVersion") || text.split_whitespace().any(|word| word == "."));
    Parsed { key, texts, is_literal, extension, problem, uses_version }
}

fn is_extension(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !text.is_empty()
        && text.len() <= 32
        && text.chars().all(is_allowed)
        && !text.starts_with('.')
        && !text.ends_with('.')
}

fn bad_extension(key: &ObjectKey, extension: &str) -> Diagnostic {
    let path = FieldPath::from(["metadata", "annotations", EXTENSION]);
    Diagnostic::error(Code::InvalidAnnotation, format!("{extension:?} can't be the extension of a file"))
        .at(Origin::field(key, path), "")
        .help("letters, digits, `-`, `_` and `.`, such as `json` or `env`")
        .about(key)
}

impl<'a> Templates<'a> {
    /// Finds the templates of a cluster type.
    pub(crate) fn find(
        parsed: &'a BTreeMap<Arc<str>, Parsed>,
        object: &Object<ClusterType>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut problems = Vec::new();
        let mut find = |field: &str, name: &Arc<str>| {
            let found = parsed.get(name);
            match found {
                Some(Parsed { problem: Some(problem), .. }) => problems.push(problem.clone()),
                Some(_) => {}
                None => problems.push(missing(parsed, object, field, name)),
            }
            found
        };
        let spec = &object.spec;
        let reconciler = find("reconciler", &spec.reconciler);
        let namespace = find("namespaceService", &spec.namespace_service);
        let config = find("configType", &spec.config_type);
        match (reconciler, namespace, config) {
            (Some(reconciler), Some(namespace), Some(config)) if problems.is_empty() => {
                Ok(Self { reconciler, namespace, config })
            }
            _ => Err(problems),
        }
    }

    /// Renders the files of one assignment.
    pub(crate) fn render(&self, context: &Context<'_>) -> Result<Files, Vec<Diagnostic>> {
        let dot = self.data(context);
        let mut files = Files::new();
        let mut problems = Vec::new();
        for (name, template) in
            [("reconciler", self.reconciler), ("namespace", self.namespace), ("platform-config", self.config)]
        {
            match template.render(&dot, context) {
                Ok(None) if name == "platform-config" => {}
                Ok(bytes) => {
                    let extension = if name == "platform-config" { &template.extension } else { "yaml" };
                    files.insert(format!("{name}.{extension}").into(), bytes.unwrap_or_default().into());
                }
                Err(diagnostic) => problems.push(diagnostic),
            }
        }
        problems.extend(check_namespace(context, &files));
        if problems.is_empty() { Ok(files) } else { Err(problems) }
    }

    fn data(&self, context: &Context<'_>) -> Value {
        let Context { fleet, cluster_type, target, composition, .. } = context;
        let uses_version = context.has_nested
            || [self.reconciler, self.namespace, self.config].iter().any(|template| template.uses_version);
        let version = if uses_version { Arc::clone(composition.version()) } else { "".into() };
        let labels =
            |labels: &model::label::Labels| Value::text_map(labels.iter().map(|(key, value)| (&**key, &**value)));
        let fields = vec![
            ("DeploymentTargetName", Value::text(target.name.as_str())),
            ("Namespace", Value::text(namespace(context).as_str())),
            ("Environment", Value::text(fleet.environment.as_str())),
            ("Workspace", Value::text(target.workspace())),
            ("Workload", Value::text(target.workload())),
            ("Labels", labels(&target.labels)),
            ("Manifests", Value::text_map(target.manifests.iter().map(|(key, value)| (&**key, &**value)))),
            ("ClusterType", Value::text(cluster_type.name.as_str())),
            ("ConfigData", composition.data.clone()),
            ("ClusterTypeLabels", labels(&cluster_type.labels)),
            ("Cluster", Value::text("")),
            ("ClusterLabels", labels(&model::label::Labels::default())),
            ("ConfigVersion", Value::text(&*version)),
        ];
        Value::Struct(Arc::new(Struct { type_name: "Assignment", fields }))
    }
}

fn missing(parsed: &BTreeMap<Arc<str>, Parsed>, object: &Object<ClusterType>, field: &str, name: &str) -> Diagnostic {
    let key = object.key();
    let origin = Origin::field(&key, FieldPath::from(["spec", field]));
    let diagnostic = Diagnostic::error(Code::MissingTemplate, format!("there is no template `{name}`"))
        .at(origin, format!("asked for by cluster type `{}`", object.name));
    let names: Vec<_> = parsed.keys().map(|name| format!("`{name}`")).collect();
    let help = if names.is_empty() {
        "the environment has no templates: is a `BaseRepo` missing?".to_owned()
    } else {
        format!("there are {}", names.join(", "))
    };
    diagnostic.help(help).about(&key)
}

impl Parsed {
    /// Why nothing can be rendered with it.
    pub(crate) fn problem(&self) -> Option<Diagnostic> {
        self.problem.clone()
    }

    /// The manifests that are not empty, one behind the other. None if all are empty.
    fn render(&self, dot: &Value, context: &Context<'_>) -> Result<Option<Vec<u8>>, Diagnostic> {
        let mut joined: Option<Vec<u8>> = None;
        for (index, text) in self.texts.iter().enumerate() {
            let written = context.composition.written.as_ref();
            let options = Options { limits: Limits::default(), is_literal: self.is_literal, written };
            let rendered = text.render_with(dot, &options).map(|rendered| rendered.bytes);
            let rendered = rendered.map_err(|error| {
                let shown = if context.hides_output { without_values(error, context.composition) } else { error };
                failure(&self.key, index, &shown)
            })?;
            if rendered.is_empty() {
                continue;
            }
            if std::str::from_utf8(&rendered).is_err() {
                return Err(not_text(&self.key, index));
            }
            match &mut joined {
                None => joined = Some(rendered),
                Some(bytes) => {
                    bytes.extend_from_slice(b"---\n");
                    bytes.extend_from_slice(&rendered);
                }
            }
        }
        Ok(joined)
    }
}

/// An error that shows no value, because sensitive ones may be among them: nothing of what was rendered before, and nothing that a function quotes.
fn without_values(error: TemplateError, composition: &Composition) -> TemplateError {
    if error.pass == 0 && !quotes_value(&error.message, composition) {
        return error;
    }
    let what = if error.pass == 0 { "it fails" } else { "its output can't be rendered again" };
    let message = format!("{what}; the reason is not shown, because of sensitive values");
    TemplateError { message, excerpt: None, ..error }
}

/// Whether a message holds the text of a value, sensitive or not. Texts that are so short that they are in every message don't count.
fn quotes_value(message: &str, composition: &Composition) -> bool {
    const LENGTH_MIN: usize = 4;
    let mut leaves = Vec::new();
    crate::trace::collect_leaves(&composition.data, &mut FieldPath::default(), &mut leaves);
    let texts = leaves.iter().map(|(_, value)| gotemplate::format::display(value).to_string());
    texts.into_iter().any(|text| text.len() >= LENGTH_MIN && message.contains(&text))
}

fn failure(key: &ObjectKey, index: usize, error: &TemplateError) -> Diagnostic {
    let code = match error.kind {
        ErrorKind::Parse if error.pass == 0 => Code::TemplateSyntax,
        ErrorKind::Parse | ErrorKind::Execute => Code::TemplateFailed,
        ErrorKind::Limit => Code::TemplateLimit,
    };
    let path = FieldPath::from(MANIFESTS).index(index);
    let message = format!("template `{}`: {}", key.name, error.message);
    let mut diagnostic = Diagnostic::error(code, message).about(key);
    if error.pass == 0 {
        let part = Part::Text { line: error.line, column: error.column };
        return diagnostic.at(Origin::part(key, path, part), "");
    }
    diagnostic =
        diagnostic.at(Origin::field(key, path), "the output of this text contains `{{`, so it is rendered again");
    if let Some(excerpt) = &error.excerpt {
        let place = format!("rendering {} failed in line {} of the output", error.pass + 1, error.line);
        // An action that is not closed is missed behind the last line.
        diagnostic = diagnostic.note(if excerpt.is_empty() { place } else { format!("{place}: {excerpt}") });
    }
    diagnostic.help(
        "if the braces are meant literally, give the template the annotation `template.kalypso.io/literal: \"true\"`",
    )
}

fn not_text(key: &ObjectKey, index: usize) -> Diagnostic {
    Diagnostic::error(Code::NotTextRendered, format!("template `{}` renders bytes that are not UTF-8", key.name))
        .at(Origin::field(key, FieldPath::from(MANIFESTS).index(index)), "")
        .help("`trunc` and `substr` count bytes: they can cut a character in two")
        .about(key)
}

/// The namespace as Microsoft's Kalypso names it, or shortened if that is wanted.
fn namespace(context: &Context<'_>) -> String {
    let whole = whole_namespace(context);
    if whole.len() <= NAMESPACE_LENGTH_MAX || context.long_names == LongNames::Error {
        return whole;
    }
    let start = whole[..NAMESPACE_LENGTH_MAX - HASH_DIGITS - 1].trim_end_matches(['-', '.']);
    format!("{start}-{}", crate::digest::hex(whole.as_bytes(), HASH_DIGITS))
}

fn whole_namespace(context: &Context<'_>) -> String {
    let cluster: &ClusterTypeName = &context.cluster_type.name;
    format!("{}-{cluster}-{}", context.fleet.environment, context.target.name)
}

/// Reports a namespace that is too long, where it is in a file. Templates that cut it themselves are fine.
fn check_namespace(context: &Context<'_>, files: &Files) -> Option<Diagnostic> {
    let name = namespace(context);
    if name.len() <= NAMESPACE_LENGTH_MAX {
        return None;
    }
    let contains = |bytes: &Arc<[u8]>| String::from_utf8_lossy(bytes).contains(&name);
    let (file, _) = files.iter().find(|(_, bytes)| contains(bytes))?;
    let key = ObjectKey { kind: Kind::ClusterType, name: Arc::clone(context.cluster_type.name.as_arc()) };
    let message =
        format!("the namespace `{name}` has {} characters, Kubernetes allows {NAMESPACE_LENGTH_MAX}", name.len());
    let (object, path) = &context.target.origin;
    let path = if object.kind == Kind::Workload { path.key("name") } else { FieldPath::from(["metadata", "name"]) };
    Some(
        Diagnostic::error(Code::NamespaceTooLong, message)
            .at(Origin::field(object, path), "the target's part of the name")
            .at(Origin::field(&key, FieldPath::from(["metadata", "name"])), "the cluster type's part of the name")
            .note(format!("it is used in {file}"))
            .help(
                "shorten one of the names, or put the annotation `names.kalypso.io/long: shorten` on the environment",
            ),
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn check(template: &str, shows_reason: bool) {
        let data = Value::dict([("PASSWORD", Value::text("hunter2")), ("A", Value::text("x"))]);
        let error = gotemplate::Template::parse("t", template).unwrap().render(&data, &Limits::default()).unwrap_err();
        let shown = without_values(error.clone(), &Composition::new(data, BTreeSet::new()));
        assert_eq!(shown == error, shows_reason, "{}", shown.message);
        assert!(!shown.message.contains("hunter2"), "{}", shown.message);
        assert_eq!((shown.line, shown.column), (error.line, error.column));
    }

    #[test]
    fn a_failing_template_quotes_no_value() {
        check("{{ fail (print \"bad: \" .PASSWORD) }}", false);
        check("{{ fail \"ZONE is needed\" }}", true);
        check("{{ index .A 7 }}", true);
    }
}
