//! The change feed. Each stream reads its changes from the database when there are new ones.
//!
//! No changes are queued per stream: a slow client costs nothing, and storing a report costs nothing for the streams. While streams are open, one task
//! polls the position up to which all changes are settled, and wakes the streams. The pages that were read last are shared with streams that have the
//! same position, filter and reach: usually, all streams are at the same position.

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
use crate::questions::{self, EarlierNames, FeedPosition, FleetChanges, Question, QuestionError};
use crate::store::Database;

/// The state that all streams share. Clones share the same state.
#[derive(Clone, Debug)]
pub struct Feed(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    database: Database,
    settled: watch::Sender<FeedPosition>,
    followed: Notify,
    streams: Arc<Semaphore>,
    readers: Semaphore,
    recent: Mutex<VecDeque<Page>>,
}

/// A page of changes that was read recently.
#[derive(Debug)]
struct Page {
    filter: Filter,
    reach: Reach,
    /// The position after which the page begins.
    after: FeedPosition,
    changes: Arc<FleetChanges>,
}

/// A stream cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// The maximum number of streams is open.
    #[error("{EVENT_STREAMS_MAX} streams of events are open already")]
    Full,
    /// Transactions take so long that the position at which the stream begins cannot be determined.
    #[error("the start of the stream can't be determined: another transaction takes too long")]
    Slow,
    /// The position belongs to another database, or to this database before it was restored.
    #[error("`after`: is not the `id` of an event of this hub")]
    Ahead,
    /// The filter is not valid, or the database cannot answer.
    #[error(transparent)]
    Question(#[from] QuestionError),
}

impl Feed {
    /// A feed without streams.
    pub fn new(database: Database) -> Self {
        let (settled, _) = watch::channel(FeedPosition::default());
        let streams = Arc::new(Semaphore::new(EVENT_STREAMS_MAX));
        let readers = Semaphore::new(EVENT_READERS_MAX);
        let recent = Mutex::default();
        Self(Arc::new(Inner { database, settled, followed: Notify::new(), streams, readers, recent }))
    }

    /// Polls the settled position and wakes the streams, until the task is aborted. While no stream is open, it does not poll.
    pub async fn run(self) {
        let Inner { database, settled, followed, .. } = &*self.0;
        loop {
            if settled.receiver_count() == 0 {
                followed.notified().await;
            }
            match questions::settled(database).await {
                Ok(position) => drop(settled.send_if_modified(|known| std::mem::replace(known, position) != position)),
                Err(error) => tracing::warn!(%error, "event streams get no changes at the moment"),
            }
            sleep(EVENTS_PERIOD).await;
        }
    }

    /// Opens a stream of the changes that match a filter: new changes, or the changes after a position.
    ///
    /// # Errors
    /// Too many streams are open, the filter or the position is not valid, or the database cannot answer.
    pub async fn follow(
        &self,
        (filter, reach): (Filter, Reach),
        after: Option<FeedPosition>,
    ) -> Result<Follower, FollowError> {
        let permit = Arc::clone(&self.0.streams).try_acquire_owned().map_err(|_| FollowError::Full)?;
        let settled = questions::settled(&self.0.database);
        let settled = timeout(EVENTS_BEGIN_TIMEOUT, settled).await.map_err(|_| FollowError::Slow)?;
        let settled = settled.map_err(QuestionError::from)?;
        let position = after.unwrap_or(settled);
        if !settled.has_reached(&position) {
            return Err(FollowError::Ahead);
        }
        // This reads no changes. It only checks the filter.
        questions::changes(
            &self.0.database,
            Question { filter: &filter, reach: &reach, earlier: EarlierNames::NONE },
            position,
            position,
        )
        .await?;
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

/// An open stream of changes.
#[derive(Debug)]
pub struct Follower {
    inner: Arc<Inner>,
    filter: Filter,
    reach: Reach,
    /// The position up to which the stream has read.
    position: FeedPosition,
    horizon: watch::Receiver<FeedPosition>,
    waiting: Waiting,
    /// The time of the last event; none before the first one.
    spoke: Option<Instant>,
    /// The position that was sent last.
    sent_position: Option<FeedPosition>,
    _permit: OwnedSemaphorePermit,
}

/// Changes that were read, and the number of them that were sent.
#[derive(Debug, Default)]
struct Waiting {
    changes: Arc<FleetChanges>,
    said: usize,
}

impl Waiting {
    fn next(&mut self) -> Option<(FeedPosition, FleetChange)> {
        let next = self.changes.items.get(self.said).cloned();
        self.said += 1;
        if next.is_none() {
            // The page is released while the stream waits for new changes.
            *self = Self::default();
        }
        next
    }
}

/// An event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowEvent {
    /// A change. A stream that continues after the position misses no change.
    FleetChange(FeedPosition, Box<FleetChange>),
    /// No matching change up to that position. This is also the first event of each stream.
    Nothing(FeedPosition),
    /// No change since the last event: a keep-alive.
    Alive,
}

impl Follower {
    /// Waits for the next event, for at most [`EVENTS_KEEP_ALIVE`]. The future may be dropped at any time.
    ///
    /// # Errors
    /// The filter is no longer valid, because a name in it does not exist any more. If the database cannot be reached, the stream waits and tries
    /// again.
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
                // The channel is never closed, because `self.inner` holds the sender.
                changed = self.horizon.changed(), if is_quiet => drop(changed),
                () = sleep_until(quiet_until) => {}
                // After a keep-alive, the stream requests a new permit. A stream must not hold a permit while its client does not receive.
                permit = self.inner.readers.acquire(), if !is_quiet => {
                    let question = Question { filter: &self.filter, reach: &self.reach, earlier: EarlierNames::NONE };
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
                self.sent_position = Some(position);
            }
            FollowEvent::Alive => {}
        }
        Ok(said)
    }
}

/// The next changes; none if the database cannot answer now.
async fn read(
    inner: &Inner,
    question: Question<'_>,
    after: FeedPosition,
    until: FeedPosition,
) -> Result<Option<Arc<FleetChanges>>, QuestionError> {
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

/// The first of these changes whose size is within the memory limit, at least one.
fn bounded(mut changes: FleetChanges) -> FleetChanges {
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
            let items = (0..100).map(|_| (FeedPosition::default(), change(length))).collect();
            bounded(FleetChanges { items, end: FeedPosition::default() }).items.len()
        };
        assert_eq!([check(10), check(16 * 1024), check(EVENTS_BYTES_MAX + 1)], [100, 16, 1]);
    }
}
