//! The functions of sprig 2.22.0.

use crate::function::Function;

/// By name.
pub(crate) const FUNCTIONS: &[Function] = &[];
