//! `kalypso hub rule`: the notification rules, their positions in the configuration file, and their receivers.

use anyhow::Context as _;
use hub::rules::{self, Rule};
use hub_api::rules::{Phase, RuleState};
use hub_api::timestamp::Timestamp;
use serde_json::json;

use super::{unusable, with_database};
use crate::arguments::{Format, HubRuleCommand, HubRuleList, HubRuleTest};
use crate::exit::{Exit, Failure};
use crate::{configuration, hub_client, table, terminal};

pub(super) fn run(command: &HubRuleCommand) -> anyhow::Result<Exit> {
    match command {
        HubRuleCommand::List(options) => list(options),
        HubRuleCommand::Test(options) => test(options),
    }
}

fn list(options: &HubRuleList) -> anyhow::Result<Exit> {
    let rules = configuration::read_hub(&options.database)?.rules;
    let states = with_database(&options.database, async |database| {
        Ok(rules::states(database, &rules).await.map_err(unusable)?)
    })?;
    match options.output {
        Format::Human if states.is_empty() => {
            terminal::answer("there is no rule; `[[hub.rule]]` in kalypso.toml makes one\n")?;
        }
        Format::Human => terminal::answer(&table(&states, Timestamp::now()))?,
        format => terminal::answer(&terminal::structured(&json!({ "rules": states }), format))?,
    }
    Ok(Exit::Good)
}

fn table(states: &[RuleState], now: Timestamp) -> String {
    let heading = ["RULE", "STATE", "SINCE", "COUNT", "NOTIFIED"].map(str::to_owned);
    let row = |state: &RuleState| {
        let since = state.since.map_or_else(|| "-".to_owned(), |since| hub_client::length(now.since(since)));
        let told = state.notification.as_ref().map_or_else(
            || "-".to_owned(),
            |told| {
                let what = match (told.delivered, told.given_up, &told.problem) {
                    (Some(delivered), _, _) => hub_client::ago(Some(delivered), now),
                    (_, Some(_), problem) => format!("given up: {}", problem.as_deref().unwrap_or_default()),
                    (_, _, Some(problem)) => format!("not yet: {problem}"),
                    _ => "not yet".to_owned(),
                };
                hub_client::plain(&format!("{} {what}", told.kind))
            },
        );
        let phase = state.phase.map_or("not evaluated yet", Phase::as_str).to_owned();
        let RuleState { matching, expected, condition, above, problem, .. } = state;
        let counted = format!("{matching} of {expected} {}, above {above}", condition.as_str());
        let count = problem.as_deref().map_or(counted, hub_client::plain);
        [hub_client::plain(&state.name), phase, since, count, told]
    };
    table::table(std::iter::once(heading).chain(states.iter().map(row)))
}

fn test(options: &HubRuleTest) -> anyhow::Result<Exit> {
    let rules = configuration::read_hub(&options.database)?.rules;
    let Some(rule) = rules.iter().find(|rule| rule.name == options.name) else {
        return Err(no_rule(&options.name, &rules).into());
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let sent = runtime.context("the program can't wait for several things at once")?.block_on(rules::test(rule));
    sent.map_err(|error| Failure::outside(error.to_string()))?;
    terminal::answer(&format!("{} took it\n", rule.receiver.host()))?;
    Ok(Exit::Good)
}

fn no_rule(name: &str, rules: &[Rule]) -> Failure {
    let known: Vec<_> = rules.iter().map(|rule| rule.name.as_str()).collect();
    let help = if known.is_empty() {
        "`[[hub.rule]]` in kalypso.toml makes one".to_owned()
    } else {
        format!("there are {}", known.join(", "))
    };
    Failure::usage(format!("there is no rule `{name}`")).help(help)
}
