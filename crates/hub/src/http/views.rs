//! The views of the caller over HTTP: list, keep, remove.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use hub_api::views::{ViewContent, Views};

use super::App;
use super::caller::Viewer;
use super::extract::{Body, Path};
use super::operations::{Routes, operations};
use super::problem::{ProblemResponse, ProblemType};
use crate::management::views::{self, ViewError};

pub(super) fn routes(routes: Routes) -> Routes {
    operations!(routes; list, keep, remove)
}

/// List views
///
/// Those of the caller, the favourites first. The views of other people are not shown to anyone.
#[utoipa::path(
    get,
    path = "/api/v1/views",
    tag = "Views",
    responses(
        (status = 200, description = "The views", body = Views),
        ProblemResponse,
    ),
)]
async fn list(State(app): State<App>, Viewer(owner): Viewer) -> Result<Json<Views>, ProblemResponse> {
    Ok(Json(Views { items: views::list(&app.database, &owner).await? }))
}

/// Keep a view
///
/// A view of the caller with the same name is replaced. A person has at most 100 views. A name has at most 100 characters, an address at most 2000.
#[utoipa::path(
    put,
    path = "/api/v1/views/{name}",
    tag = "Views",
    params(("name" = String, Path, description = "The name of the view")),
    request_body = ViewContent,
    responses(
        (status = 204, description = "Kept"),
        ProblemResponse,
    ),
)]
async fn keep(
    State(app): State<App>,
    Viewer(owner): Viewer,
    Path(name): Path<String>,
    Body(content): Body<ViewContent>,
) -> Result<StatusCode, ProblemResponse> {
    views::keep(&app.database, &owner, (&name, &content)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Remove a view
///
/// One of the caller.
#[utoipa::path(
    delete,
    path = "/api/v1/views/{name}",
    tag = "Views",
    params(("name" = String, Path, description = "The name of the view")),
    responses(
        (status = 204, description = "Removed"),
        ProblemResponse,
    ),
)]
async fn remove(
    State(app): State<App>,
    Viewer(owner): Viewer,
    Path(name): Path<String>,
) -> Result<StatusCode, ProblemResponse> {
    views::remove(&app.database, &owner, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

impl From<ViewError> for ProblemResponse {
    fn from(error: ViewError) -> Self {
        let text = error.to_string();
        match error {
            ViewError::Wrong(..) => Self::new(ProblemType::Unprocessable, text),
            ViewError::TooMany => Self::new(ProblemType::Unprocessable, text).hint("remove one first"),
            ViewError::Unknown(_) => {
                Self::new(ProblemType::NotFound, text).hint("`GET /api/v1/views` lists your views")
            }
            ViewError::Database(error) => error.into(),
        }
    }
}
