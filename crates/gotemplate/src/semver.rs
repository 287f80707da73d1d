//! Versions as github.com/Masterminds/semver 1.x reads them.
/// `semver.Version`
#[derive(Clone, Debug)]
pub struct Version {}

/// The methods of `*semver.Version`.
pub(crate) const METHODS: &[crate::function::Function] = &[];

impl std::fmt::Display for Version {
    fn fmt(&self, _f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}
