//! Reads the earlier publications from which held assignments are rendered: assignments that fail, and to which a release pin applies.

use std::collections::BTreeMap;

use engine::compile::{Compiled, Prepared};
use engine::hold::{Held, PublicationHistory, Search, needs_search};
use engine::layout::Folder;
use git::limits::{HELD_REACH, PUBLICATIONS_REACH};
use git::publications::{Publications, PublishedCommit};
use model::diagnostic::{AssignmentId, Code, Diagnostic};
use model::git_id::GitId;
use model::tree::Sealed;

use crate::branches::branch::{Branch, folder_of};
use crate::error::DestinationError;
use crate::sources::loaded::Loaded;

/// The failing assignments of an environment.
#[derive(Clone, Copy)]
pub struct Failing<'a> {
    /// The environment.
    pub loaded: &'a Loaded,
    /// Its fleet.
    pub prepared: &'a Prepared,
    /// Returns its failing assignments.
    pub ids: &'a dyn Fn() -> Vec<AssignmentId>,
}

/// The held assignments of a branch, now and at the newest publication.
#[derive(Debug, Default)]
pub struct HeldNow {
    /// The assignments that are held now.
    pub held: Held,
    /// The assignments that were held at the newest publication, with the commits of the publications that they were rendered from.
    pub before: BTreeMap<AssignmentId, GitId>,
}

/// The commit of a publication whose fleet is already compiled, with that fleet.
pub type CompiledPublication<'a> = Option<(GitId, &'a Prepared)>;

/// Finds the held assignments of an environment on a branch. The history is read only if a release pin applies to a failing assignment, or if an assignment was
/// held before.
///
/// # Errors
/// If the branch can't be read.
pub fn on_branch(
    failing: Failing<'_>,
    branch: &Branch,
    folder: &Folder,
    known: CompiledPublication<'_>,
) -> Result<HeldNow, DestinationError> {
    let loaded = failing.loaded;
    let Some(newest) = branch.publications(loaded, PUBLICATIONS_REACH)? else { return Ok(HeldNow::default()) };
    let before = newest.newest().map(PublishedCommit::held).unwrap_or_default();
    if before.is_empty() && !needs_search(failing.prepared, failing.ids) {
        return Ok(HeldNow::default());
    }
    let publications = branch.publications(loaded, HELD_REACH)?.unwrap_or_default();
    let commits: Vec<_> = publications.publications.iter().map(|publication| publication.commit).collect();
    let branch_history = BranchHistory { branch, loaded, publications: &publications };
    let history = PublicationHistory {
        head: &branch.tree,
        folder,
        publications: &commits,
        held: &|commit| branch_history.publications_from(commit).first().map(PublishedCommit::held).unwrap_or_default(),
        tree: &|commit| branch.tree_at(commit),
        open: &|sealed: &Sealed| branch.open(sealed),
    };
    let mut search = Search::begin(failing.prepared, (failing.ids)(), &history)?;
    while let Some(commit) = search.next() {
        if let Some((_, prepared)) = known.filter(|(known, _)| *known == commit) {
            search.add_fleet(commit, Ok(prepared))?;
        } else {
            // The fleet is dropped afterwards, to save memory.
            let prepared = branch_history.prepared(commit);
            search.add_fleet(commit, prepared.as_ref().map_err(Clone::clone))?;
        }
    }
    Ok(HeldNow { held: search.finish(), before })
}

/// The diagnostics of held assignments on the branches of an environment, for callers that do not read these branches otherwise.
pub fn diagnostics(loaded: &Loaded, compiled: &Compiled) -> Vec<Diagnostic> {
    let ids = || compiled.failing().collect();
    match on_branches(Failing { loaded, prepared: compiled.prepared(), ids: &ids }) {
        Ok(found) => found.iter().flat_map(|(_, held)| held.diagnostics()).collect(),
        Err(error) => vec![
            Diagnostic::error(
                Code::NotHeld,
                format!("the output that release pins hold in the GitOps branch is not known: {error}"),
            )
            .help("is the GitOps repository reachable from here?"),
        ],
    }
}

/// The held assignments on each branch of an environment, with the name of the branch. The branches are read only if a release pin applies to a failing
/// assignment.
///
/// # Errors
/// If a branch can't be read.
pub fn on_branches(failing: Failing<'_>) -> Result<Vec<(String, Held)>, DestinationError> {
    let loaded = failing.loaded;
    let mut found = Vec::new();
    if loaded.access.is_none() || !needs_search(failing.prepared, failing.ids) {
        return Ok(found);
    }
    for object in loaded.fleet.gitops_repos.values() {
        let branch = Branch::read(loaded, (object.name.as_str(), &object.spec.place), None)?;
        let held = on_branch(failing, &branch, &folder_of(object)?, None)?.held;
        found.push((branch.name, held));
    }
    Ok(found)
}

/// The publications of a branch.
struct BranchHistory<'a> {
    branch: &'a Branch,
    loaded: &'a Loaded,
    publications: &'a Publications,
}

impl BranchHistory<'_> {
    /// A publication and the publications before it. A publication beyond the searched history is returned alone.
    fn publications_from(&self, commit: GitId) -> Vec<PublishedCommit> {
        let all = &self.publications.publications;
        match all.iter().position(|publication| publication.commit == commit) {
            Some(position) => all.get(position..).unwrap_or_default().to_vec(),
            None => self.branch.publication(self.loaded, commit).into_iter().collect(),
        }
    }

    /// The fleet of a publication.
    fn prepared(&self, commit: GitId) -> Result<Prepared, String> {
        let loaded = self.branch.load_at(self.loaded, self.publications_from(commit))?;
        Ok(Prepared::with_progress(&loaded.fleet, &self.progress()))
    }

    fn progress(&self) -> model::progress::Progress {
        self.loaded.access.as_ref().map(|access| access.progress.clone()).unwrap_or_default()
    }
}
