//! Lists on the command line: reads what is listed, and writes rows.

pub(crate) mod environments;
pub(crate) mod output;
pub(crate) mod text;
