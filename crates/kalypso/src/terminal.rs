//! Words on the screen.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) use model::count::{count, thousands};

use crate::arguments::Format;
use crate::visible::{escaped_json, message, visible};

/// Whether nothing but the answer is written.
static IS_SILENT: AtomicBool = AtomicBool::new(false);

/// Keeps warnings and notes from being written: the answer is for a program that shows both.
pub(crate) fn be_silent() {
    IS_SILENT.store(true, Ordering::Relaxed);
}

/// Writes a line to standard error that nobody has to act on.
pub(crate) fn warn(text: &str) {
    if IS_SILENT.load(Ordering::Relaxed) {
        return;
    }
    // Nobody can be told if standard error is gone.
    let _ = writeln!(anstream::stderr(), "warning: {}", message(text));
}

/// Writes a line to standard error that helps with the answer, and is none itself.
pub(crate) fn note(text: &str) {
    if IS_SILENT.load(Ordering::Relaxed) {
        return;
    }
    // Nobody can be told if standard error is gone.
    let _ = writeln!(anstream::stderr(), "{}", message(text));
}

/// Writes a whole answer to standard output, with nothing in it that a terminal would obey.
pub(crate) fn answer(text: &str) -> std::io::Result<()> {
    answer_styled(&visible(text))
}

/// Writes a whole answer in colours to standard output.
pub(crate) fn answer_painted(text: &str, paint: fn(&str) -> String) -> std::io::Result<()> {
    answer_styled(&paint(&visible(text)))
}

/// The same, with lines that are no longer than the terminal.
pub(crate) fn answer_fitted(text: &str, paint: fn(&str) -> String) -> std::io::Result<()> {
    answer_styled(&paint(&crate::table::fitted(&visible(text))))
}

/// Writes a whole answer to standard output, in whose colours is nothing from outside.
pub(crate) fn answer_styled(text: &str) -> std::io::Result<()> {
    let mut stdout = anstream::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    if !text.is_empty() && !text.ends_with('\n') {
        stdout.write_all(b"\n")?;
    }
    stdout.flush()
}

/// An answer as JSON or YAML.
pub(crate) fn structured(json: &serde_json::Value, format: Format) -> String {
    match format {
        // JSON is YAML, but people who ask for YAML want to read it.
        Format::Yaml => crate::diagnostics::to_yaml(json),
        Format::Human | Format::Json => escaped_json(format!("{json:#}\n")),
    }
}

/// The first of these names, and how many more there are.
pub(crate) fn named(names: &[String]) -> String {
    const MARKED_MAX: usize = 5;
    let shown = names.get(..MARKED_MAX).unwrap_or(names).join(", ");
    let more = names.len().saturating_sub(MARKED_MAX);
    if more == 0 { shown } else { format!("{shown} and {} more", thousands(more)) }
}
