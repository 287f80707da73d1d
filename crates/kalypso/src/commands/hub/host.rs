//! `kalypso hub host`: the hosts in the hub's database.

use hub::management::hosts::{self, HostFilter, HostPart, HostRegistrationError, ReconcilerRegistration, Registration};
use hub_api::endpoint::Endpoint;
use hub_api::hosts::{ApartReport, Host};
use hub_api::timestamp::Timestamp;
use serde_json::json;

use super::{labels, unusable, with_database};
use crate::arguments::{Format, HubHostAdd, HubHostApart, HubHostCommand, HubHostList};
use crate::exit::{Exit, Failure};
use crate::hub_client::{ago, plain};
use crate::{table, terminal};

pub(super) fn run(command: &HubHostCommand) -> anyhow::Result<Exit> {
    match command {
        HubHostCommand::Add(options) => add(options),
        HubHostCommand::List(options) => list(options),
        HubHostCommand::Apart(options) => apart(options),
        HubHostCommand::Retire(options) => with_database(&options.database, async |database| {
            let part = HostPart { host: &options.host, reconciler: options.reconciler.as_deref() };
            hosts::retire(database, part, &super::actor()).await.map_err(failure)?;
            Ok(Exit::Good)
        }),
        HubHostCommand::Restore(options) => with_database(&options.database, async |database| {
            let part = HostPart { host: &options.host, reconciler: options.reconciler.as_deref() };
            hosts::restore(database, part, &super::actor()).await.map_err(failure)?;
            Ok(Exit::Good)
        }),
    }
}

fn add(options: &HubHostAdd) -> anyhow::Result<Exit> {
    let (repository, branch) = (options.repository.as_deref(), options.branch.as_deref());
    let place = repository.zip(branch).map(|(repository, branch)| Endpoint::new(repository, branch, &options.path));
    let place = place.transpose().map_err(|error| Failure::usage(error.to_string()))?;
    let reconciler = options.reconciler.clone();
    let reconciler =
        reconciler.map(|name| ReconcilerRegistration { name, kind: options.reconciler_type.clone(), place });
    let (host, kind) = (options.host.clone(), options.kind.clone());
    let registration = Registration { host, kind, labels: labels(&options.label)?, reconciler };
    with_database(&options.database, async |database| {
        hosts::register(database, &registration, &super::actor()).await.map_err(failure)?;
        Ok(Exit::Good)
    })
}

fn list(options: &HubHostList) -> anyhow::Result<Exit> {
    let filter = HostFilter { after: options.after.clone(), with_retired: options.retired, limit: options.limit };
    let found = with_database(&options.database, async |database| {
        Ok(hosts::list(database, &filter).await.map_err(unusable)?)
    })?;
    if options.output == Format::Human {
        terminal::answer(&table(&found))?;
        if found.len() == options.limit && options.limit > 0 {
            let last = found.last().map(|host| host.name.as_str()).unwrap_or_default();
            terminal::note(&format!("There may be more: --after {last}"));
        }
    } else {
        terminal::answer(&terminal::structured(&json!({ "hosts": found }), options.output))?;
    }
    Ok(Exit::Good)
}

fn table(hosts: &[Host]) -> String {
    if hosts.is_empty() {
        return "No host is known.\n".to_owned();
    }
    let heading = ["HOST", "RECONCILER", "TYPE", "LAST REPORT", "REGISTERED BY", "PLACE"].map(str::to_owned);
    table::table(std::iter::once(heading).chain(hosts.iter().flat_map(rows)))
}

/// One row for each reconciler, or a single row for a host without reconcilers.
fn rows(host: &Host) -> Vec<[String; 6]> {
    let name = |is_retired| format!("{}{}", host.name, if is_retired { " (retired)" } else { "" });
    if host.reconcilers.is_empty() {
        return vec![[
            name(host.retired_on.is_some()),
            "-".into(),
            host.kind.clone(),
            "-".into(),
            "-".into(),
            "-".into(),
        ]];
    }
    let row = |reconciler: &hub_api::hosts::Reconciler| {
        let reported = reconciler.reported_on.map_or("never".to_owned(), |moment| moment.to_string());
        let place = reconciler.place.clone().unwrap_or_else(|| "-".into());
        let is_retired = host.retired_on.or(reconciler.retired_on).is_some();
        let by = reconciler.registered_by.as_str().to_owned();
        [name(is_retired), reconciler.name.clone(), reconciler.kind.clone(), reported, by, place]
    };
    host.reconcilers.iter().map(row).collect()
}

fn apart(options: &HubHostApart) -> anyhow::Result<Exit> {
    let found = with_database(&options.database, async |database| {
        Ok(hub::management::apart::list(database, options.limit).await.map_err(unusable)?)
    })?;
    match options.output {
        Format::Human if found.is_empty() => terminal::answer("No report is kept apart.\n")?,
        Format::Human => terminal::answer(&apart_table(&found, Timestamp::now()))?,
        format => terminal::answer(&terminal::structured(&json!({ "reports": found }), format))?,
    }
    Ok(Exit::Good)
}

fn apart_table(reports: &[ApartReport], now: Timestamp) -> String {
    let heading = ["TOKEN", "HOST", "RECONCILER", "REPORTS", "LATEST", "REASON", "PLACE"].map(str::to_owned);
    let row = |report: &ApartReport| {
        let (host, reconciler) = (plain(&report.host), plain(&report.reconciler));
        let (latest, reason) = (ago(Some(report.received_on), now), report.reason.as_str().to_owned());
        let count = terminal::thousands(report.reports);
        [plain(&report.token), host, reconciler, count, latest, reason, plain(&report.place)]
    };
    table::table(std::iter::once(heading).chain(reports.iter().map(row)))
}

fn failure(error: HostRegistrationError) -> Failure {
    let message = error.to_string();
    match error {
        HostRegistrationError::Text(_) => Failure::usage(message),
        HostRegistrationError::Unknown { .. } => {
            Failure::refused(message).help("`kalypso hub host list --retired` lists the hosts")
        }
        HostRegistrationError::Database(_) => Failure::outside(message),
    }
}
