//! The descriptions, one for each kind of host or more.

use std::path::{Path, PathBuf};

use git_host::HostKind;
use libtest_mimic::Failed;
use serde_json::{Value, json};

use crate::description::{Description, Gap};
use crate::mistakes::{self, Mistake};
use crate::{rust_client, swagger};

/// A description of the API of a kind of host.
pub(crate) struct Published {
    pub(crate) name: &'static str,
    pub(crate) kind: HostKind,
    /// The variable with the folder that contains it. None if it is in this folder.
    variable: Option<&'static str>,
    form: Form,
    /// The begin of the paths of the double that it leaves out.
    prefix: &'static str,
    gaps: &'static [Gap],
    pub(crate) mistakes: &'static [Mistake],
}

/// The form of a description.
enum Form {
    /// A file with OpenAPI 3.0.
    OpenApi(&'static str),
    /// A file with Swagger 2.0.
    Swagger(&'static str),
    /// These modules of a generated client.
    RustClient(&'static [&'static str]),
    /// This text with OpenAPI 3.0.
    Text(&'static str),
}

/// All descriptions.
pub(crate) const ALL: &[Published] = &[
    github("api.github.com", "api.github.com.json"),
    // The newest Enterprise Server.
    github("ghes-3.19", "ghes-3.19.json"),
    Published {
        name: "forgejo",
        kind: HostKind::Gitea,
        variable: Some("KALYPSO_FORGEJO_SWAGGER"),
        form: Form::Swagger("swagger.v1.json"),
        prefix: "/api/v1",
        gaps: &[
            // The automatic merge is accepted.
            Gap { method: "POST", path_end: "/merge", status: Some(201) },
            // The refusal has a message, as every other one.
            Gap { method: "POST", path_end: "/merge", status: Some(405) },
        ],
        mistakes: mistakes::GITEA,
    },
    Published {
        name: "azure_devops",
        kind: HostKind::AzureDevOps,
        variable: Some("KALYPSO_AZURE_DEVOPS_CLIENT"),
        form: Form::RustClient(&["git", "wit"]),
        prefix: "",
        // It is not documented, although Microsoft's own clients use it.
        gaps: &[Gap { method: "GET", path_end: "/_apis/connectionData", status: None }],
        mistakes: mistakes::AZURE_DEVOPS,
    },
    Published {
        name: "gitlab",
        kind: HostKind::GitLab,
        variable: None,
        form: Form::Text(include_str!("gitlab.json")),
        prefix: "/api/v4",
        gaps: &[],
        mistakes: mistakes::GITLAB,
    },
];

const fn github(name: &'static str, file: &'static str) -> Published {
    Published {
        name,
        kind: HostKind::GitHub,
        variable: Some("KALYPSO_GITHUB_OPENAPI"),
        form: Form::OpenApi(file),
        prefix: "/api/v3",
        // The GraphQL API has a description of another form.
        gaps: &[Gap { method: "POST", path_end: "/api/graphql", status: None }],
        mistakes: mistakes::GITHUB,
    }
}

impl Published {
    /// The folder with the description. None if it is not there.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        self.variable.map_or_else(|| Some(PathBuf::new()), |name| std::env::var_os(name).map(PathBuf::from))
    }

    pub(crate) fn read(&self) -> Result<Description, Failed> {
        let folder = self.folder().ok_or("there is no description")?;
        let (json, is_complete) = match &self.form {
            Form::OpenApi(file) => (read(&folder.join(file))?, false),
            Form::Swagger(file) => (swagger::to_openapi(&read(&folder.join(file))?), true),
            Form::RustClient(modules) => (azure_devops(&folder, modules)?, true),
            Form::Text(text) => (serde_json::from_str(text)?, true),
        };
        Ok(Description { json, prefix: self.prefix, gaps: self.gaps, is_complete })
    }
}

fn read(path: &Path) -> Result<Value, Failed> {
    let text = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(serde_json::from_slice(&text)?)
}

/// The generated client of Azure DevOps, with the little that its code does not say.
fn azure_devops(folder: &Path, modules: &[&str]) -> Result<Value, Failed> {
    let mut json = rust_client::to_openapi(folder, modules)?;
    let text = json!({ "type": "string" });
    let refusal = json!({
        "type": "object",
        "properties": {
            "$id": text, "message": text, "typeName": text, "typeKey": text, "innerException": { "nullable": true },
            "errorCode": { "type": "integer" }, "eventId": { "type": "integer" },
        },
        "required": ["message", "typeKey"],
    });
    let version = json!({ "type": "string", "pattern": "^[5-7]\\.[0-2](-preview(\\.[0-9])?)?$" });
    // Microsoft documents another value for searches.
    let state = json!({ "anyOf": [{ "$ref": "#/components/schemas/git.PullRequestStatus" }, { "enum": ["all"] }] });
    for operation in json["paths"].as_object_mut().unwrap().values_mut().flat_map(operations) {
        operation["responses"]["4XX"]["content"]["application/json"]["schema"] = refusal.clone();
        for parameter in operation["parameters"].as_array_mut().unwrap() {
            match parameter["name"].as_str() {
                Some("searchCriteria.status") => parameter["schema"] = state.clone(),
                Some("api-version") => parameter["schema"] = version.clone(),
                _ => {}
            }
        }
    }
    // The documented request that completes a pull request has this field.
    let commit = json!({ "$ref": "#/components/schemas/git.GitCommitRef" });
    json["components"]["schemas"]["git.GitPullRequestUpdateOptions"]["properties"]["lastMergeSourceCommit"] = commit;
    // The team is optional.
    json["paths"]["/{}/{}/_apis/wit/wiql"] = json["paths"]["/{}/{}/{}/_apis/wit/wiql"].clone();
    Ok(json)
}

fn operations(path: &mut Value) -> impl Iterator<Item = &mut Value> {
    path.as_object_mut().into_iter().flat_map(|operations| operations.values_mut())
}
