//! The limits of a file: what the objects that lead to its repository allow.
//!
//! A file is reached through a chain of references: from the `Environment` to its branch, from there through `BaseRepo`s and pairs of Flux objects to
//! other repositories. Each `Environment` and `BaseRepo` can limit what comes after it. An object counts if all limits of a chain allow it. If several
//! chains lead to a file, one of them is enough: so a repository that refers to the files of another team can't limit them.

use std::sync::Arc;

pub use super::limit::Limit;
use super::{AuthorRole, refusal};
use crate::diagnostic::Diagnostic;
use crate::name::BaseRepoName;
use crate::object::allow::Allow;
use crate::object::{AnyObject, BaseRepo, Environment, Object, Spec};

/// The limits along a chain of references, from the environment on. The default has no limits.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Chain(Arc<[Arc<Limit>]>);

/// The limits of a file, by the chains that lead to it. The default has no limits.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Limits(Arc<[Chain]>);

impl Chain {
    /// The chain to the branch of an environment.
    pub fn of_environment(object: &Object<Environment>) -> Self {
        Self::default().with(object, object.spec.allow.as_ref())
    }

    /// The chain to a base repository that an object at the end of this chain refers to.
    #[must_use]
    pub fn below(&self, object: &Object<BaseRepo>) -> Self {
        self.with(object, object.spec.allow.as_ref())
    }

    /// The chain with the limits of both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let further = other.0.iter().filter(|limit| !self.0.contains(limit));
        Self(self.0.iter().chain(further).cloned().collect())
    }

    /// The chain without the limit of the environment.
    #[must_use]
    pub fn without_environment(&self) -> Self {
        let of_bases = self.0.iter().filter(|limit| limit.by.kind == BaseRepo::KIND);
        Self(of_bases.cloned().collect())
    }

    /// Whether an `Environment` limits the chain.
    pub fn has_environment(&self) -> bool {
        self.0.iter().any(|limit| limit.by.kind == Environment::KIND)
    }

    /// The number of limits.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the chain has no limits.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all limits of this chain are also limits of `other`.
    pub fn is_within(&self, other: &Self) -> bool {
        self.0.iter().all(|limit| other.0.contains(limit))
    }

    /// Whether this chain is higher in the hierarchy: it has a part of the limits of `other`.
    pub fn is_above(&self, other: &Self) -> bool {
        self.is_within(other) && !other.is_within(self)
    }

    /// Whether all limits of the chain allow an object.
    fn allows(&self, role: &AuthorRole, object: &AnyObject) -> bool {
        self.0.iter().all(|limit| refusal::refusals(limit, role, object).is_empty())
    }

    /// The reasons why the chain does not allow an object. If several limits refuse the same field, the lowest limit explains it.
    fn refusals(&self, role: &AuthorRole, object: &AnyObject) -> Vec<Diagnostic> {
        let mut found: Vec<Diagnostic> = Vec::new();
        for refusal in self.0.iter().rev().flat_map(|limit| refusal::refusals(limit, role, object)) {
            let is_same =
                |known: &&mut Diagnostic| known.code == refusal.code && known.labels.first() == refusal.labels.first();
            match found.iter_mut().find(is_same) {
                Some(known) => known.labels.extend(refusal.labels.into_iter().skip(1)),
                None => found.push(refusal),
            }
        }
        found
    }

    fn with<S: Spec>(&self, object: &Object<S>, allow: Option<&Arc<Allow>>) -> Self {
        let Some(allow) = allow else { return self.clone() };
        let limit = Limit { address: object.address, by: object.key(), allow: Arc::clone(allow) };
        if self.0.iter().any(|known| **known == limit) {
            return self.clone();
        }
        Self(self.0.iter().cloned().chain([Arc::new(limit)]).collect())
    }
}

impl Limits {
    /// The limits of a file that only this chain leads to.
    pub fn from_chain(chain: Chain) -> Self {
        if chain.is_empty() { Self::default() } else { Self([chain].into()) }
    }

    /// Whether there are no limits.
    pub fn is_unlimited(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a `BaseRepo` limits each chain.
    pub fn has_base_repo(&self) -> bool {
        let is_limited = |chain: &Chain| chain.0.iter().any(|limit| limit.by.kind == BaseRepo::KIND);
        !self.is_unlimited() && self.0.iter().all(is_limited)
    }

    /// The chains. One without limits if there are no limits.
    pub fn chains(&self) -> Vec<Chain> {
        if self.0.is_empty() { vec![Chain::default()] } else { self.0.to_vec() }
    }

    /// The limit that a `BaseRepo` of this name declares.
    pub fn of_base_repo(&self, name: &BaseRepoName) -> Option<&Limit> {
        let limits = self.0.iter().flat_map(|chain| chain.0.iter());
        limits
            .rev()
            .find(|limit| limit.by.kind == BaseRepo::KIND && *limit.by.name == *name.as_str())
            .map(|limit| &**limit)
    }

    /// Adds the chains of `other`, which lead to the same file. Chains with more limits than another one are left out: they allow nothing more.
    pub fn or(&mut self, other: &Self) {
        let mut chains = self.chains();
        for chain in other.chains() {
            if !chains.iter().any(|known| known.is_within(&chain)) {
                chains.retain(|known| !chain.is_within(known));
                chains.push(chain);
            }
        }
        let is_unlimited = chains.iter().any(Chain::is_empty);
        *self = if is_unlimited { Self::default() } else { Self(chains.into()) };
    }

    /// The chains that allow an object. None if there is no such chain.
    pub fn granted(&self, role: &AuthorRole, object: &AnyObject) -> Option<Self> {
        if self.is_unlimited() {
            return Some(self.clone());
        }
        let granting = self.0.iter().filter(|chain| chain.allows(role, object));
        let granting: Arc<[_]> = granting.cloned().collect();
        (!granting.is_empty()).then_some(Self(granting))
    }

    /// The reasons why an object that no chain allows does not count.
    pub(super) fn refusals(&self, role: &AuthorRole, object: &AnyObject) -> Vec<Diagnostic> {
        self.0.first().map(|chain| chain.refusals(role, object)).unwrap_or_default()
    }

    /// Whether these limits are higher in the hierarchy: for each chain of `other`, one of these chains is above it.
    pub fn is_above(&self, other: &Self) -> bool {
        let own = self.chains();
        other.chains().iter().all(|chain| own.iter().any(|above| above.is_above(chain)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Kind;
    use crate::object_key::ObjectKey;
    use crate::source::{Address, FileId};

    /// A chain of limits with these numbers.
    fn chain(numbers: &[u32]) -> Chain {
        let limit = |number: &u32| Limit {
            address: Address { file: FileId::default(), document: *number, item: None },
            by: ObjectKey { kind: Kind::BaseRepo, name: number.to_string().into(), of: None },
            allow: Arc::default(),
        };
        Chain(numbers.iter().map(limit).map(Arc::new).collect())
    }

    fn limits(chains: &[&[u32]]) -> Limits {
        let mut chains = chains.iter().map(|numbers| Limits::from_chain(chain(numbers)));
        let mut all = chains.next().unwrap_or_default();
        chains.for_each(|other| all.or(&other));
        all
    }

    #[test]
    fn chains_with_fewer_limits_replace_chains_with_more() {
        assert_eq!(limits(&[&[1], &[2]]).chains(), [chain(&[1]), chain(&[2])]);
        assert_eq!(limits(&[&[1, 2], &[2], &[2, 3]]).chains(), [chain(&[2])]);
        assert_eq!(limits(&[&[1], &[]]), Limits::default());
        assert_eq!(limits(&[&[], &[1]]), Limits::default());
    }

    #[test]
    fn wider_limits_are_above_narrower_ones() {
        let check = |above: &[&[u32]], below: &[&[u32]], expected: bool| {
            assert_eq!(limits(above).is_above(&limits(below)), expected, "{above:?} {below:?}");
        };
        check(&[&[]], &[&[1]], true);
        check(&[&[1]], &[&[2, 1]], true);
        check(&[&[1]], &[&[1]], false);
        check(&[&[1]], &[&[]], false);
        check(&[&[1]], &[&[2]], false);
        check(&[&[1]], &[&[1, 2], &[3]], false);
        check(&[&[1], &[3]], &[&[1, 2], &[3, 4]], true);
    }

    #[test]
    fn chains_are_joined_without_repeating_a_limit() {
        assert_eq!(chain(&[1, 2]).and(&chain(&[2, 3])), chain(&[1, 2, 3]));
    }
}
