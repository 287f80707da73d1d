//! JSON schemas of values: compiled once, checked against many compositions.

mod coerce;
mod finding;
mod walk;

use std::collections::BTreeMap;
use std::sync::Arc;

use jsonschema::{Draft, PatternOptions, Validator};
use model::diagnostic::{Code, Diagnostic, Origin, Part};
use model::field_path::FieldPath;
use model::fleet::Fleet;
use model::object::{AnyObject, ConfigSchema, Object, config_schema};
use serde_json::Value as Json;

use crate::compose::Composition;
use crate::container::Conditions;
use crate::settings::{self, MissingValues};
use crate::target::SchemaText;

pub(crate) use coerce::{nested, to_json};
pub use finding::Finding;
pub(crate) use walk::demands;

/// Bytes of a compiled pattern: patterns come from other teams.
const PATTERN_BYTES_MAX: usize = 1 << 20;

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
}

/// A `ConfigSchema` with the labels that say for whom it is.
#[derive(Debug)]
pub(crate) struct Labelled {
    pub(crate) conditions: Conditions,
    pub(crate) schema: Schema,
}

/// All schemas of a fleet.
#[derive(Debug)]
pub(crate) struct Schemas {
    pub(crate) labelled: Vec<Labelled>,
    /// Those that targets bring, by text: the same text is compiled once.
    compiled: BTreeMap<Arc<str>, Result<Arc<Compiled>, String>>,
    missing: MissingValues,
}

impl Schemas {
    /// Compiles the schemas of a fleet and those of `targets`' texts.
    pub(crate) fn compile<'a>(
        fleet: &Fleet,
        texts: impl Iterator<Item = &'a SchemaText>,
        missing: MissingValues,
    ) -> Self {
        let mut schemas = Self { labelled: Vec::new(), compiled: BTreeMap::new(), missing };
        let copies = fleet.duplicates.values().flatten().filter_map(|object| match object {
            AnyObject::ConfigSchema(object) => Some(object),
            _ => None,
        });
        for object in fleet.config_schemas.values().map(|object| &**object).chain(copies) {
            let labelled = schemas.labelled(fleet, object);
            schemas.labelled.push(labelled);
        }
        for text in texts {
            let _ = schemas.compiled_text(&text.text);
        }
        schemas
    }

    /// The schema that a target brings.
    pub(crate) fn of_target(&self, text: &SchemaText) -> Schema {
        let compiled = match self.compiled.get(&text.text) {
            Some(Ok(compiled)) => Ok(Arc::clone(compiled)),
            Some(Err(reason)) => Err(unusable(text, reason)),
            None => Err(unusable(text, "it was not compiled")),
        };
        Schema { text: text.clone(), compiled, missing: self.missing }
    }

    fn labelled(&mut self, fleet: &Fleet, object: &Object<ConfigSchema>) -> Labelled {
        let key = object.key();
        let text = SchemaText {
            text: Arc::clone(&object.spec.schema),
            object: key.clone(),
            path: FieldPath::from(config_schema::SCHEMA),
        };
        let mut compiled = self.compiled_text(&text.text).map_err(|reason| unusable(&text, &reason));
        let mut missing = self.missing;
        // The annotation of a schema can only relax, not sharpen, what the environment says.
        match settings::missing_values(&key, &object.annotations) {
            Ok(MissingValues::Warn) => missing = MissingValues::Warn,
            Ok(MissingValues::Enforce) => {}
            Err(diagnostic) => compiled = Err(diagnostic),
        }
        if let Some(diagnostic) = fleet.duplicate_diagnostic(&key) {
            compiled = Err(diagnostic);
        }
        Labelled { conditions: Conditions::of(&object.labels), schema: Schema { text, compiled, missing } }
    }

    fn compiled_text(&mut self, text: &Arc<str>) -> Result<Arc<Compiled>, String> {
        self.compiled.entry(Arc::clone(text)).or_insert_with(|| compile(text).map(Arc::new)).clone()
    }
}

impl Schema {
    /// Checks the values of a composition. `json` is what [`to_json`] makes of it, and is as before afterwards.
    pub(crate) fn check(&self, composition: &Composition, json: &mut Json) -> Vec<Finding> {
        let Ok(compiled) = &self.compiled else { return Vec::new() };
        let changed = coerce::apply(&compiled.types, composition, json);
        let findings = if compiled.validator.is_valid(json) {
            Vec::new()
        } else {
            compiled
                .validator
                .iter_errors(json)
                .flat_map(|error| finding::of(&error, &self.text, &compiled.sensitive))
                .collect()
        };
        coerce::undo(changed, json);
        findings
    }

    /// The properties that the schema marks as sensitive.
    pub(crate) fn sensitive(&self) -> &[FieldPath] {
        self.compiled.as_ref().map_or(&[], |compiled| &compiled.sensitive)
    }
}

fn unusable(text: &SchemaText, reason: &str) -> Diagnostic {
    Diagnostic::error(Code::InvalidSchema, format!("this schema can't be used: {reason}"))
        .at(Origin::part(&text.object, text.path.clone(), Part::Value), "")
        .help("it has to be a JSON schema, written as JSON")
        .about(&text.object)
}

fn compile(text: &str) -> Result<Compiled, String> {
    let json: Json = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    if let Some(path) = walk::endless_reference(&json) {
        return Err(format!("`{path}` refers to itself, so checking it would never end"));
    }
    let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES_MAX).dfa_size_limit(PATTERN_BYTES_MAX);
    let mut options = jsonschema::options().offline().with_pattern_options(patterns);
    if json.get("$schema").is_none() {
        options = options.with_draft(walk::draft(&json));
    }
    let validator = options.build(&json).map_err(|error| error.to_string())?;
    Ok(Compiled { validator, types: coerce::types(&json), sensitive: walk::sensitive(&json) })
}

/// The draft of schemas that don't say which: newer ones unless the old form of a keyword is used.
const DEFAULT_DRAFT: Draft = Draft::Draft7;
