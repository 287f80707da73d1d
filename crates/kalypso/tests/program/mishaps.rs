//! Tests of errors in other systems: unaffected work continues.

use std::collections::BTreeMap;
use std::fs;

use testkit::company::CommittedFile;
use testkit::git_server::{GitServer, ServerFault};
use testkit::objects::{self, config, environment};

use crate::company::{Company, Ran, folder_text, git, kalypso};

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
    let kept = "1 assignment stays as it is\n  ! 1 assignment keeps its last good output";
    company.kalypso("plan -e dev").ends(1).says(&[kept]);
    company.kalypso("publish -e dev --direct").ends(1).says(&["gitops@dev stays as it is\n", kept]);
}

#[test]
fn unpublished_failing_assignments_are_left_out() {
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

/// Publishes after a change of the control plane that can't be parsed. Nothing is removed.
fn check_kept(break_it: impl Fn(&Company), words: &[&str]) {
    let company = Company::new().published();
    let before = company.files("gitops", "dev");
    break_it(&company);
    company.change("control-plane@dev", "configs/new.yaml", &config("new", "", "NEW: value"));
    company.kalypso("publish -e dev --direct").ends(1).says(words).says(&["2 assignments change"]);
    assert_eq!(company.files("gitops", "dev"), before);
    let text = company.file("gitops", "dev", "west/shop-test/platform-config.yaml");
    assert!(text.contains("mysql://west/a") && text.contains("NEW: value"), "{text}");
    let again = company.kalypso("publish -e dev --direct").ends(1).says(words);
    assert!(again.out.contains("Nothing to do"), "{}", again.out);
}

/// A commit of the environment's files, with some set or removed.
fn commit(files: &[(&str, Option<String>)]) -> impl Fn(&Company) + use<> {
    let mut all: BTreeMap<_, _> = crate::company::dev().into_iter().collect();
    for (path, text) in files {
        match text {
            Some(text) => drop(all.insert((*path).to_owned(), text.clone())),
            None => drop(all.remove(*path)),
        }
    }
    let files: Vec<_> = all.into_iter().collect();
    move |company| drop(company.commit("control-plane", "dev", &files))
}

#[test]
fn unreadable_objects_keep_their_output() {
    let policy = objects::policy("shop", "shop");
    let misspelled = policy.replace("SchedulingPolicy", "SchedulingPolicyy");
    let broken = commit(&[("policies/shop.yaml", None), ("policies/web.yaml", Some(format!("{policy}  x: [\n")))]);
    check_kept(broken, &["K0101", "K0130", "SchedulingPolicy `shop`", "`policies/web.yaml`"]);
    let kind = commit(&[("policies/shop.yaml", Some(misspelled.clone()))]);
    check_kept(
        kind,
        &["K0104", "K0117", "did you mean `apiVersion: scheduler.kalypso.io/v1alpha1`, `kind: SchedulingPolicy`?"],
    );
    let renamed = commit(&[("policies/shop.yaml", None), ("policies/web.yaml", Some(misspelled))]);
    check_kept(renamed, &["K0104", "K0130"]);
    let version = policy.replace("v1alpha1", "v1alpha2");
    check_kept(commit(&[("policies/shop.yaml", Some(version))]), &["K0104", "K0117"]);
    let container = config("west", "region: west-us", "DATABASE: mysql://other/a\n  b: [");
    let both = commit(&[("configs/west.yaml", None), ("west.yaml", Some(container))]);
    check_kept(both, &["K0101", "K0130", "ConfigMap `west`"]);
    let gitops = commit(&[("gitops.yaml", None), ("output.yaml", Some("kind: [".to_owned()))]);
    check_kept(gitops, &["K0101", "K0130", "GitOpsRepo `dev`"]);
    let base = commit(&[("base.yaml", None), ("main.yaml", Some("kind: [".to_owned()))]);
    check_kept(base, &["K0101", "K0130", "BaseRepo `main`"]);
}

#[test]
fn a_link_in_the_place_of_a_file_or_folder_removes_nothing() {
    let link = |path: &'static str| {
        move |company: &Company| {
            company.change_file("control-plane@dev", CommittedFile::link(path, "elsewhere"));
        }
    };
    check_kept(link("policies/shop.yaml"), &["K0117", "is no longer a file"]);
    check_kept(link("policies"), &["K0130", "SchedulingPolicy `shop`"]);
    check_kept(link("cluster-types"), &["K0130", "ClusterType `east`, ClusterType `west`"]);
}

/// Replaces the history of a branch of the control plane: the next commit has no parent.
fn forget(company: &Company, branch: &str) {
    git(&company.repository("control-plane"), &["update-ref", "-d", &format!("refs/heads/{branch}")]);
}

#[test]
fn replaced_and_broken_history_keeps_the_published_output() {
    let broken = [("policies/shop.yaml", None), ("policies/web.yaml", Some("a: [\n".to_owned()))];
    let replace = |company: &Company| {
        forget(company, "dev");
        commit(&broken)(company);
    };
    check_kept(replace, &["K0101", "K0130", "SchedulingPolicy `shop`"]);
    // The same in two commits that are pushed together.
    let twice = |company: &Company| {
        company.remove("control-plane", "dev", "policies/shop.yaml");
        company.change("control-plane@dev", "policies/web.yaml", "a: [\n");
    };
    check_kept(twice, &["K0101", "K0130", "SchedulingPolicy `shop`"]);
}

#[test]
fn objects_kept_from_a_replaced_history_stay_until_the_fix() {
    let company = Company::new().published();
    forget(&company, "dev");
    let broken = [("policies/shop.yaml", None), ("policies/web.yaml", Some("a: [\n".to_owned()))];
    commit(&broken)(&company);
    for value in ["one", "two", "three"] {
        company.change("control-plane@dev", "configs/new.yaml", &config("new", "", &format!("NEW: {value}")));
        company.kalypso("publish -e dev --direct").ends(1).says(&["K0130", "2 assignments change"]);
    }
    let message = git(&company.repository("gitops"), &["log", "-1", "--format=%B", "dev"]);
    assert_eq!(message.matches("Kalypso-Kept: ").count(), 1, "{message}");
    // Files that are removed independently are still removed.
    company.remove("control-plane", "dev", "configs/new.yaml");
    company.kalypso("publish -e dev --direct").ends(1).says(&["K0130", "2 assignments change"]);
    assert!(!company.file("gitops", "dev", "west/shop-test/platform-config.yaml").contains("NEW"));
    company.change("control-plane@dev", "policies/web.yaml", &objects::policy("web", "nothing"));
    company.kalypso("publish -e dev --direct").ends(1).says(&["K0505", "2 of 2 assignments"]);
}

#[test]
fn kept_objects_require_a_readable_commit() {
    let company = Company::new().published();
    forget(&company, "dev");
    commit(&[("policies/shop.yaml", None), ("policies/web.yaml", Some("a: [\n".to_owned()))])(&company);
    let repository = company.repository("control-plane");
    git(&repository, &["reflog", "expire", "--expire=now", "--all"]);
    git(&repository, &["gc", "--quiet", "--prune=now"]);
    fs::remove_dir_all(company.path("cache")).unwrap();
    let before = company.head("gitops", "dev");
    company.kalypso("publish -e dev --direct").ends(1).says(&["K0131", "policies/web.yaml", "can no longer be read"]);
    assert_eq!(company.head("gitops", "dev"), before);
    company.change("control-plane@dev", "policies/web.yaml", &objects::policy("shop", "shop"));
    company.kalypso("publish -e dev --direct").ends(0);
}

#[test]
fn renamed_and_broken_workload_file_keeps_the_workload() {
    let break_it = |company: &Company| {
        company.commit("shop", "main", &[("web-shop.yaml", objects::workload("shop").replace("spec:", "spec: ["))]);
    };
    check_kept(break_it, &["K0101", "K0130", "Workload `shop`", "shop@main:web-shop.yaml"]);
}

#[test]
fn separate_removals_apply_while_another_file_is_broken() {
    let company = Company::new();
    company.change("control-plane@dev", "configs/broken.yaml", "a: [\n");
    company.kalypso("publish -e dev --direct").ends(1);
    company.remove("control-plane", "dev", "configs/west.yaml");
    let ran = company.kalypso("publish -e dev --direct").ends(1).says(&["K0101"]);
    assert!(!ran.err.contains("K0130"), "{}", ran.err);
    assert!(company.file("gitops", "dev", "west/shop-test/platform-config.yaml").contains("mysql://main/a"));
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
fn unreachable_control_plane_ends_with_status_69() {
    let company = Company::new();
    fs::rename(company.repository("control-plane"), company.path("away")).unwrap();
    for command in ["check", "check -e dev", "plan -e dev", "publish -e dev", "render -e dev --digest"] {
        company.kalypso(command).ends(69).says(&["control-plane"]);
    }
}

#[test]
fn unknown_environment_is_reported_with_the_existing_ones() {
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
    company.kalypso("plan -e dev").ends(2).says(&["gitops@dev, a new branch", "+ 2 assignments are added"]);
    company.kalypso("publish -e dev").ends(0).says(&["Published dev to kalypso/dev"]);
}

#[test]
fn an_environment_without_objects_is_never_published() {
    let company = Company::new().published();
    company.commit("control-plane", "dev", &[("notes.md", "gone".to_owned())]);
    company.kalypso("publish -e dev --direct --confirm 0000beef").ends(1).says(&["K0119"]);
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
    let ran = crate::company::Ran::new(&mut command).ends(69).says(&["control-plane", "credentials"]);
    assert!(!format!("{}{}", ran.out, ran.err).contains("s3cret"));
    company.kalypso("plan -e dev").ends(69).says(&["warning: there is no token", "the variable ACME_TOKEN is not set"]);
}

#[test]
fn login_page_is_not_an_empty_repository() {
    let company = Company::new();
    let server = GitServer::start(&company.path("served")).unwrap();
    company.configure(&server.url(), "");
    company.kalypso("publish -e dev --direct").ends(0);
    server.set_fault(Some(("gitops", ServerFault::Page)));
    company.kalypso("publish -e dev --direct").ends(69).says(&["K0615", "gitops", "is not a git server", "login"]);
    server.set_fault(Some(("", ServerFault::Page)));
    company.kalypso("plan -e dev").ends(69).says(&["K0615", "control-plane"]);
    server.set_fault(None);
    company.kalypso("plan -e dev").ends(0);
}

#[test]
fn names_of_others_that_are_not_utf8_stay_as_they_are() {
    let company = Company::new();
    // File names in Latin-1, at the top level and in folders. One of the folders has Kalypso's marker file.
    let latin = |path: &str, text: &str| company.change("gitops@dev", path, text);
    latin("caf\\351/notes.txt", "mine\n");
    latin("others/caf\\351.yaml", "a: 1\n");
    latin("\\377/README.md", "This folder contains deployment targets scheduled on the cluster type");
    let foreign = || {
        let list = git(&company.repository("gitops"), &["ls-tree", "dev"]);
        let theirs = |line: &&str| line.contains("\\3") || line.ends_with("\tothers");
        list.lines().filter(theirs).map(str::to_owned).collect::<Vec<_>>()
    };
    let before = foreign();
    assert_eq!(before.len(), 3, "{before:?}");
    company.kalypso("plan -e dev").ends(2);
    for text in ["mysql://main/b", "mysql://main/c"] {
        company.change("control-plane@dev", "configs/common.yaml", &config("common", "", &format!("DATABASE: {text}")));
        company.kalypso("publish -e dev --direct").ends(0);
        assert!(company.file("gitops", "dev", "east/shop-test/platform-config.yaml").contains(text));
        assert_eq!(foreign(), before);
    }
    // Files in Kalypso's folders are removed. The names in the output are readable.
    latin("east/shop-test/caf\\351.yaml", "a: 1\n");
    company.kalypso("plan -e dev -o json").ends(2).says(&["east/shop-test/caf\\\\xe9.yaml"]);
    company.kalypso("publish -e dev --direct").ends(0);
    assert!(!company.files("gitops", "dev").contains("east/shop-test/caf"));
    git(&company.repository("gitops"), &["fsck", "--strict"]);
}

#[test]
fn sources_with_non_utf8_names_are_read() {
    let company = Company::new();
    let file = |path: &str, text: &str| company.change("control-plane@dev", path, text);
    file("caf\\351/notes.txt", "not ours\n");
    file("caf\\351/more.yaml", &config("more", "", "MORE: \"1\""));
    company.kalypso("publish -e dev --direct").ends(0);
    assert!(company.file("gitops", "dev", "east/shop-test/platform-config.yaml").contains("MORE"));
    file("caf\\351/more.yaml", "a: [\n");
    company.kalypso("check -e dev").ends(1).says(&["K0101", "more.yaml"]);
}

#[test]
fn a_configuration_file_is_missing_or_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let check = |text: Option<&str>, status: i32, words: &[&str]| {
        if let Some(text) = text {
            fs::write(folder.path().join("kalypso.toml"), text).unwrap();
        }
        crate::company::Ran::new(kalypso(folder.path()).args(["plan", "-e", "dev"])).ends(status).says(words);
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
    // The same path in another notation.
    let otherwise = objects::gitops("dev", "dev", "./").replace("gitops\n", "gitops.git\n");
    assert!(otherwise.contains("gitops.git"));
    company.change("control-plane@prod", "gitops.yaml", &otherwise);
    company.kalypso("check").ends(1).says(&["K0504"]);
    company.kalypso("check -e dev").ends(0).says(&["nothing wrong"]);
}

#[test]
fn plan_shows_the_reason_for_a_refused_publication() {
    let company = Company::new().published();
    company.change("control-plane@dev", "again.yaml", &objects::gitops("again", "dev", "."));
    let refused = ["K0504", "`again` and `dev` name the same repository, branch and path"];
    company.kalypso("plan -e dev").ends(1).says(&refused);
    company.kalypso("plan -e dev --commit HEAD~1..").ends(1).says(&refused);
}

#[test]
fn empty_and_broken_folders_have_different_errors() {
    let folder = tempfile::tempdir().unwrap();
    let check = || Ran::new(kalypso(folder.path()).args(["check", "--from", "."]));
    check().ends(1).says(&["`.` holds no objects of Kalypso"]);
    fs::write(folder.path().join("a.yaml"), "a: [\n").unwrap();
    let ran = check().ends(1).says(&["K0101", "a.yaml:1:4", "1 error in 1 file"]);
    assert!(!ran.out.contains("K0119"), "{}", ran.out);
}

#[test]
fn a_name_of_another_kind_is_explained() {
    let company = Company::new();
    let workload = "`shop` is a workload with the deployment targets `shop-";
    let target = "`shop-test` is a deployment target of workload `shop`";
    for command in [
        "explain -e dev west/shop",
        "why-not -e dev shop west",
        "get targets -e dev shop",
        "describe -e dev target/shop",
    ] {
        company.kalypso(command).ends(1).says(&[workload]);
    }
    for command in [
        "explain -e dev shop-test/west",
        "get workloads -e dev shop-test",
        "describe -e dev workload/shop-test",
        "bootstrap -e dev shop-test",
        "plan -e dev --workload shop-test",
    ] {
        company.kalypso(command).ends(1).says(&[target]);
    }
    company.kalypso("get assignments -e dev --on shop").ends(1).says(&["no cluster type or cluster `shop`", workload]);
}

#[test]
fn a_folder_that_declares_environments_has_no_others() {
    let company = Company::new();
    git(&company.path("."), &["clone", "--quiet", company.repository("control-plane").to_str().unwrap(), "folder"]);
    for command in ["render --digest", "plan", "check", "explain west/shop-test"] {
        let ran = company.kalypso(&format!("{command} --from folder -e dve")).ends(1);
        ran.says(&["there is no environment `dve`", "there are `dev`", "did you mean `dev`?"]);
    }
    git(&company.path("folder"), &["switch", "--quiet", "dev"]);
    company.kalypso("render --digest --from folder -e any").ends(0);
}

#[test]
fn filters_with_unknown_names_are_errors() {
    let company = Company::new().published();
    let check = |command: &str, expected: &[&str]| {
        company.kalypso(command).ends(1).says(expected);
    };
    check("get assignments -e dev -l regoin=west-us", &["has the label `regoin`", "did you mean `region`?"]);
    check(
        "get targets -e dev -l region=west-su",
        &["has the label `region=west-su`", "did you mean `region=west-us`?"],
    );
    check("plan -e dev -l regoin=west-us", &["has the label `regoin`", "did you mean `region`?"]);
    check("plan -e dev --workload shpo", &["dev has no workload `shpo`", "did you mean `shop`?"]);
    check("plan -e dev --cluster-type wets", &["dev has no cluster type or cluster `wets`", "did you mean `west`?"]);
    check("plan -e dev --gitops-repo prod", &["dev has no GitOpsRepo `prod`, it has `dev`"]);
    check("rollout status -e dve", &["there is no environment `dve`", "did you mean `dev`? there are `dev`"]);
    company.kalypso("plan -e dev --workload shop").ends(0);
    company.kalypso("get assignments -e dev -l !nowhere").ends(0);
    company.kalypso("schema ClusterTyp").ends(64).says(&["did you mean `ClusterType`?"]);
}
