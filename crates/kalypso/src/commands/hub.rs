//! `kalypso hub`: the hub itself, and what is done to its database.

mod backup;
mod export;
mod grant_read;
mod host;
mod restore;
mod run;
mod token;

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Context as _;
use hub::moment::Moment;
use hub::store::{Database, DatabaseError};

use crate::arguments::{Hub, HubCommand, HubDatabase};
use crate::configuration;
use crate::exit::{Exit, Failure};

/// The file that stands for standard input or output.
const STANDARD_STREAM: &str = "-";

pub(super) fn run(options: &Hub) -> anyhow::Result<Exit> {
    match &options.command {
        None => run::run(&options.run),
        Some(HubCommand::Run(options)) => run::run(options),
        Some(HubCommand::Token(options)) => token::run(&options.command),
        Some(HubCommand::Host(options)) => host::run(&options.command),
        Some(HubCommand::Backup(options)) => backup::run(options),
        Some(HubCommand::Restore(options)) => restore::run(options),
        Some(HubCommand::Export(options)) => export::run(options),
        Some(HubCommand::GrantRead(options)) => grant_read::run(options),
    }
}

/// Does something with the hub's database.
fn with_database<T>(
    options: &HubDatabase,
    work: impl AsyncFnOnce(&Database) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let url = configuration::read_hub(options)?.database;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("the program can't wait for several things at once")?.block_on(async {
        let database = Database::open(&url).await.map_err(unusable)?;
        let result = work(&database).await;
        database.close().await;
        result
    })
}

fn unusable(error: DatabaseError) -> Failure {
    Failure::outside(error.to_string())
}

/// Labels as they are given on the command line.
fn labels(texts: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let parse = |text: &String| {
        let (key, value) = text.split_once('=').unwrap_or_default();
        let wrong = || Failure::usage(format!("`--label {text}` is no label: those are KEY=VALUE"));
        if key.is_empty() { Err(wrong()) } else { Ok((key.to_owned(), value.to_owned())) }
    };
    texts.iter().map(parse).collect()
}

/// A moment in the past: a date, a moment, or a time ago.
fn moment(name: &str, text: &str) -> Result<Moment, Failure> {
    let wrong = |_| {
        Failure::usage(format!(
            "`{name} {text}` is neither a date (2026-11-21), a moment (2026-11-21T13:44:01Z) nor a time ago (30d, 12h)"
        ))
    };
    date(text).map_or_else(|| Ok(Moment::now().before(duration(name, text).map_err(wrong)?)), Ok)
}

/// A date, which is its beginning in UTC, or a moment.
fn date(text: &str) -> Option<Moment> {
    text.parse().or_else(|_| format!("{text}T00:00:00Z").parse()).ok()
}

/// A time such as `90d` or `12h`. A day has 24 hours.
pub(super) fn duration(name: &str, text: &str) -> Result<Duration, Failure> {
    let wrong = || Failure::usage(format!("`{name} {text}` is no length of time: those are like 90d, 12h or 30m"));
    let span: jiff::Span = text.parse().map_err(|_| wrong())?;
    let duration = span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()).map_err(|_| wrong())?;
    duration.try_into().map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let check = |text| duration("--grace", text).ok().map(|duration| duration.as_secs());
        assert_eq!(check("90d"), Some(90 * 86_400));
        assert_eq!(check("1h30m"), Some(5_400));
        assert_eq!(check("0s"), Some(0));
        assert_eq!([check("90"), check("-1d"), check("soon"), check("1mo")], [None; 4]);
    }

    #[test]
    fn moments_are_dates_or_times_ago() {
        let check = |text| moment("--since", text).map(|moment| moment.to_string());
        assert_eq!(check("2026-11-21").unwrap(), "2026-11-21T00:00:00.000Z");
        assert_eq!(check("2026-11-21T12:00:00+02:00").unwrap(), "2026-11-21T10:00:00.000Z");
        assert!(moment("--since", "30d").unwrap() < Moment::now());
        assert!(check("lately").unwrap_err().message.contains("`--since lately` is neither"));
    }

    #[test]
    fn labels_have_a_key_and_a_value() {
        let check = |text: &str| labels(&[text.to_owned()]).ok();
        assert_eq!(check("site=a=b"), Some(BTreeMap::from([("site".to_owned(), "a=b".to_owned())])));
        assert_eq!(check("empty="), Some(BTreeMap::from([("empty".to_owned(), String::new())])));
        assert_eq!([check("site"), check("=a")], [None, None]);
    }
}
