//! Reads YAML text into trees whose nodes have places.
//!
//! The parser is `granit-parser`. It reports byte offsets and kinds of errors, has no recursion and limits nesting. It takes linear time on all
//! hostile texts in our tests (fifty megabytes of one scalar, of comments, of `[`, of broken documents). It can continue after a broken document.
//! This module adds:
//!
//! - **Types.** Scalars have the types that Go's `yaml.v2` gives them ([`Scalar::resolve`]), both in objects (as in Kubernetes) and in values.
//! - **Two dialects.** In *objects*, a duplicate key is a problem and merge keys never override, as with `yaml.v3` in Flux.
//!   In *values*, the last entry counts without a message, also with merge keys, and a key that is a collection is an error, as with `yaml.v2`.
//! - **Aliases** are replaced by their content. Children are shared, so this copies nothing. [`Limits`] bound the total.
//! - **Broken documents do not hide others.** After an error, reading continues at the next line that begins with `---` or `...`.
//!   The YAML specification does not require this. It is useful because objects of many teams share a file.
//!   The part of a broken document that could be read is kept as a fragment, to find out which object is broken.
//! - **Empty documents** (without content, or with comments only) are left out.
//!
//! Known differences from Go: a line of quoted text whose indentation is a single tab is rejected. YAML 1.1 treats the characters U+0085, U+2028 and
//! U+2029 as line breaks, this module does not.

mod build;
mod bytes;
mod explain;
mod fault;
pub mod invariant;
mod keys;
mod limits;
mod node;
mod options;
mod outline;
mod plain;
mod problem;
mod reader;
mod recent;
mod resolve;
mod skeleton;
mod source;
mod structure;

pub use bytes::{read_bytes, read_bytes_each};
pub use limits::Limits;
pub use node::{Node, NodeValue, Scalar, ScalarStyle, Span, Tag};
pub use options::{Dialect, Options};
pub use outline::{ScalarClass, TypeForm, outline};
pub use plain::{first_error, is_surely_good, is_surely_good_like};
pub use problem::{ProblemKind, YamlProblem};
pub use reader::{Document, Reading, read};
pub use resolve::{Resolved, resolve_plain};
pub use skeleton::{has_structure_of, is_quoted, is_readable};
pub use source::source_offset;
pub use structure::structure;
