//! A company with two environments on a git server and a git host, and the service that runs for it.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use git_host::credential::Credential;
use git_host::double::events::RepositoryWebhooks;
use git_host::double::{BareRepository, HostDouble};
use git_host::hosts::{self, memory::MemoryHost};
use git_host::pull_request::{NewPullRequest, PullRequest};
use git_host::secret::Secret;
use git_host::settings::{HostSettings, Patience};
use git_host::{HostKind, HostRepository};
use serde_json::Value as Json;
use testkit::company::CompanyFiles;
use testkit::git_server::GitServer;

use super::kind;
use crate::company::Company;
use crate::site::ENVIRONMENTS;

/// The account of the service, and that of a user.
pub(crate) const ACCOUNTS: [(&str, &str); 2] = [("host-token-of-kalypso", "kalypso-bot"), ("host-token-of-ann", "ann")];
pub(crate) const WEBHOOK_SECRET: &str = "webhook-secret";
/// A branch of another user, who proposes it.
pub(crate) const FOREIGN_BRANCH: &str = "feature/notes";
/// How long the service may take to do something.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);
/// How long an answer may take. Storms use it, too.
const ANSWER: Duration = Duration::from_secs(20);
/// The pause between two questions.
const PAUSE: Duration = Duration::from_millis(20);

/// The company, its servers, and the running service.
pub(crate) struct Hosted {
    pub(crate) kind: HostKind,
    pub(crate) company: Company,
    pub(crate) server: GitServer,
    pub(crate) host: MemoryHost,
    pub(crate) double: HostDouble,
    pub(crate) serving: Option<Serving>,
    starts: u32,
}

/// A running `kalypso serve`.
pub(crate) struct Serving {
    pub(crate) process: Child,
    pub(crate) address: String,
}

impl Hosted {
    /// The company on a kind of host. `service` are lines of the section `[service]`. The service does not run yet.
    pub(crate) fn new(kind: HostKind, service: &str) -> Self {
        let company = company(kind);
        let server = GitServer::start(&company.path("served")).unwrap();
        let host = memory_host(kind, &company);
        let double = HostDouble::start(&host).unwrap();
        ACCOUNTS.iter().for_each(|(token, account)| double.accept_token(token, account));
        let more = format!(
            "[host]\nkind = \"{}\"\nurl = \"{}\"\napi-url = \"{}{}\"\n\
             token-env = \"HOST_TOKEN\"\nwebhook-secret-env = \"WEBHOOK_SECRET\"\n[service]\n{service}",
            kind.as_str(),
            kind::PAGES,
            double.url(),
            kind::api_path(kind)
        );
        company.configure(&server.url(), &more);
        Self { kind, company, server, host, double, serving: None, starts: 0 }
    }

    /// Starts the service, if it does not run. Waits until it listens.
    pub(crate) fn start(&mut self) {
        let command = self.company.command();
        self.start_with(command);
    }

    /// The same with a command that starts the program.
    pub(crate) fn start_with(&mut self, mut command: Command) {
        if self.serving.is_some() {
            return;
        }
        self.starts += 1;
        let log = self.company.path(&format!("serve-{}.log", self.starts));
        command.args(["serve", "--listen", "127.0.0.1:0", "--log", "debug"]).stderr(File::create(&log).unwrap());
        command.env("HOST_TOKEN", ACCOUNTS[0].0).env("WEBHOOK_SECRET", WEBHOOK_SECRET);
        let process = command.spawn().unwrap();
        let mut serving = Serving { process, address: String::new() };
        let log = move || fs::read_to_string(&log).unwrap();
        serving.address = eventually("the start of the service", || {
            let text = log();
            assert!(serving.process.try_wait().unwrap().is_none(), "the service ended:\n{text}");
            let (_, rest) = text.split_once("listening on http://")?;
            Some(rest.split_once('\n')?.0.trim().to_owned())
        });
        self.serving = Some(serving);
    }

    /// Kills the service.
    pub(crate) fn kill(&mut self) {
        self.serving = None;
    }

    /// Waits until each environment was synced by the running service.
    pub(crate) fn is_ready(&self) {
        eventually("the first sync", || self.ask("GET /readyz", &[], "")?.1.ends_with("\nok\n").then_some(()));
    }

    /// Sends a request. Returns the status and the answer. None if the service does not answer, as while it is killed.
    pub(crate) fn ask(&self, target: &str, headers: &[(&str, String)], body: &str) -> Option<(u16, String)> {
        let address = &self.serving.as_ref()?.address;
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        let mut stream = TcpStream::connect(address).ok()?;
        stream.set_read_timeout(Some(ANSWER)).ok()?;
        write!(
            stream,
            "{target} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}"
        )
        .ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some((answer.split_whitespace().nth(1)?.parse().ok()?, answer))
    }

    /// The state of all environments. Empty if the service does not answer.
    pub(crate) fn environments(&self) -> Vec<Json> {
        let answer = self.ask("GET /api/v1/syncs", &[], "").filter(|(status, _)| *status == 200);
        let body = answer.and_then(|(_, answer)| Some(answer.split_once("\r\n\r\n")?.1.to_owned()));
        body.map_or_else(Vec::new, |body| serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body}")))
    }

    /// Whether no environment is being synced, or will be soon, and the last sync of each ended well.
    pub(crate) fn is_quiet(&self) -> bool {
        let environments = self.environments();
        let is_quiet = |environment: &Json| environment["phase"] == "waiting" && environment["failures"] == 0;
        environments.len() == ENVIRONMENTS.len() && environments.iter().all(is_quiet)
    }

    /// Sends the webhook of a branch that moved, right or with a wrong signature. Returns the status of the answer.
    pub(crate) fn announce(&self, at: &str, is_signed: bool) -> Option<u16> {
        let (repository, branch) = at.split_once('@').unwrap();
        let url = kind::webhook_repository_url(self.kind, repository);
        let secret = Secret::new(if is_signed { WEBHOOK_SECRET } else { "wrong" });
        let sent = RepositoryWebhooks { kind: self.kind, secret: &secret, url: &url }.push(branch, None);
        let target = format!("POST /webhooks/{}", self.kind.as_str());
        self.ask(&target, &sent.headers, &sent.body).map(|(status, _)| status)
    }

    /// The path of the GitOps repository on the git host.
    pub(crate) fn gitops(&self) -> String {
        kind::repository_path(self.kind, "gitops")
    }

    /// The pull requests of the GitOps repository.
    pub(crate) fn pull_requests(&self) -> Vec<PullRequest> {
        self.host.state().repository(&self.gitops()).unwrap().pull_requests()
    }

    /// The open pull request of the service for an environment.
    pub(crate) fn proposal(&self, environment: &str) -> Option<PullRequest> {
        let head = format!("kalypso/{environment}");
        self.pull_requests().into_iter().find(|found| found.is_open() && found.head == head)
    }

    /// Whether the branch of the service for an environment contains a value.
    pub(crate) fn proposes(&self, environment: &str, value: &str) -> bool {
        let file = format!("kalypso/{environment}:east/shop-{environment}/platform-config.yaml");
        let shown = Command::new("git").current_dir(self.company.repository("gitops")).args(["show", &file]).output();
        String::from_utf8_lossy(&shown.unwrap().stdout).contains(value)
    }

    /// Closes a pull request of the GitOps repository as the user of a token. The git host may fail.
    pub(crate) fn close_as(&self, token: &str, number: u64) {
        let credential = Credential::Token(Secret::new(token).into());
        let patience = Patience { attempts: 1, ..Patience::default() };
        let api_url = Some(format!("{}{}", self.double.url(), kind::api_path(self.kind)));
        let settings = HostSettings { api_url, patience, ..HostSettings::new(self.kind, kind::PAGES, credential) };
        let path = self.gitops();
        let repository = HostRepository::from_path(&path.split('/').collect::<Vec<_>>());
        drop(hosts::connect(&settings).unwrap().close(&repository, number));
    }

    /// The log of the last start of the service.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.company.path(&format!("serve-{}.log", self.starts))).unwrap_or_default()
    }
}

impl Serving {
    /// The memory that the service uses now, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        self.status_bytes("VmRSS:")
    }

    /// The memory that the service used at most, in bytes.
    pub(crate) fn peak_memory(&self) -> u64 {
        self.status_bytes("VmHWM:")
    }

    fn status_bytes(&self, field: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let found = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
        found.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// The company's repositories. Branches that clusters pull have files of other users.
fn company(kind: HostKind) -> Company {
    let files = CompanyFiles::with_applications(&ENVIRONMENTS, &["shop"]);
    let company = Company::empty_at(kind::repositories_url(kind)).filled(&files);
    for environment in ENVIRONMENTS {
        let others = |what: &str| format!("{what} of {environment}, of other users.\n");
        let files = [("README.md", others("A page")), ("legacy/app.yaml", others("A file"))];
        company.commit("gitops", environment, &files);
    }
    company.commit("gitops", FOREIGN_BRANCH, &[("notes.txt", "mine\n".to_owned())]);
    company
}

/// The git host with the company's repositories, and a pull request of another user.
fn memory_host(kind: HostKind, company: &Company) -> MemoryHost {
    let host = MemoryHost::new(kind);
    for name in ["control-plane", "gitops", "shop"] {
        let repository = BareRepository::open(&company.repository(name)).unwrap();
        host.add_repository(&kind::repository_path(kind, name), Box::new(repository));
    }
    let proposal =
        NewPullRequest { head: FOREIGN_BRANCH.to_owned(), base: "dev".to_owned(), ..NewPullRequest::default() };
    host.state().repository(&kind::repository_path(kind, "gitops")).unwrap().open("ann", &proposal).unwrap();
    host
}

/// Waits until something is found.
#[track_caller]
pub(crate) fn eventually<T>(what: &str, mut find: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "{what} did not happen");
        thread::sleep(PAUSE);
    }
}
