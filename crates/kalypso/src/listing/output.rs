//! Writes lists: tables for people; JSON, YAML and names for programs, item by item.

use std::collections::HashSet;
use std::fmt::Write as _;

use serde_json::{Map, Value as Json};
use workbench::listing::rows::{ListColumns, ListRow};

use crate::arguments::ListFormat;
use crate::{diagnostics, table, terminal};
use workbench::visible::{escaped_json, visible};

/// The number of bytes that are written at once.
const PART_BYTES: usize = 1 << 20;
/// How many rows people see of each environment, unless they ask for more.
const ROWS_FOR_READING: usize = 100;

/// How many rows of an environment are listed at most.
pub(crate) fn limit_of(limit: Option<usize>, format: ListFormat) -> usize {
    let default = match format {
        ListFormat::Human | ListFormat::Wide => ROWS_FOR_READING,
        ListFormat::Json | ListFormat::Yaml | ListFormat::Name => usize::MAX,
    };
    limit.unwrap_or(default)
}

/// A list that is written.
pub(crate) struct ListWriter {
    format: ListFormat,
    columns: ListColumns,
    /// Whether the first column is the environment.
    has_environments: bool,
    /// The text that is not written yet.
    text: String,
    rows: Vec<Vec<String>>,
    names: HashSet<String>,
    has_items: bool,
    /// Lines below the table of an environment.
    pub(crate) footer: Vec<String>,
    total: usize,
    is_more: bool,
}

impl ListWriter {
    pub(crate) fn new(format: ListFormat, columns: ListColumns, has_environments: bool) -> Self {
        let text = match format {
            ListFormat::Json => "{\n  \"items\": [".to_owned(),
            ListFormat::Yaml => "items:".to_owned(),
            _ => String::new(),
        };
        let (rows, names, footer) = Default::default();
        let (has_items, total, is_more) = (false, 0, false);
        Self { format, columns, has_environments, text, rows, names, has_items, footer, total, is_more }
    }

    /// Adds a row. `name` is the name for commands.
    pub(crate) fn add(&mut self, row: ListRow, environment: &str, name: &str) -> std::io::Result<()> {
        match self.format {
            ListFormat::Human | ListFormat::Wide => self.rows.push(self.shown(row.cells, environment)),
            ListFormat::Json => self.add_json(row.json),
            ListFormat::Yaml => self.add_yaml(row.json),
            // The same object can be in several environments.
            ListFormat::Name if self.names.insert(name.to_owned()) || !self.has_environments => {
                self.text.push_str(&visible(name));
                self.text.push('\n');
            }
            ListFormat::Name => {}
        }
        self.has_items = true;
        if self.text.len() >= PART_BYTES { self.flush() } else { Ok(()) }
    }

    /// Counts the rows of an environment: all, and those that are listed or were listed on earlier pages.
    pub(crate) fn count(&mut self, total: usize, is_more: bool) {
        self.total += total;
        self.is_more |= is_more;
    }

    /// Whether there is nothing to list, whatever the limit is.
    pub(crate) fn is_empty(&self) -> bool {
        !self.has_items && !self.is_more
    }

    /// A text above the table. Programs do not get it.
    pub(crate) fn heading(&mut self, text: &str) {
        if matches!(self.format, ListFormat::Human | ListFormat::Wide) {
            self.text.push_str(&visible(text));
            self.text.push('\n');
        }
    }

    /// Writes the rest.
    pub(crate) fn end(mut self) -> std::io::Result<()> {
        match self.format {
            ListFormat::Human | ListFormat::Wide => {
                if !self.text.is_empty() && self.has_items {
                    self.text.push('\n');
                }
                let headings = [self.columns.always, self.columns.wide].concat().into_iter().map(str::to_owned);
                let headings = self.shown(headings.collect(), "ENV");
                self.rows.insert(0, headings);
                if self.has_items {
                    self.text.push_str(&visible(&table::of_rows(&self.rows)));
                }
                for line in &self.footer {
                    let _ = writeln!(self.text, "{}", visible(line));
                }
            }
            ListFormat::Json => {
                let end = if self.has_items { "\n  ]" } else { "]" };
                let (is_more, total) = (self.is_more, self.total);
                let _ = write!(self.text, "{end},\n  \"more\": {is_more},\n  \"total\": {total}\n}}\n");
            }
            ListFormat::Yaml => {
                let end = if self.has_items { "" } else { " []\n" };
                let _ = write!(self.text, "{end}more: {}\ntotal: {}\n", self.is_more, self.total);
            }
            ListFormat::Name => {}
        }
        self.flush()
    }

    /// The cells that are shown.
    fn shown(&self, cells: Vec<String>, environment: &str) -> Vec<String> {
        let is_wide = self.format == ListFormat::Wide;
        let count = self.columns.always.len() + if is_wide { self.columns.wide.len() } else { 0 };
        let environment = self.has_environments.then(|| environment.to_owned());
        environment.into_iter().chain(cells.into_iter().take(count)).collect()
    }

    fn add_json(&mut self, json: Map<String, Json>) {
        let json = Json::Object(json);
        let text = escaped_json(format!("{json:#}")).replace('\n', "\n    ");
        self.text.push_str(if self.has_items { ",\n    " } else { "\n    " });
        self.text.push_str(&text);
    }

    fn add_yaml(&mut self, json: Map<String, Json>) {
        let json = Json::Object(json);
        if !self.has_items {
            self.text.push('\n');
        }
        let item = diagnostics::to_yaml(&Json::Array(vec![json.clone()]));
        if item.starts_with("- ") {
            self.text.push_str(&item);
        } else {
            // JSON is valid YAML, also on one line.
            let _ = writeln!(self.text, "- {}", escaped_json(json.to_string()));
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        terminal::answer_part(&std::mem::take(&mut self.text))
    }
}
