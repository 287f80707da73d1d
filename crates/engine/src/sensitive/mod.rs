//! Which values are sensitive, and what is shown in place of them.

pub(crate) mod canary;
pub(crate) mod redaction;
