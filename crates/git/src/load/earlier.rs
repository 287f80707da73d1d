//! Searches for the newest good version of a broken file.

use std::sync::{Arc, OnceLock};

use model::git_id::GitId;
use model::read;
use model::source::FileId;

use super::BrokenFiles;
use super::place::{self, LoadedPlace, RawContent, RawFile};
use crate::budget::{Budget, Exceeded};
use crate::limits::{HISTORY_REACHES, VERSIONS_MAX};
use crate::repositories::{Commit, EntryKind, FolderEntry, KnownTree, Repositories, RepositoryError};
use crate::walk;

/// The history of one place. It is read only if it is needed.
pub(super) struct Earlier<'a> {
    repositories: &'a dyn Repositories,
    commit: &'a Commit,
    budget: &'a Budget,
    broken: &'a BrokenFiles,
    histories: [OnceLock<Result<Vec<Commit>, RepositoryError>>; HISTORY_REACHES.len()],
}

/// A good version of a file.
pub(super) struct GoodVersion {
    pub(super) commit: Commit,
    pub(super) file: RawFile,
}

/// The reason why the search for a good version failed.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum EarlierError {
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    #[error(transparent)]
    TooMuch(#[from] Exceeded),
}

impl<'a> Earlier<'a> {
    pub(super) fn new(repositories: &'a dyn Repositories, loaded: &'a LoadedPlace, broken: &'a BrokenFiles) -> Self {
        let LoadedPlace { commit, budget, .. } = loaded;
        Self { repositories, commit, budget, broken, histories: Default::default() }
    }

    /// Searches for a good version of a file in the commits before the current one. None if there is none within reach.
    ///
    /// # Errors
    /// If the history can't be read, or if a limit is exceeded.
    pub(super) fn good_version(&self, broken: &RawFile, id: FileId) -> Result<Option<GoodVersion>, EarlierError> {
        let (mut searched, mut tried) = (1, vec![broken.id]);
        for (history, reach) in self.histories.iter().zip(HISTORY_REACHES) {
            let history = history.get_or_init(|| self.repositories.history(self.commit, reach));
            let history = history.as_ref().map_err(Clone::clone)?;
            for commit in history.iter().skip(searched) {
                let Some(file) = self.version(commit, &broken.path, &mut tried)? else { continue };
                if self.is_good(&file, id)? {
                    return Ok(Some(GoodVersion { commit: commit.clone(), file }));
                }
                if tried.len() > VERSIONS_MAX {
                    return Ok(None);
                }
            }
            if history.len() < reach {
                return Ok(None);
            }
            searched = history.len();
        }
        Ok(None)
    }

    /// Whether a version has no errors. A cached result costs the same as a new one, so the cache never changes the result.
    fn is_good(&self, file: &RawFile, id: FileId) -> Result<bool, EarlierError> {
        let RawContent::Bytes(bytes) = &file.content else { return Ok(false) };
        self.budget.earlier_bytes(bytes.len() as u64)?;
        let mut is_good = false;
        self.broken.is_usable(file, || {
            let read = read::read_file(id, &file.path, bytes);
            is_good = read.is_good();
            is_good || !read.objects.is_empty()
        });
        Ok(is_good)
    }

    /// The version of a file at a commit, if it was not tried yet.
    fn version(
        &self,
        commit: &Commit,
        path: &Arc<str>,
        tried: &mut Vec<GitId>,
    ) -> Result<Option<RawFile>, EarlierError> {
        let Some(entry) = self.entry(commit, path)?.filter(|entry| !tried.contains(&entry.id)) else { return Ok(None) };
        tried.push(entry.id);
        let content = place::content(self.repositories, commit, entry.id)?;
        Ok(Some(RawFile { path: Arc::clone(path), id: entry.id, content }))
    }

    /// The file at a path of a commit. Every entry of the folders on the path costs a step.
    fn entry(&self, commit: &Commit, path: &str) -> Result<Option<FolderEntry>, EarlierError> {
        const COMMIT_STEPS: u64 = 10;
        self.budget.earlier_steps(COMMIT_STEPS)?;
        let tree = |id| KnownTree { id, limit: self.budget.folder_bytes() };
        let root = tree(self.repositories.info(commit)?.tree);
        let (mut above, mut entries) = (String::new(), self.repositories.known_folder(commit, "", root)?);
        let mut parts = path.split('/').peekable();
        while let Some(part) = parts.next() {
            let Some(found) = entries else { return Ok(None) };
            self.budget.earlier_steps(1 + found.len() as u64)?;
            let kind = if parts.peek().is_none() { EntryKind::File } else { EntryKind::Folder };
            let found = found.into_iter().find(|entry| entry.name == part && entry.kind == kind);
            let Some(entry) = found else { return Ok(None) };
            if parts.peek().is_none() {
                return Ok(Some(entry));
            }
            above = walk::join(&above, part);
            entries = self.repositories.known_folder(commit, &above, tree(entry.id))?;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use model::progress::Progress;
    use model::source::{File, Files};
    use model::tree::{Tree, closed};

    use super::super::ReadRole;
    use super::super::place::{SourcePlace, read_place};
    use super::*;
    use crate::limits::{APPLICATION, PlaceLimits};
    use crate::{MemoryRepositories, NewCommit, Person, Push, RepositoryUrl, Revision};

    /// Commits each text as file `a/w.yaml`, and searches for a good version of the last one.
    fn check(texts: &[&str], limits: PlaceLimits, broken: &BrokenFiles) -> Result<bool, String> {
        let url = RepositoryUrl::from_object("https://git.example/acme/app").unwrap();
        let repositories = MemoryRepositories::default();
        repositories.create(&url);
        let branch = Revision::branch("main");
        for text in texts {
            let head = repositories.resolve(&url, &branch).ok().map(|commit| commit.id);
            let mut tree = Tree::default();
            tree.write("a/w.yaml", text.as_bytes());
            let (author, parents) = (Person { name: String::new(), email: String::new() }, head.as_slice());
            let commit = NewCommit {
                parents,
                tree: &tree,
                open: &closed,
                message: "",
                author: &author,
                seconds: 0,
                signer: None,
            };
            let progress = &Progress::default();
            repositories.push(&url, &Push { branch: "main", expected: head, commit: Some(commit), progress }).unwrap();
        }
        let commit = repositories.resolve(&url, &branch).unwrap();
        let (path, role) = (".".into(), ReadRole::Environment);
        let place = SourcePlace {
            url,
            revision: branch,
            path,
            role,
            limits: model::fleet::Limits::default(),
            is_control_plane: true,
        };
        let mut loaded = read_place(&repositories, commit, &place).unwrap();
        loaded.budget = Arc::new(Budget::new(limits));
        let (mut files, raw) = (Files::default(), &loaded.files[0]);
        let (source, path) = (Arc::clone(&loaded.source), Arc::clone(&raw.path));
        let id = files.add(File { source, path, id: raw.id, content: Arc::default() });
        let found = Earlier::new(&repositories, &loaded, broken).good_version(raw, id);
        found.map(|found| found.is_some()).map_err(|error| error.to_string())
    }

    const GOOD: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata: {}\n";

    #[test]
    fn versions_are_tried_within_the_limits() {
        let broken: Vec<_> = (0..10).map(|number| format!("a: [{number:05}")).collect();
        let texts: Vec<_> = [GOOD].into_iter().chain(broken.iter().map(String::as_str)).collect();
        let limits = |earlier_bytes, earlier_steps| PlaceLimits { earlier_bytes, earlier_steps, ..APPLICATION };
        // Cached versions are not parsed again, but count the same.
        let known = BrokenFiles::default();
        for _ in 0..2 {
            assert_eq!(check(&texts, APPLICATION, &known), Ok(true));
            let bytes = check(&texts, limits(81, 1_000), &known).unwrap_err();
            assert!(bytes.contains("MiB of earlier versions"), "{bytes}");
            let steps = check(&texts, limits(1_000, 100), &known).unwrap_err();
            assert!(steps.contains("takes more than 100 steps"), "{steps}");
        }
        assert_eq!(check(&texts[1..], APPLICATION, &known), Ok(false));
    }
}
