//! A hub in its own process, so that the system can kill it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::str::FromStr as _;
use std::time::Duration;

use hub::management::retention::Retention;
use hub::server::{Server, ServerOptions};
use hub::store::DatabaseUrl;
use hub_api::report::Report;
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::Value;

use crate::store::argument;
use crate::twins::wait;

/// The argument with which this program runs a hub until its input ends.
pub(crate) const SERVE: &str = "serve-as-a-hub";

/// The main function of the process: it prints its address, and ends with the test.
pub(crate) fn serve(url: &str) {
    let options = ServerOptions {
        listen: "127.0.0.1:0".into(),
        database: DatabaseUrl::from_str(url).unwrap(),
        issuer: None,
        certificate: None,
        retention: Retention::default(),
    };
    wait(async {
        let server = Server::start(options).await.unwrap();
        println!("{}", server.address());
        let input_ends = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
        server.run(async { drop(input_ends.await) }).await;
    });
}

/// A running hub.
pub(crate) struct Process {
    child: Child,
    pub(crate) door: Door,
}

/// The address and the client for requests to a hub.
#[derive(Clone)]
pub(crate) struct Door {
    address: String,
    client: Client,
}

/// The result of a request with reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The hub acknowledged the reports.
    Stored,
    /// The reports are not stored: the status, the detail, and whether the answer has a `Retry-After`.
    Refused(StatusCode, String, bool),
    /// There was no answer.
    Nothing,
}

impl Process {
    pub(crate) fn start(url: &DatabaseUrl) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        Self::start_as(command.args([SERVE, &argument(url)]))
    }

    /// A hub whose files cannot become larger than this, until [`Process::give_room`].
    pub(super) fn start_with_room(url: &DatabaseUrl, bytes: u64) -> Self {
        let mut command = Command::new("sh");
        // Without the signal, a write beyond the limit fails as it does on a full disk.
        command.args(["-c", "trap '' XFSZ; exec prlimit --fsize=$1:unlimited \"$2\" \"$3\" \"$4\"", "sh"]);
        command.arg(bytes.to_string()).arg(std::env::current_exe().unwrap());
        Self::start_as(command.args([SERVE, &argument(url)]))
    }

    fn start_as(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        hub_api::tls::install_provider();
        let client = Client::builder().no_proxy().timeout(Duration::from_secs(40)).build().unwrap();
        Self { child, door: Door { address: address.trim().to_owned(), client } }
    }

    /// Ends the process as `kill -9` does.
    pub(super) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(super) fn give_room(&self) {
        let pid = self.child.id().to_string();
        let status = Command::new("prlimit").args(["--fsize=unlimited", "--pid", &pid]).status().unwrap();
        assert!(status.success());
    }

    /// The highest memory use of the process, in MiB, if the system provides it.
    pub(super) fn peak_mebibytes(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        Some(peak.trim().trim_end_matches(" kB").parse::<u64>().ok()? / 1024)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Door {
    pub(crate) async fn get(&self, path: &str) -> StatusCode {
        self.client.get(format!("http://{}{path}", self.address)).send().await.unwrap().status()
    }

    pub(crate) fn post(&self, path: &str) -> RequestBuilder {
        self.client.post(format!("http://{}{path}", self.address))
    }

    /// Opens a stream of changes, after an event if one is given.
    pub(super) async fn follow(&self, after: &str) -> Response {
        let client = Client::builder().no_proxy().build().unwrap();
        let mut request = client.get(format!("http://{}/api/v1/events", self.address));
        if !after.is_empty() {
            request = request.header("last-event-id", after);
        }
        request.send().await.unwrap().error_for_status().unwrap()
    }

    pub(super) async fn send(&self, reports: &[Report]) -> Answer {
        let body = reports.iter().map(hub_api::report::generic::write).collect::<Vec<_>>().join("\n");
        let request = self.client.post(format!("http://{}/api/v1/reports", self.address));
        let Ok(response) = request.header("content-type", "application/x-ndjson").body(body).send().await else {
            return Answer::Nothing;
        };
        answer(response, reports.len()).await.unwrap_or(Answer::Nothing)
    }

    /// Sends the reports until they are stored.
    pub(super) async fn insist(&self, reports: &[Report]) {
        while self.send(reports).await != Answer::Stored {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

async fn answer(response: Response, sent: usize) -> Option<Answer> {
    let (status, says_when) = (response.status(), response.headers().contains_key("retry-after"));
    let body: Value = response.json().await.ok()?;
    if status != StatusCode::OK {
        return Some(Answer::Refused(status, body["detail"].as_str()?.to_owned(), says_when));
    }
    let taken: u64 = ["stored", "confirmed", "repeated"].iter().filter_map(|name| body[name].as_u64()).sum();
    assert_eq!(taken, sent as u64, "{body}");
    Some(Answer::Stored)
}
