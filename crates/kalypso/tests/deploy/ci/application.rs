//! The workflows of applications: their scripts, with a real application, git over HTTP, and a git host.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use git_host::HostKind;
use git_host::double::{DoubleFault, FaultAnswer};
use git_host::pull_request::NewPullRequest;
use serde_json::{Value as Json, json};
use testkit::programs::on_path;

use super::runner::{Context, Runner, System};
use super::{azure, github, gitlab};
use crate::application_world::{HostedApplication, TOKEN, path_with_helm};
use crate::company::{Ran, git};

/// An application, and the machine that runs its jobs.
struct Site {
    hosted: HostedApplication,
    runner: Runner,
}

/// What steps of a build set.
const OF_BUILD: Context<'_> = &[
    ("KALYPSO_APP_IMAGE_TAG", "1.1.0-57"),
    ("KALYPSO_APP_PACKAGE", "sha256:00000000000000000000000000000000000000000000000000000000000000ab"),
];

/// A script with the variables of its step.
struct Script {
    text: String,
    variables: Json,
}

impl Site {
    /// None, with a message, without Helm.
    fn new(system: System, kind: HostKind) -> Option<Self> {
        let hosted = HostedApplication::on(kind)?;
        let programs = hosted.application.path("programs");
        std::fs::create_dir(&programs).unwrap();
        let helm = on_path("helm", &path_with_helm()?)?.join("helm");
        symlink(helm, programs.join("helm")).unwrap();
        symlink(env!("CARGO_BIN_EXE_kalypso"), programs.join("kalypso")).unwrap();
        Some(Self { runner: Runner::new(system, &programs), hosted })
    }

    fn sources(&self) -> PathBuf {
        self.hosted.application.path("shop")
    }

    /// Runs a script where the source is checked out.
    #[track_caller]
    fn run(&mut self, script: &Script, context: Context<'_>) -> Ran {
        let mut variables: BTreeMap<_, _> = self.runner.evaluate(&script.variables, context);
        let set = context.iter().filter(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'));
        variables.extend(set.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let sources = self.sources();
        let ran = self.runner.run(&script.text, &sources, &variables);
        assert!(!self.runner.log.contains(TOKEN), "{}", self.runner.log);
        ran
    }

    /// A pull request of the source with another value, which is checked out.
    fn open_change(&self) -> (u64, String) {
        let base = git(&self.sources(), &["rev-parse", "HEAD"]);
        git(&self.sources(), &["switch", "--quiet", "--create", "more"]);
        self.hosted.application.write("values/dev/us/values.yaml", "replicas: 5\n");
        self.hosted.application.commit("More for the US");
        git(&self.sources(), &["push", "--quiet", "origin", "more"]);
        let new = NewPullRequest {
            head: "more".to_owned(),
            base: "main".to_owned(),
            title: "More".to_owned(),
            ..NewPullRequest::default()
        };
        let mut state = self.hosted.state.state();
        (state.repository("acme/shop").unwrap().open("ann", &new).unwrap(), base)
    }

    /// Checks that `dev` has what the build made.
    #[track_caller]
    fn has_the_release_of_the_build(&self) {
        let folder = self.hosted.application.path("served/acme/shop-gitops");
        let descriptor = git(&folder, &["show", "dev:us/descriptor.yaml"]);
        let release = descriptor.lines().find(|line| line.contains("application.kalypso.io/release")).unwrap();
        assert!(OF_BUILD.iter().all(|(_, value)| release.contains(value.trim_start_matches("sha256:"))), "{release}");
    }

    fn comments(&self, number: u64) -> Vec<String> {
        let mut state = self.hosted.state.state();
        let comments = state.repository("acme/shop").unwrap().comments(number, "shop-bot").unwrap();
        comments.into_iter().map(|comment| comment.body).collect()
    }
}

impl HostedApplication {
    /// Puts a program in the place of `kalypso` that waits for the version of these tests, and ends with this status: nothing reports here.
    fn expect_to_wait(&self, status: u8) {
        let program = self.application.path("programs/kalypso");
        std::fs::remove_file(&program).unwrap();
        let expected = "rollout wait shop@1.0.0 -e dev --timeout 2h";
        std::fs::write(&program, format!("#!/bin/sh\ntest \"$*\" = '{expected}' || exit 99\nexit {status}\n")).unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
}

/// The script of a step of a workflow of GitHub.
fn of_github(workflow: &str, (job, step): (&str, &str)) -> Script {
    let workflow = github::file(&format!("application/workflows/{workflow}.yml"));
    let steps = workflow["jobs"][job]["steps"].as_array().unwrap();
    let step = steps.iter().find(|found| found["name"] == step).unwrap();
    assert_eq!(step["shell"], "bash");
    Script { text: step["run"].as_str().unwrap().to_owned(), variables: step["env"].clone() }
}

/// The scripts of a job of GitLab.
fn of_gitlab(job: &str) -> Script {
    let file = gitlab::file("kalypso-app");
    let lines = |lines: &Json| {
        lines.as_array().into_iter().flatten().map(|line| format!("{}\n", line.as_str().unwrap())).collect::<String>()
    };
    let before =
        if file[job]["extends"].is_null() { String::new() } else { lines(&file[".kalypso-app"]["before_script"]) };
    Script { text: before + &lines(&file[job]["script"]), variables: Json::Null }
}

/// The script of a step of Azure Pipelines.
fn of_azure(job: &str, step: &str) -> Script {
    let file = azure::file("kalypso-app");
    let job = file["jobs"].as_array().unwrap().iter().find(|found| found["job"] == job).unwrap();
    let step = job["steps"].as_array().unwrap().iter().find(|found| found["displayName"] == step).unwrap();
    Script { text: step["bash"].as_str().unwrap().to_owned(), variables: step["env"].clone() }
}

#[test]
fn github_checks_and_compares_a_pull_request() {
    let Some(mut site) = Site::new(System::GitHub, HostKind::GitHub) else { return };
    site.run(&of_github("kalypso-app-check", ("check", "Check")), &[]).ends(0);
    let (number, base) = site.open_change();
    let reference = format!("refs/pull/{number}/merge");
    let context = [
        ("github.event.pull_request.base.sha", base.as_str()),
        ("vars.KALYPSO_APP_ENVIRONMENTS", "dev stage"),
        ("github.token", TOKEN),
        ("GITHUB_REF", &reference),
    ];
    for _ in 0..2 {
        site.run(&of_github("kalypso-app-check", ("diff", "Compare")), &context).ends(0);
    }
    let comments = site.comments(number);
    assert_eq!(comments.len(), 2, "one for each environment: {comments:?}");
    assert!(comments[0].contains("-   spec.replicas: 3\n+   spec.replicas: 5"), "{}", comments[0]);
    assert!(comments[1].contains("nothing changes"), "{}", comments[1]);
    site.hosted.application.write("values/dev/us/values.yaml", "replicas: ${MANY}\n");
    let ran = site.run(&of_github("kalypso-app-check", ("check", "Check")), &[]);
    ran.ends(1).says(&["::error file=values/dev/us/values.yaml,line=1", "title=K0702"]);
}

/// The values of the workflow `deploy`.
fn deploy_context<'c>(version: &'c str, api: &'c str, commit: &'c str) -> Vec<(&'static str, &'c str)> {
    vec![
        ("inputs.environment || vars.START_ENVIRONMENT", "dev"),
        ("github.event_name == 'push' && github.ref_name || ''", version),
        ("inputs.version", ""),
        ("inputs.commit_id", ""),
        ("inputs.image_tag", ""),
        ("inputs.package", ""),
        ("inputs.promotion", ""),
        ("vars.KALYPSO_APP_WORKLOAD", "shop"),
        ("vars.NEXT_ENVIRONMENT", "stage"),
        ("vars.KALYPSO_HUB_URL", "http://127.0.0.1:1"),
        ("secrets.KALYPSO_HUB_TOKEN", "hub"),
        ("secrets.KALYPSO_APP_TOKEN", TOKEN),
        ("github.token", TOKEN),
        ("GITHUB_API_URL", api),
        ("GITHUB_REPOSITORY", "acme/shop"),
        ("GITHUB_SHA", commit),
        ("GITHUB_REF_NAME", "v1.0.0"),
    ]
}

#[test]
fn github_deploys_a_tag_and_goes_on_to_the_next_environment() {
    let Some(mut site) = Site::new(System::GitHub, HostKind::GitHub) else { return };
    let api = format!("{}/api/v3", site.hosted.double.url());
    let commit = git(&site.sources(), &["rev-parse", "HEAD"]);
    let context = deploy_context("v1.0.0", &api, &commit);
    site.run(&of_github("deploy", ("deploy", "Deploy")), &context).ends(0).says(&["+ eu  new"]);
    assert_eq!(site.statuses(&commit), ["dev: Pending, Promoted 1.0.0"]);
    site.hosted.expect_to_wait(0);
    site.hosted.double.fail_next(DoubleFault {
        method: "POST",
        target: "/dispatches".to_owned(),
        is_done: false,
        answer: FaultAnswer::Answer { status: 204, headers: Vec::new(), body: String::new() },
        times: 1,
    });
    site.run(&of_github("deploy", ("deploy", "Wait")), &context).ends(0);
    assert_eq!(site.statuses(&commit).last().map(String::as_str), Some("dev: Success, Deployed 1.0.0"));
    let sent = site.hosted.double.exchanges().pop().unwrap();
    assert_eq!(sent.target, "/api/v3/repos/acme/shop/actions/workflows/deploy.yml/dispatches");
    let inputs = json!({"environment": "stage", "version": "1.0.0", "commit_id": commit, "image_tag": ""});
    assert_eq!(serde_json::from_slice::<Json>(&sent.body).unwrap(), json!({"ref": "v1.0.0", "inputs": inputs}));
    let known = &github::file("application/workflows/deploy.yml")["on"]["workflow_dispatch"]["inputs"];
    assert!(inputs.as_object().unwrap().keys().all(|name| known[name].is_object()), "{known}");
}

#[test]
fn github_deploys_new_values_and_refuses_invalid_inputs() {
    let Some(mut site) = Site::new(System::GitHub, HostKind::GitHub) else { return };
    let api = format!("{}/api/v3", site.hosted.double.url());
    let commit = git(&site.sources(), &["rev-parse", "HEAD"]);
    let deploy = of_github("deploy", ("deploy", "Deploy"));
    site.run(&deploy, &deploy_context("v1.0.0", &api, &commit)).ends(0);
    site.hosted.application.write("values/dev/eu/values.yaml", "replicas: 8\n");
    site.hosted.application.commit("More");
    let ran = site.run(&deploy, &deploy_context("", &api, &commit)).ends(0);
    ran.says(&["~ eu  changed  was 1.0.0"]);
    let context = [&deploy_context("v1.1.0", &api, &commit)[..], OF_BUILD].concat();
    site.run(&deploy, &context).ends(0);
    site.has_the_release_of_the_build();
    let mut context = deploy_context("v1.0.0", &api, &commit);
    context[0].1 = "dev\"";
    site.run(&deploy, &context).ends(64).says(&["this is no environment"]);
}

#[test]
fn gitlab_checks_compares_and_deploys() {
    let Some(mut site) = Site::new(System::GitLab, HostKind::GitLab) else { return };
    let (number, base) = site.open_change();
    let (number_text, sources) = (number.to_string(), site.sources().display().to_string());
    let head = git(&site.sources(), &["rev-parse", "HEAD"]);
    let context = [
        ("CI_PROJECT_DIR", sources.as_str()),
        ("CI_DEFAULT_BRANCH", "main"),
        ("CI_MERGE_REQUEST_IID", &number_text),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", &base),
        ("CI_COMMIT_SHA", &head),
        ("CI_COMMIT_TAG", "v1.0.0"),
        ("START_ENVIRONMENT", "dev"),
        ("KALYPSO_APP_ENVIRONMENTS", "dev"),
        ("KALYPSO_APP_TOKEN", TOKEN),
        ("KALYPSO_APP_COMMENT_TOKEN", TOKEN),
    ];
    site.run(&of_gitlab("kalypso-app-check"), &context).ends(0);
    site.run(&of_gitlab("kalypso-app-diff"), &context).ends(0);
    assert!(site.comments(number)[0].contains("spec.replicas"), "{:?}", site.comments(number));
    site.run(&of_gitlab("kalypso-app-deploy"), &[&context[..], OF_BUILD].concat()).ends(0).says(&["+ us  new"]);
    site.has_the_release_of_the_build();
    let waiting = [&context[..], &[("KALYPSO_APP_WORKLOAD", "shop"), ("KALYPSO_TIMEOUT", "2h")]].concat();
    for (status, expected) in WAITS {
        site.hosted.expect_to_wait(status);
        site.run(&of_gitlab("kalypso-app-wait"), &waiting).ends(expected);
    }
}

/// The statuses of `rollout wait`, and those of the jobs: a version that another one superseded is not an error.
const WAITS: [(u8, i32); 3] = [(0, 0), (4, 0), (1, 1)];

#[test]
fn azure_pipelines_compares_a_pull_request() {
    let Some(mut site) = Site::new(System::Azure, HostKind::GitHub) else { return };
    let (number, _) = site.open_change();
    git(&site.sources(), &["fetch", "--quiet", "origin"]);
    let number_text = number.to_string();
    let context = [
        ("System.PullRequest.TargetBranch", "refs/heads/main"),
        ("SYSTEM_PULLREQUEST_PULLREQUESTID", &number_text),
        ("KALYPSO_APP_ENVIRONMENTS", "dev stage"),
        ("System.AccessToken", TOKEN),
    ];
    for _ in 0..2 {
        site.run(&of_azure("diff", "Compare"), &context).ends(0);
    }
    let comments = site.comments(number);
    assert!(comments.len() == 2 && comments[0].contains("+   spec.replicas: 5"), "{comments:?}");
}

#[test]
fn azure_pipelines_checks_deploys_and_waits() {
    let Some(mut site) = Site::new(System::Azure, HostKind::GitHub) else { return };
    let commit = git(&site.sources(), &["rev-parse", "HEAD"]);
    site.run(&of_azure("check", "Check"), &[]).ends(0);
    let context = [
        ("START_ENVIRONMENT", "dev"),
        ("Build.SourceBranch", "refs/tags/v1.0.0"),
        ("Build.SourceVersion", &commit),
        ("KALYPSO_APP_TOKEN", TOKEN),
    ];
    site.run(&of_azure("deploy", "Deploy"), &[&context[..], OF_BUILD].concat()).ends(0).says(&["+ us  new"]);
    site.has_the_release_of_the_build();
    let hub = [("KALYPSO_HUB_URL", "http://127.0.0.1:1"), ("KALYPSO_HUB_TOKEN", "hub")];
    let waiting = [&context[..], &[("KALYPSO_APP_WORKLOAD", "shop")], &hub].concat();
    for (status, expected) in WAITS {
        site.hosted.expect_to_wait(status);
        site.run(&of_azure("deploy", "Wait"), &waiting).ends(expected);
    }
}

impl Site {
    /// The statuses of a commit of the source, the oldest first.
    fn statuses(&self, commit: &str) -> Vec<String> {
        let commit = model::git_id::GitId::from_hex(commit).unwrap();
        let mut state = self.hosted.state.state();
        let statuses = state.repository("acme/shop").unwrap().statuses(commit);
        statuses
            .iter()
            .map(|status| format!("{}: {:?}, {}", status.context, status.state, status.description))
            .collect()
    }
}
