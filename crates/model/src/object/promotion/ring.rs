//! Rings: the parts of an environment that a change reaches one after another.

use std::sync::Arc;
use std::time::Duration;

use super::gate;
use super::{Amount, Gate, Share};
use crate::decode::Decoder;
use crate::selector::LabelSelector;
use crate::shape::{LABEL_SELECTOR, Shape, optional, required};
use crate::yaml::Node;

/// A part of an environment's places. A place belongs to the first ring that selects it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ring {
    /// The name, unique in the list.
    pub name: Arc<str>,
    /// Its places.
    pub members: RingMembers,
    /// The largest number of places that may be changing at once. None: all.
    pub at_once: Option<Amount>,
    /// The largest number of places that may be changing at once in each failure domain.
    pub per: Vec<DomainLimit>,
    /// How long the ring must have been good before the next ring begins.
    pub pause: Duration,
    /// The largest number of failed reconcilers. More stop the move.
    pub failures: Amount,
    /// More conditions before the next ring begins.
    pub gates: Vec<Gate>,
}

/// The places of a ring.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RingMembers {
    /// The clusters and cluster types that a selector selects.
    Labels(LabelSelector),
    /// A share of all places of the environment, by a stable hash of their names.
    Percent(Share),
    /// The places with these names.
    Names(Vec<Arc<str>>),
    /// All places that are in no earlier ring.
    Rest,
}

/// A limit for the places with the same value of a label, such as a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DomainLimit {
    /// The key of the label. Places without it form one domain.
    pub label: Arc<str>,
    /// The largest number of places that may be changing at once in each domain.
    pub at_once: u32,
}

/// The shape of a ring.
pub(super) const SHAPE: Shape = Shape::Fields(&[
    required("name", Shape::Name, "The name, unique in the list."),
    optional("labelSelector", LABEL_SELECTOR, "The ring's clusters and cluster types, by their labels."),
    optional(
        "percent",
        Shape::Text,
        "The ring's share of all places, such as `5%`. A hash of its name decides about a place, so it stays in its ring.",
    ),
    optional("names", Shape::List(&Shape::Name), "The names of the ring's clusters and cluster types."),
    optional(
        "limits",
        Shape::Fields(&[
            optional(
                "atOnce",
                Shape::Text,
                "The number or share of the ring's places that may change at once: `50`, `10%`.",
            ),
            optional(
                "per",
                Shape::List(&Shape::Fields(&[
                    required("label", Shape::Text, "The key of the label that names the site or failure domain."),
                    required("atOnce", Shape::Integer, "The number of places of one domain that may change at once."),
                ])),
                "Limits for each value of a label.",
            ),
        ]),
        "How many places may change at once.",
    ),
    optional("pause", Shape::Text, "How long the ring must have been good before the next one begins: `30m`, `12h`."),
    optional("failures", Shape::Text, "How many reconcilers may fail (default `0`): `2`, `1%`. More stop the move."),
    optional("gates", Shape::List(&gate::SHAPE), "More conditions before the next ring begins."),
]);

/// Reads the rings.
pub(super) fn decode(_root: &Node, _decoder: &mut Decoder<'_>) -> Vec<Ring> {
    Vec::new()
}
