//! Who made a pull request and its commits. What a person made stays as it is, and Kalypso writes comments instead.

use git::publish::PublishError;
use git_host::error::HostError;
use git_host::marker::Marker;
use git_host::pull_request::PullRequest;
use git_host::sticky::{Put, Sticky};
use git_host::{GitHost, HostRepository};
use model::excerpt;

use crate::output::changes::markdown::code;

/// The begin of the hidden lines in the bodies of Kalypso's pull requests.
const HIDDEN: &str = "<!-- kalypso ";
/// The hidden line in the body of a pull request that has no other one.
const PROPOSAL: &str = "<!-- kalypso proposal -->";
/// The number of characters of a text that are kept free for its hidden line.
pub(crate) const MARKER_CHARACTERS: usize = 80;

/// The title and the text that a pull request should have.
#[derive(Clone, Copy)]
pub(crate) struct Description<'a> {
    /// The title.
    pub(crate) title: &'a str,
    /// The text, in Markdown.
    pub(crate) body: &'a str,
}

/// A body with a hidden line, so that the pull request is found to be Kalypso's also if another account updates it.
pub(crate) fn marked(body: &str) -> String {
    if body.contains(HIDDEN) { body.to_owned() } else { format!("{}\n\n{PROPOSAL}", body.trim_end()) }
}

/// Whether Kalypso opened a pull request: its body has a hidden line of Kalypso, or its author is the account of the credential.
///
/// If the host does not say the account, such as for a token with few permissions, only the hidden line counts.
///
/// # Errors
/// If the git host fails or can't be reached.
pub(crate) fn is_ours(
    (host, repository): (&dyn GitHost, &HostRepository),
    found: &PullRequest,
) -> Result<bool, HostError> {
    if found.body.contains(HIDDEN) {
        return Ok(true);
    }
    match host.account(repository) {
        Ok(account) => Ok(account.eq_ignore_ascii_case(&found.author)),
        Err(HostError::Refused { .. } | HostError::NotSupported { .. } | HostError::Settings(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Writes the title and text to a comment of a pull request that a person opened.
///
/// # Errors
/// If the git host refuses, fails or can't be reached.
pub(crate) fn comment(
    (host, repository): (&dyn GitHost, &HostRepository),
    found: &PullRequest,
    Description { title, body }: Description<'_>,
) -> Result<Put, HostError> {
    let Ok(marker) = Marker::new("kalypso description") else { return Ok(Put::Unchanged) };
    let text = format!(
        "## {title}\n\n{} opened this pull request, so its title and text stay.\n\n{body}",
        code(&found.author)
    );
    let text = excerpt::first(&text, host.text_limits().comment.saturating_sub(MARKER_CHARACTERS));
    Sticky { host, repository, marker: &marker }.put_comment(found.number, &text)
}

/// What the result of a publication says about a pull request that a person opened.
pub(crate) fn kept_text(found: &PullRequest) -> String {
    format!("{} opened it: its title and text stay, and the plan is in a comment", found.author)
}

fn foreign_marker() -> Option<Marker> {
    Marker::new("kalypso commit of a person").ok()
}

/// Says in a pull request which commit of a person keeps Kalypso from updating it, and what to do.
///
/// # Errors
/// If the git host refuses, fails or can't be reached.
pub(super) fn comment_foreign(
    (host, repository): (&dyn GitHost, &HostRepository),
    number: u64,
    error: &PublishError,
) -> Result<(), HostError> {
    let Some(marker) = foreign_marker() else { return Ok(()) };
    let found = error.diagnostic();
    let lines: Vec<_> = found.notes.iter().chain(&found.help).map(|line| format!("- {line}\n")).collect();
    let text = format!("**Kalypso does not update this pull request:** {}.\n\n{}", found.message, lines.concat());
    Sticky { host, repository, marker: &marker }.put_comment(number, &text).map(drop)
}

/// Replaces the text of [`comment_foreign`], because the commit is gone.
///
/// # Errors
/// If the git host refuses, fails or can't be reached.
pub(super) fn retract_foreign(
    (host, repository): (&dyn GitHost, &HostRepository),
    number: u64,
) -> Result<(), HostError> {
    let Some(marker) = foreign_marker() else { return Ok(()) };
    let sticky = Sticky { host, repository, marker: &marker };
    sticky.retract_comment(number, "Kalypso updates this pull request again.")
}
