//! A company on a git server and a git host, the hub, and the files of its CI system.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use base64::Engine as _;
use git_host::double::{BareRepository, HostDouble};
use git_host::hosts::memory::MemoryHost;
use git_host::pull_request::{NewPullRequest, PullRequest};
use git_host::{HostKind, HostRepository};
use testkit::company::PAGES;
use testkit::git_server::GitServer;
use testkit::hub_program::HubProgram;
use testkit::objects;

use super::runner::{Runner, System};
use crate::company::{Company, HOST, Ran, git};

/// The image in the files.
pub(super) const IMAGE: &str = "registry.example/kalypso:1";
/// The account of the token for pull requests.
pub(super) const ACCOUNT: &str = "kalypso-bot";
/// The tokens, by their variables. Only the token of the hub is not fixed.
pub(super) const PLAN_TOKEN: &str = "plan-token-5f4e3d2c1b0a";
pub(super) const GIT_TOKEN: &str = "git-token-0a1b2c3d4e5f";
pub(super) const HOST_TOKEN: &str = "host-token-a0b1c2d3e4f5";
pub(super) const CACHE_KEY: &str = "cache-key-00112233445566";

/// The company and its servers.
pub(super) struct Site {
    pub(super) company: Company,
    pub(super) system: System,
    pub(super) double: HostDouble,
    pub(super) hub: HubProgram,
    /// The tokens of the hub: to query, and to publish.
    pub(super) hub_tokens: [String; 2],
    host: MemoryHost,
    server: GitServer,
}

impl Site {
    pub(super) fn new(system: System) -> Self {
        let company = Company::at(base_url(system));
        let server = GitServer::start(&company.path("served")).unwrap();
        let host = MemoryHost::new(kind(system));
        for name in ["control-plane", "gitops"] {
            let repository = BareRepository::open(&company.repository(name)).unwrap();
            host.add_repository(&path(system, name), Box::new(repository));
        }
        let double = HostDouble::start(&host).unwrap();
        let hub_tokens = ["read", "publish"].map(|role| hub_token(&company, role));
        let mut command = company.command();
        let hub = HubProgram::start(command.args(["hub", "--listen", "127.0.0.1:0", "--log-format", "json"])).unwrap();
        let site = Self { company, system, double, hub, hub_tokens, host, server };
        site.company.change("control-plane@main", "kalypso.toml", &site.configuration(HOST));
        site.install_docker();
        site
    }

    /// The `kalypso.toml` in the control plane, with the variables that the page names. `url` is the base of the company's URLs.
    fn configuration(&self, url: &str) -> String {
        let server = self.server.url();
        let api = match self.system {
            System::GitHub => "/api/v3",
            System::GitLab => "/api/v4",
            System::Azure => "",
        };
        format!(
            "[control-plane]\nrepo = \"{url}control-plane\"\n\n[git]\nrewrite = [{{ from = \"{url}\", to = \"{server}\" }}]\n\
             credentials = [{{ prefix = \"{server}\", token-env = \"KALYPSO_GIT_TOKEN\" }}]\n\n\
             [host]\nkind = \"{}\"\nurl = \"{PAGES}\"\napi-url = \"{}{api}\"\n",
            kind(self.system).as_str(),
            self.double.url(),
        )
    }

    /// From now on, the servers accept only these tokens: for git, and for the API of the git host.
    pub(super) fn accept(&self, git: &str, host: &str) {
        let user = base64::engine::general_purpose::STANDARD.encode(format!("x-access-token:{git}"));
        self.server.require(&format!("Basic {user}"));
        self.double.revoke_tokens();
        self.double.accept_token(host, ACCOUNT);
    }

    /// A program `docker` whose images contain the program.
    fn install_docker(&self) {
        let script = format!(
            "#!/bin/sh\nset -e\ncase \"$1 $2\" in\n'create {IMAGE}') echo 0a1b2c ;;\n\
             'cp 0a1b2c:/usr/local/bin/kalypso') cp '{}' \"$3\" ;;\n'rm 0a1b2c') ;;\n*) exit 125 ;;\nesac\n",
            self.program().display()
        );
        self.install("docker", &script);
        self.replace_program(&format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_kalypso")));
    }

    /// The file that `docker` copies from the image, which starts the real program.
    fn program(&self) -> PathBuf {
        self.company.path("image/kalypso")
    }

    /// Replaces the program in the image.
    pub(super) fn replace_program(&self, script: &str) {
        self.install("../image/kalypso", script);
    }

    fn install(&self, name: &str, script: &str) {
        let path = self.company.path("programs").join(name);
        for folder in ["programs", "image"] {
            fs::create_dir_all(self.company.path(folder)).unwrap();
        }
        fs::write(&path, script).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A new machine of the CI system.
    pub(super) fn runner(&self) -> Runner {
        Runner::new(self.system, &self.company.path("programs"))
    }

    /// The same, whose image of the job contains the program.
    pub(super) fn runner_in_image(&self) -> Runner {
        Runner::new(self.system, &self.company.path("image"))
    }

    /// Clones a branch of a repository into a folder, as the checkout of a CI system does.
    pub(super) fn clone_to(&self, (name, branch): (&str, &str), folder: &std::path::Path) {
        fs::create_dir_all(folder).unwrap();
        let from = format!("file://{}", self.company.repository(name).display());
        git(folder, &["clone", "--quiet", "--depth", "1", "--branch", branch, &from, "."]);
    }

    /// Makes a branch with a changed value of environment dev, and opens a pull request for it. Returns the number and the commit.
    pub(super) fn open_change(&self) -> (u64, String) {
        self.company.merge("control-plane", "less-logs", "dev");
        let config = objects::config("common", "", "DATABASE: mysql://main/a\nLOG_LEVEL: warning");
        let commit = self.company.change("control-plane@less-logs", "configs/common.yaml", &config);
        let new = NewPullRequest {
            head: "less-logs".to_owned(),
            base: "dev".to_owned(),
            title: "Log less".to_owned(),
            ..NewPullRequest::default()
        };
        let mut state = self.host.state();
        let repository = state.repository(&path(self.system, "control-plane")).unwrap();
        (repository.open("ann", &new).unwrap(), commit)
    }

    /// The comments of the CI job on a pull request of the control plane.
    pub(super) fn comments(&self, number: u64) -> Vec<String> {
        let mut state = self.host.state();
        let repository = state.repository(&path(self.system, "control-plane")).unwrap();
        repository.comments(number, ACCOUNT).unwrap().into_iter().map(|comment| comment.body).collect()
    }

    /// The pull requests of the GitOps repository.
    pub(super) fn pull_requests(&self) -> Vec<PullRequest> {
        let mut state = self.host.state();
        let repository = state.repository(&path(self.system, "gitops")).unwrap();
        repository.settle();
        repository.pull_requests()
    }

    /// The states of a commit of the control plane, with their contexts.
    pub(super) fn statuses(&self, commit: &str) -> Vec<String> {
        let commit = model::git_id::GitId::from_hex(commit).unwrap();
        let mut state = self.host.state();
        let statuses = state.repository(&path(self.system, "control-plane")).unwrap().statuses(commit);
        let text = |status: &git_host::status::CommitStatus| {
            format!("{}: {:?}, {}", status.context, status.state, status.description)
        };
        statuses.iter().map(text).collect()
    }

    /// Publishes dev directly, and lets a cluster report that it applied the commit. Returns the commit.
    pub(super) fn deployed(&self, status: &str) -> String {
        self.accept(GIT_TOKEN, HOST_TOKEN);
        let [_, publish] = &self.hub_tokens;
        self.as_user("publish -e dev --direct --no-pull-request", publish).ends(0);
        let commit = self.company.head("gitops", "dev").unwrap();
        let place = format!("--repository {}gitops --branch dev --path east --commit {commit}", self.company.url);
        let report = format!("report --host berlin --reconciler east --status {status} {place}");
        self.as_user(&report, &hub_token(&self.company, "admin")).ends(0);
        commit
    }

    /// Publishes another value to the places that the cluster reports on. The earlier commit can't arrive any more.
    pub(super) fn supersede(&self) {
        let config = objects::config("common", "", "DATABASE: mysql://main/b\nLOG_LEVEL: info");
        self.company.change("control-plane@dev", "configs/common.yaml", &config);
        self.as_user("publish -e dev --direct --no-pull-request", &self.hub_tokens[1]).ends(0);
    }

    /// Runs the program with the configuration of the control plane.
    fn as_user(&self, arguments: &str, hub_token: &str) -> Ran {
        fs::write(self.company.path("kalypso.toml"), self.configuration(&self.company.url)).unwrap();
        let mut command: Command = self.company.command();
        command.args(arguments.split_whitespace());
        command.env("KALYPSO_GIT_TOKEN", GIT_TOKEN).env("KALYPSO_HOST_TOKEN", HOST_TOKEN);
        Ran::new(command.env("KALYPSO_HUB_URL", self.hub.url()).env("KALYPSO_HUB_TOKEN", hub_token))
    }
}

/// Creates a token of the hub with a role.
fn hub_token(company: &Company, role: &str) -> String {
    let mut command = company.command();
    let ran = Ran::new(command.args(["hub", "token", "create", role, "--role", role])).ends(0);
    ran.out.lines().next().unwrap().to_owned()
}

fn kind(system: System) -> HostKind {
    match system {
        System::GitHub => HostKind::GitHub,
        System::GitLab => HostKind::GitLab,
        System::Azure => HostKind::AzureDevOps,
    }
}

fn base_url(system: System) -> &'static str {
    match system {
        System::Azure => "https://git.example/acme/fleet/_git/",
        System::GitHub | System::GitLab => "https://git.example/acme/",
    }
}

/// The path by which the API names a repository.
fn path(system: System, name: &str) -> String {
    let url = format!("{}{name}", base_url(system));
    HostRepository::parse(kind(system), &url, PAGES).unwrap().to_string()
}
