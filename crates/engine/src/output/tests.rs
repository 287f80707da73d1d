//! Destinations of output, and the folders that are opened to write it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use model::fleet::{AuthorRole, Fleet, FleetFile, FleetInput, Named};
use model::git_id::GitId;
use model::name::{ClusterTypeName, EnvironmentName};
use model::object::Object;
use model::source::{File, Files, Source};
use model::tree::{Child, Sealed, SealedBy, Tree, closed};

use super::place_folders::PlaceFolders;
use super::rings::{Folders, MoveContents, PlaceContents};
use super::*;
use crate::compile::Compiled;
use crate::layout::Folder;
use crate::promotion::state::{Content, RolloutState};

/// A fleet of cluster types without assignments, and a `GitOpsRepo` with this annotation.
fn fleet(count: usize, fan_out: &str) -> Fleet {
    let text = format!(
        "apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {{name: small}}
spec: {{reconciler: flux, namespaceService: namespace, configType: values}}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: GitOpsRepo
metadata: {{name: dev, annotations: {{output.kalypso.io/fan-out: {fan_out:?}}}}}
spec: {{repo: 'https://git.example/x', branch: dev, path: .}}
"
    );
    let mut files = Files::default();
    let (id, content) = (GitId::of_blob(text.as_bytes()), Arc::from(text.as_bytes()));
    let file = files.add(File { source: Source::directory().into(), path: "all.yaml".into(), id, content });
    let contents = vec![FleetFile::read(AuthorRole::Platform, file, &files)];
    let environment = EnvironmentName::new("dev").unwrap();
    let input = FleetInput { environment, files: Arc::new(files), contents, unavailable: BTreeSet::new() };
    let (mut fleet, found) = Fleet::build(input);
    assert!(found.is_empty(), "{found:?}");
    let small = Arc::clone(fleet.cluster_types.values().next().unwrap());
    fleet.cluster_types = Named::default();
    for index in 0..count {
        let name = ClusterTypeName::new(format!("c{index}")).unwrap();
        fleet.cluster_types.insert(Arc::new(Object { name, ..(*small).clone() }));
    }
    fleet
}

fn check(count: usize, fan_out: &str, expected: &[Code]) {
    let found: Vec<_> = destination_problems(&fleet(count, fan_out)).iter().map(|found| found.code).collect();
    assert_eq!(found, expected, "{count} with {fan_out}");
}

#[test]
fn many_folders_have_to_be_spread() {
    check(FOLDERS_MAX, "false", &[]);
    check(FOLDERS_MAX + 1, "false", &[Code::TooManyFolders]);
    check(FOLDERS_MAX + 1, "true", &[]);
    check(1, "yes", &[Code::InvalidAnnotation]);
}

#[test]
fn folder_limit_is_named_in_the_message() {
    let found = destination_problems(&fleet(FOLDERS_MAX + 1, "false"));
    let message = "10,001 folders would be in one folder of the GitOps branch; the maximum is 10,000";
    assert_eq!(found[0].message, message);
}

/// A branch with sealed folders as from a repository, and a function that opens them and counts.
fn as_in_a_repository(tree: &Tree, opened: &AtomicUsize) -> (Tree, impl Fn(&Sealed) -> Result<Tree, OpenError> + Sync) {
    let sealed = |child: &Child| Child::Sealed(Sealed { id: child.id(), by: SealedBy::Repository });
    let root = tree.children().map(|(name, child)| (Arc::clone(name), sealed(child)));
    let known: Vec<_> = tree.children().filter_map(|(_, child)| child.opened(&closed).unwrap()).collect();
    let open = move |sealed: &Sealed| {
        opened.fetch_add(1, Ordering::Relaxed);
        known.iter().find(|tree| tree.id() == sealed.id).cloned().ok_or_else(|| closed(sealed).unwrap_err())
    };
    (Tree::from_children(root.collect::<Vec<_>>()), open)
}

#[test]
fn unchanged_folders_are_not_opened() {
    let fleet = fleet(50, "false");
    let compiled = Compiled::new(&Arc::new(fleet));
    let assembled =
        |previous: &Tree, open: &Open<'_>| assemble(&compiled, previous, &Destination::default(), open).unwrap().tree;
    let made = |sealed: &Sealed| compiled.open(sealed);
    let first = assembled(&Tree::default(), &made);
    let opened = AtomicUsize::new(0);
    let mut branch = Tree::default();
    for file in first.files(&made) {
        let (path, entry) = file.unwrap();
        branch.write(&path, entry.blob.bytes().unwrap().to_vec());
    }
    branch.write("c7/old/x.yaml", *b"old");
    let (branch, open) = as_in_a_repository(&branch, &opened);
    let open = |sealed: &Sealed| made(sealed).or_else(|_| open(sealed));
    assert_eq!(assembled(&branch, &open), first);
    assert_eq!(opened.load(Ordering::Relaxed), 1);
}

#[test]
fn only_places_with_present_or_new_folders_are_changed() {
    let compiled = Compiled::new(&Arc::new(fleet(0, "false")));
    let folders = |path: Option<&str>| {
        let mut tree = Tree::default();
        path.into_iter().for_each(|path| tree.write(path, *b"a"));
        PlaceFolders::read(&tree, &Folder::parse(".").unwrap(), &closed).unwrap()
    };
    let (none, east) = (folders(None), folders(Some("east/shop/a.yaml")));
    let (state, targets) = (RolloutState::default(), BTreeSet::from(["shop".into()]));
    // The folders of the stable revision may not be readable: then what was there may be unproved.
    let check = |[base, moving]: [&PlaceFolders; 2], stable: Folders<'_>, expected: [bool; 2]| {
        let [base, moving] = [base, moving].map(Folders::Published);
        let (workload, rest) = ("shop".into(), Folders::Unknown);
        let each = MoveContents { workload, state: &state, targets: &targets, moving, base, stable, rest };
        let contents = PlaceContents { movement: &each, compiled: &compiled, published: &east, open: &closed };
        let found = ["east", "new"].map(|place| contents.is_changed(place, Content::Moving).unwrap());
        assert_eq!(found, expected);
    };
    check([&east, &east], Folders::Published(&east), [false, false]);
    check([&east, &east], Folders::Published(&none), [true, false]);
    check([&east, &none], Folders::Published(&east), [true, false]);
    check([&none, &none], Folders::Published(&east), [true, false]);
    check([&east, &east], Folders::Unknown, [true, false]);
    check([&none, &none], Folders::Unknown, [false, false]);
}
