//! Questions over small fleets, whose names are full of what SQL takes for its own.

mod deployments;
mod fleet;
