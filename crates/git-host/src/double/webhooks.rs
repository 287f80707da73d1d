//! Sends webhooks to a service on this machine.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::mpsc::{self, SyncSender};
use std::thread;
use std::time::Duration;

use model::secret::Secret;
use reqwest::Url;

use super::events::{RepositoryWebhooks, SentWebhook};
use crate::kind::HostKind;
use crate::pull_request::{PullRequest, PullRequestState};

/// The number of webhooks that wait. More are lost, as on real hosts.
const WAITING_MAX: usize = 64;
/// How long the service may take for each step.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The service that receives webhooks.
#[derive(Clone, Debug)]
pub struct WebhookTarget {
    /// Its HTTP address for webhooks, on this machine.
    pub url: String,
    /// The secret that signs them.
    pub secret: Secret,
    /// The address below which the service knows the repositories.
    pub repositories_url: String,
}

/// Sends webhooks in the background. It ends when it is dropped, after those that wait.
#[derive(Debug)]
pub(super) struct Webhooks {
    kind: HostKind,
    secret: Secret,
    repositories_url: String,
    queue: SyncSender<SentWebhook>,
}

impl Webhooks {
    pub(super) fn new(kind: HostKind, target: WebhookTarget) -> Self {
        let (queue, waiting) = mpsc::sync_channel::<SentWebhook>(WAITING_MAX);
        thread::spawn(move || {
            for webhook in waiting {
                // What does not arrive is lost, as on real hosts.
                let _ = send(&target.url, &webhook);
            }
        });
        let repositories_url = target.repositories_url.trim_end_matches('/').to_owned();
        Self { kind, secret: target.secret, repositories_url, queue }
    }

    /// Announces that a pull request changed. If it was merged, also that its target branch did.
    pub(super) fn announce(&self, repository: &str, pull_request: &PullRequest) {
        let url = format!("{}/{repository}.git", self.repositories_url);
        let webhooks = RepositoryWebhooks { kind: self.kind, secret: &self.secret, url: &url };
        if let PullRequestState::Merged { commit } = pull_request.state {
            self.enqueue(webhooks.push(&pull_request.base, commit));
        }
        self.enqueue(webhooks.pull_request(pull_request));
    }

    fn enqueue(&self, webhook: SentWebhook) {
        let _ = self.queue.try_send(webhook);
    }
}

fn send(url: &str, webhook: &SentWebhook) -> io::Result<()> {
    let url = Url::parse(url).map_err(io::Error::other)?;
    let (host, port) = (url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default());
    let address = (host.trim_matches(['[', ']']), port).to_socket_addrs()?.next();
    let address = address.ok_or_else(|| io::Error::other("the address of the service is not known"))?;
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let headers: String = webhook.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let (path, body) = (url.path(), &webhook.body);
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: {host}:{port}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         {headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )?;
    // The service has the webhook when it begins to answer. Hosts do not send it again, whatever the answer is.
    stream.read_exact(&mut [0])
}
