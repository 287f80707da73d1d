//! `kalypso hub run`: runs the hub until it is stopped.

use std::any::Any;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use hub::server::local_promotions::LocalPromotions;
use hub::server::tls::Certificate;
use hub::server::{self, Server, ServerError, ServerOptions};
use service::{Service, ServiceSettings};

use super::{database_lock, reload};
use crate::arguments::HubRun;
use crate::configuration::{self, HubConfiguration};
use crate::exit::{Exit, Failure};
use crate::hub_tasks::{LocalHub, LocalLeases};
use crate::telemetry::Telemetry;
use crate::{compiled_environments, hub_tasks, interrupts, stopping};

/// How long running syncs may take when the program stops. What is not ended then, the next start completes.
const STOP_PATIENCE: Duration = Duration::from_secs(20);

/// Reads the settings of the service again. It blocks.
type Again = Arc<dyn Fn(&HubOfService) -> anyhow::Result<ServiceSettings> + Send + Sync>;

/// What the service uses of the hub in its process.
#[derive(Clone)]
pub(in crate::commands) struct HubOfService {
    /// Receives publications.
    pub(in crate::commands) hub: Arc<LocalHub>,
    /// Answers and stores what promotions need.
    pub(in crate::commands) promotions: LocalPromotions,
    /// The leases, if several replicas can share the database.
    pub(in crate::commands) leases: Option<Arc<LocalLeases>>,
}

/// Starts what runs beside the service, when the hub listens at a URL. It ends when the result is dropped.
pub(in crate::commands) type Beside = Box<dyn FnOnce(&str) -> Box<dyn Any + Send> + Send>;

/// How the service begins: its settings for the hub of this process, and how to read them again.
pub(in crate::commands) struct Beginning {
    /// The settings that were read at the start.
    pub(in crate::commands) first: Box<dyn FnOnce(&HubOfService) -> ServiceSettings>,
    /// Reads the settings again.
    pub(in crate::commands) again: Again,
    /// Starts the parts of the demo, if it is one.
    pub(in crate::commands) beside: Option<Beside>,
}

pub(super) fn run(options: &HubRun) -> anyhow::Result<Exit> {
    run_with(options, configuration::read_hub(&options.database)?, None)
}

/// Runs the hub, and with a beginning also the service.
pub(in crate::commands) fn run_with(
    options: &HubRun,
    configuration: HubConfiguration,
    service: Option<Beginning>,
) -> anyhow::Result<Exit> {
    let named = options.tls_certificate.clone().zip(options.tls_key.clone());
    let named = named.map(|(certificate, key)| Certificate { certificate, key });
    let (azure, watched, environments) = (configuration.azure, configuration.watch, configuration.environments);
    let (rules, heartbeats) = (configuration.rules, configuration.heartbeats);
    let settings = ServerOptions {
        listen: options.listen.clone().unwrap_or(configuration.listen),
        database: configuration.database,
        issuer: configuration.issuer,
        certificate: named.or(configuration.certificate),
        retention: configuration.retention,
    };
    let telemetry = Telemetry::start(options.log, options.log_format)?;
    let _lock = database_lock::take(&settings.database)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let exit = runtime.context("the program can't wait for several things at once")?.block_on(async {
        let mut signals = Signals::handled();
        let server = tokio::select! {
            server = Server::start(settings) => server.map_err(failure)?,
            () = &mut signals.stop => return Ok(Exit::Good),
        };
        let server = server.with_rules(rules).demanding(heartbeats).presenting(web::with_pages);
        let server = hub_tasks::poll_azure(server, azure)?;
        let server = hub_tasks::read_branches(server, watched);
        server.order(environments).await.map_err(failure)?;
        interrupts::are_handled();
        let reloading = tokio::spawn(reload::watch(options.database.clone(), server.reload()));
        match service {
            None => server.run(signals.stop).await,
            Some(beginning) => serve(server, beginning, signals).await?,
        }
        reloading.abort();
        Ok(Exit::Good)
    });
    telemetry.stop();
    exit
}

/// Runs the service beside the hub. When the program is to stop, syncs end before the hub.
async fn serve(server: Server, beginning: Beginning, signals: Signals) -> anyhow::Result<()> {
    let (server, hub) = hub_tasks::receive_publications(server);
    let (server, leases) = hub_tasks::share_leases(server)?;
    let (server, promotions) = server.answering_promotions();
    let hub = HubOfService { hub: Arc::new(hub), promotions, leases };
    let url = format!("http://{}", server.address());
    let beside = beginning.beside.map(|start| tokio::task::spawn_blocking(move || start(&url)));
    let service = Arc::new(Service::start((beginning.first)(&hub)));
    let reloading = tokio::spawn(reload_service(Arc::clone(&service), beginning.again, hub, signals.reload));
    let stopping = {
        let service = Arc::clone(&service);
        async move {
            signals.stop.await;
            tracing::info!("stopping: syncs that are under way are finished");
            // Nothing waits for the rate limit of a git host any more.
            stopping::begin();
            let beside = match beside {
                Some(beside) => beside.await.ok(),
                None => None,
            };
            let stop = move || {
                service.stop(STOP_PATIENCE);
                drop(beside);
            };
            if let Err(error) = tokio::task::spawn_blocking(stop).await {
                tracing::error!(%error, "the service did not stop in order");
            }
        }
    };
    let promotions = Arc::clone(&service);
    let server = compiled_environments::serve(server, &service);
    server.serving(service).promoting(promotions).run(stopping).await;
    reloading.abort();
    Ok(())
}

/// The signals that the program handles from the creation of this value on, also while it starts.
struct Signals {
    /// Completes when the program is to stop.
    stop: Pin<Box<dyn Future<Output = ()> + Send>>,
    reload: ReloadRequests,
}

/// The SIGHUPs. None if they can't be received.
#[cfg(unix)]
type ReloadRequests = Option<tokio::signal::unix::Signal>;
#[cfg(not(unix))]
type ReloadRequests = ();

impl Signals {
    fn handled() -> Self {
        #[cfg(unix)]
        let reload = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup()).ok();
        #[cfg(not(unix))]
        let reload = ();
        Self { stop: Box::pin(server::stop_requested()), reload }
    }
}

/// Reads the settings of the service again at each SIGHUP. Wrong settings change nothing.
#[cfg(unix)]
async fn reload_service(service: Arc<Service>, again: Again, hub: HubOfService, requests: ReloadRequests) {
    let Some(mut requests) = requests else { return };
    while requests.recv().await.is_some() {
        let (service, again, hub) = (Arc::clone(&service), Arc::clone(&again), hub.clone());
        // Clients of git hosts can only be made and dropped where blocking is allowed.
        let reloaded = tokio::task::spawn_blocking(move || match again(&hub) {
            Ok(settings) => {
                tracing::info!("the configuration of the service is read again");
                service.replace(settings);
            }
            Err(error) => tracing::error!("the configuration is wrong, so the one before stays: {error:#}"),
        });
        if let Err(error) = reloaded.await {
            tracing::error!(%error, "the configuration can't be read again");
        }
    }
}

/// Without SIGHUP, the settings are read only once.
#[cfg(not(unix))]
async fn reload_service(_service: Arc<Service>, _again: Again, _hub: HubOfService, (): ReloadRequests) {}

fn failure(error: ServerError) -> Failure {
    let message = error.to_string();
    match error {
        ServerError::Open(_) => Failure::refused(message)
            .help("make a token first, `kalypso hub token create NAME --role admin`, configure `hub.oidc`, or listen on 127.0.0.1"),
        ServerError::Issuer(_) | ServerError::Certificate(_) | ServerError::Environments(_) => Failure::usage(message),
        ServerError::Listen { .. } | ServerError::Database(_) | ServerError::Order(_) => Failure::outside(message),
    }
}
