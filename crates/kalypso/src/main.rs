//! The `kalypso` program.

use std::process::ExitCode;

/// Compiling makes many small values on all processors at once.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    kalypso::run()
}
