//! Contracts as text for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use engine::answers::contract::{AskedValue, WorkloadContract};
use hub_api::compiled::ValueCounts;
use model::count::{count, thousands};
use model::locate::Locator;
use workbench::answers::contract::{EnvironmentContract, value_counts};

use super::blocks::{self, Problem};
use super::{State, View};
use crate::table;

/// The maximum number of rows of a summary.
pub(super) const ROWS_MAX: usize = 40;
/// The maximum number of problems that are shown for an environment.
pub(super) const PROBLEMS_MAX: usize = 20;

pub(super) fn answer(view: View<'_>, shown: &mut [EnvironmentContract<'_>]) -> String {
    match view {
        View { workload: Some(_), .. } => {
            let mut parts = Vec::new();
            for shown in shown {
                let contract = shown.contract;
                parts.extend(contract.workloads.iter().map(|workload| of_workload(workload, shown)));
            }
            parts.join("\n")
        }
        View { place: Some(place), .. } if shown.is_empty() => {
            format!("no workload runs on `{place}`, so none asks for values there\n")
        }
        View { place: Some(place), .. } => {
            let parts: Vec<_> = shown.iter_mut().map(|shown| of_place(place, shown)).collect();
            parts.join("\n")
        }
        View { .. } => summary(shown),
    }
}

/// The first words of a contract: the number of values in each state.
pub(super) fn counted(counts: ValueCounts) -> String {
    let ValueCounts { asked, given, missing, wrong } = counts;
    if asked + wrong == 0 {
        return "asks for no values: it has no schema".to_owned();
    }
    let problems = [(missing, "missing"), (wrong, "wrong")];
    let problems = problems
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| format!("{} {what}", thousands(*number)));
    let parts: Vec<_> = problems.collect();
    let rest = if parts.is_empty() { "none missing, none wrong".to_owned() } else { parts.join(", ") };
    format!("asks for {}: {} given everywhere, {rest}", count(asked, "value"), thousands(given))
}

fn of_workload(workload: &WorkloadContract, shown: &mut EnvironmentContract<'_>) -> String {
    let name = name_of(workload);
    let mut text = format!(
        "{name} in {}: {}\n  {}\n",
        shown.environment,
        counted(value_counts(workload)),
        blocks::reach(workload)
    );
    let rows: Vec<_> = sorted(workload).into_iter().flat_map(|value| blocks::rows(value, &mut shown.locator)).collect();
    if !rows.is_empty() {
        let head = ["VALUE", "NEEDED", "TYPE", "GIVEN ON", "BY"].map(str::to_owned);
        let _ = write!(text, "\n{}", table::indented(std::iter::once(head).chain(rows), 2));
    }
    text.push_str(&problems_text(&blocks::problems(workload, &mut shown.locator)));
    let mut facts: Vec<_> = blocks::unasked(workload).into_iter().collect();
    facts.extend(workload.unassigned.iter().map(blocks::unassigned));
    if workload.unchecked > 0 {
        facts.push(format!(
            "the values of {} were not all checked: there are too many different ones",
            count(workload.unchecked as usize, "assignment")
        ));
    }
    facts.extend(shown.platform.as_ref().map(|place| format!("the platform team gives values in {place}")));
    if !facts.is_empty() {
        text.push('\n');
    }
    for fact in facts {
        let _ = writeln!(text, "  {fact}");
    }
    text
}

fn name_of(workload: &WorkloadContract) -> &str {
    if workload.workload.is_empty() { "(no workload)" } else { &workload.workload }
}

/// The values of a workload, those with problems first.
pub(super) fn sorted(workload: &WorkloadContract) -> Vec<&AskedValue> {
    let mut values: Vec<_> = workload.values.iter().filter(|value| !value.key.is_empty()).collect();
    values.sort_by_key(|value| (State::new(value).min(State::NotGiven), !value.is_required));
    values
}

fn problems_text(problems: &[Problem]) -> String {
    let mut text = String::new();
    for Problem { title, facts } in problems.iter().take(PROBLEMS_MAX) {
        let _ = write!(text, "\n  {title}\n");
        for (name, fact) in facts {
            let _ = writeln!(text, "    {name:<13} {fact}");
        }
    }
    if let Some(more) = problems.len().checked_sub(PROBLEMS_MAX).filter(|more| *more > 0) {
        let _ = writeln!(text, "\n  … and {}: -o json lists all", count(more, "more problem"));
    }
    text
}

/// A value that workloads on a place ask for.
pub(super) struct AskedBy<'a> {
    pub(super) by: Vec<(&'a WorkloadContract, &'a AskedValue)>,
}

/// The values that the workloads ask for, by key.
pub(super) fn by_key(workloads: &[WorkloadContract]) -> BTreeMap<&str, AskedBy<'_>> {
    let mut keys: BTreeMap<&str, AskedBy<'_>> = BTreeMap::new();
    for workload in workloads {
        for value in workload.values.iter().filter(|value| !value.key.is_empty()) {
            keys.entry(&value.key).or_insert_with(|| AskedBy { by: Vec::new() }).by.push((workload, value));
        }
    }
    keys
}

/// A value on a place as a row: key, workloads, assignments that get it, and the first container.
pub(super) fn row_of_place(key: &str, asked: &AskedBy<'_>, locator: &mut Locator<'_>) -> [String; 4] {
    let names = asked.by.iter().map(|(workload, value)| format!("{} ({})", name_of(workload), blocks::need(value)));
    let (given, all) =
        asked.by.iter().fold((0, 0), |(given, all), (_, value)| (given + value.given, all + value.asked));
    let given_text = match given {
        0 => "not given".to_owned(),
        _ => format!("{} of {}", thousands(given as usize), count(all as usize, "assignment")),
    };
    let giver = asked.by.iter().find_map(|(_, value)| value.givers.first());
    let giver = giver.map(|giver| format!("{}  {}", giver.container, locator.shown(&giver.origin).unwrap_or_default()));
    [key.to_owned(), blocks::limited(names.collect()), given_text, giver.unwrap_or_default()]
}

/// Sorts the values on a place. Values that some workloads do not get come first.
pub(super) fn worst_first(workloads: &[WorkloadContract]) -> Vec<(&str, AskedBy<'_>)> {
    let mut rows: Vec<_> = by_key(workloads).into_iter().collect();
    rows.sort_by_key(|(_, asked)| asked.by.iter().map(|(_, value)| State::new(value)).min());
    rows
}

/// The number of values in each state for a place. A value counts once, whatever the number of workloads that ask for it.
pub(super) fn counts_of_place(rows: &[(&str, AskedBy<'_>)]) -> ValueCounts {
    let any = |asked: &AskedBy<'_>, state: State| asked.by.iter().any(|(_, value)| State::new(value) == state);
    ValueCounts {
        asked: rows.len(),
        given: rows.iter().filter(|(_, asked)| asked.by.iter().all(|(_, value)| value.given == value.asked)).count(),
        missing: rows.iter().filter(|(_, asked)| any(asked, State::Missing)).count(),
        wrong: rows.iter().filter(|(_, asked)| any(asked, State::Wrong)).count(),
    }
}

fn of_place(place: &str, shown: &mut EnvironmentContract<'_>) -> String {
    let workloads = &shown.contract.workloads;
    let keys = worst_first(workloads);
    let counts = counts_of_place(&keys);
    let mut text = format!("{place} in {}: {}\n", shown.environment, counted_of_place(counts, workloads.len()));
    if !keys.is_empty() {
        let head = ["VALUE", "ASKED FOR BY", "GIVEN TO", "BY"].map(str::to_owned);
        let rows: Vec<_> =
            keys.iter().take(ROWS_MAX).map(|(key, asked)| row_of_place(key, asked, &mut shown.locator)).collect();
        let _ = write!(text, "\n{}", table::indented(std::iter::once(head).chain(rows), 2));
        if let Some(more) = keys.len().checked_sub(ROWS_MAX).filter(|more| *more > 0) {
            let _ = writeln!(text, "  … and {}: -o json lists all", count(more, "more value"));
        }
    }
    for workload in workloads {
        text.push_str(&problems_text(&blocks::problems(workload, &mut shown.locator)));
    }
    text
}

/// The first words for a place.
pub(super) fn counted_of_place(counts: ValueCounts, workloads: usize) -> String {
    let ValueCounts { asked, given, missing, wrong } = counts;
    let on = count(workloads, "workload");
    if asked == 0 {
        return format!("no values are asked for by {on} on it");
    }
    format!(
        "{} asked for by {on} on it: {} given to all that ask, {} missing, {} wrong",
        count(asked, "value"),
        thousands(given),
        thousands(missing),
        thousands(wrong)
    )
}

/// A workload in an environment as a row of the summary.
pub(super) fn summary_row(environment: &str, workload: &WorkloadContract) -> [String; 7] {
    let ValueCounts { asked, given, missing, wrong } = value_counts(workload);
    let on = if workload.is_hypothetical { "no policy".to_owned() } else { blocks::place_count(workload.places) };
    let number = |number: usize| if number == 0 { "-".to_owned() } else { thousands(number) };
    [
        name_of(workload).to_owned(),
        environment.to_owned(),
        thousands(asked),
        thousands(given),
        number(missing),
        number(wrong),
        on,
    ]
}

/// The rows of the summary, those with problems first, and the number of workloads that ask for nothing.
pub(super) fn summary_rows<'a>(shown: &[EnvironmentContract<'a>]) -> (Vec<(&'a str, &'a WorkloadContract)>, usize) {
    let all =
        shown.iter().flat_map(|shown| shown.contract.workloads.iter().map(|workload| (shown.environment, workload)));
    let (mut rows, silent): (Vec<_>, Vec<_>) =
        all.partition(|(_, workload)| !workload.values.is_empty() || !workload.unusable_schemas.is_empty());
    rows.sort_by_key(|(_, workload)| (!workload.has_problems(), workload.is_hypothetical, &workload.workload));
    (rows, silent.len())
}

/// The first line of the summary.
pub(super) fn summary_title(shown: &[EnvironmentContract<'_>]) -> String {
    let workloads = || shown.iter().flat_map(|shown| &shown.contract.workloads);
    let ValueCounts { asked, given, missing, wrong } =
        workloads().map(value_counts).fold(ValueCounts::default(), ValueCounts::and);
    let unused: usize = shown.iter().map(|shown| shown.contract.unused_count).sum();
    let unused = if unused == 0 { String::new() } else { format!("; {} that nothing uses", count(unused, "value")) };
    format!(
        "{} of workloads in {}: {} given everywhere, {} missing, {} wrong{unused}",
        count(asked, "value"),
        count(shown.len(), "environment"),
        thousands(given),
        thousands(missing),
        thousands(wrong)
    )
}

fn summary(shown: &mut [EnvironmentContract<'_>]) -> String {
    let mut text = summary_title(shown) + "\n";
    let (rows, silent) = summary_rows(shown);
    if !rows.is_empty() {
        let head = ["WORKLOAD", "ENV", "ASKED", "GIVEN", "MISSING", "WRONG", "ON"].map(str::to_owned);
        let cells = rows.iter().take(ROWS_MAX).map(|(environment, workload)| summary_row(environment, workload));
        let _ = write!(text, "\n{}", table::table(std::iter::once(head).chain(cells)));
    }
    if let Some(more) = rows.len().checked_sub(ROWS_MAX).filter(|more| *more > 0) {
        let _ = writeln!(text, "… and {}: -o json lists all", count(more, "more row"));
    }
    if silent > 0 {
        let _ = writeln!(text, "\n{}", silent_text(silent));
    }
    for shown in shown {
        text.push_str(&unused(shown));
    }
    if !rows.is_empty() {
        text.push_str("\nkalypso contract WORKLOAD shows the values of one workload, with the lines that ask for them and give them\n");
    }
    text
}

/// A sentence about workloads that ask for nothing.
pub(super) fn silent_text(workloads: usize) -> String {
    match workloads {
        1 => "1 workload has no schema, so it asks for no values".to_owned(),
        _ => format!("{} have no schema, so they ask for no values", count(workloads, "workload")),
    }
}

/// The values that nothing uses.
fn unused(shown: &mut EnvironmentContract<'_>) -> String {
    const SHOWN_MAX: usize = 10;
    let contract = shown.contract;
    if contract.unused_count == 0 {
        return String::new();
    }
    let mut text = format!("\nnothing in {} uses:\n", shown.environment);
    for value in contract.unused.iter().take(SHOWN_MAX) {
        let place = shown.locator.shown(&value.origin).unwrap_or_default();
        let _ = writeln!(text, "  {} of {}  {place}", value.key, value.container);
    }
    if let Some(more) = contract.unused_count.checked_sub(SHOWN_MAX).filter(|more| *more > 0) {
        let _ = writeln!(text, "  … and {} more", thousands(more));
    }
    text
}
