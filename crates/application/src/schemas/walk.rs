//! Compares an object with the schema of its kind.

use model::credential::likely;
use model::field_path::{FieldPath, FieldStep};
use model::similar;
use model::yaml::{Node, NodeValue, Resolved, Scalar, Span};

use super::field_schema::{ExclusiveBound, FieldSchema, FieldTypes};
use super::kubernetes;
use super::read::{KindSchema, is_null};
use super::text;
use crate::limits::{FIELD_PROBLEMS_MAX, PATTERN_BYTE_STEPS, PATTERN_STEPS, SCHEMA_DEPTH_MAX};

/// A field that does not fit its schema.
#[derive(Debug)]
pub(super) struct Mismatch {
    /// The field.
    pub(super) path: FieldPath,
    /// Its place: the value, or the key if the value is a list or map.
    pub(super) span: Span,
    /// The problem.
    pub(super) problem: FieldProblem,
}

/// What is wrong with a field.
#[derive(Debug)]
pub(super) enum FieldProblem {
    /// It is required, and not there.
    Missing,
    /// The schema does not name it.
    Unknown {
        /// The most similar field that the schema names.
        nearest: Option<String>,
    },
    /// It has a wrong value.
    Wrong {
        /// What it is and must be, such as `is a text, and must be an integer`.
        predicate: String,
        /// How to correct it.
        help: Option<String>,
    },
}

/// Compares an object with a schema. Each step reduces `work`; at 0, the comparison ends.
pub(super) struct Walk<'a> {
    schema: &'a KindSchema,
    /// Whether no value is in a message.
    hides_values: bool,
    work: &'a mut usize,
    path: FieldPath,
    depth: usize,
    /// Whether only the first problem counts.
    is_probe: bool,
    found: Vec<Mismatch>,
}

/// How many parts a value may have.
struct CountBounds {
    least: Option<usize>,
    most: Option<usize>,
    noun: &'static str,
}

impl<'a> Walk<'a> {
    pub(super) fn new(schema: &'a KindSchema, hides_values: bool, work: &'a mut usize) -> Self {
        let (path, found) = Default::default();
        Self { schema, hides_values, work, path, depth: 0, is_probe: false, found }
    }

    /// The fields of an object that do not fit, in the order of the schema and the text.
    pub(super) fn object(mut self, node: &Node) -> Vec<Mismatch> {
        let schema = self.schema;
        self.value((node, node.span), &schema.root);
        self.found
    }

    fn is_done(&self) -> bool {
        *self.work == 0 || self.found.len() >= if self.is_probe { 1 } else { FIELD_PROBLEMS_MAX }
    }

    /// A value. `place` is that of its key, or of the item.
    fn value(&mut self, (node, place): (&Node, Span), schema: &FieldSchema) {
        // Kubernetes drops fields that are null.
        if self.is_done() || self.depth >= SCHEMA_DEPTH_MAX || is_null(node) {
            return;
        }
        *self.work -= 1;
        self.depth += 1;
        let place = if node.as_scalar().is_some() { node.span } else { place };
        if schema.is_never() {
            self.add(place, "has a value that its schema excludes");
        } else if self.has_type((node, place), schema) {
            match &node.value {
                NodeValue::Mapping(entries) => self.map((entries, place), schema),
                NodeValue::Sequence(items) => self.list((items, place), schema),
                NodeValue::Scalar(scalar) => self.scalar((scalar, place), schema),
            }
            self.others((node, place), schema);
        }
        self.depth -= 1;
    }

    /// The schemas beside the keywords of a schema.
    fn others(&mut self, at: (&Node, Span), schema: &FieldSchema) {
        if let Some(reference) = &schema.reference
            && let Some(referred) = self.resolve(reference)
        {
            self.value(at, referred);
        }
        schema.all_of.iter().for_each(|one| self.value(at, one));
        if !schema.any_of.is_empty() || !schema.one_of.is_empty() {
            self.forms(at, schema);
        }
        if schema.not.as_ref().is_some_and(|not| self.probe(at, not).is_none()) {
            self.add(at.1, "has a value that its schema excludes");
        }
    }

    fn forms(&mut self, at: (&Node, Span), schema: &FieldSchema) {
        let mut fits = |forms: &[FieldSchema]| forms.iter().filter(|form| self.probe(at, form).is_none()).count();
        let (any, one) = (fits(&schema.any_of), fits(&schema.one_of));
        if (any == 0 && !schema.any_of.is_empty()) || (one == 0 && !schema.one_of.is_empty()) {
            let first = schema.any_of.iter().chain(&schema.one_of).find_map(|form| self.probe(at, form));
            match first.filter(|_| schema.any_of.len() + schema.one_of.len() == 1) {
                Some(only) => self.push(only),
                None => self.add(at.1, "fits none of the forms that its schema allows"),
            }
        } else if one > 1 {
            self.add(at.1, "fits several forms of which its schema allows exactly one");
        }
    }

    /// The first problem of a value with another schema. None: it fits.
    fn probe(&mut self, at: (&Node, Span), schema: &FieldSchema) -> Option<Mismatch> {
        let before = (std::mem::take(&mut self.found), std::mem::replace(&mut self.is_probe, true));
        self.value(at, schema);
        let found = std::mem::take(&mut self.found).into_iter().next();
        (self.found, self.is_probe) = before;
        found
    }

    /// The schema that a reference leads to. Nothing is ever fetched: other documents are the definitions of Kubernetes, or they check nothing.
    fn resolve(&self, reference: &str) -> Option<&'a FieldSchema> {
        let name = reference.rsplit('/').next()?;
        match reference {
            "#" => Some(&self.schema.root),
            own if own.starts_with("#/") => self.schema.definitions.get(name),
            _ => None,
        }
        .or_else(|| kubernetes::schemas().definition(name))
    }

    fn has_type(&mut self, (node, place): (&Node, Span), schema: &FieldSchema) -> bool {
        let types = if schema.is_int_or_string { FieldTypes::TEXT.or(FieldTypes::INTEGER) } else { schema.types };
        let own = text::types(node);
        if types.is_empty() || types.contains(own) {
            return true;
        }
        let predicate = format!("is {}, and must be {types}", text::noun(node));
        let help = text::type_help(node, types).map(str::to_owned);
        self.wrong(place, predicate, help);
        false
    }

    fn map(&mut self, (entries, place): (&[(Node, Node)], Span), schema: &FieldSchema) {
        let is_set = |name: &str| {
            let mut entries = entries.iter().filter(|(key, _)| key.as_scalar().is_some_and(|key| &*key.text == name));
            entries.any(|(_, value)| !is_null(value))
        };
        for name in schema.required.iter().filter(|name| !is_set(name)) {
            self.push(Mismatch { path: self.path.key(&**name), span: place, problem: FieldProblem::Missing });
        }
        for (key, value) in entries {
            let Some(name) = key.as_scalar().filter(|_| !is_null(value)) else { continue };
            self.path.push(FieldStep::Key(name.text.clone()));
            match (schema.properties.get(&*name.text), &schema.additional_properties) {
                (Some(property), _) => self.value((value, key.span), property),
                (None, Some(rest)) if rest.is_never() && schema.pattern_properties.is_none() => {
                    let known = schema.properties.keys().map(|name| &**name);
                    let nearest = similar::nearest(&name.text, known).map(str::to_owned);
                    self.push(Mismatch {
                        path: self.path.clone(),
                        span: key.span,
                        problem: FieldProblem::Unknown { nearest },
                    });
                }
                (None, Some(rest)) if schema.pattern_properties.is_none() => self.value((value, key.span), rest),
                (None, _) => {}
            }
            self.path.pop();
        }
        self.count(
            (entries.len(), place),
            &CountBounds { least: schema.min_properties, most: schema.max_properties, noun: "fields" },
        );
    }

    fn list(&mut self, (items, place): (&[Node], Span), schema: &FieldSchema) {
        for (index, item) in items.iter().enumerate() {
            let Some(schema) = &schema.items else { break };
            self.path.push(FieldStep::Index(index));
            self.value((item, item.span), schema);
            self.path.pop();
        }
        self.count(
            (items.len(), place),
            &CountBounds { least: schema.min_items, most: schema.max_items, noun: "items" },
        );
    }

    fn scalar(&mut self, (scalar, place): (&Scalar, Span), schema: &FieldSchema) {
        let value = scalar.resolve();
        let listed = schema.listed.iter().chain(&schema.constant);
        let is_unset = self.schema.ignores_empty && scalar.text.is_empty();
        if listed.clone().next().is_some() && !is_unset && !listed.clone().any(|one| text::is_equal(&value, one)) {
            let key = self.path.steps().iter().rev().find_map(|step| match step {
                FieldStep::Key(key) => Some(&**key),
                FieldStep::Index(_) => None,
            });
            let is_hidden = self.hides_values || likely(key.unwrap_or_default(), &scalar.text).is_some();
            let shown = (!is_hidden).then_some(&*scalar.text);
            let (predicate, help) = text::not_listed(shown, &listed.collect::<Vec<_>>());
            self.wrong(place, predicate, help);
        }
        match &value {
            Resolved::Text(text) => self.text((text, place), schema),
            Resolved::Int(int) => self.number((*int as f64, place), schema),
            Resolved::Uint(int) => self.number((*int as f64, place), schema),
            Resolved::Float(float) => self.number((*float, place), schema),
            Resolved::Null | Resolved::Bool(_) => {}
        }
    }

    fn text(&mut self, (value, place): (&str, Span), schema: &FieldSchema) {
        let length = || value.chars().count();
        if schema.min_length.is_some() || schema.max_length.is_some() {
            self.count(
                (length(), place),
                &CountBounds { least: schema.min_length, most: schema.max_length, noun: "characters" },
            );
        }
        if let Some(pattern) = &schema.pattern {
            *self.work = self.work.saturating_sub(PATTERN_STEPS + value.len().saturating_mul(PATTERN_BYTE_STEPS));
            if *self.work > 0 && !pattern.is_match(value) {
                self.add(place, &format!("does not match the pattern `{}`", text::shortened(&pattern.text)));
            }
        }
        if schema.format.as_deref() == Some("byte") && !text::is_base64(value) {
            let help = "encode it: in a template, `{{ … | b64enc }}`; `stringData` of a Secret takes texts as they are";
            self.wrong(place, "is not in base64".to_owned(), Some(help.to_owned()));
        }
    }

    fn number(&mut self, (value, place): (f64, Span), schema: &FieldSchema) {
        if schema.format.as_deref() == Some("int32") && !(f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&value) {
            self.add(place, &format!("must be between {} and {}", i32::MIN, i32::MAX));
        }
        let exclusive = |bound: &Option<ExclusiveBound>| match bound {
            Some(ExclusiveBound::Is(is)) => (*is, None),
            Some(ExclusiveBound::Number(number)) => (false, Some(*number)),
            None => (false, None),
        };
        let (is_above, above) = exclusive(&schema.exclusive_minimum);
        let (is_below, below) = exclusive(&schema.exclusive_maximum);
        let (minimum, maximum) = (schema.minimum, schema.maximum);
        let above = above.or(minimum.filter(|_| is_above));
        let below = below.or(maximum.filter(|_| is_below));
        if let Some(bound) = above.filter(|bound| value <= *bound) {
            self.add(place, &format!("must be more than {bound}"));
        } else if let Some(bound) = minimum.filter(|bound| value < *bound) {
            self.add(place, &format!("must be at least {bound}"));
        } else if let Some(bound) = below.filter(|bound| value >= *bound) {
            self.add(place, &format!("must be less than {bound}"));
        } else if let Some(bound) = maximum.filter(|bound| value > *bound) {
            self.add(place, &format!("must be at most {bound}"));
        }
    }

    fn count(&mut self, (count, place): (usize, Span), bounds: &CountBounds) {
        let CountBounds { least, most, noun } = bounds;
        if let Some(least) = least.filter(|least| count < *least) {
            self.add(place, &format!("has {count} {noun}, and must have at least {least}"));
        } else if let Some(most) = most.filter(|most| count > *most) {
            self.add(place, &format!("has {count} {noun}, and must have at most {most}"));
        }
    }

    fn add(&mut self, span: Span, predicate: &str) {
        self.wrong(span, predicate.to_owned(), None);
    }

    fn wrong(&mut self, span: Span, predicate: String, help: Option<String>) {
        let problem = FieldProblem::Wrong { predicate, help };
        self.push(Mismatch { path: self.path.clone(), span, problem });
    }

    fn push(&mut self, mismatch: Mismatch) {
        if !self.is_done() {
            self.found.push(mismatch);
        }
    }
}
