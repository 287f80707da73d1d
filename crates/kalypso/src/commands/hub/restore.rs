//! `kalypso hub restore`: restores a backup into an empty database.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use hub::store::backup;

use super::backup::{failure, rows_text};
use super::{STANDARD_STREAM, with_database};
use crate::arguments::HubRestore;
use crate::exit::{Exit, Failure};
use crate::terminal;

pub(super) fn run(options: &HubRestore) -> anyhow::Result<Exit> {
    let mut backup: Box<dyn BufRead> = if options.file == Path::new(STANDARD_STREAM) {
        Box::new(std::io::stdin().lock())
    } else {
        let file = File::open(&options.file);
        let name = options.file.display();
        Box::new(BufReader::new(file.map_err(|error| Failure::outside(format!("`{name}` can't be read: {error}")))?))
    };
    let rows = with_database(&options.database, async |database| {
        backup::restore(database, &mut backup).await.map_err(failure)
    })?;
    terminal::note(&format!("{} restored.", rows_text(rows)));
    Ok(Exit::Good)
}
