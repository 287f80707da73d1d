//! Go's text/template with the functions of sprig 2.22.0, for Rust.
//!
//! A template is parsed once and rendered many times. Errors have a line and a column. Limits bound each rendering.
//!
//! The crate does not depend on Kalypso's kinds.
//!
//! ```
//! use gotemplate::{Limits, Template, Value};
//!
//! let template = Template::parse("greeting", "Hello, {{ .name }}!")?;
//! let output = template.render(&Value::dict([("name", Value::text("world"))]), &Limits::default())?;
//! assert_eq!(output, b"Hello, world!");
//! # Ok::<(), gotemplate::TemplateError>(())
//! ```

// The crate uses no I/O, clock, environment or randomness. The workspace's clippy.toml contains the bans, each with its reason.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types))]

mod builtins;
#[cfg(test)]
mod charges;
mod entries;
pub mod error;
mod exec;
pub mod format;
pub mod fuel;
pub mod function;
pub mod heap;
mod kalypso;
mod methods;
mod names;
mod nesting;
mod parse;
pub mod reads;
mod references;
mod runes;
pub mod semver;
pub mod shared;
mod sprig;
pub mod taint;
pub mod template;
pub mod text;
pub mod time;
pub mod truth;
pub mod types;
mod url;
pub mod value;
pub mod yaml;

#[cfg(test)]
mod reference_page;

pub use error::{ErrorKind, TemplateError};
pub use fuel::Limits;
pub use reads::Reads;
pub use shared::Shared;
pub use taint::{Taint, TaintedRange};
pub use template::{Options, Rendered, Template};
pub use text::Text;
pub use value::Value;
