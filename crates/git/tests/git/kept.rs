//! Objects in files that can't be read are kept.

use git::MemoryRepositories;
use git::load::LoadedFiles;
use model::object::AnyObject;
use model::tree::{Blob, Child, Entry, Mode, closed};

use crate::load::{Branch, check, fill, load_dev, summary};
use crate::objects::{base, config, environment, registration, workload};
use crate::playground::{Disk, HOST, commit_tree, tree, url};

#[test]
fn a_file_that_is_renamed_and_broken_at_once_keeps_its_objects() {
    let (a, b) = (config("a"), config("b"));
    check(
        &[
            ("control-plane", "dev", &[("a.yaml", &a), ("b.yaml", &b)]),
            ("control-plane", "dev", &[("renamed.yaml", "nonsense: ["), ("b.yaml", &b)]),
            ("control-plane", "dev", &[("renamed.yaml", "nonsense: ["), ("b.yaml", &b), ("c.yaml", &config("c"))]),
        ],
        "a, b, c, K0101, K0130",
    );
}

#[test]
fn removals_apply_while_another_file_is_broken() {
    let (a, b) = (config("a"), config("b"));
    check(
        &[
            ("control-plane", "dev", &[("a.yaml", &a), ("b.yaml", &b)]),
            ("control-plane", "dev", &[("a.yaml", &a), ("b.yaml", "nonsense: [")]),
            ("control-plane", "dev", &[("b.yaml", "nonsense: [")]),
        ],
        "b, K0101, K0117",
    );
}

#[test]
fn an_object_that_moved_out_of_a_broken_file_is_where_it_moved() {
    let both = format!("{}---\n{}", config("a"), config("b"));
    check(
        &[
            ("control-plane", "dev", &[("both.yaml", &both)]),
            ("control-plane", "dev", &[("both.yaml", "nonsense: ["), ("a.yaml", &config("a"))]),
        ],
        "a, b, K0101, K0117",
    );
}

#[test]
fn application_with_a_renamed_broken_file_keeps_its_workloads() {
    let app = registration("app", &format!("{HOST}app"), ".");
    check(
        &[
            ("app", "main", &[("w.yaml", &workload("shop"))]),
            ("app", "main", &[("shop.yaml", &workload("shop").replace("kind: Workload", "kind: Workloda"))]),
            ("control-plane", "dev", &[("app.yaml", &app)]),
        ],
        "app, shop by app, K0104, K0130",
    );
}

#[test]
fn kept_bases_are_followed() {
    check(
        &[
            ("templates", "v2", &[("a.yaml", &config("values"))]),
            ("control-plane", "dev", &[("base.yaml", &base("templates", "v2", ""))]),
            ("control-plane", "dev", &[("bases.yaml", "kind: [")]),
        ],
        "templates, values, K0101, K0130",
    );
}

#[test]
fn a_link_in_the_place_of_objects_keeps_them() {
    let environment = environment("dev");
    let link = |target: &str, mode| Child::File(Entry { mode, blob: Blob::new(target.as_bytes().to_vec()) });
    let check = |path: &str, mode, expected| {
        let disk = Disk::new();
        disk.create("control-plane");
        let repositories = disk.local();
        fill(&repositories, &[("control-plane", "main", &[(".environments/dev.yaml", &environment)])]);
        let url = url("control-plane");
        let mut files = tree(&[("a.yaml", &config("a")), ("configs/b.yaml", &config("b")), ("c.yaml", &config("c"))]);
        files.put("docs", link("elsewhere", Mode::Link), &closed).unwrap();
        commit_tree(&repositories, &url, "dev", &files);
        assert_eq!(summary(load_dev(&repositories)), "a, b, c");
        files.remove(path, &closed).unwrap();
        files.put(path, link("elsewhere", mode), &closed).unwrap();
        commit_tree(&repositories, &url, "dev", &files);
        files.remove("c.yaml", &closed).unwrap();
        commit_tree(&repositories, &url, "dev", &files);
        assert_eq!(summary(load_dev(&repositories)), expected, "{path}");
    };
    check("a.yaml", Mode::Link, "a, b, K0117, K0118");
    check("configs", Mode::Link, "a, b, K0130");
    check("configs", Mode::Submodule, "a, b, K0130");
}

fn load_from_memory(branches: &[Branch<'_>]) -> LoadedFiles {
    let repositories = MemoryRepositories::default();
    repositories.create(&url("control-plane"));
    let environment = environment("dev");
    fill(&repositories, &[("control-plane", "main", &[(".environments/dev.yaml", &environment)])]);
    fill(&repositories, branches);
    load_dev(&repositories)
}

/// Two `ConfigMap`s in one file, with these values.
fn pair(a: &str, b: &str) -> String {
    let with = |name: &str, value: &str| config(name).replace("data: {}", &format!("data: {{x: {value}}}"));
    format!("{}---\n{}", with("a", a), with("b", b))
}

#[test]
fn an_invalid_object_leaves_the_others_in_its_file_alone() {
    let (good, half) = (pair("one", "one"), pair("two", "2"));
    let branches: &[Branch<'_>] =
        &[("control-plane", "dev", &[("f.yaml", &good)]), ("control-plane", "dev", &[("f.yaml", &half)])];
    check(branches, "a, b, K0107, K0117");
    let loaded = load_from_memory(branches);
    let value = |name: &str| {
        let objects = loaded.input.contents.iter().flat_map(|file| &file.objects.objects);
        let mut maps = objects.filter_map(|object| match object {
            AnyObject::ConfigMap(map) if map.name.as_str() == name => map.spec.data.get("x").map(ToString::to_string),
            _ => None,
        });
        maps.next()
    };
    assert_eq!((value("a").as_deref(), value("b").as_deref()), (Some("two"), Some("one")));
    let messages: Vec<_> = loaded.diagnostics.iter().map(|found| &*found.message).collect();
    let [message] = &*messages else { panic!("{messages:?}") };
    assert!(
        message.starts_with("a part of `f.yaml` is broken at ") && message.contains("; ConfigMap `b` stays as at"),
        "{message}"
    );
}

#[test]
fn an_invalid_object_that_was_never_good_contributes_nothing() {
    check(&[("control-plane", "dev", &[("f.yaml", &pair("one", "2"))])], "a, K0107");
}

#[test]
fn kustomization_stops_only_objects_below_it() {
    let (a, b, kustomization) = (config("a"), config("b"), ("x/kustomization.yaml", "resources: []\n"));
    let before: Branch<'_> = ("control-plane", "dev", &[("a.yaml", &a), ("x/b.yaml", &b)]);
    let stray: Branch<'_> = ("control-plane", "dev", &[("a.yaml", &a), ("x/b.yaml", &b), kustomization]);
    check(&[before, stray], "a, b, K0116, K0130");
    check(&[before, stray, before], "a, b");
    // Objects that move below it are kept, and so are objects that are removed there.
    let moved: Branch<'_> = ("control-plane", "dev", &[("x/a.yaml", &a), kustomization]);
    check(&[before, stray, moved], "a, b, K0116, K0130");
    // Objects that are removed elsewhere are deleted.
    let removed: Branch<'_> = ("control-plane", "dev", &[("x/b.yaml", &b), kustomization]);
    check(&[before, stray, removed], "b, K0116, K0130");
    check(&[stray], "a, K0116");
}

#[test]
fn a_kustomization_beside_a_workload_does_not_stop_the_application() {
    let app = registration("app", &format!("{HOST}app"), ".");
    let shop = workload("shop");
    let files: &[(&str, &str)] = &[("w.yaml", &shop), ("deploy/Kustomization", "resources: []\n")];
    check(&[("app", "main", files), ("control-plane", "dev", &[("app.yaml", &app)])], "app, shop by app, K0116");
}

/// A `Workload` with targets `eu` and `us`, whose manifests have these paths.
fn shop(eu: &str, us: &str) -> String {
    let target =
        |name: &str, path: &str| format!("    - {{name: {name}, environment: dev, manifests: {{path: {path}}}}}\n");
    let targets = [("eu", eu), ("us", us)].into_iter().filter(|(_, path)| !path.is_empty());
    let targets: String = targets.map(|(name, path)| target(name, path)).collect();
    workload("shop").replace("[]\n", &format!("\n{targets}"))
}

/// A branch: its repository, its name and its files.
type Owned<'t> = (&'t str, &'t str, Vec<(&'t str, &'t str)>);

/// Checks the targets of workload `shop` after these commits of its file, in the control plane and in an application repository.
fn check_targets(texts: &[&str], expected: &str) -> LoadedFiles {
    let app = registration("app", &format!("{HOST}app"), ".");
    let registered: Branch<'_> = ("control-plane", "dev", &[("app.yaml", &app)]);
    let own = texts.iter().map(|text| ("control-plane", "dev", vec![("w.yaml", *text)]));
    let of_app = texts.iter().map(|text| ("app", "main", vec![("w.yaml", *text)]));
    let load = |commits: Vec<Owned<'_>>| {
        let commits: Vec<Branch<'_>> = commits.iter().map(|(name, branch, files)| (*name, *branch, &**files)).collect();
        let repositories = MemoryRepositories::default();
        for name in ["control-plane", "app"] {
            repositories.create(&url(name));
        }
        let environment = environment("dev");
        fill(&repositories, &[("control-plane", "main", &[(".environments/dev.yaml", &environment)]), registered]);
        fill(&repositories, &commits);
        load_dev(&repositories)
    };
    let of_application = load(of_app.collect());
    let both = [load(own.collect()), of_application.clone()];
    for loaded in both {
        let objects = loaded.input.contents.iter().flat_map(|file| &file.objects.objects);
        let targets = objects.filter_map(|object| match object {
            AnyObject::Workload(found) => Some(
                found
                    .spec
                    .deployment_targets
                    .iter()
                    .map(|target| format!("{}={}@{}", target.name, target.spec.manifests["path"], target.position)),
            ),
            _ => None,
        });
        assert_eq!(targets.flatten().collect::<Vec<_>>().join(" "), expected);
    }
    of_application
}

#[test]
fn an_invalid_target_of_a_workload_keeps_its_last_good_version() {
    let (first, half, other) = (shop("one", "one"), shop("2", "two"), shop("2", "3"));
    let loaded = check_targets(&[&first, &half], "us=two@1 eu=one@0");
    let messages: Vec<_> = loaded.diagnostics.iter().map(|found| &*found.message).collect();
    let [message] = &*messages else { panic!("{messages:?}") };
    assert!(
        message.starts_with("a part of `w.yaml` is broken at ")
            && message.contains("; target `eu` of Workload `shop` stays as at"),
        "{message}"
    );
    check_targets(&[&first, &half, &other], "eu=one@0 us=two@1");
    check_targets(&[&first, &half, &other, "nonsense: ["], "eu=one@0 us=two@1");
    check_targets(&[&first, &half, &other, &shop("four", "")], "eu=four@0");
    check_targets(&[&first, &half, &shop("", "two")], "us=two@0");
    check_targets(&[&shop("1", "one"), &shop("1", "two")], "us=two@1");
}

#[test]
fn replaced_file_content_keeps_the_last_good_version() {
    let (a, b) = (config("a"), config("b"));
    let pointer = format!("version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 118\n", "4d".repeat(32));
    let page =
        "<!DOCTYPE html>\n<html><head><title>Sign in: acme</title></head>\n<body>\n<p>Sign in</p></body></html>\n";
    let others = [
        (&*pointer, "K0101, K0117"),
        (page, "K0101, K0117"),
        ("The requested file was not found.\n", "K0117"),
        ("404: Not Found\n", "K0117"),
        ("{\"message\": \"Bad credentials\", \"documentation_url\": \"https://docs.github.com\"}\n", "K0117"),
        ("fatal: could not read Username for 'https://git.example'\n", "K0117"),
        ("", "K0117"),
        ("\n  \n", "K0117"),
    ];
    for (other, expected) in others {
        let files: &[(&str, &str)] = &[("a.yaml", other), ("b.yaml", &b)];
        let before: Branch<'_> = ("control-plane", "dev", &[("a.yaml", &a), ("b.yaml", &b)]);
        check(&[before, ("control-plane", "dev", files)], &format!("a, b, {expected}"));
        // It stays so, until the file is deleted.
        let later: &[(&str, &str)] = &[("a.yaml", other), ("b.yaml", &b), ("c.yaml", "x: 1\n")];
        check(
            &[before, ("control-plane", "dev", files), ("control-plane", "dev", later)],
            &format!("a, b, {expected}"),
        );
        check(&[before, ("control-plane", "dev", files), ("control-plane", "dev", &[("b.yaml", &b)])], "b");
    }
}

#[test]
fn a_file_that_never_had_objects_replaces_none() {
    let b = config("b");
    for other in ["", "error: none\n", "replicas: 3\n"] {
        let first: Branch<'_> = ("control-plane", "dev", &[("a.yaml", other), ("b.yaml", &b)]);
        check(&[first], "b");
        check(&[first, ("control-plane", "dev", &[("a.yaml", ""), ("b.yaml", &b), ("c.yaml", "")])], "b");
    }
    // A person takes the objects out, or writes what another tool reads.
    let before: Branch<'_> = ("control-plane", "dev", &[("a.yaml", &config("a")), ("b.yaml", &b)]);
    for other in ["# Not needed any more.\n", "replicas: 3\n"] {
        check(&[before, ("control-plane", "dev", &[("a.yaml", other), ("b.yaml", &b)])], "b");
    }
}
