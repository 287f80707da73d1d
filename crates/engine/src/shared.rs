//! What assignments share: values composed of the same containers, with what the schemas say about them.

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use model::diagnostic::{Code, Diagnostic, Origin, Part};
use model::field_path::FieldPath;

use crate::compose::{Composition, compose};
use crate::container::Container;
use crate::record::Silent;
use crate::schema::{Finding, JsonData, Schemas};
use crate::settings::MissingValues;
use crate::trace::{Trace, follow};

/// More parts than processors, so that they seldom want the same one.
const PARTS: usize = 64;

type ByPositions<T> = BTreeMap<Box<[usize]>, Arc<T>>;

/// The compositions of an environment. Whatever matches the same containers is composed once, whatever is checked by the same schemas
/// is checked once, on however many cluster types it is.
pub(crate) struct Shared<'a> {
    containers: &'a [Container],
    schemas: &'a Schemas,
    /// By the containers that match.
    compositions: [Mutex<ByPositions<Composed>>; PARTS],
    checks: AtomicUsize,
}

/// A composition with what was found out about it.
#[derive(Default)]
pub(crate) struct Composed {
    composition: OnceLock<Arc<Composition>>,
    /// By the schemas that apply.
    checked: Mutex<ByPositions<OnceLock<Checked>>>,
}

/// What the schemas of an assignment say.
pub(crate) struct Checked {
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Whether there may be values that nobody should see.
    pub(crate) has_sensitive: bool,
}

impl<'a> Shared<'a> {
    pub(crate) fn new(containers: &'a [Container], schemas: &'a Schemas) -> Self {
        let compositions = std::array::from_fn(|_| Mutex::default());
        Self { containers, schemas, compositions, checks: AtomicUsize::new(0) }
    }

    /// The composition of the containers at the positions `matching`.
    pub(crate) fn composed(&self, matching: &[usize]) -> (Arc<Composed>, Arc<Composition>) {
        let part =
            matching.iter().fold(0_usize, |part, position| part.wrapping_mul(31).wrapping_add(*position)) % PARTS;
        let composed = entry(&mut locked(&self.compositions[part]), matching);
        let make = || Arc::new(compose(self.containers, matching, &mut Silent));
        let composition = Arc::clone(composed.composition.get_or_init(make));
        (composed, composition)
    }

    /// Calls `read` with what the schemas with these ids say about a composition.
    pub(crate) fn checked<T>(
        &self,
        composed: &Composed,
        (matching, schemas): (&[usize], &[usize]),
        read: impl FnOnce(&Checked) -> T,
    ) -> T {
        let checked = entry(&mut locked(&composed.checked), schemas);
        read(checked.get_or_init(|| {
            let make = || Arc::new(compose(self.containers, matching, &mut Silent));
            self.check(composed.composition.get_or_init(make), matching, schemas)
        }))
    }

    /// How many different compositions were made.
    pub(crate) fn composition_count(&self) -> usize {
        self.compositions.iter().map(|part| locked(part).len()).sum()
    }

    /// How often a composition was checked by a schema.
    pub(crate) fn check_count(&self) -> usize {
        self.checks.load(Ordering::Relaxed)
    }

    fn check(&self, composition: &Composition, matching: &[usize], schemas: &[usize]) -> Checked {
        let schemas = schemas.iter().filter_map(|id| self.schemas.get(*id));
        let (usable, unusable): (Vec<_>, Vec<_>) = schemas.partition(|schema| schema.compiled.is_ok());
        let mut diagnostics: Vec<_> = unusable.into_iter().filter_map(|schema| schema.compiled.clone().err()).collect();
        let sensitive = &self.schemas.sensitive;
        let is_there = |path: &FieldPath| follow(&composition.data, path.steps()).is_some();
        let has_sensitive = sensitive.iter().any(is_there);
        if usable.is_empty() {
            return Checked { diagnostics, has_sensitive };
        }
        self.checks.fetch_add(usable.len(), Ordering::Relaxed);
        let mut data = JsonData::of(composition);
        let trace = LazyCell::new(|| Trace::record(self.containers, matching));
        for schema in usable {
            let findings = schema.check(composition, &mut data, sensitive);
            diagnostics.extend(findings.into_iter().map(|finding| explain(finding, schema.missing, &trace)));
        }
        Checked { diagnostics, has_sensitive }
    }
}

/// What stands at a key, put there first if need be. The key is copied only then.
fn entry<T: Default>(map: &mut ByPositions<T>, key: &[usize]) -> Arc<T> {
    match map.get(key) {
        Some(found) => Arc::clone(found),
        None => Arc::clone(map.entry(key.into()).or_default()),
    }
}

/// A panic elsewhere leaves the map as good as it was: entries are put in whole.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A finding with the places of the value and of the schema.
fn explain(finding: Finding, missing: MissingValues, trace: &Trace<'_>) -> Diagnostic {
    let Finding { path, is_missing, message, schema, schema_path } = finding;
    let schema_origin = Origin::part(&schema.object, schema.path.clone(), Part::KeyInside(schema_path));
    let asked = format!("asked for by {}", schema.object);
    if is_missing {
        let make = if missing == MissingValues::Warn { Diagnostic::warning } else { Diagnostic::error };
        let help = format!("give `{path}` in a ConfigMap that matches the assignment");
        return make(Code::MissingValue, message).at(schema_origin, asked).help(help);
    }
    let mut diagnostic = Diagnostic::error(Code::WrongValue, message);
    if let Some(setting) = trace.settings(&path).into_iter().next() {
        diagnostic = diagnostic.at(setting.origin, "this value");
    }
    diagnostic.at(schema_origin, asked)
}
