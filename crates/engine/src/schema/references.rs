//! Resolves the references of a schema. Checks, and all other readers of schemas, use the same targets.

use std::collections::{HashMap, HashSet};

use jsonschema::{Draft, Uri};
use referencing::{Registry, Resolver, ResourceRef, uri};
use serde_json::Value as Json;

/// The URI of a schema without an id.
const BASE: &str = "json-schema:///";

/// The maximum number of visited schemas. A schema counts once for each base URI of its references.
const PLACES_MAX: usize = 500_000;

/// A schema with its ids and anchors.
pub(super) struct Document<'a> {
    root: &'a Json,
    draft: Draft,
    base: Uri<String>,
    registry: Registry<'a>,
}

/// The targets of references: by pointers (percent-encoded or not), by anchors, and by ids.
pub(super) struct References<'a> {
    /// By the address of the referring schema. A schema that is reached with several base URIs can have several targets.
    targets: HashMap<*const Json, Vec<&'a Json>>,
    /// The reasons why references have no target, by the address of the referring schema.
    broken: HashMap<*const Json, referencing::Error>,
}

/// The reason why references can't be resolved.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReferenceError {
    #[error(
        "`{0}` is not supported, because what it refers to depends on the way by which a check came there: write `$ref`"
    )]
    Dynamic(&'static str),
    #[error("its `$id`s make a `$ref` ambiguous")]
    TooMany,
}

/// A schema, with the base URI of its references.
struct SubschemaPlace<'a> {
    schema: &'a Json,
    resolver: Resolver<'a>,
    draft: Draft,
}

impl<'a> Document<'a> {
    /// Reads ids and anchors.
    ///
    /// # Errors
    /// If an id or anchor is invalid, or if a reference leads to another document. Other documents are not fetched.
    pub(super) fn new(root: &'a Json, draft: Draft) -> Result<Self, referencing::Error> {
        let resource = ResourceRef::new(root, draft);
        let mut base = uri::from_str(BASE)?;
        if let Some(id) = resource.id() {
            base = uri::resolve_against(&base.borrow(), id)?;
        }
        let registry = Registry::new().draft(draft).add(base.as_str(), resource)?.prepare()?;
        Ok(Self { root, draft, base, registry })
    }

    /// Resolves the references in the document, and in the targets of references. It visits the same schemas as a check: subschemas, and the
    /// targets of `$ref`.
    ///
    /// # Errors
    /// If a schema has a dynamic reference, or if more than [`PLACES_MAX`] schemas are visited.
    pub(super) fn references(&'a self) -> Result<References<'a>, ReferenceError> {
        let mut references = References { targets: HashMap::new(), broken: HashMap::new() };
        let root = SubschemaPlace {
            schema: self.root,
            resolver: self.registry.resolver(self.base.clone()),
            draft: self.draft,
        };
        let (mut open, mut seen) = (vec![root], HashSet::new());
        while let Some(SubschemaPlace { schema, resolver, draft }) = open.pop() {
            let draft = draft.detect(schema);
            let resolver = resolver.in_subresource(ResourceRef::new(schema, draft)).unwrap_or(resolver);
            if !schema.is_object() || !seen.insert((std::ptr::from_ref(schema), resolver.base_uri())) {
                continue;
            }
            if seen.len() > PLACES_MAX {
                return Err(ReferenceError::TooMany);
            }
            for keyword in ["$dynamicRef", "$recursiveRef"] {
                if draft.is_known_keyword(keyword) && schema.get(keyword).is_some_and(Json::is_string) {
                    return Err(ReferenceError::Dynamic(keyword));
                }
            }
            let below = draft.subresources_of(schema);
            open.extend(below.map(|schema| SubschemaPlace { schema, resolver: resolver.clone(), draft }));
            let reference = schema.get("$ref").and_then(Json::as_str);
            match reference.map(|reference| resolver.lookup(reference)) {
                Some(Ok(resolved)) => {
                    let (target, resolver, draft) = resolved.into_inner();
                    references.targets.entry(std::ptr::from_ref(schema)).or_default().push(target);
                    open.push(SubschemaPlace { schema: target, resolver, draft });
                }
                // An invalid reference matters only if a check can reach it: the validator decides.
                Some(Err(error)) => drop(references.broken.insert(std::ptr::from_ref(schema), error)),
                None => {}
            }
        }
        Ok(references)
    }
}

/// The reason for an error, for a message.
pub(super) fn reason(error: &referencing::Error) -> String {
    use referencing::Error as E;
    match error {
        E::Unretrievable { uri, .. } => {
            format!("it refers to `{uri}`, which is another document: nothing is fetched for a schema")
        }
        E::PointerToNowhere { pointer } | E::InvalidArrayIndex { pointer, .. } => {
            format!("it refers to `#{pointer}`, which is not in the schema")
        }
        E::NoSuchAnchor { anchor } | E::InvalidAnchor { anchor } => {
            format!("it refers to `#{anchor}`, which is not in the schema")
        }
        E::InvalidPercentEncoding { pointer, .. } => format!("`#{pointer}` has a `%` without two hexadecimal digits"),
        E::InvalidUri(_) => "an `$id` or `$ref` of it is not a valid address".to_owned(),
        E::UnknownSpecification { specification } => format!("its `$schema` `{specification}` names no draft"),
        E::CircularMetaschema { uri } => format!("its `$schema` `{uri}` leads back to itself"),
    }
}

impl<'a> References<'a> {
    /// The reason why a schema's `$ref` has no target.
    pub(super) fn broken(&self, schema: &Json) -> Option<&referencing::Error> {
        self.broken.get(&std::ptr::from_ref(schema))
    }

    /// The targets of a schema's `$ref`.
    pub(super) fn targets(&self, schema: &Json) -> impl Iterator<Item = &'a Json> + use<'a, '_> {
        self.targets.get(&std::ptr::from_ref(schema)).into_iter().flatten().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the `title`s of the schemas that the schema at a pointer refers to.
    fn check(schema: &str, from: &str, titles: &[&str]) {
        let json: Json = serde_json::from_str(schema).unwrap();
        let document = Document::new(&json, crate::schema::dialect::draft(&json)).unwrap();
        let references = document.references().unwrap();
        let found: Vec<_> =
            references.targets(json.pointer(from).unwrap()).map(|target| target["title"].as_str().unwrap()).collect();
        assert_eq!(found, titles, "{schema}");
    }

    #[test]
    fn references_resolve_as_in_the_validator() {
        let to = |reference: &str, definitions: &str| {
            format!(r#"{{"title": "root", "properties": {{"a": {{"$ref": "{reference}"}}}}, {definitions}}}"#)
        };
        let plain = r#""definitions": {"x y": {"title": "x y"}, "m/n": {"title": "m/n"}}"#;
        check(&to("#", plain), "/properties/a", &["root"]);
        check(&to("#/definitions/x%20y", plain), "/properties/a", &["x y"]);
        check(&to("#/definitions/m~1n", plain), "/properties/a", &["m/n"]);
        check(&to("#/definitions/z", plain), "/properties/a", &[]);
        let new = r#""$schema": "https://json-schema.org/draft/2020-12/schema""#;
        check(
            &to("#x", &format!(r#"{new}, "$defs": {{"x": {{"$anchor": "x", "title": "anchor"}}}}"#)),
            "/properties/a",
            &["anchor"],
        );
        check(
            &to("#x", r##""definitions": {"x": {"$id": "#x", "title": "old anchor"}}"##),
            "/properties/a",
            &["old anchor"],
        );
        check(
            &to("b.json", r#""$id": "https://a.example/", "definitions": {"x": {"$id": "b.json", "title": "id"}}"#),
            "/properties/a",
            &["id"],
        );
        let four = r#""$schema": "http://json-schema.org/draft-04/schema#""#;
        check(
            &to("b.json", &format!(r#"{four}, "definitions": {{"x": {{"id": "b.json", "title": "draft 4"}}}}"#)),
            "/properties/a",
            &["draft 4"],
        );
    }

    #[test]
    fn references_inside_a_schema_with_an_id_are_relative_to_it() {
        let schema = r##"{"title": "root", "$id": "https://a.example/", "definitions": {
            "b": {"$id": "b.json", "title": "b", "properties": {"self": {"$ref": "#"}, "root": {"$ref": "/"}}}}}"##;
        check(schema, "/definitions/b/properties/self", &["b"]);
        check(schema, "/definitions/b/properties/root", &["root"]);
    }

    #[test]
    fn dynamic_references_are_refused() {
        let reason = |schema: &str, draft| {
            let json: Json = serde_json::from_str(schema).unwrap();
            Document::new(&json, draft).unwrap().references().err().map(|error| error.to_string())
        };
        let dynamic = r##"{"properties": {"a": {"$dynamicRef": "#a"}}}"##;
        assert!(reason(dynamic, Draft::Draft202012).unwrap().contains("`$dynamicRef` is not supported"));
        assert_eq!(reason(dynamic, Draft::Draft7), None);
        assert!(reason(r##"{"$recursiveRef": "#"}"##, Draft::Draft201909).is_some());
    }
}
