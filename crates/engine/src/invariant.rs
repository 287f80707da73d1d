//! What this crate's own code guarantees: a guarantee that does not hold is a bug, which ends the program.
//!
//! To go on would leave assignments, values or checks out of a result that looks complete.

/// The value that must be there.
///
/// # Panics
/// If it is not: `broken` says what does not hold.
pub(crate) fn require<T>(found: Option<T>, broken: &str) -> T {
    match found {
        Some(found) => found,
        None => stop(broken),
    }
}

#[cold]
#[inline(never)]
#[allow(clippy::panic, reason = "a wrong result is worse than none, and nothing outside of this crate can cause it")]
fn stop(broken: &str) -> ! {
    panic!("broken invariant: {broken}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_present_value_is_returned() {
        assert_eq!(require(Some(1), "nothing"), 1);
    }

    #[test]
    #[should_panic(expected = "broken invariant: a place has no row")]
    fn a_missing_value_is_named() {
        require(None::<u32>, "a place has no row");
    }
}
