//! Folders that Kustomize would build.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The names that Kustomize gives its files.
const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Whether a file is one of Kustomize's, by its name.
pub fn is_kustomization(path: &str) -> bool {
    let (_, name) = split(path);
    NAMES.contains(&name)
}

/// The folders of a place that Kustomize would build: what it would make of the files in them is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kustomized {
    /// By folder, its file of Kustomize's.
    files: BTreeMap<Arc<str>, Arc<str>>,
}

impl Kustomized {
    /// The folders among the files of a place.
    pub fn of<'p>(paths: impl IntoIterator<Item = &'p str>) -> Self {
        let mut files = BTreeMap::new();
        for path in paths.into_iter().filter(|path| is_kustomization(path)) {
            files.entry(split(path).0.into()).or_insert_with(|| path.into());
        }
        Self { files }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The file of Kustomize's that decides about a file: that of the outermost folder around it. A file that decides is itself one that it decides about.
    pub fn above(&self, path: &str) -> Option<&Arc<str>> {
        if self.files.is_empty() {
            return None;
        }
        let mut folders = [""].into_iter().chain(path.match_indices('/').map(|(at, _)| path.split_at(at).0));
        folders.find_map(|folder| self.files.get(folder))
    }

    /// Whether a file is read: nothing decides about it, or it decides itself.
    pub fn is_read(&self, path: &str) -> bool {
        self.above(path).is_none_or(|file| **file == *path)
    }

    /// The folder whose content a file of Kustomize's decides about; empty for the whole repository.
    pub fn folder(file: &str) -> &str {
        split(file).0
    }
}

/// The folder of a file, and its name there.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[&str], path: &str, expected: Option<&str>) {
        let kustomized = Kustomized::of(files.iter().copied());
        assert_eq!(kustomized.above(path).map(|file| &**file), expected, "{path}");
        assert_eq!(kustomized.is_read(path), expected.is_none_or(|file| file == path), "{path}");
    }

    #[test]
    fn the_outermost_kustomization_decides_about_what_is_below_it() {
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
