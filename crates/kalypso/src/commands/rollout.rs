//! `kalypso rollout`: the progress of a workload, a version or a commit, and the hosts without it.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use hub_api::client::Client;
use hub_api::deployments::Deployment;
use hub_api::page::Page;
use hub_api::rollouts::{EnvironmentRollout, ListedRollout, Rollout, RolloutOf, RolloutVersion};
use hub_api::timestamp::Timestamp;
use model::rollout::{Counts, ReconcilerState};
use workbench::FailureKind;

use super::deployments;
use super::promotion::commit_wait;
use super::status::{bar, others, succeeded};
use crate::arguments::{Format, RolloutCommand, RolloutList, RolloutStatus, RolloutWait};
use crate::exit::{Exit, LateError};
use crate::hub_client::{self, Hub, Lookup};
use crate::times::duration;
use crate::{paint, table, terminal};

/// The interval between two requests while the command waits for a rollout.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

pub(super) fn run(command: &RolloutCommand) -> anyhow::Result<Exit> {
    match command {
        RolloutCommand::Status(options) => status(options),
        RolloutCommand::Advance(options) => super::promotion::advance(options),
        RolloutCommand::Restore(options) => super::promotion::restore(options),
        RolloutCommand::Wait(options) => wait(options),
        RolloutCommand::List(options) => list(options),
    }
}

fn status(options: &RolloutStatus) -> anyhow::Result<Exit> {
    let Some(of) = &options.of else { return super::promotion::status(options) };
    let hub = Hub::from_connection(&options.connection)?;
    let is_list = options.status.is_some() || options.hosts.host.is_some() || options.hosts.selector.is_some();
    if is_list {
        let filter = hub_client::filter(&options.filter, Some(&options.hosts), options.status.as_ref());
        let ask = async |client: &Client, page: &Page| client.rollout_hosts(of, &filter, page).await;
        let list = hub.list(options.limit, ask, deployments::taken)?;
        deployments::show(&list, options.connection.output)?;
        return Ok(Exit::Good);
    }
    let filter = hub_client::filter(&options.filter, None, None);
    let at = hub_client::at(options.at.as_deref())?;
    let rollout = hub.ask(hub.client.rollout(of, &filter, at))?;
    show(&rollout, at, options.connection.output)?;
    let (RolloutOf::Workload { workload, .. } | RolloutOf::Version { workload, .. }) = &rollout.what else {
        return Ok(Exit::Good);
    };
    if options.connection.output == Format::Human && at.is_none() {
        let moves = super::promotion::moves_of(&hub, workload, options.filter.environment.as_deref())?;
        let heading = if moves.is_empty() { "" } else { "\nOn its way:\n\n" };
        terminal::answer(&format!("{heading}{moves}"))?;
    }
    Ok(Exit::Good)
}

fn show(rollout: &Rollout, at: Option<Timestamp>, format: Format) -> std::io::Result<()> {
    match format {
        Format::Human => terminal::answer_painted(&text(rollout, (Timestamp::now(), at)), paint::states),
        format => terminal::answer(&terminal::structured(&rollout, format)),
    }
}

fn text(rollout: &Rollout, (now, at): (Timestamp, Option<Timestamp>)) -> String {
    let now = at.unwrap_or(now);
    let mut text = title(rollout, at);
    if rollout.environments.is_empty() {
        text.push_str("  no reconciler is expected to apply it\n");
    }
    let names: Vec<_> = rollout.environments.iter().map(|one| hub_client::plain(&one.environment)).collect();
    let width = names.iter().map(|name| table::columns(name)).max().unwrap_or(0);
    let versions: Vec<_> = rollout.environments.iter().map(|one| versions(rollout, one)).collect();
    let of_versions = versions.iter().map(|versions| table::columns(versions)).max().unwrap_or(0);
    for ((one, name), versions) in rollout.environments.iter().zip(&names).zip(&versions) {
        let mut columns = vec![table::padded(name, width), table::padded(versions, of_versions), environment(one, now)];
        columns.retain(|column| !column.is_empty());
        let _ = writeln!(text, "  {}", columns.join("  "));
        let mut rows: Vec<_> = one.attention.iter().map(|row| attention(row, now)).collect();
        // A host with several targets has equal rows for them.
        rows.dedup();
        text.push_str(&table::indented(rows.into_iter(), width + 6));
        text.push_str(&unlisted(one, width + 6));
    }
    if at.is_none() {
        text.push_str(&advice(rollout));
    }
    text + &hub_client::recorded(rollout.recorded_on)
}

/// The subject of the rollout: `checkout 2.4.0`, `checkout 2.4.0 at 2026-11-21T08:00:00Z`.
fn title(rollout: &Rollout, at: Option<Timestamp>) -> String {
    let title = match &rollout.what {
        RolloutOf::Commit { commit, repository, branch } => {
            format!("{} of {branch} in {repository}", hub_client::short(Some(commit)))
        }
        RolloutOf::Version { workload, version, .. } => format!("{workload} {}", hub_client::version(version)),
        RolloutOf::Workload { workload, .. } => match one_version(rollout) {
            Some(version) => format!("{workload} {}", hub_client::version(version)),
            None => workload.clone(),
        },
    };
    let at = at.map_or_else(String::new, |at| format!(" at {at}"));
    format!("{}{at}\n", hub_client::plain(&title))
}

/// The version of all environments. None if they differ.
fn one_version(rollout: &Rollout) -> Option<&str> {
    let mut versions: Vec<_> = rollout.environments.iter().flat_map(|one| &one.versions).collect();
    versions.dedup();
    match versions.as_slice() {
        [one] => Some(one.as_str()),
        _ => None,
    }
}

/// The versions in an environment, if the title does not name them.
fn versions(rollout: &Rollout, one: &EnvironmentRollout) -> String {
    let is_in_title = !matches!(rollout.what, RolloutOf::Workload { .. }) || one_version(rollout).is_some();
    if is_in_title { String::new() } else { versions_text(&one.versions) }
}

fn versions_text(versions: &[String]) -> String {
    versions.iter().map(|version| hub_client::version(version)).collect::<Vec<_>>().join(", ")
}

/// The progress in an environment.
fn environment(one: &EnvironmentRollout, now: Timestamp) -> String {
    let instead = versions_text(&one.instead);
    // Where a version is on its way through rings, the places that have another one are part of the whole.
    let elsewhere = if one.desired { one.elsewhere } else { 0 };
    let counts = Counts { expected: one.counts.expected + elsewhere, ..one.counts };
    if counts.expected == 0 {
        return match (one.desired, one.desired_since, instead.as_str()) {
            (false, None, instead) => format!("not yet: {instead} is desired there"),
            (false, Some(_), instead) if !instead.is_empty() => format!("not any more: {instead} is desired there"),
            _ => "no reconciler is expected to apply it".to_owned(),
        };
    }
    let since = one.desired_since.map(|since| format!("desired since {}", hub_client::length(now.since(since))));
    let superseded = match (one.superseded, instead.as_str()) {
        (0, _) => None,
        (_, "") => Some("another version is now desired".to_owned()),
        (_, instead) => Some(format!("{instead} is now desired")),
    };
    let of_others = |count: i64, what: &str| (count > 0).then(|| format!("{} {what}", thousands(count)));
    let elsewhere =
        of_others(elsewhere, &if instead.is_empty() { "others".to_owned() } else { format!("others ({instead})") });
    let pinned = of_others(one.pinned, "pinned");
    let parts = [Some(succeeded(&counts)), Some(others(&one.counts)), elsewhere, pinned, since, superseded];
    let parts: Vec<_> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    format!("{} {}", bar(&counts), parts.join("   "))
}

fn attention(row: &Deployment, now: Timestamp) -> [String; 3] {
    let said = match row.message.as_deref().map(hub_client::plain) {
        _ if row.silent => format!("silent, last report {}", hub_client::ago(row.last_report_on, now)),
        Some(message) if !message.is_empty() => message,
        _ => row.state.map_or("", ReconcilerState::words).to_owned(),
    };
    [
        hub_client::plain(&row.host),
        row.since.map_or_else(String::new, |since| hub_client::length(now.since(since))),
        said,
    ]
}

/// The number of failed and silent reconcilers that are not listed.
fn unlisted(one: &EnvironmentRollout, indent: usize) -> String {
    let listed = i64::try_from(one.attention.len()).unwrap_or(i64::MAX);
    let more = (one.counts.failed + one.counts.silent).saturating_sub(listed);
    match usize::try_from(more) {
        Ok(more @ 1..) if listed > 0 => format!("{}and {} more\n", " ".repeat(indent), terminal::thousands(more)),
        _ => String::new(),
    }
}

/// Advice: how to list the reconcilers that have not succeeded.
fn advice(rollout: &Rollout) -> String {
    let counts = &rollout.counts;
    let parts = [
        (counts.failed, ReconcilerState::Failed),
        (counts.silent, ReconcilerState::Silent),
        (counts.in_progress, ReconcilerState::InProgress),
        (counts.outdated, ReconcilerState::Outdated),
        (counts.never_reported, ReconcilerState::NeverReported),
    ];
    let not_there: Vec<_> = parts.iter().filter(|(count, _)| *count > 0).map(|(_, word)| word.as_str()).collect();
    if not_there.is_empty() {
        return String::new();
    }
    format!("  not succeeded: --status {}\n", not_there.join(","))
}

fn wait(options: &RolloutWait) -> anyhow::Result<Exit> {
    let timeout = duration("--timeout", &options.timeout)?;
    let hub = Hub::from_connection(&options.connection)?;
    let filter = hub_client::filter(&options.filter, None, None);
    let (started, mut is_reached, mut told) = (Instant::now(), false, None);
    loop {
        let is_late = started.elapsed() >= timeout;
        let reason = match hub.find(hub.client.rollout(&options.of, &filter, None)) {
            Ok(Lookup::Answer(rollout)) => {
                is_reached = true;
                if let Some(exit) = verdict(&rollout, options.failures, is_late) {
                    show(&rollout, None, options.connection.output)?;
                    terminal::note(&why(&rollout, (exit, options)));
                    return Ok(exit);
                }
                None
            }
            Ok(Lookup::Nothing(reason)) => {
                is_reached = true;
                match commit_wait::look(&hub, &options.of, options.filter.environment.as_deref())? {
                    Some(progress) => {
                        if let Some(exit) = progress.end {
                            progress.show(&hub, options.connection.output)?;
                            terminal::note(&progress.text);
                            return Ok(exit);
                        }
                        Some(progress.text)
                    }
                    None => Some(reason),
                }
            }
            // The hub was reachable before, so it is probably restarting.
            Err(failure) if is_reached && failure.kind == FailureKind::Outside => Some(failure.message),
            Err(failure) => return Err(failure.into()),
        };
        if let Some(reason) = reason {
            if is_late {
                return Err(LateError(reason).into());
            }
            if told.as_ref() != Some(&reason) {
                terminal::note(&format!("{}: waiting", hub_client::plain(&reason)));
                told = Some(reason);
            }
        }
        std::thread::sleep(POLL_INTERVAL.min(timeout.saturating_sub(started.elapsed())));
    }
}

/// The exit status if the wait is over. A rollout without any expected host is not done.
fn verdict(rollout: &Rollout, failures: i64, is_late: bool) -> Option<Exit> {
    let counts = &rollout.counts;
    match counts {
        counts if counts.failed > failures => Some(Exit::Problems),
        counts
            if counts.expected > 0 && counts.succeeded + counts.failed == counts.expected && !rollout.is_partial() =>
        {
            Some(Exit::Good)
        }
        _ if superseded(rollout).next().is_some() => Some(Exit::Superseded),
        _ if is_late => Some(Exit::Late),
        _ => None,
    }
}

/// The environments in which something else is desired in the meantime. The remaining reconcilers there will never report this rollout.
fn superseded(rollout: &Rollout) -> impl Iterator<Item = &EnvironmentRollout> {
    let environments = rollout.environments.iter();
    environments.filter(|one| one.superseded > 0 || one.desired_since.is_some() && !one.desired)
}

/// The reason why the wait is over, for the end of a pipeline's log.
fn why(rollout: &Rollout, (exit, options): (Exit, &RolloutWait)) -> String {
    let counts = &rollout.counts;
    match exit {
        Exit::Good if counts.failed > 0 => {
            format!("done: {} failed, --failures allows {}", reconcilers(counts.failed), options.failures)
        }
        Exit::Good => "done".to_owned(),
        Exit::Late => format!("late: not done within {}", options.timeout),
        Exit::Superseded => {
            let place =
                |one: &EnvironmentRollout| match (one.environment.as_str(), versions_text(&one.instead).as_str()) {
                    ("", _) => "another version is now desired".to_owned(),
                    (environment, "") => format!("another version is now desired in {environment}"),
                    (environment, instead) => format!("{instead} is now desired in {environment}"),
                };
            hub_client::plain(&format!("superseded: {}", superseded(rollout).map(place).collect::<Vec<_>>().join("; ")))
        }
        _ => format!("failed: {} failed, --failures allows {}", reconcilers(counts.failed), options.failures),
    }
}

fn reconcilers(count: i64) -> String {
    terminal::count(usize::try_from(count).unwrap_or(0), "reconciler")
}

fn thousands(count: i64) -> String {
    terminal::thousands(usize::try_from(count).unwrap_or(0))
}

fn list(options: &RolloutList) -> anyhow::Result<Exit> {
    let hub = Hub::from_connection(&options.connection)?;
    let filter = hub_client::filter(&options.filter, None, None);
    let at = hub_client::at(options.at.as_deref())?;
    let recorded_on = Cell::new(None);
    let ask = async |client: &Client, page: &Page| client.rollouts(&filter, page, at).await;
    let list = hub.list(options.limit, ask, |page| {
        recorded_on.set(page.recorded_on);
        (page.items, page.next)
    })?;
    match options.connection.output {
        Format::Human if list.items.is_empty() => terminal::answer("the hub has no rollouts yet\n")?,
        Format::Human => {
            let heading = ["COMMIT", "BRANCH", "WHEN", "PLACES", "RECONCILERS", "VERSIONS"].map(str::to_owned);
            let now = at.unwrap_or_else(Timestamp::now);
            let rows = list.items.iter().map(|row| listed(row, now));
            let table = table::table(std::iter::once(heading).chain(rows));
            terminal::answer(&(table + &hub_client::recorded(recorded_on.get())))?;
        }
        format => terminal::answer(&terminal::structured(&list, format))?,
    }
    Ok(Exit::Good)
}

fn listed(row: &ListedRollout, now: Timestamp) -> [String; 6] {
    [
        hub_client::short(Some(&row.commit)),
        hub_client::plain(&row.branch),
        hub_client::ago(Some(row.committed_on), now),
        row.places.to_string(),
        succeeded(&row.counts),
        of_workloads(&row.versions),
    ]
}

/// The maximum number of workloads that are named with their versions in a line.
const NAMED: usize = 3;

/// The versions of workloads, without their targets: `checkout 2.4.0, cart 1.0`.
pub(super) fn of_workloads(versions: &[RolloutVersion]) -> String {
    let versions: BTreeSet<_> = versions
        .iter()
        .map(|one| format!("{} {}", hub_client::plain(&one.target.workload), hub_client::version(&one.version)))
        .collect();
    let more = versions.len().saturating_sub(NAMED);
    let named = versions.into_iter().take(NAMED).collect::<Vec<_>>().join(", ");
    if more == 0 { named } else { format!("{named} and {} more", terminal::thousands(more)) }
}

#[cfg(test)]
mod tests {
    use hub_api::deployments::TargetNames;

    use super::*;

    fn in_environment(name: &str, version: &str, counts: Counts) -> EnvironmentRollout {
        let (environment, versions) = (name.to_owned(), vec![version.to_owned()]);
        let desired_since = Some(Timestamp::from_millis(0));
        EnvironmentRollout { environment, versions, counts, desired_since, ..EnvironmentRollout::default() }
    }

    fn checkout(environments: Vec<EnvironmentRollout>) -> String {
        let [workspace, application, workload] = ["store-team", "store", "checkout"].map(str::to_owned);
        let what = RolloutOf::Workload { workspace, application, workload };
        text(&Rollout { what, environments, ..Rollout::default() }, (Timestamp::from_millis(7_200_000), None))
    }

    #[test]
    fn workload_rollout_is_shown_by_environment() {
        let counts = |expected, succeeded| Counts { expected, succeeded, ..Counts::default() };
        let there = in_environment("dev", "2.4.0", counts(12, 12));
        let host = |host: &str, message: &str| Deployment {
            host: host.to_owned(),
            message: Some(message.to_owned()),
            since: Some(Timestamp::from_millis(6_540_000)),
            ..Deployment::default()
        };
        let attention = vec![host("dallas-04", "image pull back-off"), host("門真-1", "")];
        let stage = Counts { failed: 3, in_progress: 24, ..counts(100, 73) };
        let stage = EnvironmentRollout { attention, ..in_environment("stage", "2.4.0", stage) };
        let nobody = in_environment("prod", "2.3.0", counts(0, 0));
        insta::assert_snapshot!(checkout(vec![there.clone(), nobody, stage.clone()]), @r"
        checkout
          dev    2.4.0  ████████████████████ 12 of 12   desired since 2 h
          prod   2.3.0  no reconciler is expected to apply it
          stage  2.4.0  ██████████████░░░░░░ 73 of 100   24 in progress · 3 failed   desired since 2 h
                   dallas-04  11 min  image pull back-off
                   門真-1     11 min
                   and 1 more
        ");
        assert!(checkout(vec![there, stage]).starts_with("checkout 2.4.0\n  dev    ████████████████████ 12 of 12"));
    }

    #[test]
    fn equal_states_of_a_host_are_shown_once() {
        let silent = |host: &str| Deployment { host: host.to_owned(), silent: true, ..Deployment::default() };
        let attention = vec![silent("dallas-04"), silent("dallas-04"), silent("dallas-09")];
        let counts = Counts { expected: 3, silent: 3, ..Counts::default() };
        let stage = EnvironmentRollout { attention, ..in_environment("stage", "2.4.0", counts) };
        assert_eq!(checkout(vec![stage]).matches("silent, last report").count(), 2);
    }

    #[test]
    fn versions_are_grouped_by_workload() {
        let version = |workload: &str, target: &str| RolloutVersion {
            target: TargetNames { workload: workload.to_owned(), target: target.to_owned(), ..TargetNames::default() },
            version: "2.0".to_owned(),
            ..RolloutVersion::default()
        };
        assert_eq!(
            of_workloads(&[version("cart", "eu"), version("cart", "us"), version("till", "eu")]),
            "cart 2.0, till 2.0"
        );
        let many: Vec<_> = ["a", "b", "c", "d", "e"].map(|name| version(name, "eu")).into();
        assert_eq!(of_workloads(&many), "a 2.0, b 2.0, c 2.0 and 2 more");
    }

    #[test]
    fn environment_without_the_version_shows_the_desired_one() {
        let stage = EnvironmentRollout { instead: vec!["2.3.0".to_owned()], ..EnvironmentRollout::default() };
        assert_eq!(environment(&stage, Timestamp::MIN), "not yet: 2.3.0 is desired there");
    }

    #[test]
    fn total_includes_places_with_another_version_but_not_pinned_ones() {
        let counts = Counts { expected: 3, succeeded: 3, ..Counts::default() };
        let (elsewhere, pinned, instead) = (97, 1, vec!["2.3.0".to_owned()]);
        let one =
            EnvironmentRollout { elsewhere, pinned, instead, desired: true, counts, ..EnvironmentRollout::default() };
        let line = environment(&one, Timestamp::MIN);
        assert_eq!(line.split_once(' ').unwrap().1, "3 of 100   97 others (2.3.0)   1 pinned");
        let of = |one: EnvironmentRollout| {
            let rollout = Rollout { counts, environments: vec![one], ..Rollout::default() };
            verdict(&rollout, 0, false)
        };
        assert_eq!(of(one.clone()), None);
        assert_eq!(of(EnvironmentRollout { elsewhere: 0, ..one.clone() }), Some(Exit::Good));
        let over = EnvironmentRollout { desired: false, desired_since: Some(Timestamp::MIN), ..one };
        let over = EnvironmentRollout { counts: Counts::default(), ..over };
        assert_eq!(environment(&over, Timestamp::MIN), "not any more: 2.3.0 is desired there");
    }

    #[test]
    fn waiting_ends_with_success_too_many_failures_or_the_timeout() {
        let check = |expected, succeeded, failed, is_late| {
            let counts = Counts { expected, succeeded, failed, ..Counts::default() };
            verdict(&Rollout { counts, ..Rollout::default() }, 1, is_late)
        };
        assert_eq!(check(3, 3, 0, false), Some(Exit::Good));
        assert_eq!(check(3, 2, 1, false), Some(Exit::Good));
        assert_eq!(check(3, 1, 2, true), Some(Exit::Problems));
        assert_eq!(check(3, 2, 0, false), None);
        assert_eq!(check(3, 2, 0, true), Some(Exit::Late));
        assert_eq!(check(0, 0, 0, false), None);
    }

    #[test]
    fn waiting_for_a_superseded_rollout_ends_at_once() {
        let check = |counts: Counts, environment: EnvironmentRollout| {
            verdict(&Rollout { counts, environments: vec![environment], ..Rollout::default() }, 0, false)
        };
        let (here, since) = (EnvironmentRollout::default(), Some(Timestamp::from_millis(0)));
        let three = Counts { expected: 3, succeeded: 2, ..Counts::default() };
        let desired = EnvironmentRollout { desired_since: since, desired: true, ..here.clone() };
        assert_eq!(check(three, desired.clone()), None);
        assert_eq!(check(three, EnvironmentRollout { superseded: 1, ..desired }), Some(Exit::Superseded));
        let moved_on = EnvironmentRollout { desired_since: since, ..here.clone() };
        assert_eq!(check(Counts::default(), moved_on.clone()), Some(Exit::Superseded));
        // A rollout that succeeded everywhere stays successful if something else becomes desired. A rollout that was never desired may still become
        // desired.
        assert_eq!(check(Counts { succeeded: 3, ..three }, moved_on), Some(Exit::Good));
        assert_eq!(check(Counts::default(), here), None);
    }
}
