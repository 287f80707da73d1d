//! The `kalypso` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    kalypso::run()
}
