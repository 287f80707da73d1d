//! Tests of this crate with a database. Each test runs on SQLite and on PostgreSQL.
//!
//! A test is an async function with a [`twins::Ground`] as its argument. Its module lists it in `twins!`. It gets two names:
//! `store::names_round_trip::sqlite` and `store::names_round_trip::postgres`. If PostgreSQL cannot be started, the second one is counted as skipped.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "these are tests, but clippy can't see it without their usual harness"
)]

use libtest_mimic::{Arguments, Trial};

#[macro_use]
mod twins;

mod apart;
mod audit;
mod backup;
mod cluster_types;
mod counts;
mod dashboards;
mod export;
mod faults;
mod fleet;
mod hostile;
mod hosts;
mod import;
mod leases;
mod microsofts;
mod naming;
mod past;
mod promotions;
mod questions;
mod races;
mod ranges;
mod remembering;
mod retention;
mod rules;
mod sample;
mod sessions;
mod staying;
mod store;
mod tokens;
mod views;
mod workloads;

fn main() {
    // Tests start this program as additional processes.
    match std::env::args().collect::<Vec<_>>().as_slice() {
        [_, word, url] if word == store::OPEN => return store::open(url),
        [_, word, url] if word == faults::SERVE => return faults::serve(url),
        _ => {}
    }
    let modules = [
        apart::trials(),
        audit::trials(),
        backup::trials(),
        cluster_types::trials(),
        counts::trials(),
        dashboards::trials(),
        export::trials(),
        faults::trials(),
        faults::disk::trials(),
        faults::streams::trials(),
        fleet::trials(),
        hosts::trials(),
        hostile::trials(),
        import::trials(),
        microsofts::trials(),
        leases::trials(),
        naming::trials(),
        past::trials(),
        promotions::trials(),
        questions::trials(),
        races::trials(),
        remembering::trials(),
        retention::trials(),
        rules::trials(),
        sessions::trials(),
        staying::trials(),
        store::trials(),
        ranges::trials(),
        tokens::trials(),
        views::trials(),
        workloads::trials(),
    ];
    let trials: Vec<Trial> = modules.into_iter().flatten().collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
