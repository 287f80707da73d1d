//! Pull requests of a publication, as text.

use delivery::publication::publish::{Outcome, PlaceOutcome};
use delivery::pull_requests::{Proposal, PullRequestLink};

use crate::terminal;

/// What happened to the pull request of a place. Empty if it has none.
pub(super) fn text(place: &PlaceOutcome) -> String {
    let Some(Ok(outcome)) = &place.pull_request else { return String::new() };
    let line = |verb: &str, link: &PullRequestLink| format!("{verb} pull request {}: {}\n", link.number, link.url);
    let mut text = match &outcome.proposal {
        Proposal::None => String::new(),
        Proposal::Opened(link) => line("Opened", link),
        Proposal::Updated(link) => line("Updated", link),
        Proposal::Unchanged(link) => line("See", link),
        Proposal::Merged(link) => line("Merged", link),
        Proposal::Closed(link) => line("Closed", link),
        Proposal::Declined(link) => {
            format!(
                "Nothing was published: pull request {} with exactly this change was closed\n{}\nTo propose it again, reopen it.\n",
                link.number, link.url
            )
        }
    };
    if outcome.is_auto_merge {
        text.push_str("The git host merges it as soon as its requirements are met.\n");
    }
    text
}

/// Shows what could not be done on the git host. Returns whether a pull request is missing or wrong because of it.
pub(super) fn warn(outcome: &Outcome) -> bool {
    let mut is_incomplete = false;
    for place in &outcome.places {
        match &place.pull_request {
            Some(Err(error)) => {
                is_incomplete = true;
                terminal::warn(&format!(
                    "the pull request for {} is not there: {error}",
                    place.planned.target.branch.name
                ));
                terminal::note("  = help: run the same command again: it continues from here");
            }
            Some(Ok(outcome)) => outcome.incomplete.iter().for_each(|message| terminal::warn(message)),
            None => {}
        }
    }
    let Some(report) = &outcome.report else { return is_incomplete };
    if let Some(Err(error)) = &report.issue {
        terminal::warn(&format!("the issue with the errors can't be written: {error}"));
    }
    for error in &report.failed_statuses {
        terminal::warn(&format!("the status of a commit can't be set: {error}"));
    }
    is_incomplete
}
