//! Go's text/template with the functions of sprig 2.22.0, for Rust.
//!
//! A template is parsed once and rendered many times. Errors have a line and a column. Limits bound each rendering.
//!
//! The crate does not depend on Kalypso's kinds.
//!
//! ```
//! use gotemplate::{RenderLimits, Template, Value};
//!
//! let template = Template::parse("greeting", "Hello, {{ .name }}!")?;
//! let output = template.render(&Value::dict([("name", Value::text("world"))]), &RenderLimits::default())?;
//! assert_eq!(output, b"Hello, world!");
//! # Ok::<(), gotemplate::TemplateError>(())
//! ```

// The crate uses no I/O, clock, environment or randomness. The workspace's clippy.toml contains the bans, each with its reason.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types, clippy::iter_over_hash_type))]

mod argument_taints;
pub mod budget;
mod builtins;
#[cfg(test)]
mod charges;
mod compiled_regex;
pub mod error;
mod exec;
pub mod format;
pub mod function;
pub mod go_regex;
mod kalypso;
pub mod map_changes;
mod methods;
mod names;
mod nesting;
mod parse;
pub mod part_cache;
pub mod reads;
mod references;
mod runes;
pub mod semver;
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

pub use budget::RenderLimits;
pub use error::{ErrorKind, TemplateError};
pub use kalypso::short_label;
pub use part_cache::PartCache;
pub use reads::Reads;
pub use taint::{SharedPart, Taint, TaintedRange};
pub use template::{MissingField, RenderOptions, Rendered, Template};
pub use text::Text;
pub use value::Value;
