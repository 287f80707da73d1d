//! The story of the demo, as a person sees it in a browser. The program runs in processes of its own, which are this one with other arguments.

#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]
#![allow(clippy::print_stdout, reason = "a test says why it is skipped")]

mod machine;
mod story;

use std::env;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

/// The variable with which this process is the program.
const AS_PROGRAM: &str = "KALYPSO_BROWSER_TESTS_PROGRAM";

fn main() -> ExitCode {
    if env::var_os(AS_PROGRAM).is_some() {
        return kalypso::run();
    }
    let trial = |name: &str, test: fn()| {
        Trial::test(name, move || {
            test();
            Ok::<(), Failed>(())
        })
    };
    let trials = vec![
        trial("an_operator_finds_out_why_stage_fails", story::with_pointer),
        trial("an_operator_finds_out_why_stage_fails_by_keyboard_alone", story::with_keyboard),
        trial("pages_of_a_service_are_accessible_and_fit_at_every_size", story::accessible),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
