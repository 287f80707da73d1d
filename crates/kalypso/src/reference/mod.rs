//! The reference: the pages in `docs/reference/`. They are generated from the tables that the reader uses.

pub mod answers;
mod command_line;
mod diagnostics;
mod kinds;

pub use command_line::command_line;
pub use diagnostics::diagnostics;
pub use kinds::kinds;

#[cfg(test)]
mod tests;
