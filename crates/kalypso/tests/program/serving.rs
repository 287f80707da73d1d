//! `kalypso serve` and pull requests with real parts: git over HTTP with a token, a git host over HTTP, and webhooks.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use git_host::HostKind;
use git_host::double::events::RepositoryWebhooks;
use git_host::double::{BareRepository, DoubleFault, FaultAnswer, HostDouble};
use git_host::hosts::memory::MemoryHost;
use git_host::pull_request::{NewPullRequest, PullRequest};
use git_host::secret::Secret;
use serde_json::Value as Json;
use testkit::git_server::GitServer;
use testkit::hub_program::HubProgram;
use testkit::objects;

use crate::company::{Company, git};

const GIT_TOKEN: &str = "git-token-0a1b2c3d4e5f";
const HOST_TOKEN: &str = "host-token-5f4e3d2c1b0a";
pub(crate) const WEBHOOK_SECRET: &str = "webhook-secret-00112233";
/// How long a test waits for the service.
const PATIENCE: Duration = Duration::from_mins(1);

/// A company whose repositories are on a git server with a token, and on a git host.
pub(crate) struct Hosted {
    pub(crate) company: Company,
    _server: GitServer,
    state: MemoryHost,
    double: HostDouble,
}

impl Hosted {
    pub(crate) fn new(service: &str) -> Self {
        let company = Company::new();
        let server = GitServer::start(&company.path("served")).unwrap();
        let user = base64::engine::general_purpose::STANDARD.encode(format!("x-access-token:{GIT_TOKEN}"));
        server.require(&format!("Basic {user}"));
        let state = MemoryHost::new(HostKind::GitHub);
        for name in ["control-plane", "gitops"] {
            let repository = BareRepository::open(&company.repository(name)).unwrap();
            state.add_repository(&format!("acme/{name}"), Box::new(repository));
        }
        let double = HostDouble::start(&state).unwrap();
        double.accept_token(HOST_TOKEN, "kalypso-bot");
        let more = format!(
            "credentials = [{{ prefix = \"{}\", token-env = \"GIT_TOKEN\" }}]\n\
             [host]\nkind = \"github\"\nurl = \"https://git.example\"\napi-url = \"{}/api/v3\"\n\
             token-env = \"HOST_TOKEN\"\nwebhook-secret-env = \"WEBHOOK_SECRET\"\n{service}",
            server.url(),
            double.url()
        );
        company.configure(&server.url(), &more);
        Self { company, _server: server, state, double }
    }

    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = self.company.command();
        command.args(arguments.split_whitespace());
        command.env("GIT_TOKEN", GIT_TOKEN).env("HOST_TOKEN", HOST_TOKEN).env("WEBHOOK_SECRET", WEBHOOK_SECRET);
        command
    }

    pub(crate) fn kalypso(&self, arguments: &str) -> crate::company::Ran {
        crate::company::Ran::new(&mut self.command(arguments))
    }

    pub(crate) fn pull_requests(&self) -> Vec<PullRequest> {
        let mut state = self.state.state();
        let repository = state.repository("acme/gitops").unwrap();
        repository.settle();
        repository.pull_requests()
    }

    /// The state of the git host.
    pub(crate) fn memory(&self) -> std::sync::MutexGuard<'_, git_host::hosts::memory::HostState> {
        self.state.state()
    }

    /// The paths and queries of the requests to the git host so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.double.exchanges().into_iter().map(|exchange| exchange.target).collect()
    }

    /// Lets requests to the git host fail in this way only.
    pub(crate) fn replace_faults(&self, fault: DoubleFault) {
        self.double.clear_faults();
        self.double.fail_next(fault);
    }

    fn merge(&self, number: u64) {
        let head = self.pull_requests().into_iter().find(|found| found.number == number).unwrap().head_commit.unwrap();
        self.state.state().repository("acme/gitops").unwrap().merge(number, head).unwrap();
    }
}

/// A running service with its log.
pub(crate) struct Serving {
    pub(crate) program: HubProgram,
}

impl Serving {
    fn start(hosted: &Hosted) -> Self {
        Self::start_with(hosted, &[])
    }

    fn start_with(hosted: &Hosted, variables: &[(&str, &str)]) -> Self {
        let mut command = hosted.command("serve --listen 127.0.0.1:0 --log debug");
        command.envs(variables.iter().copied());
        Self::start_command(&mut command)
    }

    /// Starts a command that runs a service, and waits until it is ready.
    pub(crate) fn start_command(command: &mut Command) -> Self {
        let serving = Self { program: HubProgram::start(command).unwrap() };
        eventually("the first sync", || serving.request("GET /readyz", &[], "").ends_with("\r\nok\n").then_some(()));
        serving
    }

    /// Sends a request, `METHOD PATH`, and returns the answer with its head.
    pub(crate) fn request(&self, target: &str, headers: &[(&str, String)], body: &str) -> String {
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        let address = self.program.address();
        let mut stream = TcpStream::connect(address).unwrap();
        write!(
            stream,
            "{target} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    pub(crate) fn environment(&self) -> Json {
        let answer = self.request("GET /api/v1/syncs", &[], "");
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let list: Json = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"));
        list[0].clone()
    }

    pub(crate) fn push_event(&self, repository: &str, branch: &str, secret: &str) -> String {
        let url = format!("https://git.example/acme/{repository}.git");
        let webhooks = RepositoryWebhooks { kind: HostKind::GitHub, secret: &Secret::new(secret), url: &url };
        let sent = webhooks.push(branch, None);
        let headers: Vec<_> = sent.headers.iter().map(|(name, value)| (*name, value.clone())).collect();
        self.request("POST /webhooks/github", &headers, &sent.body)
    }

    pub(crate) fn signal(&mut self, signal: nix::sys::signal::Signal) {
        let process = nix::unistd::Pid::from_raw(self.program.process().id().try_into().unwrap());
        nix::sys::signal::kill(process, signal).unwrap();
    }

    /// Waits for words in the log.
    #[track_caller]
    pub(crate) fn says(&self, words: &str) {
        let start = Instant::now();
        while !self.log().contains(words) {
            assert!(start.elapsed() < PATIENCE, "`{words}` is not in\n{}", self.log());
            thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn log(&self) -> String {
        self.program.log()
    }
}

pub(crate) fn eventually<T>(what: &str, find: impl Fn() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "{what} did not happen");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Asserts that a text has no secret.
#[track_caller]
fn has_no_secret(what: &str, text: &str) {
    let encoded = base64::engine::general_purpose::STANDARD.encode(format!("x-access-token:{GIT_TOKEN}"));
    for secret in [GIT_TOKEN, HOST_TOKEN, WEBHOOK_SECRET, &encoded] {
        assert!(!text.contains(secret), "a secret is in {what}");
    }
}

#[test]
fn publish_opens_updates_and_closes_the_pull_request() {
    let hosted = Hosted::new("");
    let ran = hosted.kalypso("publish -e dev -o json").ends(0).json();
    assert_eq!(ran["published"][0]["pullRequest"]["result"], "opened");
    hosted.kalypso("publish --all").ends(0).says(&["See pull request 1"]);
    let body = hosted.pull_requests()[0].body.clone();
    assert!(body.contains("2 assignments") && body.contains("control-plane@dev"), "{body}");
    has_no_secret("the pull request", &body);
    hosted.merge(1);
    hosted.kalypso("publish -e dev").ends(0).says(&["is up to date"]);
    assert_eq!(hosted.company.head("gitops", "kalypso/dev"), None);
    hosted.kalypso("publish -e dev --no-pull-request --pull-request").ends(64);
    hosted.double.revoke_tokens();
    hosted.company.remove("shop", "main", "shop.yaml");
    hosted.kalypso("publish -e dev").ends(69).says(&["401", "the token is missing, wrong, expired or revoked"]);
}

#[test]
fn the_plan_is_one_comment_on_a_pull_request_and_none_on_that_of_a_fork() {
    let hosted = Hosted::new("");
    hosted.company.commit("control-plane", "change", &[("a.yaml", objects::environment("other"))]);
    let new = NewPullRequest { head: "change".to_owned(), base: "dev".to_owned(), ..NewPullRequest::default() };
    let (own, fork) = {
        let mut state = hosted.state.state();
        let repository = state.repository("acme/control-plane").unwrap();
        (repository.open("ann", &new).unwrap(), repository.open_from_fork("eve", &new))
    };
    hosted.kalypso(&format!("plan -e dev --comment {own}")).ends(2).says(&["wrote the comment"]);
    hosted.kalypso(&format!("plan -e dev --comment {own}")).ends(2).says(&["left as it is"]);
    hosted.kalypso(&format!("plan -e dev --comment {fork}")).ends(2).says(&["from a fork"]);
    hosted.kalypso("plan -e dev --comment").ends(64).says(&["--comment NUMBER"]);
    hosted.kalypso("plan -e dev -o markdown").ends(2).says(&["| workload |", "- **2 assignments** added"]);
    let mut state = hosted.state.state();
    let repository = state.repository("acme/control-plane").unwrap();
    let comments = |number| repository.comments(number, "kalypso-bot").unwrap().len();
    assert_eq!((comments(own), comments(fork)), (1, 0));
}

#[test]
fn the_service_follows_pushes_merges_and_reloads_and_shows_no_secret() {
    let hosted = Hosted::new("[service]\npoll = \"1h\"\nsettle = \"50ms\"\nresync = \"1h\"\n");
    let mut serving = Serving::start(&hosted);
    assert_eq!(hosted.pull_requests().len(), 1);
    assert_eq!(serving.environment()["last"]["destinations"][0]["pullRequest"]["number"], 1);
    assert!(serving.push_event("gitops", "dev", "wrong").starts_with("HTTP/1.1 401"));

    hosted.merge(1);
    assert!(serving.push_event("gitops", "dev", WEBHOOK_SECRET).starts_with("HTTP/1.1 202"));
    eventually("the removal of the branch", || hosted.company.head("gitops", "kalypso/dev").is_none().then_some(()));

    let path = "configs/common.yaml";
    let text = hosted.company.file("control-plane", "dev", path);
    hosted.company.change("control-plane@dev", path, &text.replace("mysql://main/a", "mysql://main-2/a"));
    assert!(serving.push_event("control-plane", "dev", WEBHOOK_SECRET).starts_with("HTTP/1.1 202"));
    eventually("the second pull request", || (hosted.pull_requests().len() == 2).then_some(()));

    // A change that no webhook announces is found when somebody asks.
    hosted.company.change("control-plane@dev", path, &text);
    assert!(serving.request("POST /api/v1/sync", &[], "").starts_with("HTTP/1.1 202"));
    eventually("the closing", || (!hosted.pull_requests()[1].is_open()).then_some(()));
    assert!(serving.request("POST /api/v1/sync", &[], "{\"environment\":\"devv\"}").starts_with("HTTP/1.1 404"));

    let file = hosted.company.path("kalypso.toml");
    let good = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, good.replace("settle = ", "setle = ")).unwrap();
    serving.signal(nix::sys::signal::Signal::SIGHUP);
    serving.says("the configuration is wrong, so the one before stays");
    let check = format!("[promotion.checks.smoke]\nurl = \"https://me:{HOST_TOKEN}@smoke.example\"\n");
    std::fs::write(&file, format!("{good}{check}")).unwrap();
    serving.signal(nix::sys::signal::Signal::SIGHUP);
    serving.says("the check `smoke`: `url` has a user or a password");
    let check = "[promotion.checks.smoke]\nurl = \"https://smoke.example\"\n";
    std::fs::write(&file, format!("{good}{check}")).unwrap();
    serving.signal(nix::sys::signal::Signal::SIGHUP);
    serving.says("the configuration of the service is read again");

    let metrics = serving.request("GET /metrics", &[], "");
    assert!(metrics.contains("kalypso_syncs_total{environment=\"dev\"") && metrics.contains("kalypso_hub_requests"));
    assert_eq!(metrics.matches("# EOF").count(), 1, "{metrics}");
    let arguments = std::fs::read_to_string(format!("/proc/{}/cmdline", serving.program.process().id())).unwrap();
    assert!(arguments.contains("serve"), "{arguments}");
    for pull_request in hosted.pull_requests() {
        has_no_secret("a pull request", &pull_request.body);
    }
    has_no_secret("the metrics", &metrics);
    has_no_secret("the arguments", &arguments);
    has_no_secret("an answer", &serving.request("GET /api/v1/syncs/dev", &[], ""));
    stops_in_order(serving);
}

fn stops_in_order(mut serving: Serving) {
    serving.signal(nix::sys::signal::Signal::SIGTERM);
    assert_eq!(serving.program.process().wait().unwrap().code(), Some(0));
    let log = eventually("the last line", || Some(serving.log()).filter(|log| log.contains("stopped")));
    has_no_secret("the log", &log);
}

/// The bodies of the requests to a collector of traces.
fn collector() -> (String, Arc<Mutex<Vec<u8>>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let received = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&received);
    let receive = move |stream: TcpStream| -> std::io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut length = 0;
        for line in reader.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty()) {
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        kept.lock().unwrap().extend(body);
        (&stream).write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
    };
    thread::spawn(move || listener.incoming().flatten().try_for_each(receive));
    (url, received)
}

#[test]
fn traces_contain_the_steps_of_a_sync_and_no_secret() {
    let hosted = Hosted::new("[service]\npoll = \"1h\"\n");
    let (collector, received) = collector();
    let variables =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.as_str()), ("OTEL_BSP_SCHEDULE_DELAY", "50"), ("NO_PROXY", "*")];
    let serving = Serving::start_with(&hosted, &variables);
    serving.request("GET /api/v1/syncs", &[], "");
    stops_in_order(serving);
    let received = String::from_utf8_lossy(&received.lock().unwrap()).into_owned();
    let spans = ["sync", "read", "compile", "destination", "push", "pull request", "git host call", "/api/v1/syncs"];
    for name in spans.into_iter().chain(["ls-remote", "fetch"]) {
        assert!(received.contains(name), "{name} is not in {received:?}");
    }
    has_no_secret("the traces", &received);
}

#[test]
fn a_variable_overrides_the_file() {
    let hosted = Hosted::new("[service]\npoll = \"1h\"\n");
    let mut command = hosted.command("serve --listen 127.0.0.1:0");
    let ran = crate::company::Ran::new(command.env("KALYPSO_SERVICE_SETTLE", "1h"));
    ran.ends(64).says(&["`service.settle` is longer than `service.settle-max`"]);
    let mut command = hosted.command("plan -e dev");
    crate::company::Ran::new(command.env("KALYPSO_CONTROL_PLANE_BRANCH", "nowhere")).ends(1).says(&["nowhere"]);
}

#[test]
fn a_stop_does_not_wait_for_the_rate_limit_of_a_git_host() {
    let hosted = Hosted::new("[service]\npoll = \"1h\"\nsettle = \"0s\"\n");
    let serving = Serving::start(&hosted);
    let answer = FaultAnswer::Answer {
        status: 429,
        headers: vec![("retry-after", "25".to_owned())],
        body: "{\"message\": \"too many requests\"}".to_owned(),
    };
    let fault = DoubleFault { method: "GET", target: "/pulls".to_owned(), is_done: false, answer, times: 1 };
    hosted.double.fail_next(fault);
    hosted.double.forget_exchanges();
    hosted.merge(1);
    assert!(serving.push_event("gitops", "dev", WEBHOOK_SECRET).starts_with("HTTP/1.1 202"));
    eventually("the refusal", || hosted.double.exchanges().iter().any(|one| one.status == 429).then_some(()));
    let asked = Instant::now();
    stops_in_order(serving);
    assert!(asked.elapsed() < Duration::from_secs(15), "{:?}", asked.elapsed());
}

#[test]
fn a_killed_service_is_completed_by_the_next_one_and_two_do_not_run() {
    let hosted = Hosted::new("[service]\npoll = \"1s\"\nsettle = \"0s\"\n");
    for round in 0..6 {
        let mut process =
            hosted.command("serve --listen 127.0.0.1:0 --log warn").stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(40 * round));
        process.kill().unwrap();
        process.wait().unwrap();
        assert!(hosted.pull_requests().len() <= 1);
    }
    let serving = Serving::start(&hosted);
    assert_eq!(hosted.pull_requests().len(), 1);
    hosted.kalypso("serve --listen 127.0.0.1:0").ends(1).says(&["another `kalypso serve` runs"]);
    let branches = git(&hosted.company.repository("gitops"), &["for-each-ref", "--format=%(refname)"]);
    assert_eq!(branches.lines().collect::<Vec<_>>(), ["refs/heads/dev", "refs/heads/kalypso/dev"]);
    drop(serving);
}
