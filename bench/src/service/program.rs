//! The running service: its requests, its memory and its processor time.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value as Json;

use super::company::{Company, HOST_TOKEN, WEBHOOK_SECRET};
use super::eventually;

/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(30);
/// The pause between two questions while something is waited for.
const PAUSE: Duration = Duration::from_millis(100);
/// The unit of processor time in `/proc`: Linux shows hundredths of a second on every machine.
const TICKS_PER_SECOND: f64 = 100.0;

/// A running `kalypso serve`. It is killed when this value is dropped.
pub(super) struct Service {
    process: Child,
    pub(super) address: String,
    log: PathBuf,
}

impl Service {
    /// Starts the service of a company. Waits until each environment is synced once.
    pub(super) fn start(kalypso: &Path, company: &Company) -> Result<Self> {
        let folder = company.folder();
        let log = folder.join("serve.log");
        let process = Command::new(kalypso)
            .args(["serve", "--listen", "127.0.0.1:0", "--log", "info"])
            .current_dir(folder)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs([("HOME", folder.as_os_str()), ("KALYPSO_PROGRESS", "never".as_ref())])
            .envs([("HOST_TOKEN", HOST_TOKEN), ("WEBHOOK_SECRET", WEBHOOK_SECRET)])
            .stdin(Stdio::null())
            .stderr(File::create(&log)?)
            .spawn()
            .context("could not start kalypso")?;
        let mut service = Self { process, address: String::new(), log };
        service.address = eventually("the start of the service", PAUSE, || {
            service.check_runs()?;
            let text = fs::read_to_string(&service.log)?;
            let address = text.split_once("listening on http://").and_then(|(_, rest)| rest.split_once('\n'));
            Ok(address.map(|(address, _)| address.trim().to_owned()))
        })?;
        eventually("the first sync of each environment", PAUSE, || {
            service.check_runs()?;
            Ok((service.connect()?.get("/readyz")?.body.trim_ascii() == b"ok").then_some(()))
        })?;
        Ok(service)
    }

    /// The state of all environments. It is an error if one of them has an error.
    pub(super) fn environments(&self) -> Result<Vec<Json>> {
        let answer = self.connect()?.get("/api/v1/syncs")?;
        let environments: Vec<Json> = serde_json::from_slice(&answer.body)?;
        for environment in &environments {
            let error = &environment["last"]["error"];
            ensure!(error.is_null(), "{} is not synced: {error}", environment["environment"]);
        }
        Ok(environments)
    }

    /// Waits until no environment is being synced, or will be soon.
    pub(super) fn wait_until_quiet(&self) -> Result<Vec<Json>> {
        eventually("the end of all syncs", PAUSE, || {
            let environments = self.environments()?;
            let is_quiet = environments.iter().all(|environment| environment["phase"] == "waiting");
            Ok(is_quiet.then_some(environments))
        })
    }

    /// A connection that stays open for many requests.
    pub(super) fn connect(&self) -> Result<Connection> {
        Connection::new(&self.address)
    }

    /// The memory that the service uses now, in bytes.
    pub(super) fn memory_bytes(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no memory is counted")?;
        Ok(resident.trim().trim_end_matches(" kB").parse::<f64>()? * 1024.0)
    }

    /// The processor time of the service so far, and that of its ended child processes, in seconds.
    pub(super) fn processor_s(&self) -> Result<(f64, f64)> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id()))?;
        // The name of the program is in brackets, and may contain spaces. After it, the user and system times are the 12th and following fields.
        let (_, fields) = stat.rsplit_once(')').context("/proc has another format")?;
        let times = fields.split_whitespace().skip(11).take(4).map(str::parse::<f64>);
        let times: Vec<f64> = times.collect::<Result<_, _>>()?;
        let [user, system, of_children, system_of_children] = times[..] else { bail!("/proc has another format") };
        Ok(((user + system) / TICKS_PER_SECOND, (of_children + system_of_children) / TICKS_PER_SECOND))
    }

    fn check_runs(&self) -> Result<()> {
        let is_running = fs::read_to_string(format!("/proc/{}/stat", self.process.id()))
            .is_ok_and(|stat| !stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z')));
        ensure!(is_running, "the service ended:\n{}", fs::read_to_string(&self.log)?);
        Ok(())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A connection to the service.
pub(super) struct Connection {
    stream: BufReader<TcpStream>,
    host: String,
}

/// An answer of the service.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
}

impl Connection {
    pub(super) fn new(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER))?;
        Ok(Self { stream: BufReader::with_capacity(64 * 1024, stream), host: address.to_owned() })
    }

    /// Sends a `GET` request, and reads the answer.
    pub(super) fn get(&mut self, path: &str) -> Result<Answer> {
        self.request(&format!("GET {path}"), &[], "")
    }

    /// Sends a request, and reads the answer. `target` is the method with the path.
    pub(super) fn request(&mut self, target: &str, headers: &[(&str, String)], body: &str) -> Result<Answer> {
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let (host, length) = (&self.host, body.len());
        let request = format!("{target} HTTP/1.1\r\nhost: {host}\r\n{headers}content-length: {length}\r\n\r\n{body}");
        self.stream.get_mut().write_all(request.as_bytes())?;
        self.answer()
    }

    fn answer(&mut self) -> Result<Answer> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let status = line.split_whitespace().nth(1).and_then(|status| status.parse().ok());
        let status = status.with_context(|| format!("no answer of HTTP: {line:?}"))?;
        let mut length = None;
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().ok();
            }
        }
        let mut body = vec![0; length.context("the answer has no length")?];
        self.stream.read_exact(&mut body)?;
        Ok(Answer { status, body })
    }
}
