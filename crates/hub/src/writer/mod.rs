//! The single writer: it stores all waiting submissions in one transaction, so that they share the cost of a commit.

pub mod import;
pub mod observed;
pub mod publications;
mod sink;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hub_api::publication::{BranchContent, PublicationReceipt};
use hub_api::report::Report;
use hub_api::timestamp::Timestamp;
use tokio::sync::{mpsc, oneshot};

use crate::authentication::tokens::Identity;
use crate::desired::{self, DesiredUpdate};
use crate::ingest::ReportOutcome;
use crate::ingest::batch::{self, Memory};
use crate::ingest::places::Contents;
use crate::ingest::speaker::Speaker;
use crate::ingest::submitted::Submitted;
use crate::limits::{QUEUE_REPORTS_MAX, TRANSACTION_REPORTS_MAX};
use crate::store::{Database, DatabaseError, Turn};

/// The most attempts for a transaction that fails because of a conflict with another transaction.
const ATTEMPTS: usize = 5;

/// The time that a client should wait after its submission was rejected.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The outcomes of the reports of one submission, in the order of the submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmissionReceipt {
    /// One outcome per report.
    pub outcomes: Vec<ReportOutcome>,
}

/// Why a submission was not stored. None of its reports is stored then.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SubmitError {
    /// Too many reports wait already.
    #[error("too many reports wait to be stored; try again in {} s", .retry_after.as_secs())]
    Busy {
        /// The time to wait before the next attempt.
        retry_after: Duration,
    },
    /// The database could not store the reports.
    #[error(transparent)]
    Database(Arc<DatabaseError>),
    /// The hub is shutting down.
    #[error("the hub is being stopped")]
    Stopped,
}

/// The queue of the writer. Clones write to the same queue.
#[derive(Clone, Debug)]
pub struct Writer {
    jobs: mpsc::UnboundedSender<Job>,
    waiting: Arc<AtomicUsize>,
}

enum Job {
    Reports(Vec<Submitted>, oneshot::Sender<Result<SubmissionReceipt, SubmitError>>),
    DesiredUpdate(Box<DesiredUpdate>, oneshot::Sender<Result<PublicationReceipt, SubmitError>>),
}

impl Writer {
    /// Starts the writer on the current tokio runtime. The writer ends when the last clone is dropped and all waiting submissions are stored.
    pub fn start(database: Database) -> (Self, tokio::task::JoinHandle<()>) {
        let (jobs, queue) = mpsc::unbounded_channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let memory = Memory::default();
        memory.ids.learn(database.clone());
        let writer = WriterTask { database, queue, waiting: Arc::clone(&waiting), memory };
        (Self { jobs, waiting }, tokio::spawn(writer.run()))
    }

    /// Stores reports. After `Ok`, the reports are durable. After an error, none of them is stored.
    ///
    /// # Errors
    /// Too many reports wait already, the database cannot store the reports, or the hub is shutting down.
    pub async fn submit(&self, reports: Vec<Report>) -> Result<SubmissionReceipt, SubmitError> {
        self.submit_of(None, reports).await
    }

    /// Stores reports of a caller. Those about places that its hosts are not registered for are kept apart.
    ///
    /// # Errors
    /// As for [`Writer::submit`].
    pub async fn submit_from(&self, caller: &Identity, reports: Vec<Report>) -> Result<SubmissionReceipt, SubmitError> {
        self.submit_of(caller.speaker(), reports).await
    }

    async fn submit_of(
        &self,
        speaker: Option<Arc<Speaker>>,
        reports: Vec<Report>,
    ) -> Result<SubmissionReceipt, SubmitError> {
        let count = reports.len();
        let claim = |waiting: usize| Some(waiting + count).filter(|total| *total <= QUEUE_REPORTS_MAX.max(count));
        if self.waiting.fetch_update(Ordering::AcqRel, Ordering::Acquire, claim).is_err() {
            return Err(SubmitError::Busy { retry_after: RETRY_AFTER });
        }
        let (answer, answered) = oneshot::channel();
        let reports = reports.into_iter().map(|report| Submitted::new(report, speaker.clone())).collect();
        let sent = self.jobs.send(Job::Reports(reports, answer));
        if sent.is_err() {
            self.waiting.fetch_sub(count, Ordering::AcqRel);
            return Err(SubmitError::Stopped);
        }
        answered.await.unwrap_or(Err(SubmitError::Stopped))
    }

    /// Stores a publication: the content that is desired from now on.
    ///
    /// # Errors
    /// The database cannot store it, or the hub is shutting down.
    pub async fn publish(&self, publication: BranchContent) -> Result<PublicationReceipt, SubmitError> {
        self.update_desired(DesiredUpdate::Published(publication)).await
    }

    /// Stores an update of what is desired.
    ///
    /// # Errors
    /// The database cannot store it, or the hub is shutting down.
    pub async fn update_desired(&self, update: DesiredUpdate) -> Result<PublicationReceipt, SubmitError> {
        let (answer, answered) = oneshot::channel();
        self.jobs.send(Job::DesiredUpdate(Box::new(update), answer)).map_err(|_| SubmitError::Stopped)?;
        answered.await.unwrap_or(Err(SubmitError::Stopped))
    }

    /// The number of reports that wait to be stored.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Acquire)
    }
}

struct WriterTask {
    database: Database,
    queue: mpsc::UnboundedReceiver<Job>,
    waiting: Arc<AtomicUsize>,
    memory: Memory,
}

type Submission = (Vec<Submitted>, oneshot::Sender<Result<SubmissionReceipt, SubmitError>>);

impl WriterTask {
    async fn run(mut self) {
        while let Some(job) = self.queue.recv().await {
            let mut submissions = Vec::new();
            let mut next = Some(job);
            let mut count = 0;
            while let Some(job) = next.take() {
                match job {
                    Job::Reports(reports, answer) => {
                        count += reports.len();
                        submissions.push((reports, answer));
                    }
                    Job::DesiredUpdate(update, answer) => {
                        self.store(std::mem::take(&mut submissions)).await;
                        let published = self.update_desired(&update).await;
                        let _ = answer.send(published.map_err(|error| SubmitError::Database(Arc::new(error))));
                    }
                }
                if count < TRANSACTION_REPORTS_MAX {
                    next = self.queue.try_recv().ok();
                }
            }
            self.store(submissions).await;
        }
    }

    /// Stores all submissions in one transaction. If the database refuses the data, stores each submission in its own transaction, so that only the
    /// invalid one fails.
    async fn store(&mut self, submissions: Vec<Submission>) {
        if submissions.is_empty() {
            return;
        }
        let reports: Vec<&Submitted> = submissions.iter().flat_map(|(reports, _)| reports).collect();
        match self.attempt(&reports).await {
            Err(error) if !error.is_passing() && submissions.len() > 1 => {
                for (reports, answer) in submissions {
                    let stored = self.attempt(&reports.iter().collect::<Vec<_>>()).await;
                    self.answer(vec![(reports, answer)], stored);
                }
            }
            stored => self.answer(submissions, stored),
        }
    }

    /// Sends the outcomes to the clients that wait for them. The reports stay stored even if a client has disconnected.
    fn answer(&self, submissions: Vec<Submission>, stored: Result<Vec<ReportOutcome>, DatabaseError>) {
        let mut stored = stored.map(Vec::into_iter).map_err(Arc::new);
        for (reports, answer) in submissions {
            self.waiting.fetch_sub(reports.len(), Ordering::AcqRel);
            let _ = answer.send(match &mut stored {
                Ok(outcomes) => Ok(SubmissionReceipt { outcomes: outcomes.by_ref().take(reports.len()).collect() }),
                Err(error) => Err(SubmitError::Database(Arc::clone(error))),
            });
        }
    }

    async fn attempt(&mut self, reports: &[&Submitted]) -> Result<Vec<ReportOutcome>, DatabaseError> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            match self.store_once(reports).await {
                Err(DatabaseError::Conflict(_)) if attempt < ATTEMPTS => {}
                Err(DatabaseError::Unreachable(why)) => {
                    // During a repair, the database may be replaced by another one.
                    self.memory.ids.forget();
                    self.memory.contents = Contents::default();
                    return Err(DatabaseError::Unreachable(why));
                }
                result => return result,
            }
        }
    }

    async fn store_once(&mut self, reports: &[&Submitted]) -> Result<Vec<ReportOutcome>, DatabaseError> {
        let mut transaction = self.database.begin().await?;
        transaction.take(Turn::Reports).await?;
        self.memory.contents.renew(&mut transaction).await?;
        let outcomes = batch::store(&mut transaction, &mut self.memory, reports, Timestamp::now()).await?;
        transaction.commit().await?;
        Ok(outcomes)
    }

    async fn update_desired(&mut self, update: &DesiredUpdate) -> Result<PublicationReceipt, DatabaseError> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            match self.update_desired_once(update).await {
                Err(DatabaseError::Conflict(_)) if attempt < ATTEMPTS => {}
                result => return result,
            }
        }
    }

    async fn update_desired_once(&mut self, update: &DesiredUpdate) -> Result<PublicationReceipt, DatabaseError> {
        let mut transaction = self.database.begin().await?;
        transaction.take(Turn::Alone).await?;
        // Cached contents would be invalid if this transaction were rolled back. So it uses a cache of its own.
        let published = desired::update(&mut transaction, &mut Contents::default(), update).await?;
        transaction.commit().await?;
        Ok(published)
    }
}

#[cfg(test)]
mod tests;
