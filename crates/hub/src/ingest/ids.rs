//! A cache from names of reconcilers to their ids. An id never changes. In a fleet of a million hosts, the lookup of an id costs more than all other
//! work for a report.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crate::store::{Database, DatabaseError, HostId, ReconcilerId};

/// The most ids in the cache: the capacity of a table of 2²² slots before it grows, about 70 MiB. Other ids are looked up each time.
const IDS_MAX: usize = 3_670_016;

/// The number of hosts whose reconcilers are read in one query when the hub starts.
const PAGE: i64 = 2_000;

/// The pause after each query, so that reports and queries of clients are not delayed.
const PAUSE: Duration = Duration::from_millis(10);

/// The ids in the cache. Clones share the cache.
///
/// Reconcilers are never deleted or renamed. To save memory, the cache has no names, but 96 bits of a keyed hash of each. This is enough to keep the
/// reconcilers of a fleet apart, and an attacker cannot construct a collision without the key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ids(Arc<Mutex<CachedIds>>);

#[derive(Debug, Default)]
struct CachedIds {
    ids: HashMap<u64, Id>,
    hashes: (RandomState, RandomState),
}

/// The value for one half of a hash: the other half, and the id.
#[derive(Clone, Copy, Debug)]
struct Id {
    rest: u32,
    id: u32,
}

impl Ids {
    /// The ids of reconcilers; none for each that is not in the cache.
    pub(super) fn get_all<'a>(&self, subjects: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<Option<ReconcilerId>> {
        let cached = self.cached();
        subjects.map(|subject| cached.get(subject)).collect()
    }

    /// Caches ids that are valid even if the current transaction is rolled back. Returns whether the cache has room for more.
    pub(super) fn remember<'a>(&self, found: impl Iterator<Item = ((&'a str, &'a str), ReconcilerId)>) -> bool {
        let mut cached = self.cached();
        found.for_each(|(subject, id)| cached.insert(subject, id));
        cached.ids.len() < IDS_MAX
    }

    /// Empties the cache, because the database may have been replaced.
    pub(crate) fn forget(&self) {
        self.cached().ids = HashMap::new();
    }

    /// Loads the ids of the database in the background. Stops when the cache is dropped or full.
    pub(crate) fn learn(&self, database: Database) {
        let cached = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            if let Err(error) = learn(&database, &cached).await {
                // Ids that are not in the cache are looked up one by one.
                tracing::warn!(%error, "the cache of reconcilers can't be filled");
            }
        });
    }

    fn cached(&self) -> MutexGuard<'_, CachedIds> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CachedIds {
    fn get(&self, subject: (&str, &str)) -> Option<ReconcilerId> {
        let (key, rest) = self.hash(subject);
        self.ids.get(&key).filter(|cached| cached.rest == rest).map(|cached| ReconcilerId::new(cached.id.into()))
    }

    fn insert(&mut self, subject: (&str, &str), id: ReconcilerId) {
        let (key, rest) = self.hash(subject);
        if let Ok(id) = u32::try_from(id.number())
            && self.ids.len() < IDS_MAX
        {
            self.ids.insert(key, Id { rest, id });
        }
    }

    fn hash(&self, subject: (&str, &str)) -> (u64, u32) {
        (self.hashes.0.hash_one(subject), self.hashes.1.hash_one(subject) as u32)
    }
}

async fn learn(database: &Database, cached: &Weak<Mutex<CachedIds>>) -> Result<(), DatabaseError> {
    let sql = format!(
        "with page as (select id, name from host where id > $1 order by id limit $2) select max(page.id), {} \
         from page left join reconciler r on r.host_id = page.id",
        // A query returns one text instead of thousands of rows, because each row would go through a channel.
        database.dialect().json_of(&["page.name", "r.name", "r.id"])
    );
    let mut last = HostId::new(0);
    loop {
        let page = database.first(&sql, vec![last.into(), PAGE.into()]).await?;
        let Some((Some(host), Some(text))): Option<(_, Option<String>)> = page else {
            return Ok(());
        };
        last = host;
        let Some(cached) = cached.upgrade().map(Ids) else { return Ok(()) };
        let named: Vec<(String, Option<String>, Option<ReconcilerId>)> =
            serde_json::from_str(&text).map_err(|error| DatabaseError::Refused(error.to_string()))?;
        let found = named.iter().filter_map(|(host, name, id)| Some(((host.as_str(), name.as_deref()?), (*id)?)));
        if !cached.remember(found) {
            return Ok(());
        }
        tokio::time::sleep(PAUSE).await;
    }
}
