//! A checkout of an application on this machine, whose files are edited.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use authoring::branch_files::BranchFiles;
use authoring::file_edits::FileEdits;
use git::checkout::{Checkout, CheckoutError, checkout_at, repository_above};
use model::read::is_read;
use model::source::Source;
use workbench::branch::{not_committed, unfinished_operation};
use workbench::contained_files;

use crate::configuration;
use crate::exit::Failure;

/// The maximum number of files and folders that are looked at.
const ENTRIES_MAX: usize = 100_000;
/// The maximum size of a file with objects, in bytes.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// The YAML files of a checkout.
pub(super) struct Application {
    /// The root of the repository, or the folder itself if it is in none.
    root: PathBuf,
    files: BTreeMap<Arc<str>, Arc<[u8]>>,
    settings: git::Settings,
}

impl Application {
    /// Reads the YAML files below a folder. Folders that begin with a dot, and links, are left out.
    pub(super) fn read(folder: &Path) -> Result<Self, Failure> {
        let shown = folder.display();
        let failed = |error: std::io::Error| Failure::usage(format!("`{shown}` can't be read: {error}"));
        let folder = fs::canonicalize(folder).map_err(failed)?;
        let root = repository_above(&folder).unwrap_or(&folder).to_owned();
        let mut files = BTreeMap::new();
        let mut waiting = vec![folder.clone()];
        let mut entries = 0;
        while let Some(next) = waiting.pop() {
            for entry in fs::read_dir(&next).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                entries += 1;
                if entries > ENTRIES_MAX {
                    let help = "name the folder with the workload: --checkout DIR/workload";
                    return Err(Failure::usage(format!("`{shown}` has more than {ENTRIES_MAX} files")).help(help));
                }
                let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
                let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
                if kind.is_dir() && !is_hidden {
                    waiting.push(path);
                } else if kind.is_file()
                    && is_small(&path)
                    && let Some(name) = relative(&root, &path)
                {
                    files.insert(name, fs::read(&path).map_err(failed)?.into());
                }
            }
        }
        Ok(Self { root, files, settings: configuration::settings_of_git() })
    }

    /// The files with their objects.
    pub(super) fn files(&self) -> BranchFiles<'_> {
        let source = Source { label: "".into(), ..Source::directory() };
        BranchFiles::new(source, &self.files, "")
    }

    /// Writes files: each whole or not at all.
    pub(super) fn write(&self, edits: &FileEdits) -> Result<(), Failure> {
        let files: Vec<_> = edits.iter().map(|(path, edit)| (&**path, edit.content().map(|bytes| &**bytes))).collect();
        for (path, _) in &files {
            let failed =
                |error: std::io::Error| Failure::outside(format!("`{}` can't be read: {error}", self.shown(path)));
            let present = contained_files::read(&self.root, path).map_err(failed)?;
            if present.as_deref() != self.files.get(*path).map(|bytes| &**bytes) {
                let message = format!("`{}` changed while it was edited", self.shown(path));
                return Err(Failure::refused(message).help("try again"));
            }
        }
        let failed =
            |error: std::io::Error| Failure::outside(format!("`{}` can't be changed: {error}", self.root.display()));
        contained_files::replace_all(&self.root, &files).map_err(failed)
    }

    /// The working tree, if edits of it can be committed.
    ///
    /// # Errors
    /// If the folder is in no repository, or if an operation of git waits there for an end.
    pub(super) fn committable(&self) -> Result<Checkout, Failure> {
        let shown = self.settings.shown(&self.root);
        let failed = |error: CheckoutError| {
            Failure::refused(format!("`{}` can't be committed: {error}", shown.display()))
                .help("name a clone of the application's repository with --checkout DIR, or leave out --commit")
        };
        let checkout = checkout_at(&self.root).map_err(failed)?;
        unfinished_operation(&checkout, &self.settings).map_or(Ok(checkout), Err)
    }

    /// The failure that git or a hook refuses a commit of the edited files. They stay edited.
    pub(super) fn not_committed(&self, error: &CheckoutError) -> Failure {
        not_committed(&self.settings.shown(&self.root), error)
    }

    /// The path of a file for people.
    pub(super) fn shown(&self, path: &str) -> String {
        self.settings.shown(&self.root.join(path)).display().to_string()
    }

    /// The path of a file below a folder of the checkout, from the root. None if it is not below the root.
    pub(super) fn path(&self, folder: &Path, below: &str) -> Option<Arc<str>> {
        let folder = fs::canonicalize(folder).ok()?;
        let parts = below.split('/').filter(|part| !matches!(*part, "" | "."));
        relative(&self.root, &parts.fold(folder, |path, part| path.join(part)))
    }
}

fn is_small(path: &Path) -> bool {
    let is_yaml = path.to_str().is_some_and(|path| is_read(path) && !model::read::is_kustomization(path));
    is_yaml && fs::metadata(path).is_ok_and(|metadata| metadata.len() <= FILE_BYTES_MAX)
}

fn relative(root: &Path, path: &Path) -> Option<Arc<str>> {
    let parts: Option<Vec<_>> = path.strip_prefix(root).ok()?.iter().map(|part| part.to_str()).collect();
    Some(parts?.join("/").into())
}
