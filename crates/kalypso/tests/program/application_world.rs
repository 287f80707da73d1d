//! An application with real repositories, on this machine or on a git server and a git host.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use base64::Engine as _;
use git_host::HostKind;
use git_host::double::{BareRepository, HostDouble};
use git_host::hosts::memory::MemoryHost;
use git_host::pull_request::PullRequest;
use tempfile::TempDir;
use testkit::git_server::GitServer;
use testkit::programs::{HELM_VARIABLE, helm_folder};

use crate::company::{Ran, git, kalypso};

/// The source repository of an application, and its GitOps repository beside it.
pub(crate) struct Application {
    folder: TempDir,
    path: OsString,
}

pub(crate) const SETTINGS: &str = "\
workspace = \"store-team\"
source = { chart = \"chart\", repo = \"https://git.example/acme/shop\" }
gitops = { repo = \"../shop-gitops.git\" }
variables = { IMAGE = \"registry.example/shop:${IMAGE_TAG}\" }
environments = [{ name = \"dev\", delivery = \"push\" }, { name = \"stage\" }]
";

pub(crate) const WORKLOAD: &str = "\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata:
  name: shop
spec:
  deploymentTargets:
    - {name: eu, environment: dev, manifests: {repo: 'https://git.example/acme/shop-gitops', branch: dev, path: ./eu}}
    - {name: us, environment: dev, manifests: {repo: 'https://git.example/acme/shop-gitops', branch: dev, path: ./us}}
    - {name: uat, environment: stage, manifests: {repo: 'https://git.example/acme/shop-gitops', branch: stage, path: ./uat}}
";

pub(crate) const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  replicas: {{ .Values.replicas }}
  template:
    spec:
      containers:
        - {name: shop, image: {{ .Values.image }}}
    metadata: {labels: {app: shop}}
  selector: {matchLabels: {app: shop}}
";

/// The search path, with Helm. None, with a message, if there is no Helm.
pub(crate) fn path_with_helm() -> Option<OsString> {
    let path = path();
    let helm = helm_folder(std::env::var_os(HELM_VARIABLE), &path).inspect_err(|reason| println!("{reason}")).ok()?;
    Some(std::env::join_paths([helm].into_iter().chain(std::env::split_paths(&path))).unwrap())
}

pub(crate) fn path() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

impl Application {
    /// The application, committed. None, with a message, without Helm.
    pub(crate) fn new() -> Option<Self> {
        let application = Self { folder: TempDir::new().unwrap(), path: path_with_helm()? };
        fs::create_dir_all(application.path("shop")).unwrap();
        fs::create_dir_all(application.path("shop-gitops.git")).unwrap();
        git(&application.path("shop"), &["init", "--quiet", "--initial-branch", "main"]);
        git(&application.path("shop"), &["config", "user.name", "Ann"]);
        git(&application.path("shop"), &["config", "user.email", "ann@acme.example"]);
        git(&application.path("shop-gitops.git"), &["init", "--quiet", "--bare"]);
        application.write("kalypso-app.toml", SETTINGS);
        application.write("workload/workload.yaml", WORKLOAD);
        application.write("chart/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 0.1.0\n");
        application.write("chart/values.yaml", "replicas: 1\nimage: ${IMAGE}\n");
        application.write("chart/templates/deployment.yaml", DEPLOYMENT);
        application.write("values/dev/values.yaml", "replicas: 2\n");
        application.write("values/dev/eu/values.yaml", "");
        application.write("values/dev/us/values.yaml", "replicas: 3\n");
        application.write("values/stage/uat/values.yaml", "");
        application.commit("Begin");
        Some(application)
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path("shop").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn commit(&self, message: &str) -> String {
        git(&self.path("shop"), &["add", "--all"]);
        git(&self.path("shop"), &["commit", "--quiet", "--message", message]);
        git(&self.path("shop"), &["rev-parse", "HEAD"])
    }

    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = kalypso(&self.path("shop"));
        command.env("PATH", &self.path).arg("app").args(arguments.split_whitespace());
        command
    }

    pub(crate) fn app(&self, arguments: &str) -> Ran {
        Ran::new(&mut self.command(arguments))
    }

    /// A file of a branch of the GitOps repository.
    pub(crate) fn deployed(&self, path: &str) -> String {
        git(&self.path("shop-gitops.git"), &["show", path])
    }

    pub(crate) fn files(&self, branch: &str) -> String {
        git(&self.path("shop-gitops.git"), &["ls-tree", "-r", "--name-only", branch]).replace('\n', " ")
    }
}

/// The application with its repositories on a git server with a token, and on a git host.
pub(crate) struct HostedApplication {
    pub(crate) application: Application,
    pub(crate) state: MemoryHost,
    pub(crate) double: HostDouble,
    pub(crate) server: GitServer,
}

pub(crate) const TOKEN: &str = "t0ken-of-shop";

impl HostedApplication {
    pub(crate) fn new() -> Option<Self> {
        Self::on(HostKind::GitHub)
    }

    pub(crate) fn on(kind: HostKind) -> Option<Self> {
        let application = Application::new()?;
        fs::create_dir_all(application.path("served/acme")).unwrap();
        fs::rename(application.path("shop-gitops.git"), application.path("served/acme/shop-gitops")).unwrap();
        let source = application.path("served/acme/shop");
        git(&application.path("."), &["clone", "--quiet", "--bare", "shop", &source.to_string_lossy()]);
        git(&application.path("shop"), &["remote", "add", "origin", &source.to_string_lossy()]);
        let server = GitServer::start(&application.path("served")).unwrap();
        let basic = base64::engine::general_purpose::STANDARD.encode(format!("x-access-token:{TOKEN}"));
        server.require(&format!("Basic {basic}"));
        let state = MemoryHost::new(kind);
        for name in ["shop", "shop-gitops"] {
            let repository = BareRepository::open(&application.path("served/acme").join(name)).unwrap();
            state.add_repository(&format!("acme/{name}"), Box::new(repository));
        }
        let double = HostDouble::start(&state).unwrap();
        double.accept_token(TOKEN, "shop-bot");
        let settings = SETTINGS.replace("../shop-gitops.git", "https://git.example/acme/shop-gitops");
        let api = if kind == HostKind::GitLab { "v4" } else { "v3" };
        let access = format!(
            "[git]\nrewrite = [{{ from = \"https://git.example/\", to = \"{0}\" }}]\ncredentials = [{{ prefix = \"{0}\", token-env = \"KALYPSO_APP_TOKEN\" }}]\n\
             [host]\nkind = \"{2}\"\nurl = \"https://git.example\"\napi-url = \"{1}/api/{api}\"\n",
            server.url(),
            double.url(),
            kind.as_str(),
        );
        application.write("kalypso-app.toml", &format!("{settings}{access}"));
        application.commit("On a git host");
        git(&application.path("shop"), &["push", "--quiet", "origin", "main"]);
        Some(Self { application, state, double, server })
    }

    pub(crate) fn app(&self, arguments: &str) -> Ran {
        let mut command = self.application.command(arguments);
        Ran::new(command.env("KALYPSO_APP_TOKEN", TOKEN).env("KALYPSO_HOST_TOKEN", TOKEN))
    }

    /// The pull requests of a repository.
    pub(crate) fn pull_requests(&self, name: &str) -> Vec<PullRequest> {
        let mut state = self.state.state();
        let repository = state.repository(&format!("acme/{name}")).unwrap();
        repository.settle();
        repository.pull_requests()
    }
}
