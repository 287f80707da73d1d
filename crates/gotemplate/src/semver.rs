//! Versions as github.com/Masterminds/semver 1.x reads them.
/// `semver.Version`
#[derive(Clone, Debug)]
pub struct Version {}
