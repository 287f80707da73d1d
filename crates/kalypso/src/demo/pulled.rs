//! The commits that the simulated hosts pulled last, in a file.

use std::collections::BTreeMap;
use std::path::Path;

use git::RepositoryUrl;
use model::git_id::GitId;

use super::place::{self, HUB_FILLED};
use crate::exit::Failure;

/// The commits of branches.
pub(super) type Heads = BTreeMap<(RepositoryUrl, String), GitId>;

/// Reads the file. None if it does not exist, so that no host has pulled anything.
pub(super) fn read(folder: &Path) -> Option<Heads> {
    std::fs::read_to_string(folder.join(HUB_FILLED)).ok().map(|text| parse(&text))
}

/// Writes the file. It also marks the database of the hub as complete.
pub(super) fn write(folder: &Path, heads: &Heads) -> Result<(), Failure> {
    let line = |((repository, branch), commit): (&(RepositoryUrl, String), &GitId)| {
        format!("{} {branch} {commit}\n", repository.as_str())
    };
    place::write(folder, HUB_FILLED, &heads.iter().map(line).collect::<String>())
}

fn parse(text: &str) -> Heads {
    let head = |line: &str| {
        let mut words = line.split(' ');
        let repository = RepositoryUrl::from_configuration(words.next()?).ok()?;
        let branch = words.next()?.to_owned();
        Some(((repository, branch), GitId::from_hex(words.next()?)?))
    };
    text.lines().filter_map(head).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pulled_heads_round_trip() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()), None);
        let url = RepositoryUrl::from_configuration("https://git.acme.example/acme/checkout-manifests").unwrap();
        let heads = Heads::from([((url, "dev".to_owned()), GitId::of_object("commit", b"x"))]);
        write(folder.path(), &heads).unwrap();
        assert_eq!(read(folder.path()), Some(heads));
    }
}
