//! Checks with git the packs that this crate writes.

use std::fs;
use std::path::PathBuf;

use git::{GitRepositories, Repositories, Revision};
use model::tree::Tree;
use proptest::prelude::*;
use testkit::git_server::GitServer;

use crate::playground::{Disk, commit_tree, run, url};

/// Trees of files with contents of all sizes. Some of them are similar.
fn trees() -> impl Strategy<Value = Tree> {
    let content = (0..4_u8, prop_oneof![0..40_usize, 4_000..70_000_usize]);
    let files = proptest::collection::vec(("[ab]([-./0][ab]){0,4}", content), 1..30);
    files.prop_map(|files| {
        let mut tree = Tree::default();
        for (path, (seed, length)) in files {
            let bytes = (0..length).map(|index| (index % 251) as u8 ^ seed.wrapping_mul((index / 100) as u8));
            tree.write(&path, bytes.collect::<Vec<_>>());
        }
        tree
    })
}

fn files(folder: PathBuf, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.to_string_lossy().ends_with(ending)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    #[test]
    fn written_packs_pass_git_fsck(first in trees(), second in trees()) {
        let disk = Disk::new();
        let served = disk.create("app");
        let server = GitServer::start(&disk.served()).unwrap();
        let repositories = GitRepositories::new(disk.settings(&server.url()));
        for tree in [&first, &second] {
            commit_tree(&repositories, &url("app"), "main", tree);
            let known = run(&served, &["rev-parse", "main^{tree}"]);
            prop_assert_eq!(known.trim(), tree.id().to_string());
            let head = repositories.resolve(&url("app"), &Revision::branch("main")).unwrap();
            prop_assert_eq!(&repositories.tree(&head).unwrap(), tree);
        }
        let copy = files(disk.cache(), ".git").pop().unwrap();
        run(&copy, &["fsck", "--full", "--strict"]);
        let packs = files(copy.join("objects/pack"), ".idx");
        prop_assert!(!packs.is_empty());
        for pack in packs {
            run(&copy, &["verify-pack", pack.to_str().unwrap()]);
        }
    }
}
