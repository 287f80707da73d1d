//! The jobs that promote. The commands that move a change are replaced by a program that records its arguments; all other commands are real.

use std::fs;

use super::runner::System;
use super::site::{GIT_TOKEN, HOST_TOKEN, Site};
use super::{azure, github, gitlab};
use crate::company::Ran;

/// A site whose program records the arguments of the commands that promote, and ends them with a status.
fn recording(system: System, status: i32) -> Site {
    let site = Site::new(system);
    site.accept(GIT_TOKEN, HOST_TOKEN);
    let calls = site.company.path("calls");
    fs::write(&calls, "").unwrap();
    site.replace_program(&format!(
        "#!/bin/sh\ncase \"$1 $2\" in\n'promote '* | 'rollout advance')\n  test -n \"$KALYPSO_HUB_TOKEN\" && printf '%s|' \"$@\" >> '{}'\n  exit {status} ;;\n\
         *) exec '{}' \"$@\" ;;\nesac\n",
        calls.display(),
        env!("CARGO_BIN_EXE_kalypso")
    ));
    site
}

/// Compares the commands that were run, and checks that the output of the environments was published after it.
#[track_caller]
fn check(site: &Site, commands: &str) {
    assert_eq!(fs::read_to_string(site.company.path("calls")).unwrap(), commands);
    assert_eq!(site.pull_requests().len(), 1);
}

const ADVANCE: &str = "rollout|advance|";
const PROMOTE: &str = "promote|--to=prod|--|checkout@2.4.0|";
const CHANGE: &str = "checkout@2.4.0";
/// The exit statuses of a step, and those of its job: nothing moves, a move stopped, a change waits.
const STATUSES: [(i32, i32); 3] = [(0, 0), (1, 1), (2, 0)];

fn github_job(site: &Site, event: &str) -> Ran {
    let promote = github::file("control-plane/workflows/kalypso-promote.yml");
    let context = [("github.event_name", event), ("inputs.promoted_commit_id", CHANGE), ("inputs.environment", "prod")];
    github::Job::new(site, &context).run(&promote, "promote")
}

fn gitlab_job(site: &Site, job: &str) -> Ran {
    gitlab::run(site, (job, "main"), &[("KALYPSO_PROMOTE", CHANGE), ("KALYPSO_TO", "prod")])
}

fn azure_job(site: &Site, change: &str) -> Ran {
    let context = [("parameters.change", change), ("parameters.environment", "prod")];
    azure::Agent { site, branch: "main", context: &context }.run("kalypso-promote", "promote")
}

#[test]
fn github_promotes_on_request() {
    let site = recording(System::GitHub, 0);
    github_job(&site, "workflow_dispatch").ends(0);
    check(&site, PROMOTE);
}

#[test]
fn gitlab_promotes_on_request() {
    let site = recording(System::GitLab, 0);
    gitlab_job(&site, "kalypso-promote").ends(0);
    check(&site, PROMOTE);
}

#[test]
fn azure_pipelines_promotes_on_request() {
    let site = recording(System::Azure, 0);
    azure_job(&site, CHANGE).ends(0);
    check(&site, PROMOTE);
}

#[test]
fn github_advances_and_publishes_whatever_moved_or_stopped() {
    for (status, expected) in STATUSES {
        let site = recording(System::GitHub, status);
        github_job(&site, if status == 0 { "schedule" } else { "workflow_run" }).ends(expected);
        check(&site, ADVANCE);
    }
}

#[test]
fn gitlab_advances_and_publishes_whatever_moved_or_stopped() {
    for (status, expected) in STATUSES {
        let site = recording(System::GitLab, status);
        gitlab_job(&site, "kalypso-advance").ends(expected);
        check(&site, ADVANCE);
    }
}

#[test]
fn azure_pipelines_advances_and_publishes_whatever_moved_or_stopped() {
    for (status, expected) in STATUSES {
        let site = recording(System::Azure, status);
        azure_job(&site, "next").ends(expected);
        check(&site, ADVANCE);
    }
}

#[test]
fn nothing_is_published_after_a_step_that_failed() {
    let sites = [System::GitHub, System::GitLab, System::Azure].map(|system| recording(system, 69));
    github_job(&sites[0], "schedule").ends(69);
    gitlab_job(&sites[1], "kalypso-advance").ends(69);
    azure_job(&sites[2], "next").ends(69);
    assert!(sites.iter().all(|site| site.pull_requests().is_empty()));
}
