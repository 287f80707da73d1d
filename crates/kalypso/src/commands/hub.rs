//! `kalypso hub`: runs the hub, and works on its database.

mod audit;
mod backup;
mod database_lock;
mod export;
mod grant_read;
mod host;
mod import;
pub(super) mod reload;
mod restore;
mod rule;
pub(super) mod run;
mod token;

use std::collections::BTreeMap;

use anyhow::Context as _;
use hub::store::{Database, DatabaseError};

use crate::arguments::{Hub, HubCommand, HubDatabase};
use crate::configuration;
use crate::exit::{Exit, Failure};

/// The file name that stands for standard input or standard output.
pub(super) const STANDARD_STREAM: &str = "-";

pub(super) fn run(options: &Hub) -> anyhow::Result<Exit> {
    match &options.command {
        None => run::run(&options.run),
        Some(HubCommand::Run(options)) => run::run(options),
        Some(HubCommand::Token(options)) => token::run(&options.command),
        Some(HubCommand::Host(options)) => host::run(&options.command),
        Some(HubCommand::Rule(options)) => rule::run(&options.command),
        Some(HubCommand::Audit(options)) => audit::run(options),
        Some(HubCommand::Backup(options)) => backup::run(options),
        Some(HubCommand::Restore(options)) => restore::run(options),
        Some(HubCommand::Import(options)) => import::run(options),
        Some(HubCommand::Export(options)) => export::run(options),
        Some(HubCommand::GrantRead(options)) => grant_read::run(options),
    }
}

/// Runs an operation on the hub's database.
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

/// The name of the user for the audit log. It is not verified: a user who can write to the database can set any name.
fn actor() -> String {
    let user = ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok().filter(|user| !user.is_empty()));
    format!("{} at a command line", user.unwrap_or_else(|| "an unknown user".to_owned()))
}

/// Parses labels of the command line.
pub(super) fn labels(texts: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let parse = |text: &String| {
        let (key, value) = text.split_once('=').unwrap_or_default();
        let wrong = || Failure::usage(format!("`--label {text}` is no label: those are KEY=VALUE"));
        if key.is_empty() { Err(wrong()) } else { Ok((key.to_owned(), value.to_owned())) }
    };
    texts.iter().map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_a_key_and_a_value() {
        let check = |text: &str| labels(&[text.to_owned()]).ok();
        assert_eq!(check("site=a=b"), Some(BTreeMap::from([("site".to_owned(), "a=b".to_owned())])));
        assert_eq!(check("empty="), Some(BTreeMap::from([("empty".to_owned(), String::new())])));
        assert_eq!([check("site"), check("=a")], [None, None]);
    }
}
