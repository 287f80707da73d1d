//! Label mappings: labels that the platform team adds to deployment targets.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::fleet::Fleet;
use model::kind::Kind;
use model::label::Labels;
use model::name::LabelMappingName;
use model::object::label_mapping::ADD;
use model::object::{AnyObject, LabelMapping, Object};
use model::object_key::ObjectKey;

use crate::schedule::label_pairs::LabelPairIndex;
use crate::schedule::target::{Target, unmapped_targets};

/// Returns the deployment targets of the fleet's environment, by name, and diagnostics about them. Label mappings are applied last and
/// override no label.
pub(crate) fn targets(fleet: &Fleet) -> (Vec<Target>, Vec<Diagnostic>) {
    let (mut targets, mut diagnostics) = unmapped_targets(fleet);
    let mappings = LabelMappings::new(fleet);
    targets.iter_mut().for_each(|target| diagnostics.extend(mappings.apply(target)));
    (targets, diagnostics)
}

/// The label mappings of a fleet.
#[derive(Debug)]
struct LabelMappings<'a> {
    fleet: &'a Fleet,
    /// By name, followed by the additional copies of mappings that exist more than once.
    objects: Vec<&'a Arc<Object<LabelMapping>>>,
    index: LabelPairIndex,
}

impl<'a> LabelMappings<'a> {
    fn new(fleet: &'a Fleet) -> Self {
        let copies = fleet.duplicates.values().flatten().filter_map(|copy| match copy {
            AnyObject::LabelMapping(object) => Some(object),
            _ => None,
        });
        let objects: Vec<_> = fleet.label_mappings.values().chain(copies).collect();
        let mut index = LabelPairIndex::default();
        for (position, mapping) in objects.iter().enumerate() {
            index.insert(position, mapping.spec.from.iter().next());
        }
        Self { fleet, objects, index }
    }

    /// Adds the labels of the matching label mappings to a target. Returns diagnostics; the first one also becomes the target's problem.
    ///
    /// All mappings match against the labels that the target has without mappings. No mapping overwrites one of these labels. If two
    /// mappings add different values, scheduling uses the first mapping by name, so that the target keeps its places. The target is then not rendered.
    fn apply(&self, target: &mut Target) -> Vec<Diagnostic> {
        let candidates = self.index.candidates(&target.labels).into_iter();
        let matching = candidates.filter_map(|position| self.objects.get(position).copied());
        let matching: Vec<_> = matching.filter(|mapping| has_all(&target.labels, &mapping.spec.from)).collect();
        let mut added: BTreeMap<&Arc<str>, (&Arc<str>, &Object<LabelMapping>)> = BTreeMap::new();
        let mut problems = Vec::new();
        for mapping in matching {
            problems.extend(self.fleet.duplicate_diagnostic(&mapping.key()));
            for (key, value) in mapping.spec.add.iter().filter(|(key, _)| target.labels.get(key).is_none()) {
                match added.get(key) {
                    None => {
                        added.insert(key, (value, mapping));
                    }
                    // Copies of one mapping are reported above.
                    Some((other, first)) if *other != value && first.name != mapping.name => {
                        problems.push(conflict(target, key, [(other, first), (value, mapping)]));
                    }
                    Some(_) => {}
                }
            }
        }
        target.problem = target.problem.take().or_else(|| problems.first().cloned());
        for (key, (value, mapping)) in added {
            target.labels.set(Arc::clone(key), Arc::clone(value));
            target.mapped.insert(Arc::clone(key), mapping.name.clone());
        }
        problems
    }
}

/// The place of the field with which a mapping adds a label.
pub(crate) fn origin(mapping: &LabelMappingName, label: &str) -> Origin {
    let key = ObjectKey { kind: Kind::LabelMapping, name: Arc::clone(mapping.as_arc()), of: None };
    Origin::field(&key, FieldPath::from(ADD).key(label))
}

fn has_all(labels: &Labels, required: &Labels) -> bool {
    required.iter().all(|(key, value)| labels.get(key) == Some(value))
}

fn conflict(target: &Target, key: &str, mappings: [(&Arc<str>, &Object<LabelMapping>); 2]) -> Diagnostic {
    let [(_, first), (_, second)] = mappings;
    let message = format!(
        "label mappings `{}` and `{}` add different values of label `{key}` to deployment target `{}`",
        first.name, second.name, target.name
    );
    let mut diagnostic = Diagnostic::error(Code::ConflictingMappings, message);
    for (value, mapping) in mappings {
        diagnostic = diagnostic.at(origin(&mapping.name, key), format!("`{value}` of mapping `{}`", mapping.name));
    }
    diagnostic
        .note(format!(
            "it is scheduled with the value of `{}`, the first by name; its published output stays",
            first.name
        ))
        .help("let only one of the two match the target, or let both add the same value")
}
