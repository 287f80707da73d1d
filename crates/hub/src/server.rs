//! The hub as a process: it opens its database, listens, answers, and stops in order.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hub_api::publication::PublicationError;
use hub_api::sink::{BoxFuture, DesiredStateSink, ReportSink};
use hub_api::timestamp::Timestamp;
use hub_api::watches::WatchedBranches;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

use crate::audit;
use crate::authority::Authority;
use crate::configured::Configured;
use crate::connections;
use crate::desired::DesiredUpdate;
use crate::heartbeats::Heartbeat;
use crate::http::{self, App};
use crate::limits::{RETENTION_PERIOD, TOKEN_USE_NOTED};
use crate::observed::ObservedBranches;
use crate::oidc::{Issuer, IssuerError, IssuerSettings};
use crate::reload::Reload;
use crate::retention::{self, Retention};
use crate::rules::{self, Rule};
use crate::silence;
use crate::store::{Database, DatabaseError, DatabaseUrl, checkpoint};
use crate::tls::{Certificate, CertificateError};
use crate::tokens;
use crate::writer::{SubmitError, Writer};

/// How a hub is to run.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The address and port to listen on: `127.0.0.1:8080`, `localhost:0`.
    pub listen: String,
    /// Where everything is stored.
    pub database: DatabaseUrl,
    /// Who else says who somebody is.
    pub issuer: Option<IssuerSettings>,
    /// For TLS; without it, plain HTTP is spoken.
    pub certificate: Option<Certificate>,
    /// How much history is kept; all of it if nothing is said.
    pub retention: Retention,
}

/// The hub can't run like that.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// It can't listen there.
    #[error("the hub can't listen on {address}: {error}")]
    Listen {
        /// The address as it was given.
        address: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// Everybody who can reach the address could do everything.
    #[error("the hub does not listen on {0}, which others can reach, as long as it has no tokens")]
    Open(SocketAddr),
    /// The database can't be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The settings of the OIDC issuer are wrong.
    #[error(transparent)]
    Issuer(#[from] IssuerError),
    /// The certificate can't be used.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// What is said of environments can't be so.
    #[error("the environments can't be put in order: {0}")]
    Environments(#[source] PublicationError),
    /// The order of environments can't be stored.
    #[error(transparent)]
    Order(SubmitError),
}

/// A hub that listens, but does not answer yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
    app: App,
    writer: JoinHandle<()>,
    heartbeats: Configured<Heartbeat>,
    tasks: Vec<BoxFuture<'static, ()>>,
    retention: Retention,
}

impl Server {
    /// Opens the database and listens. Without a token the hub is open, and then only to its own machine.
    ///
    /// # Errors
    /// The database can't be opened, the address can't be listened on, or would let everybody in.
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
        let server = Self { listener, address, tls, app, writer, heartbeats, tasks, retention };
        server.say().await?;
        Ok(server)
    }

    /// The same with a background task. The task starts when the server runs; it is ended after the last request and before the writer.
    #[must_use]
    pub fn with_task(mut self, task: impl Future<Output = ()> + Send + 'static) -> Self {
        self.tasks.push(Box::pin(task));
        self
    }

    /// The same, which shows the states of branches that a task reads.
    #[must_use]
    pub fn watching(mut self, branches: Arc<dyn WatchedBranches>) -> Self {
        self.app = self.app.watching(branches);
        self
    }

    /// The destination of reports for tasks of this server. The writer ends when the last destination is gone: only tasks may keep one.
    pub fn report_sink(&self) -> Arc<dyn ReportSink> {
        Arc::new(self.app.ingest.clone())
    }

    /// The destination of observed desired state, with the same rule.
    pub fn desired_state_sink(&self) -> Arc<dyn DesiredStateSink> {
        Arc::new(ObservedBranches::new(self.app.database.clone(), self.app.ingest.clone()))
    }

    /// The same, which looks at these rules while it runs.
    #[must_use]
    pub fn with_rules(mut self, rules: Vec<Rule>) -> Self {
        self.app = self.app.ruled(Configured::new(rules));
        self
    }

    /// The same, which demands these heartbeats while it runs.
    #[must_use]
    pub fn demanding(self, heartbeats: Vec<Heartbeat>) -> Self {
        Self { heartbeats: Configured::new(heartbeats), ..self }
    }

    /// What replaces the rules and heartbeats while it runs. From now on SIGHUP does not end the process.
    pub fn reload(&self) -> Reload {
        Reload::new(self.app.rules.clone(), self.heartbeats.clone(), Arc::clone(&self.app.metrics))
    }

    /// Says in which order changes reach environments; nothing is said with none.
    ///
    /// # Errors
    /// A name is none, or the database can't store it.
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

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop`. Then it finishes what is under way, stores what waits, and closes the database.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Self { app, .. } = self;
        let (database, authority) = (app.database.clone(), app.authority.clone());
        let mut chores = JoinSet::new();
        chores.spawn(note_uses(authority.clone()));
        chores.spawn(silence::watch(database.clone(), self.heartbeats));
        chores.spawn(checkpoint::watch(database.clone()));
        chores.spawn(app.feed.clone().run());
        chores.spawn(rules::run(database.clone(), app.rules.clone(), app.metrics.rules.clone()));
        self.tasks.into_iter().for_each(|task| drop(chores.spawn(task)));
        chores.spawn(audit::run(database.clone(), self.retention.audit));
        if self.retention != Retention::default() {
            chores.spawn(forget(database.clone(), self.retention));
        }
        let stopping = {
            let app = app.clone();
            async move {
                stop.await;
                tracing::info!("stopping: requests that are under way are finished");
                app.stop();
            }
        };
        connections::serve(self.listener, self.tls, http::router(app), stopping).await;
        chores.shutdown().await;
        // All that could submit is gone: the writer ends when it has stored what waits.
        if let Err(error) = self.writer.await {
            tracing::error!(%error, "the writer did not end in order");
        }
        if let Err(error) = authority.write_uses().await {
            tracing::warn!(%error, "the last use of tokens is not noted");
        }
        database.close().await;
        tracing::info!("stopped");
    }

    async fn say(&self) -> Result<(), DatabaseError> {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        tracing::info!("listening on {scheme}://{}", self.address);
        if self.app.authority.is_open().await? {
            tracing::warn!(
                "there is no token yet: whoever can reach {} on this machine may do everything. `kalypso hub token create` makes the first one, and closes the hub for all others",
                self.address
            );
        }
        if self.tls.is_none() && !self.address.ip().is_loopback() {
            tracing::warn!("without TLS tokens can be read on the network: set a certificate, or put a proxy in front");
        }
        Ok(())
    }
}

/// Forgets history that need not be kept: soon after the start, and then again and again.
async fn forget(database: Database, retention: Retention) {
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
            tracing::warn!(%error, "the last use of tokens is not noted");
        }
    }
}

/// Waits for the signal to stop: SIGTERM or SIGINT, or Ctrl-C.
pub async fn stop_requested() {
    let interrupt = async {
        if let Err(error) = tokio::signal::ctrl_c().await {
            tracing::warn!(%error, "interrupts are not noticed");
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        () = interrupt => {}
        () = terminated() => {}
    }
}

#[cfg(unix)]
async fn terminated() {
    match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        Ok(mut signal) => drop(signal.recv().await),
        Err(error) => {
            tracing::warn!(%error, "SIGTERM is not noticed");
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(not(unix))]
async fn terminated() {
    std::future::pending().await
}
