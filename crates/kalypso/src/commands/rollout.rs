//! `kalypso rollout`: how far a commit or version is, and who does not have it.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use hub::moment::Moment;
use hub::questions::{Deployment, ListedRollout, Rollout, Rollouts};
use serde_json::json;

use super::deployments;
use super::status::{bar, of, others};
use crate::arguments::{Format, RolloutCommand, RolloutList, RolloutStatus, RolloutWait};
use crate::asking::{self, Hub};
use crate::exit::Exit;
use crate::terminal;
use crate::times::duration;

/// Between two looks at a rollout that is waited for.
const LOOK: Duration = Duration::from_secs(2);

pub(super) fn run(command: &RolloutCommand) -> anyhow::Result<Exit> {
    match command {
        RolloutCommand::Status(options) => status(options),
        RolloutCommand::Wait(options) => wait(options),
        RolloutCommand::List(options) => list(options),
    }
}

fn status(options: &RolloutStatus) -> anyhow::Result<Exit> {
    let hub = Hub::of(&options.asking)?;
    let is_list = options.status.is_some() || options.hosts.host.is_some() || options.hosts.selector.is_some();
    if is_list {
        let given = asking::filter(&options.filter, Some(&options.hosts), options.status.as_ref());
        let path = ["rollouts", &options.of, "hosts"];
        let list = hub.list(&path, (&given, options.limit), deployments::taken)?;
        deployments::tell(&list, options.asking.output)?;
        return Ok(Exit::Good);
    }
    let rollout: Rollout = hub.ask(&["rollouts", &options.of], &asking::filter(&options.filter, None, None))?;
    tell(&rollout, options.asking.output)?;
    Ok(Exit::Good)
}

fn tell(rollout: &Rollout, format: Format) -> std::io::Result<()> {
    match format {
        Format::Human => terminal::answer(&text(rollout, Moment::now())),
        format => terminal::answer(&terminal::structured(&json!(rollout), format)),
    }
}

fn text(rollout: &Rollout, now: Moment) -> String {
    let mut text = format!("{}\n", asking::plain(&rollout.of));
    if rollout.environments.is_empty() {
        text.push_str("  no host is expected to have it\n");
    }
    let width = rollout.environments.iter().map(|one| one.environment.chars().count()).max().unwrap_or(0);
    for one in &rollout.environments {
        let name = asking::plain(&one.environment);
        let mut parts = vec![of(&one.counts), others(&one.counts)];
        parts.push(
            one.wanted_since
                .map(|since| format!("wanted since {}", asking::length(now.since(since))))
                .unwrap_or_default(),
        );
        if one.superseded > 0 {
            parts.push("something else is wanted by now".to_owned());
        }
        parts.retain(|part| !part.is_empty());
        let _ = writeln!(text, "  {name:width$}  {} {}", bar(&one.counts), parts.join("   "));
        let rows = one.attention.iter().map(|row| attention(row, now));
        for line in terminal::table(rows).lines() {
            let _ = writeln!(text, "  {:width$}    {line}", "");
        }
    }
    text
}

fn attention(row: &Deployment, now: Moment) -> [String; 3] {
    let said = match row.message.as_deref().map(asking::plain) {
        _ if row.silent => format!("silent, last heard of {}", asking::ago(row.last_heard, now)),
        Some(message) if !message.is_empty() => message,
        _ => row.standing.map_or("", hub::questions::Standing::as_str).replace('_', " "),
    };
    [asking::plain(&row.host), said, asking::ago(row.since, now)]
}

fn wait(options: &RolloutWait) -> anyhow::Result<Exit> {
    let timeout = duration("--timeout", &options.timeout)?;
    let hub = Hub::of(&options.asking)?;
    let given = asking::filter(&options.filter, None, None);
    let started = Instant::now();
    loop {
        let rollout: Rollout = hub.ask(&["rollouts", &options.of], &given)?;
        let exit = verdict(&rollout, options.failures, started.elapsed() >= timeout);
        if let Some(exit) = exit {
            tell(&rollout, options.asking.output)?;
            return Ok(exit);
        }
        std::thread::sleep(LOOK.min(timeout.saturating_sub(started.elapsed())));
    }
}

/// How the waiting ends, if it does: a rollout that nobody is expected to take part in is not done yet.
fn verdict(rollout: &Rollout, failures: i64, is_late: bool) -> Option<Exit> {
    let counts = &rollout.counts;
    match counts {
        counts if counts.failed > failures => Some(Exit::Problems),
        counts if counts.expected > 0 && counts.succeeded + counts.failed == counts.expected => Some(Exit::Good),
        _ if is_late => Some(Exit::Late),
        _ => None,
    }
}

fn list(options: &RolloutList) -> anyhow::Result<Exit> {
    let hub = Hub::of(&options.asking)?;
    let given = asking::filter(&options.filter, None, None);
    let list = hub.list(&["rollouts"], (&given, options.limit), |page: Rollouts| (page.items, page.next))?;
    match options.asking.output {
        Format::Human if list.items.is_empty() => terminal::answer("the hub knows no rollout yet\n")?,
        Format::Human => {
            let heading = ["COMMIT", "BRANCH", "WHEN", "PLACES", "THERE", "VERSIONS"].map(str::to_owned);
            let now = Moment::now();
            let rows = list.items.iter().map(|row| listed(row, now));
            terminal::answer(&terminal::table(std::iter::once(heading).chain(rows)))?;
        }
        format => {
            terminal::answer(&terminal::structured(&json!({"items": list.items, "more": list.is_more}), format))?;
        }
    }
    Ok(Exit::Good)
}

fn listed(row: &ListedRollout, now: Moment) -> [String; 6] {
    let versions =
        row.versions.iter().map(|one| format!("{}/{} {}", one.target.workload, one.target.target, one.version));
    [
        asking::short(Some(&row.commit)),
        asking::plain(&row.branch),
        asking::ago(Some(row.committed_on), now),
        row.places.to_string(),
        of(&row.counts),
        versions.take(3).map(|version| asking::plain(&version)).collect::<Vec<_>>().join(", "),
    ]
}

#[cfg(test)]
mod tests {
    use hub::questions::Counts;

    use super::*;

    #[test]
    fn waiting_ends_when_all_are_there_or_too_many_failed_or_too_late() {
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
}
