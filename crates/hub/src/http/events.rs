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
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::caller::authorization;
use super::problem::{Kind, ProblemResponse};
use super::question_request::QuestionRequest;
use crate::authority::Refusal;
use crate::events::{FollowError, FollowEvent, Follower};
use crate::limits::{EVENTS_RETRY, TOKEN_CACHE};
use crate::questions::Position;
use crate::tokens::prune;

/// A browser that reconnects says in this header how far it was.
const LAST_EVENT_ID: &str = "last-event-id";

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(events))
}

/// From where on changes are followed.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct After {
    /// The `id` of the last event that came: what happened since comes first. If nothing is said, changes come from now on. The header `Last-Event-ID` says the same, and counts more.
    after: Option<String>,
}

/// Follow what changes
///
/// Server-sent events, for as long as the connection lasts: `desired` (a place is to hold something else), `report` (a host reported something else than
/// before), `silent` (a reconciler promised to report, and did not) and `resumed` (it did again). Each has an `id`; whoever connects again with the last one misses
/// nothing and gets nothing twice. An event without data says how far everything is: the first one comes at once. Of what happened at the same time, events
/// of one kind come in the order in which the hub heard of it. Of statuses, `succeeded`, `failed`, `inProgress` and `silent` can be selected; then nothing
/// that became desired is told.
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
        let problem = ProblemResponse::new(Kind::Malformed, "there is no parameter `cursor` or `limit` here");
        return Err(problem.hint("a stream has no pages; `after` says where it begins"));
    }
    let last = request.headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok()).filter(|id| !id.is_empty());
    let after = last.or(request.more.after.as_deref()).map(str::parse::<Position>).transpose()?;
    let headers = request.headers.clone();
    let (filter, reach) = request.into_parts();
    let follower = app.feed.follow((filter, reach.clone()), after).await?;
    let conversation = Conversation { follower, app, headers, reach, checked: Instant::now() };
    let events = stream::unfold(conversation, async |mut conversation: Conversation| {
        let said = conversation.next().await?;
        Some((Ok::<_, Infallible>(event(said, &conversation.reach)), conversation))
    });
    let mut response = Sse::new(events).into_response();
    // nginx would keep events until it has some kilobytes of them.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

struct Conversation {
    follower: Follower,
    app: App,
    headers: HeaderMap,
    /// What who follows may ask about.
    reach: Reach,
    /// When it was last looked whether who follows may ask.
    checked: Instant,
}

impl Conversation {
    /// The next thing to say; none when it is over: the hub is being stopped, or who follows may not ask any more.
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

    /// Whether who follows may still ask. As long as nobody can say, it is waited.
    async fn may_read(&mut self) -> bool {
        while self.checked.elapsed() >= TOKEN_CACHE {
            let Ok(authorization) = authorization(&self.headers) else { return false };
            match self.app.authority.identify(authorization).await {
                Ok(identity) if identity.may_read() => self.checked = Instant::now(),
                Err(Refusal::Unavailable(_)) => tokio::time::sleep(EVENTS_RETRY).await,
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
            // Of what is not shown, the position is said: where to go on.
            if !reach.is_all() && !prune(reach, &mut data) {
                return event;
            }
            // JSON has no line breaks of its own.
            event.event(change.kind()).data(data.to_string())
        }
        // Without data nothing is told to who reads, but where to go on is remembered.
        FollowEvent::Nothing(position) => Event::default().id(position.to_string()).retry(EVENTS_RETRY),
        FollowEvent::Alive => Event::default().comment(""),
    }
}

impl From<FollowError> for ProblemResponse {
    fn from(error: FollowError) -> Self {
        let text = error.to_string();
        match error {
            FollowError::Full => Self::new(Kind::Busy, text)
                .hint("close others, or let one program follow and tell the others")
                .retry_after(EVENTS_RETRY),
            FollowError::Slow => Self::new(Kind::Unavailable, text).hint("try again later").retry_after(EVENTS_RETRY),
            FollowError::Ahead => Self::new(Kind::Malformed, text)
                .hint("was the database restored? Ask how things are, and begin without an id"),
            FollowError::Question(error) => error.into(),
        }
    }
}
