//! `kalypso hub run`: runs the hub until it is stopped.

use std::any::Any;
use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use hub::server::{self, Server, ServerError, ServerOptions};
use hub::tls::Certificate;
use service::{Service, ServiceSettings};
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;

use super::reload;
use crate::arguments::{HubRun, LogFormat, LogLevel};
use crate::exit::{Exit, Failure};
use crate::hub_tasks::LocalHub;
use crate::{configuration, hub_tasks, interrupts};

/// The crates whose messages are logged.
const OWN_CRATES: [&str; 5] = ["azure", "hub", "kalypso", "service", "watch"];

/// How long running syncs may take when the program stops. What is not ended then, the next start completes.
const STOP_PATIENCE: Duration = Duration::from_secs(20);

/// Reads the settings of the service again. It blocks.
type Again = Arc<dyn Fn(Arc<LocalHub>) -> anyhow::Result<ServiceSettings> + Send + Sync>;

/// Starts what runs beside the service, when the hub listens at a URL. It ends when the result is dropped.
pub(in crate::commands) type Beside = Box<dyn FnOnce(&str) -> Box<dyn Any + Send> + Send>;

/// How the service begins: its settings for the hub of this process, and how to read them again.
pub(in crate::commands) struct Beginning {
    /// The settings that were read at the start.
    pub(in crate::commands) first: Box<dyn FnOnce(Arc<LocalHub>) -> ServiceSettings>,
    /// Reads the settings again.
    pub(in crate::commands) again: Again,
    /// Starts the parts of the demo, if it is one.
    pub(in crate::commands) beside: Option<Beside>,
}

pub(super) fn run(options: &HubRun) -> anyhow::Result<Exit> {
    run_with(options, None)
}

/// Runs the hub, and with a beginning also the service.
pub(in crate::commands) fn run_with(options: &HubRun, service: Option<Beginning>) -> anyhow::Result<Exit> {
    let configuration = configuration::read_hub(&options.database)?;
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
    log(options);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.context("the program can't wait for several things at once")?.block_on(async {
        let server = Server::start(settings).await.map_err(failure)?;
        let server = server.with_rules(rules).demanding(heartbeats);
        let server = hub_tasks::poll_azure(server, azure)?;
        let server = hub_tasks::read_branches(server, watched);
        server.order(environments).await.map_err(failure)?;
        interrupts::are_handled();
        let reloading = tokio::spawn(reload::watch(options.database.clone(), server.reload()));
        match service {
            None => server.run(server::stop_requested()).await,
            Some(beginning) => serve(server, beginning).await,
        }
        reloading.abort();
        Ok(Exit::Good)
    })
}

/// Runs the service beside the hub. When the program is to stop, syncs end before the hub.
async fn serve(server: Server, beginning: Beginning) {
    let (server, hub) = hub_tasks::receive_publications(server);
    let hub = Arc::new(hub);
    let url = format!("http://{}", server.address());
    let beside = beginning.beside.map(|start| tokio::task::spawn_blocking(move || start(&url)));
    let service = Arc::new(Service::start((beginning.first)(Arc::clone(&hub))));
    let reloading = tokio::spawn(reload_service(Arc::clone(&service), beginning.again, hub));
    let stopping = {
        let service = Arc::clone(&service);
        async move {
            server::stop_requested().await;
            tracing::info!("stopping: syncs that are under way are finished");
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
    server.serving(service).run(stopping).await;
    reloading.abort();
}

/// Reads the settings of the service again at each SIGHUP. Wrong settings change nothing.
#[cfg(unix)]
async fn reload_service(service: Arc<Service>, again: Again, hub: Arc<LocalHub>) {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut requests) = signal(SignalKind::hangup()) else { return };
    while requests.recv().await.is_some() {
        let (service, again, hub) = (Arc::clone(&service), Arc::clone(&again), Arc::clone(&hub));
        // Clients of git hosts can only be made and dropped where blocking is allowed.
        let reloaded = tokio::task::spawn_blocking(move || match again(hub) {
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
async fn reload_service(_service: Arc<Service>, _again: Again, _hub: Arc<LocalHub>) {}

/// Sets up the log on standard error.
fn log(options: &HubRun) {
    let level = match options.log {
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
    };
    // Only the crates of Kalypso are logged: libraries log too much, and SQL statements with their values.
    let filter = OWN_CRATES.map(|name| (name, level)).into_iter().collect::<tracing_subscriber::filter::Targets>();
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_target(false);
    let lines = match options.log_format {
        LogFormat::Human => lines.with_ansi(std::io::stderr().is_terminal()).boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(lines.with_filter(filter)));
}

fn failure(error: ServerError) -> Failure {
    let message = error.to_string();
    match error {
        ServerError::Open(_) => Failure::refused(message)
            .help("make a token first, `kalypso hub token create NAME --role admin`, configure `hub.oidc`, or listen on 127.0.0.1"),
        ServerError::Issuer(_) | ServerError::Certificate(_) | ServerError::Environments(_) => Failure::usage(message),
        ServerError::Listen { .. } | ServerError::Database(_) | ServerError::Order(_) => Failure::outside(message),
    }
}
