//! Tests of publishing: to a branch for review or directly, without overwriting other commits.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use testkit::company::CommittedFile;
use testkit::git_server::GitServer;
use testkit::objects::{self, cluster_type, config, gitops, policy};

use crate::company::{Company, HOST, dev, git};

const WEST: &str = "configs/west.yaml";

/// Sets the database of region west.
fn west(company: &Company, value: &str) {
    company.change("control-plane@dev", WEST, &config("west", "region: west-us", &format!("DATABASE: {value}")));
}

#[test]
fn merged_proposal_leaves_nothing_to_publish() {
    let company = Company::new();
    let first = company.kalypso("publish -e dev").ends(0).says(&["kalypso/dev", "2 assignments are added"]);
    assert!(first.out.contains("Merge kalypso/dev into"), "{}", first.out);
    let proposed = company.head("gitops", "kalypso/dev");
    company.kalypso("publish -e dev").ends(0).says(&["Nothing to do", "already"]);
    assert_eq!(company.head("gitops", "kalypso/dev"), proposed);
    assert_eq!(company.files("gitops", "dev"), "README.md");
    company.merge("gitops", "dev", "kalypso/dev");
    company.kalypso("publish -e dev").ends(0).says(&["Nothing to do", "kalypso/dev, which was merged, was removed"]);
    assert!(company.file("gitops", "dev", "west/shop-test/platform-config.yaml").contains("mysql://west/a"));
    assert!(company.file("gitops", "dev", "README.md").contains("What clusters of dev run."));
}

#[test]
fn a_plan_shows_the_value_with_its_place() {
    let company = Company::new().published();
    company.kalypso("plan -e dev").ends(0).says(&["nothing changes", "2 assignments are up to date"]);
    west(&company, "mysql://west-2/a");
    let plan = company.kalypso("plan -e dev").ends(2);
    let plan = plan.says(&["1 assignment changes", "DATABASE", "\"mysql://west/a\" → \"mysql://west-2/a\""]);
    assert!(!plan.out.contains("0 assignments"), "{}", plan.out);
    assert!(plan.out.lines().all(|line| line.chars().count() <= 120), "{}", plan.out);
    plan.says(&["because configs/west.yaml:7   on west/shop-test", "1 assignment stays"]);
    company.kalypso("explain -e dev west/shop-test DATABASE").ends(0).says(&[
        "DATABASE = \"mysql://west-2/a\"",
        "control-plane@dev:configs/west.yaml:7",
        "overrides",
        "\"mysql://main/a\"",
        "west/shop-test/platform-config.yaml:5",
    ]);
}

#[test]
fn a_proposal_is_replaced_and_withdrawn_with_its_change() {
    let company = Company::new().published();
    west(&company, "mysql://west-2/a");
    company.kalypso("publish -e dev").ends(0);
    west(&company, "mysql://west-3/a");
    company.kalypso("publish -e dev").ends(0);
    let count = git(&company.repository("gitops"), &["rev-list", "--count", "dev..kalypso/dev"]);
    assert_eq!(count, "1");
    west(&company, "mysql://west/a");
    company.kalypso("publish -e dev").ends(0).says(&["kalypso/dev", "was removed"]);
    assert_eq!(company.head("gitops", "kalypso/dev"), None);
}

#[test]
fn a_persons_commit_is_kept() {
    let company = Company::new();
    company.kalypso("publish -e dev").ends(0);
    let theirs = company.change("gitops@kalypso/dev", "notes.md", "Look at this\n");
    west(&company, "mysql://west-2/a");
    company.kalypso("publish -e dev").ends(1).says(&["K0506", "Ann", "kalypso/dev"]);
    assert_eq!(company.head("gitops", "kalypso/dev"), Some(theirs.clone()));
    company.kalypso("publish -e dev --force").ends(0).says(&["Published dev to kalypso/dev"]);
    let count = git(&company.repository("gitops"), &["rev-list", "--count", "dev..kalypso/dev"]);
    assert_eq!(count, "1");
    assert_ne!(company.head("gitops", "kalypso/dev"), Some(theirs));
}

#[test]
fn lost_push_race_is_retried() {
    let company = Company::new();
    let bin = company.path("bin");
    fs::create_dir(&bin).unwrap();
    let served = company.repository("gitops");
    let real = git(&bin, &["--exec-path"]);
    // The first push fails, because another user has pushed shortly before.
    let script = format!(
        "#!/bin/sh\ncase \" $* \" in *\" push \"*)\n  if mkdir '{0}/raced' 2>/dev/null; then\n    cd '{1}' && tree=$('{2}/git' rev-parse 'dev^{{tree}}') &&\n    new=$(GIT_DIR=. '{2}/git' -c user.name=Bob -c user.email=bob@example.com commit-tree $tree -p dev -m Race) &&\n    '{2}/git' update-ref refs/heads/dev $new; cd - >/dev/null\n  fi;;\nesac\nexec '{2}/git' \"$@\"\n",
        bin.display(),
        served.display(),
        real
    );
    fs::write(bin.join("git"), script).unwrap();
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut command = company.command();
    crate::company::Ran::new(command.args(["publish", "-e", "dev", "--direct"]).env("PATH", path)).ends(0);
    assert!(bin.join("raced").is_dir());
    let log = git(&served, &["log", "--format=%an", "dev"]);
    assert_eq!(log, "Kalypso\nBob\nAnn");
}

#[test]
fn a_plan_of_many_changes_is_short() {
    let company = Company::new().published();
    let values: Vec<_> = (0..100).map(|index| format!("KEY_{index}: \"{}\"", "x".repeat(index * 2))).collect();
    company.change("control-plane@dev", "configs/many.yaml", &config("many", "", &values.join("\n")));
    let plan = company.kalypso("plan -e dev").ends(2).says(&["and 60 more groups: --limit 100 shows all"]);
    assert!(plan.out.lines().count() <= 50 && plan.out.lines().all(|line| line.chars().count() <= 120), "{}", plan.out);
    let json = company.kalypso("plan -e dev -o json").ends(2).json();
    assert_eq!(json["plans"][0]["changes"][0]["values"].as_array().unwrap().len(), 100);
}

/// A published company with six workloads on two cluster types.
fn large() -> Company {
    let company = Company::new();
    let target = |index| objects::target((&format!("t{index}"), "dev"), "shop", "repo: r, branch: b, path: p");
    company.change("shop@main", "shop.yaml", &objects::workload_with("shop", &(0..6).map(target).collect::<Vec<_>>()));
    company.published()
}

#[test]
fn large_removals_need_a_confirmation() {
    let company = large();
    let before = company.head("gitops", "dev");
    company.change("control-plane@dev", "policies/shop.yaml", &policy("shop", "nothing"));
    let word = company.word();
    company.kalypso("plan -e dev").ends(2).says(&["12 assignments are removed", &format!("--confirm {word}")]);
    let refused = ["K0505", "this would remove 12 of 12 assignments", &format!("add `--confirm {word}`")];
    company.kalypso("publish -e dev --direct").ends(1).says(&refused);
    company.kalypso("publish -e dev --direct --confirm").ends(1).says(&refused);
    assert_eq!(company.head("gitops", "dev"), before);
    company.kalypso(&format!("publish -e dev --direct --confirm {word}")).ends(0);
    assert!(!company.files("gitops", "dev").contains("shop-t0"));
}

#[test]
fn audit_contains_confirmations_from_the_command_line() {
    let company = large();
    let promotion =
        "{apiVersion: fleet.kalypso.io/v1alpha1, kind: Promotion, metadata: {name: to-dev}, spec: {to: dev}}\n";
    company.change("control-plane@main", ".environments/to-dev.yaml", promotion);
    company.kalypso("publish -e dev --direct").ends(0);
    company.change("control-plane@dev", "policies/shop.yaml", &policy("shop", "nothing"));
    let word = company.word();
    let confirmed = || company.kalypso("audit export -e dev --from 2020-01-01").ends(0).out.contains(",confirmed,");
    company.kalypso(&format!("publish -e dev --direct --confirm {word}x")).ends(1);
    assert!(!confirmed());
    company.kalypso(&format!("publish -e dev --direct --confirm {word}")).ends(0);
    assert!(confirmed());
    let text = format!("confirmed the removals with the word {word}");
    company.kalypso("audit export -e dev --from 2020-01-01").ends(0).says(&[&text]);
}

#[test]
fn removed_cluster_type_needs_a_confirmation() {
    let company = Company::new().published();
    company.remove("control-plane", "dev", "cluster-types/east.yaml");
    company.kalypso("publish -e dev --direct").ends(1).says(&["K0505", "1 cluster type: `east`"]);
    company.kalypso("publish -e dev").ends(0).says(&["1 assignment is removed", &company.word()]);
}

#[test]
fn confirmation_word_is_valid_only_for_the_shown_removals() {
    let company = large();
    company.change("control-plane@dev", "policies/shop.yaml", &policy("shop", "nothing"));
    let stale = company.word();
    company.change("control-plane@dev", "policies/shop.yaml", &policy("shop", "shop"));
    company.remove("control-plane", "dev", "cluster-types/east.yaml");
    let before = company.head("gitops", "dev");
    let now = company.word();
    assert_ne!(stale, now);
    company.kalypso(&format!("publish -e dev --direct --confirm {stale}")).ends(1).says(&[
        "K0505",
        "6 of 12 assignments",
        "belongs to other removals",
        &format!("add `--confirm {now}`"),
    ]);
    assert_eq!(company.head("gitops", "dev"), before);
    // Other changes do not matter, and several confirmations can be given.
    company.change("control-plane@dev", "configs/common.yaml", &config("common", "", "LOG_LEVEL: debug"));
    company.kalypso(&format!("publish -e dev --direct --confirm {stale} --confirm {now}")).ends(0);
    assert!(!company.files("gitops", "dev").contains("east/"));
}

#[test]
fn removal_of_a_small_workload_needs_a_confirmation() {
    let company = Company::new();
    company.change("control-plane@main", "workloads/till.yaml", &objects::registration("till", &format!("{HOST}till")));
    company.commit("till", "main", &[("till.yaml", objects::workload("till"))]);
    company.change("control-plane@dev", "policies/till.yaml", &policy("till", "till"));
    let company = company.published();
    company.remove("control-plane", "dev", "policies/till.yaml");
    let refused = company.kalypso("publish -e dev --direct").ends(1);
    refused.says(&["K0505", "this would remove 2 of 4 assignments, all of workload `till`"]);
    // Only the removal waits.
    company.change("control-plane@dev", "configs/common.yaml", &config("common", "", "LOG_LEVEL: debug"));
    let published = company.kalypso("publish -e dev --direct").ends(1);
    published.says(&["Published dev to dev", "K0505", "these folders stay; everything else is published"]);
    assert!(company.file("gitops", "dev", "east/shop-test/platform-config.yaml").contains("debug"));
    assert!(company.files("gitops", "dev").contains("east/till-test"));
    let json = company.kalypso("plan -e dev -o json").ends(2).json();
    let confirmation = &json["plans"][0]["confirmation"];
    assert_eq!(confirmation["removals"], serde_json::json!(["east/till-test", "west/till-test"]));
    assert_eq!(confirmation["removed"], 2);
    company.kalypso(&format!("publish -e dev --direct --confirm {}", company.word())).ends(0);
}

#[test]
fn foreign_file_at_the_path_of_an_own_file_is_not_replaced() {
    let check = |file: CommittedFile<'_>, words: &[&str]| {
        let company = Company::new();
        company.change_file("gitops@dev", file);
        let before = company.head("gitops", "dev");
        for command in ["publish -e dev --direct", "publish -e dev --direct --adopt", "publish -e dev"] {
            company.kalypso(command).ends(1).says(words);
        }
        assert_eq!(company.head("gitops", "dev"), before);
        assert_eq!(company.head("gitops", "kalypso/dev"), None);
    };
    let text = |path, text: &'static str| CommittedFile::regular(path, text.as_bytes());
    let foreign = |path: &str| format!("the GitOps branch has `{path}`, which is not Kalypso's");
    check(text(".kalypso", "settings of another program"), &["K0508", &foreign(".kalypso")]);
    check(CommittedFile::link(".kalypso", "elsewhere"), &["K0508", &foreign(".kalypso")]);
    check(CommittedFile::link(".kalypso/owner", "elsewhere"), &["K0508", &foreign(".kalypso/owner")]);
    check(text(".kalypso/owner/x", ""), &["K0508", &foreign(".kalypso/owner")]);
    check(text(".kalypso/owner", "Ann"), &["K0508", &foreign(".kalypso/owner")]);
    check(text(".kalypso/owner", "environment: dev\ncontrol-plane: \u{1b}[2Jx\n"), &["K0508"]);
}

#[test]
fn a_file_in_the_place_of_the_folder_for_tracking_is_not_replaced() {
    let company = Company::new();
    let base = objects::pinned_base(company.head("control-plane", "main").unwrap());
    company.change("control-plane@dev", "base.yaml", &base);
    company.change("gitops@dev", ".github", "");
    company.kalypso("plan -e dev").ends(1).says(&["K0508", "the GitOps branch has `.github`"]);
    company.kalypso("publish -e dev --direct").ends(1).says(&["K0508", "the GitOps branch has `.github`"]);
    company.remove("gitops", "dev", ".github");
    company.kalypso("publish -e dev --direct").ends(0);
    assert!(company.files("gitops", "dev").contains(".github/tracking/Promoted_Commit_Id"));
}

#[test]
fn the_branch_of_another_environment_is_not_written() {
    let company = Company::new();
    company.change("gitops@dev", ".kalypso/owner", "environment: prod\ncontrol-plane: elsewhere\n");
    let before = company.head("gitops", "dev");
    company.kalypso("publish -e dev --direct").ends(1).says(&["K0502", "environment: prod"]);
    assert_eq!(company.head("gitops", "dev"), before);
}

#[test]
fn foreign_folders_are_adopted_only_on_request() {
    let company = Company::new();
    company.change("gitops@dev", "west/mine.yaml", "by: hand\n");
    company.kalypso("publish -e dev --direct").ends(1).says(&["K0501", "--adopt"]);
    assert_eq!(company.file("gitops", "dev", "west/mine.yaml"), "by: hand");
    assert!(company.files("gitops", "dev").contains("east/shop-test/"));
    company.kalypso("publish -e dev --direct --adopt").ends(0);
    assert!(!company.files("gitops", "dev").contains("mine.yaml"));
    assert!(company.files("gitops", "dev").contains("west/shop-test/"));
}

#[test]
fn single_folders_can_be_adopted() {
    let company = Company::new();
    company.change("gitops@dev", "east/mine.yaml", "by: hand\n");
    company.change("gitops@dev", "west/mine.yaml", "by: hand\n");
    company.change("gitops@dev", "west/README.md", "Ours.\n");
    let plan = company.kalypso("plan -e dev --adopt west").ends(1);
    plan.says(&[
        "folder of west is taken over: 1 file removed, 1 file replaced",
        "- west/mine.yaml",
        "~ west/README.md",
        "a folder `east` that is not Kalypso's",
    ]);
    company.kalypso("plan -e dev --adopt wset").ends(1).says(&["`--adopt wset`", "did you mean `west`?"]);
    company.kalypso("publish -e dev --direct --adopt west").ends(1);
    assert!(!company.files("gitops", "dev").contains("west/mine.yaml"));
    assert!(company.files("gitops", "dev").contains("west/shop-test/"));
    assert_eq!(company.files("gitops", "dev").matches("east/").count(), 1);
}

#[test]
fn an_output_moves_to_another_path_only_with_a_confirmation() {
    let company = Company::new().published();
    company.change("gitops@dev", "notes/ours.md", "Of other people.\n");
    company.change("control-plane@dev", "gitops.yaml", &gitops("dev", "dev", "./clusters"));
    let says =
        ["2 cluster types move from the root to `clusters`", "this removes 2 folders from the root", "--confirm"];
    company.kalypso("plan -e dev").ends(2).says(&says);
    company.kalypso("plan -e dev --commit HEAD~1..HEAD").ends(2).says(&says[..2]);
    let before = company.head("gitops", "dev");
    company.kalypso("publish -e dev --direct").ends(1).says(&["K0505", "2 folders from the root"]);
    assert_eq!(company.head("gitops", "dev"), before);
    let json = company.kalypso("plan -e dev -o json").ends(2).json();
    assert_eq!(json["plans"][0]["relocation"], serde_json::json!({"from": "", "to": "clusters", "folders": 2}));
    assert_eq!(json["plans"][0]["confirmation"]["removals"], serde_json::json!(["east", "west"]));
    // What can't be rendered moves, too.
    company.change("control-plane@dev", "schema.yaml", &objects::schema("port", "{}", r#"{"required": ["PORT"]}"#));
    company.kalypso(&format!("publish -e dev --direct --confirm {}", company.word())).ends(1);
    let files = company.files("gitops", "dev");
    assert!(files.lines().all(|file| !file.starts_with("west") && !file.starts_with(".kalypso")), "{files}");
    assert!(files.contains("clusters/west/shop-test/") && files.contains("notes/ours.md"), "{files}");
    company.kalypso("plan -e dev").ends(1).says(&["nothing changes", "2 assignments keep their last good output"]);
}

#[test]
fn each_assignment_counts_once() {
    let company = Company::new().published();
    let published = company.head("gitops", "dev").unwrap();
    company.change("gitops@dev", "notes/ours.md", "Of other people.\n");
    let schema = objects::schema("port", "{region: west-us}", r#"{"required": ["PORT"]}"#);
    company.change("control-plane@dev", "schema.yaml", &schema);
    company.change("control-plane@dev", "north.yaml", &cluster_type("north", "west-us"));
    let commit = format!("commit {}", &published[..7]);
    let plan = company.kalypso("plan -e dev").ends(1);
    plan.says(&[
        "    1 assignment stays",
        "! 1 assignment keeps its last good output",
        "! 1 assignment has no output yet",
        &commit,
    ]);
    // Plans of two commits do not read what was published.
    company.change("control-plane@dev", WEST, &config("west", "region: west-us", "DATABASE: x"));
    let plan = company.kalypso("plan -e dev --commit HEAD~1..HEAD").ends(1);
    let plan = plan.says(&["! 2 assignments fail before and after: what was published of them stays"]);
    assert!(!plan.out.contains("no output yet") && !plan.err.contains("never published"), "{}{}", plan.out, plan.err);
}

#[test]
fn unpublished_output_has_no_last_good_commit() {
    let company = Company::new();
    let schema = objects::schema("port", "{region: west-us}", r#"{"required": ["PORT"]}"#);
    company.change("control-plane@dev", "schema.yaml", &schema);
    let plan = company.kalypso("plan -e dev").ends(1).says(&["was never published"]);
    assert!(!plan.err.contains(&company.head("gitops", "dev").unwrap()[..7]), "{}", plan.err);
}

#[test]
fn answers_show_published_and_desired_content() {
    let company = Company::new().published();
    let says = |text: &str| {
        company.kalypso("explain -e dev west/shop-test").ends(0).says(&[text]);
        company.kalypso("describe cluster-type west -e dev").ends(0).says(&["Published", text]);
        company.kalypso("get assignments -e dev").ends(0).says(&["west/shop-test", "(earlier content published)"]);
        let json = company.kalypso("get assignments -e dev -o json").ends(0).json();
        assert!(json["items"][0]["rollout"].is_null(), "{json}");
        assert_eq!(json["items"][1]["rollout"]["ring"], serde_json::Value::Null);
        assert!(text.ends_with(json["items"][1]["rollout"]["reason"].as_str().unwrap()), "{json}");
    };
    west(&company, "mysql://west-2/a");
    says("it is not published yet");
    company.kalypso("publish -e dev").ends(0);
    says("it waits for the merge of kalypso/dev");
    company.merge("gitops", "dev", "kalypso/dev");
    let explained = company.kalypso("explain -e dev west/shop-test").ends(0);
    assert!(!explained.out.contains("published"), "{}", explained.out);
    let schema = objects::schema("port", "{region: west-us}", r#"{"required": ["PORT"]}"#);
    company.change("control-plane@dev", "schema.yaml", &schema);
    company.kalypso("explain -e dev west/shop-test").says(&["published", "it has errors"]);
}

#[test]
fn an_edit_by_hand_is_reported_with_its_author_and_taken_back() {
    let company = Company::new();
    company.kalypso("publish -e dev --direct").ends(0);
    let before = company.files("gitops", "dev");
    company.change("gitops@dev", "notes/ours.md", "Of other people.\n");
    assert!(!company.kalypso("publish -e dev --direct").ends(0).err.contains("K0530"));
    company.change("gitops@dev", "east/shop-test/by-hand.yaml", "by: hand\n");
    let edit = company.head("gitops", "dev").unwrap();
    let reported = company.kalypso("publish -e dev --direct").ends(0);
    reported.says(&["K0530", &edit[..7], "outside of a publication", "`east/shop-test`"]);
    assert_eq!(company.files("gitops", "dev").replace("notes/ours.md\n", ""), before);
    assert_eq!(company.file("gitops", "dev", "notes/ours.md"), "Of other people.");
    assert!(!company.kalypso("publish -e dev --direct").ends(0).err.contains("K0530"));
}

#[test]
fn output_to_a_branch_that_is_read_is_refused() {
    let company = Company::new();
    for (repository, branch) in [("control-plane", "dev"), ("control-plane", "main"), ("shop", "main")] {
        let text = gitops("dev", branch, "./out").replace("acme/gitops", &format!("acme/{repository}"));
        company.change("control-plane@dev", "gitops.yaml", &text);
        let before = company.head(repository, branch);
        company.kalypso("check -e dev").ends(1).says(&["K0509", "gitops.yaml"]);
        company.kalypso("plan -e dev").ends(1).says(&["K0509"]);
        company.kalypso("publish -e dev --direct").ends(1).says(&["K0509", "Nothing was published"]);
        company.kalypso("publish -e dev").ends(1).says(&["K0509", "Nothing was published"]);
        assert_eq!((company.head(repository, branch), company.head(repository, "kalypso/dev")), (before, None));
    }
}

#[test]
fn the_branch_of_proposals_is_not_the_one_that_clusters_pull() {
    let company = Company::new();
    company.merge("gitops", "kalypso/dev", "dev");
    company.change("control-plane@dev", "gitops.yaml", &gitops("dev", "kalypso/dev", "."));
    let before = company.head("gitops", "kalypso/dev");
    for command in ["publish -e dev", "publish -e dev --direct"] {
        company.kalypso(command).ends(1).says(&["K0510", "gitops.yaml", "Nothing was published"]);
    }
    assert_eq!(company.head("gitops", "kalypso/dev"), before);
}

#[test]
fn output_is_written_below_the_path() {
    let company = Company::new();
    company.change("control-plane@dev", "gitops.yaml", &gitops("dev", "dev", "./clusters/dev/"));
    company.kalypso("publish -e dev --direct").ends(0);
    let files = company.files("gitops", "dev");
    assert!(files.lines().all(|file| file == "README.md" || file.starts_with("clusters/dev/")), "{files}");
    assert!(files.contains("clusters/dev/west/shop-test/platform-config.yaml"));
}

#[test]
fn each_gitops_repo_has_a_branch_of_its_own() {
    let company = Company::new();
    company.commit("gitops", "edge", &[("README.md", "Edge\n".to_owned())]);
    company.change("control-plane@dev", "edge.yaml", &gitops("edge", "edge", "."));
    company.kalypso("publish -e dev").ends(0).says(&["kalypso/dev--dev", "kalypso/dev--edge"]);
    let only = company.kalypso("plan -e dev --gitops-repo edge").ends(2);
    assert!(!only.out.contains("gitops@dev"), "{}", only.out);
    company.kalypso("plan -e dev --gitops-repo none").ends(1).says(&["no GitOpsRepo `none`"]);
}

#[test]
fn a_missing_gitops_branch_is_created() {
    let company = Company::new();
    company.change("control-plane@dev", "gitops.yaml", &gitops("dev", "new", "."));
    company.kalypso("check").ends(0).says(&[
        "K0511",
        "gitops has no branch `new` yet",
        "`kalypso publish -e dev` creates it",
    ]);
    company.kalypso("plan -e dev").ends(2).says(&["gitops@new, a new branch", "+ 2 assignments are added"]);
    company.kalypso("publish -e dev").ends(0).says(&["Published dev to kalypso/dev", "Merge kalypso/dev"]);
    let begun = git(&company.repository("gitops"), &["log", "--format=%an %s", "new"]);
    assert_eq!(begun, "Kalypso dev: begin the branch");
    assert_eq!(git(&company.repository("gitops"), &["ls-tree", "new"]), "");
}

#[test]
fn an_empty_gitops_repository_gets_its_first_branch() {
    let company = Company::new();
    let empty = company.repository("empty");
    git(&company.path("."), &["init", "--quiet", "--bare", empty.to_str().unwrap()]);
    let server = GitServer::start(&company.path("served")).unwrap();
    company.configure(&server.url(), "");
    let named = gitops("dev", "dev", ".").replace(&format!("{HOST}gitops"), &format!("{HOST}empty"));
    company.change("control-plane@dev", "gitops.yaml", &named);
    company.kalypso("publish -e dev --direct").ends(0).says(&["Published dev to dev"]);
    assert!(git(&empty, &["ls-tree", "dev"]).contains("east"));
}

#[test]
fn missing_destination_is_reported() {
    let company = Company::new();
    company.remove("control-plane", "dev", "gitops.yaml");
    company.kalypso("publish -e dev").ends(1).says(&["no GitOpsRepo", "kalypso schema GitOpsRepo"]);
}

#[test]
fn new_cluster_types_and_their_removal_are_counted() {
    let company = Company::new().published();
    company.change("control-plane@dev", "cluster-types/north.yaml", &cluster_type("north", "north-us"));
    company.kalypso("plan -e dev").ends(2).says(&["1 assignment is added", "policy shop"]);
    let files: Vec<_> = dev().into_iter().filter(|(path, _)| !path.contains("policies")).collect();
    company.commit("control-plane", "dev", &files);
    company.kalypso("plan -e dev").ends(2).says(&["2 assignments are removed", "no policy assigns"]);
}
