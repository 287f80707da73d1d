//! The compiled environments that are kept between questions.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use delivery::reading::ReadAt;
use hub_api::syncs::{SyncResult, SyncSource};
use hub_api::timestamp::Timestamp;

use super::limits::{AGE_MAX, ASSIGNMENTS_MAX, FRESH, STATES_MAX, UNUSED_MAX};
use super::scope::source;
use super::{CompiledState, StateSource};
use crate::Error;

/// The compiled environments that are kept, so that the next question reads and compiles nothing.
#[derive(Default)]
pub struct CompiledStates(Mutex<BTreeMap<StateKey, Arc<Slot>>>);

/// The environment, after the name of its control plane if that is another one, and the commits.
type StateKey = (String, ReadAt);

/// What is kept of one environment. While it is read, other questions about it wait for the result.
#[derive(Default)]
struct Slot(Mutex<Option<KeptState>>);

#[derive(Clone)]
struct KeptState {
    state: Arc<CompiledState>,
    sources: Vec<SyncSource>,
    checked: Instant,
    checked_on: Timestamp,
    used: Instant,
}

impl CompiledStates {
    /// The compiled environment. A kept state is used while the last sync has read nothing else. Environments of which nothing has to be admitted have the
    /// same state at the heads.
    ///
    /// # Errors
    /// If the environment can't be read.
    pub fn get(
        &self,
        environment: &str,
        source: StateSource<'_>,
        last: Option<&SyncResult>,
    ) -> Result<Arc<CompiledState>, Error> {
        let StateSource { at, .. } = source;
        if at == ReadAt::Heads {
            let admitted = self.get(environment, StateSource { at: ReadAt::Admitted, ..source }, last)?;
            if admitted.loaded.admission.is_none() {
                return Ok(admitted);
            }
        }
        let slot = Arc::clone(self.lock().entry((environment.to_owned(), at)).or_default());
        let mut kept = slot.lock();
        let state = match kept.take() {
            Some(known) if known.is_current(last) => KeptState { used: Instant::now(), ..known },
            known => KeptState::read(source, known)?,
        };
        let found = Arc::clone(&state.state);
        *kept = Some(state);
        drop(kept);
        self.forget();
        Ok(found)
    }

    /// Forgets what is not used any more, and the longest unused environments beyond the limits.
    pub fn forget(&self) {
        let mut slots = self.lock();
        // A slot that is locked is being read, so it is used.
        let used =
            |slot: &Slot| slot.0.try_lock().ok().and_then(|kept| Some((kept.as_ref()?.used, kept.as_ref()?.len())));
        let mut found: Vec<_> = slots.iter().filter_map(|(key, slot)| Some((used(slot)?, key.clone()))).collect();
        found.sort_by_key(|((used, _), _)| std::cmp::Reverse(*used));
        let mut assignments = 0;
        for (number, ((used, len), key)) in found.into_iter().enumerate() {
            assignments += len;
            let is_beyond = number > 0 && (number >= STATES_MAX || assignments > ASSIGNMENTS_MAX);
            if is_beyond || used.elapsed() > UNUSED_MAX {
                slots.remove(&key);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<StateKey, Arc<Slot>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for CompiledStates {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_list().entries(self.lock().keys()).finish()
    }
}

impl Slot {
    fn lock(&self) -> MutexGuard<'_, Option<KeptState>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeptState {
    fn read(from: StateSource<'_>, earlier: Option<Self>) -> Result<Self, Error> {
        let (checked, checked_on) = (Instant::now(), Timestamp::now());
        // A state that a question still uses can't be changed.
        let earlier = earlier.and_then(|kept| Arc::try_unwrap(kept.state).ok());
        let state = CompiledState::read(from, earlier)?;
        let sources = sorted(state.loaded.reads.iter().map(source).collect());
        Ok(Self { state: Arc::new(state), sources, checked, checked_on, used: Instant::now() })
    }

    /// Whether the sources need not be read again. `last` is the last sync of the environment, by any replica.
    fn is_current(&self, last: Option<&SyncResult>) -> bool {
        let age = self.checked.elapsed();
        let is_newer = |sync: &SyncResult| sync.started_on > self.checked_on;
        let is_same = |sync: &SyncResult| sync.sources.is_empty() || sorted(sync.sources.clone()) == self.sources;
        age < FRESH || (age < AGE_MAX && last.is_none_or(|sync| !is_newer(sync) || is_same(sync)))
    }

    fn len(&self) -> usize {
        self.state.compiled.len()
    }
}

fn sorted(mut sources: Vec<SyncSource>) -> Vec<SyncSource> {
    let key = |one: &SyncSource| (one.repository.clone(), one.revision.clone(), one.commit.clone());
    sources.sort_by_key(key);
    sources.dedup();
    sources
}
