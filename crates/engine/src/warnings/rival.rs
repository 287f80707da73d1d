//! Rivals: containers of the same priority that set one key to different values for the same assignment, where only their names decide the order, or where a
//! more special one loses by its name.
//!
//! The rivals of a pair of classes are computed together with its containers, and stored with the pair. After a change, only the new pairs are examined.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use gotemplate::value::{Key, Value};
use model::diagnostic::{Code, Diagnostic, FieldPart};
use model::field_path::{FieldPath, FieldStep};
use model::object::deployment_target::WORKLOAD_LABEL;

use crate::compose::container::{Conditions, Container, Containers, Entry};
use crate::compose::merge::item_name;
use crate::compose::record;
use crate::compose::settings_by_key::{Setting, SettingsByKey};
use crate::compose::value;
use crate::prepare::Prepared;
use crate::schedule::matching::{is_met_by_place, is_met_by_target};
use crate::schedule::place::Place;
use crate::schedule::target::Target;
use crate::settings::{Precedence, Strategy};

/// Up to this number, each container that is merged deeply is compared with each other one. With more, each one is compared only with
/// the next one.
const COMPARED_MAX: usize = 16;
/// The maximum number of labels that a message names.
const LABELS_SHOWN_MAX: usize = 6;

/// Two containers that set a key differently for the same assignment, by their positions in merge order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rivals {
    first: u32,
    last: u32,
    /// The position of the entry in the last container.
    entry: u32,
}

/// Returns the rivals among the containers at these ascending positions, which are merged for the same assignments.
pub(crate) fn find(containers: &[u32], all: &Containers) -> Box<[Rivals]> {
    let found = containers.iter().filter_map(|position| Some((*position, &**all.list.get(*position as usize)?)));
    let found: Vec<(u32, &Container)> = found.collect();
    // Containers are sorted by priority.
    let have_same_priority = |pair: &[(u32, &Container)]| matches!(pair, [(_, one), (_, other)] if one.priority().is_some() && one.priority() == other.priority());
    if !found.windows(2).any(have_same_priority) {
        return Box::default();
    }
    let by_key = SettingsByKey::new(found.into_iter(), all.ranks());
    let of_keys = by_key.iter().filter(|of_key| of_key.len() > 1);
    of_keys
        .flat_map(|settings| rivals_of_key(settings, all.order.precedence))
        .map(|(first, last)| Rivals { first: first.position, last: last.position, entry: last.index })
        .collect()
}

/// The pairs of settings of one key that contradict each other.
fn rivals_of_key<'s>(
    settings: &'s [Setting<'s>],
    precedence: Precedence,
) -> impl Iterator<Item = (&'s Setting<'s>, &'s Setting<'s>)> {
    // Earlier settings are replaced as a whole. They are only compared with the setting that replaces them.
    let winner = settings.iter().rposition(|setting| is_final(setting.entry)).unwrap_or_default();
    let (replaced, merged) = settings.split_at(winner);
    let with_last = replaced.iter().filter_map(|first| Some((first, merged.first()?)));
    let reach = if merged.len() > COMPARED_MAX { 1 } else { COMPARED_MAX };
    let others = merged
        .iter()
        .enumerate()
        .flat_map(move |(position, first)| merged.iter().skip(position + 1).take(reach).map(move |last| (first, last)));
    with_last.chain(others).filter(move |(first, last)| {
        first.entry.value_digest != last.entry.value_digest
            && are_rivals(first.container, last.container)
            && precedence.are_equally_special(&first.container.position, &last.container.position)
    })
}

/// Whether only the names decide that `last` comes after `first`: same priority, and `last` is not the more special one, which has all conditions of
/// `first` and more.
fn are_rivals(first: &Container, last: &Container) -> bool {
    let is_override = first.conditions != last.conditions && last.conditions.has_all(&first.conditions);
    first.priority().is_some() && first.priority() == last.priority() && first.name != last.name && !is_override
}

fn is_final(entry: &Entry) -> bool {
    entry.strategy == Strategy::Replace || !matches!(entry.value.value, Value::Map(_) | Value::List(_))
}

/// Warns about rivals: one warning for two containers and a key.
pub(crate) fn diagnostics(prepared: &Prepared, rivals: &BTreeSet<Rivals>) -> Vec<Diagnostic> {
    let mut relations: HashMap<(u32, u32), Relation> = HashMap::new();
    let found = rivals.iter().filter_map(|rivals| {
        let list = &prepared.containers.list;
        let (first, last) = (list.get(rivals.first as usize)?, list.get(rivals.last as usize)?);
        let is_nested_in =
            |one: &Container, other: &Container| is_part_of(prepared, &one.conditions, &other.conditions);
        let relation = *relations.entry((rivals.first, rivals.last)).or_insert_with(|| {
            match (is_nested_in(first, last), is_nested_in(last, first)) {
                (true, false) => Relation::SpecialLoses(prepared.containers.order.precedence),
                (false, true) => Relation::Override,
                _ => Relation::Equal,
            }
        });
        diagnostic((first, last), last.entries.get(rivals.entry as usize)?, relation)
    });
    found.collect()
}

/// How the assignments of two rivals are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    /// Neither is more special, or both have the same labels.
    Equal,
    /// The earlier one is more special, so its value is not used. With the precedence of the environment.
    SpecialLoses(Precedence),
    /// The later one is more special.
    Override,
}

/// Whether the assignments that meet `one` are a part of those that meet `other`, because a label of `one` names an object. Example:
/// cluster type `large` is a part of `size: large`, if it has that label.
fn is_part_of(prepared: &Prepared, one: &Conditions, other: &Conditions) -> bool {
    let has = |required: &(Arc<str>, Arc<str>)| one.iter().any(|own| own == required);
    let implies = |(key, name): &(Arc<str>, Arc<str>), (label, value): &(Arc<str>, Arc<str>)| {
        NamedObject::find(prepared, key, name).is_some_and(|named| named.has(label, value))
    };
    one != other && other.iter().all(|required| has(required) || one.iter().any(|own| implies(own, required)))
}

/// The object that a label names.
enum NamedObject<'p> {
    Place(Place),
    Target(&'p Target),
    /// The targets of a workload.
    Workload(Vec<&'p Target>),
}

impl<'p> NamedObject<'p> {
    fn find(prepared: &'p Prepared, key: &str, name: &str) -> Option<Self> {
        let fleet = &prepared.fleet;
        match key {
            "cluster-type" if fleet.cluster_types.contains_key(name) => Place::find(fleet, name).map(Self::Place),
            "cluster" if !fleet.cluster_types.contains_key(name) => Place::find(fleet, name).map(Self::Place),
            "deployment-target" => {
                let target = prepared.target_id(name).and_then(|id| prepared.target(id));
                target.map(|found| Self::Target(&found.target))
            }
            "workload" => Some(Self::Workload(prepared.targets_with(WORKLOAD_LABEL, name).collect())),
            _ => None,
        }
    }

    /// Whether the object has a label.
    fn has(&self, label: &str, value: &str) -> bool {
        match self {
            Self::Place(place) => is_met_by_place(label, value, place),
            Self::Target(target) => is_met_by_target(label, value, target),
            Self::Workload(targets) => {
                !targets.is_empty() && targets.iter().all(|target| is_met_by_target(label, value, target))
            }
        }
    }
}

fn diagnostic((first, last): (&Container, &Container), later: &Entry, relation: Relation) -> Option<Diagnostic> {
    let earlier = first.entries.iter().find(|entry| entry.key == later.key)?;
    let mut path = FieldPath::default().key(Arc::clone(&later.key));
    if !differ((&earlier.value.value, &later.value.value), later.strategy, &mut path) {
        return None;
    }
    let (one, other) = (&first.name, &last.name);
    if relation == Relation::Override {
        return None;
    }
    if let Relation::SpecialLoses(precedence) = relation {
        let message =
            format!("ConfigMap `{one}` is more special than `{other}`, but its value of `{path}` is not used");
        let diagnostic = Diagnostic::warning(Code::SpecialValueLost, message)
            .at(first.origin(earlier, FieldPart::Key), "this value is not used")
            .at(last.origin(later, FieldPart::Key), format!("`{other}` takes precedence, because its name comes last"))
            .note(conditions_note(&first.conditions, &last.conditions))
            .help(format!("give `{one}` a higher `config.kalypso.io/priority`, or a name that comes after `{other}`"))
            .because(&**other.as_arc());
        let switch = "`config.kalypso.io/precedence: specificity` on the environment lets more special values take precedence; `kalypso plan` shows what that changes";
        let is_set = precedence == Precedence::Specificity;
        let diagnostic = if is_set { diagnostic } else { diagnostic.help(switch) };
        return Some(diagnostic.about(&first.key()));
    }
    let message = format!("ConfigMaps `{one}` and `{other}` set `{path}` to different values for the same assignments");
    let diagnostic = Diagnostic::warning(Code::ConflictingValues, message)
        .at(last.origin(later, FieldPart::Key), format!("`{other}` takes precedence, because its name comes last"))
        .at(first.origin(earlier, FieldPart::Key), format!("`{one}` sets a different value"))
        .note(conditions_note(&first.conditions, &last.conditions))
        .help(if first.conditions == last.conditions {
            "give the ConfigMap that should take precedence a higher `config.kalypso.io/priority`, or remove the key from the other one"
        } else {
            "give the ConfigMap that should take precedence a higher `config.kalypso.io/priority`, or add one for the assignments that both match"
        })
        .because(&**other.as_arc());
    Some(diagnostic.about(&last.key()))
}

fn conditions_note(one: &Conditions, other: &Conditions) -> String {
    let labels: BTreeSet<_> = one.iter().chain(other.iter()).collect();
    if labels.is_empty() {
        return "both apply to all assignments".to_owned();
    }
    let more = labels.len().saturating_sub(LABELS_SHOWN_MAX);
    let shown = labels.iter().take(LABELS_SHOWN_MAX).map(|(key, value)| format!("`{key}: {value}`"));
    let shown = shown.collect::<Vec<_>>().join(", ");
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("both apply to assignments with {shown}{more}")
}

/// Whether two values contradict each other when the later one is merged into the earlier one. If they do, `path` is extended to the first contradiction.
fn differ((earlier, later): (&Value, &Value), strategy: Strategy, path: &mut FieldPath) -> bool {
    match (earlier, later) {
        (Value::Map(old), Value::Map(new)) if strategy != Strategy::Replace => {
            new.entries().iter().any(|(key, value)| {
                let Some(old) = old.entries().get(key) else { return false };
                at_step(path, FieldStep::Key(record::key_text(key)), |path| differ((old, value), strategy, path))
            })
        }
        (Value::List(old), Value::List(new)) if strategy == Strategy::Deep => {
            let named = |item: &'_ Value| item_name(item);
            let known: HashMap<Key, &Value> =
                old.items().iter().filter_map(|item| Some((named(item)?, item))).collect();
            new.items().iter().enumerate().any(|(position, item)| {
                let Some(old) = named(item).and_then(|name| known.get(&name).copied()) else { return false };
                at_step(path, FieldStep::Index(position), |path| differ((old, item), strategy, path))
            })
        }
        (Value::List(_), Value::List(_)) if strategy == Strategy::Append => false,
        _ => value::digest(earlier) != value::digest(later),
    }
}

fn at_step(path: &mut FieldPath, step: FieldStep, found: impl FnOnce(&mut FieldPath) -> bool) -> bool {
    path.push(step);
    let is_found = found(path);
    if !is_found {
        path.pop();
    }
    is_found
}
