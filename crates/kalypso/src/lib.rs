//! What the binary says: reports of what is wrong, and the reference of kinds and codes.

pub mod report;
