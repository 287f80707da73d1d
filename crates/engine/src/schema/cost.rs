//! Computes the maximum cost of a check before the check runs. With some schemas, a check of a small value would practically never end.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value as Json;

use super::pattern::weight;
use super::references::References;

/// The maximum number of steps of a check. One step is one application of a schema to a value. Matching texts with patterns adds steps.
/// Schemas with thousands of properties take some ten thousand steps. The limit also bounds memory, because each step can be an error that is reported.
const STEPS_MAX: u64 = 200_000;

/// The maximum number of steps for a schema of an application. Such a schema may check thousands of sets of values.
const STEPS_OF_APPLICATION_MAX: u64 = 20_000;

/// The maximum depth of a check: through the value, and at each of its levels through schemas. The check is recursive.
const DEPTH_MAX: usize = 512;

/// Matching one byte of text with a pattern of this weight costs one step.
const PATTERN_WEIGHT_PER_STEP: u64 = 10_000;

/// The parts of a schema that determine the cost of a check.
#[derive(Debug)]
pub(super) struct Graph {
    /// The first one is the root schema.
    schemas: Vec<Schema>,
    /// The cost with references written out. None if the schema is recursive, or if items are compared (`uniqueItems`).
    unfolded: Option<Unfolded>,
}

/// The cost of a schema with each reference written out: steps for each nested value, and pattern weight for each byte of text.
#[derive(Clone, Copy, Debug, Default)]
struct Unfolded {
    steps: u64,
    weight: u64,
}

/// The maximum number of steps of a check.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance(u64);

impl Allowance {
    pub(super) fn new(is_of_application: bool) -> Self {
        Self(if is_of_application { STEPS_OF_APPLICATION_MAX } else { STEPS_MAX })
    }
}

/// The limit that a check would exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TooMuch {
    Steps,
    Depth,
}

/// The cost of one schema. Keywords of all drafts count.
#[derive(Debug, Default)]
struct Schema {
    /// The steps that do not depend on the value.
    own: u64,
    /// Schemas that apply to the same value. `times`: how often each is applied.
    in_place: Vec<usize>,
    times: u64,
    properties: BTreeMap<Box<str>, usize>,
    /// Schemas of properties by name patterns, with the weights of the patterns.
    by_pattern: Vec<(u64, usize)>,
    names: Vec<usize>,
    /// Schemas of items by position (`tuple`), and of every item or property (`each`).
    tuple: Vec<usize>,
    each: Vec<usize>,
    /// The weight of the pattern for texts.
    pattern: u64,
    /// Whether items are compared with each other (`uniqueItems`).
    is_compared: bool,
}

impl Graph {
    pub(super) fn new<'a>(references: &References<'a>, root: &'a Json) -> Self {
        let mut building = Building { references, numbers: HashMap::new(), open: Vec::new(), schemas: Vec::new() };
        building.number(root);
        while let Some((number, json)) = building.open.pop() {
            let schema = building.schema(json);
            if let Some(slot) = building.schemas.get_mut(number) {
                *slot = schema;
            }
        }
        let schemas = building.schemas;
        let unfolded = Unfolding { schemas: &schemas, cache: HashMap::new() }.unfolded(0);
        Self { schemas, unfolded }
    }

    /// The number of steps of a check, or an upper bound of it.
    ///
    /// # Errors
    /// If the check would exceed the allowance or the maximum depth.
    pub(super) fn check(&self, value: &Json, Allowance(max): Allowance) -> Result<u64, TooMuch> {
        // Fast path: for most schemas, this rough bound is below the limit.
        if let Some(Unfolded { steps, weight }) = self.unfolded {
            let (nodes, bytes) = size(value);
            let most =
                steps.saturating_mul(nodes).saturating_add(bytes.saturating_mul(weight) / PATTERN_WEIGHT_PER_STEP);
            if most.saturating_add(bytes) <= max {
                return Ok(most);
            }
        }
        let mut counting = Counting::new(&self.schemas, max);
        counting.cost(0, value, 0).map(|cost| cost.steps)
    }
}

struct Unfolding<'g> {
    schemas: &'g [Schema],
    /// None while the cost is computed, or if it is not known.
    cache: HashMap<usize, Option<Unfolded>>,
}

impl Unfolding<'_> {
    fn unfolded(&mut self, number: usize) -> Option<Unfolded> {
        if let Some(cached) = self.cache.get(&number) {
            return *cached;
        }
        self.cache.insert(number, None);
        let all = self.schemas;
        let schema = all.get(number)?;
        if schema.is_compared {
            return None;
        }
        let by_pattern = schema.by_pattern.iter().map(|(weight, _)| *weight);
        let weight = by_pattern.fold(schema.pattern, u64::saturating_add);
        let mut sum = Unfolded { steps: schema.own + schema.by_pattern.len() as u64 + 1, weight };
        let below = schema.properties.values().chain(&schema.names).chain(&schema.tuple).chain(&schema.each);
        let below = below.chain(schema.by_pattern.iter().map(|(_, number)| number)).map(|number| (number, 1));
        for (number, times) in schema.in_place.iter().map(|number| (number, schema.times)).chain(below) {
            let part = self.unfolded(*number)?;
            sum.steps = sum.steps.saturating_add(part.steps.saturating_mul(times));
            sum.weight = sum.weight.saturating_add(part.weight.saturating_mul(times));
        }
        self.cache.insert(number, Some(sum));
        Some(sum)
    }
}

/// The number of nested values, including the value itself, and the bytes of its texts.
fn size(value: &Json) -> (u64, u64) {
    let sum = |sizes: &mut dyn Iterator<Item = (u64, u64)>| {
        sizes.fold((1, 0), |(nodes, bytes), (more_nodes, more_bytes)| (nodes + more_nodes, bytes + more_bytes))
    };
    match value {
        Json::String(text) => (1, text.len() as u64),
        Json::Array(items) => sum(&mut items.iter().map(size)),
        // The schema of names applies to a name as a value.
        Json::Object(entries) => sum(&mut entries.iter().map(|(name, value)| {
            let (nodes, bytes) = size(value);
            (nodes + 1, bytes + name.len() as u64)
        })),
        _ => (1, 0),
    }
}

struct Building<'r, 'a> {
    references: &'r References<'a>,
    numbers: HashMap<*const Json, usize>,
    open: Vec<(usize, &'a Json)>,
    schemas: Vec<Schema>,
}

impl<'a> Building<'_, 'a> {
    fn number(&mut self, json: &'a Json) -> usize {
        let next = self.schemas.len();
        let number = *self.numbers.entry(std::ptr::from_ref(json)).or_insert(next);
        if number == next {
            self.schemas.push(Schema::default());
            self.open.push((number, json));
        }
        number
    }

    /// The ids of a schema, or of a list of schemas.
    fn numbers(&mut self, json: &'a Json) -> Vec<usize> {
        match json {
            Json::Array(items) => items.iter().map(|item| self.number(item)).collect(),
            other => vec![self.number(other)],
        }
    }

    fn schema(&mut self, json: &'a Json) -> Schema {
        let mut schema = Schema { own: 1, times: 1, ..Schema::default() };
        for (keyword, value) in json.as_object().into_iter().flatten() {
            schema.own += 1;
            match (keyword.as_str(), value) {
                ("allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else", _) => {
                    schema.in_place.extend(self.numbers(value));
                }
                ("dependentSchemas" | "dependencies", Json::Object(entries)) => {
                    let schemas = entries.values().filter(|value| !value.is_array());
                    schema.in_place.extend(schemas.map(|value| self.number(value)).collect::<Vec<_>>());
                    schema.own += nodes(value);
                }
                ("properties", Json::Object(entries)) => {
                    schema.own += entries.len() as u64;
                    let numbered = entries.iter().map(|(name, value)| (name.as_str().into(), self.number(value)));
                    schema.properties = numbered.collect();
                }
                ("patternProperties", Json::Object(entries)) => {
                    let numbered = entries.iter().map(|(pattern, value)| (weight(pattern), self.number(value)));
                    schema.by_pattern = numbered.collect();
                }
                ("items" | "prefixItems", Json::Array(_)) => schema.tuple.extend(self.numbers(value)),
                ("unevaluatedProperties" | "unevaluatedItems", _) => {
                    // To find evaluated properties, the validator applies the schemas of the same value again, at each level.
                    schema.times = 3;
                    schema.each.extend(self.numbers(value));
                }
                ("items" | "additionalItems" | "additionalProperties" | "contains", _) => {
                    schema.each.extend(self.numbers(value));
                }
                ("propertyNames", _) => schema.names.extend(self.numbers(value)),
                ("pattern", Json::String(pattern)) => schema.pattern = weight(pattern),
                ("uniqueItems", _) => schema.is_compared = true,
                ("definitions" | "$defs", _) => {}
                _ => schema.own += nodes(value),
            }
        }
        let targets: Vec<_> = self.references.targets(json).collect();
        schema.in_place.extend(targets.into_iter().map(|target| self.number(target)).collect::<Vec<_>>());
        schema
    }
}

impl Schema {
    /// The steps of a check of a scalar with a schema that applies no other schemas to it: these are quicker to compute than to remember.
    fn steps_of_scalar(&self, value: &Json) -> Option<u64> {
        match value {
            _ if !self.in_place.is_empty() => None,
            Json::Array(_) | Json::Object(_) => None,
            Json::String(text) => Some(self.own.saturating_add(matching(text, self.pattern))),
            _ => Some(self.own),
        }
    }
}

/// The steps for a comparison with this JSON value.
fn nodes(json: &Json) -> u64 {
    const BYTES_PER_NODE: u64 = 64;
    match json {
        Json::Array(items) => items.iter().map(nodes).sum::<u64>() + 1,
        Json::Object(entries) => entries.values().map(nodes).sum::<u64>() + 1 + entries.len() as u64,
        Json::String(text) => 1 + text.len() as u64 / BYTES_PER_NODE,
        _ => 1,
    }
}

/// The steps for matching a text with a pattern of a weight.
fn matching(text: &str, weight: u64) -> u64 {
    const BYTES_PER_STEP: u64 = 64;
    let bytes = text.len() as u64;
    bytes / BYTES_PER_STEP + bytes.saturating_mul(weight) / PATTERN_WEIGHT_PER_STEP
}

/// The steps and the depth of checking a value with a schema.
#[derive(Clone, Copy)]
struct Cost {
    steps: u64,
    depth: usize,
}

struct Counting<'g> {
    schemas: &'g [Schema],
    /// The costs by schema and value. If several paths lead to the same pair, the cost is computed once and added for each path.
    cache: HashMap<(usize, *const Json), Cost>,
    sizes: HashMap<*const Json, u64>,
    max: u64,
}

impl<'g> Counting<'g> {
    fn new(schemas: &'g [Schema], max: u64) -> Self {
        Self { schemas, cache: HashMap::new(), sizes: HashMap::new(), max }
    }

    fn cost(&mut self, number: usize, value: &Json, above: usize) -> Result<Cost, TooMuch> {
        if above > DEPTH_MAX {
            return Err(TooMuch::Depth);
        }
        let all = self.schemas;
        let Some(schema) = all.get(number) else { return Ok(Cost { steps: 1, depth: 1 }) };
        if let Some(steps) = schema.steps_of_scalar(value) {
            return if steps > self.max { Err(TooMuch::Steps) } else { Ok(Cost { steps, depth: 1 }) };
        }
        let key = (number, std::ptr::from_ref(value));
        if let Some(&cached) = self.cache.get(&key) {
            return if above + cached.depth > DEPTH_MAX { Err(TooMuch::Depth) } else { Ok(cached) };
        }
        let mut total = Total { steps: schema.own, depth: 0, above, max: self.max };
        for part in &schema.in_place {
            total.add(self.cost(*part, value, above + 1)?, schema.times)?;
        }
        match value {
            Json::String(text) => total.steps(matching(text, schema.pattern))?,
            Json::Array(items) => {
                let tuple = schema.tuple.iter().zip(items);
                let each = items.iter().flat_map(|item| schema.each.iter().map(move |number| (number, item)));
                for (number, item) in tuple.chain(each) {
                    total.add(self.cost(*number, item, above + 1)?, 1)?;
                }
                if schema.is_compared {
                    const COMPARISONS: u64 = 16;
                    total.steps(self.size(value) * COMPARISONS)?;
                }
            }
            Json::Object(entries) => self.entries(schema, entries, &mut total)?,
            _ => {}
        }
        let cost = Cost { steps: total.steps, depth: total.depth + 1 };
        self.cache.insert(key, cost);
        if self.cache.len() as u64 > self.max { Err(TooMuch::Steps) } else { Ok(cost) }
    }

    fn entries(
        &mut self,
        schema: &Schema,
        entries: &serde_json::Map<String, Json>,
        total: &mut Total,
    ) -> Result<(), TooMuch> {
        let above = total.above;
        for (name, value) in entries {
            total.steps(1)?;
            for number in schema.properties.get(name.as_str()).into_iter().chain(&schema.each) {
                total.add(self.cost(*number, value, above + 1)?, 1)?;
            }
            for (weight, number) in &schema.by_pattern {
                total.steps(1 + matching(name, *weight))?;
                total.add(self.cost(*number, value, above + 1)?, 1)?;
            }
            // The name is a temporary value. Its address is no key of `cache`, so that its cost is not stored.
            for number in &schema.names {
                let name = Json::String(name.clone());
                let cost = Counting::new(self.schemas, self.max).cost(*number, &name, above + 1)?;
                total.add(cost, 1)?;
            }
        }
        Ok(())
    }

    fn size(&mut self, value: &Json) -> u64 {
        let key = std::ptr::from_ref(value);
        if let Some(cached) = self.sizes.get(&key) {
            return *cached;
        }
        let size = nodes(value);
        self.sizes.insert(key, size);
        size
    }
}

struct Total {
    steps: u64,
    depth: usize,
    /// The depth of the check above the schema.
    above: usize,
    max: u64,
}

impl Total {
    fn add(&mut self, part: Cost, times: u64) -> Result<(), TooMuch> {
        self.depth = self.depth.max(part.depth);
        self.steps(part.steps.saturating_mul(times))
    }

    fn steps(&mut self, count: u64) -> Result<(), TooMuch> {
        self.steps = self.steps.saturating_add(count);
        if self.steps > self.max { Err(TooMuch::Steps) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::dialect;
    use super::super::references::Document;
    use super::*;

    fn cost(schema: &str, value: &Json) -> Result<(), TooMuch> {
        let json: Json = serde_json::from_str(schema).unwrap();
        let document = Document::new(&json, dialect::draft(&json)).unwrap();
        let references = document.references().unwrap();
        Graph::new(&references, &json).check(value, Allowance::new(false)).map(drop)
    }

    #[test]
    fn a_schema_of_an_application_may_take_less() {
        let json = serde_json::json!({ "additionalProperties": { "allOf": vec![true; 1_000] } });
        let document = Document::new(&json, dialect::draft(&json)).unwrap();
        let graph = Graph::new(&document.references().unwrap(), &json);
        let value: Json =
            (0..30).map(|number| (number.to_string(), Json::Null)).collect::<serde_json::Map<_, _>>().into();
        let check = |is_of_application| graph.check(&value, Allowance::new(is_of_application)).map(drop);
        assert_eq!([check(false), check(true)], [Ok(()), Err(TooMuch::Steps)]);
    }

    /// `{"a": {"a": … }}`
    fn nested(depth: usize) -> Json {
        (0..depth).fold(Json::Null, |inner, _| serde_json::json!({ "a": inner }))
    }

    /// Each level of the value is checked several times with the same schema.
    fn recursive(keyword: &str, times: usize) -> String {
        let again = vec![r##"{"properties": {"a": {"$ref": "#"}}}"##; times].join(",");
        format!(r#"{{"{keyword}": [{again}]}}"#)
    }

    #[test]
    fn cost_multiplies_with_the_depth_of_the_value() {
        for keyword in ["anyOf", "oneOf", "allOf"] {
            assert_eq!(cost(&recursive(keyword, 1), &nested(90)), Ok(()));
            assert_eq!(cost(&recursive(keyword, 3), &nested(5)), Ok(()));
            assert_eq!(cost(&recursive(keyword, 3), &nested(30)), Err(TooMuch::Steps));
        }
    }

    #[test]
    fn depth_is_that_of_schemas_and_values_together() {
        let deep =
            format!("{}{}{}", r#"{"not":"#.repeat(10), r##"{"properties": {"a": {"$ref": "#"}}}"##, "}".repeat(10));
        assert_eq!(cost(&deep, &nested(20)), Ok(()));
        assert_eq!(cost(&deep, &nested(60)), Err(TooMuch::Depth));
    }

    #[test]
    fn unevaluated_properties_cost_again_at_each_level() {
        let again = |depth: usize| {
            (0..depth)
                .fold("{}".to_owned(), |inner, _| format!(r#"{{"allOf": [{inner}], "unevaluatedProperties": true}}"#))
        };
        assert_eq!(cost(&again(5), &nested(2)), Ok(()));
        assert_eq!(cost(&again(20), &nested(2)), Err(TooMuch::Steps));
    }

    #[test]
    fn patterns_count_by_their_size_and_that_of_texts() {
        let text = |bytes| Json::String("x".repeat(bytes));
        let pattern = r#"{"pattern": "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"}"#;
        assert_eq!(cost(pattern, &text(63)), Ok(()));
        assert_eq!(cost(pattern, &text(100_000)), Ok(()));
        assert_eq!(cost(r#"{"pattern": "(([ab]{9}){9}){9}x"}"#, &text(1_000_000)), Err(TooMuch::Steps));
        assert_eq!(
            cost(
                r#"{"patternProperties": {"(([ab]{9}){9}){9}x": {}}}"#,
                &serde_json::json!({ "x".repeat(1_000_000): 1 })
            ),
            Err(TooMuch::Steps)
        );
    }

    #[test]
    fn large_schemas_for_many_values_are_fine() {
        let properties: Vec<_> =
            (0..5_000).map(|number| format!(r#""p{number}": {{"type": "integer", "minimum": 1}}"#)).collect();
        let schema = format!(r#"{{"properties": {{{}}}}}"#, properties.join(","));
        let values: serde_json::Map<_, _> =
            (0..5_000).map(|number| (format!("p{number}"), Json::from(number))).collect();
        assert_eq!(cost(&schema, &Json::Object(values)), Ok(()));
        let choices: Vec<_> = (0..1_000).map(|number| number.to_string()).collect();
        let of_all = format!(r#"{{"additionalProperties": {{"enum": [{}]}}}}"#, choices.join(","));
        let values: serde_json::Map<_, _> =
            (0..1_000).map(|number| (format!("p{number}"), Json::from(number))).collect();
        assert_eq!(cost(&of_all, &Json::Object(values)), Err(TooMuch::Steps));
    }
}
