//! Vectors: what the folders of a workload are made of, in the parts that move on their own.
//!
//! A commit of the main branch or a release is proved ring by ring. Values and applications pass their own gates, and do not wait for it: a change of one part goes
//! on top of what each place has of the other. The same rule is for parts that were rejected: what else is newer moves without them.

use super::state::{Interrupted, Move, Revision, RolloutState};

/// Why newer values can't go ahead of a move: what they would go on top of is no single revision.
pub const MIXED: &str = "places that it has not reached have several commits of the main branch";

/// The commits that the folders of a workload are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector<P, C> {
    /// The commit of the main branch, and the release.
    pub platform: P,
    /// The commits of values and of applications.
    pub configuration: C,
}

/// The parts of a vector in which two revisions differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// Only the commit of the main branch, or the release.
    Platform,
    /// Only values or applications.
    Configuration,
    /// Both, or it is not known.
    #[default]
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

/// What the sources give a workload, by what moves and by what was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted<V> {
    /// The revision of the sources, or the rejected revision whose parts it has.
    pub desired: Revision,
    /// The part in which the revision of the sources differs from the stable one.
    pub part: Part,
    /// The newest values as a change of their own.
    pub ahead: Option<AheadOf<V>>,
}

impl RolloutState {
    /// What the sources give: a revision with its vector. `vector_of` gives the vectors of revisions that the state names, where they are known.
    pub fn wanted<P: Clone + PartialEq, C: Clone + PartialEq>(
        &self,
        (desired, latest): (&Revision, &Vector<P, C>),
        vector_of: impl Fn(&Revision) -> Option<Vector<P, C>>,
    ) -> Wanted<Vector<P, C>> {
        let stable = self.stable.as_ref().and_then(|stable| vector_of(&stable.revision));
        let part = stable.as_ref().map_or(Part::Both, |stable| latest.part(stable));
        let wanted = Wanted { desired: desired.clone(), part, ahead: None };
        let Some(stable) = stable else { return wanted };
        if let Some(moving) = self.moving_platform() {
            let moving = vector_of(&moving.revision);
            return Wanted { ahead: moving.and_then(|moving| latest.ahead_of(&moving, &stable)), ..wanted };
        }
        let rejected = self.rejected.iter().filter(|rejected| rejected.part != Part::Both);
        let rejected = rejected.filter_map(|found| Some((&found.revision, found.part, vector_of(&found.revision)?)));
        let rejected: Vec<_> = rejected.collect();
        let rejected = rejected.iter().map(|(revision, part, vector)| (*revision, *part, vector));
        let Some((revision, rest)) = latest.without_rejected(&stable, rejected) else { return wanted };
        let desired = if self.is_rejected(desired) { desired.clone() } else { revision.clone() };
        let is_change = rest != stable;
        Wanted { desired, part, ahead: is_change.then_some(AheadOf { moving: rest, rest: None }) }
    }

    /// The move of a commit of the main branch or of a release that is half-way, also where newer values go ahead of it.
    pub(super) fn moving_platform(&self) -> Option<&Move> {
        let interrupted = self.interrupted.as_ref().map(|Interrupted { movement, .. }| movement);
        interrupted.or(self.current.as_ref()).filter(|moving| moving.part != Part::Configuration)
    }
}

/// The commits that the folders of a workload are made of.

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
    fn on(&self, platform: &Self) -> Self {
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

    fn ahead(latest: (u32, u32), moving: (u32, u32), stable: (u32, u32)) -> Option<[(u32, u32); 2]> {
        let found = vector(latest).ahead_of(&vector(moving), &vector(stable))?;
        Some([found.moving, found.rest?].map(|vector| (vector.platform, vector.configuration)))
    }

    #[test]
    fn values_go_on_top_of_what_each_place_has() {
        assert_eq!(ahead((2, 2), (2, 1), (1, 1)), Some([(2, 2), (1, 2)]));
        // The main branch is a commit further.
        assert_eq!(ahead((3, 2), (2, 1), (1, 1)), Some([(2, 2), (1, 2)]));
        // A newer commit of the main branch alone, values that move already, and values after values.
        assert_eq!(ahead((3, 1), (2, 1), (1, 1)), None);
        assert_eq!(ahead((2, 2), (2, 2), (1, 1)), None);
        assert_eq!(ahead((1, 3), (1, 2), (1, 1)), None);
    }

    #[test]
    fn what_was_rejected_on_its_own_stays_behind() {
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
