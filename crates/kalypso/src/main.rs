//! The `kalypso` program.

use std::process::ExitCode;

/// Compiling makes many small allocations on all processors at the same time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    kalypso::run()
}
