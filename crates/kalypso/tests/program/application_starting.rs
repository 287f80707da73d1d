//! `kalypso app init`: the repositories of an application, from an empty folder to a deployment.

use std::fs;
use std::path::PathBuf;

use base64::Engine as _;
use git_host::HostKind;
use git_host::double::{BareRepository, HostDouble};
use git_host::hosts::memory::MemoryHost;
use tempfile::TempDir;
use testkit::git_server::GitServer;

use crate::application_world::path_with_helm;
use crate::company::{Ran, git, kalypso};

const TOKEN: &str = "t0ken-of-kalypso";

/// A folder in which applications begin.
struct Room(TempDir);

impl Room {
    fn new() -> Self {
        let room = Self(TempDir::new().unwrap());
        fs::write(room.path(".gitconfig"), "[user]\nname = Ann\nemail = ann@acme.example\n").unwrap();
        room
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.0.path().join(relative)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    /// Runs the program in a folder below.
    fn kalypso(&self, folder: &str, arguments: &str) -> Ran {
        let mut command = kalypso(&self.path(folder));
        command.env("HOME", self.0.path()).env("KALYPSO_CACHE_DIR", self.path("cache"));
        command.envs(path_with_helm().map(|path| ("PATH", path)));
        Ran::new(command.args(arguments.split_whitespace()))
    }

    fn init(&self, arguments: &str) -> Ran {
        self.kalypso(".", &format!("app init shop {arguments}"))
    }

    /// The files of a branch.
    fn files(&self, repository: &str, branch: &str) -> String {
        git(&self.path(repository), &["ls-tree", "-r", "--name-only", branch]).replace('\n', " ")
    }
}

/// Whether there is Helm. If not, it says what is skipped.
fn has_helm() -> bool {
    path_with_helm().is_some()
}

const CHART: &str = "apiVersion: v2\nname: till\nversion: 0.1.0\n";

const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\ndata:\n  currency: {{ .Values.currency | default \"USD\" }}\n";

const WORKLOAD: &str = "\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata: {name: till}
spec:
  deploymentTargets:
  - {name: eu, environment: dev, manifests: {repo: 'https://git.example/acme/manifests', branch: dev, path: ./eu}}
  - {name: eu, environment: stage, manifests: {repo: 'https://git.example/acme/manifests', branch: stage, path: ./eu}}
  - {name: us, environment: stage, manifests: {repo: 'https://git.example/acme/manifests', branch: stage, path: ./us}}
";

#[test]
fn an_empty_folder_becomes_a_deployed_application() {
    let room = Room::new();
    room.init("--workspace store-team").ends(0).says(&["Made the application shop in ./shop", "    cd shop\n"]);
    assert_eq!(git(&room.path("shop"), &["status", "--porcelain"]), "");
    assert_eq!(git(&room.path("shop"), &["log", "--format=%an %s"]), "Ann Describe the application");
    if !has_helm() {
        return;
    }
    room.kalypso("shop", "app check --strict").ends(0).says(&["nothing wrong"]);
    room.kalypso("shop", "app render -e dev shop").ends(0).says(&["image: \"registry.example/shop:0.0.0-local\""]);
    room.kalypso("shop", "app deploy -e dev --version 1.0.0").ends(0).says(&["+ shop", "to dev"]);
    let manifests = git(&room.path("shop-gitops.git"), &["show", "dev:shop/manifests.yaml"]);
    assert!(manifests.contains("image: \"registry.example/shop:1.0.0\"") && manifests.contains("platform-config"));
    let tracking = ".github/tracking/";
    let tracked =
        ["Config_Commit_Id", "Image_tag", "Promoted_Commit_Id", "Version"].map(|name| format!("{tracking}{name}"));
    let expected =
        format!("{} README.md shop/descriptor.yaml shop/kustomization.yaml shop/manifests.yaml", tracked.join(" "));
    assert_eq!(room.files("shop-gitops.git", "dev"), expected);
}

#[test]
fn plain_manifests_need_no_program() {
    let room = Room::new();
    room.init("--workspace store-team --source manifests -e dev,stage --target eu,us").ends(0);
    room.kalypso("shop", "app check --strict").ends(0);
    room.kalypso("shop", "app render -e dev us")
        .ends(0)
        .says(&["name: us", "image: registry.example/shop:0.0.0-local"]);
    room.kalypso("shop", "app deploy -e stage --version 1.0.0").ends(0).says(&["+ eu", "+ us", "to stage"]);
    assert_eq!(room.files("shop-gitops.git", "dev"), "README.md");
}

#[test]
fn a_chart_and_a_workload_that_exist_are_used() {
    let room = Room::new();
    let files = [
        ("shop/deploy/chart/Chart.yaml", CHART),
        ("shop/deploy/chart/templates/configmap.yaml", CONFIG_MAP),
        ("shop/workload/workload.yaml", WORKLOAD),
    ];
    files.iter().for_each(|(path, text)| room.write(path, text));
    git(&room.path("shop"), &["init", "--quiet"]);
    git(&room.path("shop"), &["add", "."]);
    git(&room.path("shop"), &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "theirs"]);
    let ran = room.init("--workspace store-team").ends(0);
    ran.says(&[
        "kept  workload/workload.yaml",
        "deploy/chart",
        "commit the files",
        "git add",
        "manifests, and kalypso-app.toml names",
    ]);
    let status = git(&room.path("shop"), &["status", "--porcelain", "--untracked-files=all"]).replace('\n', " ");
    let values =
        ["dev/eu", "dev", "stage/eu", "stage/us", "stage"].map(|folder| format!("?? values/{folder}/values.yaml"));
    assert_eq!(status, format!("?? kalypso-app.toml {}", values.join(" ")), "the user commits");
    assert!(files.iter().all(|(path, text)| room.read(path) == *text));
    room.write("shop/values/dev/eu/values.yaml", "currency: EUR\n");
    if has_helm() {
        room.kalypso("shop", "app check").ends(0).says(&["nothing wrong"]);
        room.kalypso("shop", "app render -e dev eu").ends(0).says(&["currency: EUR"]);
    }
}

#[test]
fn a_second_run_changes_nothing() {
    let room = Room::new();
    room.init("--workspace store-team --configs shop-configs").ends(0).says(&["../shop-configs: dev"]);
    room.write("shop/chart/values.yaml", "image: mine\n");
    let heads =
        || ["shop", "shop-configs", "shop-gitops.git"].map(|name| git(&room.path(name), &["rev-parse", "--all"]));
    let before = heads();
    let text = room.read("shop/kalypso-app.toml");
    room.init("").ends(0).says(&["The application shop in ./shop is complete", "kept", "kalypso-app.toml"]);
    room.kalypso("shop", "app init --workspace store-team").ends(0).says(&["is complete"]);
    assert_eq!((heads(), room.read("shop/kalypso-app.toml")), (before, text));
    assert_eq!(room.read("shop/chart/values.yaml"), "image: mine\n");
    room.init("--workspace other-team").ends(64).says(&["another workspace: store-team", "edit the file"]);
}

#[test]
fn an_interrupted_run_is_completed() {
    let room = Room::new();
    let check = |interrupt: &dyn Fn()| {
        for name in ["shop", "shop-configs", "shop-gitops.git"] {
            let _ = fs::remove_dir_all(room.path(name));
        }
        room.init("--workspace store-team --configs shop-configs").ends(0);
        let all = || {
            let configs = room.files("shop-configs", "dev");
            [room.files("shop", "HEAD"), configs, room.files("shop-gitops.git", "dev")]
        };
        let whole = all();
        interrupt();
        room.init("--workspace store-team --configs shop-configs").ends(0).says(&["Completed the application"]);
        assert_eq!(all(), whole);
    };
    check(&|| fs::remove_dir_all(room.path("shop-gitops.git")).unwrap());
    check(&|| fs::remove_dir_all(room.path("shop-configs")).unwrap());
    check(&|| drop(git(&room.path("shop-gitops.git"), &["update-ref", "-d", "refs/heads/dev"])));
    check(&|| fs::remove_dir_all(room.path("shop/.git")).unwrap());
    check(&|| {
        // Killed before the last files were written.
        fs::remove_dir_all(room.path("shop/.git")).unwrap();
        fs::remove_file(room.path("shop/kalypso-app.toml")).unwrap();
        fs::remove_file(room.path("shop/chart/Chart.yaml")).unwrap();
        fs::remove_file(room.path("shop/chart/values.yaml")).unwrap();
    });
}

#[test]
fn an_application_like_microsofts_has_its_layout() {
    let room = Room::new();
    room.init("--workspace store-team --like microsoft -e dev,stage --target functional-test").ends(0);
    assert_eq!(room.files("shop-configs", "stage"), "functional-test/values.yaml");
    assert!(room.path("shop-configs/functional-test/values.yaml").is_file(), "dev is checked out");
    assert_eq!(git(&room.path("shop-configs"), &["status", "--porcelain"]), "");
    if !has_helm() {
        return;
    }
    room.kalypso("shop", "app check --strict").ends(0);
    room.kalypso("shop", "app deploy -e dev --version 1.0.0 --image-tag 1.0.0-57").ends(0).says(&["Proposed for dev"]);
    let commit = git(&room.path("shop"), &["rev-parse", "HEAD"]);
    let branch = format!("deploy/{commit}/dev");
    let files = room.files("shop-gitops.git", &branch);
    assert!(files.contains("functional-test/gen_manifests.yaml functional-test/kustomization.yaml"), "{files}");
    let show = |path: &str| git(&room.path("shop-gitops.git"), &["show", &format!("{branch}:{path}")]);
    assert!(show("functional-test/gen_manifests.yaml").contains("image: \"registry.example/shop:1.0.0-57\""));
    assert_eq!(
        (show(".github/tracking/Promoted_Commit_Id"), show(".github/tracking/Version")),
        (commit, "1.0.0".to_owned())
    );
}

#[test]
fn what_is_in_the_way_stays() {
    let room = Room::new();
    room.write("shop/values", "mine");
    room.init("--workspace store-team").ends(1).says(&["values/dev/values.yaml", "in the way", "nothing was written"]);
    assert_eq!(fs::read_dir(room.path("shop")).unwrap().count(), 1);
    fs::remove_file(room.path("shop/values")).unwrap();
    room.write("shop-gitops.git", "mine");
    room.init("--workspace store-team").ends(1).says(&["shop-gitops.git` is in the way, and is no git repository"]);
    assert_eq!(
        (fs::read_dir(room.path("shop")).unwrap().count(), room.read("shop-gitops.git")),
        (0, "mine".to_owned())
    );
    room.write("file", "mine");
    room.kalypso(".", "app init file --workspace store-team").ends(64).says(&["`file` is a file"]);
}

#[test]
fn wrong_answers_are_refused_before_anything_is_written() {
    let room = Room::new();
    let check = |arguments: &str, words: &[&str]| {
        room.init(arguments).ends(64).says(words);
        assert!(!room.path("shop").exists() && !room.path("shop-gitops.git").exists(), "{arguments}");
    };
    check("", &["the workspace is not known", "--workspace store-team"]);
    check("--workspace a -e Dev", &["`Dev` is not the name of an environment"]);
    check("--workspace a --workload My_App", &["`My_App` can't be the name of a workload", "--workload NAME"]);
    check("--workspace a --target a,a", &["`a` is given twice"]);
    check("--workspace a --gitops ext::sh", &["can't be used as a repository"]);
    check("--workspace a --host git --owner acme", &["a plain git server has no API"]);
}

#[test]
fn values_are_added_to_branches_that_exist() {
    let room = Room::new();
    room.init("--workspace store-team --configs shop-configs --source manifests").ends(0);
    room.write("shop-configs/shop/values.yaml", "replicas: 7\n");
    git(&room.path("shop-configs"), &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-am", "more"]);
    fs::remove_dir_all(room.path("shop")).unwrap();
    let ran = room.init("--workspace store-team --configs shop-configs --source manifests --target shop,eu").ends(0);
    ran.says(&["../shop-configs: dev: eu/values.yaml"]);
    assert_eq!(git(&room.path("shop-configs"), &["show", "dev:shop/values.yaml"]), "replicas: 7");
    assert!(room.path("shop-configs/eu/values.yaml").is_file(), "the working tree follows");
}

#[test]
fn a_git_host_creates_the_repositories() {
    let room = Room::new();
    let served = room.path("served");
    fs::create_dir(&served).unwrap();
    let host = MemoryHost::new(HostKind::Gitea);
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
    let (pages, api) = (server.url(), double.url());
    let options = format!(
        "app init shop --workspace store-team --like microsoft --host gitea --host-url {pages} --host-api-url {api}/api/v1 --owner acme --create"
    );
    let init = || {
        let mut command = kalypso(room.0.path());
        Ran::new(command.env("KALYPSO_HOST_TOKEN", TOKEN).args(options.split_whitespace())).ends(0)
    };
    let ran = init().says(&["acme/shop: main", "acme/shop-configs: dev", "acme/shop-gitops: dev"]);
    assert!(!ran.out.contains(TOKEN) && !room.read("shop/kalypso-app.toml").contains(TOKEN));
    let branches = |name: &str| git(&served.join("acme").join(name), &["for-each-ref", "--format=%(refname:short)"]);
    assert_eq!(["shop", "shop-configs", "shop-gitops"].map(branches), ["main", "dev", "dev"]);
    init().says(&["is complete"]);
    let settings = room.read("shop/kalypso-app.toml");
    assert!(
        settings.contains("[host]\nkind = \"gitea\"\n") && settings.contains("credentials = [{ prefix = "),
        "{settings}"
    );
}

#[test]
fn the_schema_of_the_configuration_is_printed() {
    let room = Room::new();
    let schema = room.kalypso(".", "schema kalypso-app").ends(0).json();
    assert_eq!(schema["properties"]["gitops"]["$ref"], "#/$defs/GitOpsOptions");
    room.kalypso(".", "schema kalypso-ap").ends(64).says(&["did you mean `kalypso-app`?"]);
}
