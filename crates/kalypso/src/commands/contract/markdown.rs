//! Contracts as Markdown, for pull requests.

use std::fmt::Write as _;

use delivery::output::changes::markdown::code;
use engine::answers::contract::WorkloadContract;
use model::count::{count, thousands};
use workbench::answers::contract::{EnvironmentContract, value_counts};

use super::View;
use super::blocks::{self, Problem};
use super::text::{
    PROBLEMS_MAX, ROWS_MAX, counted, counted_of_place, counts_of_place, row_of_place, silent_text, sorted, summary_row,
    summary_rows, summary_title, worst_first,
};

pub(super) fn answer(view: View<'_>, shown: &mut [EnvironmentContract<'_>]) -> String {
    let mut text = String::new();
    match view {
        View { workload: Some(_), .. } => {
            for shown in shown {
                let contract = shown.contract;
                for workload in &contract.workloads {
                    text.push_str(&of_workload(workload, shown));
                }
            }
        }
        View { place: Some(place), .. } => {
            let parts: Vec<_> = shown.iter_mut().map(|shown| of_place(place, shown)).collect();
            text = parts.concat();
            if parts.is_empty() {
                let _ = writeln!(text, "No workload runs on {}.", code(place));
            }
        }
        View { .. } => text = summary(shown),
    }
    text
}

fn of_workload(workload: &WorkloadContract, shown: &mut EnvironmentContract<'_>) -> String {
    let mut text = format!(
        "### Values of {} in {}\n\n{} {}.\n{}.\n",
        code(&workload.workload),
        code(shown.environment),
        code(&workload.workload),
        counted(value_counts(workload)),
        sentence(&blocks::reach(workload)),
    );
    let rows: Vec<_> = sorted(workload).into_iter().flat_map(|value| blocks::rows(value, &mut shown.locator)).collect();
    if !rows.is_empty() {
        text.push_str("\n| value | needed | type | given on | by |\n|---|---|---|---|---|\n");
        rows.iter().for_each(|[key, need, kind, given, by]| {
            let _ = writeln!(text, "| {} | {need} | {} | {given} | {} |", code(key), code(kind), code(by));
        });
    }
    text.push_str(&problems(&blocks::problems(workload, &mut shown.locator)));
    let mut facts: Vec<_> = blocks::unasked(workload).into_iter().collect();
    facts.extend(workload.unassigned.iter().map(blocks::unassigned));
    facts.extend(shown.platform.as_ref().map(|place| format!("the platform team gives values in `{place}`")));
    if !facts.is_empty() {
        text.push('\n');
    }
    for fact in facts {
        let _ = writeln!(text, "- {}", quoted(&fact));
    }
    text + "\n"
}

fn problems(problems: &[Problem]) -> String {
    let mut text = String::new();
    for Problem { title, facts } in problems.iter().take(PROBLEMS_MAX) {
        let _ = write!(text, "\n**{}**\n\n", quoted(title));
        for (name, fact) in facts {
            let _ = writeln!(text, "- {name}: {}", code(fact));
        }
    }
    if let Some(more) = problems.len().checked_sub(PROBLEMS_MAX).filter(|more| *more > 0) {
        let _ = writeln!(text, "\nand {}", count(more, "more problem"));
    }
    text
}

fn of_place(place: &str, shown: &mut EnvironmentContract<'_>) -> String {
    let workloads = &shown.contract.workloads;
    let keys = worst_first(workloads);
    let title = counted_of_place(counts_of_place(&keys), workloads.len());
    let mut text = format!("### Values on {} in {}\n\n{title}.\n", code(place), code(shown.environment));
    if !keys.is_empty() {
        text.push_str("\n| value | asked for by | given to | by |\n|---|---|---|---|\n");
    }
    for (key, asked) in keys.iter().take(ROWS_MAX) {
        let [key, names, given, by] = row_of_place(key, asked, &mut shown.locator);
        let _ = writeln!(text, "| {} | {} | {given} | {} |", code(&key), code(&names), code(&by));
    }
    if let Some(more) = keys.len().checked_sub(ROWS_MAX).filter(|more| *more > 0) {
        let _ = writeln!(text, "\nand {}", count(more, "more value"));
    }
    for workload in workloads {
        text.push_str(&problems(&blocks::problems(workload, &mut shown.locator)));
    }
    text + "\n"
}

fn summary(shown: &[EnvironmentContract<'_>]) -> String {
    let mut text = format!("### Values of workloads\n\n{}.\n", summary_title(shown));
    let (rows, silent) = summary_rows(shown);
    if !rows.is_empty() {
        text.push_str(
            "\n| workload | environment | asked | given | missing | wrong | on |\n|---|---|---:|---:|---:|---:|---|\n",
        );
    }
    for (environment, workload) in rows.iter().take(ROWS_MAX) {
        let [name, environment, asked, given, missing, wrong, on] = summary_row(environment, workload);
        let _ = writeln!(
            text,
            "| {} | {} | {asked} | {given} | {missing} | {wrong} | {on} |",
            code(&name),
            code(&environment)
        );
    }
    if let Some(more) = rows.len().checked_sub(ROWS_MAX).filter(|more| *more > 0) {
        let _ = writeln!(text, "\nand {} more rows", thousands(more));
    }
    if silent > 0 {
        let _ = writeln!(text, "\n{}.", silent_text(silent));
    }
    text
}

/// A text with words in backticks, where all other text is in code spans: hosts interpret no markup in it.
fn quoted(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(index, part)| match index % 2 {
        0 => part.replace(['<', '>', '*', '_', '[', ']', '@', '#', '|'], " "),
        _ => code(part),
    });
    parts.collect()
}

/// A sentence that begins with a capital letter.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
