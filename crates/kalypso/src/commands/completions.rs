//! `kalypso completions`: completion scripts for shells.

use clap::CommandFactory as _;

use crate::arguments::{Arguments, Completions};
use crate::exit::Exit;

pub(super) fn run(options: &Completions) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Arguments::command(), "kalypso", &mut script);
    crate::terminal::answer(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Good)
}
