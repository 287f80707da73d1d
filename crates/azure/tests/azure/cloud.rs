//! A small Azure on this machine: Microsoft Entra, managed identities, Resource Graph and Resource Manager, as strict as their contracts.
//!
//! Whatever a request has that the contract does not allow is noted as a violation and refused.
//!
//! Tokens: <https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow>. Resource Graph:
//! <https://github.com/Azure/azure-rest-api-specs/blob/main/specification/resourcegraph/resource-manager/Microsoft.ResourceGraph/stable/2022-10-01/resourcegraph.json>.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

/// The secret of application `app` in every tenant.
pub(crate) const SECRET: &str = "hush~+&hush";
/// What proves that it is the app that asks for its managed identity.
pub(crate) const IDENTITY_HEADER: &str = "853b9a84-5bfa-4b22-a3f3-0b9a43d9ad8a";

/// Answers one request in another way than with what is asked for.
pub(crate) type Fault = fn() -> Response;

#[derive(Clone)]
pub(crate) struct Cloud {
    pub(crate) url: String,
    state: Arc<Mutex<CloudState>>,
}

#[derive(Default)]
pub(crate) struct CloudState {
    /// Rows of each table, by the subscription and a word of the query.
    pub(crate) tables: BTreeMap<(String, &'static str), Vec<Value>>,
    /// Resources and lists of Resource Manager, by path and query.
    pub(crate) resources: BTreeMap<String, Value>,
    /// Rows of a page.
    pub(crate) page_rows: usize,
    /// What the next questions to the graph are answered with, if not with rows.
    pub(crate) faults: VecDeque<Option<Fault>>,
    /// Subscriptions that may be asked with a token of a tenant.
    pub(crate) tenants: BTreeMap<&'static str, Vec<&'static str>>,
    /// Tokens that were given out, and for which tenant.
    pub(crate) tokens: BTreeMap<String, String>,
    issued: usize,
    /// How long tokens last, in seconds.
    pub(crate) lifetime: u64,
    questions: usize,
    violations: Vec<String>,
}

/// Tells the tables apart by what their queries ask for.
pub(crate) const CLUSTERS: &str = "connectedclusters";
pub(crate) const CONFIGURATIONS: &str = "fluxconfigurations";
pub(crate) const TARGETS: &str = "'microsoft.edge/targets'";
pub(crate) const INSTANCES: &str = "targets/solutions/instances";

impl Cloud {
    /// Starts it. Tenant `t1` has subscriptions `s1` and `s2`, tenant `t2` has `s3`.
    pub(crate) async fn start() -> Self {
        let state = CloudState {
            page_rows: 1_000,
            lifetime: 3_599,
            tenants: BTreeMap::from([("t1", vec!["s1", "s2"]), ("t2", vec!["s3"])]),
            ..CloudState::default()
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let cloud = Self { url, state: Arc::new(Mutex::new(state)) };
        let router = Router::new()
            .route("/{tenant}/oauth2/v2.0/token", post(login))
            .route("/msi/token", get(app_identity))
            .route("/metadata/identity/oauth2/token", get(instance_identity))
            .route("/providers/Microsoft.ResourceGraph/resources", post(graph))
            .fallback(any(manager))
            .with_state(cloud.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        cloud
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, CloudState> {
        self.state.lock().unwrap()
    }

    /// Tokens that were ever given out.
    pub(crate) fn issued(&self) -> usize {
        self.state().issued
    }

    /// Questions to the graph.
    pub(crate) fn questions(&self) -> usize {
        self.state().questions
    }

    /// What no contract allows.
    pub(crate) fn violations(&self) -> Vec<String> {
        self.state().violations.clone()
    }

    /// Puts rows into a table.
    pub(crate) fn fill(&self, subscription: &str, table: &'static str, rows: Vec<Value>) {
        self.state().tables.insert((subscription.to_owned(), table), rows);
    }

    /// The next questions to the graph are answered like that.
    pub(crate) fn fail(&self, faults: &[Option<Fault>]) {
        self.state().faults.extend(faults);
    }

    fn violation(&self, message: impl Into<String>) -> Response {
        let message = message.into();
        self.state().violations.push(message.clone());
        error(StatusCode::BAD_REQUEST, "InvalidRequest", &message)
    }

    fn issue(&self, tenant: &str) -> String {
        let mut state = self.state();
        state.issued += 1;
        let token = format!("token-{}-of-{tenant}", state.issued);
        state.tokens.insert(token.clone(), tenant.to_owned());
        token
    }

    /// The tenant whose token it is.
    fn tenant(&self, headers: &HeaderMap) -> Option<String> {
        let token = header(headers, "authorization").strip_prefix("Bearer ")?.to_owned();
        self.state().tokens.get(&token).cloned()
    }
}

/// An error of Resource Manager.
pub(crate) fn error(status: StatusCode, code: &str, message: &str) -> Response {
    (status, Json(json!({"error": {"code": code, "message": message, "details": []}}))).into_response()
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// The parameters that a request must have, no more and no less.
fn exactly(given: &BTreeMap<String, String>, expected: &[(&str, &str)]) -> bool {
    given.iter().map(|(name, value)| (name.as_str(), value.as_str())).eq(expected.iter().copied())
}

async fn login(State(cloud): State<Cloud>, Path(tenant): Path<String>, headers: HeaderMap, body: String) -> Response {
    if header(&headers, "content-type") != "application/x-www-form-urlencoded" {
        return cloud.violation("a token is asked for with a form");
    }
    let form = reqwest::Url::parse(&format!("x:?{body}")).unwrap();
    let form: BTreeMap<String, String> = form.query_pairs().into_owned().collect();
    let secret = form.get("client_secret").cloned().unwrap_or_default();
    let scope = format!("{}/.default", cloud.url);
    let expected =
        [("client_id", "app"), ("client_secret", &secret), ("grant_type", "client_credentials"), ("scope", &scope)];
    if !exactly(&form, &expected) {
        return cloud.violation(format!("the form of the client credentials flow is another one: {form:?}"));
    }
    if secret != SECRET {
        let description = format!("AADSTS7000215: Invalid client secret provided: '{secret}'.\r\nTrace ID: 0");
        let body = json!({"error": "invalid_client", "error_description": description, "error_codes": [7_000_215]});
        return (StatusCode::UNAUTHORIZED, Json(body)).into_response();
    }
    let lifetime = cloud.state().lifetime;
    let token = cloud.issue(&tenant);
    let body =
        json!({"token_type": "Bearer", "expires_in": lifetime, "ext_expires_in": lifetime, "access_token": token});
    Json(body).into_response()
}

async fn app_identity(
    State(cloud): State<Cloud>,
    Query(query): Query<BTreeMap<String, String>>,
    headers: HeaderMap,
) -> Response {
    let resource = format!("{}/", cloud.url);
    let expected = [("api-version", "2019-08-01"), ("client_id", "mine"), ("resource", &resource)];
    if !exactly(&query, &expected) || header(&headers, "x-identity-header") != IDENTITY_HEADER {
        return cloud.violation(format!("an app's identity is asked for in another way: {query:?}"));
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let expires_on = (now + cloud.state().lifetime).to_string();
    let token = cloud.issue("t1");
    Json(json!({"access_token": token, "expires_on": expires_on, "resource": resource, "token_type": "Bearer"}))
        .into_response()
}

async fn instance_identity(
    State(cloud): State<Cloud>,
    Query(query): Query<BTreeMap<String, String>>,
    headers: HeaderMap,
) -> Response {
    let resource = format!("{}/", cloud.url);
    if !exactly(&query, &[("api-version", "2018-02-01"), ("resource", &resource)])
        || header(&headers, "metadata") != "true"
    {
        return cloud.violation(format!("an instance's identity is asked for in another way: {query:?}"));
    }
    let token = cloud.issue("t1");
    Json(json!({"access_token": token, "refresh_token": "", "expires_in": "3599", "token_type": "Bearer"}))
        .into_response()
}

async fn graph(
    State(cloud): State<Cloud>,
    Query(query): Query<BTreeMap<String, String>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    cloud.state().questions += 1;
    let fault = cloud.state().faults.pop_front();
    if let Some(Some(fault)) = fault {
        return fault();
    }
    if !exactly(&query, &[("api-version", "2022-10-01")]) || header(&headers, "content-type") != "application/json" {
        return cloud.violation("the graph is asked with JSON, and with a version");
    }
    let Some(tenant) = cloud.tenant(&headers) else {
        return error(
            StatusCode::UNAUTHORIZED,
            "ExpiredAuthenticationToken",
            "The access token expiry UTC time is earlier than now.",
        );
    };
    let body: Value = serde_json::from_slice(&body).unwrap();
    let question = match Question::read(&body) {
        Ok(question) => question,
        Err(message) => return cloud.violation(message),
    };
    let state = cloud.state();
    if !state
        .tenants
        .get(tenant.as_str())
        .is_some_and(|subscriptions| subscriptions.contains(&question.subscription.as_str()))
    {
        return error(StatusCode::FORBIDDEN, "AuthorizationFailed", "The client does not have authorization.");
    }
    let rows = state.tables.get(&(question.subscription.clone(), question.table)).cloned().unwrap_or_default();
    let (total, start) = (rows.len(), question.start);
    let page: Vec<Value> = rows.into_iter().skip(start).take(state.page_rows.min(question.top)).collect();
    let end = start + page.len();
    let mut answer =
        json!({"totalRecords": total, "count": page.len(), "resultTruncated": "false", "data": page, "facets": []});
    if end < total {
        answer["$skipToken"] = format!("{}|{end}", question.table).into();
    }
    ([("x-ms-user-quota-remaining", "10"), ("x-ms-user-quota-resets-after", "00:00:05")], Json(answer)).into_response()
}

struct Question {
    subscription: String,
    table: &'static str,
    top: usize,
    start: usize,
}

impl Question {
    fn read(body: &Value) -> Result<Self, String> {
        let keys = |value: &Value| {
            let object = value.as_object().cloned().unwrap_or_default();
            object.keys().cloned().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>()
        };
        if keys(body) != ["options", "query", "subscriptions"] {
            return Err(format!("a question has other fields: {body}"));
        }
        let options = &body["options"];
        let token = options["$skipToken"].as_str();
        let expected: &[&str] =
            if token.is_some() { &["$skipToken", "$top", "resultFormat"] } else { &["$top", "resultFormat"] };
        if keys(options) != expected || options["resultFormat"] != "objectArray" {
            return Err(format!("the options are other ones: {options}"));
        }
        let top = options["$top"].as_u64().filter(|top| (1..=1_000).contains(top)).ok_or("$top is 1 to 1000")?;
        let query = body["query"].as_str().ok_or("there is no query")?;
        if !query.contains("project id") || !query.ends_with("order by id asc") {
            return Err("pages are stable only with ids, in their order".to_owned());
        }
        let tables = [INSTANCES, CLUSTERS, CONFIGURATIONS, TARGETS];
        let table = tables.into_iter().find(|table| query.contains(table)).ok_or("the table is not known")?;
        let start = match token.map(|token| token.split_once('|')) {
            None => 0,
            Some(Some((of, start))) if of == table => start.parse().map_err(|_| "the token is another one")?,
            Some(_) => return Err("the token belongs to another query".to_owned()),
        };
        let [Value::String(subscription)] = body["subscriptions"].as_array().map(Vec::as_slice).unwrap_or_default()
        else {
            return Err("one subscription is asked at a time".to_owned());
        };
        Ok(Self { subscription: subscription.clone(), table, top: top as usize, start })
    }
}

async fn manager(State(cloud): State<Cloud>, method: Method, uri: Uri, headers: HeaderMap) -> Response {
    if cloud.tenant(&headers).is_none() {
        return error(StatusCode::UNAUTHORIZED, "InvalidAuthenticationToken", "The access token is invalid.");
    }
    let resource = cloud.state().resources.get(&uri.to_string()).cloned();
    match resource {
        Some(resource) if method == Method::GET => Json(resource).into_response(),
        Some(_) => cloud.violation(format!("{method} {uri}")),
        None => error(StatusCode::NOT_FOUND, "ResourceNotFound", "The resource was not found."),
    }
}
