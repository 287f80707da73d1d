//! The service at rest: its memory and its processor time. Then reads of its API.

use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Result, ensure};
use testkit::generator::Size;

use super::company::Company;
use super::program::Service;
use super::{eventually, reads};
use crate::Options;
use crate::report::{MIB, Row, grouped};

const ENVIRONMENTS: usize = 50;
/// The fleet of each environment: 1,000 assignments.
const SIZE: Size = Size { cluster_types: 25, targets: 40, ..Size::HUNDRED };
/// How long the service rests before it is measured.
const REST: Duration = Duration::from_secs(30);
/// How long it is measured. With the usual settings, each repository is polled twice in this time.
const MEASURED: Duration = Duration::from_mins(1);
/// The pause between two looks at the branches.
const PAUSE: Duration = Duration::from_millis(200);

/// Many environments in which nothing changes, with the usual pauses between polls and syncs.
pub(super) fn rows(kalypso: &Path, options: &Options) -> Result<Vec<Row>> {
    let count = options.share_of(ENVIRONMENTS);
    let names: Vec<_> = (1..=count).map(|number| format!("env-{number:02}")).collect();
    let company = Company::new(&names, SIZE, "")?;
    let service = Service::start(kalypso, &company)?;
    merge_first(&company, &service, &names)?;
    thread::sleep(REST);
    let before = service.processor_s()?;
    thread::sleep(MEASURED);
    let after = service.processor_s()?;
    let memory = service.memory_bytes()?;
    let environments = service.environments()?;
    ensure!(environments.len() == count, "there are {} environments", environments.len());
    let is_right = |environment: &serde_json::Value| environment["last"]["assignments"] == SIZE.assignments();
    ensure!(environments.iter().all(is_right), "an environment has not all assignments");
    let share = |seconds: f64| 100.0 * seconds / MEASURED.as_secs_f64();
    let (own, of_children) = (after.0 - before.0, after.1 - before.1);
    let what = format!("{count} environments of {} assignments at rest", grouped(SIZE.assignments()));
    let mut rows = vec![
        Row::measured(format!("{what}: memory"), memory / MIB, "MiB").at_most(300.0),
        Row::measured(format!("{what}: processor"), share(own + of_children), "% of a core").at_most(2.0),
        Row::measured("  of which the service itself", share(own), "% of a core"),
        Row::measured("  of which processes of git", share(of_children), "% of a core"),
    ];
    rows.extend(reads::rows(&service, &names)?);
    Ok(rows)
}

/// Merges the first proposals, and waits until the service has removed their branches.
fn merge_first(company: &Company, service: &Service, names: &[String]) -> Result<()> {
    service.wait_until_quiet()?;
    let merged = company.merge_all()?;
    ensure!(merged == names.len(), "there are {merged} pull requests for {} environments", names.len());
    let answer = service.connect()?.request("POST /api/v1/sync", &[], "")?;
    ensure!(answer.status == 202, "a sync is answered with {}", answer.status);
    for name in names {
        let branch = format!("kalypso/{name}");
        eventually("the removal of the merged branches", PAUSE, || {
            Ok(company.gitops_head(&branch)?.is_none().then_some(()))
        })?;
    }
    service.wait_until_quiet()?;
    Ok(())
}
