//! Finds folders that Kustomize would build.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The file names that Kustomize reads.
const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Whether a file is one that Kustomize reads, by its name.
pub fn is_kustomization(path: &str) -> bool {
    let (_, name) = split(path);
    NAMES.contains(&name)
}

/// The folders that Kustomize would build. Kalypso does not run Kustomize, so the content of such a folder is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kustomized {
    /// The file of Kustomize in each folder, by folder.
    files: BTreeMap<Arc<str>, Arc<str>>,
}

impl Kustomized {
    /// The folders of a set of files.
    pub fn from_paths<'p>(paths: impl IntoIterator<Item = &'p str>) -> Self {
        let mut files = BTreeMap::new();
        for path in paths.into_iter().filter(|path| is_kustomization(path)) {
            files.entry(split(path).0.into()).or_insert_with(|| path.into());
        }
        Self { files }
    }

    /// Whether there are no such folders.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The file of Kustomize that applies to a file: the one in the outermost folder around it. For that file itself, the result is the file.
    pub fn above(&self, path: &str) -> Option<&Arc<str>> {
        if self.files.is_empty() {
            return None;
        }
        let mut folders = [""].into_iter().chain(path.match_indices('/').map(|(at, _)| path.split_at(at).0));
        folders.find_map(|folder| self.files.get(folder))
    }

    /// Whether a file is read: no file of Kustomize applies to it, or it is that file.
    pub fn is_read(&self, path: &str) -> bool {
        self.above(path).is_none_or(|file| **file == *path)
    }

    /// The folder that a file of Kustomize applies to. Empty for the whole repository.
    pub fn folder(file: &str) -> &str {
        split(file).0
    }
}

/// The folder of a file, and the file's name in it.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[&str], path: &str, expected: Option<&str>) {
        let kustomized = Kustomized::from_paths(files.iter().copied());
        assert_eq!(kustomized.above(path).map(|file| &**file), expected, "{path}");
        assert_eq!(kustomized.is_read(path), expected.is_none_or(|file| file == path), "{path}");
    }

    #[test]
    fn outermost_kustomization_covers_all_files_below() {
        let files = ["a/b/kustomization.yaml", "a/b/c/Kustomization", "a/x.yaml", "d/kustomization.yml"];
        check(&files, "a/x.yaml", None);
        check(&files, "a/b/x.yaml", Some("a/b/kustomization.yaml"));
        check(&files, "a/b/c/d/x.yaml", Some("a/b/kustomization.yaml"));
        check(&files, "a/b/c/Kustomization", Some("a/b/kustomization.yaml"));
        check(&files, "a/b/kustomization.yaml", Some("a/b/kustomization.yaml"));
        check(&files, "a/bc/x.yaml", None);
        check(&files, "d/x.yaml", Some("d/kustomization.yml"));
        check(&["kustomization.yaml"], "a/x.yaml", Some("kustomization.yaml"));
    }
}
