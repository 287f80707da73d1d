//! The plan as a comment on a pull request of the control plane: one comment for each environment, which is updated.

use delivery::sources::loaded::Loaded;
use git_host::marker::Marker;
use git_host::sticky::{Put, Sticky};

use crate::arguments;
use crate::configuration::Settings;
use crate::exit::Failure;
use crate::terminal;

/// The variables in which CI systems name the pull request of a job: those with a number, and the one with a reference.
const NUMBER_VARIABLES: [&str; 3] =
    ["CI_MERGE_REQUEST_IID", "SYSTEM_PULLREQUEST_PULLREQUESTNUMBER", "SYSTEM_PULLREQUEST_PULLREQUESTID"];
const REFERENCE_VARIABLE: &str = "GITHUB_REF";

/// Writes the comment. `number` is 0 if the CI job names the pull request.
pub(super) fn write(options: &arguments::Plan, number: u64, (loaded, text): (&Loaded, &str)) -> anyhow::Result<()> {
    let number = match number {
        0 => number_of_job(|name| std::env::var(name).ok()).ok_or_else(|| {
            Failure::usage("this is no CI job of a pull request").help("name the pull request: --comment NUMBER")
        })?,
        number => number,
    };
    let settings = Settings::read(options.source.config.as_deref())?;
    let url = settings.control_plane()?.repo;
    let hosts = settings.hosts()?.for_deliveries().unwrap_or_default();
    let (settings, repository) =
        hosts.find(url.as_str()).filter(|(settings, _)| settings.has_pull_requests()).ok_or_else(|| {
            Failure::usage(format!("no git host is configured for `{url}`"))
                .help("add the section [host] to kalypso.toml, with the variable or the file of its token")
        })?;
    let outside = |error: git_host::HostError| Failure::outside(error.to_string());
    let host = &*settings.host;
    let pull_request = host.pull_request(&repository, number).map_err(outside)?;
    if pull_request.is_from_fork {
        terminal::warn(&format!("pull request {number} is from a fork: the plan is not written there"));
        return Ok(());
    }
    let environment = &loaded.fleet.environment;
    let marker = Marker::new(&format!("kalypso plan {environment}"))?;
    let sticky = Sticky { host, repository: &repository, marker: &marker };
    let put = sticky.put_comment(number, text).map_err(outside)?;
    let done = match put {
        Put::Created => "wrote",
        Put::Updated => "updated",
        Put::Unchanged => "left as it is:",
    };
    terminal::note(&format!("{done} the comment with the plan of {environment} on {}", pull_request.url));
    Ok(())
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
