//! Promotions: their state, decisions of people, and their history.

use std::time::Duration;

use reqwest::Method;

use super::{Client, ClientError, Transport, parameters};
use crate::promotions::{
    PromotionCommand, PromotionEvent, PromotionEventFilter, PromotionEventPage, PromotionEventReceipt,
    PromotionReceipt, PromotionStatus,
};

impl<T: Transport> Client<T> {
    /// The promotions of all environments, by the order of the graph. Empty if the process is only a hub.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the query.
    pub async fn promotions(&self) -> Result<Vec<PromotionStatus>, ClientError> {
        self.get(&["promotions"], &[]).await
    }

    /// The promotions into one environment.
    ///
    /// # Errors
    /// If there is no such environment, the hub can't be reached, or refuses the query.
    pub async fn promotion(&self, environment: &str) -> Result<PromotionStatus, ClientError> {
        self.get(&["promotions", environment], &[]).await
    }

    /// A page of the history of promotions, newest first.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the query.
    pub async fn promotion_events(&self, filter: &PromotionEventFilter) -> Result<PromotionEventPage, ClientError> {
        self.get(&["promotion-events"], &parameters(filter)).await
    }
}

impl Client {
    /// Sends a decision of a person. The request is sent only once.
    ///
    /// # Errors
    /// If the decision is not possible, the hub can't be reached, or refuses the request.
    pub async fn command_promotion(
        &self,
        environment: &str,
        command: &PromotionCommand,
    ) -> Result<PromotionReceipt, ClientError> {
        let path = ["promotions", environment, "commands"];
        self.transport.read(self.request(Method::POST, &path, command).await?).await
    }

    /// Appends events to the history of promotions, at most [`PROMOTION_EVENTS_MAX`](crate::limits::PROMOTION_EVENTS_MAX) at a time. The request is repeated as
    /// in [`Self::report`]. Events that are stored already are left out.
    ///
    /// # Errors
    /// If the hub can't be reached in that time, or refuses the events. Then none of them is stored.
    pub async fn record_promotion_events(
        &self,
        events: &[PromotionEvent],
        retry_time: Duration,
    ) -> Result<PromotionEventReceipt, ClientError> {
        let body = self.transport.json(events)?;
        self.transport.read(self.transport.post("promotion-events", body, retry_time).await?).await
    }
}
