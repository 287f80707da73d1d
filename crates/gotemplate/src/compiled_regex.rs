//! Compiled regular expressions, with the cost of a search.

use regex::Regex;

/// A compiled regular expression.
#[derive(Debug)]
pub(crate) struct CompiledRegex {
    pub(crate) regex: Regex,
    /// The steps for searching one KiB. In the worst case, every byte is compared with every state.
    pub(crate) steps_per_kib: u64,
    /// The names of the groups.
    pub(crate) names: Vec<String>,
}
