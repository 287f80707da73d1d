//! Vectors: what the folders of a workload are made of, in the parts that move on their own.
//!
//! A commit of the main branch or a release is proved ring by ring. Values and applications pass their own gates, and do not wait for it: a change of one part goes
//! on top of what each place has of the other. The same rule is for parts that were rejected: what else is newer moves without them.

use serde::{Deserialize, Serialize};

/// The commits that the folders of a workload are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector<P, C> {
    /// The commit of the main branch, and the release.
    pub platform: P,
    /// The commits of values and of applications.
    pub configuration: C,
}

/// The parts of a vector in which two revisions differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Part {
    /// Only the commit of the main branch, or the release.
    Platform,
    /// Only values or applications.
    Configuration,
    /// Both, or it is not known.
    #[default]
    #[serde(skip)]
    Both,
}

/// The newest configuration, on top of what places have of the platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AheadOf<V> {
    /// For places that the move has reached.
    pub moving: V,
    /// For the others. None: all places get the same.
    pub rest: Option<V>,
}

impl<P: Clone + PartialEq, C: Clone + PartialEq> Vector<P, C> {
    /// The part in which this vector differs from another one.
    pub fn part(&self, other: &Self) -> Part {
        match (self.platform == other.platform, self.configuration == other.configuration) {
            (false, true) => Part::Platform,
            (true, false) => Part::Configuration,
            _ => Part::Both,
        }
    }

    /// This configuration on the platform of another vector.
    #[must_use]
    pub fn on(&self, platform: &Self) -> Self {
        Self { platform: platform.platform.clone(), configuration: self.configuration.clone() }
    }

    /// The newest configuration as a change of its own, while a move of the platform from `stable` to `moving` is half-way. None: it is the one of the move, or
    /// no part of the platform moves.
    pub fn ahead_of(&self, moving: &Self, stable: &Self) -> Option<AheadOf<Self>> {
        let is_newer = self.configuration != moving.configuration && moving.platform != stable.platform;
        is_newer.then(|| AheadOf { moving: self.on(moving), rest: Some(self.on(stable)) })
    }

    /// This vector without the parts that were rejected, which stay as they are in the stable one, and the rejected revision. None: it has no part that was
    /// rejected on its own.
    pub fn without_rejected<'r, R>(
        &self,
        stable: &Self,
        rejected: impl IntoIterator<Item = (R, Part, &'r Self)>,
    ) -> Option<(R, Self)>
    where
        Self: 'r,
    {
        let mut found = None;
        let mut rest = self.clone();
        for (revision, part, vector) in rejected {
            let is_platform =
                part == Part::Platform && vector.platform == self.platform && self.platform != stable.platform;
            let is_configuration = part == Part::Configuration
                && vector.configuration == self.configuration
                && self.configuration != stable.configuration;
            if is_platform {
                rest.platform = stable.platform.clone();
            }
            if is_configuration {
                rest.configuration = stable.configuration.clone();
            }
            if is_platform || is_configuration {
                found = Some(revision);
            }
        }
        found.map(|revision| (revision, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Numbers = Vector<u32, u32>;

    fn vector((platform, configuration): (u32, u32)) -> Numbers {
        Vector { platform, configuration }
    }

    #[test]
    fn newer_values_are_combined_with_the_commit_of_each_place() {
        let ahead = |latest, moving, stable| {
            let found = vector(latest).ahead_of(&vector(moving), &vector(stable))?;
            Some([found.moving, found.rest?].map(|vector| (vector.platform, vector.configuration)))
        };
        assert_eq!(ahead((2, 2), (2, 1), (1, 1)), Some([(2, 2), (1, 2)]));
        // The main branch is a commit further.
        assert_eq!(ahead((3, 2), (2, 1), (1, 1)), Some([(2, 2), (1, 2)]));
        // A newer commit of the main branch alone, values that move already, and values after values.
        assert_eq!(ahead((3, 1), (2, 1), (1, 1)), None);
        assert_eq!(ahead((2, 2), (2, 2), (1, 1)), None);
        assert_eq!(ahead((1, 3), (1, 2), (1, 1)), None);
    }

    #[test]
    fn separately_rejected_parts_stay_behind() {
        let check = |latest, stable, rejected: &[(&'static str, Part, (u32, u32))], expected| {
            let rejected: Vec<_> = rejected.iter().map(|(name, part, of)| (*name, *part, vector(*of))).collect();
            let rejected = rejected.iter().map(|(name, part, of)| (*name, *part, of));
            let found = vector(latest).without_rejected(&vector(stable), rejected);
            assert_eq!(found.map(|(name, rest)| (name, (rest.platform, rest.configuration))), expected);
        };
        let main = ("main", Part::Platform, (2, 1));
        check((2, 2), (1, 1), &[main], Some(("main", (1, 2))));
        check((2, 2), (1, 2), &[main], Some(("main", (1, 2))));
        check((3, 2), (1, 1), &[main], None);
        let values = ("values", Part::Configuration, (1, 2));
        check((3, 2), (1, 1), &[values], Some(("values", (3, 1))));
        check((2, 2), (1, 1), &[main, values], Some(("values", (1, 1))));
        // Nobody knows which part of a change of both failed.
        check((2, 2), (1, 1), &[("both", Part::Both, (2, 1))], None);
    }
}
