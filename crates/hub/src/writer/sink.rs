//! Lets code in the same process submit reports to the writer.

use hub_api::report::Report;
use hub_api::sink::{BoxFuture, ReportSink, SinkError};

use super::{SubmitError, Writer};

impl ReportSink for Writer {
    fn submit(&self, reports: Vec<Report>) -> BoxFuture<'_, Result<(), SinkError>> {
        Box::pin(async move { Ok(Self::submit(self, reports).await.map(drop)?) })
    }
}

impl From<SubmitError> for SinkError {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::Busy { retry_after } => Self::Busy { retry_after },
            SubmitError::Database(error) => Self::Failed(error.to_string()),
            SubmitError::Stopped => Self::Stopped,
        }
    }
}
