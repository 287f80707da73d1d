//! Checks of updates to the desired state that come from clients.

use hub_api::endpoint::Endpoint;
use hub_api::publication::{PublicationError, check_name, check_places};
use hub_api::timestamp::Timestamp;

use super::{CompletedOutput, DesiredUpdate, PlannedContent};

impl DesiredUpdate {
    /// Checks an update that comes from a client.
    ///
    /// # Errors
    /// A name, an id, a path or a time in the update is not valid.
    pub fn check(&self) -> Result<(), PublicationError> {
        match self {
            Self::Planned(PlannedContent { repository, branch, places }) => check_places(repository, branch, places),
            Self::Ordered(environments) => {
                environments.iter().try_for_each(|environment| check_name("environments", Some(environment)))
            }
            Self::Completed(CompletedOutput { repository, branch, output, .. }) => {
                Endpoint::new(repository, branch, &output.folder)?;
                check_name("completes.environment", Some(&output.environment))
            }
            Self::Published(content) => content.check(false, Timestamp::now()),
            Self::Observed(content, _) => content.check(true, Timestamp::now()),
            Self::Complete(content, range) => {
                content.check(false, Timestamp::now())?;
                let check = |path: &String| Endpoint::new(&content.repository, &content.branch, path).map(drop);
                Ok(range.paths().try_for_each(check)?)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_without_places_is_checked() {
        let plan =
            |branch: &str| PlannedContent { repository: "h/r".into(), branch: branch.into(), places: Vec::new() };
        assert_eq!(DesiredUpdate::Planned(plan("b")).check().map_err(|error| error.to_string()), Ok(()));
        assert!(DesiredUpdate::Planned(plan("b\0c")).check().is_err());
    }
}
