//! Collects the files of an environment, and replaces broken files with earlier versions.

use std::cell::OnceCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::digest::{Digest, DigestBuilder};
use model::field_path::FieldPath;
use model::fleet::limits::Limit;
use model::fleet::{AuthorRole, FileScope, FleetFile, FleetInput, Limits, precedence};
use model::git_id::GitId;
use model::name::{EnvironmentName, RegistrationName};
use model::object::environment::OUTPUT_SETTINGS;
use model::object::{AnyObject, Environment, GitOpsRepo, Object, base_repo};
use model::object_key::ObjectKey;
use model::progress::{Progress, ProgressPhase};
use model::read::{self, FileObjects, Kustomized};
use model::source::{Address, File, FileId, Files, Source};
use rayon::prelude::*;

use super::history::{self, HistoryError, KeptFile, KeptFiles, PlaceHistory};
use super::kept::{self, KeptVersion, KnownPaths, UnreadablePaths};
use super::place::{self, LoadedPlace, RawContent, RawFile, SourcePlace};
use super::releases;
use super::replay::{FileStatus, State, Version};
use super::view::View;
use super::{Declarations, LoadedFiles, Read, ReadRole, destinations, diagnostics};
use crate::budget::Exceeded;
use crate::limits::FILE_BYTES_MAX;
use crate::publications::{AdmittedReleases, KeptKey, KeptObject, Publications, SourceBranch};
use crate::repositories::{Commit, Revision};
use crate::url::RepositoryUrl;
use crate::walk::{self, ENVIRONMENTS};

/// The files of an environment that were read so far.
pub(super) struct Assembly {
    progress: Progress,
    promoted: Option<GitId>,
    pub(super) files: Files,
    pub(super) contents: Vec<FleetFile>,
    pub(super) declarations: Declarations,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) unavailable: BTreeSet<RegistrationName>,
    pub(super) reads: Vec<Read>,
    pub(super) is_complete: bool,
    /// The platform's files that were already added, with their positions in `contents`. Places may overlap.
    added: BTreeMap<FileKey, (FileStatus, usize)>,
    /// The publications on each of the environment's branches.
    pub(super) published: Vec<Publications>,
    is_readable: bool,
    only_published: BTreeSet<(SourceBranch, KeptObject)>,
    /// The objects of the platform that do not count because of limits, if they were computed since the last place of the platform.
    refused: OnceCell<BTreeSet<Address>>,
    /// Kept objects of the platform that were already added, with the positions of their files. Places may overlap.
    kept: BTreeMap<(RepositoryUrl, Arc<str>, KeptKey), Option<usize>>,
}

/// Identifies a file at a commit.
type FileKey = (RepositoryUrl, GitId, Arc<str>);

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
            declarations: Declarations::default(),
            diagnostics: Vec::new(),
            unavailable: BTreeSet::new(),
            reads: Vec::new(),
            is_complete: true,
            added: BTreeMap::new(),
            published: Vec::new(),
            is_readable: true,
            only_published: BTreeSet::new(),
            refused: OnceCell::new(),
            kept: BTreeMap::new(),
        }
    }

    /// Sets the declarations from the files so far, and removes all other objects: they belong to no environment.
    pub(super) fn set_declarations(&mut self) {
        self.declarations = Declarations::from_files(&self.contents, self.is_complete);
        for file in &mut self.contents {
            file.keep(FileScope::Environments);
        }
    }

    /// The objects of the platform.
    pub(super) fn platform_objects(&self) -> impl Iterator<Item = &AnyObject> + Clone {
        self.contents.iter().filter(|file| file.role == AuthorRole::Platform).flat_map(|file| &file.objects.objects)
    }

    /// The objects of the platform that count by the limits of their files, with these limits. The platform must be read.
    pub(super) fn counting_objects(&self, environment: &EnvironmentName) -> Vec<(&AnyObject, &Limits)> {
        let of_platform = || self.contents.iter().filter(|file| file.role == AuthorRole::Platform);
        let refused = self.refused.get_or_init(|| {
            let files = of_platform().map(|file| (&file.role, &file.limits, &*file.objects.objects));
            precedence::judge(environment, &files.collect::<Vec<_>>()).refused
        });
        let objects = of_platform().flat_map(|file| file.objects.objects.iter().map(|object| (object, &file.limits)));
        objects.filter(|(object, _)| !refused.contains(&object.address())).collect()
    }

    /// The objects that name the destinations of the output.
    pub(super) fn gitops_repos(&self, environment: &EnvironmentName) -> Vec<&Object<GitOpsRepo>> {
        let objects = self.counting_objects(environment).into_iter();
        let repositories = objects.filter_map(|(object, _)| match object {
            AnyObject::GitOpsRepo(object) => Some(&**object),
            _ => None,
        });
        repositories.collect()
    }

    /// Reports output whose destination is also a source.
    pub(super) fn check_destinations(&mut self, sources: &destinations::Sources<'_>, environment: &EnvironmentName) {
        let objects = self.counting_objects(environment);
        let found = destinations::diagnostics(objects.iter().map(|(object, _)| *object), sources, environment);
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
        self.diagnostics.push(diagnostic.help("check the branch and path of the environment"));
        self.is_complete = false;
    }

    /// The files and all diagnostics.
    pub(super) fn into_diagnostics(self) -> (Arc<Files>, Vec<Diagnostic>) {
        let of_files = self.contents.into_iter().flat_map(|file| file.objects.diagnostics);
        (Arc::new(self.files), self.diagnostics.into_iter().chain(of_files).collect())
    }

    pub(super) fn finish(self, environment: EnvironmentName, releases: &AdmittedReleases) -> LoadedFiles {
        let Self { mut files, mut contents, declarations, diagnostics, unavailable, .. } = self;
        let (reads, is_complete, is_readable) = (self.reads, self.is_complete, self.is_readable);
        releases::admit((&mut contents, &mut files), (&environment, releases));
        let input = FleetInput { environment, files: Arc::new(files), contents, unavailable };
        LoadedFiles { input, declarations, diagnostics, reads, is_complete, is_readable, kept: self.only_published }
    }

    /// Adds the files of a place. Returns the positions of its files in `contents`, also of those that were added with another place.
    pub(super) fn add(&mut self, view: &View<'_>, place: &SourcePlace, loaded: LoadedPlace) -> Vec<usize> {
        self.add_read(place, &loaded);
        let (role, first) = (place.author(), self.contents.len());
        if role == AuthorRole::Platform {
            self.refused.take();
        }
        let mut files = loaded.files.clone();
        files.retain(|file| loaded.kustomized.is_read(&file.path));
        let mut positions = Vec::new();
        if role == AuthorRole::Platform {
            let commit = &loaded.commit;
            files.retain(|file| {
                let known = self.added.get(&file_key(commit, &file.path)).map(|(_, position)| *position);
                positions.extend(known);
                known.is_none()
            });
        }
        let parsed = self.parse(&loaded.source, files);
        let kept = self.find_kept(view, &loaded, self.state(&loaded, &parsed));
        if kept.is_none() {
            // Objects may have existed before, but they are not known.
            self.mark_incomplete(&role);
        }
        let kept = kept.unwrap_or_default();
        let is_partly_readable = |parsed: &&Parsed| !parsed.objects.is_good() && !parsed.objects.objects.is_empty();
        let paths = |is_one: &dyn Fn(&&Parsed) -> bool| {
            parsed.iter().filter(is_one).map(|parsed| Arc::clone(&parsed.raw.path)).collect()
        };
        let known = KnownPaths {
            partly_readable: paths(&is_partly_readable),
            without_objects: paths(&|parsed| parsed.objects.may_replace_objects),
        };
        for Parsed { id, objects, raw } in parsed {
            if let Err(reason) = loaded.budget.objects(&objects.objects) {
                self.discard_place(&role, id, reason);
                self.contents.truncate(first);
                return Vec::new();
            }
            if role == AuthorRole::Platform {
                let status = (history::status(&objects), self.contents.len());
                self.added.insert(file_key(&loaded.commit, &raw.path), status);
            }
            if !may_contain_kept(&kept, &raw.path) && makes_place_unknown(&loaded, &raw.path, &objects) {
                self.mark_incomplete(&role);
            }
            self.add_file(place, (id, objects));
        }
        let unreadable = UnreadablePaths { loaded: &loaded, files: BTreeMap::new(), known };
        positions.extend(self.add_kept(place, kept, unreadable));
        self.add_chains(place, &positions);
        positions.extend(first..self.contents.len());
        positions
    }

    fn add_read(&mut self, place: &SourcePlace, loaded: &LoadedPlace) {
        let read = Read {
            role: place.role.clone(),
            url: place.url.clone(),
            revision: Arc::clone(&loaded.source.revision),
            path: Arc::clone(&place.path),
            is_pinned: matches!(place.revision, Revision::Commit { .. }),
            commit: loaded.commit.id,
        };
        // A place with several chains of limits is added once for each.
        if !self.reads.contains(&read) {
            self.reads.push(read);
        }
    }

    /// Adds the limits of a place to files that were added with another place. Reports a limit of the place's own reference that thereby has no effect.
    fn add_chains(&mut self, place: &SourcePlace, positions: &[usize]) {
        let mut unlimited = Vec::new();
        for position in positions {
            let Some(file) = self.contents.get_mut(*position) else { continue };
            if file.limits.is_above(&place.limits) {
                unlimited.push(file.file);
            }
            file.limits.or(&place.limits);
        }
        self.diagnostics.extend(place.own_limit().and_then(|limit| without_effect(limit, &unlimited)));
    }

    /// The file at a position.
    pub(super) fn file(&self, position: usize) -> Option<&FleetFile> {
        self.contents.get(position)
    }

    fn add_file(&mut self, place: &SourcePlace, (file, objects): (FileId, FileObjects)) {
        let (role, limits) = (place.author(), place.limits.clone());
        let mut file = FleetFile { role, scope: FileScope::Everything, limits, file, objects };
        // The `Environment` and `Promotion` objects of the main branch are read at its head. As a base repository, the branch is read again at another
        // commit, and these objects are ignored.
        let is_declaration = || place.is_control_plane && is_below(&self.files.get(file.file).path, ENVIRONMENTS);
        match place.role {
            ReadRole::Base(_) | ReadRole::Flux(_) if is_declaration() => file.keep(FileScope::NoDeclarations),
            ReadRole::Base(_) | ReadRole::Flux(_) => file.keep(FileScope::AllButEnvironments),
            ReadRole::Environment => file.keep(FileScope::AllButPromotions),
            ReadRole::Main | ReadRole::Application(_) | ReadRole::Manifests(_) => {}
        }
        if place.role == ReadRole::Environment {
            file.objects.objects.iter_mut().for_each(|object| self.promote(object));
        }
        self.contents.push(file);
    }

    /// Discards the files of a place that exceeds a limit. Otherwise, missing objects would count as deleted.
    fn discard_place(&mut self, role: &AuthorRole, file: FileId, reason: Exceeded) {
        let message = format!("`{}` exceeds a limit of this place: {reason}", self.files.get(file).path);
        let diagnostic = Diagnostic::error(Code::TooMuchToRead, message).at(Origin::File(file), "read up to here");
        self.diagnostics.push(
            diagnostic
                .note("the objects of the whole place are not known")
                .help("name a smaller folder, or divide the repository"),
        );
        self.mark_incomplete(role);
    }

    /// The state of all paths of a place, whose new files are parsed.
    fn state(&self, loaded: &LoadedPlace, parsed: &[Parsed]) -> State {
        let new: BTreeMap<_, _> =
            parsed.iter().map(|parsed| (&parsed.raw.path, history::status(&parsed.objects))).collect();
        let mut now = State::new();
        for RawFile { path, id, content } in &loaded.files {
            let status = match content {
                RawContent::NotAFile if !read::is_kustomization(path) => Some(FileStatus::Other),
                _ => new
                    .get(path)
                    .or_else(|| self.added.get(&file_key(&loaded.commit, path)).map(|(status, _)| status))
                    .cloned(),
            };
            now.insert(Arc::clone(path), Version { id: *id, status: status.unwrap_or_else(FileStatus::unreadable) });
        }
        for (path, id) in &loaded.links {
            now.insert(Arc::clone(path), Version { id: *id, status: FileStatus::Other });
        }
        now
    }

    /// Searches for the objects of a place that are kept because a path can't be read. None if this fails, which is reported.
    fn find_kept(&mut self, view: &View<'_>, loaded: &LoadedPlace, now: State) -> Option<Vec<KeptFile>> {
        let unreadable = now.iter().find(|(_, version)| !version.status.is_readable());
        let Some((first, _)) = unreadable else { return Some(Vec::new()) };
        let first = Arc::clone(first);
        // A link alone is normal: most links replace no file.
        self.is_readable &= !now.values().any(|version| version.status.is_broken());
        let name = self.reads.last().map(Read::source_name).unwrap_or_default();
        let published: BTreeSet<_> = self.published.iter().filter_map(|published| published.last(&name)).collect();
        let published: Vec<_> = published.into_iter().collect();
        let history = PlaceHistory::new(view.repositories, loaded, view.control_plane.broken);
        match history.kept(now, &published) {
            Ok(KeptFiles { files, only_published }) => {
                self.is_readable &= files.is_empty();
                self.only_published.extend(only_published.into_iter().map(|kept| (name.clone(), kept)));
                Some(files)
            }
            Err(error) => {
                let path = if let HistoryError::TooMuch { path, .. } = &error { path } else { &first };
                let at = self.source_of(loaded, path);
                self.diagnostics.push(history_unknown(&error, at));
                None
            }
        }
    }

    /// Adds kept objects, and reports them. Returns the positions of files with kept objects that were added with another place.
    fn add_kept(
        &mut self,
        place: &SourcePlace,
        kept: Vec<KeptFile>,
        mut unreadable: UnreadablePaths<'_>,
    ) -> BTreeSet<usize> {
        let (role, loaded, mut known_files) = (place.author(), unreadable.loaded, BTreeSet::new());
        let (mut versions, mut targets) = (Vec::new(), Vec::new());
        for KeptFile { commit, file, mut keys, candidates } in kept {
            if role == AuthorRole::Platform {
                keys.retain(|key| match self.kept.entry(kept_place(&commit, &file.path, key)) {
                    Entry::Vacant(entry) => {
                        entry.insert(None);
                        true
                    }
                    Entry::Occupied(known) => {
                        known_files.extend(*known.get());
                        false
                    }
                });
            }
            let id = self.add_source(&place::source(&commit, true), &file);
            let mut objects = objects(id, &file);
            let known = targets.len();
            targets.extend(objects.objects.iter().flat_map(|object| kept::targets(object, &keys)));
            let is_kept = |key: &ObjectKey| keys.contains(&KeptKey::of_object(key.clone()));
            objects.objects.retain(|object| is_kept(&object.key()));
            // Other diagnostics of the earlier version no longer matter.
            objects.diagnostics.retain(|found| found.object.as_ref().is_some_and(is_kept));
            if objects.objects.is_empty() && targets.len() == known {
                continue;
            }
            if let Err(reason) = loaded.budget.objects(&objects.objects) {
                self.discard_place(&role, id, reason);
                return known_files;
            }
            let cause = |path: &Arc<str>| Arc::clone(loaded.kustomized.above(path).unwrap_or(path));
            let candidates: BTreeSet<_> = candidates.iter().map(cause).collect();
            for path in &candidates {
                unreadable.files.entry(Arc::clone(path)).or_insert_with(|| self.source_of(loaded, path));
            }
            if !objects.objects.is_empty() {
                let position = Some(self.contents.len()).filter(|_| role == AuthorRole::Platform);
                self.kept.extend(keys.iter().map(|key| (kept_place(&commit, &file.path, key), position)));
                self.add_file(place, (id, objects));
            }
            versions.push(KeptVersion { path: file.path, commit: commit.id, file: id, keys, candidates });
        }
        let of_place = self.contents.iter_mut().filter(|file| file.role == role);
        kept::add_targets(of_place.flat_map(|file| &mut file.objects.objects), targets);
        self.diagnostics.extend(kept::diagnostics(&unreadable, &versions));
        known_files
    }

    /// The file id of a path, for labels of diagnostics.
    fn source_of(&mut self, loaded: &LoadedPlace, path: &Arc<str>) -> FileId {
        let link = RawFile { path: Arc::clone(path), id: loaded.commit.id, content: RawContent::NotAFile };
        let file = loaded.files.iter().find(|file| file.path == *path).unwrap_or(&link);
        self.add_source(&loaded.source, file)
    }

    /// Sets the requested commit in the environment's `BaseRepo` named `main`.
    fn promote(&self, object: &mut AnyObject) {
        if let (AnyObject::BaseRepo(base), Some(commit)) = (object, self.promoted)
            && base.name.as_str() == base_repo::MAIN
        {
            let (base, commit) = (Arc::make_mut(base), commit.to_string());
            // The object now differs from the file, so its digest must differ too.
            let mut meaning = DigestBuilder::new("promoted");
            meaning.digest(base.digest).text(&commit);
            base.digest = meaning.finish();
            base.spec.commit = Some(commit.into());
        }
    }

    /// Gives the environment with the same name the settings for output of another version of its object.
    pub(super) fn set_output_settings(&mut self, other: &Object<Environment>) {
        for object in self.contents.iter_mut().flat_map(|file| &mut file.objects.objects) {
            let AnyObject::Environment(own) = object else { continue };
            let annotations = own.annotations.with_keys_of(&other.annotations, &OUTPUT_SETTINGS);
            if own.name == other.name && own.annotations != annotations {
                let own = Arc::make_mut(own);
                // The object now differs from the file, so its digest must differ too.
                let mut meaning = DigestBuilder::new("admitted settings");
                meaning.digest(own.digest).digest(Digest::from_value(&annotations));
                own.digest = meaning.finish();
                own.annotations = annotations;
            }
        }
    }

    /// Adds files without history.
    pub(super) fn add_plain(&mut self, mut files: Vec<RawFile>) {
        let source = Arc::new(Source::directory());
        let kustomized = Kustomized::from_paths(files.iter().map(|file| &*file.path));
        files.retain(|file| kustomized.is_read(&file.path));
        for Parsed { id, objects, raw } in self.parse(&source, files) {
            if !read::is_kustomization(&raw.path) && objects.diagnostics.iter().any(is_unsupported) {
                self.mark_incomplete(&AuthorRole::Platform);
            }
            let (scope, limits) = Default::default();
            self.contents.push(FleetFile { role: AuthorRole::Platform, scope, limits, file: id, objects });
        }
        self.declarations = Declarations::from_files(&self.contents, self.is_complete);
    }

    fn parse(&mut self, source: &Arc<Source>, files: Vec<RawFile>) -> Vec<Parsed> {
        let with_ids: Vec<_> = files.into_iter().map(|raw| (self.add_source(source, &raw), raw)).collect();
        let reading = self.progress.begin(ProgressPhase::Reading);
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

    fn mark_incomplete(&mut self, role: &AuthorRole) {
        match role {
            AuthorRole::Platform => self.is_complete = false,
            AuthorRole::Application(registration) => drop(self.unavailable.insert(registration.clone())),
        }
    }
}

/// The diagnostic for a limit of files that are also read without it.
fn without_effect(limit: &Limit, unlimited: &[FileId]) -> Option<Diagnostic> {
    let first = unlimited.first()?;
    let Limit { by, address, .. } = limit;
    let count = model::count::count(unlimited.len(), "file");
    let message = format!("the limit of {by} has no effect on {count}, which are also read without it");
    let diagnostic = Diagnostic::error(Code::InvalidAllow, message)
        .at(Origin::At(*address, FieldPath::from(["spec", "allow"])), "this limit")
        .at(Origin::File(*first), "also read without it")
        .help("keep limited files out of what is read without limits: in another repository, branch or folder");
    Some(diagnostic.about(by))
}

/// The diagnostic for a path that can't be read, and whose history can't be read either.
fn history_unknown(error: &HistoryError, at: FileId) -> Diagnostic {
    match error {
        HistoryError::Repository(error) => diagnostics::repository(error)
            .at(Origin::File(at), "can't be read")
            .note("the search for its earlier version failed"),
        HistoryError::TooMuch { path, reason } => {
            let message =
                format!("`{path}` is broken, and the search for a good earlier version was stopped: {reason}");
            Diagnostic::error(Code::EarlierVersionsUnknown, message)
                .at(Origin::File(at), "broken")
                .note("its earlier objects are not known")
                .help("fix the file, or restore a good version of it")
        }
        HistoryError::CommitUnavailable { commit, source } => {
            let message =
                format!("the published output was rendered from commit {commit}, which can no longer be read");
            Diagnostic::error(Code::PublishedCommitGone, message)
                .at(Origin::File(at), "can't be read; only that commit has its earlier version")
                .note(source.to_string())
                .help("fix the file, and commit; or push the commit again, to any branch")
        }
    }
}

/// Whether a path is in a folder, or in a folder of it.
fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Whether kept objects may be in this path.
fn may_contain_kept(kept: &[KeptFile], path: &Arc<str>) -> bool {
    kept.iter().any(|kept| kept.candidates.contains(path))
}

/// Whether a file makes more than its own objects unknown: a Flux `Kustomization` that changes the objects of its path, or a `kustomization.yaml` at
/// the root of a place. A `kustomization.yaml` in a folder affects only the files below that folder.
fn makes_place_unknown(loaded: &LoadedPlace, path: &str, objects: &FileObjects) -> bool {
    let is_everywhere = || walk::normalize(&loaded.path).is_ok_and(|place| Kustomized::folder(path) == place);
    objects.diagnostics.iter().any(is_unsupported) && (!read::is_kustomization(path) || is_everywhere())
}

fn is_unsupported(diagnostic: &Diagnostic) -> bool {
    diagnostic.code == Code::UnsupportedKustomization && diagnostic.is_error()
}

fn kept_place(commit: &Commit, path: &Arc<str>, key: &KeptKey) -> (RepositoryUrl, Arc<str>, KeptKey) {
    (commit.url.clone(), Arc::clone(path), key.clone())
}

fn file_key(commit: &Commit, path: &Arc<str>) -> FileKey {
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
    FileObjects { diagnostics: vec![diagnostic.at(Origin::File(id), "")], ..FileObjects::default() }
}
