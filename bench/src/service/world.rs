//! A company whose repositories are on a git server and a git host on loopback, and the running service.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use git_host::HostKind;
use git_host::double::{BareRepository, HostDouble, events};
use git_host::hosts::memory::MemoryHost;
use git_host::secret::Secret;
use serde_json::Value as Json;
use tempfile::TempDir;
use testkit::generator::change::GeneratedChange;
use testkit::generator::{self, Size};
use testkit::git_server::GitServer;

use crate::SEED;

const TOKEN: &str = "host-token";
const WEBHOOK_SECRET: &str = "webhook-secret";
/// How long a step may take.
const PATIENCE: Duration = Duration::from_mins(10);

pub(super) struct World {
    folder: TempDir,
    change: GeneratedChange,
    address: String,
    process: Child,
    log: Arc<Mutex<String>>,
    state: MemoryHost,
    _server: GitServer,
    _double: HostDouble,
}

impl World {
    /// Starts the service, and waits until the output of all environments is proposed.
    pub(super) fn start(environments: &[String], size: Size, settle: Duration) -> Result<Self> {
        let kalypso = crate::command::build()?;
        let folder = TempDir::new()?;
        let served = folder.path().join("acme");
        for name in ["control-plane", "gitops"] {
            git(folder.path(), &["init", "--quiet", "--bare", "--initial-branch=main", &format!("acme/{name}")])?;
            git(&served.join(name), &["config", "http.receivepack", "true"])?;
        }
        write_control_plane(folder.path(), environments, size)?;
        let server = GitServer::start(folder.path())?;
        let state = MemoryHost::new(HostKind::GitHub);
        for name in ["control-plane", "gitops"] {
            state.add_repository(&format!("acme/{name}"), Box::new(BareRepository::open(&served.join(name))?));
        }
        let double = HostDouble::start(&state)?;
        double.accept_token(TOKEN, "kalypso-bot");
        let configuration = format!(
            "[control-plane]\nrepo = \"https://git.example/acme/control-plane\"\n\
             [git]\ncache = \"cache\"\nrewrite = [{{ from = \"https://git.example/\", to = \"{}\" }}]\n\
             [host]\nkind = \"github\"\nurl = \"https://git.example\"\napi-url = \"{}/api/v3\"\n\
             token-env = \"HOST_TOKEN\"\nwebhook-secret-env = \"WEBHOOK_SECRET\"\n\
             [service]\nsettle = \"{}ms\"\n",
            server.url(),
            double.url(),
            settle.as_millis()
        );
        fs::write(folder.path().join("kalypso.toml"), configuration)?;
        let mut process = Command::new(kalypso)
            .current_dir(folder.path())
            .args(["serve", "--listen", "127.0.0.1:0"])
            .env("HOST_TOKEN", TOKEN)
            .env("WEBHOOK_SECRET", WEBHOOK_SECRET)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let log = Arc::new(Mutex::new(String::new()));
        let lines = BufReader::new(process.stderr.take().context("the service has no log")?).lines();
        let kept = Arc::clone(&log);
        thread::spawn(move || {
            lines.map_while(Result::ok).for_each(|line| lock(&kept).push_str(&(line + "\n")));
        });
        let mut world = Self {
            folder,
            change: GeneratedChange::value_on_cluster_type(size),
            address: String::new(),
            process,
            log,
            state,
            _server: server,
            _double: double,
        };
        world.address = world.eventually("its address", |world| {
            let log = world.log();
            let (_, rest) = log.split_once("listening on http://")?;
            Some(rest.split_whitespace().next()?.to_owned())
        })?;
        for environment in environments {
            world.wait_until_quiet(environment)?;
            ensure!(world.proposed(environment).is_some(), "{environment} is not proposed: {}", world.log());
        }
        Ok(world)
    }

    /// The address of the service.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// All lines of the log.
    pub(super) fn log(&self) -> String {
        lock(&self.log).clone()
    }

    /// Merges all open pull requests, and waits until the service knows it.
    pub(super) fn merge_all(&self) -> Result<()> {
        {
            let mut state = self.state.state();
            let repository = state.repository("acme/gitops").map_err(|denial| anyhow::anyhow!("{denial:?}"))?;
            repository.settle();
            for found in repository.pull_requests() {
                let head = found.head_commit.context("a pull request has no head")?;
                repository.merge(found.number, head).map_err(|denial| anyhow::anyhow!("{denial:?}"))?;
            }
        }
        self.send_event("gitops", "prod")?;
        self.eventually("the end of the branch", |world| world.proposed("prod").is_none().then_some(()))?;
        self.wait_until_quiet("prod").map(drop)
    }

    /// Pushes a new value to an environment's branch of the control plane. Returns the line with the value.
    pub(super) fn push_value(&self, environment: &str, number: usize) -> Result<String> {
        let work = self.folder.path().join("work");
        git(&work, &["switch", "--quiet", environment])?;
        let file = work.join(&self.change.path);
        let before = fs::read_to_string(&file)?;
        let after = self.change.apply(&before, number);
        fs::write(file, &after)?;
        commit_and_push(&work, environment)?;
        let changed = after.lines().find(|line| !before.contains(line)).context("nothing changed")?;
        Ok(changed.trim().to_owned())
    }

    /// Sends the webhook of a push to the control plane.
    pub(super) fn announce(&self, environment: &str) -> Result<()> {
        self.send_event("control-plane", environment)
    }

    /// The head of the proposing branch.
    pub(super) fn proposed(&self, environment: &str) -> Option<String> {
        let file = self.folder.path().join("acme/gitops/refs/heads/kalypso").join(environment);
        fs::read_to_string(file).ok().filter(|text| !text.trim().is_empty())
    }

    /// Fails if the proposing branch has not the value.
    pub(super) fn check_proposed(&self, environment: &str, value: &str) -> Result<()> {
        let gitops = self.folder.path().join("acme/gitops");
        let branch = format!("kalypso/{environment}");
        let found = git(&gitops, &["grep", "--fixed-strings", "--name-only", value, &branch])?;
        ensure!(found.lines().count() == self.change.reached, "not all assignments have `{value}`: {found}");
        Ok(())
    }

    /// Waits until an environment waits for changes. Returns how many assignments its last sync computed again.
    pub(super) fn wait_until_quiet(&self, environment: &str) -> Result<u64> {
        self.eventually("a quiet environment", |world| {
            let json = world.get(&format!("/api/v1/syncs/{environment}")).ok()?;
            let last = &json["last"];
            let is_quiet = json["phase"] == "waiting" && last.is_object();
            is_quiet.then(|| last["recomputed"].as_u64().unwrap_or_default())
        })
    }

    /// The memory of the process, in MiB.
    pub(super) fn memory_mib(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let now = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no memory is counted")?;
        Ok(now.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
    }

    /// The processor time of the process and of its children that have ended, in seconds.
    pub(super) fn cpu_s(&self) -> Result<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id()))?;
        let (_, rest) = stat.rsplit_once(')').context("an unknown format")?;
        // The fields 14 to 17 of the file, in hundredths of a second.
        let ticks: Vec<f64> = rest.split_whitespace().skip(11).take(4).filter_map(|field| field.parse().ok()).collect();
        ensure!(ticks.len() == 4, "an unknown format");
        Ok(ticks.iter().sum::<f64>() / 100.0)
    }

    fn get(&self, path: &str) -> Result<Json> {
        self.request(("GET", path), "", "")
    }

    fn send_event(&self, repository: &str, branch: &str) -> Result<()> {
        let url = format!("https://git.example/acme/{repository}.git");
        let sent = events::push(HostKind::GitHub, &Secret::new(WEBHOOK_SECRET), (&url, branch, None));
        let headers: String = sent.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        self.request(("POST", "/webhooks/github"), &headers, &sent.body).map(drop)
    }

    fn request(&self, (method, path): (&str, &str), headers: &str, body: &str) -> Result<Json> {
        use std::io::{Read as _, Write as _};
        let mut stream = std::net::TcpStream::connect(&self.address)?;
        let (address, length) = (&self.address, body.len());
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}"
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").context("half an answer")?;
        ensure!(head.starts_with("HTTP/1.1 2"), "{path} is answered with {answer}");
        Ok(serde_json::from_str(body)?)
    }

    fn eventually<T>(&self, what: &str, find: impl Fn(&Self) -> Option<T>) -> Result<T> {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if let Some(found) = find(self) {
                return Ok(found);
            }
            thread::sleep(Duration::from_millis(5));
        }
        bail!("{what} did not come: {}", self.log())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn lock(log: &Mutex<String>) -> std::sync::MutexGuard<'_, String> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes the branches of the control plane, and the branches that clusters pull.
fn write_control_plane(folder: &Path, environments: &[String], size: Size) -> Result<()> {
    let work = folder.join("work");
    git(folder, &["init", "--quiet", "--initial-branch=main", "work"])?;
    git(&work, &["remote", "add", "origin", "../acme/control-plane"])?;
    let declarations = environments.iter().map(|name| {
        let text = format!(
            "{{apiVersion: scheduler.kalypso.io/v1alpha1, kind: Environment, metadata: {{name: {name}}}, spec: {{controlPlane: \
             {{repo: https://git.example/acme/control-plane, branch: {name}, path: .}}}}}}\n"
        );
        (format!(".environments/{name}.yaml"), text)
    });
    write(&work, declarations)?;
    commit_and_push(&work, "main")?;
    let fleet: BTreeMap<_, _> =
        generator::fleet(size, SEED).into_iter().filter(|(path, _)| !path.starts_with("registrations/")).collect();
    for name in environments {
        git(&work, &["switch", "--quiet", "--orphan", name])?;
        let gitops = format!(
            "{{apiVersion: scheduler.kalypso.io/v1alpha1, kind: GitOpsRepo, metadata: {{name: {name}}}, \
             spec: {{repo: https://git.example/acme/gitops, branch: {name}, path: .}}}}\n"
        );
        write(&work, fleet.clone().into_iter().chain([("gitops-repo.yaml".to_owned(), gitops)]))?;
        commit_and_push(&work, name)?;
    }
    Ok(())
}

fn write(work: &Path, files: impl Iterator<Item = (String, String)>) -> Result<()> {
    for (path, text) in files {
        let path: PathBuf = work.join(path);
        fs::create_dir_all(path.parent().context("a file has no folder")?)?;
        fs::write(path, text)?;
    }
    Ok(())
}

fn commit_and_push(work: &Path, branch: &str) -> Result<()> {
    git(work, &["add", "--all"])?;
    git(work, &["-c", "user.name=Ann", "-c", "user.email=ann@example.com", "commit", "--quiet", "-m", "Change"])?;
    git(work, &["push", "--quiet", "origin", branch]).map(drop)
}

fn git(folder: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new("git").current_dir(folder).args(arguments).output()?;
    ensure!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
