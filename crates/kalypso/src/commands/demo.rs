//! `kalypso demo`: a small company on this machine.

use crate::arguments::Demo;
use crate::exit::Exit;

pub(super) fn run(options: &Demo) -> anyhow::Result<Exit> {
    let _ = options;
    anyhow::bail!("not yet")
}
