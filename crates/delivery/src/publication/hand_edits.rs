//! Folders of Kalypso that were changed on the GitOps branch outside of a publication.
//!
//! A publication compares trees, so it restores them whatever changed them. This module only says who did it.

use std::collections::BTreeMap;

use engine::output::{PlaceFolders, Relocation, relocated};
use engine::plan::PlannedId;
use git::publications::PublishedCommit;
use git::publish::PublishError;
use git::{Commit, Repositories, RepositoryError, opener};
use model::count::count;
use model::diagnostic::{Code, Diagnostic};
use model::git_id::GitId;
use model::tree::{Child, OpenError, Sealed, Tree};

use crate::error::DestinationError;
use crate::output::planned::Planned;
use crate::pull_requests::{GitHosts, was_merged_as};
use crate::sources::loaded::Loaded;

/// The number of commits of the branch that are searched for the one that changed a folder.
const COMMITS_MAX: usize = 100;
/// The number of folders that a message names.
const NAMED_MAX: usize = 5;

/// What a commit changed.
struct Edit {
    /// The commit. None: it is not among the newest commits of the branch.
    commit: Option<Commit>,
    /// The folders and files.
    paths: Vec<String>,
}

/// Reports the commits that changed folders of the output since the newest publication, where the output is to be another one. It is an error where a promotion leads
/// to the environment: nothing of it was admitted.
///
/// # Errors
/// If the branch can't be read.
pub(crate) fn diagnostics(
    hosts: Option<&GitHosts>,
    loaded: &Loaded,
    planned: &Planned,
) -> Result<Vec<Diagnostic>, DestinationError> {
    let branch = &planned.target.branch;
    let Some((head, repositories)) = branch.read_at().filter(|_| loaded.access.is_some() && !planned.plan.is_empty())
    else {
        return Ok(Vec::new());
    };
    let published =
        PublishedCommit::newest(repositories, head, &loaded.fleet.environment).map_err(PublishError::from)?;
    let Some(published) = published.filter(|published| published.commit != head.id) else {
        return Ok(Vec::new());
    };
    let edited = edited_paths(planned, &branch.tree_at(published.commit)?)?;
    let mut found = Vec::new();
    for edit in by_commit((repositories, head), edited)? {
        let commit = edit.commit.as_ref();
        if !commit.is_some_and(|commit| is_proposal(hosts, planned, (commit, &edit.paths))) {
            found.push(diagnostic((loaded, repositories), &edit)?);
        }
    }
    Ok(found)
}

/// The paths of the folders and files of the output that are to change, and that the branch has not as they were published.
fn edited_paths(planned: &Planned, published: &Tree) -> Result<Vec<String>, OpenError> {
    let target = &planned.target;
    let open = |sealed: &Sealed| target.branch.open(sealed);
    // If the output moves, the folders of the branch are at their new path already.
    let relocation = planned.plan.relocation.as_ref();
    let moved = relocation.map(|Relocation { from, to, .. }| relocated(published, (from, to), &open)).transpose()?;
    let published = moved.as_ref().and_then(Option::as_ref).map_or(published, |(tree, _)| tree);
    let written = |path: String| match relocation {
        Some(Relocation { from, to, .. }) => {
            path.strip_prefix(&to.join("")).map_or(path.clone(), |rest| from.join(rest))
        }
        None => path,
    };
    let [now, before] = [&target.branch.tree, published].map(|tree| PlaceFolders::read(tree, &target.folder, &open));
    let (now, before) = (now?, before?);
    let id = |child: Option<&Child>| child.map(Child::id);
    let folder_in = |folders: &PlaceFolders, PlannedId { place, target }: &PlannedId| {
        let place = folders.get(place).map(|child| child.opened(&open)).transpose()?.flatten();
        Ok::<_, OpenError>(place.and_then(|place| id(place.child(target))))
    };
    let mut paths = Vec::new();
    let earlier = planned.plan.changes.values().filter_map(|change| change.renamed_from.as_ref());
    for planned_id in planned.plan.changes.keys().chain(earlier) {
        // Most places are as they were published, and are not opened.
        let is_same_place = id(now.get(&planned_id.place)) == id(before.get(&planned_id.place));
        if !is_same_place && folder_in(&now, planned_id)? != folder_in(&before, planned_id)? {
            let place = target.layout.path(&planned_id.place);
            paths.push(written(target.folder.join(&format!("{place}/{}", planned_id.target))));
        }
    }
    for file in &planned.plan.other_files {
        let [now, before] = [&target.branch.tree, published].map(|tree| tree.find(&file.path, &open));
        if id(now?.as_ref()) != id(before?.as_ref()) {
            paths.push(written(file.path.to_string()));
        }
    }
    Ok(paths)
}

/// The commits that changed these paths last, newest first.
fn by_commit(
    (repositories, head): (&dyn Repositories, &Commit),
    mut paths: Vec<String>,
) -> Result<Vec<Edit>, DestinationError> {
    let mut found = Vec::new();
    if paths.is_empty() {
        return Ok(found);
    }
    let history = repositories.history(head, COMMITS_MAX).map_err(PublishError::from)?;
    for (commit, parent) in history.iter().zip(history.iter().skip(1)) {
        let now = ids(repositories, commit, &paths)?;
        let before = ids(repositories, parent, &paths)?;
        let (changed, rest): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| now.get(path) != before.get(path));
        paths = rest;
        if !changed.is_empty() {
            found.push(Edit { commit: Some(commit.clone()), paths: changed });
        }
        if paths.is_empty() {
            return Ok(found);
        }
    }
    found.push(Edit { commit: None, paths });
    Ok(found)
}

/// The ids of the files and folders with these paths in a commit.
fn ids(
    repositories: &dyn Repositories,
    commit: &Commit,
    paths: &[String],
) -> Result<BTreeMap<String, GitId>, DestinationError> {
    let tree = repositories.tree(commit).map_err(PublishError::from)?;
    let open = |sealed: &Sealed| opener(repositories, commit)(sealed);
    let mut found = BTreeMap::new();
    for path in paths {
        found.extend(tree.find(path, &open)?.map(|child| (path.clone(), child.id())));
    }
    Ok(found)
}

/// Whether a commit brought what was proposed, as a merge that squashes commits does: its message does not say what was published. If the git host does not answer,
/// it may have.
fn is_proposal(hosts: Option<&GitHosts>, planned: &Planned, (commit, paths): (&Commit, &[String])) -> bool {
    let target = &planned.target;
    let Some(heads) = &target.branch.heads else { return false };
    let on_host = hosts.map(|hosts| was_merged_as(hosts, (&target.place, &heads.proposing_branch), commit.id));
    if on_host.is_some_and(|answer| answer.unwrap_or(true)) {
        return true;
    }
    let (Some((_, repositories)), Ok(heads)) = (target.branch.read_at(), &heads.heads) else { return false };
    let is_same =
        |proposed: &Commit| Some(ids(repositories, commit, paths).ok()? == ids(repositories, proposed, paths).ok()?);
    heads.branch.as_ref().and_then(is_same).unwrap_or_default()
}

fn diagnostic(
    (loaded, repositories): (&Loaded, &dyn Repositories),
    Edit { commit, paths }: &Edit,
) -> Result<Diagnostic, DestinationError> {
    let environment = &loaded.fleet.environment;
    let who = match commit {
        Some(commit) => {
            let author = repositories.info(commit).map_err(|error: RepositoryError| PublishError::from(error))?.author;
            format!("commit {} of {author}", commit.id.short())
        }
        None => "an earlier commit".to_owned(),
    };
    let named: Vec<_> = paths.iter().take(NAMED_MAX).map(|path| format!("`{path}`")).collect();
    let more = match paths.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let message = format!("{who} changed {} of `{environment}` outside of a publication", count(paths.len(), "path"));
    let new = if loaded.is_guarded() { Diagnostic::error } else { Diagnostic::warning };
    Ok(new(Code::EditedByHand, message)
        .note(format!("it changed {}{more}", named.join(", ")))
        .note("the publication restores what Kalypso wrote; folders of others stay")
        .help("make the change in its source; `kalypso explain` shows where the content of a folder comes from"))
}
