//! The workflows for GitHub Actions.

use git_host::double::{DoubleFault, FaultAnswer};
use serde_json::{Value as Json, json};

use super::runner::{Context, Runner, System};
use super::site::{CACHE_KEY, GIT_TOKEN, HOST_TOKEN, IMAGE, PLAN_TOKEN, Site};
use crate::company::Ran;
use crate::{page, yaml};

const FOLDER: &str = "deploy/ci/github";

/// A file in the folder of the workflows.
pub(super) fn file(path: &str) -> Json {
    yaml::document(&page::text(&format!("{FOLDER}/{path}")))
}

fn workflow(name: &str) -> Json {
    file(&format!("control-plane/workflows/{name}.yml"))
}

/// The machine of a job, with what all jobs of a workflow need.
pub(super) struct Job<'s> {
    pub(super) site: &'s Site,
    pub(super) runner: Runner,
    values: Vec<(String, String)>,
}

impl<'s> Job<'s> {
    pub(super) fn new(site: &'s Site, context: Context<'_>) -> Self {
        let [read, publish] = &site.hub_tokens;
        let secrets = [
            ("secrets.KALYPSO_PLAN_TOKEN", PLAN_TOKEN),
            ("secrets.KALYPSO_GIT_TOKEN", GIT_TOKEN),
            ("secrets.KALYPSO_HOST_TOKEN", HOST_TOKEN),
            ("secrets.KALYPSO_HUB_TOKEN", read),
            ("secrets.KALYPSO_HUB_PUBLISH_TOKEN", publish),
            ("secrets.KALYPSO_CACHE_KEY", CACHE_KEY),
            ("vars.KALYPSO_HUB_URL", site.hub.url()),
            ("github.event.repository.default_branch", "main"),
            ("github.token", HOST_TOKEN),
            ("inputs.image", IMAGE),
        ];
        let values = secrets.iter().chain(context);
        let values = values.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Self { site, runner: site.runner(), values }
    }

    /// Runs the steps of a job, until one fails.
    #[track_caller]
    pub(super) fn run(&mut self, workflow: &Json, job: &str) -> Ran {
        let job = &workflow["jobs"][job];
        self.steps(&job["steps"], &job["env"])
    }

    #[track_caller]
    fn steps(&mut self, steps: &Json, shared: &Json) -> Ran {
        let mut last = Ran { status: 0, out: String::new(), err: String::new() };
        for step in steps.as_array().unwrap() {
            if !self.is_run(step) {
                continue;
            }
            match step["uses"].as_str() {
                Some(action) if action.starts_with("actions/checkout@") => self.check_out(&step["with"]),
                Some("./.github/actions/kalypso") => {
                    let action = file("control-plane/actions/kalypso/action.yml");
                    assert_eq!(action["inputs"]["image"]["default"], IMAGE);
                    last = self.steps(&action["runs"]["steps"], &Json::Null);
                }
                Some(action) => assert!(action.starts_with("actions/cache@"), "{action}"),
                None => last = self.step(step, shared),
            }
            if last.status != 0 {
                break;
            }
        }
        last
    }

    /// Whether the condition of a step holds.
    fn is_run(&self, step: &Json) -> bool {
        let Some(condition) = step["if"].as_str() else { return true };
        let is_equal = condition.contains(" == ");
        let (name, value) = condition.split_once(if is_equal { " == " } else { " != " }).unwrap();
        (self.value(name) == value.trim_matches('\'')) == is_equal
    }

    fn value(&self, name: &str) -> &str {
        &self.values.iter().find(|(found, _)| found == name).unwrap_or_else(|| panic!("{name}")).1
    }

    fn check_out(&self, with: &Json) {
        assert_eq!(with["persist-credentials"], false, "git keeps the token");
        let folder = self.runner.sources().join(with["path"].as_str().unwrap_or("."));
        let branch = match with["ref"].as_str() {
            Some(of_main) => {
                assert_eq!(of_main, "${{ github.event.repository.default_branch }}");
                "main"
            }
            None => self.value("the branch that is checked out"),
        };
        let repository = self.values.iter().find(|(name, _)| name == "the repository");
        let repository = repository.map_or("control-plane", |(_, value)| value);
        self.site.clone_to((repository, branch), &folder);
    }

    #[track_caller]
    fn step(&mut self, step: &Json, shared: &Json) -> Ran {
        assert_eq!(step["shell"], "bash", "without a shell, a failure in a pipe is ignored");
        let values: Vec<_> = self.values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let mut variables = self.runner.evaluate(shared, &values);
        variables.extend(self.runner.evaluate(&step["env"], &values));
        let predefined = values.iter().filter(|(name, _)| name.starts_with("GITHUB_"));
        variables.extend(predefined.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let folder = self.runner.sources();
        self.runner.run(step["run"].as_str().unwrap(), &folder, &variables)
    }
}

/// The values of a pull request into dev.
fn pull_request<'c>(number: &'c str, head: &'c str) -> [(&'c str, &'c str); 3] {
    [
        ("github.event.pull_request.base.ref", "dev"),
        ("github.event.pull_request.head.sha", head),
        ("GITHUB_REF", number),
    ]
}

#[test]
fn a_pull_request_is_checked_and_gets_the_plan() {
    let site = Site::new(System::GitHub);
    let (number, head) = site.open_change();
    site.accept(PLAN_TOKEN, HOST_TOKEN);
    let reference = format!("refs/pull/{number}/merge");
    let mut job = Job::new(&site, &pull_request(&reference, &head));
    job.run(&workflow("kalypso-check"), "check").ends(0);
    for _ in 0..2 {
        let mut job = Job::new(&site, &pull_request(&reference, &head));
        job.run(&workflow("kalypso-check"), "plan").ends(0);
        assert!(!job.runner.log.contains(PLAN_TOKEN) && !job.runner.log.contains(HOST_TOKEN), "{}", job.runner.log);
    }
    let comments = site.comments(number);
    assert_eq!(comments.len(), 1);
    assert!(comments[0].contains("LOG_LEVEL"), "{}", comments[0]);
}

#[test]
fn a_pull_request_with_an_error_fails_the_check() {
    let site = Site::new(System::GitHub);
    let (_, _) = site.open_change();
    let head = site.company.change("control-plane@less-logs", "configs/common.yaml", "data: [\n");
    site.accept(PLAN_TOKEN, HOST_TOKEN);
    let mut job = Job::new(&site, &pull_request("refs/pull/1/merge", &head));
    job.run(&workflow("kalypso-check"), "check").ends(1).says(&["::error title=K0101", "configs/common.yaml:1"]);
}

#[test]
fn a_pull_request_of_the_main_branch_is_planned_for_all_environments() {
    let site = Site::new(System::GitHub);
    let (number, _) = site.open_change();
    site.company.merge("control-plane", "more", "main");
    let config = testkit::objects::config("all", "", "NEW: value");
    let head = site.company.change("control-plane@more", "configs/all.yaml", &config);
    site.accept(PLAN_TOKEN, HOST_TOKEN);
    let reference = format!("refs/pull/{number}/merge");
    let mut context = pull_request(&reference, &head).to_vec();
    context[0].1 = "main";
    Job::new(&site, &context).run(&workflow("kalypso-check"), "check").ends(0);
    Job::new(&site, &context).run(&workflow("kalypso-check"), "plan").ends(0);
    assert!(site.comments(number)[0].contains("NEW"), "{:?}", site.comments(number));
}

#[test]
fn a_pull_request_from_a_fork_is_checked_without_a_token() {
    let site = Site::new(System::GitHub);
    let (_, head) = site.open_change();
    site.accept(PLAN_TOKEN, HOST_TOKEN);
    let mut context = pull_request("refs/pull/1/merge", &head).to_vec();
    context.push(("the branch that is checked out", "less-logs"));
    Job::new(&site, &context).run(&workflow("kalypso-check"), "files").ends(0);
    site.company.change("control-plane@less-logs", "configs/common.yaml", "data: [\n");
    let ran = Job::new(&site, &context).run(&workflow("kalypso-check"), "files");
    ran.ends(1).says(&["::error file=", "K0101"]);
    assert!(site.double.exchanges().is_empty());
}

#[test]
fn a_push_is_published_with_a_pull_request_and_sent_to_the_hub() {
    let site = Site::new(System::GitHub);
    site.accept(GIT_TOKEN, HOST_TOKEN);
    let mut job = Job::new(&site, &[("github.ref_name", "main")]);
    job.run(&workflow("kalypso-publish"), "publish").ends(0).says(&["Sent 4 folders to the hub"]);
    let opened = site.pull_requests();
    assert_eq!(opened.len(), 1);
    assert_eq!((opened[0].head.as_str(), opened[0].base.as_str()), ("kalypso/dev", "dev"));
    let mut job = Job::new(&site, &[("github.ref_name", "dev")]);
    job.run(&workflow("kalypso-publish"), "publish").ends(0);
    assert_eq!(site.pull_requests().len(), 1);
}

#[test]
fn a_promotion_gets_the_label_that_other_workflows_wait_for() {
    let site = Site::new(System::GitHub);
    let main = site.company.head("control-plane", "main").unwrap();
    let base = testkit::objects::pinned_base(main);
    site.company.change("control-plane@dev", "base.yaml", &base);
    site.accept(GIT_TOKEN, HOST_TOKEN);
    Job::new(&site, &[("github.ref_name", "dev")]).run(&workflow("kalypso-publish"), "publish").ends(0);
    assert!(site.pull_requests()[0].labels.contains("promoted"));
}

/// Waits for a commit, and compares the exit status of the job and the status of the promoted commit.
#[track_caller]
fn check_wait(report: &str, exit: i32, expected: &str) {
    let site = Site::new(System::GitHub);
    let promoted = site.company.head("control-plane", "main").unwrap();
    let commit = site.deployed(report);
    if report == "in_progress" {
        site.supersede();
    }
    let api = format!("{}/api/v3", site.double.url());
    let context = [
        ("inputs.environment", "dev"),
        ("inputs.commit_id", commit.as_str()),
        ("inputs.promoted_commit_id", promoted.as_str()),
        ("GITHUB_API_URL", api.as_str()),
        ("GITHUB_REPOSITORY", "acme/control-plane"),
    ];
    let mut job = Job::new(&site, &context);
    job.run(&workflow("kalypso-rollout"), "wait").ends(exit);
    assert!(!job.runner.log.contains(HOST_TOKEN), "{}", job.runner.log);
    let statuses = site.statuses(&promoted);
    assert_eq!(statuses.last().map(String::as_str), Some(expected), "{statuses:?}");
}

#[test]
fn the_job_waits_until_the_clusters_have_the_commit() {
    check_wait("success", 0, "dev environment: Success, Deployed");
}

#[test]
fn the_job_fails_if_a_cluster_fails() {
    check_wait("failure", 1, "dev environment: Failure, Failed to deploy");
}

#[test]
fn the_job_ends_well_if_another_commit_supersedes_it() {
    check_wait("in_progress", 0, "dev environment: Error, Superseded by another commit");
}

#[test]
fn invalid_environments_and_commits_are_refused() {
    let site = Site::new(System::GitHub);
    for (environment, promoted) in [("dev\"", ""), ("dev", "../../../user"), ("", "")] {
        let context = [
            ("inputs.environment", environment),
            ("inputs.commit_id", "41c77fe"),
            ("inputs.promoted_commit_id", promoted),
        ];
        Job::new(&site, &context).run(&workflow("kalypso-rollout"), "wait").ends(64);
    }
}

#[test]
fn a_merge_in_the_gitops_repository_starts_the_wait() {
    let site = Site::new(System::GitHub);
    site.company.change("gitops@dev", ".github/tracking/Promoted_Commit_Id", "0a1b2c\n");
    site.accept(GIT_TOKEN, HOST_TOKEN);
    site.double.fail_next(DoubleFault {
        method: "POST",
        target: "/dispatches".to_owned(),
        is_done: false,
        answer: FaultAnswer::Answer { status: 204, headers: Vec::new(), body: String::new() },
        times: 1,
    });
    let (api, commit) = (format!("{}/api/v3", site.double.url()), site.company.head("gitops", "dev").unwrap());
    let context = [
        ("the repository", "gitops"),
        ("the branch that is checked out", "dev"),
        ("vars.CONTROL_PLANE", "acme/control-plane"),
        ("secrets.CONTROL_PLANE_TOKEN", HOST_TOKEN),
        ("GITHUB_API_URL", &api),
        ("GITHUB_REF_NAME", "dev"),
        ("GITHUB_SHA", &commit),
    ];
    let mut job = Job::new(&site, &context);
    job.run(&file("gitops/workflows/kalypso-merged.yml"), "start").ends(0);
    let sent = site.double.exchanges().pop().unwrap();
    assert_eq!(sent.target, "/api/v3/repos/acme/control-plane/actions/workflows/kalypso-rollout.yml/dispatches");
    assert!(sent.headers.contains(&("authorization".to_owned(), format!("Bearer {HOST_TOKEN}"))));
    let inputs = json!({"environment": "dev", "commit_id": commit, "promoted_commit_id": "0a1b2c"});
    assert_eq!(serde_json::from_slice::<Json>(&sent.body).unwrap(), json!({"ref": "main", "inputs": inputs}));
    // The names are those of the workflow that is started.
    let of_workflow = &workflow("kalypso-rollout")["on"]["workflow_dispatch"]["inputs"];
    assert!(inputs.as_object().unwrap().keys().eq(of_workflow.as_object().unwrap().keys()), "{of_workflow}");
}

#[test]
fn a_runner_that_has_the_program_needs_no_image() {
    let site = Site::new(System::GitHub);
    let mut job = Job::new(&site, &[]);
    job.values.iter_mut().filter(|(name, _)| name == "inputs.image").for_each(|(_, value)| value.clear());
    let action = file("control-plane/actions/kalypso/action.yml");
    job.steps(&action["runs"]["steps"], &Json::Null).ends(0);
    assert!(!job.runner.path("temp/kalypso/bin/kalypso").exists());
}
