//! Where the reasons of changes are written.

use std::collections::BTreeMap;

use engine::plan::{Because, Reason};
use git::load::ReadRole;
use model::diagnostic::Origin;
use model::locate::Locator;
use model::name::PolicyName;

use super::Planned;
use crate::loading::Loaded;

/// Finds places in the fleet that is and in the one that should be.
pub(super) struct Places<'a> {
    new: Locator<'a>,
    old: Option<Locator<'a>>,
    found: BTreeMap<Because, Option<String>>,
    /// What the places in the environment's own branch begin with: the title has said it.
    own: Option<String>,
}

impl<'a> Places<'a> {
    pub(super) fn new(planned: &'a Planned<'a>, loaded: &'a Loaded) -> Self {
        let own = loaded.reads.iter().find(|read| read.role == ReadRole::Environment);
        Self {
            new: Locator::new(&loaded.fleet),
            old: planned.old.as_ref().map(|old| Locator::new(&old.loaded.fleet)),
            found: BTreeMap::new(),
            own: own.map(|read| format!("{}@{}:", read.url.label(), read.revision)),
        }
    }

    /// A place as other programs read it: `control-plane@prod:configs/west.yaml:9`.
    pub(super) fn whole(&mut self, because: &Because) -> Option<String> {
        if let Some(found) = self.found.get(because) {
            return found.clone();
        }
        let place = match because {
            Because::New(origin) => self.new.shown(origin),
            Because::Old(origin) => self.old.as_mut().and_then(|old| old.shown(origin)),
        };
        self.found.insert(because.clone(), place.clone());
        place
    }

    /// A place for reading: `configs/west.yaml:9` if it is in the environment's own branch.
    pub(super) fn short(&mut self, because: &Because) -> Option<String> {
        let place = self.whole(because)?;
        let own = self.own.as_ref().and_then(|own| place.strip_prefix(own.as_str()));
        Some(own.map_or_else(|| place.clone(), str::to_owned))
    }

    /// A reason with all its places.
    pub(super) fn reason(&mut self, reason: &Reason) -> String {
        let Reason::AssignedBy(policies) = reason else { return words(reason) };
        let named = policies.iter().map(|(policy, origin)| match self.whole(&Because::New(origin.clone())) {
            Some(place) => format!("policy {policy} ({place})"),
            None => format!("policy {policy}"),
        });
        format!("assigned by {}", named.collect::<Vec<_>>().join(", "))
    }
}

/// A reason in words.
pub(super) fn words(reason: &Reason) -> String {
    match reason {
        Reason::AssignedBy(policies) => {
            let named = policies.iter().map(|(policy, _): &(PolicyName, Origin)| format!("policy {policy}"));
            format!("assigned by {}", named.collect::<Vec<_>>().join(", "))
        }
        Reason::ClusterTypeGone => "its cluster type does not exist any more".to_owned(),
        Reason::ClusterGone => "its cluster does not exist any more".to_owned(),
        Reason::TargetGone => "its deployment target does not exist any more".to_owned(),
        Reason::NotAssigned(policies) if policies.is_empty() => "no policy assigns it any more".to_owned(),
        Reason::NotAssigned(policies) => {
            let names: Vec<_> = policies.iter().map(ToString::to_string).collect();
            format!("no policy assigns it any more ({} did)", names.join(", "))
        }
        Reason::Template => "the same values, another template, label or manifest".to_owned(),
    }
}
