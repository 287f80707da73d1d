//! The background tasks of the hub that are in crates of their own: polling of Azure, and reading of branches.

use std::sync::Arc;
use std::time::Duration;

use azure::{HostNames, Poller, Source};
use git::GitRepositories;
use hub::server::Server;
use hub_api::client::ClientError;
use hub_api::publication::{Publication, PublicationReceipt};
use tokio::sync::{mpsc, oneshot};
use watch::{Resources, WatchSettings};

use crate::exit::Failure;

/// Adds the polling of sources in Azure to a server.
pub(crate) fn poll_azure(server: Server, sources: Vec<Source>) -> Result<Server, Failure> {
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

/// A publication, and where its receipt goes.
type Sent = (Publication, oneshot::Sender<Result<PublicationReceipt, ClientError>>);

/// The number of publications that wait.
const PUBLICATIONS_WAITING_MAX: usize = 16;
/// The name of the publisher in the audit log.
const SERVICE: &str = "the service";

/// Adds the storing of the service's publications to a server.
pub(crate) fn receive_publications(server: Server) -> (Server, LocalHub) {
    let (sender, mut receiver) = mpsc::channel::<Sent>(PUBLICATIONS_WAITING_MAX);
    let sink = server.publication_sink();
    let task = async move {
        while let Some((publication, receipt)) = receiver.recv().await {
            let result = sink.publish(publication, SERVICE).await;
            // Who no longer waits for the receipt is stopping.
            let _ = receipt.send(result.map_err(|error| ClientError::Refused {
                status: 503,
                detail: error.to_string(),
                hint: None,
                refused: Vec::new(),
            }));
        }
    };
    (server.with_task(task), LocalHub(sender))
}

impl delivery::hub_publication::Hub for LocalHub {
    fn publish(&self, publication: &Publication, _: Duration) -> Result<PublicationReceipt, ClientError> {
        let stopped =
            || ClientError::Unreachable { url: "this process".to_owned(), reason: "it is being stopped".to_owned() };
        let (sender, receiver) = oneshot::channel();
        self.0.blocking_send((publication.clone(), sender)).map_err(|_| stopped())?;
        receiver.blocking_recv().map_err(|_| stopped())?
    }
}
