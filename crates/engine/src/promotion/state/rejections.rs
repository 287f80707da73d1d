//! The revisions that were rolled back or aborted, of a rollout or of a move between environments: the newest last.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::{Rejection, Revision};
use crate::promotion::vector::Part;

/// The number of rejected revisions that a state keeps. Older ones are forgotten first.
const REJECTED_MAX: usize = 50;

/// The rejection of a revision. None: it was not rejected.
pub(in crate::promotion) fn find<'r>(all: &'r [Rejection], revision: &Revision) -> Option<&'r Rejection> {
    all.iter().find(|rejected| rejected.revision == *revision)
}

/// Whether a revision was rejected.
pub(in crate::promotion) fn contains(all: &[Rejection], revision: &Revision) -> bool {
    find(all, revision).is_some()
}

/// Rejects a revision, also if it was rejected before.
pub(in crate::promotion) fn add(all: &mut Vec<Rejection>, rejection: Rejection) {
    remove(all, &rejection.revision);
    all.push(rejection);
    all.drain(..all.len().saturating_sub(REJECTED_MAX));
}

/// A rejected revision may move again.
pub(in crate::promotion) fn remove(all: &mut Vec<Rejection>, revision: &Revision) {
    all.retain(|rejected| rejected.revision != *revision);
}

/// Puts a rejected revision that the sources give to the end of the list: a retry is about it.
pub(in crate::promotion) fn touch(rejected: &mut [Rejection], revision: &Revision) {
    if let Some(position) = rejected.iter().position(|found| found.revision == *revision) {
        rejected.get_mut(position..).into_iter().for_each(|newer| newer.rotate_left(1));
    }
}

/// Rejected revisions in a state file. Earlier versions stored only the last one, and before that, without the reason.
struct Stored(Vec<Rejection>);

/// Reads rejected revisions.
pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Rejection>, D::Error> {
    Stored::deserialize(deserializer).map(|Stored(all)| all)
}

impl<'de> Deserialize<'de> for Stored {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self(Vec::new()))
    }
}

impl<'de> Visitor<'de> for Stored {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("rejected revisions")
    }

    fn visit_str<E: Error>(self, revision: &str) -> Result<Self, E> {
        let revision = Revision(revision.into());
        Ok(Self(vec![Rejection { revision, reason: "".into(), part: Part::Both, at: None }]))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Self, A::Error> {
        Rejection::deserialize(MapAccessDeserializer::new(fields)).map(|rejection| Self(vec![rejection]))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Self, A::Error> {
        while let Some(Self(item)) = items.next_element()? {
            self.0.extend(item);
        }
        Ok(self)
    }
}
