//! Named releases of a control plane: makes, finds and compares them.

use std::collections::BTreeSet;
use std::sync::Arc;

use delivery::access::RepositoryAccess;
use delivery::sources::loaded::Loaded;
use delivery::states::named_releases::{
    self, MadeRelease, NamedRelease, ReleaseError, ReleaseRequest, ReleasedWorkload,
};
use delivery::states::rollout_store::{self, StoredRollout};
use engine::compile::Compiled;
use model::count::named;
use model::digest::Digest;
use model::excerpt::plain;
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::object::release;
use serde::Serialize;
use utoipa::ToSchema;

use crate::Failure;
use crate::branch::author;

/// A difference between two releases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ReleaseDifference {
    /// What differs: `main`, a workload, or a workload's configuration.
    pub what: String,
    /// Its version in the first one; `null` if it is not there.
    pub from: Option<String>,
    /// Its version in the other one; `null` if it is not there.
    pub to: Option<String>,
}

/// Refuses a release of an environment in which a change is on its way: its versions are not proved together.
///
/// # Errors
/// If a rollout is not done, or if the states can't be read.
pub fn check_settled(access: &RepositoryAccess, environment: &EnvironmentName) -> Result<(), Failure> {
    let states = rollout_store::read(access, environment).map_err(|error| Failure::outside(error.to_string()))?;
    let is_moving = |(name, stored): (&Arc<str>, &Result<StoredRollout, _>)| {
        stored.as_ref().is_ok_and(|stored| stored.state.current.is_some()).then(|| name.to_string())
    };
    let moving: Vec<_> = states.rollouts.iter().filter_map(is_moving).collect();
    if moving.is_empty() {
        return Ok(());
    }
    let message = format!("in {environment}, the rollout of {} is not done", named(&moving));
    Err(Failure::refused(message).help("`kalypso rollout status` shows what it waits for"))
}

/// What an environment has now, as a release of the user.
pub fn of_environment(access: &RepositoryAccess, name: &str, (loaded, compiled): (&Loaded, &Compiled)) -> NamedRelease {
    let by = author(&access.settings.git).to_string();
    let request = ReleaseRequest { name, by: &by, created: jiff::Timestamp::now() };
    NamedRelease::new(request, loaded, compiled)
}

/// Stores a release. The result says whether it did not exist before.
///
/// # Errors
/// If another release has the name, or if it can't be stored.
pub fn make(access: &RepositoryAccess, release: &NamedRelease) -> Result<bool, Failure> {
    Ok(named_releases::make(access, release, &author(&access.settings.git)).map_err(failure)? != MadeRelease::Known)
}

/// All releases whose files can be read, the newest first. `warn` gets the reasons why others can't be.
///
/// # Errors
/// If their branch can't be read.
pub fn list(access: &RepositoryAccess, warn: &dyn Fn(&str)) -> Result<Vec<NamedRelease>, Failure> {
    let mut releases = Vec::new();
    for (_, read) in named_releases::list(access).map_err(failure)? {
        match read {
            Ok(release) => releases.push(release),
            Err(error) => warn(&format!("{}: {error}", named_releases::BRANCH)),
        }
    }
    releases.sort_by_key(|release| std::cmp::Reverse(release.created));
    Ok(releases)
}

/// The release with a name.
///
/// # Errors
/// If there is none, or if it can't be read.
pub fn find(access: &RepositoryAccess, name: &str) -> Result<NamedRelease, Failure> {
    if let Some((_, read)) = named_releases::find(access, name).map_err(failure)? {
        return read.map_err(|error| Failure::refused(format!("{}: {error}", named_releases::BRANCH)));
    }
    let known = named_releases::list(access).map_err(failure)?;
    let failure = Failure::refused(format!("there is no release `{name}`"));
    Err(failure.did_you_mean(name, known.iter().map(|(name, _)| &**name), "`kalypso releases list` lists them"))
}

/// The differences between two releases: the main branch first, then the workloads by name.
pub fn differences(from: &NamedRelease, to: &NamedRelease) -> Vec<ReleaseDifference> {
    let id = |commit: Option<GitId>| commit.map(|commit| commit.short());
    let mut all = Vec::new();
    let mut add = |what: String, [from, to]: [Option<String>; 2]| {
        if from != to {
            all.push(ReleaseDifference { what, from, to });
        }
    };
    add("main".to_owned(), [id(from.platform), id(to.platform)]);
    let names: BTreeSet<_> = from.workloads.keys().chain(to.workloads.keys()).collect();
    for name in names {
        let workloads = [from, to].map(|release| release.workloads.get(name));
        add(name.to_string(), workloads.map(|workload| workload.map(version_text)));
        add(format!("{name} configuration"), workloads.map(|workload| workload.map(configurations_text)));
    }
    all
}

/// The version of a workload, for people.
pub fn version_text(workload: &ReleasedWorkload) -> String {
    workload.version.as_ref().map_or_else(|| "several".to_owned(), |(_, version)| plain(release::shown(version)))
}

/// The versions of a configuration, for people: the only one, or their number with a digest of all.
pub fn configurations_text(workload: &ReleasedWorkload) -> String {
    match workload.configurations.len() {
        0 => "none".to_owned(),
        1 => workload.configurations.keys().map(ToString::to_string).collect(),
        count => {
            let digest = Digest::from_value(&workload.configurations.keys().collect::<Vec<_>>()).to_string();
            format!("{count} versions ({})", digest.get(..8).unwrap_or(&digest))
        }
    }
}

fn failure(error: ReleaseError) -> Failure {
    let text = error.to_string();
    match error {
        ReleaseError::Repository(_) | ReleaseError::Open(_) => Failure::outside(text),
        ReleaseError::LostRace => Failure::outside(text).help("try again"),
        ReleaseError::Exists(_) => Failure::refused(text).help("choose another name"),
        ReleaseError::Name(..) => Failure::usage(text),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn release(name: &str, versions: &[(&str, &str)]) -> NamedRelease {
        let workload = |(name, version): &(&str, &str)| {
            let configurations = BTreeMap::from([(Arc::from("00112233aabbccdd"), 3)]);
            ((*name).into(), ReleasedWorkload { version: Some(("tag".into(), (*version).into())), configurations })
        };
        NamedRelease {
            name: name.into(),
            created: jiff::Timestamp::UNIX_EPOCH,
            by: "Ann".into(),
            environment: EnvironmentName::new("stage").unwrap(),
            platform: None,
            configuration: None,
            workloads: versions.iter().map(workload).collect(),
        }
    }

    #[test]
    fn only_differences_are_listed() {
        let (from, to) =
            (release("a", &[("cart", "1"), ("checkout", "2.0")]), release("b", &[("checkout", "2.1"), ("cart", "1")]));
        let version = |text: &str| Some(text.to_owned());
        let checkout = ReleaseDifference { what: "checkout".to_owned(), from: version("2.0"), to: version("2.1") };
        assert_eq!(differences(&from, &to), [checkout]);
        let less = differences(&from, &release("c", &[("cart", "1")]));
        let what: Vec<_> = less.iter().map(|difference| difference.what.as_str()).collect();
        assert_eq!(what, ["checkout", "checkout configuration"]);
    }
}
