//! Reading YAML: from text to trees that know their places.
//!
//! The grammar is the work of `granit-parser`: it reports byte offsets and errors by kind, has no recursion, limits nesting by itself,
//! takes linear time on every hostile text we found (fifty megabytes of one scalar, of comments, of `[`, of broken documents), and can go on behind a broken document.
//! What is here is what it leaves open:
//!
//! - **Meaning.** Scalars mean what Go's `yaml.v2` reads ([`Scalar::resolve`]), in objects (as Kubernetes does) and in values alike.
//! - **Two dialects.** In *objects* a key that is twice is a problem and merge keys never override, as with `yaml.v3` in Flux.
//!   In *values* the last entry wins silently, merge keys included, and a key that is a collection is an error, as with `yaml.v2`.
//! - **Aliases** are replaced by what they stand for. Shared children make that free of copies; [`Limits`] bound what it adds up to.
//! - **One broken document does not hide the others.** Behind an error, reading goes on at the next line that begins with `---` or `...`.
//!   That is more than YAML asks for, and deliberate: objects of many teams share a file.
//!   What could be read of a broken document is kept as a fragment, so that it can be told which object is broken.
//! - **Empty documents** (nothing, or only comments) are left out.
//!
//! Known to differ from Go: a line of quoted text that is indented by a tab alone is refused; YAML 1.1 counts the characters U+0085, U+2028 and U+2029 as line breaks, we do not.

mod build;
mod bytes;
mod explain;
mod fault;
pub mod invariant;
mod keys;
mod limits;
mod node;
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
pub use plain::{first_error, is_surely_good, is_surely_good_like};
pub use problem::{Problem, ProblemKind};
pub use reader::{Dialect, Document, Options, Reading, read};
pub use resolve::{Resolved, resolve_plain};
pub use skeleton::{has_structure_of, is_quoted, is_readable};
pub use source::source_offset;
pub use structure::structure;
