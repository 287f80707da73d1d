//! `kalypso hub export`: writes a table for other programs.

use std::io::BufWriter;

use hub::questions::export::{self, ExportError, ExportFormat, ExportSelection};

use super::with_database;
use crate::arguments::{HubExport, TableFormat};
use crate::exit::{Exit, Failure};
use crate::times::timestamp;

pub(super) fn run(options: &HubExport) -> anyhow::Result<Exit> {
    let bound = |name, text: &Option<String>| text.as_deref().map(|text| timestamp(name, text)).transpose();
    let selection = ExportSelection {
        table: options.table.clone(),
        since: bound("--since", &options.since)?,
        until: bound("--until", &options.until)?,
    };
    let format = match options.format {
        TableFormat::Csv => ExportFormat::Csv,
        TableFormat::Ndjson => ExportFormat::Ndjson,
    };
    with_database(&options.database, async |database| {
        let mut out = BufWriter::new(std::io::stdout().lock());
        export::export(database, &selection, format, &mut out).await.map_err(failure)
    })?;
    Ok(Exit::Good)
}

/// Converts an error of an export to an error of the command.
pub(super) fn failure(error: ExportError) -> anyhow::Error {
    match error {
        ExportError::Output(error) => anyhow::Error::new(error).context("the export can't be written"),
        ExportError::Database(_) => Failure::outside(error.to_string()).into(),
        ExportError::NoTable(_) | ExportError::NoTime(_) => Failure::usage(error.to_string()).into(),
        ExportError::NoRoles => Failure::refused(error.to_string()).into(),
    }
}
