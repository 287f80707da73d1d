//! What happens to the service in a round: changes by users, webhooks, faults and kills.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::thread;
use std::time::Duration;

use git_host::double::{DoubleFault, FaultAnswer};
use testkit::git_server::ServerFault;
use testkit::objects;

use super::hosted::{ACCOUNTS, Hosted};
use super::kind;
use crate::chance::Chance;
use crate::company::{HOST, git};
use crate::site::ENVIRONMENTS;

/// The file that can't be read.
pub(crate) const BROKEN: &str = "configs/broken.yaml";
/// The longest pause between two events, in milliseconds.
const PAUSE_MS: u64 = 250;
/// The maximum number of requests that the git host answers with one fault.
const FAULT_TIMES: u64 = 3;

/// The longest time until a late answer, in milliseconds.
const LATE_MS_MAX: u64 = 5_000;
/// The longest pause between two bytes of an answer, in microseconds. A list of pull requests has more than 10,000 bytes.
const DRIP_US_MAX: u64 = 300;

/// The state of a round.
#[derive(Default)]
pub(crate) struct Round {
    /// Webhooks that are not sent yet, by their branches: `REPOSITORY@BRANCH`.
    late: Vec<String>,
    /// The environments whose pull request a user closed, or whose branch a user edited.
    touched: BTreeSet<&'static str>,
    pub(crate) kills: u64,
}

impl Round {
    /// Lets one thing happen. Returns its description. `state` is a number that was never used before.
    pub(crate) fn happen(&mut self, hosted: &mut Hosted, chance: &mut Chance, state: u64) -> String {
        let environment = chance.one_of(&ENVIRONMENTS);
        let what = match chance.below(16) {
            0..4 => value(hosted, environment, state),
            4..6 => add_workload(hosted, environment, state),
            6 => remove_workload(hosted, environment, chance),
            7 => {
                hosted.company.change(&at(environment), BROKEN, "kind: [\n");
                format!("a broken file in {environment}")
            }
            8 => force_push(hosted, environment, state),
            9 => delete_and_restore(hosted, environment, chance),
            10 => {
                let text = format!("{}# {state}\n", objects::workload_in("shop", &ENVIRONMENTS));
                hosted.company.change("shop@main", "shop.yaml", &text);
                self.announce(hosted, "shop@main", chance);
                return "a change of the application".to_owned();
            }
            11 | 12 => merge(hosted, environment),
            13 => self.close(hosted, environment),
            14 => self.edit(hosted, environment, state),
            _ => note(hosted, environment, state),
        };
        let is_gitops = ["merge", "note", "edit", "clos"].iter().any(|word| what.contains(word));
        let repository = if is_gitops { "gitops" } else { "control-plane" };
        format!("{what}{}", self.announce(hosted, &format!("{repository}@{environment}"), chance))
    }

    /// Starts a fault of the git host or of the git server. Returns its description.
    pub(crate) fn spoil(hosted: &Hosted, chance: &mut Chance) -> String {
        if chance.once_in(3) {
            let bytes = chance.below(600) as usize;
            let fault = chance.one_of(&[
                ServerFault::Status(500),
                ServerFault::Status(503),
                ServerFault::Page,
                ServerFault::Garbage(bytes),
                ServerFault::Deaf(bytes),
                ServerFault::Cut(bytes),
                ServerFault::Drip,
            ]);
            let part = chance.one_of(&["", "info/refs", "git-upload-pack", "/git-receive-pack", "gitops"]);
            hosted.server.set_fault(Some((part, fault)));
            return format!("{fault:?} at `{part}`");
        }
        let (answer, what) = host_fault(chance);
        let fault = DoubleFault {
            method: chance.one_of(&["GET", "POST", "PATCH", "PUT", "DELETE"]),
            target: chance.one_of(&kind::targets(hosted.kind)).to_owned(),
            is_done: chance.once_in(2),
            answer,
            times: 1 + chance.below(FAULT_TIMES) as u32,
        };
        let DoubleFault { method, target, is_done, times, .. } = &fault;
        let what = format!("{what} at {method} `{target}` {times} times{}", if *is_done { " when done" } else { "" });
        hosted.double.fail_next(fault);
        what
    }

    /// Kills the service after a while, and starts it again.
    pub(crate) fn kill(&mut self, hosted: &mut Hosted, chance: &mut Chance) -> String {
        let delay = pause(chance);
        hosted.kill();
        self.kills += 1;
        hosted.start();
        format!("killed after {delay} ms")
    }

    /// Ends all faults. Then users end what they began, and the webhooks that are late arrive in any order. Some are lost.
    pub(crate) fn settle(&mut self, hosted: &mut Hosted, (chance, state): (&mut Chance, &mut u64)) -> String {
        hosted.server.set_fault(None);
        hosted.double.clear_faults();
        let mut story = String::new();
        for environment in ENVIRONMENTS {
            let is_broken = hosted.company.files("control-plane", environment).lines().any(|path| path == BROKEN);
            if is_broken && !chance.once_in(3) {
                hosted.company.remove("control-plane", environment, BROKEN);
                let _ = write!(story, ", the file in {environment} is removed");
            }
        }
        // What a user closed stays closed until the change is another one.
        for environment in std::mem::take(&mut self.touched) {
            let branch = format!("kalypso/{environment}");
            if hosted.company.head("gitops", &branch).is_some() {
                git(&hosted.company.repository("gitops"), &["update-ref", "-d", &format!("refs/heads/{branch}")]);
            }
            *state += 1;
            let _ = write!(story, ", {}", value(hosted, environment, *state));
        }
        while !self.late.is_empty() {
            let branch = self.late.swap_remove(chance.below(self.late.len() as u64) as usize);
            let _ = hosted.announce(&branch, true);
        }
        if !chance.once_in(4) {
            let _ = hosted.ask("POST /api/v1/sync", &[], "");
            story += ", a request";
        }
        story
    }

    /// A user closes the pull request of the service.
    fn close(&mut self, hosted: &Hosted, environment: &'static str) -> String {
        let Some(found) = hosted.proposal(environment) else { return "nothing to close".to_owned() };
        self.touched.insert(environment);
        hosted.close_as(ACCOUNTS[1].0, found.number);
        format!("{} is closed", found.number)
    }

    /// A user pushes to the branch of the service.
    fn edit(&mut self, hosted: &Hosted, environment: &'static str, state: u64) -> String {
        let branch = format!("kalypso/{environment}");
        if hosted.company.head("gitops", &branch).is_none() {
            return "nothing to edit".to_owned();
        }
        self.touched.insert(environment);
        hosted.company.change(&format!("gitops@{branch}"), "README.md", &format!("Edited {state}.\n"));
        format!("an edit of {branch}")
    }

    /// Sends the webhook of a change: once, twice, later, with a wrong signature, or not at all. Then time passes.
    fn announce(&mut self, hosted: &Hosted, at: &str, chance: &mut Chance) -> &'static str {
        let what = match chance.below(6) {
            0 => "",
            1 => {
                let status = hosted.announce(at, false);
                assert!(status.is_none_or(|status| status == 401), "a wrong signature is answered with {status:?}");
                " with a wrong signature"
            }
            2 => {
                self.late.push(at.to_owned());
                " announced late"
            }
            3 => {
                let _ = (hosted.announce(at, true), hosted.announce(at, true));
                " announced twice"
            }
            _ => {
                let _ = hosted.announce(at, true);
                " announced"
            }
        };
        pause(chance);
        what
    }
}

/// Waits for a random time. Returns it in milliseconds.
fn pause(chance: &mut Chance) -> u64 {
    // Short pauses are as important as long ones.
    let longest = 1 + chance.below(PAUSE_MS);
    let delay = chance.below(longest);
    thread::sleep(Duration::from_millis(delay));
    delay
}

fn at(environment: &str) -> String {
    format!("control-plane@{environment}")
}

fn host_fault(chance: &mut Chance) -> (FaultAnswer, String) {
    let answer = |status, headers, body: &str| FaultAnswer::Answer { status, headers, body: body.to_owned() };
    let found = match chance.below(9) {
        0 => answer(500, Vec::new(), "{\"message\":\"Server Error\"}"),
        1 => answer(502, Vec::new(), "<html>Bad Gateway</html>"),
        2 => answer(429, vec![("retry-after", "1".to_owned())], "{\"message\":\"slow down\"}"),
        3 => answer(200, vec![("content-type", "text/html".to_owned())], "<!DOCTYPE html><html>Sign in</html>"),
        4 => answer(403, vec![("retry-after", "1".to_owned())], "{\"message\":\"secondary rate limit\"}"),
        5 => FaultAnswer::Half,
        6 => FaultAnswer::Late(Duration::from_millis(chance.below(LATE_MS_MAX))),
        7 => FaultAnswer::Drip(Duration::from_micros(chance.below(DRIP_US_MAX))),
        _ => FaultAnswer::None,
    };
    let what = match &found {
        FaultAnswer::Answer { status, .. } => status.to_string(),
        FaultAnswer::Late(pause) => format!("an answer after {} ms", pause.as_millis()),
        FaultAnswer::Drip(pause) => format!("an answer in drops each {} µs", pause.as_micros()),
        other => format!("{other:?}"),
    };
    (found, what)
}

fn value(hosted: &Hosted, environment: &'static str, state: u64) -> String {
    let values = format!("DATABASE: mysql://main/a\nROUND: round-{state}");
    hosted.company.change(&at(environment), "configs/common.yaml", &objects::config("common", "", &values));
    format!("value {state} in {environment}")
}

fn add_workload(hosted: &Hosted, environment: &str, state: u64) -> String {
    let (name, manifests) = (format!("extra-{state}"), format!("repo: {HOST}extra, branch: main, path: ."));
    let text = objects::workload_with(&name, &[objects::target(("test", environment), "shop", &manifests)]);
    hosted.company.change(&at(environment), &format!("workloads/{name}.yaml"), &text);
    format!("{name} in {environment}")
}

fn remove_workload(hosted: &Hosted, environment: &str, chance: &mut Chance) -> String {
    let files = hosted.company.files("control-plane", environment);
    let extras: Vec<_> = files.lines().filter(|path| path.starts_with("workloads/")).collect();
    if extras.is_empty() {
        return "nothing to remove".to_owned();
    }
    let path = chance.one_of(&extras);
    hosted.company.remove("control-plane", environment, path);
    format!("{environment} without {path}")
}

/// Replaces the last commit of an environment with another one.
fn force_push(hosted: &Hosted, environment: &str, state: u64) -> String {
    let repository = hosted.company.repository("control-plane");
    if git(&repository, &["rev-list", "--count", environment]) != "1" {
        git(&repository, &["update-ref", &format!("refs/heads/{environment}"), &format!("{environment}~1")]);
    }
    add_workload(hosted, environment, state);
    format!("a force push of {environment} with extra-{state}")
}

fn delete_and_restore(hosted: &Hosted, environment: &str, chance: &mut Chance) -> String {
    let (repository, branch) = (hosted.company.repository("control-plane"), format!("refs/heads/{environment}"));
    let head = hosted.company.head("control-plane", environment).unwrap();
    git(&repository, &["update-ref", "-d", &branch]);
    let _ = hosted.announce(&at(environment), true);
    let delay = pause(chance);
    git(&repository, &["update-ref", &branch, &head]);
    format!("{environment} deleted for {delay} ms")
}

/// A user merges the pull request of the service, unless the host refuses because it moves at the same time.
fn merge(hosted: &Hosted, environment: &str) -> String {
    let Some(found) = hosted.proposal(environment) else { return "nothing to merge".to_owned() };
    let mut state = hosted.host.state();
    let merged =
        found.head_commit.map(|head| state.repository(&hosted.gitops()).and_then(|own| own.merge(found.number, head)));
    let is_merged = matches!(merged, Some(Ok(_)));
    format!("{} {}", found.number, if is_merged { "merged" } else { "is not merged: it moves" })
}

/// A user pushes to the branch that clusters pull.
fn note(hosted: &Hosted, environment: &str, state: u64) -> String {
    hosted.company.change(&format!("gitops@{environment}"), &format!("notes/{state}.txt"), "mine\n");
    format!("a note {state} in {environment}")
}
