//! The reference: JSON Schemas of the kinds, and the pages in `docs/reference/`. They are generated from the tables that the reader uses.

pub mod answers;
mod command_line;
mod diagnostics;
mod kinds;
mod schema;
mod settings;

pub use command_line::command_line;
pub use diagnostics::diagnostics;
pub use kinds::kinds;
pub use schema::schema;

#[cfg(test)]
mod tests;
