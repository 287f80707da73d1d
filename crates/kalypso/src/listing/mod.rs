//! Lists of objects, of assignments and of values, for people and for programs.

pub(crate) mod assignments;
pub(crate) mod filter;
pub(crate) mod kind;
pub(crate) mod object;
pub(crate) mod output;
pub(crate) mod rows;
pub(crate) mod values;
pub(crate) mod view;
