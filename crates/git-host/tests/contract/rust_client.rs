//! A generated client in Rust, as a description of the form OpenAPI 3.0.
//!
//! A generator wrote its code from the description of the API, and always in the same way: a type for each schema in `models.rs`, and a module for each operation
//! with a type `RequestBuilder`, whose fields are the parameters and the body. Therefore the types can be read without running anything.

use std::collections::BTreeMap;
use std::path::Path;

use libtest_mimic::Failed;
use serde_json::{Map, Value, json};
use syn::visit::Visit;

/// An object with fields that are not known.
const ANY: &str = "serde_json::Value";

/// Reads the sources of these modules of a client, such as `git`.
pub(crate) fn to_openapi(sources: &Path, modules: &[&str]) -> Result<Value, Failed> {
    let (mut schemas, mut paths) = (Map::new(), Map::new());
    for module in modules {
        let models = parse(&sources.join(module).join("models.rs"))?;
        Models { module, prefix: String::new(), schemas: &mut schemas }.add(&models.items);
        let operations = parse(&sources.join(module).join("mod.rs"))?;
        add_operations(module, &operations.items, &mut paths);
    }
    flatten(&mut schemas);
    Ok(json!({ "paths": paths, "components": { "schemas": schemas } }))
}

fn parse(path: &Path) -> Result<syn::File, Failed> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    syn::parse_file(&text).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// The reader of the types of one module.
struct Models<'m> {
    module: &'m str,
    /// The begin of the names of the types, such as `git_pull_request.`.
    prefix: String,
    schemas: &'m mut Map<String, Value>,
}

impl Models<'_> {
    fn add(&mut self, items: &[syn::Item]) {
        for item in items {
            let (name, schema) = match item {
                syn::Item::Struct(item) => (&item.ident, self.object(&item.fields)),
                syn::Item::Enum(item) => (&item.ident, values(item)),
                syn::Item::Type(item) => (&item.ident, schema(self.module, &item.ty)),
                syn::Item::Mod(item) => {
                    let prefix = format!("{}.", item.ident);
                    let (_, items) = item.content.as_ref().unwrap();
                    Models { module: self.module, prefix, schemas: self.schemas }.add(items);
                    continue;
                }
                _ => continue,
            };
            self.schemas.insert(format!("{}.{}{name}", self.module, self.prefix), schema);
        }
    }

    fn object(&self, fields: &syn::Fields) -> Value {
        let (mut properties, mut required, mut flattened) = (Map::new(), Vec::new(), Vec::new());
        for field in fields {
            let attributes = Attributes::from_attributes(&field.attrs);
            let schema = schema(self.module, &field.ty);
            if attributes.is_flat {
                flattened.push(schema);
                continue;
            }
            let own = field.ident.as_ref().map(|name| name.to_string().trim_start_matches("r#").to_owned());
            let name = attributes.name.or(own).unwrap_or_default();
            if attributes.is_optional {
                properties.insert(name, json!({ "nullable": true, "allOf": [schema] }));
            } else {
                required.push(name.clone());
                properties.insert(name, schema);
            }
        }
        let mut object = json!({ "type": "object", "properties": properties, "x-flattened": flattened });
        if !required.is_empty() {
            object["required"] = json!(required);
        }
        object
    }
}

/// What the attribute `serde` says.
#[derive(Default)]
struct Attributes {
    name: Option<String>,
    is_optional: bool,
    is_flat: bool,
    is_never_read: bool,
}

impl Attributes {
    fn from_attributes(attributes: &[syn::Attribute]) -> Self {
        let mut found = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
            attribute
                .parse_nested_meta(|meta| {
                    let value = if meta.input.peek(syn::Token![=]) {
                        Some(meta.value()?.parse::<syn::LitStr>()?.value())
                    } else {
                        None
                    };
                    match meta.path.require_ident()?.to_string().as_str() {
                        "rename" => found.name = value,
                        "default" => found.is_optional = true,
                        "flatten" => found.is_flat = true,
                        "skip_deserializing" => found.is_never_read = true,
                        _ => {}
                    }
                    Ok(())
                })
                .unwrap();
        }
        found
    }
}

/// The values of an enumeration.
fn values(item: &syn::ItemEnum) -> Value {
    let variants = item.variants.iter().map(|variant| (variant, Attributes::from_attributes(&variant.attrs)));
    let read = variants.filter(|(_, attributes)| !attributes.is_never_read);
    let names = read.map(|(variant, attributes)| attributes.name.unwrap_or_else(|| variant.ident.to_string()));
    json!({ "type": "string", "enum": names.collect::<Vec<_>>() })
}

/// The schema of a type.
fn schema(module: &str, ty: &syn::Type) -> Value {
    let syn::Type::Path(syn::TypePath { path, .. }) = ty else { return json!({}) };
    let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).filter(|name| *name != "models").collect();
    let inner = || match &path.segments.last().unwrap().arguments {
        syn::PathArguments::AngleBracketed(arguments) => match arguments.args.last() {
            Some(syn::GenericArgument::Type(ty)) => schema(module, ty),
            _ => json!({}),
        },
        _ => json!({}),
    };
    match names.as_slice() {
        ["Option" | "Box"] => inner(),
        ["Vec"] => json!({ "type": "array", "items": inner() }),
        ["String"] | ["time", _] => json!({ "type": "string" }),
        ["bool"] => json!({ "type": "boolean" }),
        ["i32" | "i64" | "u32" | "u64"] => json!({ "type": "integer" }),
        ["f32" | "f64"] => json!({ "type": "number" }),
        [name] => json!({ "$ref": format!("#/components/schemas/{module}.{name}") }),
        // A type beside a schema, in a module of its own.
        [place, name] if names.join("::") != ANY => {
            json!({ "$ref": format!("#/components/schemas/{module}.{place}.{name}") })
        }
        _ => json!({}),
    }
}

/// Adds the fields of the types that others contain without a name.
fn flatten(schemas: &mut Map<String, Value>) {
    let names: Vec<String> = schemas.keys().cloned().collect();
    for name in names {
        let mut open = schemas[&name]["x-flattened"].as_array().cloned().unwrap_or_default();
        while let Some(found) = open.pop() {
            let place =
                found["$ref"].as_str().and_then(|place| place.rsplit('/').next()).unwrap_or_default().to_owned();
            let Some(parent) = schemas.get(&place).cloned() else { continue };
            open.extend(parent["x-flattened"].as_array().cloned().unwrap_or_default());
            let (object, inherited) = (&mut schemas[&name], parent["properties"].as_object().cloned());
            for (field, schema) in inherited.into_iter().flatten() {
                object["properties"][field] = schema;
            }
            let required = [&object["required"], &parent["required"]].map(|list| list.as_array().cloned());
            let required: Vec<Value> = required.into_iter().flatten().flatten().collect();
            if !required.is_empty() {
                object["required"] = Value::Array(required);
            }
        }
    }
}

fn add_operations(module: &str, items: &[syn::Item], paths: &mut Map<String, Value>) {
    for item in items {
        let syn::Item::Mod(syn::ItemMod { content: Some((_, items)), .. }) = item else { continue };
        let mut found = Found::default();
        items.iter().for_each(|item| found.visit_item(item));
        match found.operation(module) {
            Some((path, method, operation)) if found.is_leaf => {
                paths.entry(path).or_insert_with(|| json!({}))[method] = operation;
            }
            _ => add_operations(module, items, paths),
        }
    }
}

/// What the module of an operation contains.
#[derive(Default)]
struct Found<'a> {
    /// The fields of the request.
    fields: BTreeMap<String, &'a syn::Type>,
    method: String,
    path: String,
    query: Vec<String>,
    /// The field with the body.
    body: Option<String>,
    answer: Option<&'a syn::Type>,
    is_leaf: bool,
}

impl Found<'_> {
    fn operation(&self, module: &str) -> Option<(String, String, Value)> {
        // The first parameter is the address of the host.
        let path = self.path.strip_prefix("{}")?.split('?').next()?.to_owned();
        let parameter = |name: &String| {
            let schema = self.fields.get(&snake(name)).map_or_else(|| json!({}), |ty| schema(module, ty));
            json!({ "name": name, "in": "query", "schema": schema })
        };
        let mut operation = json!({
            "parameters": self.query.iter().map(parameter).collect::<Vec<_>>(),
            "responses": { "2XX": {} },
        });
        if let Some(ty) = self.body.as_ref().and_then(|field| self.fields.get(field)) {
            operation["requestBody"]["content"]["application/json"]["schema"] = schema(module, ty);
        }
        match self.answer {
            None | Some(syn::Type::Tuple(_)) => {}
            Some(ty) => operation["responses"]["2XX"]["content"]["application/json"]["schema"] = schema(module, ty),
        }
        Some((path, self.method.to_ascii_lowercase(), operation))
    }
}

/// The name of the field of a parameter, such as `search_criteria_status` for `searchCriteria.status`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for character in name.chars().filter(|character| *character != '$') {
        if character.is_uppercase() || character == '.' {
            snake.push('_');
        }
        snake.extend(Some(character.to_ascii_lowercase()).filter(|character| *character != '.'));
    }
    snake
}

fn literal(expression: Option<&syn::Expr>) -> Option<String> {
    match expression {
        Some(syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. })) => Some(text.value()),
        _ => None,
    }
}

impl<'a> Visit<'a> for Found<'a> {
    fn visit_item_struct(&mut self, item: &'a syn::ItemStruct) {
        if item.ident == "RequestBuilder" {
            self.is_leaf = true;
            let named = item.fields.iter().filter_map(|field| Some((field.ident.as_ref()?.to_string(), &field.ty)));
            self.fields = named.collect();
        }
    }

    /// Operations of a module in this module are no part of this one.
    fn visit_item_mod(&mut self, _: &'a syn::ItemMod) {}

    fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
        if call.method == "append_pair" {
            self.query.extend(literal(call.args.first()));
        }
        syn::visit::visit_expr_method_call(self, call);
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        let mut last = path.segments.iter().rev().map(|segment| segment.ident.to_string());
        if let (Some(method), Some("Method")) = (last.next(), last.next().as_deref()) {
            self.method = method;
        }
    }

    fn visit_expr_call(&mut self, call: &'a syn::ExprCall) {
        // `to_json(&this.field)`
        if let syn::Expr::Path(function) = &*call.func
            && function.path.segments.last().is_some_and(|segment| segment.ident == "to_json")
            && let Some(syn::Expr::Reference(argument)) = call.args.first()
            && let syn::Expr::Field(syn::ExprField { member: syn::Member::Named(field), .. }) = &*argument.expr
        {
            self.body = Some(field.to_string());
        }
        syn::visit::visit_expr_call(self, call);
    }

    fn visit_macro(&mut self, found: &'a syn::Macro) {
        let arguments = syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        if found.path.is_ident("format")
            && let Ok(arguments) = found.parse_body_with(arguments)
            && let Some(text) = literal(arguments.first()).filter(|text| text.starts_with("{}/"))
        {
            self.path = text;
        }
    }

    fn visit_impl_item_type(&mut self, item: &'a syn::ImplItemType) {
        // `type Output = azure_core::Result<models::GitPullRequest>`
        if item.ident == "Output"
            && let syn::Type::Path(result) = &item.ty
            && let syn::PathArguments::AngleBracketed(arguments) = &result.path.segments.last().unwrap().arguments
            && let Some(syn::GenericArgument::Type(ty)) = arguments.args.first()
        {
            self.answer = Some(ty);
        }
    }
}
