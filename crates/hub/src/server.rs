//! The process of the hub: it opens its database, listens, serves requests, and shuts down in order.

pub(crate) mod connections;
pub mod leases;
pub mod local_promotions;
pub mod reload;
pub mod shared_manifests;
pub mod tls;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hub_api::compiled::CompiledEnvironments;
use hub_api::promotions::PromotionService;
use hub_api::publication::PublicationError;
use hub_api::sink::{BoxFuture, DesiredStateSink, ReportSink};
use hub_api::syncs::SyncService;
use hub_api::timestamp::Timestamp;
use hub_api::watches::WatchedBranches;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

use self::local_promotions::LocalPromotions;
use crate::authentication::authority::Authority;
use crate::authentication::oidc::{Issuer, IssuerError, IssuerSettings};
use crate::authentication::{sessions, tokens};
use crate::configured::Configured;
use crate::count_history;
use crate::desired::DesiredUpdate;
use crate::http::{self, App, Pages};
use crate::limits::{RETENTION_PERIOD, TOKEN_USE_NOTED};
use crate::management::audit;
use crate::management::retention::{self, Retention};
use crate::promotions::PromotionStore;
use crate::rules::{self, Rule};
use crate::server::leases::{Holder, LeaseTable};
use crate::server::reload::Reload;
use crate::server::tls::{Certificate, CertificateError};
use crate::silence;
use crate::silence::heartbeats::Heartbeat;
use crate::store::{Database, DatabaseError, DatabaseUrl, Dialect, checkpoint};
use crate::writer::observed::ObservedBranches;
use crate::writer::publications::PublicationSink;
use crate::writer::{SubmitError, Writer};

/// The settings of a hub.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The address and port to listen on, such as `127.0.0.1:8080` or `localhost:0`.
    pub listen: String,
    /// The URL of the database.
    pub database: DatabaseUrl,
    /// The OIDC issuer whose tokens are accepted besides those of the hub.
    pub issuer: Option<IssuerSettings>,
    /// The certificate for TLS; without it, the hub serves plain HTTP.
    pub certificate: Option<Certificate>,
    /// How much history is kept. By default, history is not deleted.
    pub retention: Retention,
}

/// The hub cannot start with these settings.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The hub cannot listen on the address.
    #[error("the hub can't listen on {address}: {error}")]
    Listen {
        /// The address as it was configured.
        address: String,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// The address is reachable from other machines, and the hub has no token: every client would have all permissions.
    #[error("the hub has no tokens, so it does not listen on {0}, which other machines can reach")]
    Open(SocketAddr),
    /// The database cannot be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The settings of the OIDC issuer are not valid.
    #[error(transparent)]
    Issuer(#[from] IssuerError),
    /// The certificate cannot be used.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// The order of environments is not valid.
    #[error("the order of environments is not valid: {0}")]
    Environments(#[source] PublicationError),
    /// The order of environments cannot be stored.
    #[error(transparent)]
    Order(SubmitError),
}

/// A hub that listens, but does not serve requests yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
    app: App,
    writer: JoinHandle<()>,
    heartbeats: Configured<Heartbeat>,
    tasks: Vec<BoxFuture<'static, ()>>,
    retention: Retention,
    pages: Option<Pages>,
}

impl Server {
    /// Opens the database and listens. A hub without tokens allows all requests, and therefore listens only on a loopback address.
    ///
    /// # Errors
    /// The database cannot be opened, the hub cannot listen on the address, or there is no token and the address is reachable from other machines. A
    /// setting of the issuer or the certificate is not valid.
    pub async fn start(options: ServerOptions) -> Result<Self, ServerError> {
        let issuer = options.issuer.map(Issuer::new).transpose()?;
        let tls = options.certificate.as_ref().map(Certificate::acceptor).transpose()?;
        let listen_error = |error| ServerError::Listen { address: options.listen.clone(), error };
        let listener = TcpListener::bind(&options.listen).await.map_err(listen_error)?;
        let address = listener.local_addr().map_err(listen_error)?;
        let database = Database::open(&options.database).await?;
        let is_here = address.ip().is_loopback();
        if !is_here && issuer.is_none() && !tokens::any(&database).await? {
            return Err(ServerError::Open(address));
        }
        let authority = Authority::new(database.clone(), issuer, is_here);
        let (ingest, writer) = Writer::start(database.clone());
        let app = App::new(database, ingest, authority);
        let (heartbeats, tasks, retention) = (Configured::default(), Vec::new(), options.retention);
        let server = Self { listener, address, tls, app, writer, heartbeats, tasks, retention, pages: None };
        server.say().await?;
        Ok(server)
    }

    /// Adds a background task. The task starts when the server runs. It is aborted after the last request and before the writer ends.
    #[must_use]
    pub fn with_task(mut self, task: impl Future<Output = ()> + Send + 'static) -> Self {
        self.tasks.push(Box::pin(task));
        self
    }

    /// Serves pages for people beside the API.
    #[must_use]
    pub fn presenting(self, pages: Pages) -> Self {
        Self { pages: Some(pages), ..self }
    }

    /// Adds the source of the states of watched branches, which the API shows.
    #[must_use]
    pub fn watching(mut self, branches: Arc<dyn WatchedBranches>) -> Self {
        self.app = self.app.watching(branches);
        self
    }

    /// Adds the service that syncs environments, which the API shows.
    #[must_use]
    pub fn serving(mut self, service: Arc<dyn SyncService>) -> Self {
        self.app = self.app.serving(service);
        self
    }

    /// Adds the service that moves changes through environments, which the API shows.
    #[must_use]
    pub fn promoting(mut self, promotions: Arc<dyn PromotionService>) -> Self {
        self.app = self.app.promoting(promotions);
        self
    }

    /// Adds the program that compiles environments, and answers questions about them.
    #[must_use]
    pub fn compiling(mut self, compiled: Arc<dyn CompiledEnvironments>) -> Self {
        self.app = self.app.compiling(compiled);
        self
    }

    /// The sink for reports of tasks of this server. The writer ends when the last sink is dropped. So only tasks may keep one.
    pub fn report_sink(&self) -> Arc<dyn ReportSink> {
        Arc::new(self.app.ingest.clone())
    }

    /// The sink for publications of this process. Only tasks may keep one, too.
    pub fn publication_sink(&self) -> PublicationSink {
        PublicationSink { database: self.app.database.clone(), ingest: self.app.ingest.clone() }
    }

    /// Adds the answers for the controller of promotions in this process, which asks from threads of its own.
    #[must_use]
    pub fn answering_promotions(self) -> (Self, LocalPromotions) {
        let hub = PromotionStore { database: self.app.database.clone() };
        let (task, asking) = local_promotions::answers(hub);
        (self.with_task(task), asking)
    }

    /// The leases of environments, for several replicas that share the database. None: the database can have only one replica. Only tasks may keep them, too.
    pub fn leases(&self, holder: Holder, duration: Duration) -> Option<LeaseTable> {
        let database = self.app.database.clone();
        (database.dialect() == Dialect::Postgres).then_some(LeaseTable { database, holder, duration })
    }

    /// The sink for observed desired state. Only tasks may keep one, too.
    pub fn desired_state_sink(&self) -> Arc<dyn DesiredStateSink> {
        Arc::new(ObservedBranches::new(self.app.database.clone(), self.app.ingest.clone()))
    }

    /// Sets the rules that are evaluated while the server runs.
    #[must_use]
    pub fn with_rules(mut self, rules: Vec<Rule>) -> Self {
        self.app = self.app.ruled(Configured::new(rules));
        self
    }

    /// Sets the heartbeats that are required while the server runs.
    #[must_use]
    pub fn demanding(self, heartbeats: Vec<Heartbeat>) -> Self {
        Self { heartbeats: Configured::new(heartbeats), ..self }
    }

    /// The handle that replaces the rules and heartbeats while the server runs. After this call, SIGHUP does not end the process.
    pub fn reload(&self) -> Reload {
        Reload::new(self.app.rules.clone(), self.heartbeats.clone(), Arc::clone(&self.app.metrics))
    }

    /// Sets the order in which changes reach environments. An empty list leaves the stored order unchanged.
    ///
    /// # Errors
    /// A name is not valid, or the database cannot store the order.
    pub async fn order(&self, environments: Vec<String>) -> Result<(), ServerError> {
        if environments.is_empty() {
            return Ok(());
        }
        let update = DesiredUpdate::Ordered(environments);
        update.check().map_err(ServerError::Environments)?;
        match self.app.ingest.update_desired(update).await {
            Ok(_) => Ok(()),
            Err(error) => Err(ServerError::Order(error)),
        }
    }

    /// The address on which the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves requests until `stop`. Then it finishes open requests, stores the waiting reports, and closes the database.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Self { app, .. } = self;
        let (database, authority) = (app.database.clone(), app.authority.clone());
        let mut chores = JoinSet::new();
        chores.spawn(note_uses(authority.clone()));
        chores.spawn(sessions::run(database.clone()));
        chores.spawn(silence::watch(database.clone(), self.heartbeats));
        chores.spawn(checkpoint::watch(database.clone()));
        chores.spawn(count_history::run(database.clone()));
        chores.spawn(shared_manifests::watch(database.clone()));
        chores.spawn(app.feed.clone().run());
        chores.spawn(rules::run(database.clone(), app.rules.clone(), app.metrics.rules.clone()));
        self.tasks.into_iter().for_each(|task| drop(chores.spawn(task)));
        chores.spawn(audit::run(database.clone(), self.retention.audit));
        if self.retention != Retention::default() {
            chores.spawn(delete_expired(database.clone(), self.retention));
        }
        let stopping = {
            let app = app.clone();
            async move {
                stop.await;
                tracing::info!("stopping: requests that are under way are finished");
                app.stop();
            }
        };
        connections::serve(self.listener, self.tls, http::router(app, self.pages), stopping).await;
        chores.shutdown().await;
        // All sinks are dropped. The writer ends when it has stored the waiting reports.
        if let Err(error) = self.writer.await {
            tracing::error!(%error, "the writer ended with an error");
        }
        if let Err(error) = authority.write_uses().await {
            tracing::warn!(%error, "the last use of tokens and sessions can't be stored");
        }
        database.close().await;
        tracing::info!("stopped");
    }

    async fn say(&self) -> Result<(), DatabaseError> {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        tracing::info!("listening on {scheme}://{}", self.address);
        if self.app.authority.is_open().await? {
            tracing::warn!(
                "there is no token yet: every process on this machine that can reach {} has full access. `kalypso hub token create` creates the first token; from then on, every request needs a token",
                self.address
            );
        }
        if self.tls.is_none() && !self.address.ip().is_loopback() {
            tracing::warn!("without TLS tokens can be read on the network: set a certificate, or put a proxy in front");
        }
        Ok(())
    }
}

/// Deletes history beyond the retention: soon after the start, and then periodically.
async fn delete_expired(database: Database, retention: Retention) {
    let mut pause = Duration::ZERO;
    let next = move || {
        let pause = std::mem::replace(&mut pause, RETENTION_PERIOD);
        async move {
            tokio::time::sleep(pause).await;
            Some(Timestamp::now())
        }
    };
    retention::run(database, retention, next).await;
}

async fn note_uses(authority: Authority) {
    loop {
        tokio::time::sleep(TOKEN_USE_NOTED).await;
        if let Err(error) = authority.write_uses().await {
            tracing::warn!(%error, "the last use of tokens and sessions can't be stored");
        }
    }
}

/// Waits for a signal to stop: SIGTERM or SIGINT, or Ctrl-C. A SIGTERM counts from the call on, also if the result is awaited later.
///
/// Must be called in a runtime of tokio.
pub fn stop_requested() -> impl Future<Output = ()> + Send + use<> {
    let interrupt = async {
        if let Err(error) = tokio::signal::ctrl_c().await {
            tracing::warn!(%error, "SIGINT can't be handled");
            std::future::pending::<()>().await;
        }
    };
    let terminated = terminated();
    async {
        tokio::select! {
            () = interrupt => {}
            () = terminated => {}
        }
    }
}

#[cfg(unix)]
fn terminated() -> impl Future<Output = ()> {
    let signal = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate());
    async {
        match signal {
            Ok(mut signal) => drop(signal.recv().await),
            Err(error) => {
                tracing::warn!(%error, "SIGTERM can't be handled");
                std::future::pending::<()>().await;
            }
        }
    }
}

#[cfg(not(unix))]
async fn terminated() {
    std::future::pending().await
}
