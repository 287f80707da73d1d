//! `kalypso hub import`: imports the reports of signed files.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use hub::store::Database;
use hub::writer::Writer;
use hub::writer::import::{self, ImportError, Imported};
use hub_api::timestamp::Timestamp;
use serde_json::json;

use super::with_database;
use crate::arguments::{Format, HubImport};
use crate::exit::{Exit, Failure};
use crate::hub_client::plain;
use crate::terminal;

pub(super) fn run(options: &HubImport) -> anyhow::Result<Exit> {
    let results = with_database(&options.database, async |database| Ok(import_all(database, options).await))?;
    let is_complete = |result: &Result<Imported, ImportError>| {
        result.as_ref().is_ok_and(|imported| imported.refused + imported.apart == 0)
    };
    let exit = Exit::Good.unless(!results.iter().all(is_complete));
    let named = options.files.iter().map(PathBuf::as_path).zip(&results);
    if options.output == Format::Human {
        terminal::answer(&named.map(|(file, result)| text(file, result)).collect::<String>())?;
    } else {
        let files: Vec<_> = named.map(|(file, result)| object(file, result)).collect();
        terminal::answer(&terminal::structured(&json!({ "files": files }), options.output))?;
    }
    // Errors of the database or of submitting come first, because the import can be repeated after them.
    let is_away = |error: &ImportError| matches!(error, ImportError::Database(_) | ImportError::Submit(_));
    match results.into_iter().find_map(|result| result.err().filter(is_away)) {
        Some(error) => Err(Failure::outside(error.to_string())
            .help("try again: reports that are already stored are not stored twice")
            .into()),
        None => Ok(exit),
    }
}

async fn import_all(database: &Database, options: &HubImport) -> Vec<Result<Imported, ImportError>> {
    let (ingest, writer) = Writer::start(database.clone());
    let mut results = Vec::new();
    for file in &options.files {
        results.push(import::import(database, &ingest, file, Timestamp::now()).await);
    }
    drop(ingest);
    // All submitted reports are stored, so an error at the end loses nothing.
    let _ = writer.await;
    results
}

fn text(file: &Path, result: &Result<Imported, ImportError>) -> String {
    let name = file.display();
    let imported = match result {
        Ok(imported) => imported,
        Err(error) => return format!("{name}: not taken: {}\n", plain(&error.to_string())),
    };
    let Imported { token, created_on, stored, confirmed, repeated, refused, .. } = imported;
    let reports = terminal::count(imported.reports, "report");
    let mut text = format!(
        "{name}: {reports}, signed by `{token}` since {created_on}: {stored} stored, {confirmed} confirmed, {repeated} repeated, {refused} refused\n"
    );
    if imported.apart > 0 {
        let reports = terminal::count(imported.apart, "report");
        let _ = writeln!(text, "  {reports} kept apart and not counted: `kalypso hub host apart` shows the reasons");
    }
    for refusal in &imported.refusals {
        let _ = writeln!(text, "  line {}: {}", refusal.line, plain(&refusal.error.to_string()));
    }
    if imported.refusals.len() < *refused {
        let _ = writeln!(text, "  and {} more", terminal::thousands(refused - imported.refusals.len()));
    }
    text
}

fn object(file: &Path, result: &Result<Imported, ImportError>) -> serde_json::Value {
    match result {
        Ok(imported) => json!({ "file": file, "error": null, "imported": imported }),
        Err(error) => json!({ "file": file, "error": error.to_string(), "imported": null }),
    }
}
