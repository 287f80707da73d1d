//! The environments that are listed, each prepared for queries.

use delivery::loaded::Loaded;
use delivery::reading::ReadAt;
use engine::compile::Prepared;
use engine::inventory::Inventory;
use model::credential::without;
use model::diagnostic::Origin;
use model::field_path::FieldPath;
use model::fleet::Fleet;
use model::label::Labels;
use model::locate::Locator;
use model::object_key::ObjectKey;
use serde_json::{Map, Value as Json};

use crate::arguments::SourceOptions;
use crate::diagnostics::{Batch, Report};
use crate::exit::Exit;
use crate::progress::Watch;
use crate::{loading, reporting, terminal};

/// Environments that were read, and the exit status of their problems.
pub(crate) struct Environments {
    pub(crate) loaded: Vec<Loaded>,
    /// The names of environments that could not be read.
    pub(crate) unread: Vec<String>,
    pub(crate) exit: Exit,
}

/// Reads one environment, or all. Says what is wrong with their files. Environments that can't be read are left out, if there are others.
pub(crate) fn read(options: &SourceOptions, name: Option<&str>, watch: &mut Watch) -> anyhow::Result<Environments> {
    if let Some(name) = name {
        let loaded = vec![loading::environment(options, name, ReadAt::Heads, watch)?];
        let exit = note_errors(&loaded, Exit::Good);
        return Ok(Environments { loaded, unread: Vec::new(), exit });
    }
    let (mut found, mut unread, mut exit) = (Environments::default(), Vec::new(), Exit::Good);
    for loaded in loading::environments(options, None, ReadAt::Heads, watch.progress())? {
        if loaded.is_complete {
            found.loaded.push(loaded);
            continue;
        }
        if exit != Exit::Unreachable {
            exit = if loaded.is_unreachable() { Exit::Unreachable } else { Exit::Problems };
        }
        unread.push(loaded);
    }
    report_unread(&unread)?;
    found.exit = note_errors(&found.loaded, exit);
    found.unread = unread.iter().map(|loaded| loaded.fleet.environment.to_string()).collect();
    Ok(found)
}

impl Default for Environments {
    fn default() -> Self {
        Self { loaded: Vec::new(), unread: Vec::new(), exit: Exit::Good }
    }
}

/// Prints the diagnostics of environments that can't be read.
fn report_unread(environments: &[Loaded]) -> std::io::Result<()> {
    let mut report = Report::new();
    for loaded in environments {
        let batch = Batch { diagnostics: &loaded.diagnostics, assignments: Some(0), ..Batch::default() };
        reporting::add(&mut report, loaded, batch);
    }
    reporting::to_stderr(&report)
}

/// Says which environments have errors in their files. Returns the exit status.
fn note_errors(environments: &[Loaded], exit: Exit) -> Exit {
    let mut has_errors = false;
    for loaded in environments {
        let errors = loaded.diagnostics.iter().filter(|found| found.is_error()).count();
        if errors > 0 {
            has_errors = true;
            let environment = &loaded.fleet.environment;
            let errors = terminal::count(errors, "error");
            terminal::note(&format!(
                "error: {environment} has {errors}: objects may be missing, or older than their files"
            ));
            terminal::note(&format!("  = help: kalypso check -e {environment} shows what is wrong"));
        }
    }
    if exit == Exit::Good { exit.unless(has_errors) } else { exit }
}

/// An environment with its answers.
pub(crate) struct View<'a> {
    pub(crate) loaded: &'a Loaded,
    pub(crate) inventory: Inventory<'a>,
    pub(crate) locator: Locator<'a>,
}

impl<'a> View<'a> {
    pub(crate) fn of(loaded: &'a Loaded, prepared: &'a Prepared) -> Self {
        Self { loaded, inventory: Inventory::of(prepared), locator: Locator::new(&loaded.fleet) }
    }

    pub(crate) fn fleet(&self) -> &'a Fleet {
        &self.loaded.fleet
    }

    pub(crate) fn environment(&self) -> &'a str {
        self.loaded.fleet.environment.as_str()
    }

    /// The file and line of an object: `control-plane@prod:configs/west.yaml:4`.
    pub(crate) fn source(&mut self, origin: &Origin) -> String {
        self.locator.shown(origin).unwrap_or_else(|| "-".to_owned())
    }
}

/// The place where an object begins.
pub(crate) fn origin(key: &ObjectKey) -> Origin {
    Origin::field(key, FieldPath::from(["metadata", "name"]))
}

/// Labels as text: `region=west,size=large`. `-` if there are none.
pub(crate) fn labels_text(labels: &Labels) -> String {
    pairs_text(labels.iter().map(|(key, value)| (&**key, &**value)))
}

/// Pairs of keys and values as text, without credentials of URLs.
pub(crate) fn pairs_text<'l>(pairs: impl Iterator<Item = (&'l str, &'l str)>) -> String {
    let shown: Vec<_> = pairs.map(|(key, value)| format!("{key}={}", one_line(&without(value)))).collect();
    if shown.is_empty() { "-".to_owned() } else { shown.join(",") }
}

/// Pairs of keys and values as JSON, without credentials of URLs.
pub(crate) fn pairs_json<'l>(pairs: impl Iterator<Item = (&'l str, &'l str)>) -> Json {
    Json::Object(pairs.map(|(key, value)| (key.to_owned(), Json::from(&*without(value)))).collect::<Map<_, _>>())
}

/// Labels as JSON.
pub(crate) fn labels_json(labels: &Labels) -> Json {
    pairs_json(labels.iter().map(|(key, value)| (&**key, &**value)))
}

/// A text on one line.
pub(crate) fn one_line(text: &str) -> String {
    if text.contains(['\n', '\t']) { text.split_whitespace().collect::<Vec<_>>().join(" ") } else { text.to_owned() }
}

/// A text, or `-` if it is empty.
pub(crate) fn or_dash(text: &str) -> String {
    if text.is_empty() { "-".to_owned() } else { one_line(text) }
}
