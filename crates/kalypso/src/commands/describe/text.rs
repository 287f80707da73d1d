//! The description of an object for people.

use std::fmt::Write as _;
use std::sync::Arc;

use model::excerpt;
use workbench::answers::describe::{DescribedEnvironment, Description, DetailList, ObjectReach, ReachingObject};
use workbench::diagnostics::DiagnosticReport;
use workbench::listing::kind::ListedKind;
use workbench::listing::rows::columns_of;
use workbench::listing::view::View;

use super::held;
use crate::diagnostics::{ReportFormat, render};
use crate::listing::text::{counts_text, more_text};
use crate::table;
use crate::terminal::{count, thousands};

/// The width of the column with titles.
const TITLE: usize = 16;
/// How many items of a list are shown.
const ITEMS_MAX: usize = 10;
/// How many groups of assignments are shown.
const GROUPS_MAX: usize = 6;
/// The maximum length of a cell, in characters.
const CELL_CHARS_MAX: usize = 80;
/// The columns that have rows of their own.
const OTHER_COLUMNS: [&str; 4] = ["NAME", "LABELS", "SOURCE", "ASSIGNMENTS"];

/// The description of an object.
pub(super) fn text(description: &Description<'_>, environment: &mut DescribedEnvironment<'_>) -> String {
    let DescribedEnvironment { view, compiled, .. } = environment;
    let Description { object, row, details, reach, published, .. } = description;
    let mut lists = details.lists();
    let rows = held::rows(published, compiled);
    lists.extend((!rows.is_empty()).then_some(DetailList { title: "Published", rows }));
    let listed = &object.listed;
    let mut text = String::new();
    let kind = object.kind.of_objects().map_or("", model::kind::Kind::name);
    field(&mut text, "Name", &[listed.name().to_string()]);
    field(&mut text, "Kind", &[kind.to_owned()]);
    field(&mut text, "Environment", &[view.environment().to_owned()]);
    field(&mut text, "Source", &[view.source(&listed.origin())]);
    field(&mut text, "Labels", &pairs(&listed.labels(view.fleet())));
    field(&mut text, "Annotations", &pairs(&listed.annotations()));
    let columns = columns_of(object.kind);
    for (heading, cell) in columns.always.iter().chain(columns.wide).zip(&row.cells) {
        if !OTHER_COLUMNS.contains(heading) && !lists.iter().any(|list| list.title == title(heading)) {
            field(&mut text, &title(heading), std::slice::from_ref(cell));
        }
    }
    lists.iter().for_each(|list| text.push_str(&list_text(list)));
    if let Some(reach) = reach {
        text.push_str(&reach_text(reach));
        text.push_str(&reached_by_text(&reach.reached_by, view));
    }
    text
}

/// What is wrong with an object, as `kalypso check` shows it.
pub(super) fn problems(report: &DiagnosticReport<'_>) -> String {
    let summary = report.summary();
    if summary.errors + summary.warnings == 0 {
        return format!("{:TITLE$}none\n", "Problems:");
    }
    format!("Problems:\n\n{}", render(report, ReportFormat::Human))
}

/// The heading of a column as a title: `CLUSTER-TYPES` is `Cluster types`.
fn title(heading: &str) -> String {
    let words = heading.to_ascii_lowercase().replace('-', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}

fn field(text: &mut String, title: &str, lines: &[String]) {
    let mut title = format!("{title}:");
    for line in lines {
        let _ = writeln!(text, "{}", format!("{title:TITLE$}{line}").trim_end());
        title.clear();
    }
}

fn pairs(labels: &model::label::Labels) -> Vec<String> {
    let pairs: Vec<_> = labels
        .iter()
        .map(|(key, value)| workbench::listing::view::one_line(&model::credential::without(&format!("{key}={value}"))))
        .collect();
    if pairs.is_empty() { vec!["-".to_owned()] } else { pairs }
}

fn list_text(DetailList { title, rows }: &DetailList) -> String {
    let mut text = String::new();
    field(&mut text, title, &[if rows.is_empty() { "-".to_owned() } else { thousands(rows.len()) }]);
    text + &list(rows)
}

/// The first rows of a list, and the number of the others.
fn list(rows: &[Vec<String>]) -> String {
    let shown = rows.get(..ITEMS_MAX).unwrap_or(rows);
    let shown: Vec<Vec<String>> =
        shown.iter().map(|row| row.iter().map(|cell| excerpt::first(cell, CELL_CHARS_MAX)).collect()).collect();
    let mut text: String = table::of_rows(&shown).lines().map(|line| format!("  {line}\n")).collect();
    if rows.len() > shown.len() {
        let _ = writeln!(text, "  {}: -o json lists all", more_text(rows.len() - shown.len()));
    }
    text
}

fn reach_text(reach: &ObjectReach) -> String {
    let mut text = String::new();
    field(&mut text, "Reaches", &[counts_text(reach.counts)]);
    if reach.counts.assignments == 0 {
        return text;
    }
    let _ = writeln!(text, "  by workload       {}", groups(&reach.by_workload));
    let _ = writeln!(text, "  by cluster type   {}", groups(&reach.by_cluster_type));
    let _ = writeln!(text, "  for example       {}", reach.examples.join(", "));
    text
}

fn groups(groups: &[(Arc<str>, usize)]) -> String {
    let name = |name: &str| if name.is_empty() { "(none)".to_owned() } else { name.to_owned() };
    let shown = groups.iter().take(GROUPS_MAX).map(|(group, count)| format!("{} {}", name(group), thousands(*count)));
    let mut shown: Vec<_> = shown.collect();
    if let Some(more) = groups.len().checked_sub(GROUPS_MAX).filter(|more| *more > 0) {
        shown.push(format!("{} more", thousands(more)));
    }
    shown.join(", ")
}

fn reached_by_text(reached_by: &[ReachingObject], view: &mut View<'_>) -> String {
    let mut text = String::new();
    let kinds = [ListedKind::Policy, ListedKind::Config, ListedKind::Schema, ListedKind::Pin, ListedKind::Mapping];
    for kind in kinds {
        let of_kind: Vec<_> = reached_by.iter().filter(|reaching| reaching.kind == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        field(&mut text, &title(kind.words().1), &[thousands(of_kind.len())]);
        let mut row = |reaching: &&ReachingObject| {
            vec![reaching.name.to_string(), count(reaching.assignments, "assignment"), view.source(&reaching.origin)]
        };
        // Only the shown ones are looked up in their files.
        let shown: Vec<_> = of_kind.iter().take(ITEMS_MAX).map(&mut row).collect();
        text.push_str(&list(&shown));
        if of_kind.len() > shown.len() {
            let _ = writeln!(text, "  {}: -o json lists all", more_text(of_kind.len() - shown.len()));
        }
    }
    text
}
