//! The one issue of an environment, which lists what fails, and what people can do. It is closed when nothing fails.

use git_host::error::HostError;
use git_host::issue::NewIssue;
use git_host::marker::Marker;
use git_host::sticky::{Put, Sticky};
use hub_api::promotions::Wait;
use model::count::count;
use model::diagnostic::Diagnostic;
use model::excerpt;

use super::{GitHosts, LABEL};
use crate::output::changes::markdown::{answers, code, problems};
use crate::sources::loaded::Loaded;

/// What an earlier step of promotions found.
pub(crate) struct KnownProblems<'a> {
    /// What changes into the environment wait for.
    pub(crate) waits: &'a [Wait],
    /// What keeps promotions from being carried out.
    pub(crate) promotions: &'a [String],
}

/// The numbers of errors that are tried, until the text is short enough.
const LISTED: [usize; 4] = [50, 20, 5, 0];

/// Opens, updates or closes the issue, in the repository of the first `GitOpsRepo` whose host has issues. None if there is no such repository.
pub(crate) fn report_problems(
    hosts: &GitHosts,
    loaded: &Loaded,
    (known, diagnostics): (&KnownProblems<'_>, &[Diagnostic]),
) -> Option<Result<Put, HostError>> {
    let repositories = loaded.fleet.gitops_repos.values().filter_map(|repo| hosts.find(&repo.spec.place.repo));
    let (settings, repository) = repositories.into_iter().find(|(settings, _)| settings.has_pull_requests())?;
    let environment = loaded.fleet.environment.as_str();
    let marker = Marker::new(&format!("kalypso problems {environment}")).ok()?;
    let errors: Vec<_> = diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).cloned().collect();
    let sticky = Sticky { host: &*settings.host, repository: &repository, marker: &marker };
    let result = if errors.is_empty() && known.promotions.is_empty() {
        sticky.close_issue(LABEL).map(|()| Put::Unchanged)
    } else {
        let new = issue(loaded, (known, &errors), settings.host.text_limits().comment);
        sticky.put_issue(&new)
    };
    match result {
        // Some hosts, and some repositories, have no issues. The pull request lists the errors, too.
        Err(HostError::NotSupported { .. }) => None,
        Err(error) if error.is_not_found() => None,
        result => Some(result),
    }
}

fn issue(loaded: &Loaded, (known, errors): (&KnownProblems<'_>, &[Diagnostic]), characters_max: usize) -> NewIssue {
    let environment = loaded.fleet.environment.as_str();
    let begin = if errors.is_empty() {
        ""
    } else {
        "These errors keep output from being updated. Other assignments are not affected. The issue is closed when the errors are fixed.\n"
    };
    let promotions = promotions(known.promotions);
    let waits = answers(known.waits);
    let listed = |listed: usize| if errors.is_empty() { String::new() } else { problems(loaded, errors, listed) };
    let texts = LISTED.iter().map(|count| format!("{begin}{}{promotions}{waits}", listed(*count)));
    let mut body = String::new();
    for text in texts {
        body = text;
        if body.chars().count() <= characters_max {
            break;
        }
    }
    let title = format!("{environment}: {}", count(errors.len() + known.promotions.len(), "error"));
    NewIssue { title, body: excerpt::first(&body, characters_max), labels: [LABEL.to_owned()].into() }
}

/// What keeps promotions from being carried out, as a part of a longer text. Empty: nothing.
fn promotions(problems: &[String]) -> String {
    if problems.is_empty() {
        return String::new();
    }
    let lines = problems.iter().map(|problem| format!("- {}\n", code(problem))).collect::<String>();
    format!("\n### What promotions can't write\n\nEach is tried again until it succeeds.\n\n{lines}")
}
