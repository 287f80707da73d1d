//! The published JSON schemas of the CI systems, which refuse unknown keys.

use std::path::PathBuf;
use std::{env, fs};

use jsonschema::{Draft, Validator};
use serde_json::Value as Json;

use super::rules::{AZURE, GITHUB, GITLAB, OF_APPLICATIONS};
use crate::{page, yaml};

const VARIABLE: &str = "KALYPSO_CI_SCHEMAS";

/// The schema of a file of the folder. None, with a message, if the folder is not known.
fn schema(name: &str) -> Option<Validator> {
    let Some(folder) = env::var_os(VARIABLE).map(PathBuf::from) else {
        println!("skipped: the variable {VARIABLE} does not name the folder with the schemas");
        return None;
    };
    let path = folder.join(format!("{name}.json"));
    let text = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let schema = serde_json::from_slice(&text).unwrap();
    Some(jsonschema::options().with_draft(Draft::Draft7).build(&schema).unwrap())
}

/// Replaces numbers and booleans by texts. Azure Pipelines reads every scalar as a text.
fn with_texts(value: &mut Json) {
    match value {
        Json::Object(fields) => fields.values_mut().for_each(with_texts),
        Json::Array(items) => items.iter_mut().for_each(with_texts),
        Json::Bool(_) | Json::Number(_) => *value = value.to_string().into(),
        Json::Null | Json::String(_) => {}
    }
}

/// Compares files with a schema. The schema must refuse each file with one more key.
#[track_caller]
fn check(name: &str, files: &[&str]) {
    let Some(schema) = schema(name) else { return };
    for file in files {
        let mut document = yaml::document(&page::text(file));
        if name == "azure-pipelines" {
            with_texts(&mut document);
        }
        let problems: Vec<_> = schema.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(problems.is_empty(), "{file}: {problems:?}");
        document["unknown"] = "yes".into();
        assert!(!schema.is_valid(&document), "{file}");
    }
}

/// The files for applications in a folder.
fn of_applications(folder: &str) -> Vec<&'static str> {
    OF_APPLICATIONS.iter().copied().filter(|file| file.contains(folder)).collect()
}

#[test]
fn github_workflows_match_their_schema() {
    let (actions, workflows): (Vec<&str>, Vec<&str>) = GITHUB.iter().partition(|file| file.ends_with("action.yml"));
    check("github-actions", &actions);
    check("github-workflows", &workflows);
    check("github-workflows", &of_applications("github/"));
}

#[test]
fn workflow_of_this_project_matches_its_schema() {
    check("github-workflows", &[".github/workflows/ci.yml"]);
}

#[test]
fn gitlab_pipelines_match_their_schema() {
    check("gitlab-ci", GITLAB);
    check("gitlab-ci", &of_applications("gitlab/"));
}

#[test]
fn azure_pipelines_match_their_schema() {
    check("azure-pipelines", AZURE);
    check("azure-pipelines", &of_applications("azure-pipelines/"));
}
