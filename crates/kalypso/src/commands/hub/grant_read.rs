//! `kalypso hub grant-read`: a role of PostgreSQL may read the hub's tables.

use hub::export;

use super::export::failure;
use super::with_database;
use crate::arguments::HubGrantRead;
use crate::exit::Exit;
use crate::terminal;

pub(super) fn run(options: &HubGrantRead) -> anyhow::Result<Exit> {
    with_database(&options.database, async |database| {
        export::grant_read(database, &options.role).await.map_err(failure)
    })?;
    terminal::note(&format!("`{}` may read {}, and nothing else.", options.role, export::TABLES.join(", ")));
    Ok(Exit::Good)
}
