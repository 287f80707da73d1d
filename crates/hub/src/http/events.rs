//! Changes as they happen, as server-sent events.

use std::convert::Infallible;

use axum::extract::State;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use http::{HeaderMap, HeaderValue, header};
use hub_api::events::FleetChange;
use hub_api::filter::Filter;
use hub_api::page::Page;
use hub_api::tokens::Reach;
use serde::Deserialize;
use tokio::time::Instant;
use utoipa::IntoParams;

use super::App;
use super::caller::credentials;
use super::operations::{Routes, operations};
use super::problem::{ProblemResponse, ProblemType};
use super::question_request::QuestionRequest;
use crate::authentication::authority::AccessRefusal;
use crate::authentication::tokens::prune;
use crate::limits::{EVENTS_RETRY, TOKEN_CACHE};
use crate::questions::FeedPosition;
use crate::questions::events::{FollowError, FollowEvent, Follower};

/// The header in which a browser that reconnects sends the `id` of the last event that it received.
const LAST_EVENT_ID: &str = "last-event-id";

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; events)
}

/// The position at which the stream begins.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct After {
    /// The `id` of the last event that was received: the stream begins with the event after it. Without it, the stream begins with the next
    /// change. The header `Last-Event-ID` has the same meaning and takes precedence.
    after: Option<String>,
}

/// Follow changes
///
/// Server-sent events, for as long as the connection lasts. The kinds are `desired` (the desired content of a place changed), `report` (a host
/// reported something different from before), `silent` (a reconciler promised to report, and did not) `resumed` (a silent reconciler reported
/// again) and `promotion` (a decision about a promotion). Each event has an `id`. A client that reconnects with the last `id` misses no event and receives none twice. An event without data has
/// only the current position as its `id`; the stream begins with such an event. Events of one kind that happened at the same time come in the order
/// in which the hub received them. The parameter `status` accepts `succeeded`, `failed`, `inProgress` and `silent`; with it, the stream has no
/// `desired` and no `promotion` events.
#[utoipa::path(
    get,
    path = "/api/v1/events",
    tag = "Questions",
    params(Filter, After, ("Last-Event-ID" = Option<String>, Header, description = "The `id` of the last event that came")),
    responses(
        (status = 200, description = "The events; `data` of each is a change", body = FleetChange, content_type = "text/event-stream"),
        ProblemResponse,
    ),
)]
async fn events(State(app): State<App>, request: QuestionRequest<After>) -> Result<Response, ProblemResponse> {
    if request.page != Page::default() {
        let problem = ProblemResponse::new(ProblemType::Malformed, "there is no parameter `cursor` or `limit` here");
        return Err(problem.hint("a stream has no pages; `after` sets where it starts"));
    }
    let last = request.headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok()).filter(|id| !id.is_empty());
    let after = last.or(request.more.after.as_deref()).map(str::parse::<FeedPosition>).transpose()?;
    let headers = request.headers.clone();
    let (filter, reach) = request.into_parts();
    let follower = app.feed.follow((filter, reach.clone()), after).await?;
    let conversation = Conversation { follower, app, headers, reach, checked: Instant::now() };
    let events = stream::unfold(conversation, async |mut conversation: Conversation| {
        let said = conversation.next().await?;
        Some((Ok::<_, Infallible>(event(said, &conversation.reach)), conversation))
    });
    let mut response = Sse::new(events).into_response();
    // Without this header, nginx buffers some kilobytes of events before it sends them.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

struct Conversation {
    follower: Follower,
    app: App,
    headers: HeaderMap,
    /// The reach of the caller's token: the stream has only changes within it.
    reach: Reach,
    /// When the permission of the caller was last checked.
    checked: Instant,
}

impl Conversation {
    /// The next event to send. `None` at the end of the stream: the hub is being stopped, or the caller has no longer the permission to read.
    async fn next(&mut self) -> Option<FollowEvent> {
        let app = self.app.clone();
        tokio::select! {
            said = self.say() => said,
            () = app.stopped() => None,
        }
    }

    async fn say(&mut self) -> Option<FollowEvent> {
        let said = self.follower.next().await;
        let said = said.inspect_err(|error| tracing::warn!(%error, "a stream of events ends")).ok()?;
        self.may_read().await.then_some(said)
    }

    /// Whether the caller still has the permission to read, with the same reach. While this can't be checked, the stream waits.
    async fn may_read(&mut self) -> bool {
        while self.checked.elapsed() >= TOKEN_CACHE {
            let Ok(credentials) = credentials(&self.headers) else { return false };
            match self.app.authority.check_again(&credentials).await {
                // The filter was checked against the reach at the beginning.
                Ok(identity) if identity.may_read() && *identity.scope.reach() == self.reach => {
                    self.checked = Instant::now();
                }
                Err(AccessRefusal::Unavailable(_)) => tokio::time::sleep(EVENTS_RETRY).await,
                Ok(_) | Err(_) => return false,
            }
        }
        true
    }
}

fn event(said: FollowEvent, reach: &Reach) -> Event {
    match said {
        FollowEvent::FleetChange(position, change) => {
            let event = Event::default().id(position.to_string());
            let mut data = serde_json::to_value(&change).unwrap_or_default();
            // For a change outside of the reach, only the position is sent, so that the client can continue behind it.
            if !reach.is_all() && !prune(reach, &mut data) {
                return event;
            }
            // JSON has no line breaks of its own.
            event.event(change.kind()).data(data.to_string())
        }
        // A browser raises no event without data, but it stores the `id` for the next connection.
        FollowEvent::Nothing(position) => Event::default().id(position.to_string()).retry(EVENTS_RETRY),
        FollowEvent::Alive => Event::default().comment(""),
    }
}

impl From<FollowError> for ProblemResponse {
    fn from(error: FollowError) -> Self {
        let text = error.to_string();
        match error {
            FollowError::Full => Self::new(ProblemType::Busy, text)
                .hint("close other streams, or let one program read the events and forward them")
                .retry_after(EVENTS_RETRY),
            FollowError::Slow => {
                Self::new(ProblemType::Unavailable, text).hint("try again later").retry_after(EVENTS_RETRY)
            }
            FollowError::Ahead => Self::new(ProblemType::Malformed, text)
                .hint("was the database restored? Query the current state, and start without an id"),
            FollowError::Question(error) => error.into(),
        }
    }
}
