//! What is wanted comes in: what publishers know of it.

use std::collections::BTreeSet;

use axum::Json;
use axum::extract::State;
use serde_json::json;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::problem::{Kind, Problem};
use super::submission::Submission;
use crate::audit::{self, Action, Deed};
use crate::limits::{ENVIRONMENTS_MAX, PUBLICATION_PLACES_MAX};
use crate::tokens::PublishingError;
use crate::wanted::{self, Told, Wish};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(publish))
}

/// Say what places of a branch should hold
///
/// With a `commit`, it is wanted from now on. Without one it is kept until a watched branch has that content: who proposes a change knows what
/// it is for, but not yet which commit will bring it. Large publications come in several requests.
///
/// With a `stretch`, the places are all that the platform has in the folder `below`, behind the path `after` and up to `until`, in the order of bytes: at
/// other places there nothing is wanted any more. `environments` says in which order changes reach them.
#[utoipa::path(
    post,
    path = "/api/v1/publications",
    tag = "Publications",
    request_body(content = serde_json::Value, content_type = "application/json", description = "`repository`, `branch`, perhaps `commit` with `committedOn`, `stretch` and `environments`, and `places`: each with `path`, `tree`, `role`, perhaps `environment`, `clusterType`, `cluster`, `configVersion` and `targets`"),
    responses(
        (status = 200, description = "Stored: how many places changed, were removed, and stayed", body = wanted::Published),
        Problem,
    ),
)]
async fn publish(State(app): State<App>, submission: Submission) -> Result<Json<wanted::Published>, Problem> {
    submission.check_type(&["application/json"])?;
    if !submission.identity.may_publish() {
        let hint = "`kalypso hub token create NAME --role publish` makes a token for it";
        return Err(Problem::new(Kind::Forbidden, "this token is not for publications").hint(hint));
    }
    let told: Told = serde_json::from_slice(&submission.body)
        .map_err(|error| Problem::new(Kind::Malformed, format!("the publication can't be read: {error}")))?;
    if told.places.len() > PUBLICATION_PLACES_MAX {
        let detail = format!("a request has at most {PUBLICATION_PLACES_MAX} places");
        return Err(Problem::new(Kind::TooLarge, detail).hint("send them in several requests"));
    }
    if told.environments.len() > ENVIRONMENTS_MAX {
        return Err(Problem::new(Kind::Unprocessable, format!("there are at most {ENVIRONMENTS_MAX} environments")));
    }
    submission.identity.scope.reach().check(&app.database, &told).await?;
    let subject = format!("{} {}", told.repository, told.branch);
    let environments: BTreeSet<_> = told.places.iter().filter_map(|place| place.environment.clone()).collect();
    let commit = told.commit.clone();
    let wishes = told.wishes();
    wishes.iter().try_for_each(Wish::check).map_err(|error| Problem::new(Kind::Unprocessable, error.to_string()))?;
    let mut published = wanted::Published::default();
    for wish in wishes {
        published = app.ingest.want(wish).await?;
    }
    let wanted::Published { changed, removed, .. } = published;
    // What changes nothing was noted when it changed something.
    if commit.is_none() || changed > 0 || removed > 0 {
        let action = if commit.is_some() { Action::Publish } else { Action::Plan };
        let detail = json!({"commit": commit, "environments": environments, "changed": changed, "removed": removed});
        let deed = Deed { actor: &submission.identity.name, action, subject: &subject, detail: Some(detail) };
        audit::note_done(&app.database, deed).await?;
    }
    Ok(Json(published))
}

impl From<PublishingError> for Problem {
    fn from(error: PublishingError) -> Self {
        match error {
            PublishingError::Outside { .. } => Self::new(Kind::Forbidden, error.to_string())
                .hint("nothing of it was taken; use a token that may publish all of it"),
            PublishingError::Database(error) => error.into(),
        }
    }
}
