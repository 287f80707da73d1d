//! The controller of promotions.

pub mod commit_move;
pub mod commit_status;
pub mod line;
pub mod settled;
