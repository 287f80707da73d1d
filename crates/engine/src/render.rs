//! Rendering: manifests out of templates and values.

use std::collections::BTreeMap;
use std::sync::Arc;

use gotemplate::template::Options;
use gotemplate::value::{Struct, Value};
use gotemplate::{ErrorKind, Limits, Reads, TemplateError};
use model::diagnostic::{Code, Diagnostic, ObjectKey, Origin, Part};
use model::digest::{Digest, DigestBuilder};
use model::field_path::FieldPath;
use model::fleet::Fleet;
use model::name::EnvironmentName;
use model::object::template::{EXTENSION, LITERAL, MANIFESTS};
use model::object::{ClusterType, Kind, Object, Template};

use crate::compose::Composition;
use crate::place::Place;
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
    reads: Reads,
    /// What it says that counts.
    digest: Digest,
    object: Digest,
}

/// The templates of a cluster type.
#[derive(Clone, Debug)]
pub(crate) struct Templates {
    reconciler: Arc<Parsed>,
    namespace: Arc<Parsed>,
    config: Arc<Parsed>,
    /// What the three of them can read.
    reads: Reads,
    digest: Digest,
}

/// All templates of a fleet by name.
pub(crate) type ParsedTemplates = BTreeMap<Arc<str>, Arc<Parsed>>;

/// What an assignment's templates see.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub(crate) environment: &'a EnvironmentName,
    pub(crate) place: &'a Place,
    pub(crate) place_fields: &'a PlaceFields,
    pub(crate) target: &'a Target,
    pub(crate) target_fields: &'a TargetFields,
    /// What pins lay over the target's manifests.
    pub(crate) pinned: Option<&'a Pinned>,
    /// What the values are.
    pub(crate) values: Digest,
    /// Whether some value is itself a template, which may use anything.
    pub(crate) has_nested: bool,
    pub(crate) long_names: LongNames,
    /// Whether messages must not show what a template makes, because a sensitive value may be in it.
    pub(crate) hides_output: bool,
}

/// What templates see of a place.
#[derive(Debug)]
pub(crate) struct PlaceFields {
    cluster_type: Value,
    cluster_type_labels: Value,
    cluster: Value,
    cluster_labels: Value,
    labels_digest: Digest,
}

/// What templates see of a target.
#[derive(Debug)]
pub(crate) struct TargetFields {
    name: Value,
    workspace: Value,
    workload: Value,
    labels: Value,
    manifests: Value,
    labels_digest: Digest,
    manifests_digest: Digest,
    identity_digest: Digest,
}

/// Manifests with what pins lay over them.
#[derive(Debug)]
pub(crate) struct Pinned {
    manifests: Value,
    digest: Digest,
}

/// What was rendered.
#[derive(Debug)]
pub(crate) struct Rendered {
    pub(crate) files: Result<Files, Vec<Diagnostic>>,
    /// Whether something was rendered that came out of the data, so that nobody knows what it read.
    pub(crate) has_read_anything: bool,
}

impl PlaceFields {
    pub(crate) fn of(place: &Place) -> Self {
        let cluster = place.cluster.as_ref();
        let cluster_labels = cluster.map(|_| place.labels()).unwrap_or_default();
        let type_labels = &place.cluster_type.labels;
        Self {
            cluster_type: Value::text(place.cluster_type.name.as_str()),
            cluster_type_labels: text_map(type_labels.iter()),
            cluster: Value::text(cluster.map_or("", |cluster| cluster.name.as_str())),
            cluster_labels: text_map(cluster_labels.iter()),
            labels_digest: Digest::of(&(type_labels, &cluster_labels)),
        }
    }
}

impl TargetFields {
    pub(crate) fn of(target: &Target) -> Self {
        Self {
            name: Value::text(target.name.as_str()),
            workspace: Value::text(target.workspace()),
            workload: Value::text(target.workload()),
            labels: text_map(target.labels.iter()),
            manifests: text_map(target.manifests.iter()),
            labels_digest: Digest::of(&target.labels),
            manifests_digest: Digest::of(&target.manifests),
            identity_digest: Digest::of(&(target.name.as_str(), target.workspace(), target.workload(), &target.origin)),
        }
    }
}

impl Pinned {
    pub(crate) fn of(manifests: &BTreeMap<Arc<str>, Arc<str>>) -> Self {
        Self { manifests: text_map(manifests.iter()), digest: Digest::of(manifests) }
    }
}

fn text_map<'l>(pairs: impl Iterator<Item = (&'l Arc<str>, &'l Arc<str>)>) -> Value {
    Value::text_map(pairs.map(|(key, value)| (&**key, &**value)))
}

/// Parses every template of a fleet. One that was parsed `before` is not parsed again.
pub(crate) fn parse(fleet: &Fleet, before: &ParsedTemplates) -> ParsedTemplates {
    let parsed = |name: &Arc<str>, template: &Object<Template>| {
        // What is said of copies names their places, which may have changed.
        let known = before.get(name).filter(|known| known.object == template.digest && known.problem.is_none());
        match known.filter(|_| fleet.duplicates.is_empty()) {
            Some(known) => Arc::clone(known),
            None => Arc::new(parse_template(fleet, template)),
        }
    };
    let by_name = fleet.templates.iter().map(|(name, template)| (name.as_arc(), template));
    by_name.map(|(name, template)| (Arc::clone(name), parsed(name, template))).collect()
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
    let reads = texts.iter().fold(Reads::default(), |reads, text| reads.union(text.reads()));
    let digest = Digest::of(&(key.name.as_ref(), &object.spec.manifests, is_literal, &extension));
    Parsed { key, texts, is_literal, extension, problem, reads, digest, object: object.digest }
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

impl Templates {
    /// Finds the templates of a cluster type.
    pub(crate) fn find(parsed: &ParsedTemplates, object: &Object<ClusterType>) -> Result<Self, Vec<Diagnostic>> {
        let mut problems = Vec::new();
        let mut find = |field: &str, name: &Arc<str>| {
            let found = parsed.get(name);
            match found.map(|template| &template.problem) {
                Some(Some(problem)) => problems.push(problem.clone()),
                Some(None) => {}
                None => problems.push(missing(parsed, object, field, name)),
            }
            found.map(Arc::clone)
        };
        let spec = &object.spec;
        let reconciler = find("reconciler", &spec.reconciler);
        let namespace = find("namespaceService", &spec.namespace_service);
        let config = find("configType", &spec.config_type);
        match (reconciler, namespace, config) {
            (Some(reconciler), Some(namespace), Some(config)) if problems.is_empty() => {
                Ok(Self::of([reconciler, namespace, config]))
            }
            _ => Err(problems),
        }
    }

    fn of([reconciler, namespace, config]: [Arc<Parsed>; 3]) -> Self {
        let all = [&reconciler, &namespace, &config];
        let reads = all.iter().fold(Reads::default(), |reads, template| reads.union(&template.reads));
        let mut digest = DigestBuilder::new("templates");
        for template in all {
            digest.digest(template.digest);
        }
        Self { reconciler, namespace, config, reads, digest: digest.finish() }
    }

    /// Whether others render the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.digest == other.digest
    }

    /// Whether the version of the configuration has to be known.
    fn reads_version(&self, context: &Context<'_>) -> bool {
        context.has_nested || self.reads.field("ConfigVersion")
    }

    /// What the rendered files depend on: whatever the templates read of an assignment, or all of it, if they may read `anything`.
    pub(crate) fn inputs(&self, context: &Context<'_>, anything: bool) -> Digest {
        let Context { place_fields: place, target_fields: target, .. } = context;
        let anything = anything || context.has_nested;
        let reads = |field: &str| anything || self.reads.field(field);
        let mut inputs = DigestBuilder::new("rendering");
        inputs.digest(self.digest).digest(target.identity_digest);
        inputs.text(context.environment.as_str()).text(context.place.name_text());
        let flags =
            [context.place.cluster.is_some(), context.long_names == LongNames::Shorten, context.hides_output, anything];
        inputs.number(flags.iter().fold(0, |bits, flag| bits << 1 | u64::from(*flag)));
        // Which of them are there is known by the templates and by `anything`.
        if reads("ClusterType") {
            inputs.text(context.place.cluster_type.name.as_str());
        }
        if reads("ClusterTypeLabels") || reads("ClusterLabels") {
            inputs.digest(place.labels_digest);
        }
        if reads("Labels") {
            inputs.digest(target.labels_digest);
        }
        if reads("Manifests") {
            inputs.digest(context.pinned.map_or(target.manifests_digest, |pinned| pinned.digest));
        }
        // A message that must show no value is compared with all of them.
        if reads("ConfigData") || reads("ConfigVersion") || context.hides_output {
            inputs.digest(context.values);
        }
        inputs.finish()
    }

    /// Renders the files of one assignment.
    pub(crate) fn render(&self, context: &Context<'_>, composition: &Composition) -> Rendered {
        let has_version = self.reads_version(context);
        let version = if has_version { Arc::clone(composition.version()) } else { "".into() };
        let rendered = self.render_with(context, composition, &version);
        // What came out of the data may have asked for the version as well.
        if rendered.has_read_anything && !has_version {
            return self.render_with(context, composition, composition.version());
        }
        rendered
    }

    fn render_with(&self, context: &Context<'_>, composition: &Composition, version: &str) -> Rendered {
        let dot = data(context, composition, version);
        let (mut files, mut has_read_anything) = (Files::new(), context.has_nested);
        let mut problems = Vec::new();
        for (name, template) in
            [("reconciler", &self.reconciler), ("namespace", &self.namespace), ("platform-config", &self.config)]
        {
            match template.render(&dot, (context, composition), &mut has_read_anything) {
                Ok(None) if name == "platform-config" => {}
                Ok(bytes) => {
                    let extension = if name == "platform-config" { &template.extension } else { "yaml" };
                    files.insert(format!("{name}.{extension}").into(), bytes.unwrap_or_default().into());
                }
                Err(diagnostic) => problems.push(diagnostic),
            }
        }
        problems.extend(check_namespace(context, &files));
        Rendered { files: if problems.is_empty() { Ok(files) } else { Err(problems) }, has_read_anything }
    }
}

/// The data of an assignment's templates.
fn data(context: &Context<'_>, composition: &Composition, version: &str) -> Value {
    let Context { place_fields: place, target_fields: target, .. } = context;
    let manifests = context.pinned.map_or(&target.manifests, |pinned| &pinned.manifests);
    let fields = vec![
        ("DeploymentTargetName", target.name.clone()),
        ("Namespace", Value::text(namespace(context).as_str())),
        ("Environment", Value::text(context.environment.as_str())),
        ("Workspace", target.workspace.clone()),
        ("Workload", target.workload.clone()),
        ("Labels", target.labels.clone()),
        ("Manifests", manifests.clone()),
        ("ClusterType", place.cluster_type.clone()),
        ("ConfigData", composition.data.clone()),
        ("ClusterTypeLabels", place.cluster_type_labels.clone()),
        ("Cluster", place.cluster.clone()),
        ("ClusterLabels", place.cluster_labels.clone()),
        ("ConfigVersion", Value::text(version)),
    ];
    Value::Struct(Arc::new(Struct { type_name: "Assignment", fields }))
}

fn missing(parsed: &ParsedTemplates, object: &Object<ClusterType>, field: &str, name: &str) -> Diagnostic {
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

    /// The manifests that are not empty, one behind the other. None if all are empty. `has_read_anything` becomes true where something was
    /// rendered that came out of the data.
    fn render(
        &self,
        dot: &Value,
        (context, composition): (&Context<'_>, &Composition),
        has_read_anything: &mut bool,
    ) -> Result<Option<Vec<u8>>, Diagnostic> {
        let written = composition.written.as_ref();
        let options = Options { limits: Limits::default(), is_literal: self.is_literal, written };
        let mut joined: Option<Vec<u8>> = None;
        for (index, text) in self.texts.iter().enumerate() {
            let rendered = text.render_with(dot, &options);
            let rendered = rendered.map_err(|error| {
                *has_read_anything |= error.pass > 0;
                let shown = if context.hides_output { without_values(error, composition) } else { error };
                failure(&self.key, index, &shown)
            })?;
            *has_read_anything |= rendered.passes > 1;
            let rendered = rendered.bytes;
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
    format!("{}-{}-{}", context.environment, context.place.name_text(), context.target.name)
}

/// Reports a namespace that is too long, where it is in a file. Templates that cut it themselves are fine.
fn check_namespace(context: &Context<'_>, files: &Files) -> Option<Diagnostic> {
    let name = namespace(context);
    if name.len() <= NAMESPACE_LENGTH_MAX {
        return None;
    }
    let contains = |bytes: &Arc<[u8]>| String::from_utf8_lossy(bytes).contains(&name);
    let (file, _) = files.iter().find(|(_, bytes)| contains(bytes))?;
    let key = context.place.key();
    let what = context.place.kind();
    let message =
        format!("the namespace `{name}` has {} characters, Kubernetes allows {NAMESPACE_LENGTH_MAX}", name.len());
    let (object, path) = &context.target.origin;
    let path = if object.kind == Kind::Workload { path.key("name") } else { FieldPath::from(["metadata", "name"]) };
    Some(
        Diagnostic::error(Code::NamespaceTooLong, message)
            .at(Origin::field(object, path), "the target's part of the name")
            .at(Origin::field(&key, FieldPath::from(["metadata", "name"])), format!("the {what}'s part of the name"))
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
