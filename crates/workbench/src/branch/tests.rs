//! Tests of edits in real working trees.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use delivery::access::{ControlPlaneSettings, StateKeys};
use delivery::output::compilation::KnownResults;
use git::Edits;
use model::progress::Progress;
use model::rollout::EnvironmentOrder;
use tempfile::TempDir;

use super::*;

const URL: &str = "https://git.example/acme/control-plane";
const COMMON: &str = "configs/common.yaml";

/// A control plane with `main` and `dev`, each in its own working tree.
struct Repository(TempDir);

impl Repository {
    fn new() -> Self {
        let repository = Self(TempDir::new().unwrap());
        repository.git(".", &["init", "--quiet", "--initial-branch=main", "control-plane"]);
        for setting in [["user.name", "Ann"], ["user.email", "ann@example.com"]] {
            repository.git("control-plane", &["config", setting[0], setting[1]]);
        }
        let place = format!("{{repo: '{URL}', branch: dev, path: .}}");
        let environment = object("Environment", "dev", &format!("  controlPlane: {place}\n"));
        repository.write("control-plane/.environments/dev.yaml", &environment);
        repository.commit("control-plane");
        repository.git("control-plane", &["worktree", "add", "--quiet", "-b", "dev", "../dev"]);
        let base = format!("  repo: {URL}\n  branch: main\n  path: .\n");
        repository.write("dev/base.yaml", &object("BaseRepo", "main", &base));
        repository.write(&format!("dev/{COMMON}"), &config("A: b"));
        repository.commit("dev");
        repository
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn git(&self, folder: &str, arguments: &[&str]) -> String {
        let output = Command::new("git").current_dir(self.path(folder)).args(arguments).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    fn commit(&self, folder: &str) {
        self.git(folder, &["add", "--all"]);
        self.git(folder, &["commit", "--quiet", "-m", "A change"]);
    }

    fn access(&self) -> Arc<RepositoryAccess> {
        let to = format!("{}/", self.0.path().display());
        let rewrite = vec![git::Rewrite { from: "https://git.example/acme/".to_owned(), to }];
        let git = git::Settings { rewrite, base: self.0.path().to_owned(), ..git::Settings::new(self.path("cache")) };
        let repo = RepositoryUrl::from_configuration(URL).unwrap();
        let settings = ControlPlaneSettings {
            repo,
            branch: "main".to_owned(),
            git,
            acknowledgements: Arc::default(),
            state_keys: StateKeys::default(),
            environment_order: EnvironmentOrder::default(),
        };
        Arc::new(RepositoryAccess::new(settings, Progress::default()))
    }

    fn open(&self, environment: Option<&str>, place: EditPlace<'_>) -> Result<ControlPlaneBranch, Error> {
        let name = environment.map(|name| EnvironmentName::new(name).unwrap());
        let of = name.as_ref().map_or(BranchOf::Main, BranchOf::Environment);
        ControlPlaneBranch::open(&self.access(), of, place)
    }

    fn dev(&self) -> ControlPlaneBranch {
        self.open(Some("dev"), EditPlace::WorkingTree(None)).unwrap()
    }
}

fn object(kind: &str, name: &str, spec: &str) -> String {
    format!("apiVersion: scheduler.kalypso.io/v1alpha1\nkind: {kind}\nmetadata:\n  name: {name}\nspec:\n{spec}")
}

fn config(data: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: common\n  labels:\n    platform-config: 'true'\ndata:\n  {data}\n"
    )
}

fn edits(files: &[(&str, Option<&str>)]) -> Edits {
    let edit = |(path, text): &(&str, Option<&str>)| (Arc::from(*path), text.map(|text| text.as_bytes().into()));
    files.iter().map(edit).collect()
}

#[track_caller]
fn check_fails<T>(result: Result<T, impl Into<Error>>, words: &[&str]) {
    let failure = result.err().unwrap().into().failure().unwrap();
    let text = format!("{} {}", failure.message, failure.help.clone().unwrap_or_default());
    for word in words {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
}

#[test]
fn a_branch_is_edited_where_it_is_checked_out() {
    let repository = Repository::new();
    let dev = repository.dev();
    assert_eq!(dev.root(), Some(&*repository.path("dev").canonicalize().unwrap()));
    assert_eq!((&*dev.name(), dev.folder(), dev.uncommitted()), ("dev", "", &[][..]));
    let paths: Vec<_> = dev.files().keys().map(|path| &**path).collect();
    assert_eq!(paths, [".environments/dev.yaml", "base.yaml", COMMON]);
    let main = repository.open(None, EditPlace::WorkingTree(None)).unwrap();
    assert_eq!(main.root(), Some(&*repository.path("control-plane").canonicalize().unwrap()));
    check_fails(repository.open(Some("dex"), EditPlace::Head), &["no environment `dex`", "did you mean `dev`"]);
}

#[test]
fn uncommitted_and_new_files_count_and_ignored_ones_do_not() {
    let repository = Repository::new();
    repository.write(&format!("dev/{COMMON}"), &config("A: changed"));
    repository.write("dev/new file.yaml", "a: b\n");
    repository.write("dev/.gitignore", "ignored.yaml\n");
    repository.write("dev/ignored.yaml", "a: b\n");
    fs::remove_file(repository.path("dev/base.yaml")).unwrap();
    let dev = repository.dev();
    let paths: Vec<_> = dev.files().keys().map(|path| &**path).collect();
    assert_eq!(paths, [".environments/dev.yaml", COMMON, "new file.yaml"]);
    assert_eq!(&*dev.files()[COMMON], config("A: changed").as_bytes());
    assert_eq!(dev.uncommitted(), ["base.yaml".into(), COMMON.into(), Arc::<str>::from("new file.yaml")]);
    let head = repository.open(Some("dev"), EditPlace::Head).unwrap();
    assert_eq!(&*head.files()[COMMON], config("A: b").as_bytes());
    assert!(head.root().is_none() && head.files().contains_key("base.yaml"));
}

#[test]
fn a_branch_that_is_checked_out_nowhere_is_an_error_with_advice() {
    let repository = Repository::new();
    repository.git("control-plane", &["worktree", "remove", "../dev"]);
    let open = repository.open(Some("dev"), EditPlace::WorkingTree(None));
    check_fails(open, &["branch `dev` of", "is checked out nowhere", "has branch `main`", "switch dev", "--propose"]);
    repository.git("control-plane", &["switch", "--quiet", "--detach", "dev"]);
    check_fails(repository.open(Some("dev"), EditPlace::WorkingTree(None)), &["has no branch"]);
    assert!(repository.open(Some("dev"), EditPlace::Head).is_ok());
}

#[test]
fn edits_change_exactly_their_files() {
    let repository = Repository::new();
    let dev = repository.dev();
    let edits = edits(&[(COMMON, Some("a: b\r\n")), ("a b/new.yaml", Some("new")), ("base.yaml", None)]);
    dev.write(&edits).unwrap();
    assert_eq!(repository.text(&format!("dev/{COMMON}")), "a: b\r\n");
    assert_eq!(repository.text("dev/a b/new.yaml"), "new");
    let status = repository.git("dev", &["status", "--porcelain", "--untracked-files=all"]);
    assert_eq!(status, "D base.yaml\n M configs/common.yaml\n?? \"a b/new.yaml\"");
}

#[cfg(unix)]
#[test]
fn permissions_stay_and_links_are_not_followed() {
    use std::os::unix::fs::PermissionsExt as _;
    let repository = Repository::new();
    let path = repository.path(&format!("dev/{COMMON}"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    repository.dev().write(&edits(&[(COMMON, Some("a: b"))])).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o755);
    fs::remove_dir_all(repository.path("dev/configs")).unwrap();
    std::os::unix::fs::symlink(repository.path("control-plane"), repository.path("dev/configs")).unwrap();
    let dev = repository.dev();
    assert!(!dev.files().contains_key(COMMON));
    check_fails(dev.write(&edits(&[("configs/x.yaml", Some("a"))])), &["symbolic link"]);
    assert!(!repository.path("control-plane/x.yaml").exists());
}

#[test]
fn a_file_that_changed_meanwhile_stays() {
    let repository = Repository::new();
    let dev = repository.dev();
    repository.write(&format!("dev/{COMMON}"), "mine");
    repository.write("dev/new.yaml", "mine");
    check_fails(dev.write(&edits(&[(COMMON, Some("theirs"))])), &["changed while it was edited"]);
    assert_eq!(dev.read("new.txt").unwrap(), None);
    repository.write("dev/new.txt", "mine");
    let both = edits(&[("base.yaml", Some("theirs")), ("new.txt", Some("theirs"))]);
    check_fails(dev.write(&both), &["new.txt", "changed while it was edited"]);
    assert_ne!(repository.text("dev/base.yaml"), "theirs");
}

#[test]
fn unfinished_merge_is_not_edited() {
    let repository = Repository::new();
    repository.git("dev", &["switch", "--quiet", "-c", "other", "HEAD~1"]);
    repository.write(&format!("dev/{COMMON}"), &config("A: other"));
    repository.commit("dev");
    repository.git("dev", &["switch", "--quiet", "dev"]);
    let merge = Command::new("git").current_dir(repository.path("dev")).args(["merge", "--quiet", "other"]).output();
    assert!(!merge.unwrap().status.success());
    let dev = repository.dev();
    check_fails(dev.check_writable(), &["`git merge` is not finished", "merge --continue", "--abort"]);
    check_fails(dev.write(&edits(&[("base.yaml", Some("a"))])), &["is not finished"]);
}

#[test]
fn a_branch_that_is_being_rebased_is_found_and_left_alone() {
    let repository = Repository::new();
    repository.write("dev/more.yaml", "a: b\n");
    repository.commit("dev");
    let editor = "GIT_SEQUENCE_EDITOR=sed -i s/^pick/edit/";
    let (name, value) = editor.split_once('=').unwrap();
    let mut rebase = Command::new("git");
    let rebase = rebase.current_dir(repository.path("dev")).env(name, value).args(["rebase", "-i", "HEAD~1"]);
    assert!(rebase.output().unwrap().status.success());
    let dev = repository.dev();
    check_fails(dev.write(&edits(&[("base.yaml", Some("a"))])), &["`git rebase` is not finished", "rebase --continue"]);
}

#[test]
fn a_commit_has_only_the_edited_files() {
    let repository = Repository::new();
    repository.write("dev/staged.yaml", "a: b\n");
    repository.git("dev", &["add", "staged.yaml"]);
    repository.write("dev/other.yaml", "a: b\n");
    let dev = repository.dev();
    let edits = edits(&[("new [1].yaml", Some("a: c\n")), ("base.yaml", None)]);
    dev.write(&edits).unwrap();
    let committed = dev.commit(&edits, "Add a file").unwrap();
    assert_eq!(repository.git("dev", &["rev-parse", "HEAD"]), committed.id.to_string());
    let shown = repository.git("dev", &["show", "--name-status", "--format=%s %an"]);
    assert_eq!(shown, "Add a file Ann\n\nD\tbase.yaml\nA\tnew [1].yaml");
    assert_eq!(repository.git("dev", &["status", "--porcelain"]), "A  staged.yaml\n?? other.yaml");
}

#[cfg(unix)]
#[test]
fn a_hook_that_refuses_leaves_the_files_edited() {
    use std::os::unix::fs::PermissionsExt as _;
    let repository = Repository::new();
    repository.write("control-plane/.git/hooks/pre-commit", "#!/bin/sh\necho no commits on Fridays >&2\nexit 1\n");
    let hook = repository.path("control-plane/.git/hooks/pre-commit");
    fs::set_permissions(hook, fs::Permissions::from_mode(0o755)).unwrap();
    let dev = repository.dev();
    let edits = edits(&[("new.yaml", Some("a: c\n"))]);
    dev.write(&edits).unwrap();
    check_fails(
        dev.commit(&edits, "Add"),
        &["git commit failed", "no commits on Fridays", "changed, but not committed"],
    );
    assert_eq!(repository.git("dev", &["status", "--porcelain"]), "?? new.yaml");
}

/// The environment `dev` before and after edits of a branch.
fn check_change(branch: &ControlPlaneBranch, edits: &Edits, errors: &[&str]) {
    let changes = branch.changes(edits);
    assert_eq!(changes.changed.len(), 1);
    let comparison = EditComparison::new(&changes.changed[0], KnownResults::new(None), &Progress::default()).unwrap();
    let found: Vec<_> = comparison.new_errors().iter().map(|error| error.code.id()).collect();
    assert_eq!(found, errors, "{:?}", comparison.new_errors());
}

#[test]
fn changes_build_on_uncommitted_files() {
    let repository = Repository::new();
    repository.write("dev/broken.yaml", "a: [\n");
    let dev = repository.dev();
    check_change(&dev, &edits(&[(COMMON, Some(&config("A: c")))]), &[]);
    check_change(&dev, &edits(&[("new.yaml", Some("a: ["))]), &["K0101"]);
    check_change(&dev, &edits(&[("second.yaml", Some(&config("A: d")))]), &["K0111"]);
}

#[test]
fn edits_of_main_change_the_environments_that_follow_it() {
    let repository = Repository::new();
    let edit = edits(&[("configs/all.yaml", Some(&config("B: c").replace("common", "all")))]);
    let main = || repository.open(None, EditPlace::WorkingTree(None)).unwrap();
    let changes = main().changes(&edit);
    assert_eq!((changes.changed.len(), changes.pinned.len()), (1, 0));
    let head = repository.git("control-plane", &["rev-parse", "main"]);
    repository.write("dev/base.yaml", &(repository.text("dev/base.yaml") + &format!("  commit: {head}\n")));
    repository.commit("dev");
    let changes = main().changes(&edit);
    assert_eq!(changes.changed.len(), 0);
    assert_eq!(changes.pinned[0].1.to_string(), head);
    let stage = object("Environment", "stage", &format!("  controlPlane: {{repo: '{URL}', branch: dev, path: .}}\n"));
    let added = main().changes(&edits(&[(".environments/stage.yaml", Some(&stage))]));
    assert_eq!(added.added[0].fleet.environment.as_str(), "stage");
    let removed = main().changes(&edits(&[(".environments/dev.yaml", None)]));
    assert_eq!(removed.removed, [EnvironmentName::new("dev").unwrap()]);
}

#[test]
fn a_proposal_is_a_branch_with_one_commit() {
    let repository = Repository::new();
    let dev = repository.open(Some("dev"), EditPlace::Head).unwrap();
    let propose = |text: &str| {
        let edits = edits(&[("new.yaml", Some(text))]);
        let proposal =
            NewProposal { edits: &edits, branch: "add/config-x", title: "Add config x", body: &|_| "Why.".to_owned() };
        dev.propose(proposal, None)
    };
    let first = propose("a: b\n").unwrap();
    assert!(!first.change.is_known && first.text().contains("Merge add/config-x into dev"), "{}", first.text());
    assert_eq!(
        repository.git("control-plane", &["rev-parse", "add/config-x~1"]),
        repository.git("dev", &["rev-parse", "HEAD"])
    );
    assert!(propose("a: b\n").unwrap().change.is_known);
    assert!(!propose("a: c\n").unwrap().change.is_known);
    assert_eq!(repository.git("control-plane", &["show", "add/config-x:new.yaml"]), "a: c");
    assert_eq!(repository.git("dev", &["status", "--porcelain"]), "");
    repository.git("dev", &["switch", "--quiet", "add/config-x"]);
    repository.write("dev/new.yaml", "a: mine\n");
    repository.commit("dev");
    check_fails(propose("a: d\n"), &["branch `add/config-x` of", "of Ann", "merge or delete branch"]);
}
