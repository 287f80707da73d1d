//! The binary: arguments, configuration, wiring, words on the screen.

mod arguments;
mod beneath;
mod cache;
mod cache_key;
mod change;
mod commands;
mod compiling;
mod completion;
mod configuration;
mod demo;
pub mod diagnostics;
mod edited_repositories;
mod exit;
mod folder;
mod folder_file;
mod hub_client;
mod hub_tasks;
mod interrupts;
mod loading;
mod names;
mod paint;
mod patch;
mod progress;
mod range;
pub mod reference;
mod reporting;
mod table;
mod terminal;
mod times;
mod visible;

use std::process::ExitCode;

use clap::Parser as _;

use crate::arguments::Arguments;
use crate::exit::Exit;

/// Room for recursion over what people nest: far more than the limits on depth need.
const STACK_BYTES: usize = 64 << 20;
/// The same for the threads that work in parallel.
const WORKER_STACK_BYTES: usize = 16 << 20;

/// Runs the program with the arguments it was started with.
pub fn run() -> ExitCode {
    if let Some(exit) = completion::answer() {
        return exit;
    }
    interrupts::end_the_program();
    // Before anything could use TLS: with two providers of cryptography it would panic.
    hub_api::tls::install_provider();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return exit::of_arguments(&error).into(),
    };
    let worker = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || work(&arguments));
    let exit = worker.map_err(drop).and_then(|worker| worker.join().map_err(drop));
    cache::remove_temporary();
    exit.unwrap_or_else(|()| exit::of_bug()).into()
}

fn work(arguments: &Arguments) -> Exit {
    // Without a pool of our own the default one serves: only its stacks are smaller.
    let _ = rayon::ThreadPoolBuilder::new().stack_size(WORKER_STACK_BYTES).build_global();
    commands::run(arguments).unwrap_or_else(|error| exit::of_error(&error))
}
