//! The versions that the configuration of an assignment had, and the commits that bring one back.

use engine::compile::Prepared;
use engine::compile::renames::Renames;
use engine::plan::PlannedId;
use git::Commit;
use jiff::Timestamp;
use model::count::count;
use model::diagnostic::AssignmentId;

use crate::Failure;
use crate::branch::ControlPlaneBranch;
use crate::change::{BranchHeads, EarlierState, EarlierStates, source_name};

/// The number of commits that are searched for a version.
const SEARCHED_MAX: usize = 200;

/// A version of an assignment's configuration, with the commit that brought it.
pub struct ConfigVersion {
    /// The commit.
    pub commit: Commit,
    /// The branch of the commit, for people.
    pub branch: String,
    /// The commits of all branches in the newest state with this version.
    newest: BranchHeads,
    /// The time of the commit.
    pub on: Timestamp,
    /// The first line of its message.
    pub subject: String,
    /// The version. None: the assignment did not exist.
    pub version: Option<String>,
}

/// The versions of the configuration of an assignment, newest first: each with the oldest commit since which it has been the same. At most `commits` commits
/// are read.
///
/// # Errors
/// If the assignment did not exist at these commits, or if the history of a branch can't be read.
pub fn history(states: &EarlierStates, id: &AssignmentId, commits: usize) -> Result<Vec<ConfigVersion>, Failure> {
    let versions = versions(states, &all_names(states, id), commits, |_| false)?;
    if versions.iter().all(|found| found.version.is_none()) {
        let message = format!("{id} did not exist at the last {}", count(commits, "commit"));
        let help = format!("`kalypso get assignments -e {}` lists the assignments", states.environment());
        return Err(Failure::refused(message).help(help));
    }
    Ok(versions)
}

/// The newest commit of the edited branch with which an assignment had a version of its configuration. The version may be its first characters.
///
/// # Errors
/// If there is none, or if that commit alone does not bring the version back, because another branch changed a value since.
pub fn commit_with(
    states: &EarlierStates,
    (id, version): (&AssignmentId, &str),
    edited: &ControlPlaneBranch,
) -> Result<Commit, Failure> {
    let environment = states.environment();
    let fixed = || {
        let message = format!("{environment} does not follow {}", edited.description());
        Failure::refused(message).help("name a commit, without --of: its values count when the environment reads them")
    };
    let edited = states.find_branch(edited.url(), &edited.name()).ok_or_else(fixed)?;
    let is_it = |found: &ConfigVersion| found.version.as_deref().is_some_and(|found| found.starts_with(version));
    let names = all_names(states, id);
    let versions = versions(states, &names, SEARCHED_MAX, is_it)?;
    let unknown = || {
        let message = format!("{id} had no version `{version}` at the last {SEARCHED_MAX} commits");
        Failure::refused(message).help(format!("`kalypso config history {id} -e {environment}` lists the versions"))
    };
    let found = versions.into_iter().find(is_it).ok_or_else(unknown)?;
    let name = source_name(edited);
    let commit = found.newest.get(&name).map_or_else(|| edited.clone(), |id| Commit { id: *id, ..edited.clone() });
    let with_it = states.heads().into_iter().chain([(name, commit.id)]).collect();
    if version_at(states, &with_it, &names) == found.version {
        return Ok(commit);
    }
    Err(of_other_branches(states, (version, &found), edited))
}

/// The versions of the configuration of an assignment with these names, as in [`history`]. Ends early after the first one that `is_enough`.
fn versions(
    states: &EarlierStates,
    names: &[AssignmentId],
    commits: usize,
    is_enough: impl Fn(&ConfigVersion) -> bool,
) -> Result<Vec<ConfigVersion>, Failure> {
    let mut versions: Vec<ConfigVersion> = Vec::new();
    for EarlierState { commit, info, heads } in states.newest(commits)? {
        let version = version_at(states, &heads, names);
        let subject = info.message.lines().next().unwrap_or_default().to_owned();
        let on = Timestamp::from_second(info.seconds.max(0)).unwrap_or(Timestamp::MAX);
        let branch = states.branch_text(&commit);
        let mut found = ConfigVersion { newest: heads, commit, branch, on, subject, version };
        match versions.pop_if(|last| last.version == found.version) {
            Some(newer) => found.newest = newer.newest,
            None if versions.last().is_some_and(&is_enough) => break,
            None => {}
        }
        versions.push(found);
    }
    Ok(versions)
}

/// The name of an assignment, and the names that it had earlier, as its objects say now.
fn all_names(states: &EarlierStates, id: &AssignmentId) -> Vec<AssignmentId> {
    let renames = Renames::new(&Prepared::new(&states.at(&states.heads()).fleet));
    let earlier = renames.predecessors(id.place.as_str(), id.target.as_str());
    let earlier =
        earlier.filter_map(|(place, target)| PlannedId { place: place.into(), target: target.into() }.assignment());
    std::iter::once(id.clone()).chain(earlier).collect()
}

/// The version of an assignment's configuration with these commits of the branches, under the first of these names that it has there. None: the assignment did
/// not exist.
fn version_at(states: &EarlierStates, heads: &BranchHeads, names: &[AssignmentId]) -> Option<String> {
    let prepared = Prepared::new(&states.at(heads).fleet);
    names.iter().find_map(|id| Some(prepared.explain(id)?.version.to_string()))
}

/// The error for a version that a commit of the edited branch does not bring back.
fn of_other_branches(states: &EarlierStates, (version, found): (&str, &ConfigVersion), edited: &Commit) -> Failure {
    let environment = states.environment();
    let moved = states.branches().iter().filter_map(|branch| {
        let then = found.newest.get(&source_name(branch)).filter(|then| **then != branch.id)?;
        Some((branch, then.short()))
    });
    let others: Vec<_> = moved.filter(|(branch, _)| source_name(branch) != source_name(edited)).collect();
    let named = others.iter().map(|(branch, then)| format!("{} at {then}", states.branch_text(branch)));
    let own = if source_name(edited) == source_name(states.own()) {
        format!("that of {environment}")
    } else {
        states.branch_text(edited)
    };
    let named = named.collect::<Vec<_>>().join(", ");
    let failure = Failure::refused(format!("version `{version}` had values of other branches than {own}: {named}"));
    let commands = others.iter().map(|(branch, then)| {
        let of = |branch: String| format!("`kalypso config rollback {branch}--to {then}`");
        if states.is_main(branch) {
            return of(String::new()) + " restores those of the main branch";
        }
        if source_name(branch) == source_name(states.own()) {
            return of(format!("-e {environment} ")) + &format!(" restores those of {environment}");
        }
        match states.base_repo(branch) {
            Some(name) => of(format!("-e {environment} --repo {name} ")) + &format!(" restores those of {name}"),
            None => format!("in a clone of {}, `git checkout {then} -- PATH` restores files", branch.url.label()),
        }
    });
    failure.help(commands.collect::<Vec<_>>().join("; "))
}
