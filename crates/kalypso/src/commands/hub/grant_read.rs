//! `kalypso hub grant-read`: a role of PostgreSQL may read the hub's tables.

use hub::export;

use super::export::failure;
use super::with_database;
use crate::arguments::HubGrantRead;
use crate::exit::Exit;
use crate::terminal;

pub(super) fn run(options: &HubGrantRead) -> anyhow::Result<Exit> {
    let role = &options.role;
    with_database(&options.database, async |database| {
        let granted = if options.microsoft {
            export::grant_read_as_microsofts(database, role).await
        } else {
            export::grant_read(database, role).await
        };
        granted.map_err(failure)
    })?;
    let (schema, tables) = (export::MICROSOFTS_SCHEMA, export::MICROSOFTS.join(", "));
    terminal::note(&match options.microsoft {
        true => format!("`{role}` may read {tables} in the schema `{schema}`, as Microsoft's hub has them."),
        false => format!("`{role}` may read {}, and nothing else.", export::TABLES.join(", ")),
    });
    Ok(Exit::Good)
}
