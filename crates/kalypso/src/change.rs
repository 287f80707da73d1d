//! The two states of an environment before and after a change of the control plane.

mod earlier;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use delivery::access::RepositoryAccess;
use delivery::loaded::Loaded;
use delivery::pinned_repositories::PinnedRepositories;
use delivery::reading::ReadAt;
use engine::promotion::origin::for_origin;
use git::load::{Directory, Read, ReadRole, Snapshot};
use git::{Commit, Content, Edits, Repositories, RepositoryError, Revision};
use model::git_id::GitId;
use model::name::{BaseRepoName, EnvironmentName};
use model::object::promotion::ChangeOrigin;
use serde_json::{Value as Json, json};

pub(crate) use self::earlier::{EarlierState, EarlierStates, Heads, source_name};
use crate::arguments::SourceOptions;
use crate::edited_repositories::{EditedRepositories, Next};
use crate::exit::Failure;
use crate::loading;
use crate::patch::{PATCH_BYTES_MAX, Patch, ReadFile};
use crate::progress::Watch;
use crate::range::{Branches, Of, Range};
use crate::terminal::count;
use crate::working_trees::{WorkingBranch, WorkingTrees, from_here};

/// The file name that stands for standard input, for a patch from a pipe.
const STANDARD_INPUT: &str = "-";
/// The maximum number of files of a patch that a message names.
const FILES_NAMED_MAX: usize = 3;
/// The maximum size of a file that a patch may change, in bytes.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// Two states of an environment.
pub(crate) struct EnvironmentChange {
    pub(crate) old: Arc<Loaded>,
    pub(crate) new: Arc<Loaded>,
    /// The description of the state before, for people: `prod@77aa012`.
    pub(crate) from: String,
    to: String,
    /// The description of the commit that is the same in both states.
    stays: Option<String>,
    answer: Json,
    /// Where the change comes from.
    origins: Vec<ChangeOrigin>,
}

impl EnvironmentChange {
    /// The states before and after edits of a branch. `from` describes the state before.
    pub(crate) fn of_edits(
        (old, new): (Arc<Loaded>, Arc<Loaded>),
        (branch, from): (&str, String),
        edits: &Edits,
    ) -> Self {
        let paths: Vec<_> = edits.paths().map(ToString::to_string).collect();
        let to = format!("{from} + {}", named_files(&paths));
        let answer = json!({"branch": branch, "from": null, "to": null, "files": paths});
        Self { old, new, from, to, stays: None, answer, origins: Vec::new() }
    }

    /// The gates that the change waits for after its merge, as a sentence. None: no gate is for it.
    pub(crate) fn gates(&self) -> Option<String> {
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
    pub(crate) fn title(&self) -> String {
        let stays = self.stays.as_ref().map_or_else(String::new, |stays| format!("   ({stays})"));
        format!("{} → {}{stays}", self.from, self.to)
    }

    /// The description of the comparison, as JSON.
    pub(crate) fn answer(&self) -> &Json {
        &self.answer
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
pub(crate) enum Side {
    /// The environment's own branch, or else the main branch.
    Any,
    /// The main branch: a change of it can be one of all environments.
    Main,
}

/// The environment at two commits of the control plane: `A..B`, or from now to `B`.
///
/// Applications are read at the same commits both times.
pub(crate) fn of_commits(
    source: &SourceOptions,
    (environment, side): (&str, Side),
    text: &str,
    watch: &mut Watch,
) -> anyhow::Result<EnvironmentChange> {
    let now = Now::read(source, environment, watch)?;
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
    let answer = json!({"branch": name, "from": from.to_string(), "to": to.to_string()});
    let at = |id: GitId| format!("{name}@{}", id.short());
    let (from, to, stays, origins) = (at(from), at(to), now.stays(of), vec![of.origin()]);
    Ok(EnvironmentChange { old, new, from, to, stays, answer, origins })
}

/// The environment before and after a patch, which is read from a file or from standard input (`-`).
pub(crate) fn of_patch(
    source: &SourceOptions,
    (environment, side): (&str, Side),
    file: &Path,
    watch: &mut Watch,
) -> anyhow::Result<EnvironmentChange> {
    let text = read_patch(file)?;
    let shown = if file == Path::new(STANDARD_INPUT) { "patch".to_owned() } else { file.display().to_string() };
    let named = |failure: Failure| {
        let message = format!("{shown} can't be applied: {}", failure.message);
        anyhow::Error::from(Failure { message, ..failure })
    };
    let patch = Patch::parse(&text).map_err(named)?;
    let apply = |read: &ReadFile<'_>| {
        patch.apply(read).map_err(|error| error.downcast::<Failure>().map_or_else(|error| error, named))
    };
    let paths = patch.paths();
    let answer = |branch: Option<&str>, from: Option<GitId>| {
        let from = from.map(|id| id.to_string());
        json!({"branch": branch, "from": from, "to": null, "patch": file.display().to_string(), "files": paths})
    };
    let with = |state: &str| format!("{state} + {shown} ({})", named_files(&paths));
    if let Some(directory) = &source.from {
        let old = loading::environment(source, environment, ReadAt::Heads, watch)?;
        let edits = apply(&|path| Ok(file_of(directory, path)?))?;
        let directory = Directory { path: directory, edits: &edits, progress: watch.progress() };
        let read = git::load::read_directory(directory, &old.fleet.environment);
        let read = read.map_err(|error| Failure::usage(error.to_string()))?;
        let new = Loaded::new(read, old.directory.clone(), None);
        let from = old.title();
        let (to, answer) = (with(&from), answer(None, None));
        let (old, new, origins) = (Arc::new(old), Arc::new(new), Vec::new());
        return Ok(EnvironmentChange { old, new, from, to, stays: None, answer, origins });
    }
    let now = Now::read(source, environment, watch)?;
    if side == Side::Main && now.promoted.is_none() {
        return Ok(now.unchanged());
    }
    let (of, next) = now.next(&apply, side)?;
    let new = now.after(next);
    let (name, id) = (now.name(of), now.commit(of));
    let from = format!("{name}@{}", id.short());
    let (to, answer) = (with(&from), answer(Some(&name), Some(id)));
    let (old, stays, origins) = (Arc::clone(&now.loaded), now.stays(of), vec![of.origin()]);
    Ok(EnvironmentChange { old, new, from, to, stays, answer, origins })
}

/// The environment without and with the changes in working trees that are not committed.
pub(crate) fn of_working_trees(
    source: &SourceOptions,
    environment: &str,
    trees: &WorkingTrees,
    watch: &mut Watch,
) -> anyhow::Result<EnvironmentChange> {
    let now = Now::read(source, environment, watch)?;
    let new = now.after(trees.next());
    let branches: Vec<_> = trees.branches().iter().filter(|branch| now.reads(&branch.head, None)).collect();
    let shown =
        |branch: &WorkingBranch, path: &str| from_here(&branch.checkout.root().join(path)).display().to_string();
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
    let answer = json!({"branch": null, "from": null, "to": null, "workingTrees": folders, "files": paths});
    let is_of = |of: Of| branches.iter().any(|branch| *branch.head.revision.name() == *now.name(of));
    let origins = [Of::Main, Of::Own].into_iter().filter(|of| is_of(*of)).map(Of::origin).collect();
    Ok(EnvironmentChange { old: now.loaded, new, from, to, stays, answer, origins })
}

fn named_files(paths: &[String]) -> String {
    let named = paths.iter().take(FILES_NAMED_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    match paths.len().saturating_sub(FILES_NAMED_MAX) {
        0 => named,
        more => format!("{named} and {}", count(more, "more file")),
    }
}

fn read_patch(file: &Path) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    let read = if file == Path::new(STANDARD_INPUT) {
        std::io::stdin().take(PATCH_BYTES_MAX + 1).read_to_end(&mut text)
    } else {
        fs::File::open(file).and_then(|file| file.take(PATCH_BYTES_MAX + 1).read_to_end(&mut text))
    };
    read.map_err(|error| Failure::usage(format!("the patch `{}` can't be read: {error}", file.display())))?;
    if text.len() as u64 > PATCH_BYTES_MAX {
        let limit = PATCH_BYTES_MAX >> 20;
        return Err(Failure::usage(format!("the patch `{}` is larger than {limit} MiB", file.display())));
    }
    Ok(text)
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
type Apply<'a> = dyn Fn(&ReadFile<'_>) -> anyhow::Result<Edits> + 'a;

impl Now {
    fn read(source: &SourceOptions, environment: &str, watch: &mut Watch) -> anyhow::Result<Self> {
        let loaded = loading::environment(source, environment, ReadAt::Heads, watch)?;
        let Some(access) = loaded.access.clone() else {
            return Err(Failure::usage("a plain directory has no commits").into());
        };
        let commit = |read: &Read| Commit {
            url: read.url.clone(),
            revision: Revision::Branch(Arc::clone(&read.revision)),
            id: read.commit,
        };
        let main = BaseRepoName::new("main")?;
        let read_as = |role: &ReadRole| loaded.reads.iter().find(|read| read.role == *role).map(commit);
        let Some(own) = read_as(&ReadRole::Environment) else {
            return Err(Failure::refused(format!("environment `{environment}` has no branch of its own")).into());
        };
        let promoted = read_as(&ReadRole::Base(main));
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
    fn main_head(&self) -> anyhow::Result<Option<Commit>> {
        let Some(promoted) = &self.promoted else { return Ok(None) };
        match self.access.repositories.resolve(&promoted.url, &promoted.revision) {
            Ok(head) => Ok(Some(head)),
            // A promoted commit without a branch is valid, but there are no later commits.
            Err(RepositoryError::NoRevision { .. }) => Ok(Some(promoted.clone())),
            Err(error) => Err(Failure::outside(error.to_string()).into()),
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
        let answer = json!({"branch": null, "from": null, "to": null});
        let (old, new) = (Arc::clone(&self.loaded), self.loaded);
        EnvironmentChange { old, new, from: title.clone(), to: title, stays: None, answer, origins: Vec::new() }
    }

    /// Applies a patch to the environment's branch or, if it does not apply there, to the main branch.
    fn next(&self, apply: &Apply<'_>, side: Side) -> anyhow::Result<(Of, Vec<Next>)> {
        if side == Side::Main {
            return self.next_of_main(apply);
        }
        match apply(&|path| Ok(self.file(&self.own, path)?)) {
            Ok(edits) => Ok((Of::Own, vec![Next::new(self.own.clone(), edits)])),
            Err(error) => self.next_of_main(apply).map_err(|_| error),
        }
    }

    fn next_of_main(&self, apply: &Apply<'_>) -> anyhow::Result<(Of, Vec<Next>)> {
        // `Environment` objects are read at the head of the main branch, all other objects at the promoted commit.
        let Some(head) = self.loaded.reads.iter().find(|read| read.role == ReadRole::Main) else {
            return Err(Failure::refused("the environment has no main branch").into());
        };
        let revision = Revision::Branch(Arc::clone(&head.revision));
        let head = Commit { url: head.url.clone(), revision, id: head.commit };
        let promoted = self.promoted.as_ref().unwrap_or(&head);
        let side = |path: &str| if path.starts_with(git::ENVIRONMENTS) { &head } else { promoted };
        let edits = apply(&|path| Ok(self.file(side(path), path)?))?;
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
pub(crate) fn file_of_commit(
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
        Content::Bytes(bytes) => Ok(Some(bytes)),
        Content::TooLarge(size) => Err(Failure::refused(format!("`{path}` has {size} bytes, which is too much"))),
    }
}
