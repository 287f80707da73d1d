//! Tests of named releases.

use testkit::objects;

use crate::company::{Company, HOST, git};

#[test]
fn release_has_the_versions_of_an_environment_and_never_changes() {
    let company = Company::new().published();
    company.kalypso("releases create 2026-11 -e dev").ends(0).says(&["Release 2026-11", "proved in dev", "shop"]);
    company.kalypso("releases create 2026-11 -e dev").ends(0).says(&["exists already, with the same versions"]);
    let common = testkit::objects::config("common", "", "DATABASE: other\nLOG_LEVEL: debug");
    company.change("control-plane@dev", "configs/common.yaml", &common);
    company.kalypso("releases create 2026-11 -e dev").ends(1).says(&["a release never changes"]);
    company.kalypso("releases create 2026-12 -e dev").ends(0);
    let ran = company.kalypso("releases diff 2026-11 2026-12").ends(0);
    assert!(!ran.out.contains("main"), "{}", ran.out);
    ran.says(&["shop configuration"]);
    company.kalypso("releases diff 2026-12 -e dev").ends(0).says(&["have the same versions"]);
    company.kalypso("releases list").ends(0).says(&["2026-11", "2026-12", "dev"]);
    let files = git(&company.repository("control-plane"), &["ls-tree", "-r", "--name-only", "kalypso-releases"]);
    assert_eq!(files, "releases/2026-11.yaml\nreleases/2026-12.yaml");
}

#[test]
fn mistakes_in_the_name_of_a_release_are_found() {
    let company = Company::new().published();
    company.kalypso("releases list").ends(0).says(&["there are no releases yet"]);
    company.kalypso("releases create ../x -e dev").ends(64).says(&["is not the name of a release"]);
    company.kalypso("releases create 2026-11 -e dve").ends(1).says(&["dve"]);
    company.kalypso("releases create 2026-11 -e dev").ends(0);
    company.kalypso("releases show 2026-1").ends(1).says(&["did you mean `2026-11`?"]);
    company.kalypso("releases diff 2026-11").ends(64);
}

#[test]
fn a_release_that_can_get_another_content_is_named() {
    let company = Company::new();
    let registration = objects::registration("shop", &format!("{HOST}shop"));
    let labelled = registration.replace("name: shop", "name: shop\n  labels: {tier: front}");
    company.change("control-plane@main", "workloads/shop.yaml", &labelled);
    company.change("control-plane@main", ".environments/stage.yaml", &objects::environment("stage"));
    company.kalypso("check -e dev").ends(0);
    let spec = "from: [dev]\nto: stage\nselect: {workloadSelector: {matchLabels: {tier: front}}}";
    let promotion = objects::object("Promotion", "to-stage", spec);
    company.change("control-plane@main", ".environments/to-stage.yaml", &promotion);
    let words = ["K0532", "no gate guards the release of `shop-test`: its branch `dev` can get another content later"];
    company.kalypso("check -e dev").ends(0).says(&words);
    let pinned = objects::workload("shop").replace("branch: dev,", "branch: dev, tag: v1.0.0,");
    company.change("shop@main", "shop.yaml", &pinned);
    let says_nothing = || {
        let ran = company.kalypso("check -e dev").ends(0);
        assert!(!ran.err.contains("K0532") && !ran.out.contains("K0532"), "{}", ran.err);
    };
    says_nothing();
    // Where a template prints commits, the tag is resolved to one, and all templates must print it.
    let printing = objects::template("other", "reconciler", "kind: Other\ncommit: {{ .Manifests.commit }}\n");
    company.change("control-plane@main", "templates/other.yaml", &printing);
    let commit = company.commit("shop-deploy", "main", &[("app.yaml", "first".to_owned())]);
    git(&company.repository("shop-deploy"), &["tag", "v1.0.0", &commit]);
    let words = ["K0532", "the templates of cluster type `east` do not print the commit of its tag `v1.0.0`"];
    company.kalypso("check -e dev").ends(0).says(&words);
    let text = company.file("control-plane", "main", "templates/flux.yaml");
    let printed = text.replace("repo: {{ .Manifests.repo }}", "repo: {{ .Manifests.repo }} {{ .Manifests.commit }}");
    assert_ne!(printed, text);
    company.change("control-plane@main", "templates/flux.yaml", &printed);
    says_nothing();
}
