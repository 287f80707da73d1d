//! The earlier versions of files that can't be read: an environment goes on with what its last publications had of them.

use git::RepositoryError;
use git::load::Snapshot;
use git::publications::Publications;
use git::publish::PublishError;
use model::name::EnvironmentName;

/// Loads an environment again with its publications, if a file can't be read. Returns the error if the publications can't be read.
pub(crate) fn with_publications(
    (snapshot, name): (&Snapshot<'_>, &EnvironmentName),
    read: git::load::LoadedFiles,
    publications: impl FnOnce() -> Result<Vec<Publications>, RepositoryError>,
) -> (git::load::LoadedFiles, Option<PublishError>) {
    if read.is_readable || !read.is_complete {
        return (read, None);
    }
    match publications() {
        Ok(published) if published.iter().all(|published| published.publications.is_empty()) => (read, None),
        Ok(published) => (snapshot.load_after(name, &published), None),
        Err(error) => (read, Some(error.into())),
    }
}
