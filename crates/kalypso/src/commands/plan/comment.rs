//! The plan as a comment on a pull request of the control plane: one comment for each environment.

use delivery::sources::loaded::Loaded;

use crate::arguments;
use crate::configuration::{FILE_NAME, Settings};
use crate::pull_request_comment::PullRequestComment;

/// Writes the comment. `number` is 0 if the CI job names the pull request.
pub(super) fn write(options: &arguments::Plan, number: u64, (loaded, text): (&Loaded, &str)) -> anyhow::Result<()> {
    let settings = Settings::read(options.source.config.as_deref())?;
    let url = settings.control_plane()?.repo;
    let hosts = settings.hosts()?.for_deliveries().unwrap_or_default();
    let environment = &loaded.fleet.environment;
    let comment = PullRequestComment {
        repository: url.as_str(),
        number,
        about: &format!("the plan of {environment}"),
        marker: &format!("kalypso plan {environment}"),
        configuration: FILE_NAME,
    };
    comment.write(&hosts, text)
}
