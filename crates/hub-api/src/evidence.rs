//! What the controller of promotions needs of a hub: the state of places, and a history for its decisions.
//!
//! The hub of the same process implements both, and the client of a hub in another process. Both block.

use std::time::Duration;

use crate::client::{Client, ClientError};
use crate::filter::Filter;
use crate::limits::{PLACES_PAGE_MAX, PROMOTION_EVENTS_MAX};
use crate::places::{PlacePage, PlaceState};
use crate::promotions::PromotionEvent;

/// A source of the state of places.
pub trait PlaceEvidence: Send + Sync {
    /// The state of all places of an environment: with a workload, of the folders of its assignments; otherwise of all folders.
    ///
    /// # Errors
    /// If the hub can't be reached, does not know the environment or the workload, or refuses the query.
    fn place_states(&self, environment: &str, workload: Option<&str>) -> Result<Vec<PlaceState>, ClientError>;
}

/// A destination of the events of promotions.
pub trait PromotionEvents: Send + Sync {
    /// Appends events to the history. Events that are stored already are left out, so that the caller can repeat a request.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the events. Events of earlier requests of the same call may be stored.
    fn record(&self, events: &[PromotionEvent]) -> Result<(), ClientError>;
}

impl Client {
    /// The state of all places of an environment, as [`PlaceEvidence::place_states`], page by page.
    ///
    /// # Errors
    /// If the hub can't be reached, does not know the environment or the workload, or refuses the query.
    pub async fn all_place_states(
        &self,
        environment: &str,
        workload: Option<&str>,
    ) -> Result<Vec<PlaceState>, ClientError> {
        let (environment, workload) = (Some(environment.to_owned()), workload.map(str::to_owned));
        let filter = Filter { environment, workload, ..Filter::default() };
        let (mut states, mut page) = (Vec::new(), PlacePage { cursor: None, limit: Some(PLACES_PAGE_MAX) });
        loop {
            let answer = self.place_states(&filter, &page).await?;
            states.extend(answer.items);
            page.cursor = answer.next;
            if page.cursor.is_none() {
                return Ok(states);
            }
        }
    }

    /// Appends any number of events to the history of promotions, as [`PromotionEvents::record`]. Requests are repeated for at most `retry_time`.
    ///
    /// # Errors
    /// If the hub can't be reached in that time, or refuses the events.
    pub async fn record_all(&self, events: &[PromotionEvent], retry_time: Duration) -> Result<(), ClientError> {
        for events in events.chunks(PROMOTION_EVENTS_MAX) {
            self.record_promotion_events(events, retry_time).await?;
        }
        Ok(())
    }
}
