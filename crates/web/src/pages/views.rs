//! The forms for the views that a reader keeps. They answer with a redirect to a page.

use axum::Form;
use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use http::HeaderMap;
use hub_api::client::ClientError;
use hub_api::views::{ViewContent, address_problem, name_problem};
use serde::Deserialize;

use crate::Site;
use crate::visit::Visit;

/// The page that lists the views.
const LIST: &str = "/account";

/// The place of the list in its page.
const PLACE: &str = "/account#views";

/// A form about a view. What is missing is empty, and the API says what it does not accept.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ViewForm {
    name: String,
    address: String,
    /// Present: the view is a favourite.
    favourite: Option<String>,
}

impl ViewForm {
    /// The name, without the spaces around it that a reader does not see.
    fn name(&self) -> &str {
        self.name.trim()
    }

    fn content(&self) -> ViewContent {
        ViewContent { address: self.address.clone(), favourite: self.favourite.is_some() }
    }
}

/// Keeps a page as a view, and returns to it.
pub(crate) async fn keep(State(site): State<Site>, headers: HeaderMap, Form(form): Form<ViewForm>) -> Response {
    // An address that is not of this site is shown nowhere.
    let address = if address_problem(&form.address).is_none() { &form.address } else { LIST };
    match Visit::of(address.split_once('?').unwrap_or((address, "")), &headers, site).await {
        Ok(visit) => put(&visit, &form, address).await,
        Err(response) => response,
    }
}

/// Changes a view in the list.
pub(crate) async fn change(State(site): State<Site>, headers: HeaderMap, Form(form): Form<ViewForm>) -> Response {
    match Visit::of((LIST, ""), &headers, site).await {
        Ok(visit) => put(&visit, &form, PLACE).await,
        Err(response) => response,
    }
}

/// Removes a view from the list.
pub(crate) async fn remove(State(site): State<Site>, headers: HeaderMap, Form(form): Form<ViewForm>) -> Response {
    let visit = match Visit::of((LIST, ""), &headers, site).await {
        Ok(visit) => visit,
        Err(response) => return response,
    };
    match visit.api.remove_view(form.name()).await {
        Ok(()) => Redirect::to(PLACE).into_response(),
        Err(error) => visit.refuse_change("This view can't be removed", error),
    }
}

async fn put(visit: &Visit, form: &ViewForm, then: &str) -> Response {
    let title = "This view can't be kept";
    // Without a name, the path of the request would be another route.
    if let Some(problem) = name_problem(form.name()) {
        let detail = format!("the name `{}` {problem}", form.name());
        return visit
            .refuse_change(title, ClientError::Refused { status: 422, detail, hint: None, refused: Vec::new() });
    }
    match visit.api.keep_view(form.name(), &form.content()).await {
        Ok(()) => Redirect::to(then).into_response(),
        Err(error) => visit.refuse_change(title, error),
    }
}
