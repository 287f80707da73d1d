//! What is wanted comes in: what publishers know of it.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::problem::{Kind, Problem};
use super::submission::Submission;
use crate::limits::PUBLICATION_PLACES_MAX;
use crate::moment::Moment;
use crate::wanted::{self, Plan, Publication, WantedPlace, Wish};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(publish))
}

/// A publication, or a part of one.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Body {
    repository: String,
    branch: String,
    #[serde(default)]
    commit: Option<String>,
    #[serde(default)]
    committed_on: Option<Moment>,
    places: Vec<WantedPlace>,
}

/// Say what places of a branch should hold
///
/// With a `commit`, it is wanted from now on. Without one it is kept until a watched branch has that content: who proposes a change knows what
/// it is for, but not yet which commit will bring it. Large publications come in several requests.
#[utoipa::path(
    post,
    path = "/api/v1/publications",
    tag = "Publications",
    request_body(content = serde_json::Value, content_type = "application/json", description = "`repository`, `branch`, perhaps `commit` with `committedOn`, and `places`: each with `path`, `tree`, `role`, perhaps `environment`, `clusterType`, `cluster`, `configVersion` and `targets`"),
    responses(
        (status = 200, description = "Stored: how many places changed, were removed, and stayed", body = serde_json::Value),
        (status = "4XX", description = "Not taken", body = Problem, content_type = "application/problem+json"),
        (status = "5XX", description = "Not possible now", body = Problem, content_type = "application/problem+json"),
    ),
)]
async fn publish(State(app): State<App>, submission: Submission) -> Result<Json<wanted::Published>, Problem> {
    submission.check_type(&["application/json"])?;
    if !submission.identity.may_administer() {
        let hint = "`kalypso hub token create NAME --role admin` makes a token for it";
        return Err(Problem::new(Kind::Forbidden, "this token is not for publications").hint(hint));
    }
    let body: Body = serde_json::from_slice(&submission.body)
        .map_err(|error| Problem::new(Kind::Malformed, format!("the publication can't be read: {error}")))?;
    if body.places.len() > PUBLICATION_PLACES_MAX {
        let detail = format!("a request has at most {PUBLICATION_PLACES_MAX} places");
        return Err(Problem::new(Kind::TooLarge, detail).hint("send them in several requests"));
    }
    let Body { repository, branch, commit, committed_on, places } = body;
    let wish = match commit {
        None => Wish::Planned(Plan { repository, branch, places }),
        Some(commit) => Wish::Published(Publication {
            repository,
            branch,
            commit,
            committed_on: committed_on.unwrap_or_else(Moment::now),
            places,
            is_complete: false,
        }),
    };
    wish.check().map_err(|error| Problem::new(Kind::Unprocessable, error.to_string()))?;
    Ok(Json(app.ingest.want(wish).await?))
}
