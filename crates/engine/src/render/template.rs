//! Templates as they are written, parsed once.

use std::collections::BTreeMap;
use std::sync::Arc;

use gotemplate::template::Options;
use gotemplate::value::Value;
use gotemplate::{ErrorKind, Limits, Reads, TemplateError};
use model::diagnostic::{Code, Diagnostic, ObjectKey, Origin, Part};
use model::digest::Digest;
use model::field_path::FieldPath;
use model::fleet::Fleet;
use model::object::template::{EXTENSION, LITERAL, MANIFESTS};
use model::object::{Object, Template};

use super::Context;
use crate::compose::Composition;

/// A template of a fleet, parsed once.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(super) key: ObjectKey,
    texts: Vec<gotemplate::Template>,
    is_literal: bool,
    pub(super) extension: Arc<str>,
    /// Why nothing can be rendered with it.
    pub(super) problem: Option<Diagnostic>,
    pub(super) reads: Reads,
    /// What it says that counts.
    pub(super) digest: Digest,
    object: Digest,
}

/// All templates of a fleet by name.
pub(crate) type ParsedTemplates = BTreeMap<Arc<str>, Arc<Parsed>>;

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

impl Parsed {
    /// Why nothing can be rendered with it.
    pub(crate) fn problem(&self) -> Option<Diagnostic> {
        self.problem.clone()
    }

    /// The manifests that are not empty, one behind the other. None if all are empty. `has_read_anything` becomes true where something was
    /// rendered that came out of the data.
    pub(super) fn render(
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
