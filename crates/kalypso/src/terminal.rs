//! Output of the program.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) use model::count::{count, named, thousands};

use serde::Serialize;

use crate::arguments::Format;
use crate::table;
use workbench::visible::{escaped_json, message, visible};

/// Whether warnings and notes are suppressed.
static IS_SILENT: AtomicBool = AtomicBool::new(false);

/// Suppresses warnings and notes: the output is for a program that shows standard output and standard error together.
pub(crate) fn be_silent() {
    IS_SILENT.store(true, Ordering::Relaxed);
}

/// Prints a warning to standard error.
pub(crate) fn warn(text: &str) {
    if IS_SILENT.load(Ordering::Relaxed) {
        return;
    }
    // If standard error is closed, there is no other place for this output.
    let _ = writeln!(anstream::stderr(), "warning: {}", message(text));
}

/// Prints a note to standard error. It helps to understand the output, but is not a part of it.
pub(crate) fn note(text: &str) {
    if IS_SILENT.load(Ordering::Relaxed) {
        return;
    }
    // If standard error is closed, there is no other place for this output.
    let _ = writeln!(anstream::stderr(), "{}", message(text));
}

/// Prints the output to standard output, without terminal control sequences.
pub(crate) fn answer(text: &str) -> std::io::Result<()> {
    answer_styled(&visible(text))
}

/// Prints the output in colours to standard output.
pub(crate) fn answer_painted(text: &str, paint: fn(&str) -> String) -> std::io::Result<()> {
    answer_styled(&paint(&visible(text)))
}

/// The same as [`answer_painted()`], with lines wrapped to the width of the terminal.
pub(crate) fn answer_fitted(text: &str, paint: fn(&str) -> String) -> std::io::Result<()> {
    answer_styled(&paint(&crate::table::fitted(&visible(text))))
}

/// Prints the output with its own colours to standard output. The caller makes sure that external texts in it are escaped.
pub(crate) fn answer_styled(text: &str) -> std::io::Result<()> {
    let mut stdout = anstream::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    if !text.is_empty() && !text.ends_with('\n') {
        stdout.write_all(b"\n")?;
    }
    stdout.flush()
}

/// Output that takes the place of the one before, if it is a terminal. Elsewhere, it follows it.
#[derive(Debug, Default)]
pub(crate) struct InPlace {
    /// The lines of the terminal that the last output takes.
    lines: usize,
}

impl InPlace {
    /// Prints the output.
    pub(crate) fn answer(&mut self, text: &str) -> std::io::Result<()> {
        let terminal = console::Term::stdout();
        if terminal.is_term() {
            let (height, width) = terminal.size();
            // What scrolled out of the terminal can't be replaced.
            if self.lines < usize::from(height) {
                terminal.clear_last_lines(self.lines)?;
            } else {
                terminal.clear_screen()?;
            }
            self.lines = lines_on(&visible(text), usize::from(width));
        }
        answer(text)
    }
}

/// The lines that a text takes on a terminal of this width.
fn lines_on(text: &str, width: usize) -> usize {
    text.lines().map(|line| table::columns(line).div_ceil(width.max(1)).max(1)).sum()
}

/// Prints a part of a long output, which ends with a line break. Control sequences are already escaped.
pub(crate) fn answer_part(text: &str) -> std::io::Result<()> {
    std::io::stdout().lock().write_all(text.as_bytes())
}

/// Formats output as JSON or YAML.
pub(crate) fn structured(answer: &impl Serialize, format: Format) -> String {
    let json = &serde_json::json!(answer);
    match format {
        // JSON is valid YAML, but block style is easier to read.
        Format::Yaml => crate::diagnostics::to_yaml(json),
        Format::Human | Format::Json => escaped_json(format!("{json:#}\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::lines_on;

    #[test]
    fn long_lines_take_several_lines_of_a_terminal() {
        assert_eq!(
            [lines_on("", 80), lines_on("a\n\nb\n", 80), lines_on("門真\n", 3), lines_on("abcd", 0)],
            [0, 3, 2, 4]
        );
    }
}
