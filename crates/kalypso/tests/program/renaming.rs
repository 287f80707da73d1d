//! Tests of `rename`: names in working trees of the control plane and of applications, and the plans and publications of renames.

use std::fs;

use crate::adding::Edited;
use crate::company::git;

/// The folder of the application `shop` beside the working trees of `main` and `dev`.
fn with_application(edited: &Edited) {
    let checkout = edited.path("shop-checkout");
    git(
        &edited.path("dev"),
        &["clone", "--quiet", edited.path("served/shop.git").to_str().unwrap(), checkout.to_str().unwrap()],
    );
    git(&checkout, &["remote", "set-url", "origin", "https://git.example/acme/shop"]);
    for setting in [["user.name", "Ann"], ["user.email", "ann@example.com"]] {
        git(&checkout, &["config", setting[0], setting[1]]);
    }
}

#[test]
fn a_renamed_cluster_type_is_published_as_a_rename() {
    let edited = Edited::new();
    let ran = edited.run("rename cluster-type west north -e dev --commit").ends(0);
    ran.says(&["> 1 assignment is renamed", "renamed from west", "> 1 cluster type: west → north"]);
    let text = edited.text("dev/cluster-types/north.yaml");
    assert!(text.contains("annotations:\n    names.kalypso.io/renamed-from: west"), "{text}");
    let plan = edited.run("plan -e dev -o json").ends(2).json();
    let plan = &plan["plans"][0];
    assert_eq!((&plan["counts"]["renamed"], &plan["counts"]["removed"]), (&1.into(), &0.into()));
    assert_eq!(
        (&plan["changes"][0]["renamedFrom"], &plan["needsConfirmation"]),
        (&"west/shop-test".into(), &true.into())
    );
    let word = plan["confirmation"]["word"].as_str().unwrap().to_owned();
    let refused = edited.run("publish -e dev --direct").ends(1);
    refused.says(&["1 of 2 assignments under their earlier names, and 1 cluster type: `west`", "K0505", &word]);
    let confirmed = edited.run(&format!("publish -e dev --direct --confirm {word}")).ends(0);
    confirmed.says(&["> 1 assignment is renamed"]);
    edited.run("plan -e dev").ends(0).says(&["nothing changes"]);
    edited.run("rename cluster-type north wset -e dev --commit").ends(0).says(&["renamed from north"]);
    assert!(edited.text("dev/cluster-types/wset.yaml").contains("renamed-from: north, west"));
}

#[test]
fn topic_branch_of_a_renamed_workload_is_named() {
    let edited = Edited::new();
    with_application(&edited);
    git(&edited.path("dev"), &["switch", "--quiet", "--create", "topic"]);
    let ran = edited.run("rename workload shop store --checkout shop-checkout --dry-run").ends(0);
    ran.says(&["note: branch `topic` in dev stands for `dev`, which it began at"]);
}

#[test]
fn a_workload_is_renamed_in_all_repositories_that_name_it() {
    let edited = Edited::new();
    with_application(&edited);
    edited.run("add config PORT=80 -e dev --for workload=shop --commit").ends(0);
    let dry = edited.run("rename workload shop store --checkout shop-checkout --dry-run").ends(0);
    dry.says(&[
        "Would rename Workload shop to store in 5 files of 3 branches",
        "> 2 assignments are renamed",
        "dry run",
    ]);
    assert_eq!([edited.status("main"), edited.status("dev")], ["", ""]);
    let ran = edited.run("rename workload shop store --checkout shop-checkout --commit").ends(0);
    ran.says(&[
        "1 object that named it: ConfigMap shop",
        "renamed from shop-test",
        "Committed to dev as",
        "in https://",
    ]);
    assert!(edited.text("main/workloads/store.yaml").contains("name: store"));
    assert!(!edited.path("main/workloads/shop.yaml").exists());
    let text = fs::read_to_string(edited.path("shop-checkout/store.yaml")).unwrap();
    assert!(text.contains("names.kalypso.io/renamed-from: shop"), "{text}");
    git(
        &edited.path("shop-checkout"),
        &["push", "--quiet", edited.path("served/shop.git").to_str().unwrap(), "HEAD:main"],
    );
    edited.run("check").ends(0);
    edited.run("publish -e dev --direct").ends(0).says(&["> 2 assignments are renamed"]);
    edited.run("plan -e dev").ends(0).says(&["nothing changes"]);
}

#[test]
fn a_target_is_renamed_in_its_application() {
    let edited = Edited::new();
    with_application(&edited);
    let ran = edited.run("rename target test live --workload shop --checkout shop-checkout -o json").ends(0).json();
    assert_eq!((&ran["isWritten"], &ran["branches"][0]["files"][0]["path"]), (&true.into(), &"shop.yaml".into()));
    assert_eq!(ran["plans"][0]["counts"]["renamed"], 2);
    let text = fs::read_to_string(edited.path("shop-checkout/shop.yaml")).unwrap();
    assert!(text.contains("names.kalypso.io/renamed-targets: live=test") && text.contains("name: live"), "{text}");
}

#[test]
fn invalid_renames_are_refused_before_writing() {
    let edited = Edited::new();
    with_application(&edited);
    let refused = |line: &str, status: i32, words: &[&str]| drop(edited.run(line).ends(status).says(words));
    refused("rename workload shpo store", 1, &["there is no workload `shpo`", "did you mean `shop`?"]);
    refused("rename workload shop shop", 64, &["`shop` is the present name"]);
    refused("rename workload shop Store", 64, &["is not the name of a workload"]);
    let long = format!("rename workload shop {}", "a".repeat(64));
    refused(&long, 64, &["can't be the value of a label"]);
    refused("rename workload shop store", 1, &["is checked out nowhere", "--checkout DIR; --propose needs none"]);
    refused("rename workload shop store --checkout dev", 1, &["`dev` is no checkout of branch `main`"]);
    refused("rename target tset live --workload shop --checkout shop-checkout", 1, &["K0143", "did you mean `test`?"]);
    refused("rename target test test --workload shop", 64, &["`test` is the present name"]);
    assert_eq!([edited.status("main"), edited.status("dev"), edited.status("shop-checkout")], ["", "", ""]);
    let registered = edited.text("main/workloads/shop.yaml").replace("name: shop\n", "name: store\n");
    fs::write(edited.path("main/workloads/store.yaml"), registered).unwrap();
    refused("rename workload shop store --checkout shop-checkout", 1, &["is registered for another application"]);
}

#[test]
fn a_rename_is_proposed_in_each_repository() {
    let edited = Edited::new();
    edited.run("add config PORT=80 -e dev --for workload=shop --commit").ends(0);
    let ran = edited.run("rename workload shop store --propose").ends(0);
    ran.says(&["rename/workload-shop-to-store", "rename/dev-workload-shop-to-store", "Bring all of them"]);
    let branches = git(&edited.path("served/shop.git"), &["branch", "--list"]);
    assert!(branches.contains("rename/workload-shop-to-store"), "{branches}");
    assert_eq!([edited.status("main"), edited.status("dev")], ["", ""]);
}
