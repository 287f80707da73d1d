//! `kalypso hub grant-read`: allows a role of PostgreSQL to read the hub's tables.

use hub::questions::export;

use super::export::failure;
use super::with_database;
use crate::arguments::HubGrantRead;
use crate::exit::Exit;
use crate::terminal;

pub(super) fn run(options: &HubGrantRead) -> anyhow::Result<Exit> {
    let role = &options.role;
    with_database(&options.database, async |database| {
        let granted = if options.microsoft {
            export::grant_read_microsoft_views(database, role).await
        } else {
            export::grant_read(database, role).await
        };
        granted.map_err(failure)
    })?;
    let what = if options.microsoft {
        let (schema, tables) = (export::MICROSOFT_SCHEMA, export::MICROSOFT_TABLES.join(", "));
        format!("{tables} in the schema `{schema}`, as Microsoft's hub has them")
    } else {
        format!("{}, and nothing else", export::TABLES.join(", "))
    };
    terminal::note(&format!("`{role}` may read {what}."));
    Ok(Exit::Good)
}
