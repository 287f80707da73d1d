//! What goes wrong elsewhere, and what goes on all the same.

use std::fs;

use testkit::git_server::GitServer;

use crate::company::{Company, Ran, folder_text, git, kalypso};
use crate::objects::{self, config, environment};

#[test]
fn a_failing_assignment_keeps_its_folder_while_others_ship() {
    let company = Company::new().published();
    let tree = |folder: &str| git(&company.repository("gitops"), &["rev-parse", &format!("dev:{folder}")]);
    let (east, west) = (tree("east"), tree("west"));
    let schema = objects::schema("ports", "{region: west-us}", "{\"properties\": {\"PORT\": {\"type\": \"integer\"}}}");
    company.change("control-plane@dev", "schema.yaml", &schema);
    company.change("control-plane@dev", "port.yaml", &config("port", "", "PORT: \"54x2\""));
    company.kalypso("publish -e dev --direct").ends(1).says(&["K0312", "port.yaml:7", "west/shop-test", "last good"]);
    assert_eq!(tree("west"), west);
    assert_ne!(tree("east"), east);
    let kept = "2 assignments stay as they are\n  ! 1 assignment keeps its last good output";
    company.kalypso("plan -e dev").ends(1).says(&[kept]);
    company.kalypso("publish -e dev --direct").ends(1).says(&["gitops@dev stays as it is\n", kept]);
}

#[test]
fn what_was_never_published_is_left_out() {
    let company = Company::new();
    let broken = objects::template("configmap", "config", "a: {{ .Nothing }}");
    company.change("control-plane@main", "templates/configmap.yaml", &broken);
    let ran = company.kalypso("publish -e dev --direct").ends(1).says(&["K0402", "2 assignments have no output yet"]);
    assert!(!ran.err.contains("last good"), "{}", ran.err);
    assert!(company.files("gitops", "dev").contains("west/README.md"));
}

#[test]
fn a_broken_file_falls_back_to_its_earlier_version() {
    let company = Company::new();
    company.change("control-plane@dev", "configs/west.yaml", "a: [\n");
    company.kalypso("render -e dev --out out").ends(1).says(&[
        "K0101",
        "K0117",
        "configs/west.yaml",
        "is used instead",
    ]);
    assert!(folder_text(&company.path("out/west")).contains("mysql://west/a"));
}

#[test]
fn an_unreachable_application_keeps_its_folders() {
    let company = Company::new().published();
    let shop = company.repository("shop");
    fs::rename(&shop, company.path("away")).unwrap();
    let common = config("common", "", "DATABASE: mysql://other/a");
    company.change("control-plane@dev", "configs/common.yaml", &common);
    let before = company.head("gitops", "dev");
    let ran = company.kalypso("publish -e dev --direct").ends(1).says(&["K0601", "shop"]);
    assert!(!ran.out.contains("removed"), "{}", ran.out);
    assert!(company.files("gitops", "dev").contains("west/shop-test/platform-config.yaml"));
    assert_eq!(company.head("gitops", "dev"), before);
}

#[test]
fn an_unreachable_control_plane_is_somebody_elses_fault() {
    let company = Company::new();
    fs::rename(company.repository("control-plane"), company.path("away")).unwrap();
    for command in ["check", "check -e dev", "plan -e dev", "publish -e dev", "render -e dev --digest"] {
        company.kalypso(command).ends(69).says(&["control-plane"]);
    }
}

#[test]
fn an_environment_that_does_not_exist_is_compared_with_those_that_do() {
    let company = Company::new();
    for command in ["check -e prod", "render -e prod --digest", "plan -e prod", "publish -e prod"] {
        company.kalypso(command).ends(1).says(&["there is no environment `prod`", "there are `dev`"]);
    }
    company.kalypso("plan -e ../x").ends(64).says(&["not the name of an environment"]);
}

#[test]
fn a_branch_that_does_not_exist_is_reported_where_it_is_named() {
    let company = Company::new();
    company.change("control-plane@main", ".environments/prod.yaml", &environment("prod"));
    company.kalypso("plan -e prod").ends(1).says(&["K0602", ".environments/prod.yaml", "branch `prod`"]);
}

#[test]
fn an_empty_repository_has_no_environments() {
    let company = Company::empty();
    company.repository("control-plane");
    company.kalypso("check").ends(1).says(&["control-plane", "git push"]);
    company.repository("gitops");
    let company = Company::new();
    fs::remove_dir_all(company.repository("gitops")).unwrap();
    company.repository("gitops");
    company.kalypso("publish -e dev").ends(1).says(&["the repository is empty", "git switch --orphan dev"]);
}

#[test]
fn an_environment_without_objects_is_never_published() {
    let company = Company::new().published();
    company.commit("control-plane", "dev", &[("notes.md", "gone".to_owned())]);
    company.kalypso("publish -e dev --direct --confirm").ends(1).says(&["K0119"]);
    assert!(company.files("gitops", "dev").contains("west/shop-test/"));
}

#[test]
fn a_refused_token_is_never_shown() {
    let company = Company::new();
    let server = GitServer::start(&company.path("served")).unwrap();
    server.require("Basic something-else");
    let url = server.url();
    company.configure(&url, &format!("credentials = [{{ prefix = \"{url}\", token-env = \"ACME_TOKEN\" }}]"));
    let mut command = company.command();
    command.args(["plan", "-e", "dev"]).env("ACME_TOKEN", "s3cret-token");
    let ran = crate::company::Ran::of(&mut command).ends(69).says(&["control-plane", "credentials"]);
    assert!(!format!("{}{}", ran.out, ran.err).contains("s3cret"));
    company.kalypso("plan -e dev").ends(69).says(&["warning: the variable ACME_TOKEN"]);
}

#[test]
fn a_configuration_file_is_missing_or_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let check = |text: Option<&str>, status: i32, words: &[&str]| {
        if let Some(text) = text {
            fs::write(folder.path().join("kalypso.toml"), text).unwrap();
        }
        crate::company::Ran::of(kalypso(folder.path()).args(["plan", "-e", "dev"])).ends(status).says(words);
    };
    check(None, 64, &["there is no kalypso.toml", "kalypso demo"]);
    check(Some("[control-plane]\nrepo = \"x\"\nbranhc = \"m\"\n"), 64, &["branhc", "line 3", "branch"]);
    check(Some("[control-plane\n"), 64, &["line 1"]);
    check(Some("[git]\n"), 64, &["control-plane"]);
    check(Some("[control-plane]\nrepo = \"--upload-pack=x\"\n"), 64, &["control-plane.repo", "dash"]);
    check(Some("[control-plane]\nrepo = \"ext::sh -c id\"\n"), 64, &["control-plane.repo"]);
    check(Some("[control-plane]\nrepo = \"nowhere\"\n"), 69, &["nowhere"]);
    let missing = kalypso(folder.path()).args(["plan", "-e", "dev", "--config", "other.toml"]).status().unwrap();
    assert_eq!(missing.code(), Some(64));
}

#[test]
fn two_environments_never_write_to_one_place() {
    let company = Company::new();
    company.change("control-plane@main", ".environments/prod.yaml", &environment("prod"));
    company.commit("control-plane", "prod", &crate::company::dev());
    company.kalypso("check").ends(1).says(&["K0504", "dev", "prod", "gitops.yaml"]);
    // The same place, written otherwise.
    let otherwise = objects::gitops("dev", "dev", "./").replace("gitops\n", "gitops.git\n");
    assert!(otherwise.contains("gitops.git"));
    company.change("control-plane@prod", "gitops.yaml", &otherwise);
    company.kalypso("check").ends(1).says(&["K0504"]);
    company.kalypso("check -e dev").ends(0).says(&["nothing wrong"]);
}

#[test]
fn a_plan_says_why_it_would_not_be_published() {
    let company = Company::new().published();
    company.change("control-plane@dev", "again.yaml", &objects::gitops("again", "dev", "."));
    let refused = ["K0504", "`again` and `dev` name the same repository, branch and path"];
    company.kalypso("plan -e dev").ends(1).says(&refused);
    company.kalypso("plan -e dev --commit HEAD~1..").ends(1).says(&refused);
}

#[test]
fn a_folder_without_objects_is_named_and_a_broken_one_says_what_is_broken() {
    let folder = tempfile::tempdir().unwrap();
    let check = || Ran::of(kalypso(folder.path()).args(["check", "--from", "."]));
    check().ends(1).says(&["`.` holds no objects of Kalypso"]);
    fs::write(folder.path().join("a.yaml"), "a: [\n").unwrap();
    let ran = check().ends(1).says(&["K0101", "a.yaml:1:4", "1 error in 1 file"]);
    assert!(!ran.out.contains("K0119"), "{}", ran.out);
}
