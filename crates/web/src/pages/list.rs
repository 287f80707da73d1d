//! A page with a list: its filter, its totals, its table, and the ways on.

use askama::Template;

use crate::part::{Row, Share, Table};
use crate::visit::Visit;

/// A page with a list.
#[derive(Template)]
#[template(path = "list.html")]
pub(crate) struct ListPage<'a> {
    visit: &'a Visit,
    title: String,
    /// What the list contains, in a sentence.
    pub(crate) about: &'static str,
    /// What an empty list without a filter means.
    pub(crate) empty: &'static str,
    /// Links to related pages.
    pub(crate) links: Vec<(String, String)>,
    fields: Vec<Field>,
    /// The totals of everything that is filtered.
    pub(crate) total: Option<Share>,
    pub(crate) table: Table,
    /// The address of the next page.
    pub(crate) next: Option<String>,
}

/// A field of the filter.
struct Field {
    name: &'static str,
    label: &'static str,
    value: String,
    /// The address of the same page without this condition.
    without: String,
}

/// The fields that filters have in common: names of parameters of the API, and their labels.
pub(crate) const PLACES: [(&str, &str); 12] = [
    ("environment", "Environment"),
    ("workspace", "Workspace"),
    ("workload", "Workload"),
    ("target", "Target"),
    ("clusterType", "Cluster type"),
    ("place", "Cluster type or cluster"),
    ("policy", "Policy"),
    ("placeSelector", "Place labels"),
    ("targetSelector", "Target labels"),
    ("host", "Host"),
    ("selector", "Host labels"),
    ("status", "State"),
];

impl<'a> ListPage<'a> {
    /// A page with a title and these fields of a filter.
    pub(crate) fn new(visit: &'a Visit, title: impl Into<String>, names: &[&str]) -> Self {
        let selected = PLACES.into_iter().filter(|(name, _)| names.contains(name));
        let field = |(name, label): (&'static str, &'static str)| Field {
            name,
            label,
            value: visit.address.get(name).unwrap_or_default().to_owned(),
            without: visit.address.clone().without(name).without("cursor").to_string(),
        };
        Self {
            visit,
            title: title.into(),
            about: "",
            empty: "There is nothing yet.",
            links: Vec::new(),
            fields: selected.map(field).collect(),
            total: None,
            table: Table::default(),
            next: None,
        }
    }

    /// Sets the table.
    pub(crate) fn table(&mut self, columns: &[&'static str], rows: Vec<Row>) {
        self.table = Table { caption: self.title.clone(), columns: columns.to_vec(), rows };
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
}
