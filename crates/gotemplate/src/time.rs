//! Go's time.
/// `time.Time`
#[derive(Clone, Debug)]
pub struct Time {}
