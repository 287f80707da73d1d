//! Stores publications: the desired state that publishers send.

use std::collections::BTreeSet;

use hub_api::audit::Action;
use hub_api::publication::{Publication, PublicationError, PublicationQuery, PublicationReceipt, PublicationState};
use serde_json::json;

use crate::desired::{self, DesiredUpdate};
use crate::management::audit::{self, AuditRecord};
use crate::store::{Database, DatabaseError};
use crate::writer::{SubmitError, Writer};

/// The reason why a publication is not stored.
#[derive(Debug, thiserror::Error)]
pub enum PublicationNotStored {
    /// The publication is not valid.
    #[error(transparent)]
    Invalid(PublicationError),
    /// It can't be stored now.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// The audit log can't be written.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// Stores publications of this process.
#[derive(Clone, Debug)]
pub struct PublicationSink {
    pub(crate) database: Database,
    pub(crate) ingest: Writer,
}

impl PublicationSink {
    /// How far an output is published.
    ///
    /// # Errors
    /// If the database can't be read.
    pub async fn state(&self, query: &PublicationQuery) -> Result<PublicationState, DatabaseError> {
        Ok(PublicationState { commit: desired::published_up_to(&self.database, query).await? })
    }

    /// Stores a publication, and notes it in the audit log. `actor` is the publisher.
    ///
    /// # Errors
    /// If the publication is not valid, or can't be stored now.
    pub async fn publish(
        &self,
        publication: Publication,
        actor: &str,
    ) -> Result<PublicationReceipt, PublicationNotStored> {
        let subject = format!("{} {}", publication.repository, publication.branch);
        let environments: BTreeSet<_> =
            publication.places.iter().filter_map(|place| place.environment.clone()).collect();
        let commit = publication.commit.clone();
        let updates = DesiredUpdate::of_publication(publication);
        updates.iter().try_for_each(DesiredUpdate::check).map_err(PublicationNotStored::Invalid)?;
        let mut published = PublicationReceipt::default();
        for update in updates {
            let PublicationReceipt { changed, removed, unchanged } = self.ingest.update_desired(update).await?;
            published.changed += changed;
            published.removed += removed;
            published.unchanged += unchanged;
        }
        let PublicationReceipt { changed, removed, .. } = published;
        // A publication that changes nothing is not noted: its content was noted when it was new.
        if commit.is_none() || changed > 0 || removed > 0 {
            let action = if commit.is_some() { Action::Publish } else { Action::Plan };
            let detail =
                json!({"commit": commit, "environments": environments, "changed": changed, "removed": removed});
            let record = AuditRecord { actor, action, subject: &subject, detail: Some(detail) };
            audit::note_done(&self.database, record).await?;
        }
        Ok(published)
    }
}
