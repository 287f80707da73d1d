//! Collects the files of an environment, and replaces broken files with earlier versions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::digest::DigestBuilder;
use model::fleet::{FleetFile, FleetInput, Role, Scope};
use model::git_id::GitId;
use model::name::{EnvironmentName, RegistrationName};
use model::object::{AnyObject, GitOpsRepo, Object};
use model::object_key::ObjectKey;
use model::progress::{Phase, Progress};
use model::read::{self, FileObjects, Kustomized};
use model::source::{File, FileId, Files, Source};
use rayon::prelude::*;

use super::keeping::{Standing, State, Version};
use super::kept::{self, KeptVersion, Unclear};
use super::past::{self, KeptFile, KeptFiles, Past, PastError};
use super::place::{self, Place, RawContent, RawFile, Snapshot};
use super::{BrokenFiles, Loaded, Read, ReadRole, own_source, problem};
use crate::budget::Exceeded;
use crate::limits::FILE_BYTES_MAX;
use crate::published::{KeptKey, KeptObject, Published, SourceName};
use crate::repositories::{Commit, Repositories, Revision};
use crate::url::RepositoryUrl;
use crate::walk;

/// The files of an environment that were read so far.
pub(super) struct Assembly {
    progress: Progress,
    promoted: Option<GitId>,
    pub(super) files: Files,
    contents: Vec<FleetFile>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) unavailable: BTreeSet<RegistrationName>,
    pub(super) reads: Vec<Read>,
    pub(super) is_whole: bool,
    /// The platform's files that were already added. Places may overlap.
    seen: BTreeMap<Seen, Standing>,
    /// The publications on each of the environment's branches.
    pub(super) published: Vec<Published>,
    is_understood: bool,
    remembered: BTreeSet<(SourceName, KeptObject)>,
    /// Kept objects of the platform that were already added. Places may overlap.
    kept: BTreeSet<(RepositoryUrl, Arc<str>, KeptKey)>,
}

/// Identifies a file at a commit.
type Seen = (RepositoryUrl, GitId, Arc<str>);

/// The name of the `BaseRepo` whose `spec.commit` is the promoted commit.
const MAIN: &str = "main";

/// A file with its parsed objects.
struct Parsed {
    raw: RawFile,
    id: FileId,
    objects: FileObjects,
}

impl Assembly {
    pub(super) fn new(progress: &Progress, promoted: Option<GitId>) -> Self {
        Self {
            progress: progress.clone(),
            promoted,
            files: Files::default(),
            contents: Vec::new(),
            diagnostics: Vec::new(),
            unavailable: BTreeSet::new(),
            reads: Vec::new(),
            is_whole: true,
            seen: BTreeMap::new(),
            published: Vec::new(),
            is_understood: true,
            remembered: BTreeSet::new(),
            kept: BTreeSet::new(),
        }
    }

    /// Removes all objects except `Environment`s: other objects in the same folder belong to no environment.
    pub(super) fn keep_environments(&mut self) {
        for file in &mut self.contents {
            file.keep(Scope::Environments);
        }
    }

    /// The objects of the platform.
    pub(super) fn platform_objects(&self) -> impl Iterator<Item = &AnyObject> + Clone {
        self.contents.iter().filter(|file| file.role == Role::Platform).flat_map(|file| &file.objects.objects)
    }

    /// The objects that name the destinations of the output.
    pub(super) fn gitops_repos(&self) -> impl Iterator<Item = &Object<GitOpsRepo>> {
        self.platform_objects().filter_map(|object| match object {
            AnyObject::GitOpsRepo(object) => Some(&**object),
            _ => None,
        })
    }

    /// Reports output whose destination is also a source.
    pub(super) fn check_destinations(&mut self, sources: &own_source::Sources<'_>, environment: &EnvironmentName) {
        let found = own_source::problems(self.platform_objects(), sources, environment);
        self.diagnostics.extend(found);
    }

    /// Reports that the environment has no objects. This is always a mistake.
    pub(super) fn report_empty(&mut self, environment: &EnvironmentName) {
        let message = format!("environment `{environment}` has no objects");
        let read = self.reads.iter().map(|read| format!("`{}` at {}", read.url, read.commit.short()));
        let read: Vec<_> = read.collect();
        let mut diagnostic = Diagnostic::error(Code::EmptyEnvironment, message);
        if !read.is_empty() {
            diagnostic = diagnostic.note(format!("read: {}", read.join(", ")));
        }
        self.diagnostics.push(diagnostic.help("are the branch and path of the environment right?"));
        self.is_whole = false;
    }

    /// The files and all diagnostics.
    pub(super) fn into_diagnostics(self) -> (Arc<Files>, Vec<Diagnostic>) {
        let of_files = self.contents.into_iter().flat_map(|file| file.objects.diagnostics);
        (Arc::new(self.files), self.diagnostics.into_iter().chain(of_files).collect())
    }

    pub(super) fn finish(self, environment: EnvironmentName) -> Loaded {
        let Self { files, contents, diagnostics, unavailable, reads, is_whole, is_understood, remembered, .. } = self;
        let input = FleetInput { environment, files: Arc::new(files), contents, unavailable };
        Loaded { input, diagnostics, reads, is_whole, is_understood, kept: remembered }
    }

    /// Adds the files of a place. Returns the added files.
    pub(super) fn add(
        &mut self,
        (repositories, broken): (&dyn Repositories, &BrokenFiles),
        place: &Place,
        snapshot: Snapshot,
    ) -> &[FleetFile] {
        self.reads.push(Read {
            role: place.role.clone(),
            url: place.url.clone(),
            revision: Arc::clone(&snapshot.source.revision),
            is_pinned: matches!(place.revision, Revision::Commit { .. }),
            commit: snapshot.commit.id,
        });
        let (role, first) = (place.author(), self.contents.len());
        let mut files = snapshot.files.clone();
        files.retain(|file| snapshot.kustomized.is_read(&file.path));
        if role == Role::Platform {
            let commit = &snapshot.commit;
            files.retain(|file| !self.seen.contains_key(&seen(commit, &file.path)));
        }
        let parsed = self.parse(&snapshot.source, files);
        let kept = self.look_back((repositories, broken), &snapshot, (&role, &parsed));
        let is_partly = |parsed: &&Parsed| !parsed.objects.is_good() && !parsed.objects.objects.is_empty();
        let partly = parsed.iter().filter(is_partly).map(|parsed| Arc::clone(&parsed.raw.path)).collect();
        for Parsed { id, objects, raw } in parsed {
            if let Err(reason) = snapshot.budget.objects(&objects.objects) {
                self.refuse(&role, id, reason);
                self.contents.truncate(first);
                return &[];
            }
            if role == Role::Platform {
                self.seen.insert(seen(&snapshot.commit, &raw.path), past::standing(&objects));
            }
            if !is_kept(&kept, &raw.path) && hides_all(&snapshot, &raw.path, &objects) {
                self.set_unknown(&role);
            }
            self.add_file(place, FleetFile { role: role.clone(), scope: Scope::Everything, file: id, objects });
        }
        self.add_kept(place, &snapshot, (kept, partly));
        self.contents.get(first..).unwrap_or_default()
    }

    fn add_file(&mut self, place: &Place, mut file: FleetFile) {
        // The `Environment` objects of the main branch are read at its head. As a base repository, the branch is read again at another commit, and
        // its `Environment` objects are ignored.
        if matches!(place.role, ReadRole::Base(_) | ReadRole::Flux(_)) {
            file.keep(Scope::AllButEnvironments);
        }
        if place.role == ReadRole::Environment {
            file.objects.objects.iter_mut().for_each(|object| self.promote(object));
        }
        self.contents.push(file);
    }

    /// Discards the files of a place that exceeds a limit. Otherwise, missing objects would count as deleted.
    fn refuse(&mut self, role: &Role, file: FileId, reason: Exceeded) {
        let message = format!("`{}` is one file too many to be read: {reason}", self.files.get(file).path);
        let diagnostic = Diagnostic::error(Code::TooMuchToRead, message).at(Origin::File(file), "read up to here");
        self.diagnostics.push(
            diagnostic
                .note("what the whole place brings is not known")
                .help("name a smaller folder, or divide the repository"),
        );
        self.set_unknown(role);
    }

    /// Searches the objects of a place that are kept because a path can't be read.
    fn look_back(
        &mut self,
        (repositories, broken): (&dyn Repositories, &BrokenFiles),
        snapshot: &Snapshot,
        (role, parsed): (&Role, &[Parsed]),
    ) -> Vec<KeptFile> {
        let new: BTreeMap<_, _> =
            parsed.iter().map(|parsed| (&parsed.raw.path, past::standing(&parsed.objects))).collect();
        let mut now = State::new();
        for RawFile { path, id, content } in &snapshot.files {
            let standing = match content {
                RawContent::NotAFile if !read::is_kustomization(path) => Some(Standing::Link),
                _ => new.get(path).or_else(|| self.seen.get(&seen(&snapshot.commit, path))).cloned(),
            };
            now.insert(Arc::clone(path), Version { id: *id, standing: standing.unwrap_or_else(Standing::unreadable) });
        }
        for (path, id) in &snapshot.links {
            now.insert(Arc::clone(path), Version { id: *id, standing: Standing::Link });
        }
        let unclear = now.iter().find(|(_, version)| !version.standing.is_understood());
        let Some((first, _)) = unclear else { return Vec::new() };
        let first = Arc::clone(first);
        // A link alone is normal: most links replace no file.
        self.is_understood &= !now.values().any(|version| version.standing.is_broken());
        let name = self.reads.last().map(Read::source_name).unwrap_or_default();
        let published: BTreeSet<_> = self.published.iter().filter_map(|published| published.last(&name)).collect();
        let published: Vec<_> = published.into_iter().collect();
        match Past::of(repositories, snapshot, broken).kept(now, &published) {
            Ok(KeptFiles { files, remembered }) => {
                self.is_understood &= files.is_empty();
                self.remembered.extend(remembered.into_iter().map(|kept| (name.clone(), kept)));
                files
            }
            Err(error) => {
                let path = if let PastError::TooMuch { path, .. } = &error { path } else { &first };
                let at = self.source_of(snapshot, path);
                self.diagnostics.push(past_unknown(&error, at));
                // Objects may have existed before, but they are not known.
                self.set_unknown(role);
                Vec::new()
            }
        }
    }

    /// Adds kept objects, and reports them.
    fn add_kept(&mut self, place: &Place, snapshot: &Snapshot, (kept, partly): (Vec<KeptFile>, BTreeSet<Arc<str>>)) {
        let role = place.author();
        let (mut versions, mut files, mut targets) = (Vec::new(), BTreeMap::new(), Vec::new());
        for KeptFile { commit, file, mut keys, holders } in kept {
            if role == Role::Platform {
                keys.retain(|key| self.kept.insert((commit.url.clone(), Arc::clone(&file.path), key.clone())));
            }
            let id = self.add_source(&place::source(&commit, true), &file);
            let mut objects = objects(id, &file);
            let known = targets.len();
            targets.extend(objects.objects.iter().flat_map(|object| kept::targets(object, &keys)));
            let is_kept = |key: &ObjectKey| keys.contains(&KeptKey::whole(key.clone()));
            objects.objects.retain(|object| is_kept(&object.key()));
            // Other diagnostics of the earlier version no longer matter.
            objects.diagnostics.retain(|found| found.object.as_ref().is_some_and(is_kept));
            if objects.objects.is_empty() && targets.len() == known {
                continue;
            }
            if let Err(reason) = snapshot.budget.objects(&objects.objects) {
                self.refuse(&role, id, reason);
                return;
            }
            let decides = |path: &Arc<str>| Arc::clone(snapshot.kustomized.above(path).unwrap_or(path));
            let holders: BTreeSet<_> = holders.iter().map(decides).collect();
            for path in &holders {
                files.entry(Arc::clone(path)).or_insert_with(|| self.source_of(snapshot, path));
            }
            versions.push(KeptVersion { path: file.path, commit: commit.id, file: id, keys, holders });
            if !objects.objects.is_empty() {
                self.add_file(place, FleetFile { role: role.clone(), scope: Scope::Everything, file: id, objects });
            }
        }
        let of_place = self.contents.iter_mut().filter(|file| file.role == role);
        kept::add_targets(of_place.flat_map(|file| &mut file.objects.objects), targets);
        let is_file = |path: &str| snapshot.is_file(path);
        let unclear = Unclear { commit: snapshot.commit.id, files, partly, is_file: &is_file };
        self.diagnostics.extend(kept::diagnostics(&unclear, &versions));
    }

    /// The file id of a path, for labels of diagnostics.
    fn source_of(&mut self, snapshot: &Snapshot, path: &Arc<str>) -> FileId {
        let link = RawFile { path: Arc::clone(path), id: snapshot.commit.id, content: RawContent::NotAFile };
        let file = snapshot.files.iter().find(|file| file.path == *path).unwrap_or(&link);
        self.add_source(&snapshot.source, file)
    }

    /// Sets the requested commit in the environment's `BaseRepo` named `main`.
    fn promote(&self, object: &mut AnyObject) {
        if let (AnyObject::BaseRepo(base), Some(commit)) = (object, self.promoted)
            && base.name.as_str() == MAIN
        {
            let (base, commit) = (Arc::make_mut(base), commit.to_string());
            // The object now differs from the file, so its digest must differ too.
            let mut meaning = DigestBuilder::new("promoted");
            meaning.digest(base.digest).text(&commit);
            base.digest = meaning.finish();
            base.spec.commit = Some(commit.into());
        }
    }

    /// Adds files without history.
    pub(super) fn add_plain(&mut self, mut files: Vec<RawFile>) {
        let source = Arc::new(Source::directory());
        let kustomized = Kustomized::of(files.iter().map(|file| &*file.path));
        files.retain(|file| kustomized.is_read(&file.path));
        for Parsed { id, objects, raw } in self.parse(&source, files) {
            if !read::is_kustomization(&raw.path) && objects.diagnostics.iter().any(is_unsupported) {
                self.set_unknown(&Role::Platform);
            }
            self.contents.push(FleetFile { role: Role::Platform, scope: Scope::Everything, file: id, objects });
        }
    }

    fn parse(&mut self, source: &Arc<Source>, files: Vec<RawFile>) -> Vec<Parsed> {
        let with_ids: Vec<_> = files.into_iter().map(|raw| (self.add_source(source, &raw), raw)).collect();
        let reading = self.progress.begin(Phase::Reading);
        reading.expect(with_ids.len());
        let parse = |(id, raw): (FileId, RawFile)| {
            let objects = objects(id, &raw);
            reading.advance(1);
            Parsed { raw, id, objects }
        };
        with_ids.into_par_iter().map(parse).collect()
    }

    fn add_source(&mut self, source: &Arc<Source>, raw: &RawFile) -> FileId {
        let content = match &raw.content {
            RawContent::Bytes(bytes) => Arc::clone(bytes),
            _ => Arc::default(),
        };
        self.files.add(File { source: Arc::clone(source), path: Arc::clone(&raw.path), id: raw.id, content })
    }

    fn set_unknown(&mut self, role: &Role) {
        match role {
            Role::Platform => self.is_whole = false,
            Role::Application(registration) => drop(self.unavailable.insert(registration.clone())),
        }
    }
}

/// The diagnostic for a path that can't be read, and whose history can't be read either.
fn past_unknown(error: &PastError, at: FileId) -> Diagnostic {
    match error {
        PastError::Repository(error) => problem::repository(error)
            .at(Origin::File(at), "not understood")
            .note("so what was understood before could not be looked for"),
        PastError::TooMuch { path, reason } => {
            let message = format!("`{path}` is broken, and no more earlier versions of it are looked at: {reason}");
            Diagnostic::error(Code::EarlierVersionsUnknown, message)
                .at(Origin::File(at), "broken")
                .note("what it brought before is not known")
                .help("mend the file, or restore a good version of it")
        }
        PastError::Gone { commit, source } => {
            let message = format!("what was published was made of commit {commit}, which can't be read any more");
            Diagnostic::error(Code::PublishedCommitGone, message)
                .at(Origin::File(at), "not understood, and that commit would say what was there before")
                .note(source.to_string())
                .help("mend the file, and commit; or push the commit again, to any branch")
        }
    }
}

/// Whether kept objects may be in this path.
fn is_kept(kept: &[KeptFile], path: &Arc<str>) -> bool {
    kept.iter().any(|kept| kept.holders.contains(path))
}

/// Whether a file makes more than its own objects unknown: a Flux `Kustomization` that changes the objects of its path, or a `kustomization.yaml` at
/// the root of a place. A `kustomization.yaml` in a folder affects only the files below that folder.
fn hides_all(snapshot: &Snapshot, path: &str, objects: &FileObjects) -> bool {
    let is_everywhere = || walk::normal(&snapshot.path).is_ok_and(|place| Kustomized::folder(path) == place);
    objects.diagnostics.iter().any(is_unsupported) && (!read::is_kustomization(path) || is_everywhere())
}

fn is_unsupported(diagnostic: &Diagnostic) -> bool {
    diagnostic.code == Code::UnsupportedKustomization && diagnostic.is_error()
}

fn seen(commit: &Commit, path: &Arc<str>) -> Seen {
    (commit.url.clone(), commit.id, Arc::clone(path))
}

/// Parses a file. If it can't be read, returns a diagnostic instead of objects.
fn objects(id: FileId, raw: &RawFile) -> FileObjects {
    let path = &raw.path;
    let diagnostic = match &raw.content {
        _ if read::is_kustomization(path) => return read::read_file(id, path, &[]),
        RawContent::Bytes(bytes) => return read::read_file(id, path, bytes),
        RawContent::TooLarge(size) => {
            let message = format!("`{path}` has {size} bytes; at most {FILE_BYTES_MAX} are read");
            Diagnostic::error(Code::YamlLimit, message).help("divide the file, or name it in `.sourceignore`")
        }
        RawContent::NotAFile => {
            let message = format!("`{path}` is a symbolic link or a submodule, and is not followed");
            Diagnostic::warning(Code::NotAFile, message)
                .help("put the file itself there, or name it in `.sourceignore`")
        }
        RawContent::Unreadable(reason) => {
            Diagnostic::error(Code::NotAFile, format!("`{path}` can't be read: {reason}"))
        }
    };
    FileObjects { objects: Vec::new(), diagnostics: vec![diagnostic.at(Origin::File(id), "")] }
}
