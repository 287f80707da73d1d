//! Reads fleets and trees from plain directories.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::diagnostic::Diagnostic;
use model::fleet::{AuthorRole, Fleet, FleetFile, FleetInput, Limits};
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::read::is_read;
use model::source::{File, Files, Source};
use model::tree::Tree;

/// Builds the fleet from the YAML files under a directory.
///
/// # Errors
/// Returns an error if the directory cannot be read or if the environment name is not valid.
pub fn fleet(directory: &Path, environment: &str) -> std::io::Result<(Fleet, Vec<Diagnostic>)> {
    let texts = files_below(directory)?.into_iter().filter(|path| is_read(path));
    let read = |path: String| Ok((path.clone(), std::fs::read(directory.join(path))?));
    fleet_of(texts.map(read).collect::<std::io::Result<Vec<_>>>()?, environment)
}

/// Builds the fleet from these files.
///
/// # Errors
/// Returns an error if the environment name is not valid.
pub fn fleet_of(texts: Vec<(String, Vec<u8>)>, environment: &str) -> std::io::Result<(Fleet, Vec<Diagnostic>)> {
    input_of(texts, environment).map(Fleet::build)
}

/// Creates the input of a fleet from these files.
///
/// # Errors
/// Returns an error if the environment name is not valid.
pub fn input_of(texts: Vec<(String, Vec<u8>)>, environment: &str) -> std::io::Result<FleetInput> {
    input_by(texts, environment, |_| (AuthorRole::Platform, Limits::default()))
}

/// Creates the input of a fleet from these files. `author` returns the role of the author of a file, and its limits, from its path.
///
/// # Errors
/// Returns an error if the environment name is not valid.
pub(crate) fn input_by(
    texts: Vec<(String, Vec<u8>)>,
    environment: &str,
    author: impl Fn(&str) -> (AuthorRole, Limits),
) -> std::io::Result<FleetInput> {
    let source = Arc::new(Source::directory());
    let mut files = Files::default();
    let mut contents = Vec::new();
    for (path, content) in texts {
        let (source, id) = (Arc::clone(&source), GitId::of_blob(&content));
        let file = files.add(File { source, path: path.as_str().into(), id, content: content.as_slice().into() });
        let (role, limits) = author(&path);
        contents.push(FleetFile { limits, ..FleetFile::read(role, file, &files) });
    }
    let environment = EnvironmentName::new(environment).map_err(std::io::Error::other)?;
    Ok(FleetInput { environment, files: Arc::new(files), contents, unavailable: BTreeSet::new() })
}

/// Reads the tree of the files under a directory.
///
/// # Errors
/// Returns an error if the directory cannot be read.
pub fn tree(directory: &Path) -> std::io::Result<Tree> {
    let mut tree = Tree::default();
    for path in files_below(directory)? {
        tree.write(&path, std::fs::read(directory.join(&path))?);
    }
    Ok(tree)
}

/// The paths of the files under a directory, with `/` as separator, sorted.
pub(crate) fn files_below(directory: &Path) -> std::io::Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(directory.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else {
                found.push(path.to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}
