//! The reference: JSON Schemas of the kinds, and the pages in `docs/reference/`, all made from the tables that the reader works by.

pub mod answers;
mod command_line;
mod diagnostics;
mod kinds;
mod schema;
mod settings;

use model::diagnostic::Code;

pub use command_line::command_line;
pub use diagnostics::diagnostics;
pub use kinds::kinds;
pub use schema::schema;

/// The manual page of a code, as Markdown. Its first line is the title.
pub fn manual(code: Code) -> String {
    // Each line is one of a doc comment, with the blank behind its slashes.
    let lines = code.manual().lines().map(|line| line.strip_prefix(' ').unwrap_or(line));
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests;
