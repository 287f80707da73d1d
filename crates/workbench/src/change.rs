//! The two states of an environment before and after a change of the control plane.

mod earlier;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use delivery::access::RepositoryAccess;
use delivery::reading::ReadAt;
use delivery::sources::loaded::Loaded;
use delivery::sources::pinned_repositories::PinnedRepositories;
use engine::promotion::origin::for_origin;
use git::load::{Directory, Read, ReadRole, Snapshot};
use git::{Commit, Edits, FileContent, Repositories, RepositoryError, Revision};
use model::count::count;
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::object::promotion::ChangeOrigin;
use serde::Serialize;
use utoipa::ToSchema;

pub use self::earlier::{BranchHeads, EarlierState, EarlierStates, source_name};
use crate::commit_range::{Branches, Of, Range};
use crate::edited_repositories::{EditedRepositories, Next};
pub use crate::patch::PATCH_BYTES_MAX;
use crate::patch::{Patch, ReadFile};
use crate::source::no_commits;
use crate::working_trees::{WorkingBranch, WorkingTrees};
use crate::{EnvironmentSource, Error, Failure};

/// The name of the `BaseRepo` that brings the promoted commit of the main branch.
const MAIN: &str = "main";
/// The maximum number of files of a patch that a message names.
const FILES_NAMED_MAX: usize = 3;
/// The maximum size of a file that a patch may change, in bytes.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// Two states of an environment.
pub struct EnvironmentChange {
    /// The state before.
    pub old: Arc<Loaded>,
    /// The state after.
    pub new: Arc<Loaded>,
    /// The description of the state before, for people: `prod@77aa012`.
    pub from: String,
    to: String,
    /// The description of the commit that is the same in both states.
    stays: Option<String>,
    compared: ComparedStates,
    /// Where the change comes from.
    origins: Vec<ChangeOrigin>,
}

/// What was compared, for programs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComparedStates {
    /// The branch that changes; `null` for a plain directory and for working trees.
    pub branch: Option<String>,
    /// Its commit before; `null` for a plain directory and for working trees.
    pub from: Option<String>,
    /// Its commit after; `null` with `--patch` and `--working-tree`.
    pub to: Option<String>,
    /// The patch, as it was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// The working trees that the environment is read from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_trees: Option<Vec<String>>,
    /// The files that the patch names, or those with changes that are not committed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
}

/// The states of an environment before and after edits of a branch.
pub struct EditedStates<'a> {
    /// The state before.
    pub old: Arc<Loaded>,
    /// The state after.
    pub new: Arc<Loaded>,
    /// The name of the branch.
    pub branch: &'a str,
    /// The description of the state before, for people.
    pub from: String,
}

impl EnvironmentChange {
    /// The states before and after edits of a branch.
    pub fn of_edits(states: EditedStates<'_>, edits: &Edits) -> Self {
        let EditedStates { old, new, branch, from } = states;
        let paths: Vec<_> = edits.paths().map(ToString::to_string).collect();
        let to = format!("{from} + {}", named_files(&paths));
        let compared =
            ComparedStates { branch: Some(branch.to_owned()), files: Some(paths), ..ComparedStates::default() };
        Self { old, new, from, to, stays: None, compared, origins: Vec::new() }
    }

    /// The gates that the change waits for after its merge, as a sentence. None: no gate is for it.
    pub fn gates(&self) -> Option<String> {
        let environment = &self.new.fleet.environment;
        let promotion = self.new.graph.object(environment.as_str())?;
        let of = |origin: &ChangeOrigin| for_origin(&promotion.spec, *origin).gates;
        let mut gates: Vec<String> = Vec::new();
        for gate in self.origins.iter().flat_map(of).map(|gate| format!("`{}`", gate.name)) {
            // A gate may be for several origins.
            if !gates.contains(&gate) {
                gates.push(gate);
            }
        }
        let gates = (!gates.is_empty()).then(|| model::count::named(&gates))?;
        Some(format!("After its merge, this waits for the gates before `{environment}`: {gates}"))
    }

    /// The description of the comparison, for people: `prod@77aa012 → prod@90be4d1   (main stays at 41c77fe)`.
    pub fn title(&self) -> String {
        let stays = self.stays.as_ref().map_or_else(String::new, |stays| format!("   ({stays})"));
        format!("{} → {}{stays}", self.from, self.to)
    }

    /// What was compared, for programs.
    pub fn compared(&self) -> &ComparedStates {
        &self.compared
    }
}

/// The current state of an environment, with access to the repositories it is read from.
struct Now {
    loaded: Arc<Loaded>,
    access: Arc<RepositoryAccess>,
    own: Commit,
    /// The promoted commit of the main branch. None if the environment does not use the main branch.
    promoted: Option<Commit>,
}

/// The branches whose change is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The environment's own branch, or else the main branch.
    Any,
    /// The main branch: a change of it can be one of all environments.
    Main,
}

/// The environment at two commits of the control plane: `A..B`, or from now to `B`.
///
/// Applications are read at the same commits both times.
///
/// # Errors
/// If the environment can't be read, or if there are no such commits.
pub fn of_commits(
    source: &EnvironmentSource,
    (environment, side): (&str, Side),
    text: &str,
) -> Result<EnvironmentChange, Error> {
    let now = Now::read(source, environment)?;
    let repositories = &*now.access.repositories;
    let main = now.main_head()?;
    let Range { of, from, to } = match (side, main) {
        (Side::Any, main) => Branches { repositories, own: now.own.clone(), main }.range(text)?,
        (Side::Main, Some(main)) => {
            let range = Branches { repositories, own: main, main: None }.range(text)?;
            Range { of: Of::Main, ..range }
        }
        (Side::Main, None) => return Ok(now.unchanged()),
    };
    let current = now.commit(of);
    let from = from.unwrap_or(current);
    let old = now.at(of, from);
    let new = if to == from { Arc::clone(&old) } else { now.at(of, to) };
    let name = now.name(of);
    let compared = ComparedStates {
        branch: Some(name.clone()),
        from: Some(from.to_string()),
        to: Some(to.to_string()),
        ..ComparedStates::default()
    };
    let at = |id: GitId| format!("{name}@{}", id.short());
    let (from, to, stays, origins) = (at(from), at(to), now.stays(of), vec![of.origin()]);
    Ok(EnvironmentChange { old, new, from, to, stays, compared, origins })
}

/// The text of a patch, and where it comes from.
#[derive(Clone, Copy, Debug)]
pub struct PatchText<'a> {
    /// The name of the file, for programs. `-`: standard input.
    pub file: &'a str,
    /// The name of the patch in sentences.
    pub shown: &'a str,
    /// The output of `git diff`.
    pub text: &'a [u8],
}

/// The environment before and after a patch.
///
/// # Errors
/// If the environment can't be read, or if the patch can't be applied to its branch or to the main branch.
pub fn of_patch(
    source: &EnvironmentSource,
    (environment, side): (&str, Side),
    patch: PatchText<'_>,
) -> Result<EnvironmentChange, Error> {
    let PatchText { file, shown, text } = patch;
    let named = |failure: Failure| {
        let message = format!("{shown} can't be applied: {}", failure.message);
        Failure { message, ..failure }
    };
    let patch = Patch::parse(text).map_err(named)?;
    let apply = |read: &ReadFile<'_>| patch.apply(read).map_err(named);
    let paths = patch.paths();
    let compared = |branch: Option<&str>, from: Option<GitId>| ComparedStates {
        branch: branch.map(ToOwned::to_owned),
        from: from.map(|id| id.to_string()),
        patch: Some(file.to_owned()),
        files: Some(paths.clone()),
        ..ComparedStates::default()
    };
    let with = |state: &str| format!("{state} + {shown} ({})", named_files(&paths));
    if let EnvironmentSource::Folder(folder) = source {
        let old = source.environment(environment, ReadAt::Heads)?;
        let edits = apply(&|path| file_of(&folder.path, path))?;
        let directory = Directory { path: &folder.path, edits: &edits, progress: &folder.progress };
        let read = git::load::read_directory(directory, &old.fleet.environment);
        let read = read.map_err(|error| Failure::usage(error.to_string()))?;
        let new = Loaded::new(read, old.directory.clone(), None);
        let from = old.title();
        let (to, compared) = (with(&from), compared(None, None));
        let (old, new, origins) = (Arc::new(old), Arc::new(new), Vec::new());
        return Ok(EnvironmentChange { old, new, from, to, stays: None, compared, origins });
    }
    let now = Now::read(source, environment)?;
    if side == Side::Main && now.promoted.is_none() {
        return Ok(now.unchanged());
    }
    let (of, next) = now.next(&apply, side)?;
    let new = now.after(next);
    let (name, id) = (now.name(of), now.commit(of));
    let from = format!("{name}@{}", id.short());
    let (to, compared) = (with(&from), compared(Some(&name), Some(id)));
    let (old, stays, origins) = (Arc::clone(&now.loaded), now.stays(of), vec![of.origin()]);
    Ok(EnvironmentChange { old, new, from, to, stays, compared, origins })
}

/// The environment without and with the changes in working trees that are not committed.
///
/// # Errors
/// If the environment can't be read.
pub fn of_working_trees(
    source: &EnvironmentSource,
    environment: &str,
    trees: &WorkingTrees,
) -> Result<EnvironmentChange, Error> {
    let now = Now::read(source, environment)?;
    let new = now.after(trees.next());
    let branches: Vec<_> = trees.branches().iter().filter(|branch| now.reads(&branch.head, None)).collect();
    let settings = trees.settings();
    let shown =
        |branch: &WorkingBranch, path: &str| settings.shown(&branch.checkout.root().join(path)).display().to_string();
    let changed = branches.iter().flat_map(|branch| branch.state.changed.iter().map(move |path| (*branch, path)));
    let (read, unread): (Vec<_>, Vec<_>) = changed.partition(|(branch, path)| now.reads(&branch.head, Some(path)));
    let paths: Vec<_> = read.into_iter().map(|(branch, path)| shown(branch, path)).collect();
    let folders: Vec<_> = branches.iter().map(|branch| shown(branch, "")).collect();
    let from = now.loaded.title();
    let to = if paths.is_empty() {
        format!("{environment} without changes in working trees")
    } else {
        format!("{environment} + {}", named_files(&paths))
    };
    // The environment uses a fixed commit of a branch with uncommitted changes.
    let stays = if unread.is_empty() { None } else { now.stays(Of::Own) };
    let compared = ComparedStates { working_trees: Some(folders), files: Some(paths), ..ComparedStates::default() };
    let is_of = |of: Of| branches.iter().any(|branch| *branch.head.revision.name() == *now.name(of));
    let origins = [Of::Main, Of::Own].into_iter().filter(|of| is_of(*of)).map(Of::origin).collect();
    Ok(EnvironmentChange { old: now.loaded, new, from, to, stays, compared, origins })
}

fn named_files(paths: &[String]) -> String {
    let named = paths.iter().take(FILES_NAMED_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    match paths.len().saturating_sub(FILES_NAMED_MAX) {
        0 => named,
        more => format!("{named} and {}", count(more, "more file")),
    }
}

/// Reads a file of a plain directory. None if the file does not exist.
fn file_of(directory: &Path, path: &str) -> Result<Option<Arc<[u8]>>, Failure> {
    if Path::new(path).components().any(|part| !matches!(part, std::path::Component::Normal(_))) {
        return Ok(None);
    }
    match fs::read(directory.join(path)) {
        Ok(bytes) => Ok(Some(bytes.into())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::outside(format!("`{path}` can't be read: {error}"))),
    }
}

/// Applies a patch to files. The argument reads a file.
type Apply<'a> = dyn Fn(&ReadFile<'_>) -> Result<Edits, Failure> + 'a;

impl Now {
    fn read(source: &EnvironmentSource, environment: &str) -> Result<Self, Error> {
        let loaded = source.environment(environment, ReadAt::Heads)?;
        let Some(access) = loaded.access.clone() else { return Err(no_commits().into()) };
        let commit = |read: &Read| Commit {
            url: read.url.clone(),
            revision: Revision::Branch(Arc::clone(&read.revision)),
            id: read.commit,
        };
        let read_as = |is_it: fn(&ReadRole) -> bool| loaded.reads.iter().find(|read| is_it(&read.role)).map(commit);
        let Some(own) = read_as(|role| *role == ReadRole::Environment) else {
            return Err(Failure::refused(format!("environment `{environment}` has no branch of its own")).into());
        };
        let promoted = read_as(|role| matches!(role, ReadRole::Base(name) if name.as_str() == MAIN));
        Ok(Self { loaded: Arc::new(loaded), access, own, promoted })
    }

    /// Whether the environment is read from a branch, not from a fixed commit of it; with a path, whether it is read from there.
    fn reads(&self, head: &Commit, path: Option<&str>) -> bool {
        let is_read = |read: &Read| {
            let is_there = read.role != ReadRole::Main || path.is_none_or(|path| path.starts_with(git::ENVIRONMENTS));
            let is_branch = !read.is_pinned && read.revision == head.revision.name();
            is_there && is_branch && self.access.settings.git.is_same_repository(&read.url, &head.url)
        };
        self.loaded.reads.iter().any(is_read)
    }

    fn environment(&self) -> &EnvironmentName {
        &self.loaded.fleet.environment
    }

    fn name(&self, of: Of) -> String {
        match of {
            Of::Own => self.environment().to_string(),
            Of::Main => self
                .promoted
                .as_ref()
                .map_or_else(|| "main".to_owned(), |promoted| promoted.revision.name().to_string()),
        }
    }

    fn commit(&self, of: Of) -> GitId {
        match of {
            Of::Own => self.own.id,
            Of::Main => self.promoted.as_ref().map_or(self.own.id, |promoted| promoted.id),
        }
    }

    fn stays(&self, of: Of) -> Option<String> {
        let other = match of {
            Of::Own => Of::Main,
            Of::Main => Of::Own,
        };
        self.promoted.as_ref()?;
        Some(format!("{} stays at {}", self.name(other), self.commit(other).short()))
    }

    /// The head of the branch that contains the promoted commit.
    fn main_head(&self) -> Result<Option<Commit>, Failure> {
        let Some(promoted) = &self.promoted else { return Ok(None) };
        match self.access.repositories.resolve(&promoted.url, &promoted.revision) {
            Ok(head) => Ok(Some(head)),
            // A promoted commit without a branch is valid, but there are no later commits.
            Err(RepositoryError::NoRevision { .. }) => Ok(Some(promoted.clone())),
            Err(error) => Err(Failure::outside(error.to_string())),
        }
    }

    /// The current commits of all branches, including those of applications.
    fn pins(&self) -> BTreeMap<(String, String), GitId> {
        let is_of_branch = |read: &&Read| !matches!(read.role, ReadRole::Base(_) | ReadRole::Flux(_));
        let pin = |read: &Read| ((read.url.as_str().to_owned(), read.revision.to_string()), read.commit);
        self.loaded.reads.iter().filter(is_of_branch).map(pin).collect()
    }

    /// Loads the environment with another commit of one of its branches.
    fn at(&self, of: Of, id: GitId) -> Arc<Loaded> {
        if id == self.commit(of) {
            return Arc::clone(&self.loaded);
        }
        let mut pins = self.pins();
        if of == Of::Own {
            pins.insert((self.own.url.as_str().to_owned(), self.own.revision.name().to_string()), id);
        }
        let pinned = PinnedRepositories::new(&*self.access.repositories, pins);
        self.load(&pinned, (of == Of::Main).then_some(id))
    }

    /// Loads the environment with commits that do not exist in the repositories.
    fn after(&self, next: Vec<Next>) -> Arc<Loaded> {
        let mut pins = self.pins();
        pins.extend(next.iter().filter_map(Next::pin));
        let pinned = PinnedRepositories::new(&*self.access.repositories, pins);
        self.load(&EditedRepositories::new(&pinned, next), None)
    }

    /// Loads the environment. The result may be incomplete.
    fn load(&self, repositories: &dyn Repositories, promoted: Option<GitId>) -> Arc<Loaded> {
        let control_plane = git::load::ControlPlane { promoted, ..self.access.control_plane() };
        let read = Snapshot::new(repositories, control_plane).load(self.environment());
        Arc::new(Loaded::new(read, None, Some(&self.access)))
    }

    /// The environment as it is, twice: a change of the main branch does not affect it.
    fn unchanged(self) -> EnvironmentChange {
        let title = self.loaded.title();
        let (old, new, compared) = (Arc::clone(&self.loaded), self.loaded, ComparedStates::default());
        EnvironmentChange { old, new, from: title.clone(), to: title, stays: None, compared, origins: Vec::new() }
    }

    /// Applies a patch to the environment's branch or, if it does not apply there, to the main branch.
    fn next(&self, apply: &Apply<'_>, side: Side) -> Result<(Of, Vec<Next>), Failure> {
        if side == Side::Main {
            return self.next_of_main(apply);
        }
        match apply(&|path| self.file(&self.own, path)) {
            Ok(edits) => Ok((Of::Own, vec![Next::new(self.own.clone(), edits)])),
            Err(error) => self.next_of_main(apply).map_err(|_| error),
        }
    }

    fn next_of_main(&self, apply: &Apply<'_>) -> Result<(Of, Vec<Next>), Failure> {
        // `Environment` objects are read at the head of the main branch, all other objects at the promoted commit.
        let Some(head) = self.loaded.reads.iter().find(|read| read.role == ReadRole::Main) else {
            return Err(Failure::refused("the environment has no main branch"));
        };
        let revision = Revision::Branch(Arc::clone(&head.revision));
        let head = Commit { url: head.url.clone(), revision, id: head.commit };
        let promoted = self.promoted.as_ref().unwrap_or(&head);
        let side = |path: &str| if path.starts_with(git::ENVIRONMENTS) { &head } else { promoted };
        let edits = apply(&|path| self.file(side(path), path))?;
        let part = |commit: &Commit| {
            let files = edits.paths().filter(|path| side(path).id == commit.id);
            let files = files.map(|path| (Arc::clone(path), edits.get(path).flatten().cloned()));
            Next::new(commit.clone(), files.collect())
        };
        let mut next = vec![part(promoted)];
        if head.id != promoted.id {
            next.push(part(&head));
        }
        Ok((Of::Main, next))
    }

    fn file(&self, commit: &Commit, path: &str) -> Result<Option<Arc<[u8]>>, Failure> {
        file_of_commit(&*self.access.repositories, commit, path)
    }
}

/// Reads a file of a commit. None if the file does not exist.
///
/// # Errors
/// If it can't be read, or if it is too large.
pub fn file_of_commit(
    repositories: &dyn Repositories,
    commit: &Commit,
    path: &str,
) -> Result<Option<Arc<[u8]>>, Failure> {
    let failed = |error: RepositoryError| Failure::outside(error.to_string());
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let items = repositories.folder(commit, folder).map_err(failed)?.unwrap_or_default();
    let Some(item) = items.into_iter().find(|item| item.name == name && item.kind == git::EntryKind::File) else {
        return Ok(None);
    };
    match repositories.content(commit, item.id, FILE_BYTES_MAX).map_err(failed)? {
        FileContent::Bytes(bytes) => Ok(Some(bytes)),
        FileContent::TooLarge(size) => Err(Failure::refused(format!("`{path}` has {size} bytes, which is too much"))),
    }
}
