//! JSON schemas of values: compiled once, checked against many compositions.

mod bounds;
mod coerce;
mod finding;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use model::diagnostic::{Code, Diagnostic, Origin, Part};
use model::digest::Digest;
use model::field_path::FieldPath;
use model::fleet::Fleet;
use model::object::{AnyObject, ConfigSchema, Object, config_schema};
use serde_json::Value as Json;

use crate::compose::Composition;
use crate::container::Conditions;
use crate::settings::{self, MissingValues};
use crate::target::{SchemaText, Target};

pub(crate) use coerce::{JsonData, nested};
pub use finding::Finding;
pub(crate) use walk::demands;

/// Bytes of a compiled pattern: patterns come from other teams.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// Findings told about one schema and one set of values: nobody reads on.
const FINDINGS_MAX: usize = 100;

/// A schema that was compiled.
#[derive(Debug)]
pub(crate) struct Compiled {
    validator: Validator,
    /// The types that the schema gives top-level properties.
    types: BTreeMap<String, coerce::Types>,
    /// The properties that the schema marks as sensitive.
    sensitive: Vec<FieldPath>,
}

/// A schema of a fleet, with what it applies to and how strictly.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    pub(crate) text: SchemaText,
    pub(crate) compiled: Result<Arc<Compiled>, Diagnostic>,
    pub(crate) missing: MissingValues,
    /// What it asks for, and where it is written.
    pub(crate) digest: Digest,
}

/// A `ConfigSchema` with the labels that say for whom it is.
#[derive(Debug)]
pub(crate) struct Labelled {
    pub(crate) conditions: Conditions,
    pub(crate) schema: Schema,
}

/// All schemas of a fleet.
#[derive(Debug, Default)]
pub(crate) struct Schemas {
    pub(crate) labelled: Vec<Labelled>,
    /// By text: the same text is compiled once.
    compiled: BTreeMap<Arc<str>, Result<Arc<Compiled>, Unusable>>,
    missing: MissingValues,
    /// Those that targets bring, each once.
    own: Vec<Schema>,
    /// The positions in `own` of the schemas of targets, by what these write.
    positions: BTreeMap<SchemaText, u32>,
    /// What any of them marks as sensitive. A value often reaches more assignments than the schema that marks it, so a mark holds for all.
    pub(crate) sensitive: BTreeSet<FieldPath>,
}

impl Schemas {
    /// Compiles the schemas of a fleet and of its targets. A text that was compiled `before` is not compiled again.
    pub(crate) fn compile<'t>(
        fleet: &Fleet,
        targets: impl Iterator<Item = &'t Target>,
        missing: MissingValues,
        before: &Self,
    ) -> Self {
        let mut schemas = Self { missing, ..Self::default() };
        let copies = fleet.duplicates.values().flatten().filter_map(|object| match object {
            AnyObject::ConfigSchema(object) => Some(object),
            _ => None,
        });
        for object in fleet.config_schemas.values().chain(copies) {
            let labelled = schemas.labelled(fleet, object, before);
            schemas.labelled.push(labelled);
        }
        for text in targets.flat_map(|target| &target.schemas) {
            if !schemas.positions.contains_key(text) {
                let _ = schemas.compiled_text(&text.text, before);
                let schema = schemas.of_target(text);
                schemas.positions.insert(text.clone(), schemas.own.len() as u32);
                schemas.own.push(schema);
            }
        }
        let usable = schemas.compiled.values().flatten();
        schemas.sensitive = usable.flat_map(|compiled| &compiled.sensitive).cloned().collect();
        schemas
    }

    /// Why schemas can't be used.
    pub(crate) fn problems(&self) -> impl Iterator<Item = Diagnostic> {
        let all = self.labelled.iter().map(|labelled| &labelled.schema).chain(&self.own);
        all.filter_map(|schema| schema.compiled.clone().err())
    }

    /// The schema with an id: first those with labels, by position, then those of targets.
    pub(crate) fn get(&self, id: u32) -> Option<&Schema> {
        let labelled = self.labelled.get(id as usize).map(|labelled| &labelled.schema);
        labelled.or_else(|| self.own.get((id as usize).checked_sub(self.labelled.len())?))
    }

    /// The ids of the schemas that a target brings.
    pub(crate) fn ids_of_target(&self, target: &Target) -> impl Iterator<Item = u32> {
        let positions = target.schemas.iter().filter_map(|text| self.positions.get(text));
        positions.map(|position| self.labelled.len() as u32 + position)
    }

    fn of_target(&self, text: &SchemaText) -> Schema {
        let compiled = match self.compiled.get(&text.text) {
            Some(Ok(compiled)) => Ok(Arc::clone(compiled)),
            Some(Err(reason)) => Err(unusable(text, reason)),
            None => {
                let reason = "it was not compiled".to_owned();
                Err(unusable(text, &Unusable { reason, part: Part::Value }))
            }
        };
        Schema::new(text.clone(), compiled, self.missing)
    }

    fn labelled(&mut self, fleet: &Fleet, object: &Object<ConfigSchema>, before: &Self) -> Labelled {
        let key = object.key();
        let text = SchemaText {
            text: Arc::clone(&object.spec.schema),
            object: key.clone(),
            path: FieldPath::from(config_schema::SCHEMA),
        };
        let mut compiled = self.compiled_text(&text.text, before).map_err(|reason| unusable(&text, &reason));
        let mut missing = self.missing;
        // What a schema says about itself counts more than what the environment says about all.
        match settings::missing_values(&key, &object.annotations) {
            Ok(said) => missing = said.unwrap_or(missing),
            Err(diagnostic) => compiled = Err(diagnostic),
        }
        if let Some(diagnostic) = fleet.duplicate_diagnostic(&key) {
            compiled = Err(diagnostic);
        }
        Labelled { conditions: Conditions::of(&object.labels), schema: Schema::new(text, compiled, missing) }
    }

    fn compiled_text(&mut self, text: &Arc<str>, before: &Self) -> Result<Arc<Compiled>, Unusable> {
        let known = || before.compiled.get(text).cloned().unwrap_or_else(|| compile(text).map(Arc::new));
        self.compiled.entry(Arc::clone(text)).or_insert_with(known).clone()
    }
}

impl Schema {
    fn new(text: SchemaText, compiled: Result<Arc<Compiled>, Diagnostic>, missing: MissingValues) -> Self {
        let digest = Digest::of(&(&text, missing == MissingValues::Warn));
        Self { text, compiled, missing, digest }
    }

    /// Checks the values of a composition. `data` is as before afterwards. Nothing below the paths `sensitive` is shown.
    pub(crate) fn check(
        &self,
        composition: &Composition,
        data: &mut JsonData,
        sensitive: &BTreeSet<FieldPath>,
    ) -> Vec<Finding> {
        let Ok(compiled) = &self.compiled else { return Vec::new() };
        let is_text = |key: &&String| compiled.types.get(*key).is_some_and(|types| types.text);
        if let Some(key) = data.not_json.iter().find(|key| !is_text(key)) {
            return vec![finding::not_json(key, &self.text)];
        }
        let changed = coerce::apply(&compiled.types, composition, &mut data.object);
        let findings = if compiled.validator.is_valid(&data.object) {
            Vec::new()
        } else {
            let errors = compiled.validator.iter_errors(&data.object).take(FINDINGS_MAX);
            errors.flat_map(|error| finding::of(&error, &self.text, sensitive)).collect()
        };
        coerce::undo(changed, &mut data.object);
        findings
    }
}

/// Why a schema can't be used, and the place in its text, where that is known.
#[derive(Clone, Debug)]
struct Unusable {
    reason: String,
    part: Part,
}

fn unusable(text: &SchemaText, Unusable { reason, part }: &Unusable) -> Diagnostic {
    Diagnostic::error(Code::InvalidSchema, format!("this schema can't be used: {reason}"))
        .at(Origin::part(&text.object, text.path.clone(), part.clone()), "")
        .help("it has to be a JSON schema, written as JSON")
        .about(&text.object)
}

fn compile(text: &str) -> Result<Compiled, Unusable> {
    let json: Json = serde_json::from_str(text).map_err(|error| not_json(&error))?;
    if let Some(reason) = bounds::problem(&json) {
        return Err(Unusable { reason, part: Part::Value });
    }
    let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES_MAX).dfa_size_limit(PATTERN_BYTES_MAX);
    let mut options = jsonschema::options().offline().with_pattern_options(patterns);
    if json.get("$schema").is_none() {
        options = options.with_draft(walk::draft(&json));
    }
    let validator = options.build(&json).map_err(|error| not_a_schema(&error))?;
    Ok(Compiled { validator, types: coerce::types(&json), sensitive: walk::sensitive(&json) })
}

fn not_json(error: &serde_json::Error) -> Unusable {
    let (line, column) = (error.line(), error.column().max(1));
    let text = error.to_string();
    let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
    Unusable { reason: format!("it is not JSON: {reason}"), part: Part::Text { line, column } }
}

fn not_a_schema(error: &ValidationError<'_>) -> Unusable {
    let path = finding::field_path(error.instance_path());
    if path.steps().is_empty() {
        return Unusable { reason: error.to_string(), part: Part::Value };
    }
    let reason = match error.kind() {
        // These would only list what the rules for schemas allow.
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::Enum { .. } | ValidationErrorKind::Type { .. } => {
            format!("`{path}` can't be {}", finding::shown(error.instance()))
        }
        _ => format!("`{path}`: {error}"),
    };
    Unusable { reason, part: Part::Inside(path) }
}

/// The draft of schemas that don't say which: newer ones unless the old form of a keyword is used.
const DEFAULT_DRAFT: Draft = Draft::Draft7;
