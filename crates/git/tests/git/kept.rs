//! What is not understood is not gone.

use model::tree::{Blob, Child, Entry, Mode, closed};

use crate::load::{check, fill, load_dev, told};
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
fn what_is_removed_while_another_file_is_broken_is_gone() {
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
fn an_application_whose_file_is_renamed_and_broken_keeps_its_workloads() {
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
fn a_base_that_is_kept_is_followed() {
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
        assert_eq!(told(load_dev(&repositories)), "a, b, c");
        files.remove(path, &closed).unwrap();
        files.put(path, link("elsewhere", mode), &closed).unwrap();
        commit_tree(&repositories, &url, "dev", &files);
        files.remove("c.yaml", &closed).unwrap();
        commit_tree(&repositories, &url, "dev", &files);
        assert_eq!(told(load_dev(&repositories)), expected, "{path}");
    };
    check("a.yaml", Mode::Link, "a, b, K0117, K0118");
    check("configs", Mode::Link, "a, b, K0130");
    check("configs", Mode::Submodule, "a, b, K0130");
}
