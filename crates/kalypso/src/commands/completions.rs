//! `kalypso completions`: completion scripts for shells.

use anyhow::Context as _;

use crate::arguments::Completions;
use crate::completion;
use crate::exit::Exit;

pub(super) fn run(options: &Completions) -> anyhow::Result<Exit> {
    let script = completion::script(&options.shell.to_string()).context("a shell has no script")?;
    crate::terminal::answer(&script)?;
    Ok(Exit::Good)
}
