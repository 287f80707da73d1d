//! The published JSON schemas of Kubernetes.

use std::path::PathBuf;
use std::{env, fs};

use jsonschema::{Draft, Validator};
use serde_json::{Value as Json, json};

/// The oldest version that the page promises, and the newest that is published.
const VERSIONS: [&str; 2] = ["v1.25.0", "v1.37.0"];

/// The schemas of one version. They refuse unknown fields.
pub(crate) struct Schemas {
    pub(crate) version: &'static str,
    definitions: Json,
}

/// The schemas of all versions. None, with a message, if their folder is not known.
pub(crate) fn schemas() -> Option<[Schemas; 2]> {
    let variable = "KALYPSO_KUBERNETES_SCHEMAS";
    let Some(folder) = env::var_os(variable).map(PathBuf::from) else {
        println!("skipped: the variable {variable} does not name the folder with the schemas");
        return None;
    };
    Some(VERSIONS.map(|version| {
        let path = folder.join(format!("{version}-local-strict/_definitions.json"));
        let text = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Schemas { version, definitions: serde_json::from_slice(&text).unwrap() }
    }))
}

impl Schemas {
    /// The problems of an object. None if its kind is not one of Kubernetes.
    pub(crate) fn problems(&self, object: &Json) -> Option<Vec<String>> {
        let errors = self.validator(object)?;
        let errors = errors.iter_errors(object);
        Some(errors.map(|error| format!("{}: {error}", error.instance_path())).collect())
    }

    fn validator(&self, object: &Json) -> Option<Validator> {
        let api_version = object["apiVersion"].as_str()?;
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let kind = json!([{"group": group, "version": version, "kind": object["kind"]}]);
        let definitions = self.definitions["$defs"].as_object()?;
        let (name, _) = definitions.iter().find(|(_, found)| found["x-kubernetes-group-version-kind"] == kind)?;
        let schema = json!({"$ref": format!("#/$defs/{name}"), "$defs": definitions});
        Some(jsonschema::options().with_draft(Draft::Draft202012).build(&schema).unwrap())
    }
}
