//! The pipelines for Azure Pipelines.

use std::fs;

use serde_json::Value as Json;

use super::runner::{Context, System};
use super::site::{CACHE_KEY, GIT_TOKEN, HOST_TOKEN, IMAGE, PLAN_TOKEN, Site};
use crate::company::Ran;
use crate::{page, yaml};

/// A file in the folder of the pipelines.
pub(super) fn file(name: &str) -> Json {
    yaml::document(&page::text(&format!("deploy/ci/azure-pipelines/{name}.yml")))
}

/// The machine of a run, where a branch is checked out.
pub(super) struct Agent<'a> {
    pub(super) site: &'a Site,
    pub(super) branch: &'a str,
    pub(super) context: Context<'a>,
}

impl Agent<'_> {
    /// Runs the steps of a job, until one fails.
    #[track_caller]
    pub(super) fn run(&self, pipeline: &str, job: &str) -> Ran {
        let Self { site, branch, context } = *self;
        let pipeline = file(pipeline);
        let mut jobs = pipeline["jobs"].as_array().unwrap().iter();
        let steps = jobs.find(|found| found["job"] == job).unwrap()["steps"].as_array().unwrap();
        let (template, own) = steps.split_first().unwrap();
        assert_eq!(template["template"], "kalypso-steps.yml");
        let template = file("kalypso-steps");
        let default = |at: usize| template["parameters"][at]["default"].as_str().unwrap();
        assert_eq!(default(0), IMAGE);
        let mut runner = site.runner();
        let (sources, temp) = (runner.sources().display().to_string(), runner.path("temp").display().to_string());
        let [read, publish] = &site.hub_tokens;
        let values = [
            ("KALYPSO_PLAN_TOKEN", PLAN_TOKEN),
            ("KALYPSO_GIT_TOKEN", GIT_TOKEN),
            ("KALYPSO_HOST_TOKEN", HOST_TOKEN),
            ("System.AccessToken", HOST_TOKEN),
            ("KALYPSO_HUB_URL", site.hub.url()),
            ("KALYPSO_HUB_TOKEN", read),
            ("KALYPSO_HUB_PUBLISH_TOKEN", publish),
            ("Build.SourcesDirectory", &sources),
            ("Agent.TempDirectory", &temp),
            ("parameters.image", IMAGE),
            ("parameters.mainBranch", default(1)),
        ];
        // What comes first takes precedence.
        let values: Vec<_> = context.iter().copied().chain(values).chain([("KALYPSO_CACHE_KEY", CACHE_KEY)]).collect();
        let mut last = Ran { status: 0, out: String::new(), err: String::new() };
        for step in template["steps"].as_array().unwrap().iter().chain(own) {
            if step["checkout"] == "self" {
                site.clone_to(("control-plane", branch), &runner.sources());
            } else if let Some(script) = step["bash"].as_str() {
                let folder = runner.value(step["workingDirectory"].as_str().unwrap_or(&sources), &values);
                let mut variables = runner.evaluate(&step["env"], &values);
                let predefined = values.iter().filter(|(name, _)| name.starts_with("SYSTEM_"));
                variables.extend(predefined.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
                last = runner.run(script, folder.as_ref(), &variables);
            } else {
                assert_eq!(step["task"], "Cache@2");
            }
            if last.status != 0 {
                break;
            }
        }
        for token in [PLAN_TOKEN, GIT_TOKEN, HOST_TOKEN, read, publish, CACHE_KEY] {
            assert!(!runner.log.contains(token), "{}", runner.log);
        }
        let has_cache = fs::read_dir(runner.path("temp/kalypso/cache")).unwrap().count() > 0;
        assert!(has_cache || last.status != 0 || matches!(job, "files" | "rollout"));
        last
    }
}

/// The variables of a pull request into dev.
fn pull_request<'c>(number: &'c str, head: &'c str) -> [(&'c str, &'c str); 3] {
    [
        ("System.PullRequest.TargetBranch", "refs/heads/dev"),
        ("System.PullRequest.SourceCommitId", head),
        ("SYSTEM_PULLREQUEST_PULLREQUESTID", number),
    ]
}

#[test]
fn a_pull_request_is_checked_and_gets_the_plan() {
    let site = Site::new(System::Azure);
    let (number, head) = site.open_change();
    site.accept(PLAN_TOKEN, HOST_TOKEN);
    let number_text = number.to_string();
    let context = pull_request(&number_text, &head);
    let agent = Agent { site: &site, branch: "less-logs", context: &context };
    agent.run("kalypso-check", "check").ends(0);
    let ran = agent.run("kalypso-check", "plan").ends(0);
    ran.says(&["##vso[task.uploadsummary]/"]);
    let comments = site.comments(number);
    assert!(comments.len() == 1 && comments[0].contains("LOG_LEVEL"), "{comments:?}");
}

#[test]
fn a_pull_request_of_the_main_branch_is_planned_for_all_environments() {
    let site = Site::new(System::Azure);
    let (number, _) = site.open_change();
    site.company.merge("control-plane", "more", "main");
    let config = testkit::objects::config("all", "", "NEW: value");
    let head = site.company.change("control-plane@more", "configs/all.yaml", &config);
    site.accept(PLAN_TOKEN, HOST_TOKEN);
    let number_text = number.to_string();
    let mut context = pull_request(&number_text, &head);
    context[0].1 = "refs/heads/main";
    let agent = Agent { site: &site, branch: "more", context: &context };
    agent.run("kalypso-check", "check").ends(0);
    agent.run("kalypso-check", "plan").ends(0);
    assert!(site.comments(number)[0].contains("NEW"));
}

#[test]
fn a_pull_request_from_a_fork_is_checked_without_a_token() {
    let site = Site::new(System::Azure);
    let (_, head) = site.open_change();
    site.accept("no", "no");
    let context = pull_request("1", &head);
    let agent = Agent { site: &site, branch: "less-logs", context: &context };
    agent.run("kalypso-check", "files").ends(0);
    site.company.change("control-plane@less-logs", "configs/common.yaml", "data: [\n");
    agent.run("kalypso-check", "files").ends(1).says(&["K0101"]);
}

#[test]
fn a_push_is_published_with_a_pull_request_and_sent_to_the_hub() {
    let site = Site::new(System::Azure);
    site.accept(GIT_TOKEN, HOST_TOKEN);
    let ran = Agent { site: &site, branch: "main", context: &[("Build.SourceBranchName", "main")] }
        .run("kalypso-publish", "publish");
    ran.ends(0).says(&["Sent 4 folders to the hub"]);
    Agent { site: &site, branch: "dev", context: &[("Build.SourceBranchName", "dev")] }
        .run("kalypso-publish", "publish")
        .ends(0);
    assert_eq!(site.pull_requests().len(), 1);
}

#[test]
fn a_variable_that_is_not_defined_is_no_value() {
    let site = Site::new(System::Azure);
    site.accept(GIT_TOKEN, HOST_TOKEN);
    // Azure Pipelines passes the macro itself.
    let context = [
        ("Build.SourceBranchName", "dev"),
        ("KALYPSO_HUB_URL", "$(KALYPSO_HUB_URL)"),
        ("KALYPSO_HUB_PUBLISH_TOKEN", "$(KALYPSO_HUB_PUBLISH_TOKEN)"),
        ("KALYPSO_CACHE_KEY", "$(KALYPSO_CACHE_KEY)"),
    ];
    let ran = Agent { site: &site, branch: "dev", context: &context }.run("kalypso-publish", "publish").ends(0);
    assert!(!ran.out.contains("hub"), "{}", ran.out);
}

#[test]
fn the_job_waits_until_the_clusters_have_the_commit() {
    for (report, status) in [("success", 0), ("failure", 1)] {
        let site = Site::new(System::Azure);
        let commit = site.deployed(report);
        let context = [("Build.SourceBranchName", "dev"), ("Build.SourceVersion", commit.as_str())];
        Agent { site: &site, branch: "main", context: &context }.run("kalypso-rollout", "rollout").ends(status);
    }
}
