//! An answer as a comment on a pull request: one comment for each purpose, which is updated.

use delivery::pull_requests::GitHosts;
use git_host::marker::Marker;
use git_host::sticky::{Put, Sticky};

use crate::exit::Failure;
use crate::terminal;

/// The variables in which CI systems name the pull request of a job: those with a number, and the one with a reference.
const NUMBER_VARIABLES: [&str; 3] =
    ["CI_MERGE_REQUEST_IID", "SYSTEM_PULLREQUEST_PULLREQUESTNUMBER", "SYSTEM_PULLREQUEST_PULLREQUESTID"];
const REFERENCE_VARIABLE: &str = "GITHUB_REF";

/// A comment.
pub(crate) struct PullRequestComment<'a> {
    /// The URL of the repository.
    pub(crate) repository: &'a str,
    /// The number of the pull request. 0: the CI job names it.
    pub(crate) number: u64,
    /// What it is about, such as `the plan of dev`. A later comment about the same replaces it.
    pub(crate) about: &'a str,
    /// The hidden word by which it is found again.
    pub(crate) marker: &'a str,
    /// The configuration file with the section for the git host.
    pub(crate) configuration: &'a str,
}

impl PullRequestComment<'_> {
    /// Writes the comment, in Markdown. Nothing is written on a pull request from a fork.
    pub(crate) fn write(&self, hosts: &GitHosts, text: &str) -> anyhow::Result<()> {
        let number = match self.number {
            0 => number_of_job(|name| std::env::var(name).ok()).ok_or_else(|| {
                Failure::usage("this is no CI job of a pull request").help("name the pull request: --comment NUMBER")
            })?,
            number => number,
        };
        let found = hosts.find(self.repository).filter(|(settings, _)| settings.has_pull_requests());
        let (settings, repository) = found.ok_or_else(|| {
            let help =
                format!("add the section [host] to {}, with the variable or the file of its token", self.configuration);
            Failure::usage(format!("no git host is configured for `{}`", self.repository)).help(help)
        })?;
        let outside = |error: git_host::HostError| Failure::outside(error.to_string());
        let host = &*settings.host;
        let pull_request = host.pull_request(&repository, number).map_err(outside)?;
        if pull_request.is_from_fork {
            terminal::warn(&format!("pull request {number} is from a fork: {} is not written there", self.about));
            return Ok(());
        }
        let marker = Marker::new(self.marker)?;
        let sticky = Sticky { host, repository: &repository, marker: &marker };
        let done = match sticky.put_comment(number, text).map_err(outside)? {
            Put::Created => "wrote",
            Put::Updated => "updated",
            Put::Unchanged => "left as it is:",
        };
        terminal::note(&format!("{done} the comment with {} on {}", self.about, pull_request.url));
        Ok(())
    }
}

/// The number of the pull request of this CI job.
fn number_of_job(variable: impl Fn(&str) -> Option<String>) -> Option<u64> {
    let named = NUMBER_VARIABLES.iter().find_map(|name| variable(name)?.parse().ok());
    named.or_else(|| {
        let reference = variable(REFERENCE_VARIABLE)?;
        reference.strip_prefix("refs/pull/")?.split('/').next()?.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_job_names_its_pull_request() {
        let check =
            |name: &'static str, value: &'static str| number_of_job(|asked| (asked == name).then(|| value.to_owned()));
        assert_eq!(check("GITHUB_REF", "refs/pull/12/merge"), Some(12));
        assert_eq!(check("GITHUB_REF", "refs/heads/main"), None);
        assert_eq!(check("CI_MERGE_REQUEST_IID", "7"), Some(7));
        assert_eq!(check("OTHER", "7"), None);
    }
}
