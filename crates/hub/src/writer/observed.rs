//! A sink for desired state that is observed in branches. The hub's own writer stores it.

use hub_api::publication::{BranchContent, BranchRead, ReadProgress, Role};
use hub_api::sink::{BoxFuture, BranchName, DesiredStateSink, PathPage, SinkError};

use crate::desired::{self, DesiredUpdate};
use crate::store::{Database, DatabaseError};
use crate::writer::Writer;

/// The sink for observed desired state in this process.
#[derive(Clone, Debug)]
pub struct ObservedBranches {
    database: Database,
    ingest: Writer,
}

impl ObservedBranches {
    /// A sink that reads from a database, and writes with the writer of this database.
    pub fn new(database: Database, ingest: Writer) -> Self {
        Self { database, ingest }
    }
}

impl DesiredStateSink for ObservedBranches {
    fn read_up_to<'a>(&'a self, branch: BranchName<'a>) -> BoxFuture<'a, Result<Option<BranchRead>, SinkError>> {
        let BranchName { repository, branch } = branch;
        Box::pin(async move { desired::read_up_to(&self.database, repository, branch).await.map_err(failure) })
    }

    fn desired_paths<'a>(
        &'a self,
        branch: BranchName<'a>,
        role: Role,
        page: PathPage<'a>,
    ) -> BoxFuture<'a, Result<Vec<String>, SinkError>> {
        Box::pin(async move { desired::desired_paths(&self.database, branch, role, page).await.map_err(failure) })
    }

    fn record(&self, content: BranchContent, progress: ReadProgress) -> BoxFuture<'_, Result<(), SinkError>> {
        let update = DesiredUpdate::Observed(content, progress);
        Box::pin(async move { Ok(self.ingest.update_desired(update).await.map(drop)?) })
    }
}

fn failure(error: DatabaseError) -> SinkError {
    SinkError::Failed(error.to_string())
}
