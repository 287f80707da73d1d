//! Go's time.
/// `time.Time`
#[derive(Clone, Debug, PartialEq)]
pub struct Time {}

/// The methods of `time.Time`.
pub(crate) const METHODS: &[crate::function::Function] = &[];

/// The methods of `time.Duration`.
pub(crate) const DURATION_METHODS: &[crate::function::Function] = &[];

impl std::fmt::Display for Time {
    fn fmt(&self, _f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}

/// A duration as Go shows it: `1h30m0s`.
pub(crate) fn duration_text(nanoseconds: i64) -> String {
    format!("{nanoseconds}ns")
}
