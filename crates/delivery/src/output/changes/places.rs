//! The positions of the causes of changes.

use std::collections::BTreeMap;

use engine::plan::{Cause, ChangeReason, PlannedId};
use git::load::ReadRole;
use model::diagnostic::Origin;
use model::locate::Locator;
use model::name::PolicyName;

use crate::output::planned::Planned;
use crate::sources::loaded::Loaded;

/// Finds positions in the current and in the new fleet.
pub struct Places<'a> {
    planned: &'a Planned,
    new: Locator<'a>,
    old: Option<Locator<'a>>,
    found: BTreeMap<Cause, Option<String>>,
    /// The prefix of positions in the environment's own branch. It is left out, because the title contains it.
    own: Option<String>,
}

impl<'a> Places<'a> {
    /// Finds positions for a plan.
    pub fn new(planned: &'a Planned, loaded: &'a Loaded) -> Self {
        let own = loaded.reads.iter().find(|read| read.role == ReadRole::Environment);
        Self {
            planned,
            new: Locator::new(&loaded.fleet),
            old: planned.earlier.as_ref().map(|old| Locator::new(&old.loaded.fleet)),
            found: BTreeMap::new(),
            own: own.map(|read| format!("{}@{}:", read.url.label(), read.revision)),
        }
    }

    /// A position for programs: `control-plane@prod:configs/west.yaml:9`. The position of a label depends on the assignment.
    pub fn whole(&mut self, id: &PlannedId, because: &Cause) -> Option<String> {
        let because = &self.written(id, because)?;
        if let Some(found) = self.found.get(because) {
            return found.clone();
        }
        let place = match because {
            Cause::New(origin) => self.new.shown(origin),
            Cause::Old(origin) => self.old.as_mut().and_then(|old| old.shown(origin)),
            Cause::Label(..) => None,
        };
        self.found.insert(because.clone(), place.clone());
        place
    }

    /// The position of a label: its new position, else its old one. All other causes contain their positions.
    fn written(&self, id: &PlannedId, because: &Cause) -> Option<Cause> {
        let Cause::Label(of, key) = because else { return Some(because.clone()) };
        let id = id.assignment()?;
        let new = self.planned.compiled.label_origin(&id, *of, key).map(Cause::New);
        let old = || self.planned.earlier.as_ref()?.compiled.label_origin(&id, *of, key).map(Cause::Old);
        new.or_else(old)
    }

    /// A position for people: `configs/west.yaml:9` if it is in the environment's own branch.
    pub fn short(&mut self, id: &PlannedId, because: &Cause) -> Option<String> {
        let place = self.whole(id, because)?;
        let own = self.own.as_ref().and_then(|own| place.strip_prefix(own.as_str()));
        Some(own.map_or_else(|| place.clone(), str::to_owned))
    }

    /// A reason with all its positions.
    pub fn reason(&mut self, id: &PlannedId, reason: &ChangeReason) -> String {
        let because = match reason {
            ChangeReason::AssignedBy(policies) if !policies.is_empty() => {
                let named = policies.iter().map(|(policy, origin)| {
                    let place = self.whole(id, &Cause::New(origin.clone()));
                    place.map_or_else(|| format!("policy {policy}"), |place| format!("policy {policy} ({place})"))
                });
                return format!("assigned by {}", named.collect::<Vec<_>>().join(", "));
            }
            other => because(other),
        };
        let place = because.and_then(|because| self.whole(id, &because));
        place.map_or_else(|| words(reason), |place| format!("{} ({place})", words(reason)))
    }
}

/// The cause of a reason, if it has a single position.
pub fn because(reason: &ChangeReason) -> Option<Cause> {
    match reason {
        ChangeReason::AssignedBy(policies) => policies.first().map(|(_, origin)| Cause::New(origin.clone())),
        ChangeReason::Template(_, because)
        | ChangeReason::OtherTemplate(_, because)
        | ChangeReason::Manifests(_, because)
        | ChangeReason::Pin(_, because)
        | ChangeReason::Renamed(_, because)
        | ChangeReason::Label(because) => Some(because.clone()),
        ChangeReason::ClusterTypeRemoved
        | ChangeReason::ClusterRemoved
        | ChangeReason::TargetRemoved(_)
        | ChangeReason::NotAssigned(_)
        | ChangeReason::Unknown => None,
        ChangeReason::Held(_, pins) => pins.first().map(|(_, origin)| Cause::New(origin.clone())),
    }
}

/// A reason as text.
pub fn words(reason: &ChangeReason) -> String {
    match reason {
        ChangeReason::Renamed(names, _) => format!("renamed from {}", names.join(" and ")),
        ChangeReason::AssignedBy(policies) if policies.is_empty() => {
            "proposed before; its application can't be read now".to_owned()
        }
        ChangeReason::AssignedBy(policies) => {
            let named = policies.iter().map(|(policy, _): &(PolicyName, Origin)| format!("policy {policy}"));
            format!("assigned by {}", named.collect::<Vec<_>>().join(", "))
        }
        ChangeReason::ClusterTypeRemoved => "its cluster type does not exist any more".to_owned(),
        ChangeReason::ClusterRemoved => "its cluster does not exist any more".to_owned(),
        ChangeReason::TargetRemoved(target) => format!("deployment target {target} does not exist any more"),
        ChangeReason::NotAssigned(policies) if policies.is_empty() => "no policy assigns it any more".to_owned(),
        ChangeReason::NotAssigned(policies) => {
            let names: Vec<_> = policies.iter().map(ToString::to_string).collect();
            format!("no policy assigns it any more ({} did)", names.join(", "))
        }
        ChangeReason::Template(name, _) => format!("template {name} changes"),
        ChangeReason::OtherTemplate(name, _) => format!("its cluster type uses template {name} now"),
        ChangeReason::Manifests(keys, _) => format!("manifests change: {}", keys.join(", ")),
        ChangeReason::Pin(name, Cause::Old(_)) => format!("release pin {name} does not hold it any more"),
        ChangeReason::Pin(name, _) => format!("release pin {name} holds it"),
        ChangeReason::Held(from, pins) if pins.is_empty() => {
            format!("held from commit {}, with no release pin any more", from.short())
        }
        ChangeReason::Held(from, pins) => {
            let names: Vec<_> = pins.iter().map(|(name, _)| &**name).collect();
            format!("held from commit {}, with release pin {}", from.short(), names.join(", "))
        }
        ChangeReason::Label(Cause::Label(_, key)) => format!("label {key} changes"),
        ChangeReason::Label(_) => "a label changes".to_owned(),
        ChangeReason::Unknown => "the same values, another template, label or manifest".to_owned(),
    }
}
