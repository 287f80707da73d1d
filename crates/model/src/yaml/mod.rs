//! Reads YAML text into trees whose nodes have places.
//!
//! The parser is `granit-parser`. It reports byte offsets and kinds of errors, has no recursion and limits nesting. It takes linear time on all
//! hostile texts in our tests (fifty megabytes of one scalar, of comments, of `[`, of broken documents). It can continue after a broken document.
//! This module adds:
//!
//! - **Types.** Scalars have the types that Go's `yaml.v2` gives them ([`Scalar::resolve`]), both in objects (as in Kubernetes) and in values.
//! - **Two dialects.** In *objects*, a duplicate key is a problem and merge keys never override, as with `yaml.v3` in Flux.
//!   In *values*, the last entry counts without a message, also with merge keys, and a key that is a collection is an error, as with `yaml.v2`.
//! - **Aliases** are replaced by their content. Children are shared, so this copies nothing. [`YamlLimits`] bound the total.
//! - **The language of Go's readers.** The parser follows YAML 1.2, `yaml.v2` and `yaml.v3` follow libyaml. What only the parser refuses is replaced
//!   by a form of the same length that it accepts (`repair`): quoted lines that are not indented, the escape `\'`, comments without a space before
//!   them, tabs inside brackets. What only the parser accepts is a problem (`refused`): missing keys, lines of tabs, the escape `\/` and pairs
//!   of surrogates, other versions than `%YAML 1.1`, a document without `---` after `...`, keys of several lines, `?` in plain texts inside brackets.
//!   `go_readers.tsv` is a table of texts with the results of `yaml.v2`.
//! - **Broken documents do not hide others.** After an error, reading continues at the next line that begins with `---` or `...`.
//!   The YAML specification does not require this. It is useful because objects of many teams share a file.
//!   The part of a broken document that could be read is kept as a fragment, to find out which object is broken.
//! - **Empty documents** (without content, or with comments only) are left out.
//!
//! Known differences from Go:
//!
//! - YAML 1.1 treats the characters U+0085, U+2028 and U+2029 as line breaks, this module does not.
//! - Refused here, read by Go: a byte order mark inside of the text; a block (`|`, `>`) whose header is in the column of its key or dash; `{a:}`, which
//!   is the key `a:` there; a block without indentation that contains only comments; a comment inside a text of several lines; a directive after a
//!   document without `...`.
//! - Read here, refused by Go: characters after a tag that are not in names of tags (`!!str#`, `!2`).
//! - Of a block with an explicit indentation at the end of the text, whose last line has only blanks, the line break is added.
//! - In objects, a key that is twice is a problem, as in `yaml.v3`.

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
mod quoted;
mod reader;
mod recent;
mod recorder;
mod refused;
mod repair;
mod resolve;
mod scalar_class;
mod skeleton;
mod source;
mod structure;

pub use bytes::{read_bytes, read_bytes_each};
pub use limits::YamlLimits;
pub use node::{Node, NodeValue, Scalar, ScalarStyle, Span, Tag};
pub use options::{YamlDialect, YamlOptions};
pub use outline::{Outline, OutlinedText, SharedPart, outline};
pub use plain::{first_error, is_surely_good};
pub use problem::{ProblemKind, YamlProblem};
pub use reader::{Document, Reading, read};
pub use resolve::{Resolved, resolve_plain};
pub use scalar_class::{ScalarClass, TypeForm};
pub use skeleton::{has_structure_of, is_quoted, is_readable};
pub use source::source_offset;
pub use structure::{json_structure, structure};

#[cfg(test)]
mod go_readers;
