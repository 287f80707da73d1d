//! Puts what was read together, and replaces broken files by earlier versions of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::digest::DigestBuilder;
use model::fleet::{FleetFile, FleetInput, Role, Scope};
use model::git_id::GitId;
use model::name::{EnvironmentName, RegistrationName};
use model::object::AnyObject;
use model::progress::{Phase, Progress};
use model::read::{self, FileObjects};
use model::source::{File, FileId, Files, Source};
use rayon::prelude::*;

use super::earlier::{Earlier, GoodVersion};
use super::place::{self, Place, RawContent, RawFile, Snapshot};
use super::{Loaded, Read, ReadRole, problem};
use crate::limits::FILE_BYTES_MAX;
use crate::repositories::{Repositories, RepositoryError};
use crate::url::RepositoryUrl;

/// What an environment consists of, as far as it was read.
pub(super) struct Assembly {
    progress: Progress,
    promoted: Option<GitId>,
    pub(super) files: Files,
    contents: Vec<FleetFile>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) unavailable: BTreeSet<RegistrationName>,
    pub(super) reads: Vec<Read>,
    pub(super) is_whole: bool,
    /// Files of the platform that are there already: places may overlap.
    seen: BTreeSet<(RepositoryUrl, GitId, Arc<str>)>,
}

/// The `BaseRepo` that says which commit of the control plane's main branch is promoted.
const MAIN: &str = "main";

/// A file with its objects.
struct Parsed {
    raw: RawFile,
    id: FileId,
    objects: FileObjects,
}

/// What came of looking for an earlier version.
type Looked = Result<Option<GoodVersion>, RepositoryError>;

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
            seen: BTreeSet::new(),
        }
    }

    /// Leaves nothing but `Environment`s: other things that stand beside them belong to no environment.
    pub(super) fn keep_environments(&mut self) {
        for file in &mut self.contents {
            file.keep(Scope::Environments);
        }
    }

    /// The objects of the platform, without those of broken files.
    pub(super) fn platform_objects(&self) -> impl Iterator<Item = &AnyObject> {
        let platform = self.contents.iter().filter(|file| file.role == Role::Platform && file.objects.is_good());
        platform.flat_map(|file| &file.objects.objects)
    }

    /// Says that there is nothing, which is nobody's intention.
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

    /// The files, and all that is wrong with them and with what could not be read.
    pub(super) fn into_diagnostics(self) -> (Arc<Files>, Vec<Diagnostic>) {
        let of_files = self.contents.into_iter().flat_map(|file| file.objects.diagnostics);
        (Arc::new(self.files), self.diagnostics.into_iter().chain(of_files).collect())
    }

    pub(super) fn finish(self, environment: EnvironmentName) -> Loaded {
        let Self { files, contents, diagnostics, unavailable, reads, is_whole, .. } = self;
        let input = FleetInput { environment, files: Arc::new(files), contents, unavailable };
        Loaded { input, diagnostics, reads, is_whole }
    }

    /// Adds what a place holds, and gives it back.
    pub(super) fn add(&mut self, repositories: &dyn Repositories, place: &Place, snapshot: Snapshot) -> &[FleetFile] {
        self.reads.push(Read {
            role: place.role.clone(),
            url: place.url.clone(),
            revision: Arc::clone(&snapshot.source.revision),
            commit: snapshot.commit.id,
        });
        let (role, first) = (place.author(), self.contents.len());
        let mut files = snapshot.files.clone();
        if role == Role::Platform {
            let commit = &snapshot.commit;
            files.retain(|file| self.seen.insert((commit.url.clone(), commit.id, Arc::clone(&file.path))));
        }
        let parsed = self.parse(&snapshot.source, files);
        let earlier = Earlier::of(repositories, &snapshot);
        let look = |parsed: &Parsed| {
            let is_broken = !parsed.objects.is_good();
            is_broken.then(|| earlier.good_version(&parsed.raw, parsed.id))
        };
        let found: Vec<_> = parsed.par_iter().map(look).collect();
        for (parsed, found) in parsed.into_iter().zip(found) {
            let file = parsed.id;
            let objects = self.chosen(&role, &snapshot, (parsed, found));
            let mut file = FleetFile { role: role.clone(), scope: Scope::Everything, file, objects };
            // The main branch counts at its head. As a base repository it is read again, at another commit.
            if matches!(place.role, ReadRole::Base(_) | ReadRole::Flux(_)) {
                file.keep(Scope::AllButEnvironments);
            }
            if place.role == ReadRole::Environment {
                file.objects.objects.iter_mut().for_each(|object| self.promote(object));
            }
            self.contents.push(file);
        }
        self.contents.get(first..).unwrap_or_default()
    }

    /// Lets the environment's `BaseRepo` named `main` say the commit that is asked for.
    fn promote(&self, object: &mut AnyObject) {
        if let (AnyObject::BaseRepo(base), Some(commit)) = (object, self.promoted)
            && base.name.as_str() == MAIN
        {
            let (base, commit) = (Arc::make_mut(base), commit.to_string());
            // It means something else than what was read.
            let mut meaning = DigestBuilder::new("promoted");
            meaning.digest(base.digest).text(&commit);
            base.digest = meaning.finish();
            base.spec.commit = Some(commit.into());
        }
    }

    /// Adds files that have no history.
    pub(super) fn add_plain(&mut self, files: Vec<RawFile>) {
        let source = Arc::new(Source::directory());
        for Parsed { id, objects, .. } in self.parse(&source, files) {
            self.note_unknown_content(&Role::Platform, &objects);
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

    /// What counts for a file: itself, or the earlier version that was looked for because it is broken.
    fn chosen(&mut self, role: &Role, snapshot: &Snapshot, (now, earlier): (Parsed, Option<Looked>)) -> FileObjects {
        let Parsed { id, objects: now, .. } = now;
        match earlier {
            None => now,
            Some(Ok(Some(version))) => self.use_earlier(snapshot, version, (id, now)),
            Some(Ok(None)) => {
                self.note_unknown_content(role, &now);
                now
            }
            Some(Err(error)) => {
                let diagnostic = problem::repository(&error).at(Origin::File(id), "broken");
                self.diagnostics.push(diagnostic.note("so no earlier version of this broken file could be looked for"));
                // The file has contributed something before, perhaps; what, is not known.
                self.set_unknown(role);
                now
            }
        }
    }

    /// Takes an earlier version in the place of a broken one, and reports both.
    fn use_earlier(
        &mut self,
        snapshot: &Snapshot,
        version: GoodVersion,
        (id, broken): (FileId, FileObjects),
    ) -> FileObjects {
        let GoodVersion { commit, file } = version;
        let earlier = self.add_source(&place::source(&commit), &file);
        let (now, then) = (snapshot.commit.id.short(), commit.id.short());
        let message = format!("`{}` is broken at {now}; its version of {then} is used instead", file.path);
        let diagnostic = Diagnostic::error(Code::EarlierVersionUsed, message)
            .at(Origin::File(id), format!("broken at commit {}", snapshot.commit.id))
            .at(Origin::File(earlier), format!("used, of commit {}", commit.id))
            .help("mend the file, and commit");
        self.diagnostics.extend(broken.diagnostics);
        self.diagnostics.push(diagnostic);
        objects(earlier, &file)
    }

    /// A `kustomization.yaml`, or a Flux `Kustomization` that changes what it brings: the content of a whole folder is not known.
    fn note_unknown_content(&mut self, role: &Role, objects: &FileObjects) {
        let is_unknown =
            |diagnostic: &Diagnostic| diagnostic.code == Code::UnsupportedKustomization && diagnostic.is_error();
        if objects.diagnostics.iter().any(is_unknown) {
            self.set_unknown(role);
        }
    }

    fn set_unknown(&mut self, role: &Role) {
        match role {
            Role::Platform => self.is_whole = false,
            Role::Application(registration) => drop(self.unavailable.insert(registration.clone())),
        }
    }
}

/// The objects of a file, or why it has none.
fn objects(id: FileId, raw: &RawFile) -> FileObjects {
    let path = &raw.path;
    let diagnostic = match &raw.content {
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
