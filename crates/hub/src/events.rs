//! Those who follow changes: each reads for itself from the database, whenever there is something to read.
//!
//! Nothing is kept for anybody: who is slow costs nothing, and who reports pays nothing for those who follow. One task looks how far everything is settled,
//! as long as somebody follows, and wakes them. What one of them reads is there for those who want the same: mostly, all are at the same place.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use hub_api::events::FleetChange;
use hub_api::filter::Filter;
use hub_api::limits::EVENTS_KEEP_ALIVE;
use hub_api::tokens::Reach;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::limits::{
    EVENT_READERS_MAX, EVENT_STREAMS_MAX, EVENTS_BEGIN_TIMEOUT, EVENTS_BYTES_MAX, EVENTS_PERIOD, EVENTS_RETRY,
    EVENTS_SHARED,
};
use crate::questions::{self, Changes, Position, Question, QuestionError};
use crate::store::Database;

/// What all who follow changes share. Clones are the same one.
#[derive(Clone, Debug)]
pub struct Feed(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    database: Database,
    settled: watch::Sender<Position>,
    followed: Notify,
    streams: Arc<Semaphore>,
    readers: Semaphore,
    recent: Mutex<VecDeque<Page>>,
}

/// What somebody has just read.
#[derive(Debug)]
struct Page {
    filter: Filter,
    reach: Reach,
    /// Behind it.
    after: Position,
    changes: Arc<Changes>,
}

/// Nobody can follow now.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// So many follow already.
    #[error("{EVENT_STREAMS_MAX} streams of events are open already")]
    Full,
    /// Transactions take so long that it can't be said where the stream begins.
    #[error("the database does not say in time where the stream begins: something else is written for too long")]
    Slow,
    /// The position is of another database, or of this one before it was restored.
    #[error("`after`: is the `id` of an event that this hub has not had")]
    Ahead,
    /// What is asked about can't be meant, or the database can't answer.
    #[error(transparent)]
    Question(#[from] QuestionError),
}

impl Feed {
    /// Nobody follows yet.
    pub fn new(database: Database) -> Self {
        let (settled, _) = watch::channel(Position::default());
        let streams = Arc::new(Semaphore::new(EVENT_STREAMS_MAX));
        let readers = Semaphore::new(EVENT_READERS_MAX);
        let recent = Mutex::default();
        Self(Arc::new(Inner { database, settled, followed: Notify::new(), streams, readers, recent }))
    }

    /// Wakes those who follow when there is something to read, until it is aborted. It looks at nothing without subscribers.
    pub async fn run(self) {
        let Inner { database, settled, followed, .. } = &*self.0;
        loop {
            if settled.receiver_count() == 0 {
                followed.notified().await;
            }
            match questions::settled(database).await {
                Ok(position) => drop(settled.send_if_modified(|known| std::mem::replace(known, position) != position)),
                Err(error) => tracing::warn!(%error, "those who follow changes get none at the moment"),
            }
            sleep(EVENTS_PERIOD).await;
        }
    }

    /// Follows what is selected: from now on, or from a position on.
    ///
    /// # Errors
    /// Too many follow, the filter or the position can't be meant, or the database can't answer.
    pub async fn follow(
        &self,
        (filter, reach): (Filter, Reach),
        after: Option<Position>,
    ) -> Result<Follower, FollowError> {
        let permit = Arc::clone(&self.0.streams).try_acquire_owned().map_err(|_| FollowError::Full)?;
        let settled = questions::settled(&self.0.database);
        let settled = timeout(EVENTS_BEGIN_TIMEOUT, settled).await.map_err(|_| FollowError::Slow)?;
        let settled = settled.map_err(QuestionError::from)?;
        let position = after.unwrap_or(settled);
        if !settled.has_reached(&position) {
            return Err(FollowError::Ahead);
        }
        // Nothing is read yet, but a filter that can't be meant is refused.
        questions::changes(&self.0.database, Question { filter: &filter, reach: &reach }, position, position).await?;
        let horizon = self.0.settled.subscribe();
        self.0.followed.notify_one();
        let inner = Arc::clone(&self.0);
        let waiting = Waiting::default();
        Ok(Follower {
            inner,
            filter,
            reach,
            position,
            horizon,
            waiting,
            spoke: None,
            sent_position: None,
            _permit: permit,
        })
    }
}

/// Somebody who follows changes.
#[derive(Debug)]
pub struct Follower {
    inner: Arc<Inner>,
    filter: Filter,
    reach: Reach,
    /// Up to there it has read.
    position: Position,
    horizon: watch::Receiver<Position>,
    waiting: Waiting,
    /// When something was last said; none before the beginning.
    spoke: Option<Instant>,
    /// The position that was sent last.
    sent_position: Option<Position>,
    _permit: OwnedSemaphorePermit,
}

/// Changes that were read, of which some were said.
#[derive(Debug, Default)]
struct Waiting {
    changes: Arc<Changes>,
    said: usize,
}

impl Waiting {
    fn next(&mut self) -> Option<(Position, FleetChange)> {
        let next = self.changes.items.get(self.said).cloned();
        self.said += 1;
        if next.is_none() {
            // Who waits for more keeps nothing.
            *self = Self::default();
        }
        next
    }
}

/// What there is to say to somebody who follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowEvent {
    /// Something changed. Who goes on behind the position misses nothing.
    FleetChange(Position, Box<FleetChange>),
    /// Nothing of what is selected changed up to that position. This is also the first that is said.
    Nothing(Position),
    /// It is still there.
    Alive,
}

impl Follower {
    /// Waits for the next thing to say; at most for [`EVENTS_KEEP_ALIVE`]. It may be aborted at any time.
    ///
    /// # Errors
    /// What is asked about is no more. A database that is away is waited for.
    pub async fn next(&mut self) -> Result<FollowEvent, QuestionError> {
        let said = loop {
            if let Some((position, change)) = self.waiting.next() {
                break FollowEvent::FleetChange(position, Box::new(change));
            }
            let Some(spoke) = self.spoke else { break FollowEvent::Nothing(self.position) };
            let quiet_until = spoke + EVENTS_KEEP_ALIVE;
            let horizon = *self.horizon.borrow_and_update();
            let is_quiet = self.position.has_reached(&horizon);
            if Instant::now() >= quiet_until {
                break if self.sent_position == Some(self.position) {
                    FollowEvent::Alive
                } else {
                    FollowEvent::Nothing(self.position)
                };
            }
            tokio::select! {
                // It is never closed: the sender is in the same hands.
                changed = self.horizon.changed(), if is_quiet => drop(changed),
                () = sleep_until(quiet_until) => {}
                // Whoever says meanwhile that it is still there waits anew: nobody may keep a place while the other side does not take what is said.
                permit = self.inner.readers.acquire(), if !is_quiet => {
                    let question = Question { filter: &self.filter, reach: &self.reach };
                    let read = read(&self.inner, question, self.position, horizon).await;
                    drop(permit);
                    match read? {
                        Some(changes) => {
                            self.position = changes.end;
                            self.waiting = Waiting { changes, said: 0 };
                        }
                        None => sleep(EVENTS_RETRY).await,
                    }
                }
            }
        };
        self.spoke = Some(Instant::now());
        match said {
            FollowEvent::FleetChange(position, _) | FollowEvent::Nothing(position) => {
                self.sent_position = Some(position)
            }
            FollowEvent::Alive => {}
        }
        Ok(said)
    }
}

/// The next changes; none if the database can't answer now.
async fn read(
    inner: &Inner,
    question: Question<'_>,
    after: Position,
    until: Position,
) -> Result<Option<Arc<Changes>>, QuestionError> {
    let recent = || inner.recent.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(page) = recent()
        .iter()
        .find(|page| page.after == after && page.filter == *question.filter && page.reach == *question.reach)
    {
        return Ok(Some(Arc::clone(&page.changes)));
    }
    match questions::changes(&inner.database, question, after, until).await {
        Ok(changes) => {
            let changes = Arc::new(bounded(changes));
            let mut recent = recent();
            let (filter, reach) = (question.filter.clone(), question.reach.clone());
            recent.push_front(Page { filter, reach, after, changes: Arc::clone(&changes) });
            recent.truncate(EVENTS_SHARED);
            Ok(Some(changes))
        }
        Err(QuestionError::Database(error)) if error.is_passing() => {
            tracing::warn!(%error, "changes can't be sent to a client now");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// As many of them as may wait in memory, at least one.
fn bounded(mut changes: Changes) -> Changes {
    let mut bytes = 0;
    let kept = changes.items.iter().take_while(|(_, change)| {
        let is_kept = bytes <= EVENTS_BYTES_MAX;
        bytes += change.bytes();
        is_kept
    });
    let kept = kept.count();
    if kept < changes.items.len() {
        changes.items.truncate(kept);
        changes.end = changes.items.last().map_or(changes.end, |(position, _)| *position);
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use hub_api::events::ReportChange;

    #[test]
    fn long_messages_are_read_a_few_at_a_time() {
        let change = |length: usize| {
            let mut report = ReportChange::default();
            report.reported.message = Some("x".repeat(length));
            FleetChange::Report(report)
        };
        let check = |length: usize| {
            let items = (0..100).map(|_| (Position::default(), change(length))).collect();
            bounded(Changes { items, end: Position::default() }).items.len()
        };
        assert_eq!([check(10), check(16 * 1024), check(EVENTS_BYTES_MAX + 1)], [100, 16, 1]);
    }
}
