//! Finds the forms of top-level texts with which a schema accepts a configuration.
//!
//! A text such as `1.20` or `true` has two forms: the text itself, and the number or boolean that it looks like. The rule: the form is the one that the schema
//! gives to the key (of several: the text), if this makes the configuration valid. Otherwise it is the form without any schema: the number, or the text `true`.
//! Otherwise, each value that is wrong is taken in another form that the schema gives to it. So a conversion never makes a value fail that is valid without it.

use std::collections::BTreeSet;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use model::field_path::FieldStep;
use serde_json::Value as Json;

use super::coerce::{Forms, set};
use super::cost::{Allowance, TooMuch};
use super::{CompiledSchema, finding};
use crate::compose::Composition;

/// The maximum number of values whose forms are combined. The number of checks grows exponentially with it.
const COMBINED_MAX: usize = 4;

/// The result of a check.
pub(super) enum Verdict {
    Valid,
    /// Some values are wrong in each form. The configuration has the forms to report.
    Wrong,
    TooMuch(TooMuch),
}

/// Which errors count in a check.
pub(super) type Counts<'c> = &'c dyn Fn(&ValidationError<'_>) -> bool;

/// The check of one configuration.
pub(super) struct FormSearch<'a> {
    pub(super) compiled: &'a CompiledSchema,
    pub(super) composition: &'a Composition,
    /// The configuration. It begins with the forms that values have without a schema.
    pub(super) object: &'a mut Json,
    pub(super) allowance: Allowance,
    /// None: all errors count.
    pub(super) counts: Option<Counts<'a>>,
}

impl FormSearch<'_> {
    /// Checks the configuration, and calls `report` with the forms to report, if it is wrong. Afterwards the configuration is as before.
    pub(super) fn run(mut self, report: &mut dyn FnMut(&Json)) -> Verdict {
        let before = self.compiled.types.apply(self.composition, self.object);
        let result = self.search(&before, report);
        set(&before, self.object);
        match result {
            Ok(true) => Verdict::Valid,
            Ok(false) => Verdict::Wrong,
            Err(reason) => Verdict::TooMuch(reason),
        }
    }

    /// Whether some forms make the configuration valid. The configuration has the forms of the schema's types before and after.
    fn search(&mut self, without_schema: &Forms, report: &mut dyn FnMut(&Json)) -> Result<bool, TooMuch> {
        if self.is_valid()? {
            return Ok(true);
        }
        let others = self.other_forms();
        if others.is_empty() && without_schema.is_empty() {
            report(self.object);
            return Ok(false);
        }
        if self.is_valid_with(without_schema)? || self.is_valid_with(&others)? {
            return Ok(true);
        }
        // Values that are right in the other form keep it. Values that are wrong in both are reported in the form that the schema gives to them.
        let kept = set(&others, self.object);
        let still_wrong = self.wrong_keys();
        set(&kept, self.object);
        let right: Forms = others
            .iter()
            .filter(|(key, _)| !still_wrong.contains(*key))
            .map(|(key, form)| (key.clone(), form.clone()))
            .collect();
        let kept = set(&right, self.object);
        let found = self.is_valid().and_then(|is_valid| Ok(is_valid || self.is_valid_combined(&still_wrong)?));
        if matches!(found, Ok(false)) {
            report(self.object);
        }
        set(&kept, self.object);
        found
    }

    fn is_valid(&self) -> Result<bool, TooMuch> {
        self.compiled.cost.check(self.object, self.allowance)?;
        let validator = &self.compiled.validator;
        Ok(validator.is_valid(self.object)
            || self.counts.is_some_and(|counts| !validator.iter_errors(self.object).any(|error| counts(&error))))
    }

    fn is_valid_with(&mut self, forms: &Forms) -> Result<bool, TooMuch> {
        if forms.is_empty() {
            return Ok(false);
        }
        let before = set(forms, self.object);
        let found = self.is_valid();
        set(&before, self.object);
        found
    }

    /// Whether some combination of the other forms of a few values is valid.
    fn is_valid_combined(&mut self, keys: &BTreeSet<String>) -> Result<bool, TooMuch> {
        let others: Vec<_> =
            keys.iter().filter_map(|key| Some((key, self.other_form(key)?))).take(COMBINED_MAX).collect();
        for combination in 1..(1_u32 << others.len()) {
            let is_in = |position: usize| combination & (1 << position) != 0;
            let chosen = others.iter().enumerate().filter(|(position, _)| is_in(*position));
            let forms: Forms = chosen.map(|(_, (key, form))| ((*key).clone(), form.clone())).collect();
            if self.is_valid_with(&forms)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The other forms of all values that are wrong.
    fn other_forms(&self) -> Forms {
        let keys = self.wrong_keys().into_iter();
        keys.filter_map(|key| self.other_form(&key).map(|form| (key, form))).collect()
    }

    fn other_form(&self, key: &str) -> Option<Json> {
        self.compiled.types.other_form(self.composition, key, self.object.get(key)?)
    }

    /// The keys of values that errors are about. An error about the configuration as a whole can be about each of its values.
    fn wrong_keys(&self) -> BTreeSet<String> {
        let mut keys = BTreeSet::new();
        for error in self.compiled.validator.iter_errors(self.object) {
            if self.counts.is_none_or(|counts| counts(&error)) {
                self.add_keys(&error, &mut keys);
            }
        }
        keys
    }

    fn add_keys(&self, error: &ValidationError<'_>, keys: &mut BTreeSet<String>) {
        if let Some(FieldStep::Key(key)) = finding::field_path(error.instance_path()).steps().first() {
            keys.insert(key.to_string());
            return;
        }
        match error.kind() {
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                context.iter().flatten().for_each(|error| self.add_keys(error, keys));
            }
            _ => keys.extend(
                self.compiled.conditional.iter().filter(|key| self.object.get(key.as_str()).is_some()).cloned(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use gotemplate::value::{Entries, Key, MapKind, Value};
    use model::field_path::FieldPath;
    use model::kind::Kind as ObjectKind;
    use model::object_key::ObjectKey;
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::coerce::JsonData;
    use super::super::{Schema, compile};
    use super::*;
    use crate::compose::value::parse;
    use crate::schedule::target::SchemaText;
    use crate::settings::MissingValues;

    /// The messages of a check of these texts.
    fn findings(schema: &Json, values: &[(&str, &str)]) -> Vec<String> {
        let (composition, schema) = (composition(values), schema_of(schema));
        let mut data = JsonData::from_composition(&composition);
        let before = data.object.clone();
        let found = schema.check(&composition, &mut data, &BTreeSet::new());
        assert_eq!(data.object, before, "the values are as before");
        found.into_iter().map(|finding| finding.message).collect()
    }

    fn schema_of(schema: &Json) -> Schema {
        let text: std::sync::Arc<str> = schema.to_string().into();
        let object = ObjectKey { kind: ObjectKind::ConfigSchema, name: "a".into(), of: None };
        let compiled = compile(&text).unwrap_or_else(|error| panic!("{schema}: {}", error.reason));
        let text = SchemaText { text, object, path: FieldPath::default() };
        Schema::new(text, Ok(std::sync::Arc::new(compiled)), (MissingValues::Enforce, None))
    }

    fn composition(values: &[(&str, &str)]) -> Composition {
        let (mut entries, mut quoted) = (Entries::new(), BTreeSet::new());
        for (key, text) in values {
            let parsed = parse(text);
            quoted.extend(parsed.is_quoted.then(|| (*key).into()));
            entries.insert(Key::Text((*key).into()), parsed.value);
        }
        Composition::new(Value::map(MapKind::TextToAny, entries), quoted)
    }

    #[test]
    fn each_place_of_a_type_counts() {
        let of_a = |schema: Json, text: &str| findings(&schema, &[("A", text)]);
        let good: [Json; 11] = [
            json!({"additionalProperties": {"type": "string"}}),
            json!({"patternProperties": {"(?i)^a": {"type": "string"}}}),
            json!({"properties": {"A": {"enum": ["1.20"]}}}),
            json!({"properties": {"A": {"const": "1.20"}}}),
            json!({"properties": {"A": {"anyOf": [{"type": "boolean"}, {"type": "string", "maxLength": 4}]}}}),
            json!({"properties": {"A": {"oneOf": [{"const": "1.20"}, {"const": "1.21"}]}}}),
            json!({"anyOf": [{"required": ["B"]}, {"properties": {"A": {"type": "string"}}}]}),
            json!({"if": {"required": ["A"]}, "then": {"properties": {"A": {"type": "string"}}}}),
            json!({"if": {"properties": {"A": {"const": "1.20"}}}, "else": {"required": ["B"]}}),
            json!({"dependencies": {"A": {"properties": {"A": {"type": "string"}}}}}),
            json!({"allOf": [{"$ref": "#/definitions/a"}], "definitions": {"a": {"additionalProperties": {"enum": ["1.20"]}}}}),
        ];
        for schema in good {
            assert_eq!(of_a(schema.clone(), "1.20"), [""; 0], "{schema}");
        }
        for schema in
            [json!({"properties": {"A": {"const": true}}}), json!({"additionalProperties": {"enum": [true, 1]}})]
        {
            assert_eq!(of_a(schema.clone(), "true"), [""; 0], "{schema}");
            assert_eq!(of_a(schema, "'true'").len(), 1);
        }
    }

    #[test]
    fn a_type_of_other_keys_does_not_matter() {
        let schema = json!({"properties": {"A": {"minimum": 3}}, "additionalProperties": {"type": "string"}, "patternProperties": {"^B": {"type": "string"}}});
        assert_eq!(findings(&schema, &[("A", "1"), ("B", "2"), ("C", "3")]), ["`A` must be at least 3, here it is 1"]);
    }

    #[test]
    fn a_wrong_value_does_not_change_the_form_of_the_others() {
        let schema = json!({"properties": {
            "A": {"anyOf": [{"type": "integer"}, {"enum": ["auto"]}]},
            "B": {"enum": ["1.0"]},
            "C": {"type": "boolean"},
        }});
        let wrong = findings(&schema, &[("A", "80"), ("B", "2.0"), ("C", "true")]);
        assert_eq!(wrong, ["`B` must be one of \"1.0\", here it is \"2.0\""]);
    }

    #[test]
    fn a_written_text_is_shown_where_its_form_differs() {
        let schema = json!({"properties": {"A": {"maximum": 1}}});
        let expected = "`A` must be at most 1, here it is 1.2 (it is written \"1.20\"; in single quotes, as '1.20', it stays a text)";
        assert_eq!(findings(&schema, &[("A", "1.20")]), [expected]);
        assert_eq!(findings(&schema, &[("A", "7")]), ["`A` must be at most 1, here it is 7"]);
    }

    fn rule() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(json!({"type": "string"})),
            Just(json!({"type": "boolean"})),
            Just(json!({"type": "integer", "minimum": 5})),
            Just(json!({"type": ["string", "number"], "pattern": "^[0-9]{2}$", "maximum": 50})),
            Just(json!({"enum": ["1.20", true, 7]})),
            Just(json!({"const": "true"})),
            Just(json!({})),
        ];
        leaf.prop_recursive(2, 6, 2, |inner| {
            let pair = proptest::collection::vec(inner, 1..3);
            (pair, prop_oneof![Just("anyOf"), Just("oneOf"), Just("allOf")])
                .prop_map(|(parts, keyword)| json!({ keyword: parts }))
        })
    }

    fn root() -> impl Strategy<Value = Json> {
        let properties = || (rule(), rule()).prop_map(|(a, b)| json!({"A": a, "B": b}));
        (properties(), properties(), rule(), 0..4_usize).prop_map(|(one, other, additional, form)| match form {
            0 => json!({"properties": one, "additionalProperties": additional}),
            1 => json!({"anyOf": [{"properties": one}, {"properties": other}]}),
            2 => json!({"if": {"properties": one}, "then": {"properties": other}, "else": {"additionalProperties": additional}}),
            _ => json!({"patternProperties": {"^A": additional}, "properties": other}),
        })
    }

    proptest! {
        /// What is valid without conversions, or with those of the schema's types, is valid.
        #[test]
        fn a_conversion_makes_no_valid_value_fail(schema in root(), texts in proptest::collection::vec(0..6_usize, 3)) {
            const TEXTS: [&str; 6] = ["1.20", "7", "80", "true", "auto", "'7'"];
            let values: Vec<_> = ["A", "B", "C"].into_iter().zip(texts.iter().map(|text| TEXTS[*text])).collect();
            let data = JsonData::from_composition(&composition(&values)).object;
            let is_valid = jsonschema::draft7::new(&schema).unwrap().is_valid(&data);
            let found = findings(&schema, &values);
            prop_assert!(!is_valid || found.is_empty(), "{schema} {values:?}: {found:?}");
        }
    }
}
