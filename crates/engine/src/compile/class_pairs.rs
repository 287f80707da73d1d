//! Class pairs: the values of assignments and the results of their checks, computed once for all assignments with the same inputs.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use gotemplate::PartCache;
use model::diagnostic::{Code, Diagnostic, Origin};
use model::digest::{Digest, DigestBuilder};
use model::field_path::FieldPath;
use model::progress::Counter;
use rayon::prelude::*;

use crate::compile::memo::Memo;
use crate::compose::container::Container;
use crate::compose::merge::STEPS_MAX;
use crate::compose::merged_values::MergedValues;
use crate::compose::{Composition, compose, compose_with};
use crate::invariant::require;
use crate::prepare::Prepared;
use crate::schema::Schema;
use crate::schema::validate::{Checked, check, sensitive_in};
use crate::warnings::rival::{self, Rivals};

/// The data that all assignments of one class of places and one class of targets share: values and diagnostics.
#[derive(Debug)]
pub(crate) struct ClassPair {
    /// The positions of the matching containers.
    pub(crate) containers: Box<[u32]>,
    /// The ids of the schemas that apply.
    pub(crate) schemas: Box<[u32]>,
    pub(crate) values: Arc<ComposedValues>,
    pub(crate) checked: Arc<Checked>,
    /// The digest of the inputs of the check: values, schemas and sensitive paths.
    pub(crate) validation: Digest,
    /// The digest of the paths that its schemas mark as sensitive.
    pub(crate) marks: Digest,
    /// The sensitive paths that may have values.
    pub(crate) sensitive: BTreeSet<FieldPath>,
    pub(crate) sensitive_digest: Digest,
    /// Whether some values are templates themselves.
    pub(crate) has_nested: bool,
    /// Whether there are diagnostics about its assignments.
    pub(crate) has_diagnostics: bool,
    /// Whether its assignments fail.
    pub(crate) is_failing: bool,
    /// The rivals among its containers.
    pub(crate) rivals: Box<[Rivals]>,
}

/// Composed values, with the digest of their inputs.
#[derive(Debug)]
pub(crate) struct ComposedValues {
    /// The digest of the merged containers.
    pub(crate) inputs: Digest,
    /// The digest of the values.
    pub(crate) digest: Digest,
    /// The container at which the limit of merge steps was reached, by its position among the matching containers.
    overflow: Option<usize>,
    composition: OnceLock<Arc<Composition>>,
}

impl ComposedValues {
    fn composed(inputs: Digest, composition: Composition) -> Self {
        let (digest, overflow) = (composition.digest, composition.overflow);
        Self { inputs, digest, overflow, composition: OnceLock::from(Arc::new(composition)) }
    }

    /// The values. They are composed again if only their digest is known.
    pub(crate) fn composition(&self, containers: impl FnOnce() -> Vec<Arc<Container>>) -> &Arc<Composition> {
        self.composition.get_or_init(|| Arc::new(compose(&containers())))
    }

    /// Keeps results of templates at once, until [`Self::forget_parts`]: several assignments with these values are rendered.
    pub(crate) fn keep_parts(&self) {
        self.part_cache().into_iter().for_each(PartCache::expect_renderings);
    }

    /// Drops the results of templates, which would take more memory than the values.
    pub(crate) fn forget_parts(&self) {
        self.part_cache().into_iter().for_each(PartCache::forget);
    }

    fn part_cache(&self) -> Option<&PartCache> {
        self.composition.get()?.part_cache.as_deref()
    }
}

/// Counters of the work for class pairs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PairWork {
    pub(crate) matches: usize,
    pub(crate) compositions: usize,
    pub(crate) checks: usize,
}

/// All class pairs of assignments.
#[derive(Debug, Default)]
pub(crate) struct ClassPairs {
    all: Vec<ClassPair>,
    keys: Vec<(u32, u32)>,
    /// The position in `all`, by the class of the place, then by the class of the target.
    positions: Vec<Vec<u32>>,
    values: HashMap<Digest, Arc<ComposedValues>>,
    checks: HashMap<Digest, Arc<Checked>>,
}

/// What is broken if the classes of an assignment have no pair.
pub(crate) const NO_PAIR: &str = "the classes of an assignment have no values";
/// What is broken if values are missing that every pair needs.
const NOT_COMPOSED: &str = "the values of an assignment were not composed";

/// There is no pair of these classes.
const NONE: u32 = u32::MAX;

/// What class pairs are computed from.
#[derive(Clone, Copy)]
pub(crate) struct PairSources<'a> {
    pub(crate) prepared: &'a Prepared,
    /// The results of earlier runs.
    pub(crate) memo: &'a Memo,
    /// Each composition and each check is one step.
    pub(crate) composing: Counter<'a>,
}

/// The inputs of a class pair, before its values are composed and checked.
struct Draft {
    key: (u32, u32),
    containers: Vec<u32>,
    schemas: Vec<u32>,
    examined: usize,
    inputs: Digest,
    validation: Digest,
    rivals: Box<[Rivals]>,
}

impl ClassPairs {
    /// The position of the pair of two classes. None if it does not exist.
    pub(crate) fn position(&self, place: u32, target: u32) -> Option<u32> {
        self.positions.get(place as usize)?.get(target as usize).copied().filter(|position| *position != NONE)
    }

    /// The pair at a position.
    pub(crate) fn at(&self, position: u32) -> Option<&ClassPair> {
        self.all.get(position as usize)
    }

    /// The number of pairs, including pairs that no assignment uses any more.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// The pair of two classes that an assignment is of.
    pub(crate) fn required(&self, place: u32, target: u32) -> &ClassPair {
        require(self.get(place, target), NO_PAIR)
    }

    /// The pair of two classes.
    pub(crate) fn get(&self, place: u32, target: u32) -> Option<&ClassPair> {
        self.at(self.position(place, target)?)
    }

    /// The classes of all pairs.
    pub(crate) fn keys(&self) -> &[(u32, u32)] {
        &self.keys
    }

    /// The classes of the pairs that match one of these containers.
    pub(crate) fn with_containers(&self, containers: &[u32]) -> BTreeSet<(u32, u32)> {
        if containers.is_empty() {
            return BTreeSet::new();
        }
        let has =
            |pair: &ClassPair| containers.iter().any(|container| pair.containers.binary_search(container).is_ok());
        self.all.iter().zip(&self.keys).filter(|(pair, _)| has(pair)).map(|(_, key)| *key).collect()
    }

    /// Removes all class pairs. Values and check results remain in the cache.
    pub(crate) fn clear_classes(&mut self) {
        self.all.clear();
        self.keys.clear();
        self.positions.clear();
    }

    /// Computes the pairs of these classes. Existing pairs are replaced.
    pub(crate) fn make(&mut self, sources: PairSources<'_>, keys: Vec<(u32, u32)>) -> PairWork {
        let prepared = sources.prepared;
        let drafts: Vec<Draft> = keys.into_par_iter().map(|key| draft(prepared, key)).collect();
        let mut work = PairWork { matches: drafts.iter().map(|draft| draft.examined).sum(), ..PairWork::default() };
        let values = missing(&self.values, &drafts, |draft| draft.inputs);
        let checks = missing(&self.checks, &drafts, |draft| draft.validation);
        sources.composing.expect(values.len() + checks.len());
        work.compositions = self.compose(sources, values);
        work.checks = self.check(sources, checks);
        let made: Vec<_> = drafts.into_par_iter().map(|draft| self.pair(prepared, draft)).collect();
        for (key, pair) in made {
            self.put(key, pair);
        }
        self.prune();
        work
    }

    /// Composes the values that are not in the cache or in the memo. Returns the number of new compositions.
    fn compose(&mut self, sources: PairSources<'_>, missing: Vec<(Digest, &Draft)>) -> usize {
        let PairSources { prepared, memo, composing } = sources;
        let merged = MergedValues::new(prepared.containers.ranks());
        let made: Vec<_> = missing
            .into_par_iter()
            .map(|(inputs, draft)| {
                composing.advance(1);
                if let Some(digest) = memo.values(inputs) {
                    return (false, ComposedValues { inputs, digest, overflow: None, composition: OnceLock::new() });
                }
                let containers = prepared.containers_at(&draft.containers);
                let composition = compose_with(&containers, (&draft.containers, &merged));
                (true, ComposedValues::composed(inputs, composition))
            })
            .collect();
        let count = made.iter().filter(|(is_new, _)| *is_new).count();
        self.values.extend(made.into_iter().map(|(_, values)| (values.inputs, Arc::new(values))));
        count
    }

    /// Runs the checks that are not in the cache or in the memo. Returns the number of new checks, each with one schema.
    fn check(&mut self, sources: PairSources<'_>, missing: Vec<(Digest, &Draft)>) -> usize {
        let PairSources { prepared, memo, composing } = sources;
        let values = &self.values;
        let made: Vec<_> = missing
            .into_par_iter()
            .map(|(validation, draft)| {
                composing.advance(1);
                if let Some(checked) = memo.checked(validation) {
                    return (0, validation, checked);
                }
                let containers = prepared.containers_at(&draft.containers);
                let schemas = prepared.schemas_at(&draft.schemas);
                let usable: Vec<_> = schemas.filter(|schema| schema.compiled.is_ok()).collect();
                let values = require(values.get(&draft.inputs), NOT_COMPOSED);
                let composition = values.composition(|| containers.clone());
                let sensitive = prepared.sensitive_of(prepared.schemas_at(&draft.schemas), &containers);
                (usable.len(), validation, Arc::new(check(composition, &containers, &usable, &sensitive)))
            })
            .collect();
        let count = made.iter().map(|(count, ..)| count).sum();
        self.checks.extend(made.into_iter().map(|(_, validation, checked)| (validation, checked)));
        count
    }

    /// A pair whose values and findings are known.
    fn pair(&self, prepared: &Prepared, draft: Draft) -> ((u32, u32), ClassPair) {
        let Draft { key, containers, schemas, inputs, validation, rivals, .. } = draft;
        let values = require(self.values.get(&inputs), NOT_COMPOSED);
        let checked = require(self.checks.get(&validation), "the values of an assignment were not checked");
        let mut pair = ClassPair {
            containers: containers.into(),
            schemas: schemas.into(),
            values: Arc::clone(values),
            checked: Arc::clone(checked),
            validation,
            marks: Digest::from_bytes([0; 16]),
            sensitive: BTreeSet::new(),
            sensitive_digest: Digest::from_bytes([0; 16]),
            has_nested: false,
            has_diagnostics: false,
            is_failing: false,
            rivals,
        };
        let found = prepared.containers_at(&pair.containers);
        pair.marks =
            Digest::from_value(&prepared.schemas_at(&pair.schemas).flat_map(Schema::marks).collect::<BTreeSet<_>>());
        pair.has_nested = found.iter().any(|container| container.has_nested);
        let marked = prepared.sensitive_of(prepared.schemas_at(&pair.schemas), &found);
        pair.sensitive = sensitive_in(&found, &marked).cloned().collect();
        pair.sensitive_digest = Digest::from_value(&pair.sensitive);
        let diagnostics = pair.diagnostics(prepared);
        pair.has_diagnostics = !diagnostics.is_empty();
        pair.is_failing = diagnostics.iter().any(Diagnostic::is_error);
        (key, pair)
    }

    fn put(&mut self, key: (u32, u32), pair: ClassPair) {
        let position = self.position(key.0, key.1).unwrap_or_else(|| self.new_position(key));
        if let Some(known) = self.all.get_mut(position as usize) {
            *known = pair;
        } else {
            self.all.push(pair);
            self.keys.push(key);
        }
    }

    fn new_position(&mut self, (place, target): (u32, u32)) -> u32 {
        let position = self.all.len() as u32;
        let (place, target) = (place as usize, target as usize);
        if self.positions.len() <= place {
            self.positions.resize_with(place + 1, Vec::new);
        }
        if let Some(of_place) = self.positions.get_mut(place) {
            if of_place.len() <= target {
                of_place.resize(target + 1, NONE);
            }
            if let Some(slot) = of_place.get_mut(target) {
                *slot = position;
            }
        }
        position
    }

    /// Removes values and check results that no pair uses any more from the cache, if there are many of them.
    fn prune(&mut self) {
        const SPARE: usize = 1_000;
        if self.values.len() > 2 * self.all.len() + SPARE {
            let used: BTreeSet<Digest> = self.all.iter().map(|pair| pair.values.inputs).collect();
            self.values.retain(|inputs, _| used.contains(inputs));
        }
        if self.checks.len() > 2 * self.all.len() + SPARE {
            let used: BTreeSet<Digest> = self.all.iter().map(|pair| pair.validation).collect();
            self.checks.retain(|validation, _| used.contains(validation));
        }
    }

    /// All values and findings.
    pub(crate) fn all(&self) -> impl Iterator<Item = &ClassPair> {
        self.all.iter()
    }
}

/// Returns one draft for each digest that is not in the cache, in the order of the drafts. Neighbouring drafts share most containers.
fn missing<'d, T>(
    known: &HashMap<Digest, T>,
    drafts: &'d [Draft],
    digest: impl Fn(&Draft) -> Digest,
) -> Vec<(Digest, &'d Draft)> {
    let mut seen = HashSet::new();
    let all = drafts.iter().map(|draft| (digest(draft), draft));
    all.filter(|(digest, _)| !known.contains_key(digest) && seen.insert(*digest)).collect()
}

impl ClassPair {
    /// The diagnostics about all assignments of this pair.
    pub(crate) fn diagnostics(&self, prepared: &Prepared) -> Vec<Diagnostic> {
        let containers = prepared.containers_at(&self.containers);
        let mut diagnostics: Vec<_> = containers.iter().filter_map(|container| container.problem.clone()).collect();
        let overflow = self.values.overflow.and_then(|position| containers.get(position));
        diagnostics.extend(overflow.map(|container| too_much_to_merge(container)));
        let schemas = prepared.schemas_at(&self.schemas);
        diagnostics.extend(schemas.filter_map(|schema| schema.compiled.clone().err()));
        diagnostics.extend(self.checked.diagnostics.iter().cloned());
        diagnostics
    }
}

/// Finds the inputs of assignments with these two classes.
fn draft(prepared: &Prepared, key: (u32, u32)) -> Draft {
    let (containers, schemas, examined) = prepared.matching(key.0, key.1);
    let found = prepared.containers_at(&containers);
    let mut inputs = DigestBuilder::new("composition");
    found.iter().for_each(|container| {
        inputs.digest(container.digest);
    });
    let inputs = inputs.finish();
    let mut validation = DigestBuilder::new("validation");
    validation.digest(inputs);
    for schema in prepared.schemas_at(&schemas) {
        validation.digest(schema.digest).number(u64::from(schema.compiled.is_ok()));
    }
    for path in sensitive_in(&found, &prepared.schemas.sensitive_everywhere) {
        validation.value(path);
    }
    let validation = validation.finish();
    let rivals = rival::find(&containers, &prepared.containers);
    Draft { key, containers, schemas, examined, inputs, validation, rivals }
}

fn too_much_to_merge(container: &Container) -> Diagnostic {
    let key = container.key();
    Diagnostic::error(Code::TooMuchToMerge, format!("merging the values up to {key} takes more than {STEPS_MAX} steps"))
        .at(Origin::field(&key, FieldPath::from(["metadata", "name"])), "the limit is exceeded here")
        .help("merge lists with `config.kalypso.io/merge: append` or `replace`, or give each item its own name")
        .about(&key)
}
