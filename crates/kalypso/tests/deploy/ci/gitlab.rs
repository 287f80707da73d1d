//! The pipelines for GitLab CI.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use super::runner::{Context, System};
use super::site::{CACHE_KEY, GIT_TOKEN, HOST_TOKEN, PLAN_TOKEN, Site};
use crate::company::Ran;
use crate::{page, yaml};

/// A file in the folder of the pipelines.
pub(super) fn file(name: &str) -> Json {
    yaml::document(&page::text(&format!("deploy/ci/gitlab/{name}.yml")))
}

/// A job with the keys of the jobs that it extends. Its variables are added to theirs.
fn job(name: &str) -> Map<String, Json> {
    let file = file("kalypso");
    let mut job = Map::new();
    let mut names = vec![name.to_owned()];
    while let Some(below) = file[names.last().unwrap()]["extends"].as_str() {
        names.push(below.to_owned());
    }
    for name in names.iter().rev() {
        for (key, value) in file[name].as_object().unwrap() {
            match (job.get_mut(key), value) {
                (Some(Json::Object(known)), Json::Object(more)) if key == "variables" => known.extend(more.clone()),
                _ => drop(job.insert(key.clone(), value.clone())),
            }
        }
    }
    job
}

/// Runs a job, with the variables of its pipeline.
#[track_caller]
pub(super) fn run(site: &Site, (name, branch): (&str, &str), context: Context<'_>) -> Ran {
    let job = job(name);
    let [read, publish] = &site.hub_tokens;
    let project: BTreeMap<String, String> = [
        ("CI_DEFAULT_BRANCH", "main"),
        ("KALYPSO_PLAN_TOKEN", PLAN_TOKEN),
        ("KALYPSO_GIT_TOKEN", GIT_TOKEN),
        ("KALYPSO_HOST_TOKEN", HOST_TOKEN),
        ("KALYPSO_HUB_URL", site.hub.url()),
        ("KALYPSO_HUB_TOKEN", read),
        ("KALYPSO_HUB_PUBLISH_TOKEN", publish),
        ("KALYPSO_CACHE_KEY", CACHE_KEY),
        ("KALYPSO_TIMEOUT", file("kalypso")["variables"]["KALYPSO_TIMEOUT"].as_str().unwrap()),
    ]
    .iter()
    .chain(context)
    .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
    .collect();
    let mut runner = site.runner_in_image();
    site.clone_to(("control-plane", branch), &runner.sources());
    let values: Vec<_> = project.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    // Variables of the project take precedence over those of a job.
    let mut variables = runner.evaluate(&job.get("variables").cloned().unwrap_or_default(), &values);
    variables.extend(project.clone());
    let lines = |key: &str| {
        let lines = job.get(key).and_then(Json::as_array).into_iter().flatten();
        lines.map(|line| format!("{}\n", line.as_str().unwrap())).collect::<String>()
    };
    let folder = runner.sources();
    let ran = runner.run(&format!("{}{}", lines("before_script"), lines("script")), &folder, &variables);
    runner.run(&lines("after_script"), &folder, &variables).ends(0);
    for token in [PLAN_TOKEN, GIT_TOKEN, HOST_TOKEN, read, publish, CACHE_KEY] {
        assert!(!runner.log.contains(token), "{}", runner.log);
    }
    let has_cache = job.contains_key("cache");
    assert_eq!(folder.join(".kalypso-cache").is_dir(), has_cache);
    ran
}

/// The variables of a merge request into dev.
fn merge_request<'c>(number: &'c str, head: &'c str) -> [(&'c str, &'c str); 3] {
    [("CI_COMMIT_SHA", head), ("CI_MERGE_REQUEST_IID", number), ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "dev")]
}

#[test]
fn a_merge_request_is_checked_and_gets_the_plan() {
    let site = Site::new(System::GitLab);
    let (number, head) = site.open_change();
    site.accept(PLAN_TOKEN, PLAN_TOKEN);
    let number_text = number.to_string();
    let context = merge_request(&number_text, &head);
    run(&site, ("kalypso-check", "less-logs"), &context).ends(0);
    run(&site, ("kalypso-plan", "less-logs"), &context).ends(0);
    let comments = site.comments(number);
    assert!(comments.len() == 1 && comments[0].contains("LOG_LEVEL"), "{comments:?}");
}

#[test]
fn a_merge_request_into_the_main_branch_is_planned_for_all_environments() {
    let site = Site::new(System::GitLab);
    let (number, _) = site.open_change();
    site.company.merge("control-plane", "more", "main");
    let config = testkit::objects::config("all", "", "NEW: value");
    let head = site.company.change("control-plane@more", "configs/all.yaml", &config);
    site.accept(PLAN_TOKEN, PLAN_TOKEN);
    let number_text = number.to_string();
    // The pipeline of a merged result has the commit of the merge, and names the head too.
    let context = [
        ("CI_COMMIT_SHA", "0000000000000000000000000000000000000000"),
        ("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", &head),
        ("CI_MERGE_REQUEST_IID", &number_text),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
    ];
    run(&site, ("kalypso-check", "more"), &context).ends(0);
    run(&site, ("kalypso-plan", "more"), &context).ends(0);
    assert!(site.comments(number)[0].contains("NEW"));
}

#[test]
fn a_merge_request_from_a_fork_is_checked_without_a_token() {
    let site = Site::new(System::GitLab);
    let (number, head) = site.open_change();
    site.accept("no", "no");
    let number = number.to_string();
    let context = merge_request(&number, &head);
    run(&site, ("kalypso-check-files", "less-logs"), &context).ends(0);
    site.company.change("control-plane@less-logs", "configs/common.yaml", "data: [\n");
    run(&site, ("kalypso-check-files", "less-logs"), &context).ends(1).says(&["K0101"]);
}

#[test]
fn a_push_is_published_with_a_merge_request_and_sent_to_the_hub() {
    let site = Site::new(System::GitLab);
    site.accept(GIT_TOKEN, HOST_TOKEN);
    let ran = run(&site, ("kalypso-publish", "main"), &[("CI_COMMIT_BRANCH", "main")]);
    ran.ends(0).says(&["Sent 4 folders to the hub"]);
    run(&site, ("kalypso-publish", "dev"), &[("CI_COMMIT_BRANCH", "dev")]).ends(0);
    assert_eq!(site.pull_requests().len(), 1);
}

#[test]
fn the_pipeline_waits_until_the_clusters_have_the_commit() {
    for (report, status) in [("success", 0), ("failure", 1)] {
        let site = Site::new(System::GitLab);
        let commit = site.deployed(report);
        let context = [("KALYPSO_ENVIRONMENT", "dev"), ("KALYPSO_COMMIT", commit.as_str())];
        run(&site, ("kalypso-rollout", "main"), &context).ends(status);
    }
}

#[test]
fn the_gitops_project_gives_the_pipeline_its_variables() {
    let merged = &file("kalypso-gitops")["kalypso-merged"];
    let variables = merged["variables"].as_object().unwrap();
    let script = page::text("deploy/ci/gitlab/kalypso.yml");
    assert_eq!(variables.len(), 2);
    for name in variables.keys() {
        assert!(script.contains(&format!("\"${name}\"")), "{name}");
    }
}
