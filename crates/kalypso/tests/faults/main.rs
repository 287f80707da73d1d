//! Tests with killed runs, races and faulty servers. Afterwards everything works, nothing is lost, and nothing exists twice.
//!
//! Each round changes the sources, lets some runs publish during faults, kills them, and checks the result of a plain run. The seed determines the
//! events of each round. `cargo xtask faults` runs a given number of rounds with a given seed.

#[cfg(test)]
mod chance;
#[cfg(test)]
mod promotions;
#[cfg(test)]
mod proxy;
#[cfg(test)]
mod rounds;
#[cfg(test)]
mod service;
#[cfg(test)]
mod site;
#[cfg(test)]
mod way;

// The company of the program's tests.
#[cfg(test)]
#[path = "../program/company.rs"]
#[allow(dead_code, reason = "other tests use all of it")]
mod company;

#[cfg(test)]
mod tests {
    use git_host::HostKind;
    use testkit::ssh_server::SshServer;

    use crate::{promotions, rounds, service, way};

    #[test]
    fn local() {
        rounds::run(("local", 120), way::local);
    }

    #[test]
    fn http() {
        rounds::run(("http", 90), way::http);
    }

    #[test]
    fn ssh() {
        match SshServer::availability() {
            Ok(()) => rounds::run(("ssh", 30), way::ssh),
            Err(reason) => println!("skipped: {reason}"),
        }
    }

    #[test]
    fn promotions() {
        promotions::run();
    }

    #[test]
    fn service_on_github() {
        service::run(HostKind::GitHub);
    }

    #[test]
    fn service_on_gitlab() {
        service::run(HostKind::GitLab);
    }

    #[test]
    fn service_on_gitea() {
        service::run(HostKind::Gitea);
    }

    #[test]
    fn service_on_azure_devops() {
        service::run(HostKind::AzureDevOps);
    }

    #[test]
    fn service_in_a_storm_of_webhooks() {
        service::storm();
    }

    #[test]
    fn service_with_slow_answers() {
        service::slow_answers();
    }

    #[test]
    fn service_with_a_jumping_clock() {
        service::jumping_clock();
    }

    #[test]
    fn service_with_a_large_history() {
        service::large_history();
    }

    #[test]
    fn service_on_a_full_disk() {
        service::full_disk();
    }
}
