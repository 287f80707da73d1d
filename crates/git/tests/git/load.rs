//! Loading of environments, also if a part of one can't be read.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use git::load::{BrokenFiles, ControlPlane, Directory, DirectoryError, LoadedFiles, Snapshot, load, read_directory};
use git::publications::{Publications, PublishedCommit};
use git::{Edits, KnownTree, MemoryRepositories, Repositories, RepositoryError, Revision};
use model::fleet::{AuthorRole, Fleet};
use model::git_id::GitId;
use model::kind::Kind;
use model::name::EnvironmentName;
use model::progress::{Progress, ProgressPhase};
use model::tree::{Blob, Child, Entry, Mode, closed};

use crate::objects::{base, config, environment, flux_pair, gitops, registration, workload};
use crate::playground::{Disk, HOST, commit, commit_tree, control_plane, memory, tree, url};

/// A repository, a branch and its files.
pub(crate) type Branch<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);

fn dev() -> EnvironmentName {
    EnvironmentName::new("dev").unwrap()
}

pub(crate) fn load_dev(repositories: &dyn Repositories) -> LoadedFiles {
    load_promoted(repositories, None, &Progress::default())
}

fn load_promoted(repositories: &dyn Repositories, promoted: Option<GitId>, progress: &Progress) -> LoadedFiles {
    let url = url("control-plane");
    let broken = &BrokenFiles::default();
    load(repositories, ControlPlane { promoted, ..control_plane(&url, (progress, broken)) }, &dev())
}

/// A summary: the names of objects with their registration, missing registrations, the codes of diagnostics, and `incomplete` if a part is not known.
pub(crate) fn summary(loaded: LoadedFiles) -> String {
    let is_complete = loaded.is_complete;
    let objects = loaded.input.contents.iter().flat_map(|file| {
        let by = match &file.role {
            AuthorRole::Platform => String::new(),
            AuthorRole::Application(name) => format!(" by {name}"),
        };
        let interesting = file.objects.objects.iter().filter(|object| !matches!(object.kind(), Kind::Environment));
        interesting.map(move |object| format!("{}{by}", object.key().name))
    });
    let mut words: Vec<_> = objects.collect();
    words.sort();
    words.extend(loaded.input.unavailable.iter().map(|name| format!("without {name}")));
    let (_, mut diagnostics) = Fleet::build(loaded.input);
    diagnostics.extend(loaded.diagnostics);
    diagnostics.sort();
    words.extend(diagnostics.iter().map(|diagnostic| diagnostic.code.to_string()));
    words.extend((!is_complete).then(|| "incomplete".to_owned()));
    words.join(", ")
}

pub(crate) fn fill(repositories: &dyn Repositories, branches: &[Branch<'_>]) {
    for (name, branch, files) in branches {
        commit(repositories, &url(name), branch, files);
    }
}

/// Loads environment `dev` from these branches, from memory and from disk.
pub(crate) fn check(branches: &[Branch<'_>], expected: &str) {
    let environment = environment("dev");
    let main: Branch<'_> = ("control-plane", "main", &[(".environments/dev.yaml", &environment)]);
    let memory = MemoryRepositories::default();
    let disk = Disk::new();
    for (name, ..) in branches.iter().chain([&main]) {
        memory.create(&url(name));
        if !disk.served().join(format!("{name}.git")).exists() {
            disk.create(name);
        }
    }
    let local = disk.local();
    for repositories in [&memory as &dyn Repositories, &local] {
        if !branches.iter().any(|(name, branch, _)| (*name, *branch) == ("control-plane", "main")) {
            fill(repositories, &[main]);
        }
        fill(repositories, branches);
        assert_eq!(summary(load_dev(repositories)), expected);
    }
}

#[test]
fn an_environment_is_read_from_all_that_it_refers_to() {
    let (app, config) = (registration("app", &format!("{HOST}app"), "./workload/"), config("values"));
    check(
        &[
            ("shop", "main", &[("w/a.yaml", &workload("far"))]),
            ("app", "main", &[("workload/a.yaml", &workload("shop")), ("other.yaml", "nonsense: [")]),
            ("templates", "v2", &[("a/b.yaml", &config), ("registered.yml", &app), ("notes.txt", "nonsense: [")]),
            ("control-plane", "dev", &[("base.yaml", &base("templates", "v2", ""))]),
        ],
        "app, shop by app, templates, values",
    );
}

#[test]
fn environments_are_never_promoted() {
    let environment = environment("dev");
    let memory = MemoryRepositories::default();
    memory.create(&url("control-plane"));
    let main = |value: &str| {
        commit(&memory, &url("control-plane"), "main", &[(".environments/dev.yaml", &environment), ("a.yaml", value)])
    };
    let promoted = main(&config("promoted"));
    main(&config("newer"));
    let base = base("control-plane", "main", &promoted.to_string());
    commit(&memory, &url("control-plane"), "dev", &[("base.yaml", &base)]);
    assert_eq!(summary(load_dev(&memory)), "control-plane, promoted");
}

#[test]
fn output_settings_come_from_the_promoted_commit() {
    let memory = MemoryRepositories::default();
    memory.create(&url("control-plane"));
    let main = |precedence: &str| {
        let annotations = format!(
            "name: dev\n  annotations: {{access.kalypso.io/owners: '@{precedence}', config.kalypso.io/precedence: {precedence}}}\n"
        );
        let environment = environment("dev").replace("name: dev\n", &annotations);
        assert!(environment.contains(precedence));
        commit(&memory, &url("control-plane"), "main", &[(".environments/dev.yaml", &environment)])
    };
    let without = commit(&memory, &url("control-plane"), "main", &[("a.yaml", &config("a"))]);
    let promoted = main("name");
    let newer = main("specificity");
    commit(&memory, &url("control-plane"), "dev", &[("a.yaml", &config("a"))]);
    let check = |promoted: Option<GitId>, expected: &str| {
        let loaded = load_promoted(&memory, promoted, &Progress::default());
        assert!(loaded.is_complete, "{:?}", loaded.diagnostics);
        let (fleet, _) = Fleet::build(loaded.input);
        let annotations = &fleet.declaration.as_ref().unwrap().annotations;
        assert_eq!(annotations.get("config.kalypso.io/precedence").map(|value| &**value), Some(expected));
        assert_eq!(annotations.get("access.kalypso.io/owners").map(|value| &**value), Some("@specificity"));
    };
    check(None, "specificity");
    check(Some(newer), "specificity");
    check(Some(promoted), "name");
    // The environment did not exist there.
    check(Some(without), "specificity");
}

#[test]
fn hidden_folders_and_ignored_files_are_not_read() {
    let broken = "nonsense: [";
    let files =
        [(".github/x.yaml", broken), ("docs/x.yaml", broken), (".sourceignore", "docs/\n"), ("a.yaml", &config("a"))];
    check(&[("control-plane", "dev", &files)], "a");
}

#[test]
fn a_broken_file_is_replaced_by_its_newest_good_version() {
    check(
        &[
            ("control-plane", "dev", &[("a.yaml", &config("oldest"))]),
            ("control-plane", "dev", &[("a.yaml", &config("good"))]),
            ("control-plane", "dev", &[("a.yaml", "nonsense: [")]),
            ("control-plane", "dev", &[("a.yaml", "other nonsense: ["), ("b.yaml", &config("b"))]),
        ],
        "b, good, K0101, K0117",
    );
}

#[test]
fn a_file_that_was_never_good_contributes_nothing() {
    check(&[("control-plane", "dev", &[("a.yaml", "nonsense: ["), ("b.yaml", &config("b"))])], "b, K0101");
}

#[test]
fn a_file_too_large_is_not_loaded() {
    let large = "#".repeat(9 << 20);
    check(
        &[
            ("control-plane", "dev", &[("a.yaml", &config("a"))]),
            ("control-plane", "dev", &[("a.yaml", &large), ("b.yaml", &large)]),
        ],
        "a, K0102, K0102, K0117",
    );
}

#[test]
fn a_link_out_of_the_repository_is_not_followed() {
    let disk = Disk::new();
    disk.create("control-plane");
    let repositories = disk.local();
    let environment = environment("dev");
    fill(&repositories, &[("control-plane", "main", &[(".environments/dev.yaml", &environment)])]);
    let mut tree = tree(&[("a.yaml", &config("a")), ("binary.yaml", "\u{0}\u{1}")]);
    let target = Blob::new(*b"/etc/passwd");
    tree.put("link.yaml", Child::File(Entry { mode: Mode::Link, blob: target.clone() }), &closed).unwrap();
    tree.put(".sourceignore", Child::File(Entry { mode: Mode::Link, blob: target.clone() }), &closed).unwrap();
    tree.put("folder", Child::File(Entry { mode: Mode::Link, blob: target }), &closed).unwrap();
    commit_tree(&repositories, &url("control-plane"), "dev", &tree);
    assert_eq!(summary(load_dev(&repositories)), "a, K0103, K0118");
}

#[test]
fn unreadable_applications_do_not_affect_others() {
    let registrations = [
        ("gone", format!("{HOST}gone"), "."),
        ("local", "/etc".to_owned(), "."),
        ("helper", "ext::sh".to_owned(), "."),
        ("upwards", format!("{HOST}app"), "../x"),
        ("nowhere", format!("{HOST}app"), "nowhere"),
        ("app", format!("{HOST}app"), "w.yaml"),
    ];
    let files = registrations.map(|(name, url, path)| (format!("{name}.yaml"), registration(name, &url, path)));
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    check(
        &[("app", "main", &[("w.yaml", &workload("shop"))]), ("control-plane", "dev", &files)],
        "app, gone, helper, local, nowhere, shop by app, upwards, \
         without gone, without helper, without local, without nowhere, without upwards, K0601, K0603, K0603, K0605, K0607",
    );
}

#[test]
fn unreachable_application_is_read_from_the_cache() {
    let repositories = memory("control-plane");
    repositories.create(&url("app"));
    let app = registration("app", &format!("{HOST}app"), ".");
    let branches: [Branch<'_>; 3] = [
        ("control-plane", "main", &[(".environments/dev.yaml", &environment("dev"))]),
        ("control-plane", "dev", &[("app.yaml", &app)]),
        ("app", "main", &[("w.yaml", &workload("shop"))]),
    ];
    fill(&repositories, &branches);
    assert_eq!(summary(load_dev(&repositories)), "app, shop by app");
    repositories.set_broken(&url("app"), Some("out of order"));
    assert_eq!(summary(load_dev(&repositories)), "app, shop by app, K0601");
}

#[test]
fn unreachable_application_never_returns_behind_the_publication() {
    let repositories = memory("control-plane");
    repositories.create(&url("app"));
    let app = registration("app", &format!("{HOST}app"), ".");
    let branches: [Branch<'_>; 3] = [
        ("control-plane", "main", &[(".environments/dev.yaml", &environment("dev"))]),
        ("control-plane", "dev", &[("app.yaml", &app)]),
        ("app", "main", &[("w.yaml", &workload("shop"))]),
    ];
    fill(&repositories, &branches);
    load_dev(&repositories);
    let read = repositories.head(&url("app"), "main").unwrap();
    let newer = commit(&repositories, &url("app"), "main", &[("w.yaml", &workload("store"))]);
    repositories.set_broken(&url("app"), Some("out of order"));
    let load_after = |source: Option<GitId>| {
        let of_control_plane = url("control-plane");
        let (url, progress) = (&of_control_plane, &Progress::default());
        let broken = &BrokenFiles::default();
        let platform = control_plane(url, (progress, broken));
        let snapshot = Snapshot::new(&repositories, platform);
        let source = source.map(|id| ((format!("{HOST}app"), "main".to_owned()), id));
        let publication =
            PublishedCommit { sources: source.into_iter().collect(), ..PublishedCommit::from_message(read, "") };
        let published = Publications { publications: vec![publication] };
        summary(snapshot.complete(snapshot.platform(&dev()), &|| Ok(vec![published.clone()])))
    };
    assert_eq!(load_after(None), "app, shop by app, K0601");
    assert_eq!(load_after(Some(read)), "app, shop by app, K0601");
    assert_eq!(load_after(Some(newer)), "app, without app, K0610");
}

#[test]
fn a_snapshot_detects_moved_branches() {
    let repositories = memory("control-plane");
    let main: Branch<'_> = ("control-plane", "main", &[(".environments/dev.yaml", &environment("dev"))]);
    fill(&repositories, &[main, ("control-plane", "dev", &[("a.yaml", &config("one"))])]);
    let url = url("control-plane");
    let (progress, broken) = (&Progress::default(), &BrokenFiles::default());
    let snapshot = Snapshot::new(&repositories, control_plane(&url, (progress, broken)));
    let platform = snapshot.platform(&dev());
    assert!(snapshot.is_current());
    fill(&repositories, &[("control-plane", "dev", &[("a.yaml", &config("other"))])]);
    assert!(!snapshot.is_current());
    assert_eq!(summary(snapshot.complete(platform, &|| Ok(Vec::new()))), "one");
}

#[test]
fn output_to_a_branch_that_is_read_is_refused() {
    let check_output = |repo: &str, branch: &str, expected: &str| {
        let gitops = gitops("out", repo, branch);
        let app = registration("app", &format!("{HOST}app"), ".");
        check(
            &[
                ("control-plane", "dev", &[("a.yaml", &app), ("b.yaml", &base("lib", "v1", "")), ("o.yaml", &gitops)]),
                ("lib", "v1", &[("c.yaml", &config("c"))]),
                ("app", "main", &[("w.yaml", &workload("shop"))]),
            ],
            &format!("app, c, lib, out, shop by app{expected}"),
        );
    };
    check_output(&format!("{HOST}gitops"), "dev", "");
    check_output(&format!("{HOST}control-plane"), "dev-output", "");
    for (name, branch) in [("control-plane", "dev"), ("control-plane", "main"), ("lib", "v1"), ("app", "main")] {
        check_output(&format!("{HOST}{name}"), branch, ", K0509");
    }
    for (branch, expected) in [("kalypso/dev", ", K0510"), ("kalypso/dev--out", ", K0510"), ("kalypso/dev2", "")] {
        check_output(&format!("{HOST}gitops"), branch, expected);
    }
    // The notation of the URL does not matter.
    check_output(&format!("{HOST}app.git/"), "main", ", K0509");
    check_output("git@git.example:acme/app.git", "main", ", K0509");
}

#[test]
fn missing_base_makes_the_fleet_incomplete() {
    let broken_url = base("x", "main", "").replace(HOST, "file:///");
    let files = [
        ("a.yaml", base("gone", "main", "")),
        ("b.yaml", base("control-plane", "gone", "")),
        ("c.yaml", broken_url),
        ("d.yaml", base("control-plane", "main", "5523a85")),
    ];
    let files: Vec<_> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    check(
        &[("control-plane", "dev", &files)],
        "control-plane, control-plane, gone, x, K0111, K0601, K0602, K0602, K0603, incomplete",
    );
}

#[test]
fn missing_environment_is_an_error() {
    let other = environment("other");
    check(&[("control-plane", "main", &[(".environments/other.yaml", &other)])], "K0606, incomplete");
    check(&[("control-plane", "main", &[("a.yaml", &config("a"))])], "K0606, incomplete");
    check(&[], "K0602, incomplete");
    check(&[("control-plane", "dev", &[("README.md", "")])], "K0119, incomplete");
}

#[test]
fn circular_bases_are_an_error() {
    check(
        &[
            ("a", "main", &[("b.yaml", &base("b", "main", ""))]),
            ("b", "main", &[("a.yaml", &base("a", "main", "")), ("x.yaml", &config("x"))]),
            (
                "control-plane",
                "dev",
                &[("a.yaml", &registration("r", "https://x.example/y", ".")), ("base.yaml", &base("a", "main", ""))],
            ),
        ],
        "a, a, b, r, x, without r, K0111, K0601, K0604",
    );
}

#[test]
fn a_base_of_two_bases_is_read_once() {
    check(
        &[
            ("c", "main", &[("x.yaml", &config("x"))]),
            ("a", "main", &[("c.yaml", &base("c", "main", ""))]),
            ("control-plane", "dev", &[("a.yaml", &base("a", "main", "")), ("c.yaml", &base("c", "main", ""))]),
        ],
        "a, c, c, x, K0111",
    );
}

#[test]
fn flux_source_and_kustomization_pairs_are_followed() {
    let [repository, kustomization] = flux_pair("east", "./configs");
    let east: Branch<'_> = ("east", "main", &[("configs/a.yaml", &config("a")), ("b.yaml", &config("b"))]);
    let pair = [("r.yaml", repository.as_str()), ("k.yaml", kustomization.as_str())];
    check(&[east, ("control-plane", "dev", &pair)], "a, east, east");
    check(&[east, ("control-plane", "dev", &pair[1..])], "east, K0608, incomplete");
}

#[test]
fn a_folder_that_kustomize_would_change_is_not_known() {
    let app = registration("app", &format!("{HOST}app"), ".");
    let kustomization = ("kustomization.yaml", "resources: [w.yaml]\n");
    check(&[("control-plane", "dev", &[kustomization, ("a.yaml", &config("a"))])], "K0116, incomplete");
    check(
        &[("app", "main", &[kustomization]), ("control-plane", "dev", &[("a.yaml", &app)])],
        "app, without app, K0116",
    );
}

#[test]
fn snapshot_reads_all_environments_at_one_time() {
    let repositories = memory("control-plane");
    let (dev_text, stage) = (environment("dev"), environment("stage"));
    let main = [
        (".environments/dev.yaml", dev_text.as_str()),
        (".environments/stage.yaml", &stage),
        (".environments/x.yaml", "x: ["),
    ];
    fill(&repositories, &[("control-plane", "main", &main), ("control-plane", "dev", &[("a.yaml", &config("a"))])]);
    let url = url("control-plane");
    let silent = Progress::default();
    let broken = &BrokenFiles::default();
    let platform = control_plane(&url, (&silent, broken));
    let snapshot = Snapshot::new(&repositories, platform);
    let environments = snapshot.environments();
    assert_eq!(environments.names.iter().map(EnvironmentName::as_str).collect::<Vec<_>>(), ["dev", "stage"]);
    assert_eq!(environments.diagnostics.len(), 1);
    assert_eq!(summary(snapshot.load(&dev())), "a, K0101");
    commit(&repositories, &url, "dev", &[("b.yaml", &config("b"))]);
    assert_eq!(summary(snapshot.load(&dev())), "a, K0101");
    assert_eq!(summary(load_dev(&repositories)), "b, K0101");
}

#[test]
fn reads_are_listed_with_role_and_revision() {
    let repositories = memory("control-plane");
    fill(
        &repositories,
        &[("control-plane", "main", &[(".environments/dev.yaml", &environment("dev")), ("c.yaml", &config("c"))])],
    );
    let main = repositories.head(&url("control-plane"), "main").unwrap();
    fill(&repositories, &[("control-plane", "dev", &[("b.yaml", &base("control-plane", "main", &main.to_string()))])]);
    let reads = load_dev(&repositories).reads;
    let shown: Vec<_> = reads.iter().map(|read| format!("{:?} {}", read.role, read.revision)).collect();
    assert_eq!(shown, ["Main main", "Environment dev", "Base(BaseRepoName(\"control-plane\")) main"]);
    assert_eq!(reads[2].commit, main);
    assert!(repositories.resolve(&url("control-plane"), &Revision::branch("dev")).is_ok());
}

#[test]
fn a_directory_is_read_as_one_environment() {
    let disk = Disk::new();
    let folder = disk.served();
    for (path, text) in [
        ("a.yaml", config("a")),
        ("x/b.yml", workload("b")),
        (".git/c.yaml", config("c")),
        (".environments/dev.yaml", environment("dev")),
    ] {
        fs::create_dir_all(folder.join(path).parent().unwrap()).unwrap();
        fs::write(folder.join(path), text).unwrap();
    }
    std::os::unix::fs::symlink("/etc", folder.join("link.yaml")).unwrap();
    let loaded = read_folder(&folder, &[]).unwrap();
    assert!(
        loaded.input.contents.iter().any(|file| file
            .objects
            .objects
            .iter()
            .any(|object| object.kind() == Kind::Environment))
    );
    assert_eq!(summary(loaded), "a, b, K0118");
    assert!(read_folder(&folder.join("nowhere"), &[]).is_err());
    assert_eq!(summary(read_folder(&folder.join(".git"), &[]).unwrap()), "c");
    let edits = [("a.yaml", None), ("x/b.yml", Some(workload("changed"))), ("y/z/new.yaml", Some(config("new")))];
    assert_eq!(summary(read_folder(&folder, &edits).unwrap()), "changed, new, K0118");
}

pub(crate) fn read_folder(path: &Path, edits: &[(&str, Option<String>)]) -> Result<LoadedFiles, DirectoryError> {
    let edit =
        |(path, text): &(&str, Option<String>)| (Arc::from(*path), text.as_ref().map(|text| text.as_bytes().into()));
    let edits: Edits = edits.iter().map(edit).collect();
    read_directory(Directory { path, edits: &edits, progress: &Progress::default() }, &dev())
}

#[test]
fn another_commit_can_be_promoted_as_a_preview() {
    let repositories = memory("control-plane");
    let main = |name: &str| [(".environments/dev.yaml", environment("dev")), ("c.yaml", config(name))];
    let url = url("control-plane");
    let commits = ["first", "second"].map(|name| {
        let files = main(name);
        commit(&repositories, &url, "main", &files.each_ref().map(|(path, text)| (*path, text.as_str())))
    });
    let base = base("control-plane", "main", &commits[0].to_string()).replace("name: control-plane", "name: main");
    commit(&repositories, &url, "dev", &[("b.yaml", &base)]);
    let check = |promoted, files, expected| {
        let progress = Progress::watched();
        let loaded = load_promoted(&repositories, promoted, &progress);
        let (fleet, _) = Fleet::build(loaded.input.clone());
        assert_eq!(fleet.promoted_commit().map(|commit| GitId::from_hex(commit)), Some(promoted.or(Some(commits[0]))));
        assert_eq!(summary(loaded), expected);
        let seen = progress.seen().unwrap();
        // A file of two overlapping places counts once.
        assert_eq!((seen.phase, seen.done, seen.total), (ProgressPhase::Reading, files, files));
    };
    check(None, 4, "first, main");
    check(Some(commits[1]), 3, "main, second");
}

#[test]
fn too_large_applications_do_not_affect_others() {
    let large = format!("# {}\n", "x".repeat(8 << 20).split_off(100));
    let names: Vec<_> = (0..5).map(|number| format!("{number}.yaml")).collect();
    let same: Vec<_> = names.iter().map(|name| (name.as_str(), large.as_str())).collect();
    let target = "\n    - {name: t, environment: dev, manifests: {}}";
    let targets = workload("many").replace(" []", &target.repeat(2_501));
    let other = targets.replace("name: many", "name: more");
    let many = [("a.yaml", targets.as_str()), ("b.yaml", other.as_str())];
    let small = workload("small");
    let registrations = ["blob", "many", "small"].map(|name| registration(name, &format!("{HOST}{name}"), "."));
    let files = ["1.yaml", "2.yaml", "3.yaml"].into_iter().zip(registrations.iter().map(String::as_str));
    let dev: Vec<_> = files.collect();
    check(
        &[
            ("control-plane", "dev", &dev),
            ("blob", "main", &same),
            ("many", "main", &many),
            ("small", "main", &[("w.yaml", &small)]),
        ],
        "blob, many, small, small by small, without blob, without many, K0609, K0609",
    );
}

#[test]
fn a_folder_is_not_read_if_it_is_too_large() {
    let disk = Disk::new();
    disk.commit("app", "main", &[("a.yaml", ""), ("b.yaml", "")]);
    let repositories = disk.local();
    let commit = repositories.resolve(&url("app"), &Revision::branch("main")).unwrap();
    let id = repositories.info(&commit).unwrap().tree;
    let read = |limit| repositories.known_folder(&commit, "", KnownTree { id, limit });
    // Each entry has a mode, a blank, a name, a zero byte and an id.
    let size = 2 * "100644 a.yaml\0".len() as u64 + 2 * 20;
    assert_eq!(read(size).map(|found| found.map(|entries| entries.len())), Ok(Some(2)));
    assert_eq!(read(size - 1), Err(RepositoryError::FolderTooLarge { url: url("app"), size, limit: size - 1 }));
}
