//! `kalypso init`: new platforms, on this machine, with remote repositories, and on a git host.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use git_host::HostKind;
use git_host::double::{BareRepository, HostDouble};
use git_host::hosts::memory::{Denial, MemoryHost};
use tempfile::TempDir;
use testkit::git_server::GitServer;

use crate::company::{Ran, git, kalypso};

const TOKEN: &str = "t0ken-of-kalypso";

/// A folder in which platforms begin.
struct Room(TempDir);

impl Room {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.0.path().join(relative)
    }

    fn kalypso(&self, arguments: &str) -> Ran {
        Ran::new(kalypso(self.0.path()).args(arguments.split_whitespace()))
    }

    fn init(&self, arguments: &str) -> Ran {
        self.kalypso(&format!("init platform {arguments}"))
    }

    /// A bare repository that a server serves.
    fn served(&self, name: &str) -> PathBuf {
        let path = self.path("served").join(name);
        fs::create_dir_all(&path).unwrap();
        git(&path, &["init", "--quiet", "--bare"]);
        path
    }
}

fn branches(repository: &Path) -> String {
    git(repository, &["for-each-ref", "--format=%(refname:short)", "refs/heads"]).replace('\n', " ")
}

/// The commits and the working trees of a platform.
fn state(platform: &Path) -> Vec<String> {
    let folders = ["control-plane", "environments/dev", "environments/stage", "environments/prod"];
    let of = |folder| {
        let folder = platform.join(folder);
        [git(&folder, &["rev-parse", "HEAD^{tree}"]), git(&folder, &["status", "--porcelain"])].concat()
    };
    folders.into_iter().map(of).collect()
}

#[test]
fn platform_is_created_in_a_new_folder() {
    let room = Room::new();
    let ran = room.init("").ends(0);
    ran.says(&["Made a platform in ./platform", "--environments dev,stage,prod --reconcilers flux", "cd platform"]);
    let platform = room.path("platform");
    assert_eq!(branches(&platform.join("control-plane")), "dev main prod stage");
    assert_eq!(git(&platform.join("environments/prod"), &["branch", "--show-current"]), "prod");
    assert!(state(&platform).iter().all(|state| state.len() == 40), "nothing is uncommitted");
    room.kalypso("check --strict --config platform/kalypso.toml").ends(0).says(&["K0511", "creates them"]);
    room.kalypso("plan -e dev --config platform/kalypso.toml").ends(0).says(&["a new branch"]);
    room.kalypso("publish -e dev --direct --config platform/kalypso.toml").ends(0);
    assert_eq!(branches(&platform.join("platform-gitops.git")), "dev");
}

#[test]
fn a_second_run_changes_nothing() {
    let room = Room::new();
    room.init("--reconcilers argocd").ends(0);
    let platform = room.path("platform");
    fs::write(platform.join("kalypso.toml"), fs::read_to_string(platform.join("kalypso.toml")).unwrap() + "# mine\n")
        .unwrap();
    let before = state(&platform);
    room.init("").ends(0).says(&["is complete", "kept", "kalypso.toml"]);
    assert_eq!(state(&platform), before);
    assert!(fs::read_to_string(platform.join("kalypso.toml")).unwrap().ends_with("# mine\n"));
    room.init("--reconcilers flux").ends(64).says(&["another --reconcilers: argocd", "add template"]);
    room.init("--environments dev").ends(64).says(&["another --environments: dev,stage,prod", "add environment"]);
}

#[test]
fn an_interrupted_run_is_completed() {
    let room = Room::new();
    let platform = room.path("platform");
    let check = |interrupt: &dyn Fn()| {
        if platform.exists() {
            fs::remove_dir_all(&platform).unwrap();
        }
        room.init("").ends(0);
        let whole = state(&platform);
        interrupt();
        room.init("").ends(0).says(&["Completed the platform"]);
        assert_eq!(state(&platform), whole);
    };
    let remove = |path: &str| fs::remove_dir_all(platform.join(path)).unwrap();
    check(&|| ["control-plane", "environments", "platform-gitops.git"].into_iter().for_each(remove));
    check(&|| remove("platform-gitops.git"));
    check(&|| remove("environments/prod"));
    check(&|| fs::remove_file(platform.join("kalypso.toml")).unwrap());
    check(&|| {
        // Killed while git checks files out.
        let metadata = platform.join("control-plane/.git/worktrees/stage");
        fs::rename(metadata.join("index"), metadata.join("index.lock")).unwrap();
        fs::remove_file(platform.join("environments/stage/base-repo.yaml")).unwrap();
    });
    check(&|| {
        // Killed while git adds a working tree.
        fs::write(platform.join("control-plane/.git/worktrees/dev/locked"), "initializing").unwrap();
        remove("environments/dev");
    });
}

#[test]
fn only_an_empty_folder_is_taken() {
    let room = Room::new();
    fs::create_dir(room.path("platform")).unwrap();
    fs::write(room.path("platform/notes.txt"), "mine").unwrap();
    room.init("").ends(64).says(&["is not empty", "kalypso init platform"]);
    assert_eq!(fs::read_dir(room.path("platform")).unwrap().count(), 1);
}

#[test]
fn wrong_answers_are_refused_before_anything_is_written() {
    let room = Room::new();
    let check = |arguments: &str, words: &[&str]| {
        room.init(arguments).ends(64).says(words);
        assert!(!room.path("platform").exists(), "{arguments}");
    };
    check("--environments Dev", &["\"Dev\" is not the name of an environment"]);
    check("--environments dev,prod,dev", &["`dev` is named twice"]);
    check("--environments main", &["no environment can be named `main`"]);
    check("--reconcilers fluxx", &["no pack for a reconciler `fluxx`", "flux, argocd"]);
    check("--host svn --owner acme", &["no kind of git host"]);
    check("--host git --owner acme", &["a plain git server has no API"]);
    check("--control-plane https://me:s3cret@git.example/a", &["password or token"]);
    check("--environments dev --like microsoft", &["cannot be used with"]);
}

#[test]
fn commits_have_the_name_of_the_user_if_git_knows_it() {
    let author = |room: &Room| git(&room.path("platform/control-plane"), &["log", "-1", "--format=%an %ae", "dev"]);
    let room = Room::new();
    fs::write(room.path(".gitconfig"), "[user]\nname = Ann Ops\nemail = ann@acme.example\n[core]\nhooksPath = /x\n")
        .unwrap();
    room.init("").ends(0);
    assert_eq!(author(&room), "Ann Ops ann@acme.example");
    let room = Room::new();
    fs::write(room.path(".gitconfig"), "[user]\nuseConfigOnly = true\n").unwrap();
    room.init("").ends(0).says(&["git config --global user.name"]);
    assert_eq!(author(&room), "Kalypso kalypso@localhost");
}

/// The options for the repositories of a server.
fn remotes(server: &GitServer) -> String {
    let url = |name: &str| format!("{}{name}", server.url());
    format!(
        "--control-plane {} --gitops {} --base-url https://git.example/acme --environments dev",
        url("control-plane"),
        url("gitops")
    )
}

#[test]
fn remote_repositories_get_the_branches() {
    let room = Room::new();
    let (control_plane, gitops) = (room.served("control-plane"), room.served("gitops"));
    let server = GitServer::start(&room.path("served")).unwrap();
    room.init(&remotes(&server)).ends(0).says(&["control-plane: main, dev"]);
    assert_eq!((branches(&control_plane), branches(&gitops)), ("dev main".to_owned(), String::new()));
    let clone = room.path("platform/control-plane");
    assert_eq!(git(&clone, &["rev-parse", "--abbrev-ref", "dev@{upstream}"]), "origin/dev");
    room.init(&remotes(&server)).ends(0).says(&["is complete"]);
    room.kalypso("publish -e dev --direct --config platform/kalypso.toml").ends(0);
    assert_eq!(branches(&gitops), "dev");
}

#[test]
fn interrupted_push_is_completed() {
    let room = Room::new();
    let (control_plane, _) = (room.served("control-plane"), room.served("gitops"));
    let server = GitServer::start(&room.path("served")).unwrap();
    room.init(&remotes(&server)).ends(0);
    git(&control_plane, &["update-ref", "-d", "refs/heads/dev"]);
    room.init("").ends(0).says(&["Completed"]);
    assert_eq!(branches(&control_plane), "dev main");
}

#[test]
fn a_repository_that_is_not_empty_or_refuses_is_named() {
    let room = Room::new();
    let (control_plane, _) = (room.served("control-plane"), room.served("gitops"));
    let server = GitServer::start(&room.path("served")).unwrap();
    let options = remotes(&server);
    room.init(&options.replace("/gitops", "/missing")).ends(69).says(&["missing can't be read"]);
    let empty_tree = git(&control_plane, &["hash-object", "-t", "tree", "-w", "--stdin"]);
    let identity = ["-c", "user.name=a", "-c", "user.email=a@b"];
    let commit = git(&control_plane, &[&identity[..], &["commit-tree", "-m", "theirs", &empty_tree]].concat());
    git(&control_plane, &["update-ref", "refs/heads/theirs", &commit]);
    room.init(&options).ends(1).says(&["is not empty: it has the branch theirs"]);
    assert_eq!(branches(&control_plane), "theirs");
    assert!(!room.path("platform/control-plane").exists());
    server.require("Basic bm9ib2R5");
    room.init(&options).ends(69).says(&["control-plane can't be read", "git ls-remote"]);
}

/// A git host that creates repositories, and a server for git beside it.
fn hosted(room: &Room) -> (MemoryHost, HostDouble, GitServer) {
    let host = MemoryHost::new(HostKind::Gitea);
    let served = room.path("served");
    fs::create_dir(&served).unwrap();
    let root = served.clone();
    host.state().make_branches_with(move |path| {
        let path = root.join(path);
        fs::create_dir_all(&path).unwrap();
        git(&path, &["init", "--quiet", "--bare"]);
        Box::new(BareRepository::open(&path).unwrap())
    });
    let double = HostDouble::start(&host).unwrap();
    double.accept_token(TOKEN, "kalypso-bot");
    let server = GitServer::start(&served).unwrap();
    let basic = base64::engine::general_purpose::STANDARD.encode(format!("x-access-token:{TOKEN}"));
    server.require(&format!("Basic {basic}"));
    (host, double, server)
}

#[test]
fn a_git_host_creates_the_repositories() {
    let room = Room::new();
    let (host, double, server) = hosted(&room);
    let init = |token: &str| {
        let (pages, api) = (server.url(), double.url());
        let options = format!(
            "init platform --host gitea --host-url {pages} --host-api-url {api}/api/v1 --owner acme --create --base-url https://git.example/acme"
        );
        Ran::new(kalypso(room.0.path()).env("KALYPSO_HOST_TOKEN", token).args(options.split_whitespace()))
    };
    init("").ends(64).says(&["--create needs a token", "KALYPSO_HOST_TOKEN"]);
    host.state().creation_denial = Some(Denial::Forbidden);
    init(TOKEN).ends(1).says(&["control-plane can't be created", "do not allow this", "--owner"]);
    host.state().creation_denial = None;
    let ran = init(TOKEN).ends(0).says(&["acme/control-plane", "acme/platform-gitops"]);
    assert!(!ran.out.contains(TOKEN) && !ran.err.contains(TOKEN));
    assert_eq!(branches(&room.path("served/acme/control-plane")), "dev main prod stage");
    let files = ["kalypso.toml", ".kalypso/init.json", "control-plane/.git/config"];
    let is_written = |name| fs::read_to_string(room.path("platform").join(name)).unwrap().contains(TOKEN);
    assert!(!files.into_iter().any(is_written), "the token is written nowhere");
    init(TOKEN).ends(0).says(&["is complete"]);
}

#[test]
fn a_platform_like_microsofts_has_its_output() {
    let room = Room::new();
    room.init("--like microsoft").ends(0).says(&["app-src", "+ 2 assignments are added"]);
    let folders = git(&room.path("platform/environments/dev"), &["ls-files"]).replace('\n', " ");
    assert_eq!(
        folders,
        "README.md base-repo.yaml cluster-types/dev/dev-cluster-type.yaml configs/dev-config.yaml gitops-repo.yaml scheduling/dev-policy.yaml"
    );
    room.kalypso("render -e dev --config platform/kalypso.toml --out out --strict").ends(0);
    let read = |path: &str| fs::read_to_string(room.path("out").join(path)).unwrap();
    let namespace = "\
apiVersion: v1
kind: Namespace
metadata:
  name: \"hello-world-app-functional-test\"
  labels:
    environment: \"dev\"
    workspace: \"kaizen-app-team\"
    workload: \"hello-world-app\"
    deploymentTarget: \"hello-world-app-functional-test\"
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: \"hello-world-app-sa\"
  namespace: \"hello-world-app-functional-test\"

";
    assert_eq!(read("dev/hello-world-app-functional-test/namespace.yaml"), namespace);
    let reconciler = read("dev/hello-world-app-performance-test/reconciler.yaml");
    assert_eq!(reconciler.matches("name: \"dev.hello-world-app.hello-world-app-performance-test\"").count(), 3);
    assert!(reconciler.contains("name: \"platform-dev-auth\"") && reconciler.contains("prune: true"), "{reconciler}");
    let values = read("dev/hello-world-app-functional-test/platform-config.yaml");
    let data = "data:\n  ENVIRONMENT: Dev\n  SOME_DEV_ENVIRONMENT_VARIABLE: \"true\"\n";
    assert!(values.ends_with(data) && values.contains("namespace: hello-world-app-functional-test\n"), "{values}");
    assert!(!room.path("out/.github").exists(), "without a promoted commit there is no tracking file");
}
