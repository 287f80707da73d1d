//! Assignments that fail and are held: they are rendered from the commits of their last good folder, with a release pin over them.

use std::fs;

use testkit::objects::{cluster_type, config, schema};

use crate::company::{Company, HOST, Ran, git};

const COMMON: &str = "configs/common.yaml";
const PIN: &str = "pins/hold.yaml";

/// A company with a publication, and with a schema that some values do not match.
fn company() -> Company {
    let company = Company::new();
    let levels = r#"{"properties": {"LOG_LEVEL": {"enum": ["info", "debug"]}}}"#;
    company.change("control-plane@dev", "schema.yaml", &schema("levels", "", levels));
    company.published()
}

fn common(company: &Company, level: &str, database: &str) {
    let text = config("common", "", &format!("DATABASE: {database}\nLOG_LEVEL: {level}"));
    company.change("control-plane@dev", COMMON, &text);
}

/// A value of one region that the schema rejects.
fn broken_in(company: &Company, region: &str, database: &str) {
    let text = config(region, &format!("region: {region}-us"), &format!("DATABASE: {database}\nLOG_LEVEL: loud"));
    company.change("control-plane@dev", &format!("configs/{region}.yaml"), &text);
}

/// A release pin for the places with this requirement.
fn pin(company: &Company, places: &str, repo: &str) {
    let text = format!(
        "apiVersion: fleet.kalypso.io/v1alpha1\nkind: ReleasePin\nmetadata: {{name: hold}}\nspec:\n  \
         deploymentTargetSelector: {{labelSelector: {{matchLabels: {{purpose: shop}}}}}}\n  \
         clusterTypeSelector: {{labelSelector: {{{places}}}}}\n  manifests:\n    repo: {HOST}{repo}\n"
    );
    company.change("control-plane@dev", PIN, &text);
}

const WEST: &str = "matchLabels: {region: west-us}";

/// Adds a cluster type, so that there are changes to publish in spite of failing assignments.
fn place(company: &Company, name: &str) {
    company.change("control-plane@dev", &format!("cluster-types/{name}.yaml"), &cluster_type(name, "none"));
}

/// Publishes while an assignment fails. Returns the commit of the branch afterwards.
fn publish(company: &Company) -> (Ran, String) {
    let ran = company.kalypso("publish -e dev --direct").ends(1);
    (ran, company.head("gitops", "dev").unwrap())
}

fn held(company: &Company) -> Vec<String> {
    let message = git(&company.repository("gitops"), &["log", "-1", "--format=%B", "dev"]);
    message.lines().filter_map(|line| line.strip_prefix("Kalypso-Held: ")).map(str::to_owned).collect()
}

/// The release and the values in an assignment's folder.
#[track_caller]
fn check(company: &Company, assignment: &str, repo: &str, values: &[&str]) {
    let reconciler = company.file("gitops", "dev", &format!("{assignment}/reconciler.yaml"));
    assert!(reconciler.contains(&format!("repo: {HOST}{repo}")), "{reconciler}");
    let config = company.file("gitops", "dev", &format!("{assignment}/platform-config.yaml"));
    for value in values {
        assert!(config.contains(value), "{value} is not in\n{config}");
    }
}

#[test]
fn failing_assignments_are_held_from_their_last_good_sources() {
    let company = company();
    let good = company.head("gitops", "dev").unwrap();
    let short = &good[..7];
    common(&company, "loud", "mysql://main/b");
    let (_, head) = publish(&company);
    assert_eq!(head, good);

    pin(&company, WEST, "shop-stable");
    let plan = company.kalypso("plan -e dev --diff").ends(1);
    let words = format!("held from commit {short}, with release pin hold");
    let plan = plan.says(&["K0220", "1 assignment changes", &words, "because pins/hold.yaml:", "west/shop-test"]);
    let plan =
        plan.says(&["-repo: https://git.example/acme/shop-deploy", "+repo: https://git.example/acme/shop-stable"]);
    assert!(!plan.out.contains("mysql://main/b"), "{}", plan.out);
    company.kalypso("check -e dev").ends(1).says(&["K0312", "K0220", short, "west/shop-test"]);
    company.kalypso("explain -e dev west/shop-test").ends(0).says(&["K0312", "K0220", short]);
    let explained = company.kalypso("explain -e dev west/shop-test -o json").json();
    assert_eq!(explained["held"][0]["from"], good.as_str());
    assert_eq!(company.kalypso("explain -e dev east/shop-test -o json").json()["held"].as_array().unwrap().len(), 0);

    let old = ["DATABASE: mysql://west/a", "LOG_LEVEL: info"];
    publish(&company).0.says(&["1 assignment changes", &words, "1 assignment keeps its last good output"]);
    check(&company, "west/shop-test", "shop-stable", &old);
    check(&company, "east/shop-test", "shop-deploy", &["DATABASE: mysql://main/a"]);
    assert_eq!(held(&company), [format!("{good} shop-test west")]);
    let first = company.head("gitops", "dev").unwrap();

    // There are no other changes, so nothing is published.
    let (ran, head) = publish(&company);
    ran.says(&["Nothing to do", &format!("1 assignment is held from commit {short} with release pin hold")]);
    assert_eq!(head, first);

    // In the newest publication the assignment fails already. The commits of its last good folder are still found.
    place(&company, "north");
    publish(&company);
    pin(&company, WEST, "shop-older");
    let plan = company.kalypso("plan -e dev -o json").ends(1).json();
    assert_eq!(plan["plans"][0]["held"][0]["from"], good.as_str());
    publish(&company);
    check(&company, "west/shop-test", "shop-older", &old);
    assert_eq!(held(&company), [format!("{good} shop-test west")]);

    // The pin is removed, and the values are still invalid: the held files are as before.
    company.remove("control-plane", "dev", PIN);
    publish(&company).0.says(&["with no release pin any more"]);
    check(&company, "west/shop-test", "shop-deploy", &old);
    assert_eq!(held(&company), [format!("{good} shop-test west")]);
    publish(&company).0.says(&["Nothing to do"]);

    common(&company, "debug", "mysql://main/b");
    company.kalypso("publish -e dev --direct").ends(0);
    check(&company, "west/shop-test", "shop-deploy", &["DATABASE: mysql://west/a", "LOG_LEVEL: debug"]);
    check(&company, "east/shop-test", "shop-deploy", &["DATABASE: mysql://main/b"]);
    assert_eq!(held(&company), Vec::<String>::new());
}

#[test]
fn a_pin_stays_where_its_assignment_is_fixed() {
    let company = company();
    common(&company, "loud", "mysql://main/b");
    pin(&company, WEST, "shop-stable");
    publish(&company);
    common(&company, "debug", "mysql://main/b");
    company.kalypso("publish -e dev --direct").ends(0);
    check(&company, "west/shop-test", "shop-stable", &["LOG_LEVEL: debug"]);
    assert_eq!(held(&company), Vec::<String>::new());
}

#[test]
fn each_assignment_is_held_from_its_own_last_good_publication() {
    let company = company();
    let first = company.head("gitops", "dev").unwrap();
    broken_in(&company, "west", "mysql://west/b");
    common(&company, "info", "mysql://main/b");
    let (_, second) = publish(&company);
    broken_in(&company, "east", "mysql://east/c");
    place(&company, "north");
    publish(&company);
    place(&company, "south");
    publish(&company);
    pin(&company, "", "shop-stable");
    publish(&company).0.says(&[&first[..7], &second[..7]]);
    check(&company, "west/shop-test", "shop-stable", &["DATABASE: mysql://west/a"]);
    check(&company, "east/shop-test", "shop-stable", &["DATABASE: mysql://main/b"]);
    let mut expected = [format!("{first} shop-test west"), format!("{second} shop-test east")];
    expected.sort();
    assert_eq!(held(&company), expected);
}

#[test]
fn a_broken_template_and_a_broken_schema_are_held_as_well() {
    let company = company();
    let good = company.file("control-plane", "main", "templates/flux.yaml");
    company.change(
        "control-plane@main",
        "templates/flux.yaml",
        &good.replace("{{ .Manifests.repo }}", "{{ .Manifests.repo"),
    );
    pin(&company, WEST, "shop-stable");
    publish(&company).0.says(&["K0401", "K0220"]);
    check(&company, "west/shop-test", "shop-stable", &["LOG_LEVEL: info"]);
    company.change("control-plane@main", "templates/flux.yaml", &good);
    company.change(
        "control-plane@dev",
        "schema.yaml",
        &schema("levels", "", r#"{"properties": {"LOG_LEVEL": {"enum": 3}}}"#),
    );
    pin(&company, WEST, "shop-older");
    publish(&company).0.says(&["K0310", "K0220"]);
    check(&company, "west/shop-test", "shop-older", &["LOG_LEVEL: info"]);
}

/// Removes unreachable objects, in the repositories and in the cache.
fn forget(company: &Company, repository: &str) {
    git(&company.repository(repository), &["reflog", "expire", "--expire=now", "--all"]);
    git(&company.repository(repository), &["gc", "--quiet", "--prune=now"]);
    drop(fs::remove_dir_all(company.path("cache")));
}

#[test]
fn folder_without_its_sources_stays_with_an_error() {
    let company = company();
    let good = company.head("gitops", "dev").unwrap();
    // The history of the environment's branch begins again.
    let kept: Vec<_> = crate::company::dev();
    git(&company.repository("control-plane"), &["update-ref", "-d", "refs/heads/dev"]);
    company.commit("control-plane", "dev", &kept);
    let levels = r#"{"properties": {"LOG_LEVEL": {"enum": ["debug"]}}}"#;
    company.change("control-plane@dev", "schema.yaml", &schema("levels", "", levels));
    pin(&company, WEST, "shop-stable");
    forget(&company, "control-plane");
    let (ran, head) = publish(&company);
    ran.says(&[
        "K0221",
        &good[..7],
        "the published folder stays",
        "west/shop-test",
        "fix the errors of the assignment",
    ]);
    assert_eq!(head, good);
    check(&company, "west/shop-test", "shop-deploy", &["LOG_LEVEL: info"]);
    company.kalypso("check -e dev").ends(1).says(&["K0221"]);
    company.kalypso("explain -e dev west/shop-test").ends(0).says(&["K0221"]);
}

#[test]
fn a_proposal_names_the_same_and_a_folder_without_history_is_not_held() {
    let company = company();
    let good = company.head("gitops", "dev").unwrap();
    common(&company, "loud", "mysql://main/b");
    pin(&company, WEST, "shop-stable");
    company.kalypso("publish -e dev").ends(1).says(&["Merge kalypso/dev into"]);
    company.kalypso("publish -e dev").ends(1).says(&["Nothing to do", "proposes this"]);
    company.merge("gitops", "dev", "kalypso/dev");
    assert_eq!(held(&company), [format!("{good} shop-test west")]);
    company.kalypso("publish -e dev").ends(1).says(&["Nothing to do"]);
    place(&company, "north");
    publish(&company);
    check(&company, "west/shop-test", "shop-stable", &["LOG_LEVEL: info"]);
    assert_eq!(held(&company), [format!("{good} shop-test west")]);
    // Commits without Kalypso's trailers have no information about sources.
    let tree = git(&company.repository("gitops"), &["rev-parse", "dev^{tree}"]);
    let person = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"];
    let squashed = [&person[..], &["commit-tree", &tree, "-m", "Squashed"]].concat();
    let squashed = git(&company.repository("gitops"), &squashed);
    git(&company.repository("gitops"), &["update-ref", "refs/heads/dev", &squashed]);
    pin(&company, WEST, "shop-older");
    publish(&company)
        .0
        .says(&["K0221", "no recent commit of the GitOps branch names the commits that it was rendered from"]);
    check(&company, "west/shop-test", "shop-stable", &["LOG_LEVEL: info"]);
}

#[test]
fn cached_reads_do_not_change_the_plan() {
    let company = company();
    common(&company, "loud", "mysql://main/b");
    pin(&company, WEST, "shop-stable");
    let tree = || company.kalypso("plan -e dev -o json").ends(1).json()["plans"][0]["tree"].clone();
    let (warm, again) = (tree(), tree());
    drop(fs::remove_dir_all(company.path("cache")));
    assert_eq!([&warm, &again], [&tree(); 2]);
}
