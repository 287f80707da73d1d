//! `kalypso man`: manual pages.

use clap::CommandFactory as _;

use crate::arguments::{Arguments, Man};
use crate::exit::{Exit, Failure};

pub(super) fn run(options: &Man) -> anyhow::Result<Exit> {
    let command = Arguments::command();
    if let Some(folder) = &options.out {
        let failed = |error| Failure::outside(format!("the pages can't be written to `{}`: {error}", folder.display()));
        std::fs::create_dir_all(folder).map_err(failed)?;
        clap_mangen::generate_to(command, folder).map_err(failed)?;
    } else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        crate::terminal::answer(&String::from_utf8_lossy(&page))?;
    }
    Ok(Exit::Good)
}
