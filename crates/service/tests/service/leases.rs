//! Leases in memory, for several services in one process.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hub_api::leases::{LeaderState, Lease, LeaseAnswer, LeaseError, LeaseRound, Leases, ReceivedRequest};

/// How long a lease lasts in tests: longer than a busy machine stops a thread.
pub(crate) const DURATION: Duration = Duration::from_secs(2);

#[derive(Debug)]
struct Row {
    holder: &'static str,
    term: i64,
    until: Instant,
    state: Option<LeaderState>,
    number: i64,
}

#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: BTreeMap<String, Row>,
    requests: Vec<ReceivedRequest>,
    last_id: i64,
}

/// The leases as one replica uses them.
#[derive(Debug)]
pub(crate) struct MemoryLeases {
    holder: &'static str,
    table: Arc<Mutex<Table>>,
    is_cut_off: AtomicBool,
}

impl MemoryLeases {
    pub(crate) fn new(holder: &'static str, table: &Arc<Mutex<Table>>) -> Arc<Self> {
        Arc::new(Self { holder, table: Arc::clone(table), is_cut_off: AtomicBool::new(false) })
    }

    /// Lets every round of this replica fail, as if it were killed or cut off from the database.
    pub(crate) fn cut_off(&self) {
        self.is_cut_off.store(true, Ordering::Relaxed);
    }

    pub(crate) fn reconnect(&self) {
        self.is_cut_off.store(false, Ordering::Relaxed);
    }

    /// The number of stored requests.
    pub(crate) fn waiting(&self) -> usize {
        self.table.lock().unwrap().requests.len()
    }
}

impl Leases for MemoryLeases {
    fn duration(&self) -> Duration {
        DURATION
    }

    fn exchange(&self, round: LeaseRound) -> Result<LeaseAnswer, LeaseError> {
        if self.is_cut_off.load(Ordering::Relaxed) {
            return Err(LeaseError("the database can't be reached".to_owned()));
        }
        let mut table = self.table.lock().unwrap();
        let (now, table) = (Instant::now(), &mut *table);
        for name in &round.given_up {
            table
                .rows
                .get_mut(name)
                .filter(|row| row.holder == self.holder)
                .into_iter()
                .for_each(|row| row.until = now);
        }
        let new = || Row { holder: self.holder, term: 1, until: now, state: None, number: 0 };
        let mut answer = LeaseAnswer::default();
        for wanted in round.wanted {
            let row = table.rows.entry(wanted.environment.clone()).or_insert_with(new);
            if row.holder == self.holder || row.until <= now {
                row.term += i64::from(row.holder != self.holder);
                (row.holder, row.until) = (self.holder, now + DURATION);
            }
            let is_own = row.holder == self.holder;
            if is_own && wanted.state.is_some() {
                (row.state, row.number) = (wanted.state, row.number + 1);
            }
            answer.leases.push(Lease {
                environment: wanted.environment,
                is_own,
                holder: row.holder.to_owned(),
                term: row.term,
                rest: row.until.saturating_duration_since(now),
                number: row.number,
                state: row.state.clone().filter(|_| !is_own && row.number != wanted.known),
            });
        }
        table.requests.retain(|received| !round.handled.contains(&received.id));
        for request in round.requests {
            table.last_id += 1;
            table.requests.push(ReceivedRequest { id: table.last_id, request });
        }
        let is_own = |name: &str| table.rows.get(name).is_some_and(|row| row.holder == self.holder && row.until > now);
        let own = table.requests.iter().filter(|received| is_own(&received.request.environment));
        answer.requests = own.cloned().collect();
        Ok(answer)
    }
}
