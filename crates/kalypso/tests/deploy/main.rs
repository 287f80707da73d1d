//! Checks what others run: the systemd unit, the Helm chart and the image's Dockerfile of `deploy/`, and the template packs.
//!
//! | file | checked by |
//! |---|---|
//! | systemd unit and user | `systemd-analyze` and `systemd-sysusers`, where they are installed; the program is started with the unit's command line and environment |
//! | Helm chart | Helm, in the folder that the variable `KALYPSO_HELM` names or on the search path: `helm lint`, and `helm template`, which also compares the values with the chart's schema; the published schemas of Kubernetes, whose folder the variable `KALYPSO_KUBERNETES_SCHEMAS` names; the program is started with the rendered arguments, environment and configuration |
//! | template packs | each is compiled with a sample assignment; the same schemas of Kubernetes |
//! | CI workflows | the published schemas of GitHub Actions, GitLab CI and Azure Pipelines, whose folder the variable `KALYPSO_CI_SCHEMAS` names; the script of each step is run with the program, a git server, a git host and a hub |
//! | Dockerfile | the program is started with its command and environment. `cargo xtask image` builds the image and runs it |
//!
//! What can't be checked on a machine is printed as `skipped: …`.

#![cfg(unix)]
#![allow(clippy::print_stdout, reason = "skipped checks are reported")]

#[cfg(test)]
mod chart;
#[cfg(test)]
mod ci;
#[cfg(test)]
mod docker;
#[cfg(test)]
mod helm;
#[cfg(test)]
mod kubernetes;
#[cfg(test)]
mod machine;
#[cfg(test)]
mod packs;
#[cfg(test)]
mod page;
#[cfg(test)]
mod systemd;
#[cfg(test)]
mod unit;
#[cfg(test)]
mod yaml;

// The company of the program's tests.
#[cfg(test)]
#[path = "../program/company.rs"]
#[allow(dead_code, reason = "the tests of the program use the rest")]
mod company;

// The application of the program's tests.
#[cfg(test)]
#[path = "../program/application_world.rs"]
#[allow(dead_code, reason = "the tests of the program use the rest")]
mod application_world;
