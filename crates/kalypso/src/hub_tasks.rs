//! The background tasks of the hub that are in crates of their own: polling of Azure, and reading of branches.

use std::sync::Arc;
use std::time::Duration;

use azure::{AzureSource, HostNames, Poller};
use git::GitRepositories;
use hub::server::Server;
use hub::server::leases::Holder;
use hub_api::client::ClientError;
use hub_api::leases::{LeaseAnswer, LeaseError, LeaseRound, Leases};
use hub_api::publication::{Publication, PublicationQuery, PublicationReceipt, PublicationState};
use tokio::sync::{mpsc, oneshot};
use watch::{Resources, WatchSettings};

use crate::exit::Failure;

/// Adds the polling of sources in Azure to a server.
pub(crate) fn poll_azure(server: Server, sources: Vec<AzureSource>) -> Result<Server, Failure> {
    let hosts = HostNames::default();
    let pollers = sources.into_iter().map(|source| Poller::new(source, hosts.clone())).collect::<Result<_, _>>();
    let pollers = pollers.map_err(|error| Failure::outside(format!("Azure can't be queried: {error}")))?;
    let sink = server.report_sink();
    Ok(server.with_task(azure::run(pollers, sink)))
}

/// Adds the reading of branches to a server.
pub(crate) fn read_branches(server: Server, settings: Option<WatchSettings>) -> Server {
    let Some(WatchSettings { branches, pause, git }) = settings else { return server };
    let resources = Resources { sink: server.desired_state_sink(), repositories: Arc::new(GitRepositories::new(git)) };
    let (watches, task) = watch::watch(&resources, branches, pause);
    server.watching(Arc::new(watches)).with_task(task)
}

/// The hub of this process, for the threads of the service.
pub(crate) struct LocalHub(mpsc::Sender<Sent>);

/// A request to the hub, with where its answer goes.
enum Sent {
    Publication(Box<Publication>, Answer<PublicationReceipt>),
    Query(PublicationQuery, Answer<PublicationState>),
}

type Answer<T> = oneshot::Sender<Result<T, ClientError>>;

/// The number of publications that wait.
const PUBLICATIONS_WAITING_MAX: usize = 16;
/// The name of the publisher in the audit log.
const SERVICE: &str = "the service";

/// Adds the storing of the service's publications to a server.
pub(crate) fn receive_publications(server: Server) -> (Server, LocalHub) {
    let (sender, mut receiver) = mpsc::channel::<Sent>(PUBLICATIONS_WAITING_MAX);
    let sink = server.publication_sink();
    let task = async move {
        while let Some(sent) = receiver.recv().await {
            // Who no longer waits for the answer is stopping.
            match sent {
                Sent::Publication(publication, answer) => {
                    drop(answer.send(sink.publish(*publication, SERVICE).await.map_err(unavailable)));
                }
                Sent::Query(query, answer) => drop(answer.send(sink.state(&query).await.map_err(unavailable))),
            }
        }
    };
    (server.with_task(task), LocalHub(sender))
}

fn unavailable(error: impl std::fmt::Display) -> ClientError {
    ClientError::Refused { status: 503, detail: error.to_string(), hint: None, refused: Vec::new() }
}

impl LocalHub {
    fn ask<T>(&self, sent: impl FnOnce(Answer<T>) -> Sent) -> Result<T, ClientError> {
        let stopped =
            || ClientError::Unreachable { url: "this process".to_owned(), reason: "it is being stopped".to_owned() };
        let (sender, receiver) = oneshot::channel();
        self.0.blocking_send(sent(sender)).map_err(|_| stopped())?;
        receiver.blocking_recv().map_err(|_| stopped())?
    }
}

impl delivery::publication::hub_publication::Hub for LocalHub {
    fn publish(&self, publication: &Publication, _: Duration) -> Result<PublicationReceipt, ClientError> {
        self.ask(|answer| Sent::Publication(Box::new(publication.clone()), answer))
    }

    fn publication_state(&self, query: &PublicationQuery) -> Result<PublicationState, ClientError> {
        self.ask(|answer| Sent::Query(query.clone(), answer))
    }
}

/// How long a lease lasts since it was renewed. The service renews it three times in this time. When its holder is killed, another replica leads after at most this
/// time.
const LEASE_DURATION: Duration = Duration::from_secs(10);
/// How long a round of leases may take. The database may not answer at all.
const LEASES_TIMEOUT: Duration = Duration::from_secs(3);

/// The leases in the database of this process, for the threads of the service.
#[derive(Debug)]
pub(crate) struct LocalLeases(mpsc::Sender<SentRound>);

/// A round, and where its answer goes.
type SentRound = (LeaseRound, oneshot::Sender<Result<LeaseAnswer, LeaseError>>);

/// Adds the storing of leases to a server, if several replicas can share its database.
pub(crate) fn share_leases(server: Server) -> anyhow::Result<(Server, Option<Arc<LocalLeases>>)> {
    let mut id = [0; 16];
    getrandom::fill(&mut id)
        .map_err(|error| Failure::outside(format!("the system gives no random numbers: {error}")))?;
    let id = format!("{:032x}", u128::from_be_bytes(id));
    let name = format!("{}:{}", machine_name(), server.address().port());
    let Some(table) = server.leases(Holder { id, name }, LEASE_DURATION) else {
        return Ok((server, None));
    };
    let (sender, mut receiver) = mpsc::channel::<SentRound>(1);
    let task = async move {
        while let Some((round, answer)) = receiver.recv().await {
            let result = tokio::time::timeout(LEASES_TIMEOUT, table.exchange(&round)).await;
            let result = result.map_or_else(
                |_| Err(LeaseError("the database does not answer".to_owned())),
                |result| result.map_err(|error| LeaseError(error.to_string())),
            );
            // Who no longer waits for the answer is stopping.
            let _ = answer.send(result);
        }
    };
    Ok((server.with_task(task), Some(Arc::new(LocalLeases(sender)))))
}

impl Leases for LocalLeases {
    fn duration(&self) -> Duration {
        LEASE_DURATION
    }

    fn exchange(&self, round: LeaseRound) -> Result<LeaseAnswer, LeaseError> {
        let stopped = || LeaseError("the hub of this process is being stopped".to_owned());
        let (sender, receiver) = oneshot::channel();
        self.0.blocking_send((round, sender)).map_err(|_| stopped())?;
        receiver.blocking_recv().map_err(|_| stopped())?
    }
}

/// The name of this machine, which is that of the pod on Kubernetes.
#[cfg(unix)]
fn machine_name() -> String {
    nix::unistd::gethostname()
        .ok()
        .and_then(|name| name.into_string().ok())
        .unwrap_or_else(|| "this machine".to_owned())
}

/// The name of this machine.
#[cfg(not(unix))]
fn machine_name() -> String {
    "this machine".to_owned()
}
