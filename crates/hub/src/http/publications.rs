//! Publications: publishers send the desired state.

use axum::Json;
use axum::extract::State;
use hub_api::limits::{ENVIRONMENTS_MAX, PUBLICATION_PLACES_MAX};
use hub_api::publication::{Publication, PublicationReceipt};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::problem::{Kind, ProblemResponse};
use super::submission::Submission;
use crate::publications::{PublicationSink, PublishError};
use crate::tokens::{self, PublishingError};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(publish))
}

/// Publish the desired content of places of a branch
///
/// With a `commit`, the content is desired from now on. Without a `commit`, the hub stores the content until a watched branch contains it: this is for
/// proposed changes, whose commit is not known yet. Send large publications in several requests.
///
/// With a `range`, the places are all platform folders in the folder `below`, after the path `after` and up to `until`, in the order of bytes. The hub
/// removes folders of this range that are not listed. `environments` is the order in which changes reach environments.
#[utoipa::path(
    post,
    path = "/api/v1/publications",
    tag = "Publications",
    request_body(content = serde_json::Value, content_type = "application/json", description = "`repository`, `branch`, perhaps `commit` with `committedOn`, `range` and `environments`, and `places`: each with `path`, `tree`, `role`, perhaps `environment`, `clusterType`, `cluster`, `configVersion` and `targets`"),
    responses(
        (status = 200, description = "Stored: how many places changed, were removed, and stayed", body = PublicationReceipt),
        ProblemResponse,
    ),
)]
async fn publish(State(app): State<App>, submission: Submission) -> Result<Json<PublicationReceipt>, ProblemResponse> {
    submission.check_type(&["application/json"])?;
    if !submission.identity.may_publish() {
        let hint = "`kalypso hub token create NAME --role publish` makes a token for it";
        return Err(ProblemResponse::new(Kind::Forbidden, "this token is not for publications").hint(hint));
    }
    let publication: Publication = serde_json::from_slice(&submission.body)
        .map_err(|error| ProblemResponse::new(Kind::Malformed, format!("the publication can't be read: {error}")))?;
    if publication.places.len() > PUBLICATION_PLACES_MAX {
        let detail = format!("a request has at most {PUBLICATION_PLACES_MAX} places");
        return Err(ProblemResponse::new(Kind::TooLarge, detail).hint("send them in several requests"));
    }
    if publication.environments.len() > ENVIRONMENTS_MAX {
        return Err(ProblemResponse::new(
            Kind::Unprocessable,
            format!("there are at most {ENVIRONMENTS_MAX} environments"),
        ));
    }
    tokens::check_publication(submission.identity.scope.reach(), &app.database, &publication).await?;
    let sink = PublicationSink { database: app.database.clone(), ingest: app.ingest.clone() };
    Ok(Json(sink.publish(publication, &submission.identity.name).await?))
}

impl From<PublishError> for ProblemResponse {
    fn from(error: PublishError) -> Self {
        match error {
            PublishError::Invalid(error) => Self::new(Kind::Unprocessable, error.to_string()),
            PublishError::Submit(error) => error.into(),
            PublishError::Database(error) => error.into(),
        }
    }
}

impl From<PublishingError> for ProblemResponse {
    fn from(error: PublishingError) -> Self {
        match error {
            PublishingError::Outside { .. } => Self::new(Kind::Forbidden, error.to_string())
                .hint("nothing of it was taken; use a token that may publish all of it"),
            PublishingError::Database(error) => error.into(),
        }
    }
}
