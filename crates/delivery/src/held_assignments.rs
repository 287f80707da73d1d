//! Failing assignments that a release pin holds: reads the earlier publications that they are rendered from.

use std::collections::BTreeMap;

use engine::compile::{Compiled, Prepared};
use engine::hold::{Held, History, Search, is_asked};
use engine::output::Folder;
use git::limits::{HELD_REACH, PUBLICATIONS_REACH};
use git::published::{Publication, Published};
use model::diagnostic::{AssignmentId, Code, Diagnostic};
use model::git_id::GitId;
use model::tree::{OpenError, Sealed};

use crate::branch::{Branch, folder_of};
use crate::error::DestinationError;
use crate::loaded::Loaded;

/// What fails in a fleet.
#[derive(Clone, Copy)]
pub struct Failing<'a> {
    /// The fleet.
    pub prepared: &'a Prepared,
    /// Its failing assignments.
    pub ids: &'a dyn Fn() -> Vec<AssignmentId>,
}

/// What is held on a branch, and what the newest publication says of that.
#[derive(Debug, Default)]
pub struct HeldNow {
    /// What is held.
    pub held: Held,
    /// What was held then, with the publications that it was rendered from.
    pub before: BTreeMap<AssignmentId, GitId>,
}

/// The fleet of a publication that is known already.
pub type Known<'a> = Option<(GitId, &'a Prepared)>;

/// What of an environment is held on a branch. Costs nothing where nothing fails that a release pin reaches, or that was held before.
///
/// # Errors
/// If the branch can't be read.
pub fn on_branch(
    loaded: &Loaded,
    failing: Failing<'_>,
    (branch, folder): (&Branch, &Folder),
    known: Known<'_>,
) -> Result<HeldNow, DestinationError> {
    let Some(newest) = branch.published(loaded, PUBLICATIONS_REACH)? else { return Ok(HeldNow::default()) };
    let before = newest.newest().map(Publication::held).unwrap_or_default();
    if before.is_empty() && !is_asked(failing.prepared, failing.ids) {
        return Ok(HeldNow::default());
    }
    let published = branch.published(loaded, HELD_REACH)?.unwrap_or_default();
    let commits: Vec<_> = published.publications.iter().map(|publication| publication.commit).collect();
    let past = Past { branch, loaded, published: &published };
    let history = History {
        head: &branch.tree,
        folder,
        publications: &commits,
        held: &|commit| past.publications_from(commit).first().map(Publication::held).unwrap_or_default(),
        tree: &|commit| branch.tree_at(commit),
        open: &|sealed: &Sealed| branch.open(sealed),
    };
    let mut search = Search::begin(failing.prepared, (failing.ids)(), &history)?;
    while let Some(commit) = search.next() {
        let both = (failing.prepared, &history);
        match known.filter(|(known, _)| *known == commit) {
            Some((_, prepared)) => search.give(commit, Ok(prepared), both)?,
            None => past.give(&mut search, commit, both)?,
        }
    }
    Ok(HeldNow { held: search.finish(), before })
}

/// The diagnostics of what is held on the branches of an environment, for callers that do not read these branches otherwise.
pub fn diagnostics(loaded: &Loaded, compiled: &Compiled) -> Vec<Diagnostic> {
    let ids = || compiled.failing().collect();
    match on_branches(loaded, Failing { prepared: compiled.prepared(), ids: &ids }) {
        Ok(found) => found.iter().flat_map(|(_, held)| held.diagnostics()).collect(),
        Err(error) => vec![
            Diagnostic::error(
                Code::NotHeld,
                format!("what release pins hold in the GitOps branch is not known: {error}"),
            )
            .help("is the GitOps repository reachable from here?"),
        ],
    }
}

/// What is held on each branch of an environment, by what the branch is called. The branches are only looked at if a release pin reaches what fails.
///
/// # Errors
/// If a branch can't be read.
pub fn on_branches(loaded: &Loaded, failing: Failing<'_>) -> Result<Vec<(String, Held)>, DestinationError> {
    let mut found = Vec::new();
    if loaded.access.is_none() || !is_asked(failing.prepared, failing.ids) {
        return Ok(found);
    }
    for object in loaded.fleet.gitops_repos.values() {
        let branch = Branch::read(loaded, (object.name.as_str(), &object.spec.place), None)?;
        let held = on_branch(loaded, failing, (&branch, &folder_of(object)?), None)?.held;
        found.push((branch.name, held));
    }
    Ok(found)
}

/// The publications of a branch.
struct Past<'a> {
    branch: &'a Branch,
    loaded: &'a Loaded,
    published: &'a Published,
}

impl Past<'_> {
    /// A publication and those before it. One that is farther back than was looked is required by itself.
    fn publications_from(&self, commit: GitId) -> Vec<Publication> {
        let all = &self.published.publications;
        match all.iter().position(|publication| publication.commit == commit) {
            Some(position) => all.get(position..).unwrap_or_default().to_vec(),
            None => self.branch.publication(self.loaded, commit).into_iter().collect(),
        }
    }

    /// Reads the fleet of a publication, for as long as the search needs it.
    fn give(&self, search: &mut Search, commit: GitId, both: (&Prepared, &History<'_>)) -> Result<(), OpenError> {
        let made_of = self.branch.made_of(self.loaded, self.publications_from(commit));
        let prepared = made_of.map(|earlier| Prepared::counted(&earlier.fleet, &self.progress()));
        search.give(commit, prepared.as_ref().map_err(Clone::clone), both)
    }

    fn progress(&self) -> model::progress::Progress {
        self.loaded.access.as_ref().map(|access| access.progress.clone()).unwrap_or_default()
    }
}
