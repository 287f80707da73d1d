//! The description of the API, OpenAPI 3.1. It is a file that a test compares with the handlers: the program needs no code that makes it.

#[cfg(test)]
mod tests;

use axum::Router;
use axum::response::IntoResponse as _;
use axum::routing::get;
use http::header;

use super::App;
use super::operations::Routes;
use super::{
    audit, compiled, events, health, hosts, metrics, otlp, promotion_events, promotions, publications, questions,
    reports, rules, sessions, sign_in, syncs, tokens, views, watches,
};

/// The path of the description.
const PATH: &str = "/api/v1/openapi.json";

/// The description that the hub serves: an OpenAPI document in JSON.
pub const DESCRIPTION: &str = include_str!("openapi/openapi.json");

/// All routes that are in the description.
pub(super) fn routes() -> Routes {
    let groups = [
        reports::routes,
        publications::routes,
        promotion_events::routes,
        watches::routes,
        syncs::routes,
        promotions::routes,
        questions::routes,
        compiled::routes,
        events::routes,
        rules::routes,
        tokens::routes,
        sessions::routes,
        sign_in::routes,
        views::routes,
        hosts::routes,
        audit::routes,
        otlp::routes,
        health::routes,
        metrics::routes,
    ];
    groups.into_iter().fold(Routes::new(), |routes, group| group(routes))
}

/// The route of the description itself.
pub(super) fn route() -> Router<App> {
    let answer = async || ([(header::CONTENT_TYPE, "application/json")], DESCRIPTION).into_response();
    Router::new().route(PATH, get(answer))
}
