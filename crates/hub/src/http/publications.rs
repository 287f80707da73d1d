//! Publications: publishers send the desired state.

use axum::Json;
use axum::extract::State;
use hub_api::limits::{ENVIRONMENTS_MAX, PUBLICATION_PLACES_MAX};
use hub_api::publication::{Publication, PublicationQuery, PublicationReceipt, PublicationState};

use super::App;
use super::caller::{self, Publisher};
use super::extract::Query;
use super::operations::{Routes, operations};
use super::problem::{ProblemResponse, ProblemType};
use super::submission::Submission;
use crate::authentication::tokens::{self, PublishingError};
use crate::writer::publications::{PublicationNotStored, PublicationSink};

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; publish, state)
}

/// Publish the desired content of places of a branch
///
/// With a `commit`, the content is desired from now on. Without a `commit`, the hub stores the content until a watched branch contains it: this is for
/// proposed changes, whose commit is not known yet. Send large publications in several requests.
///
/// With a `range`, the places are all platform folders in the folder `below`, after the path `after` and up to `until`, in the order of bytes. The hub
/// removes folders of this range that are not listed. `environments` is the order in which changes reach environments.
///
/// The last request about a commit names in `completes` the output of which all places are sent now. A publisher that ended before that asks with GET how
/// far the output is published, and sends the rest.
#[utoipa::path(
    post,
    path = "/api/v1/publications",
    tag = "Publications",
    request_body(content = serde_json::Value, content_type = "application/json", description = "`repository`, `branch`, perhaps `commit` with `committedOn`, `range`, `environments` and `completes`, and `places`: each with `path`, `tree`, `role`, perhaps `environment`, `clusterType`, `cluster`, `configVersion` and `targets`"),
    responses(
        (status = 200, description = "Stored: how many places changed, were removed, and stayed", body = PublicationReceipt),
        ProblemResponse,
    ),
)]
async fn publish(State(app): State<App>, submission: Submission) -> Result<Json<PublicationReceipt>, ProblemResponse> {
    submission.check_type(&["application/json"])?;
    caller::check_publisher(&submission.identity)?;
    let publication: Publication = serde_json::from_slice(&submission.body).map_err(|error| {
        ProblemResponse::new(ProblemType::Malformed, format!("the publication can't be read: {error}"))
    })?;
    if publication.places.len() > PUBLICATION_PLACES_MAX {
        let detail = format!("a request has at most {PUBLICATION_PLACES_MAX} places");
        return Err(ProblemResponse::new(ProblemType::TooLarge, detail).hint("send them in several requests"));
    }
    if publication.environments.len() > ENVIRONMENTS_MAX {
        return Err(ProblemResponse::new(
            ProblemType::Unprocessable,
            format!("there are at most {ENVIRONMENTS_MAX} environments"),
        ));
    }
    tokens::check_publication(submission.identity.scope.reach(), &app.database, &publication).await?;
    let sink = PublicationSink { database: app.database.clone(), ingest: app.ingest.clone() };
    Ok(Json(sink.publish(publication, &submission.identity.name).await?))
}

/// Show how far an output is published
///
/// The last commit of the branch of which all places of the environment were published.
#[utoipa::path(
    get,
    path = "/api/v1/publications",
    tag = "Publications",
    params(PublicationQuery),
    responses((status = 200, description = "The last commit, if there is one", body = PublicationState), ProblemResponse),
)]
async fn state(
    State(app): State<App>,
    Publisher(identity): Publisher,
    Query(query): Query<PublicationQuery>,
) -> Result<Json<PublicationState>, ProblemResponse> {
    tokens::check_environment(identity.scope.reach(), &query.environment)?;
    let sink = PublicationSink { database: app.database.clone(), ingest: app.ingest.clone() };
    Ok(Json(sink.state(&query).await?))
}

impl From<PublicationNotStored> for ProblemResponse {
    fn from(error: PublicationNotStored) -> Self {
        match error {
            PublicationNotStored::Invalid(error) => Self::new(ProblemType::Unprocessable, error.to_string()),
            PublicationNotStored::Submit(error) => error.into(),
            PublicationNotStored::Database(error) => error.into(),
        }
    }
}

impl From<PublishingError> for ProblemResponse {
    fn from(error: PublishingError) -> Self {
        match error {
            PublishingError::Outside { .. } => Self::new(ProblemType::Forbidden, error.to_string())
                .hint("nothing was stored; use a token that may publish all of it"),
            PublishingError::Database(error) => error.into(),
        }
    }
}
