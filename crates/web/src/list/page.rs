//! The page of a list.

use askama::Template;
use hub_api::history::HistoryKind;

use super::Head;
use super::download::Format;
use crate::part::{Moment, Share, Table, worst_first};
use crate::visit::Visit;

/// The page of a list.
#[derive(Template)]
#[template(path = "list.html")]
pub(super) struct ListPage<'a> {
    visit: &'a Visit,
    head: Head,
    fields: Vec<Field>,
    table: Table,
    /// The number of rows on all pages.
    total: Option<i64>,
    /// The address of the next page.
    next: Option<String>,
    /// When the hub recorded the counts. None: they are exact.
    recorded: Option<Moment>,
}

/// A field of the filter.
struct Field {
    name: &'static str,
    label: &'static str,
    value: String,
    /// The values that are possible, with their words. Empty: any text.
    choices: Vec<(&'static str, &'static str)>,
    /// The address of the same page without this condition.
    without: String,
}

/// The parameters of filters: their names in the API, and their labels.
const LABELS: [(&str, &str); 19] = [
    ("fromAt", "First environment at"),
    ("toAt", "Second environment at"),
    ("environment", "Environment"),
    ("workspace", "Workspace"),
    ("workload", "Workload"),
    ("target", "Target"),
    ("clusterType", "Cluster type"),
    ("host", "Host"),
    ("selector", "Host labels"),
    ("targetSelector", "Target labels"),
    ("status", "State"),
    ("place", "Cluster type or cluster"),
    ("policy", "Policy"),
    ("placeSelector", "Place labels"),
    ("kind", "Kind"),
    ("by", "Person"),
    ("since", "Since"),
    ("actor", "Who"),
    ("subject", "About"),
];

/// The values of a parameter that has few, with their words.
fn choices(name: &str) -> Vec<(&'static str, &'static str)> {
    match name {
        "status" => worst_first().map(|state| (state.as_str(), state.words())).collect(),
        "kind" => HistoryKind::ALL.into_iter().map(|kind| (kind.as_str(), kind_words(kind))).collect(),
        _ => Vec::new(),
    }
}

/// A kind of events of the history in words.
fn kind_words(kind: HistoryKind) -> &'static str {
    match kind {
        HistoryKind::Decision => "decisions of people",
        HistoryKind::Promotion => "all events of promotions",
        HistoryKind::Publication => "what became desired",
        HistoryKind::Report => "what was reported",
    }
}

impl Field {
    /// Whether the value is one of the choices. An address may have another one, such as several states.
    fn is_choice(&self) -> bool {
        self.value.is_empty() || self.choices.iter().any(|(value, _)| *value == self.value)
    }

    /// The value in words.
    fn words(&self) -> &str {
        self.choices.iter().find(|(value, _)| *value == self.value).map_or(&self.value, |(_, words)| words)
    }
}

impl<'a> ListPage<'a> {
    /// A page with a head, the fields of its filter, and its table.
    pub(super) fn new(visit: &'a Visit, head: Head, filter: &[&str], table: Table) -> Self {
        let selected = LABELS.into_iter().filter(|(name, _)| filter.contains(name));
        let field = |(name, label): (&'static str, &'static str)| Field {
            name,
            label,
            value: visit.address.get(name).unwrap_or_default().to_owned(),
            choices: choices(name),
            without: visit.address.clone().without(name).without("cursor").to_string(),
        };
        Self { visit, head, fields: selected.map(field).collect(), table, total: None, next: None, recorded: None }
    }

    /// Sets when the hub recorded the counts.
    pub(super) fn recorded(self, recorded: Option<Moment>) -> Self {
        Self { recorded, ..self }
    }

    /// Sets the number of rows on all pages.
    pub(super) fn counted(self, total: Option<i64>) -> Self {
        Self { total, ..self }
    }

    /// Sets the cursor of the next page.
    pub(super) fn next(self, cursor: Option<&String>) -> Self {
        let next = cursor.map(|cursor| self.visit.address.clone().with("cursor", cursor).to_string());
        Self { next, ..self }
    }

    /// The conditions that hide something.
    fn conditions(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| !field.value.is_empty())
    }

    /// The parameters of the address that the form does not change.
    fn kept(&self) -> impl Iterator<Item = (&str, &str)> {
        let is_kept = |name: &str| name != "cursor" && self.fields.iter().all(|field| field.name != name);
        self.visit.address.parameters().filter(move |(name, _)| is_kept(name))
    }

    fn is_filtered(&self) -> bool {
        self.conditions().next().is_some()
    }

    fn is_first(&self) -> bool {
        self.visit.address.get("cursor").is_none()
    }

    fn first(&self) -> String {
        self.visit.address.clone().without("cursor").to_string()
    }

    fn unfiltered(&self) -> String {
        self.fields
            .iter()
            .fold(self.visit.address.clone(), |address, field| address.without(field.name))
            .without("cursor")
            .to_string()
    }

    /// The files with everything that is filtered.
    fn downloads(&self) -> impl Iterator<Item = (&'static str, String)> {
        let address = |format: &Format| self.visit.address.clone().without("cursor").with("format", format.as_str());
        Format::ALL.iter().map(move |format| (format.name(), address(format).to_string()))
    }

    /// How much of the list the page shows: "100 of 2,048 rows".
    fn extent(&self) -> String {
        let shown = self.table.rows.len();
        let rows = |number: usize| if number == 1 { "row" } else { "rows" };
        match (self.total, &self.next) {
            (Some(total), _) if self.is_first() && usize::try_from(total) == Ok(shown) => {
                format!("{shown} {}: all of them", rows(shown))
            }
            (Some(total), _) => format!("{shown} of {total} rows"),
            (None, None) if self.is_first() => format!("{shown} {}: all of them", rows(shown)),
            (None, None) => format!("{shown} {} on this page, the last one", rows(shown)),
            (None, Some(_)) => format!("{shown} {} on this page, and there are more", rows(shown)),
        }
    }

    fn share(&self) -> Option<&Share> {
        self.head.share.as_ref()
    }
}
