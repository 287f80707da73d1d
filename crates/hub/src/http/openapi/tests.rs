//! The description as the handlers give it.

use std::{env, fs};

use serde::Serialize as _;
use serde_json::ser::{PrettyFormatter, Serializer};
use utoipa::openapi::schema::{AnyOfBuilder, ObjectBuilder, Schema, SchemaType};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{OpenApi, RefOr};
use utoipa::{Modify, OpenApi as _};

use super::{DESCRIPTION, routes};

/// The file that the program contains.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/http/openapi/openapi.json");

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
        (name = "Compiled environments", description = "Why assignments exist, where their values come from, which files they have, and what is wrong. The service answers these questions from the sources of the environment, on any replica; `sources` names their commits. A process that is only a hub answers 404. Answers have an `ETag`."),
        (name = "Service", description = "The environments of the service: their syncs, plans and pull requests; and the promotions between them."),
        (name = "Management", description = "Tokens, sessions, hosts and the audit log. For the roles `manage` and `admin`; the audit log records all changes."),
        (name = "Views", description = "The views that people keep: addresses of pages, each with a name. Each person has their own."),
        (name = "Operation", description = "Health and metrics of the hub, for its operators."),
    ),
    modifiers(&Schemes),
    security(("token" = []), ("session" = [])),
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
        let text = "The secret of a session, which a browser gets at the sign-in of a person. With it, requests that change something must come from the hub's own pages.";
        let session = ApiKeyValue::with_description("__Host-kalypso-session", text);
        components.add_security_scheme("session", SecurityScheme::ApiKey(ApiKey::Cookie(session)));
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

/// The description of all operations.
fn description() -> OpenApi {
    let mut description = Description::openapi();
    description.merge(routes().description.into_openapi());
    Flattened.modify(&mut description);
    description
}

/// A line for each field, so that a change of the API can be read. One space a level: the program contains the file.
fn indented(description: &OpenApi) -> String {
    let mut json = Vec::new();
    description.serialize(&mut Serializer::with_formatter(&mut json, PrettyFormatter::with_indent(b" "))).unwrap();
    json.push(b'\n');
    String::from_utf8(json).unwrap()
}

#[test]
fn openapi_file_describes_the_handlers() {
    let text = indented(&description());
    if env::var_os("KALYPSO_BLESS").is_some() {
        fs::write(FILE, &text).unwrap();
    } else {
        assert!(
            text == DESCRIPTION,
            "{FILE} is not what the handlers say: run this test with KALYPSO_BLESS=1, and commit the file"
        );
    }
}
