//! Which files of a repository are on this machine, and at which paths.

use std::sync::Arc;

use model::git_id::GitId;
use model::source::File;

/// A checkout: which files are on this machine, and at which paths. Code hosts and people find diagnostics at these paths.
///
/// By default, the checkout is a plain directory that is equal to the working directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckoutPaths {
    /// The URL of the repository, as in [`EnvironmentSource::url`](model::source::Source::url).
    pub url: Arc<str>,
    /// The branch, as in [`EnvironmentSource::revision`](model::source::Source::revision).
    pub revision: Arc<str>,
    /// The commit, as in [`EnvironmentSource::commit`](model::source::Source::commit), if it is a working tree whose content was read as this commit. None: all files
    /// of the branch are in it.
    pub commit: Option<GitId>,
    /// The root folder of the repository, relative to the working directory. May be empty.
    pub folder: String,
}

impl CheckoutPaths {
    /// The path of `file` from the working directory. None if the file is not in the checkout.
    pub fn path(&self, file: &File) -> Option<String> {
        let source = &file.source;
        let is_in_it = match self.commit {
            // The repository may have several URLs.
            Some(_) => self.commit == source.commit && !source.is_pinned,
            None => self.url == source.url,
        };
        if !is_in_it || self.revision != source.revision {
            return None;
        }
        let folder = self.folder.trim_start_matches("./").trim_end_matches('/');
        let is_here = matches!(folder, "" | ".");
        Some(if is_here { file.path.to_string() } else { format!("{folder}/{}", file.path) })
    }
}
