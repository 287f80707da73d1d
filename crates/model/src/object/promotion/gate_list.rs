//! The lists that gates are in: what a gate can be about depends on its list.

/// The list that a gate is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GateList {
    /// What the environments before must have proved.
    Before,
    /// Before the places of a ring.
    Enter,
    /// After the places of a ring.
    Prove,
}
