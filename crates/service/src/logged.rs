//! The warnings that were logged: a lasting one is logged once.

use std::collections::BTreeSet;

/// The warnings of the last step.
#[derive(Debug, Default)]
pub(crate) struct Logged(BTreeSet<String>);

impl Logged {
    /// Replaces the warnings by those of the present step. Returns the new ones. A warning that was gone for a step is new again.
    pub(crate) fn replace(&mut self, present: impl IntoIterator<Item = String>) -> Vec<String> {
        let present: BTreeSet<String> = present.into_iter().collect();
        let new = present.difference(&self.0).cloned().collect();
        self.0 = present;
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lasting_warnings_are_new_once() {
        let mut logged = Logged::default();
        let mut check = |present: &[&str]| logged.replace(present.iter().map(|&one| one.to_owned()));
        assert_eq!(check(&["a", "b", "a"]), ["a", "b"]);
        assert_eq!(check(&["b", "c"]), ["c"]);
        assert_eq!(check(&["b", "a"]), ["a"]);
        assert_eq!(check(&[]), [""; 0]);
        assert_eq!(check(&["b"]), ["b"]);
    }
}
