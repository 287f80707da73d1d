//! Lists of objects, of assignments and of values. Each kind has one type of row: programs get it as it is serialized, people get its cells.

pub mod filter;
pub mod kind;
pub mod object;
pub mod rows;
pub mod view;
