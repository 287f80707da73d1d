//! Whether what somebody else says of what is wanted can be so.

use super::{Plan, Publication, WantedPlace, Wish};
use crate::endpoint::{Endpoint, EndpointError};
use crate::limits::NAME_CHARACTERS_MAX;
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
                let Publication { repository, branch, commit, places, .. } = publication;
                hash("commit", Some(commit))?;
                (repository, branch, places)
            }
        };
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
    for target in &place.targets {
        name("workspace", Some(&target.workspace))?;
        name("application", Some(&target.application))?;
        name("workload", Some(&target.workload))?;
        name("name", Some(&target.name))?;
        name("environment", Some(&target.environment))?;
        let version = target.version.as_ref();
        name("version", version.map(|version| version.version.as_str()))?;
        name("build", version.and_then(|version| version.build.as_deref()))?;
        name("commit", version.and_then(|version| version.commit.as_deref()))?;
    }
    Ok(())
}

fn name(field: &'static str, text: Option<&str>) -> Result<(), WishError> {
    let is_name = |text: &str| {
        let characters = text.chars().count();
        (1..=NAME_CHARACTERS_MAX).contains(&characters) && !text.chars().any(char::is_control)
    };
    if text.is_none_or(is_name) { Ok(()) } else { Err(WishError::Name(field)) }
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
    fn what_can_not_be_so_is_named() {
        assert_eq!(check(r#"{"path": "a", "role": "platform", "environment": "Größe 1"}"#), Ok(()));
        let error = |place| check(place).unwrap_err();
        assert!(error(r#"{"path": "../a", "role": "platform"}"#).contains("leaves its repository"));
        assert!(error(r#"{"path": "a", "role": "platform", "tree": "main"}"#).starts_with("`tree` is the id"));
        assert!(error(r#"{"path": "a", "role": "platform", "cluster": "a\nb"}"#).starts_with("`cluster` is a text"));
    }
}
