//! The description of the API, OpenAPI 3.1, made from the handlers.

use axum::Router;
use axum::response::IntoResponse as _;
use axum::routing::get;
use http::header;
use utoipa::openapi::schema::{AnyOfBuilder, ObjectBuilder, Schema, SchemaType};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{OpenApi, RefOr};
use utoipa::{Modify, OpenApi as _};
use utoipa_axum::router::OpenApiRouter;

use super::{
    App, audit, events, health, hosts, metrics, otlp, promotion_events, promotions, publications, questions, reports,
    rules, syncs, tokens, watches,
};

/// The path of the description.
const PATH: &str = "/api/v1/openapi.json";

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "Kalypso hub",
        description = "The desired state, the reported state, the times of their changes, and their differences. Errors are `application/problem+json`.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    tags(
        (name = "Reports", description = "Receives the reports of reconcilers."),
        (name = "Publications", description = "What is desired comes in here."),
        (name = "Questions", description = "The desired state, the reported state, the times of their changes, and their differences. Counts are numbers of reconcilers, unless stated otherwise: a host with several reconcilers counts once for each. Lists have pages: `next` is the cursor of the next page. Answers have an `ETag`."),
        (name = "Service", description = "The environments of the service: their syncs, plans and pull requests; and the promotions between them."),
        (name = "Management", description = "Tokens, hosts and the audit log. For the roles `manage` and `admin`; the audit log records all changes."),
        (name = "Operation", description = "For those who run the hub."),
    ),
    modifiers(&Schemes),
    security(("token" = [])),
)]
struct Description;

struct Schemes;

impl Modify for Schemes {
    fn modify(&self, openapi: &mut OpenApi) {
        let components = openapi.components.get_or_insert_default();
        let text = "A token of `kalypso hub token create`, or one of the OIDC issuer that is configured.";
        let token = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(text)).build();
        components.add_security_scheme("token", SecurityScheme::Http(token));
        let text = "`sha256=` and the HMAC-SHA256 of the body, made with the signing key of a token, whose id is in the query: `?token=ID`. What Flux' provider `generic-hmac` sends.";
        let signature = ApiKeyValue::with_description("X-Signature", text);
        components.add_security_scheme("signature", SecurityScheme::ApiKey(ApiKey::Header(signature)));
    }
}

/// Corrects the schemas of flattened optional fields. These fields are present together or not at all. The generated schema allows `null` instead of
/// them, which is never valid for an object.
struct Flattened;

impl Modify for Flattened {
    fn modify(&self, openapi: &mut OpenApi) {
        let schemas = openapi.components.iter_mut().flat_map(|components| components.schemas.values_mut());
        for schema in schemas {
            let RefOr::T(Schema::AllOf(parts)) = schema else { continue };
            for part in &mut parts.items {
                let RefOr::T(Schema::OneOf(either)) = part else { continue };
                let fields = either.items.iter().find(|item| matches!(item, RefOr::Ref(_))).cloned();
                let Some(fields) = fields else { continue };
                let nothing = ObjectBuilder::new().schema_type(SchemaType::AnyValue).build();
                *part = Schema::AnyOf(AnyOfBuilder::new().item(fields).item(nothing).build()).into();
            }
        }
    }
}

/// The description that the hub serves, for documentation and tests.
pub fn description() -> OpenApi {
    parts().1
}

/// The routes that are in the description, and the description.
pub(super) fn parts() -> (Router<App>, OpenApi) {
    let (routes, mut description) = routes().split_for_parts();
    Flattened.modify(&mut description);
    (routes, description)
}

/// All routes that are in the description.
fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Description::openapi())
        .merge(reports::routes())
        .merge(publications::routes())
        .merge(promotion_events::routes())
        .merge(watches::routes())
        .merge(syncs::routes())
        .merge(promotions::routes())
        .merge(questions::routes())
        .merge(events::routes())
        .merge(rules::routes())
        .merge(tokens::routes())
        .merge(hosts::routes())
        .merge(audit::routes())
        .merge(otlp::routes())
        .merge(health::routes())
        .merge(metrics::routes())
}

/// The route of the description itself.
pub(super) fn route(description: &OpenApi) -> Router<App> {
    let text = description.to_json().unwrap_or_default();
    let answer = move || async move { ([(header::CONTENT_TYPE, "application/json")], text).into_response() };
    Router::new().route(PATH, get(answer))
}
