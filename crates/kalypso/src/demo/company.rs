//! The example company: its environments, its teams, and its files, as they are under `examples/acme`.

use include_dir::{Dir, include_dir};

use super::program::Signature;

/// The environments, in the order of promotion.
pub(crate) const ENVIRONMENTS: [&str; 3] = ["dev", "stage", "prod"];

/// The platform team, as the author of commits.
pub(super) const PLATFORM_TEAM: Signature =
    Signature { name: "Paula Platform", email: "platform@acme.example", seconds: MONDAY_MORNING };
/// The team of the stores' application, as the author of commits.
pub(super) const STORE_TEAM: Signature =
    Signature { name: "Stan Store", email: "stores@acme.example", seconds: MONDAY_MORNING };
/// The team of the factories' application, as the author of commits.
pub(super) const FACTORY_TEAM: Signature =
    Signature { name: "Fay Factory", email: "factory@acme.example", seconds: MONDAY_MORNING };
/// 2026-01-05 08:00 UTC. The time is arbitrary, but in the past.
const MONDAY_MORNING: i64 = 1_767_600_000;

/// Each folder is one branch of one repository.
static COMPANY: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../examples/acme");

/// A file of a repository, with its path and content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CompanyFile {
    pub(super) path: String,
    pub(super) content: Vec<u8>,
}

/// The files below a folder such as `control-plane/prod`, sorted by path. Empty if the folder does not exist.
pub(super) fn files(folder: &str) -> Vec<CompanyFile> {
    let mut files = Vec::new();
    let mut folders: Vec<_> = COMPANY.get_dir(folder).into_iter().collect();
    while let Some(next) = folders.pop() {
        folders.extend(next.dirs());
        files.extend(next.files().filter_map(|file| {
            let path = file.path().strip_prefix(folder).ok()?.to_str()?;
            Some(CompanyFile { path: path.replace('\\', "/"), content: file.contents().to_vec() })
        }));
    }
    files.sort_by(|left, right| left.path.cmp(&right.path));
    files
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const FOLDERS: [&str; 7] = [
        "control-plane/main",
        "control-plane/dev",
        "control-plane/stage",
        "control-plane/prod",
        "checkout",
        "line-monitor",
        "platform-services",
    ];

    /// The macro notices changed files, but not new ones. This test does.
    #[test]
    fn every_file_of_the_example_is_embedded() {
        for folder in FOLDERS {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/acme").join(folder);
            let tree = testkit::directory::tree(&root).unwrap();
            let paths: Vec<_> = tree.files(&model::tree::closed).map(|file| file.unwrap().0).collect();
            let embedded: Vec<_> = files(folder).into_iter().map(|file| file.path).collect();
            assert_eq!(embedded, paths, "{folder}: touch crates/kalypso/src/demo/company.rs to embed new files");
        }
    }

    #[test]
    fn an_unknown_folder_has_no_files() {
        assert_eq!(files("control-plane/nowhere"), []);
    }
}
