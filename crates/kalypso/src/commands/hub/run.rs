//! `kalypso hub run`: runs the hub until it is stopped.

use std::io::IsTerminal as _;

use anyhow::Context as _;
use hub::server::{self, Server, ServerError, ServerOptions};
use hub::tls::Certificate;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;

use super::reload;
use crate::arguments::{HubRun, LogFormat, LogLevel};
use crate::exit::{Exit, Failure};
use crate::{configuration, hub_tasks, interrupts};

/// The crates whose messages are logged.
const OWN_CRATES: [&str; 4] = ["azure", "hub", "kalypso", "watch"];

pub(super) fn run(options: &HubRun) -> anyhow::Result<Exit> {
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
        server.run(server::stop_requested()).await;
        reloading.abort();
        Ok(Exit::Good)
    })
}

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
