//! The jobs that promote. The commands that move a change are replaced by a program that records its arguments; all other commands are real.

use std::fs;

use super::runner::System;
use super::site::{GIT_TOKEN, HOST_TOKEN, Site};
use super::{azure, github, gitlab};

/// A site whose program records the arguments of the commands that promote.
fn recording(system: System) -> Site {
    let site = Site::new(system);
    site.accept(GIT_TOKEN, HOST_TOKEN);
    let calls = site.company.path("calls");
    fs::write(&calls, "").unwrap();
    site.replace_program(&format!(
        "#!/bin/sh\ncase \"$1 $2\" in\n'promote '* | 'rollout advance')\n  test -n \"$KALYPSO_HUB_TOKEN\" && printf '%s|' \"$@\" >> '{}' ;;\n\
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

#[test]
fn github_advances_after_each_run_and_promotes_on_request() {
    let promote = github::file("control-plane/workflows/kalypso-promote.yml");
    for (event, commands) in [("schedule", ADVANCE), ("workflow_run", ADVANCE), ("workflow_dispatch", PROMOTE)] {
        let site = recording(System::GitHub);
        let context =
            [("github.event_name", event), ("inputs.promoted_commit_id", CHANGE), ("inputs.environment", "prod")];
        github::Job::new(&site, &context).run(&promote, "promote").ends(0);
        check(&site, commands);
    }
}

#[test]
fn gitlab_advances_after_each_run_and_promotes_on_request() {
    let context = [("KALYPSO_PROMOTE", CHANGE), ("KALYPSO_TO", "prod")];
    for (job, commands) in [("kalypso-advance", ADVANCE), ("kalypso-promote", PROMOTE)] {
        let site = recording(System::GitLab);
        gitlab::run(&site, (job, "main"), &context).ends(0);
        check(&site, commands);
    }
}

#[test]
fn azure_pipelines_advances_after_each_run_and_promotes_on_request() {
    for (change, commands) in [("next", ADVANCE), (CHANGE, PROMOTE)] {
        let site = recording(System::Azure);
        let context = [("parameters.change", change), ("parameters.environment", "prod")];
        azure::run(&site, ("kalypso-promote", "promote"), ("main", &context)).ends(0);
        check(&site, commands);
    }
}
