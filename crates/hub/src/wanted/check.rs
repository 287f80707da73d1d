//! Whether what somebody else says of what is wanted can be so.

use super::{Plan, Publication, WantedPlace, WantedTarget, Wish};
use crate::endpoint::{Endpoint, EndpointError};
use crate::limits::{ENDPOINT_CHARACTERS_MAX, FUTURE_MAX, LABELS_MAX, NAME_CHARACTERS_MAX};
use crate::moment::Moment;
use crate::revision::is_hash;

/// It can't be so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WishError {
    /// A place is none.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// A name is empty or too long, or has control characters.
    #[error("`{0}` is a text of 1 to {NAME_CHARACTERS_MAX} characters, without control characters")]
    Name(&'static str),
    /// The labels of a target are too many, too long, or have control characters.
    #[error(
        "`labels` are at most {LABELS_MAX}, of at most {NAME_CHARACTERS_MAX} characters each, without control characters"
    )]
    Labels,
    /// An endpoint is too long, or has control characters.
    #[error("`sourceEndpoint` is a text of at most {ENDPOINT_CHARACTERS_MAX} characters, without control characters")]
    Source,
    /// The commit was made later than now.
    #[error("`committedOn` is {0}, in the future; it is {1} here: is the clock of whoever made the commit right?")]
    Future(Moment, Moment),
    /// It is no id of a git object.
    #[error("`{0}` is the id of a git object: 40 or 64 hexadecimal digits")]
    Hash(&'static str),
}

impl Wish {
    /// Checks what came from outside.
    ///
    /// # Errors
    /// Something in it can't be so.
    pub fn check(&self) -> Result<(), WishError> {
        let (repository, branch, places) = match self {
            Self::Planned(Plan { repository, branch, places }) => (repository, branch, places),
            Self::Ordered(environments) => {
                return environments.iter().try_for_each(|environment| name("environments", Some(environment)));
            }
            Self::Published(publication) | Self::Seen(publication, _) | Self::Whole(publication, _) => {
                let Publication { repository, branch, commit, places, committed_on, .. } = publication;
                hash("commit", Some(commit))?;
                // A watcher can't change the date of a commit: the date is not used then.
                let now = Moment::now();
                if !matches!(self, Self::Seen(..)) && *committed_on > now.after(FUTURE_MAX) {
                    return Err(WishError::Future(*committed_on, now));
                }
                (repository, branch, places)
            }
        };
        // Also where there is no place in it.
        Endpoint::new(repository, branch, "")?;
        if let Self::Whole(_, stretch) = self {
            stretch.paths().try_for_each(|path| Endpoint::new(repository, branch, path).map(drop))?;
        }
        places.iter().try_for_each(|place| {
            Endpoint::new(repository, branch, &place.path)?;
            check(place)
        })
    }
}

fn check(place: &WantedPlace) -> Result<(), WishError> {
    hash("tree", place.tree.as_deref())?;
    name("environment", place.environment.as_deref())?;
    name("clusterType", place.cluster_type.as_deref())?;
    name("cluster", place.cluster.as_deref())?;
    name("configVersion", place.config_version.as_deref())?;
    place.targets.iter().try_for_each(WantedTarget::check)
}

impl WantedTarget {
    /// Checks what came from outside.
    ///
    /// # Errors
    /// Something in it can't be so.
    pub(crate) fn check(&self) -> Result<(), WishError> {
        name("workspace", Some(&self.workspace))?;
        name("application", Some(&self.application))?;
        name("workload", Some(&self.workload))?;
        name("name", Some(&self.name))?;
        name("environment", Some(&self.environment))?;
        let version = self.version.as_ref();
        name("version", version.map(|version| version.version.as_str()))?;
        name("build", version.and_then(|version| version.build.as_deref()))?;
        name("commit", version.and_then(|version| version.commit.as_deref()))?;
        let are_labels = self.labels.len() <= LABELS_MAX
            && self.labels.iter().all(|(key, value)| is_name(key) && is_text(value, NAME_CHARACTERS_MAX));
        if !are_labels {
            return Err(WishError::Labels);
        }
        let source = self.source_endpoint.as_deref().unwrap_or_default();
        if is_text(source, ENDPOINT_CHARACTERS_MAX) { Ok(()) } else { Err(WishError::Source) }
    }
}

fn name(field: &'static str, text: Option<&str>) -> Result<(), WishError> {
    if text.is_none_or(is_name) { Ok(()) } else { Err(WishError::Name(field)) }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && is_text(text, NAME_CHARACTERS_MAX)
}

fn is_text(text: &str, characters_max: usize) -> bool {
    text.chars().count() <= characters_max && !text.chars().any(char::is_control)
}

fn hash(field: &'static str, text: Option<&str>) -> Result<(), WishError> {
    if text.is_none_or(is_hash) { Ok(()) } else { Err(WishError::Hash(field)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(place: &str) -> Result<(), String> {
        let place = serde_json::from_str(place).unwrap();
        let plan = Plan { repository: "https://git.example/r".into(), branch: "b".into(), places: vec![place] };
        Wish::Planned(plan).check().map_err(|error| error.to_string())
    }

    #[test]
    fn a_branch_without_places_is_checked() {
        let plan = |branch: &str| Plan { repository: "h/r".into(), branch: branch.into(), places: Vec::new() };
        assert_eq!(Wish::Planned(plan("b")).check().map_err(|error| error.to_string()), Ok(()));
        assert!(Wish::Planned(plan("b\0c")).check().is_err());
    }

    #[test]
    fn what_can_not_be_so_is_named() {
        assert_eq!(check(r#"{"path": "a", "role": "platform", "environment": "Größe 1"}"#), Ok(()));
        let error = |place| check(place).unwrap_err();
        assert!(error(r#"{"path": "../a", "role": "platform"}"#).contains("leaves its repository"));
        assert!(error(r#"{"path": "a", "role": "platform", "tree": "main"}"#).starts_with("`tree` is the id"));
        assert!(error(r#"{"path": "a", "role": "platform", "cluster": "a\nb"}"#).starts_with("`cluster` is a text"));
        let target = |more: &str| {
            let names = r#""workspace": "s", "application": "a", "workload": "w", "name": "n", "environment": "e""#;
            check(&format!(r#"{{"path": "a", "role": "platform", "targets": [{{{names}, {more}}}]}}"#))
        };
        assert_eq!(target(r#""labels": {"region": ""}, "sourceEndpoint": "r/b/p""#), Ok(()));
        assert!(target(r#""labels": {"region": "e\u0000u"}"#).unwrap_err().starts_with("`labels` are at most"));
        assert!(target(r#""sourceEndpoint": "r\u0000""#).unwrap_err().starts_with("`sourceEndpoint` is a text"));
    }
}
