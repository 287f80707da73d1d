//! The program: arguments, configuration, construction of its parts, and output.

mod arguments;
mod cache;
mod cache_key;
mod commands;
mod compiled_environments;
mod compiling;
mod completion;
mod configuration;
mod demo;
pub mod diagnostics;
mod exit;
mod folder;
mod folder_file;
mod held_content;
mod hub_client;
mod hub_tasks;
mod interrupts;
mod listing;
mod loading;
mod names;
mod not_admitted;
mod object_schema;
mod object_settings;
mod paint;
mod places;
mod progress;
mod promotion_steps;
mod pull_request_comment;
pub mod reference;
mod refused_commits;
mod reporting;
mod secret_file;
mod states;
mod stopping;
mod table;
mod telemetry;
mod terminal;
mod times;
mod unread_changes;

use std::process::ExitCode;

use clap::Parser as _;

use crate::arguments::Arguments;
use crate::exit::Exit;

/// The stack size of the main thread, in bytes. Recursion over nested input needs far less within the limits on depth.
const STACK_BYTES: usize = 64 << 20;
/// The stack size of the threads that work in parallel, in bytes.
const WORKER_STACK_BYTES: usize = 16 << 20;

/// Runs the program with the arguments of the process.
pub fn run() -> ExitCode {
    if let Some(exit) = completion::answer() {
        return exit;
    }
    interrupts::end_the_program();
    // This comes before any use of TLS: rustls panics if it finds two cryptography providers.
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
    // If this pool can't be created, the default pool is used. It differs only in its smaller stacks.
    let _ = rayon::ThreadPoolBuilder::new().stack_size(WORKER_STACK_BYTES).build_global();
    commands::run(arguments).unwrap_or_else(|error| exit::of_error(&error))
}
