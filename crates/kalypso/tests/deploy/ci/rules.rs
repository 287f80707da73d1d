//! The rules for all workflows: permissions, secrets, and what a pull request from a fork gets.

use serde_json::Value as Json;

use super::{azure, github, gitlab};
use crate::page;

/// The files for the repositories of applications.
pub(super) const OF_APPLICATIONS: &[&str] = &[
    "deploy/ci/github/application/workflows/deploy.yml",
    "deploy/ci/github/application/workflows/kalypso-app-check.yml",
    "deploy/ci/gitlab/kalypso-app.yml",
    "deploy/ci/azure-pipelines/kalypso-app.yml",
    "deploy/ci/azure-pipelines/kalypso-app-steps.yml",
];
pub(super) const GITHUB: &[&str] = &[
    "deploy/ci/github/control-plane/actions/kalypso/action.yml",
    "deploy/ci/github/control-plane/workflows/kalypso-check.yml",
    "deploy/ci/github/control-plane/workflows/kalypso-promote.yml",
    "deploy/ci/github/control-plane/workflows/kalypso-publish.yml",
    "deploy/ci/github/control-plane/workflows/kalypso-rollout.yml",
    "deploy/ci/github/gitops/workflows/kalypso-merged.yml",
];
pub(super) const GITLAB: &[&str] = &["deploy/ci/gitlab/kalypso.yml", "deploy/ci/gitlab/kalypso-gitops.yml"];
pub(super) const AZURE: &[&str] = &[
    "deploy/ci/azure-pipelines/kalypso-check.yml",
    "deploy/ci/azure-pipelines/kalypso-promote.yml",
    "deploy/ci/azure-pipelines/kalypso-publish.yml",
    "deploy/ci/azure-pipelines/kalypso-rollout.yml",
    "deploy/ci/azure-pipelines/kalypso-steps.yml",
];

/// The files of the folder.
fn all() -> impl Iterator<Item = &'static str> {
    [GITHUB, GITLAB, AZURE, OF_APPLICATIONS].into_iter().flatten().copied()
}

/// The scripts in a file, with their place.
fn scripts<'j>(value: &'j Json, found: &mut Vec<&'j str>) {
    match value {
        Json::Object(fields) => {
            for (name, value) in fields {
                match (name.as_str(), value) {
                    ("run" | "bash", Json::String(script)) => found.push(script),
                    ("script" | "before_script" | "after_script", Json::Array(lines)) => {
                        found.extend(lines.iter().filter_map(Json::as_str));
                    }
                    _ => scripts(value, found),
                }
            }
        }
        Json::Array(items) => items.iter().for_each(|item| scripts(item, found)),
        _ => {}
    }
}

/// The jobs of the workflows of GitHub, with their names.
fn github_jobs() -> Vec<(&'static str, Json, Json)> {
    let workflows = GITHUB.iter().chain(OF_APPLICATIONS).filter(|file| file.contains("/workflows/"));
    let jobs = workflows.flat_map(|file| {
        let workflow = github::file(file.trim_start_matches("deploy/ci/github/"));
        let jobs = workflow["jobs"].as_object().unwrap().clone();
        jobs.into_iter().map(move |(_, job)| (*file, workflow.clone(), job))
    });
    jobs.collect()
}

#[test]
fn all_files_are_tested() {
    let mut found = Vec::new();
    let mut folders = vec![page::repository("deploy/ci")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() { folders.push(entry) } else { found.push(entry) }
        }
    }
    let mut expected: Vec<_> = all().map(page::repository).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn no_expression_is_part_of_a_script() {
    for file in all() {
        let document = crate::yaml::document(&page::text(file));
        let mut found = Vec::new();
        scripts(&document, &mut found);
        assert_eq!(found.is_empty(), file.ends_with("kalypso-gitops.yml"), "{file}");
        for script in found {
            assert!(!script.contains("${{") && !script.contains("$(System") && !script.contains("$(Build"), "{script}");
            assert!(!script.contains("set -x"), "it prints secrets: {script}");
        }
    }
}

#[test]
fn jobs_of_github_have_the_least_permissions_and_a_limit_of_time() {
    for (file, workflow, job) in github_jobs() {
        assert_eq!(workflow["permissions"], serde_json::json!({}), "{file}");
        assert!(workflow["concurrency"]["group"].is_string() && job["timeout-minutes"].is_i64(), "{file}");
        let permissions = job["permissions"].as_object().unwrap();
        let mut writes: Vec<_> =
            permissions.iter().filter(|(_, access)| *access == "write").map(|(name, _)| name).collect();
        writes.sort();
        let text = job.to_string();
        let expected =
            [("workflows/deploy.yml/dispatches", "actions"), ("--comment", "pull-requests"), ("statuses/", "statuses")];
        let expected: Vec<_> = expected.iter().filter(|(word, _)| text.contains(word)).map(|(_, name)| name).collect();
        assert_eq!(writes, expected, "{file}");
    }
}

#[test]
fn a_fork_gets_no_secret() {
    for (_, _, job) in github_jobs().into_iter().filter(|(file, ..)| file.ends_with("-check.yml")) {
        let text = job.to_string();
        let has_secret = text.contains("secrets.") || text.contains("github.token") || text.contains("write");
        let condition = "github.event.pull_request.head.repo.full_name == github.repository";
        assert_eq!(job["if"].as_str(), has_secret.then_some(condition));
    }
    for job in azure::file("kalypso-check")["jobs"].as_array().unwrap() {
        let has_secret = job.to_string().contains("TOKEN");
        let condition = "ne(variables['System.PullRequest.IsFork'], 'True')";
        assert_eq!(job["condition"].as_str(), has_secret.then_some(condition));
    }
    let file = gitlab::file("kalypso");
    let rule = file[".kalypso-merge-request"]["rules"][0]["if"].as_str().unwrap();
    assert!(rule.ends_with(" && $CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_MERGE_REQUEST_PROJECT_ID"), "{rule}");
    let files = &file["kalypso-check-files"];
    assert!(!files.to_string().contains("TOKEN") && files["extends"].is_null());
}

#[test]
fn pull_requests_do_not_get_the_secrets_of_the_protected_branches() {
    let protected = ["KALYPSO_GIT_TOKEN", "KALYPSO_HOST_TOKEN", "KALYPSO_HUB_TOKEN", "KALYPSO_CACHE_KEY"];
    for (file, _, job) in github_jobs() {
        let uses = protected.iter().any(|name| job.to_string().contains(&format!("secrets.{name}")));
        assert_eq!(job["environment"].is_string(), uses, "{file}");
        assert!(!(uses && file.ends_with("kalypso-check.yml")), "{file}");
    }
    for file in AZURE {
        let text = page::text(file);
        let uses = protected.iter().any(|name| text.contains(&format!("$({name})")));
        assert_eq!(text.contains("group: kalypso\n"), uses, "{file}");
        assert!(!(uses && file.ends_with("kalypso-check.yml")), "{file}");
    }
}

#[test]
fn triggering_workflows_exist_under_their_names() {
    let promote = github::file("control-plane/workflows/kalypso-promote.yml");
    for name in promote["on"]["workflow_run"]["workflows"].as_array().unwrap() {
        let file = format!("control-plane/workflows/{}.yml", name.as_str().unwrap().replace(' ', "-"));
        assert_eq!(github::file(&file)["name"], *name);
    }
    for resource in azure::file("kalypso-promote")["resources"]["pipelines"].as_array().unwrap() {
        azure::file(resource["source"].as_str().unwrap());
    }
}

#[test]
fn only_jobs_that_change_nothing_are_cancelled() {
    for (file, workflow, job) in github_jobs() {
        let is_cancelled = workflow["concurrency"]["cancel-in-progress"].as_bool().unwrap();
        let writes = ["kalypso publish", "kalypso app deploy"];
        assert_eq!(is_cancelled, !writes.iter().any(|command| job.to_string().contains(command)), "{file}");
    }
    let pipelines = gitlab::file("kalypso");
    let jobs = pipelines.as_object().unwrap().iter().filter(|(_, job)| job.to_string().contains("kalypso publish"));
    let jobs: Vec<_> = jobs.map(|(name, job)| (name.as_str(), job["resource_group"].as_str().unwrap())).collect();
    let expected = [
        ("kalypso-publish", "kalypso-publish"),
        ("kalypso-advance", "kalypso-promote"),
        ("kalypso-promote", "kalypso-promote"),
    ];
    assert_eq!(jobs.len(), expected.len());
    assert!(jobs.iter().all(|job| expected.contains(job)), "{jobs:?}");
    assert_eq!(pipelines[".kalypso"]["interruptible"], false);
}

#[test]
fn actions_are_pinned_by_their_commits() {
    let files = GITHUB.iter().chain(OF_APPLICATIONS).filter(|file| file.contains("/github/"));
    for (file, text) in files.map(|file| (file, page::text(file))) {
        for action in text.lines().filter_map(|line| line.trim_start_matches([' ', '-']).strip_prefix("uses: ")) {
            let Some((_, pinned)) = action.split_once('@') else {
                assert_eq!(action, "./.github/actions/kalypso", "{file}");
                continue;
            };
            let (commit, version) = pinned.split_once(" # v").unwrap_or_else(|| panic!("{file}: {action}"));
            assert!(commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()), "{file}: {action}");
            assert!(version.starts_with(|c: char| c.is_ascii_digit()), "{file}: {action}");
        }
    }
}
