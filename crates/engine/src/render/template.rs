//! Parsed templates. Each template is parsed once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gotemplate::template::{RenderOptions, Rendered};
use gotemplate::value::{Struct, Value};
use gotemplate::{ErrorKind, MissingField, PartCache, Reads, RenderLimits, TemplateError};
use model::diagnostic::{Code, Diagnostic, FieldPart, Origin};
use model::digest::Digest;
use model::field_path::FieldPath;
use model::fleet::Fleet;
use model::object::template::{EXTENSION, LITERAL, MANIFESTS, UNCHECKED};
use model::object::{Object, Template};
use model::object_key::ObjectKey;

use super::application_text::{RenderedText, structure_changed, template_in_data};
use super::fields::{REFERENCES, TARGET_MANIFESTS};
use super::{Format, TemplateData, missing_field};
use crate::compose::CONFIG_DATA;
use crate::schedule::target::Target;
use crate::sensitive::canary::Canary;
use crate::settings;

/// The separator between the manifests of a file.
pub(super) const SEPARATOR: &str = "---\n";

/// A template of a fleet, parsed once.
#[derive(Debug)]
pub(crate) struct ParsedTemplate {
    pub(super) key: ObjectKey,
    pub(super) texts: Vec<gotemplate::Template>,
    /// The same texts, as they are written.
    manifests: Vec<Arc<str>>,
    pub(super) is_literal: bool,
    /// Whether looking up a field that a map does not have is an error.
    requires_keys: bool,
    /// Whether the output is not checked: texts of applications may change its structure, and it need not be valid YAML.
    is_unchecked: bool,
    pub(super) extension: Arc<str>,
    /// The reason why the template can't be used.
    pub(super) problem: Option<Diagnostic>,
    pub(super) reads: Reads,
    /// The digest of everything that affects the output.
    pub(super) digest: Digest,
    object: Digest,
}

/// The output of a template, and the missing values that it prints, each with the index of its manifest.
pub(super) type RenderedTemplate = (Option<RenderedText>, Vec<(usize, MissingField)>);

/// All templates of a fleet by name.
pub(crate) type ParsedTemplates = BTreeMap<Arc<str>, Arc<ParsedTemplate>>;

/// Parses every template of a fleet. Unchanged templates are taken from `before`.
pub(crate) fn parse(fleet: &Fleet, before: &ParsedTemplates) -> ParsedTemplates {
    let parsed = |name: &Arc<str>, template: &Object<Template>| {
        // Diagnostics about copies contain the places of the copies. The places may have changed.
        let known = before.get(name).filter(|known| known.object == template.digest && known.problem.is_none());
        match known.filter(|_| fleet.duplicates.is_empty()) {
            Some(known) => Arc::clone(known),
            None => Arc::new(parse_template(fleet, template)),
        }
    };
    let by_name = fleet.templates.iter().map(|(name, template)| (name.as_arc(), template));
    by_name.map(|(name, template)| (Arc::clone(name), parsed(name, template))).collect()
}

fn parse_template(fleet: &Fleet, object: &Object<Template>) -> ParsedTemplate {
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
    let requires_keys = settings::requires_keys(&key, &object.annotations).unwrap_or_else(|refused| {
        problem.get_or_insert(refused);
        false
    });
    let is_set = |annotation| object.annotations.get(annotation).is_some_and(|value| &**value == "true");
    let (is_literal, is_unchecked) = (is_set(LITERAL), is_set(UNCHECKED));
    let reads = texts.iter().fold(Reads::default(), |reads, text| reads.union(text.reads()));
    let annotations = (is_literal, is_unchecked, requires_keys);
    let digest = Digest::from_value(&(key.name.as_ref(), &object.spec.manifests, annotations, &extension));
    ParsedTemplate {
        key,
        texts,
        manifests: object.spec.manifests.clone(),
        is_literal,
        requires_keys,
        is_unchecked,
        extension,
        problem,
        reads,
        digest,
        object: object.digest,
    }
}

fn is_extension(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !text.is_empty()
        && text.len() <= 32
        && text.chars().all(is_allowed)
        && !text.starts_with('.')
        && !text.ends_with('.')
}

/// The keys of a target's manifests that these templates read. None: one may read any key.
pub(crate) fn read_manifests_keys(templates: &ParsedTemplates) -> Option<BTreeSet<&str>> {
    let mut found = BTreeSet::new();
    for template in templates.values() {
        let reads = Some(&template.reads).filter(|_| template.problem.is_none())?;
        found.extend(reads.entries(TARGET_MANIFESTS)?);
    }
    Some(found)
}

fn bad_extension(key: &ObjectKey, extension: &str) -> Diagnostic {
    let path = FieldPath::from(["metadata", "annotations", EXTENSION]);
    Diagnostic::error(Code::InvalidAnnotation, format!("{extension:?} can't be the extension of a file"))
        .at(Origin::field(key, path), "")
        .help("letters, digits, `-`, `_` and `.`, such as `json` or `env`")
        .about(key)
}

impl ParsedTemplate {
    /// The reason why the template can't be used.
    pub(crate) fn problem(&self) -> Option<Diagnostic> {
        self.problem.clone()
    }

    /// Renders the manifests, and joins the outputs that are not empty. Returns no text if all are empty, and the missing values that the manifests print.
    /// Sets `has_read_anything` if output that contained template text was rendered again.
    pub(super) fn render(
        &self,
        data: &TemplateData<'_>,
        has_read_anything: &mut bool,
    ) -> Result<RenderedTemplate, Vec<Diagnostic>> {
        let TemplateData { context, composition, .. } = *data;
        let (dot, options) = (data.dot(), self.options(composition.part_cache.as_ref()));
        let (mut joined, mut all_missing): RenderedTemplate = (None, Vec::new());
        for (index, text) in self.texts.iter().enumerate() {
            let rendered = text.render_with(dot, &options);
            let rendered = rendered.map_err(|error| {
                *has_read_anything |= error.pass > 0;
                if error.kind == ErrorKind::Tainted {
                    return template_in_data(context.target, &error.refused);
                }
                let reveals = context.hides_output
                    && reveals(&error, |canary| {
                        let dot = with_canaries(dot, canary, context.sensitive);
                        text.render_with(&dot, &self.options(None)).err()
                    });
                let error = if reveals { without_reason(error) } else { error };
                let failure = failure(&self.key, index, &error);
                vec![match &error.missing_field {
                    Some(field) => missing_field::with_nearest(failure, field, data),
                    None => failure,
                }]
            })?;
            *has_read_anything |= rendered.passes > 1;
            let Rendered { bytes, tainted_ranges, shared_parts, missing, .. } = rendered;
            all_missing.extend(missing.into_iter().map(|field| (index, field)));
            if bytes.is_empty() {
                continue;
            }
            let text = String::from_utf8(bytes).map_err(|_| vec![not_text(&self.key, index)])?;
            let manifest = RenderedText { text, tainted_ranges, shared_parts };
            match &mut joined {
                None => joined = Some(manifest),
                Some(made) => made.append(SEPARATOR, manifest),
            }
        }
        Ok((joined, all_missing))
    }

    /// Whether all branches of its texts depend on the values.
    pub(super) fn is_straight(&self) -> bool {
        self.texts.iter().all(|text| text.is_straight(CONFIG_DATA))
    }

    /// The texts as they are written.
    pub(super) fn manifests(&self) -> &[Arc<str>] {
        &self.manifests
    }

    /// The options of its renderings.
    pub(super) fn options<'c>(&self, part_cache: Option<&'c Arc<PartCache>>) -> RenderOptions<'c> {
        RenderOptions {
            limits: RenderLimits::default(),
            is_literal: self.is_literal,
            part_cache,
            references: &REFERENCES,
            requires_keys: self.requires_keys,
        }
    }

    /// What the output is checked as if it is written to a file with this name.
    pub(super) fn format(&self, file: &str) -> Format {
        match extension(file) {
            _ if self.is_unchecked => Format::Unchecked,
            Some("yaml" | "yml" | "json") => Format::Yaml,
            Some("sh") => Format::Shell,
            _ => Format::Unchecked,
        }
    }

    /// Reports texts of applications that change the structure of the output.
    pub(super) fn check_texts(&self, target: &Target, made: &RenderedText) -> Option<Diagnostic> {
        if made.tainted_ranges.is_empty() { None } else { structure_changed(target, &self.key.name, made) }
    }
}

/// The extension of a file name: the text after the last dot.
pub(super) fn extension(file: &str) -> Option<&str> {
    file.rsplit_once('.').map(|(_, extension)| extension)
}

/// Whether an error may reveal something about sensitive values. It does if `error_with` returns another one with other values. Errors in a second
/// rendering pass always may.
fn reveals(error: &TemplateError, error_with: impl Fn(Canary) -> Option<TemplateError>) -> bool {
    let is_other = |canary: Canary| error_with(canary).as_ref() != Some(error);
    error.pass > 0 || Canary::ALL.into_iter().any(is_other)
}

/// The data of templates, with sensitive values replaced by other values.
pub(super) fn with_canaries(dot: &Value, canary: Canary, sensitive: &BTreeSet<FieldPath>) -> Value {
    let Value::Struct(data) = dot else { return dot.clone() };
    let fields = data.fields.iter().map(|(name, value)| {
        let value = if *name == CONFIG_DATA { canary.replaced(value, sensitive) } else { value.clone() };
        (*name, value)
    });
    Value::Struct(Arc::new(Struct { type_name: data.type_name, fields: fields.collect() }))
}

/// An error with its place and without its reason.
fn without_reason(error: TemplateError) -> TemplateError {
    let what = if error.pass == 0 { "it fails" } else { "its output can't be rendered again" };
    let message = format!("{what}; the reason is not shown, because of sensitive values");
    TemplateError { message, excerpt: None, missing_field: None, ..error }
}

fn failure(key: &ObjectKey, index: usize, error: &TemplateError) -> Diagnostic {
    let code = match error.kind {
        ErrorKind::Parse if error.pass == 0 => Code::TemplateSyntax,
        ErrorKind::Parse | ErrorKind::Execute => Code::TemplateFailed,
        ErrorKind::Tainted => Code::TemplateInData,
        ErrorKind::Limit => Code::TemplateLimit,
    };
    let path = FieldPath::from(MANIFESTS).index(index);
    let message = format!("template `{}`: {}", key.name, error.message);
    let mut diagnostic = Diagnostic::error(code, message).about(key);
    if error.pass == 0 {
        let part = FieldPart::Text { line: error.line, column: error.column };
        return diagnostic.at(Origin::part(key, path, part), "");
    }
    diagnostic =
        diagnostic.at(Origin::field(key, path), "the output of this text contains `{{`, so it is rendered again");
    if let Some(excerpt) = &error.excerpt {
        let place = format!("rendering {} failed in line {} of the output", error.pass + 1, error.line);
        // The error for an action that is not closed is after the last line.
        diagnostic = diagnostic.note(if excerpt.is_empty() { place } else { format!("{place}: {excerpt}") });
    }
    diagnostic.help(
        "if the braces are literal text, set the annotation `template.kalypso.io/literal: \"true\"` on the template",
    )
}

fn not_text(key: &ObjectKey, index: usize) -> Diagnostic {
    Diagnostic::error(Code::NotTextRendered, format!("template `{}` renders bytes that are not UTF-8", key.name))
        .at(Origin::field(key, FieldPath::from(MANIFESTS).index(index)), "")
        .help("`trunc` and `substr` count bytes: they can cut a character in two")
        .about(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(template: &str, shows_reason: bool) {
        let data = Value::dict([("PASSWORD", Value::text("hunter2")), ("A", Value::text("x"))]);
        let dot = Value::Struct(Arc::new(Struct { type_name: "Assignment", fields: vec![("ConfigData", data)] }));
        let text = gotemplate::Template::parse("t", template).unwrap();
        let error = text.render(&dot, &RenderLimits::default()).unwrap_err();
        let sensitive = BTreeSet::from([FieldPath::from(["PASSWORD"])]);
        let reveals = reveals(&error, |canary| {
            text.render_with(&with_canaries(&dot, canary, &sensitive), &RenderOptions::default()).err()
        });
        assert_eq!(reveals, !shows_reason, "{}", error.message);
        let hidden = without_reason(error.clone());
        assert!(!hidden.message.contains("hunter2"), "{}", hidden.message);
        assert_eq!((hidden.line, hidden.column), (error.line, error.column));
    }

    #[test]
    fn a_failing_template_quotes_no_value() {
        check("{{ fail (print \"bad: \" .ConfigData.PASSWORD) }}", false);
        check("{{ fail \"ZONE is needed\" }}", true);
        check("{{ index .ConfigData.A 7 }}", true);
    }

    #[test]
    fn a_failing_template_quotes_nothing_that_was_made_of_a_value() {
        for made in ["upper", "b64enc", "sha256sum", "len", "trunc 1", "trunc -1", "regexFind \"[0-9]\""] {
            check(&format!("{{{{ fail (print ({made} .ConfigData.PASSWORD)) }}}}"), false);
        }
        check("{{ if hasPrefix \"h\" .ConfigData.PASSWORD }}{{ fail \"it begins with h\" }}{{ end }}", false);
        check("{{ fail (upper .ConfigData.A) }}", true);
    }
}
