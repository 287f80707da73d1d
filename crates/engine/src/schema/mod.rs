//! JSON schemas of values: compiled once, and checked against many compositions.

mod bounds;
mod budget;
mod coerce;
mod cost;
mod dialect;
mod finding;
mod forms;
mod go_pattern;
mod keywords;
mod lint;
pub mod marks;
mod pattern;
mod patterns;
mod references;
mod requested_values;
mod schema_error;
mod unusable;
pub(crate) mod validate;
mod walk;
mod written_patterns;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use jsonschema::{PatternOptions, ValidationError, Validator};
use model::diagnostic::{Diagnostic, FieldPart, Origin};
use model::digest::Digest;
use model::field_path::FieldPath;
use model::fleet::Fleet;
use model::name::RegistrationName;
use model::object::deployment_target::WORKLOAD_LABEL;
use model::object::{ConfigSchema, Object, config_schema};
use model::object_key::ObjectKey;
use serde_json::Value as Json;

use crate::compose::Composition;
use crate::compose::container::Conditions;
use crate::invariant::require;
use crate::schedule::matching::APPLICATION;
use crate::schedule::target::{Application, SchemaText, Target};
use crate::settings::{self, MissingValues};

use budget::Budget;
pub(crate) use coerce::{JsonData, nested};
pub use finding::{Finding, FindingKind};
use forms::{FormSearch, Verdict};
pub(crate) use requested_values::{RequestedProperty, RequestedValues};
use schema_error::SchemaError;
use unusable::Unusable;
pub(crate) use walk::requirements;

/// The maximum size of a compiled pattern in bytes. Patterns come from other teams.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// The maximum number of findings for one schema and one set of values.
const FINDINGS_MAX: usize = 100;

/// A compiled schema.
#[derive(Debug)]
pub(crate) struct CompiledSchema {
    validator: Validator,
    /// The patterns as their author wrote them.
    written: written_patterns::WrittenPatterns,
    /// The types of top-level properties in the schema.
    types: coerce::TypesByName,
    /// The top-level properties in conditions and alternatives of the whole configuration.
    conditional: BTreeSet<String>,
    /// The paths of properties that the schema marks as sensitive.
    sensitive: Vec<FieldPath>,
    /// Warnings about parts of the schema.
    lints: Vec<lint::Lint>,
    /// The number of schemas with all references written out.
    unfolded: usize,
    /// The cost of checks with this schema.
    cost: cost::Graph,
}

/// A schema of a fleet, with its settings.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    pub(crate) text: SchemaText,
    pub(crate) compiled: Result<Arc<CompiledSchema>, Diagnostic>,
    pub(crate) missing: MissingValues,
    /// The maximum cost of a check.
    allowance: cost::Allowance,
    /// The digest of the schema's text, place and settings.
    pub(crate) digest: Digest,
}

/// A `ConfigSchema` with the conditions that an assignment must meet.
#[derive(Debug)]
pub(crate) struct LabelledSchema {
    pub(crate) conditions: Conditions,
    pub(crate) schema: Schema,
    /// Whether it comes from a limited repository, which can't hide values from others.
    is_limited: bool,
}

/// Compiled schemas by text. Each text is compiled once.
type CompiledTexts = BTreeMap<Arc<str>, Result<Arc<CompiledSchema>, SchemaError>>;

/// All schemas of a fleet.
#[derive(Debug, Default)]
pub(crate) struct Schemas {
    pub(crate) labelled: Vec<LabelledSchema>,
    compiled: CompiledTexts,
    /// The schemas of targets, each once.
    own: Vec<Schema>,
    /// The positions in `own` of the schemas of targets, by text and place.
    positions: BTreeMap<SchemaText, u32>,
    /// The paths that are sensitive for all assignments: those that the platform team's schemas mark. A value often reaches more assignments than
    /// the schema that marks it.
    pub(crate) sensitive_everywhere: BTreeSet<FieldPath>,
    /// The paths that any schema marks.
    pub(crate) sensitive_anywhere: BTreeSet<FieldPath>,
}

impl Schemas {
    /// Compiles the schemas of a fleet and of its targets. Texts that `before` contains are not compiled again.
    pub(crate) fn compile<'t>(
        fleet: &Fleet,
        targets: impl Iterator<Item = &'t Target>,
        missing: MissingValues,
        before: &Self,
    ) -> Self {
        let mut schemas = Self::default();
        let mut compilation = Compilation { fleet, before, missing, budget: Budget::default(), texts: BTreeMap::new() };
        for (key, object) in fleet.all_config_schemas() {
            schemas.labelled.push(compilation.labelled(&key, object));
        }
        for (target, text) in targets.flat_map(|target| target.schemas.iter().map(move |text| (target, text))) {
            if !schemas.positions.contains_key(text) {
                let owner = target.registration.as_ref();
                let compiled = compilation.compiled(text, owner);
                schemas.positions.insert(text.clone(), schemas.own.len() as u32);
                schemas.own.push(Schema::new(text.clone(), compiled, (missing, owner)));
            }
        }
        schemas.compiled = compilation.texts;
        let of_platform = schemas.labelled.iter().filter(|labelled| !labelled.is_of_workload() && !labelled.is_limited);
        schemas.sensitive_everywhere = of_platform.flat_map(|labelled| labelled.schema.marks()).cloned().collect();
        let all = schemas.labelled.iter().map(|labelled| &labelled.schema).chain(&schemas.own);
        schemas.sensitive_anywhere = all.flat_map(Schema::marks).cloned().collect();
        schemas
    }

    /// The sensitive paths of an assignment with these schemas.
    ///
    /// A mark in the schema of a workload applies only to that workload. Otherwise one team could hide the values of all teams.
    pub(crate) fn sensitive<'s>(&'s self, schemas: impl IntoIterator<Item = &'s Schema>) -> BTreeSet<FieldPath> {
        let marked = schemas.into_iter().flat_map(Schema::marks);
        self.sensitive_everywhere.iter().chain(marked).cloned().collect()
    }

    /// Reports schemas that can't be used, and parts of schemas that have no effect or contradict each other.
    pub(crate) fn problems(&self) -> impl Iterator<Item = Diagnostic> {
        let all = self.labelled.iter().map(|labelled| &labelled.schema).chain(&self.own);
        all.flat_map(|schema| match &schema.compiled {
            Ok(compiled) => compiled.lints.iter().map(|lint| warning(&schema.text, lint)).collect(),
            Err(diagnostic) => vec![diagnostic.clone()],
        })
    }

    /// The schema with an id. The first ids are the positions of `ConfigSchema`s. The ids of targets' schemas follow.
    pub(crate) fn get(&self, id: u32) -> Option<&Schema> {
        let labelled = self.labelled.get(id as usize).map(|labelled| &labelled.schema);
        labelled.or_else(|| self.own.get((id as usize).checked_sub(self.labelled.len())?))
    }

    /// The ids of a target's own schemas.
    pub(crate) fn ids_of_target(&self, target: &Target) -> impl Iterator<Item = u32> {
        let position = |text| require(self.positions.get(text), "a target's schema was not read");
        let positions = target.schemas.iter().map(position);
        positions.map(|position| self.labelled.len() as u32 + position)
    }
}

/// The compilation of the schemas of a fleet.
struct Compilation<'a> {
    fleet: &'a Fleet,
    /// Texts that it contains are not compiled again.
    before: &'a Schemas,
    missing: MissingValues,
    budget: Budget,
    texts: CompiledTexts,
}

impl Compilation<'_> {
    fn labelled(&mut self, key: &ObjectKey, object: &Object<ConfigSchema>) -> LabelledSchema {
        let text = SchemaText {
            text: Arc::clone(&object.spec.schema),
            object: key.clone(),
            path: FieldPath::from(config_schema::SCHEMA),
        };
        let owner = key.of.as_ref();
        let mut compiled = self.compiled(&text, owner);
        let mut missing = self.missing;
        // A setting of the schema takes precedence over the setting of the environment.
        match settings::missing_values(key, &object.annotations) {
            Ok(setting) => missing = setting.unwrap_or(missing),
            Err(diagnostic) => compiled = Err(diagnostic),
        }
        if let Some(diagnostic) = self.fleet.duplicate_diagnostic(key) {
            compiled = Err(diagnostic);
        }
        let conditions = Conditions::from_labels(&object.labels);
        let conditions = match application(self.fleet, key, object) {
            Some(application) => conditions.and(APPLICATION, application.as_condition()),
            None => conditions,
        };
        let is_limited = owner.is_none() && self.fleet.limited_schemas.contains(&key.name);
        LabelledSchema { conditions, schema: Schema::new(text, compiled, (missing, owner)), is_limited }
    }

    /// The schema with a text, if the budget of its owner allows it.
    fn compiled(
        &mut self,
        text: &SchemaText,
        owner: Option<&RegistrationName>,
    ) -> Result<Arc<CompiledSchema>, Diagnostic> {
        if let Some(diagnostic) = self.budget.refuse(owner, text) {
            return Err(diagnostic);
        }
        let json = &text.text;
        let known = || self.before.compiled.get(json).cloned().unwrap_or_else(|| compile(json).map(Arc::new));
        let compiled = self.texts.entry(Arc::clone(json)).or_insert_with(known).clone();
        self.budget.spend(owner, text, compiled.as_ref().map_or(0, |compiled| compiled.unfolded));
        compiled.map_err(|error| error.diagnostic(text))
    }
}

impl LabelledSchema {
    /// Whether the schema applies only to certain workloads. All schemas from application repositories do.
    fn is_of_workload(&self) -> bool {
        self.conditions.iter().any(|(key, _)| matches!(&**key, "workload" | "workspace" | "deployment-target"))
    }
}

impl Schema {
    /// The paths that the schema marks as sensitive. If the schema can't be used and may contain a mark, all values are sensitive.
    pub(crate) fn marks(&self) -> &[FieldPath] {
        static ANYTHING: LazyLock<[FieldPath; 1]> = LazyLock::new(|| [FieldPath::default()]);
        match &self.compiled {
            Ok(compiled) => &compiled.sensitive,
            Err(_) if marks::may_mark(&self.text.text) => &*ANYTHING,
            Err(_) => &[],
        }
    }

    fn new(
        text: SchemaText,
        compiled: Result<Arc<CompiledSchema>, Diagnostic>,
        (missing, owner): (MissingValues, Option<&RegistrationName>),
    ) -> Self {
        let digest = Digest::from_value(&(&text, missing == MissingValues::Warn, owner.is_some()));
        Self { text, compiled, missing, allowance: cost::Allowance::new(owner.is_some()), digest }
    }

    /// Checks the values of a composition. `data` is changed during the check, and restored at the end. Findings show no values below the paths `sensitive`.
    pub(crate) fn check(
        &self,
        composition: &Composition,
        data: &mut JsonData,
        sensitive: &BTreeSet<FieldPath>,
    ) -> Vec<Finding> {
        self.run(Check { composition, sensitive, counts: None }, data)
    }

    fn run(&self, check: Check<'_>, data: &mut JsonData) -> Vec<Finding> {
        let Check { composition, sensitive, counts } = check;
        let Ok(compiled) = &self.compiled else { return Vec::new() };
        if let Some(key) = data.not_json.iter().find(|key| !compiled.types.allow_text(key)) {
            return vec![finding::not_json(key, &self.text)];
        }
        let subject = finding::Subject { schema: &self.text, written: &compiled.written, composition, sensitive };
        let mut findings = Vec::new();
        let mut report = |object: &Json| {
            let errors = compiled.validator.iter_errors(object);
            let errors = errors.filter(|error| counts.is_none_or(|counts| counts(error))).take(FINDINGS_MAX);
            findings = errors.flat_map(|error| finding::from_error(&error, subject)).collect();
        };
        let search = FormSearch { compiled, composition, object: &mut data.object, allowance: self.allowance, counts };
        match search.run(&mut report) {
            Verdict::Valid | Verdict::Wrong => findings,
            Verdict::TooMuch(_) if counts.is_some() => Vec::new(),
            Verdict::TooMuch(reason) => vec![finding::too_much(reason, &self.text)],
        }
    }
}

/// What a check is about.
#[derive(Clone, Copy)]
struct Check<'c> {
    composition: &'c Composition,
    /// The paths whose values findings do not show.
    sensitive: &'c BTreeSet<FieldPath>,
    /// Which errors count. None: all.
    counts: Option<forms::Counts<'c>>,
}

impl Schema {
    /// Checks the value of one key, which is the only one in `composition`. Findings are about this value: missing keys are left out. If the schema relates
    /// values with one another, only findings that do not depend on other values are returned.
    pub(crate) fn check_key(
        &self,
        key: &str,
        composition: &Composition,
        sensitive: &BTreeSet<FieldPath>,
    ) -> Vec<Finding> {
        self.findings_of(composition, sensitive, &|error| finding::is_about(error, key))
    }

    /// The findings of [`Self::check_key`] that stay, whatever other containers merge into the value.
    pub(crate) fn certain_findings(
        &self,
        key: &str,
        composition: &Composition,
        sensitive: &BTreeSet<FieldPath>,
    ) -> Vec<Finding> {
        self.findings_of(composition, sensitive, &|error| finding::is_about(error, key) && finding::stays(error))
    }

    /// The findings about several values together: by alternatives, conditions and counts.
    pub(crate) fn check_relations(&self, composition: &Composition, sensitive: &BTreeSet<FieldPath>) -> Vec<Finding> {
        self.findings_of(composition, sensitive, &finding::relates)
    }

    fn findings_of(
        &self,
        composition: &Composition,
        sensitive: &BTreeSet<FieldPath>,
        is_counted: &dyn Fn(&ValidationError<'_>) -> bool,
    ) -> Vec<Finding> {
        let mut data = JsonData::from_composition(composition);
        self.run(Check { composition, sensitive, counts: Some(is_counted) }, &mut data)
    }
}

/// The application that a schema is restricted to: it applies to the targets of this application. None: no restriction. The application with the workload's name may also check
/// targets that the platform team labelled with this workload. Other applications may not: they could name their workloads like a workload
/// of the platform team.
fn application(fleet: &Fleet, key: &ObjectKey, object: &Object<ConfigSchema>) -> Option<Application> {
    let registration = key.of.as_ref()?;
    let workload = object.labels.get(WORKLOAD_LABEL)?;
    if fleet.conflicting_claims.contains_key(&**workload) {
        return Some(Application::Contested);
    }
    (registration.as_str() != &**workload).then(|| Application::Of(registration.clone()))
}

fn warning(text: &SchemaText, lint: &lint::Lint) -> Diagnostic {
    Diagnostic::warning(lint.code, lint.message.clone())
        .at(Origin::part(&text.object, text.path.clone(), FieldPart::Inside(lint.path.clone())), "")
        .help(lint.help.clone())
        .about(&text.object)
}

fn compile(text: &str) -> Result<CompiledSchema, SchemaError> {
    let read = dialect::read(text)?;
    let json = &read.json;
    let unusable = |reason| SchemaError::new(reason, FieldPart::Value);
    let document = references::Document::new(json, read.draft).map_err(|error| unusable(references::reason(&error)))?;
    let references = document.references().map_err(|error| unusable(error.to_string()))?;
    let unfolded = bounds::unfolded(&references, json).map_err(unusable)?;
    let schemas = walk::positions(&references, json);
    let patterns::Patterns { json: translated, written } = patterns::translated(json, &schemas)?;
    let mut options = jsonschema::options().offline().with_pattern_options(pattern_options());
    if !read.is_written {
        options = options.with_draft(read.draft);
    }
    let failed = Unusable { schemas: &schemas, references: &references, written: &written };
    let validator = options.build(&translated).map_err(|error| failed.reason(&error))?;
    let (types, sensitive) = (coerce::types(&references, json), walk::sensitive(&references, json));
    let conditional = walk::conditional(&references, json);
    let (lints, cost) = (lint::lints(&read, &schemas), cost::Graph::new(&references, json));
    Ok(CompiledSchema { validator, written, types, conditional, sensitive, lints, unfolded, cost })
}

/// The engine of regular expressions, with the limits for patterns of other teams.
fn pattern_options() -> PatternOptions<jsonschema::Regex> {
    PatternOptions::regex().size_limit(PATTERN_BYTES_MAX).dfa_size_limit(PATTERN_BYTES_MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Map;

    use super::*;

    /// Generates a reference to one of seven definitions, in one of four forms.
    fn reference() -> impl Strategy<Value = Json> {
        (0..7_usize, 0..4_usize).prop_map(|(number, form)| {
            let reference = match form {
                0 => format!("#/$defs/d{number}"),
                1 => format!("#/%24defs/%64{number}"),
                2 => format!("#a{number}"),
                _ => format!("https://a.example/i{number}"),
            };
            serde_json::json!({ "$ref": reference })
        })
    }

    fn schema() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![3 => reference(), 1 => Just(serde_json::json!({"type": "object"}))];
        leaf.prop_recursive(4, 24, 4, |inner| {
            let several = |keyword: &'static str| {
                let inner = inner.clone();
                proptest::collection::vec(inner, 1..4).prop_map(move |parts| serde_json::json!({ keyword: parts }))
            };
            let one = |keyword: &'static str| inner.clone().prop_map(move |part| serde_json::json!({ keyword: part }));
            let property = inner.clone().prop_map(|part| serde_json::json!({ "properties": { "a": part } }));
            let inner = inner.clone();
            let unevaluated =
                inner.prop_map(|part| serde_json::json!({ "allOf": [part], "unevaluatedProperties": false }));
            prop_oneof![
                several("anyOf"),
                several("oneOf"),
                several("allOf"),
                one("not"),
                one("additionalProperties"),
                property.clone(),
                property,
                unevaluated
            ]
        })
    }

    #[test]
    fn patterns_count_by_their_size() {
        let schema = |count: usize| {
            let patterns: Map<_, _> =
                (0..count).map(|number| (format!("^p{number}[a-z]{{0,200}}$"), Json::Bool(true))).collect();
            compile(&serde_json::json!({ "patternProperties": patterns }).to_string())
        };
        assert!((900..1_100).contains(&schema(10).unwrap().unfolded));
        assert!(schema(3_000).unwrap_err().reason.contains("patterns count by their size"));
        let one = serde_json::json!({ "properties": { "a": { "pattern": "[a-z]{200}" } } });
        assert!(compile(&one.to_string()).unwrap().unfolded > 50);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// Either the schema is refused, or the check is refused, or the check ends within the number of steps that was computed before.
        #[test]
        fn checks_end_within_the_computed_steps(definitions in proptest::collection::vec(schema(), 7), depth in 0..60_usize) {
            let mut defs = Map::new();
            for (number, definition) in definitions.into_iter().enumerate() {
                let parts = serde_json::json!({ "$anchor": format!("a{number}"), "allOf": [definition, {"$id": format!("i{number}")}] });
                defs.insert(format!("d{number}"), parts);
            }
            let new = "https://json-schema.org/draft/2020-12/schema";
            let schema = serde_json::json!({ "$schema": new, "$id": "https://a.example/", "$ref": "#/$defs/d0", "$defs": defs });
            let value = (0..depth).fold(Json::Null, |inner, _| serde_json::json!({ "a": inner, "b": 1 }));
            if let Ok(compiled) = compile(&schema.to_string())
                && let Ok(steps) = compiled.cost.check(&value, cost::Allowance::new(false))
            {
                prop_assert!(compiled.validator.iter_errors(&value).count() as u64 <= steps);
            }
        }
    }
}
