//! A request of a browser for a page: who reads, which page at which time, and the API for its queries.

use askama::Template;
use axum::extract::{FromRequestParts, OriginalUri};
use axum::response::{IntoResponse as _, Redirect, Response};
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use hub_api::client::{Client, ClientError};
use hub_api::filter::Filter;
use hub_api::page::Page;
use hub_api::sessions::{AuthenticationMethod, SessionState};
use hub_api::timestamp::Timestamp;
use hub_api::tokens::Scope;
use hub_api::views::KeptView;
use serde::de::DeserializeOwned;

use crate::Site;
use crate::address::Address;
use crate::client::InProcess;
use crate::past::Around;
use crate::refusal::{Refusal, RefusalPage};
use crate::respond::respond;

/// The page that shows a refusal to a reader who is known.
#[derive(Template)]
#[template(path = "refused.html")]
struct RefusedPage<'a> {
    visit: &'a Visit,
    refusal: &'a Refusal,
}

/// The number of favourites in the navigation: more would push the page away.
const FAVOURITES_SHOWN: usize = 12;

/// A request for a page.
#[derive(Clone, Debug)]
pub(crate) struct Visit {
    /// The API, with the reader's credentials.
    pub(crate) api: Client<InProcess>,
    /// Whether the API answers from compiled environments.
    pub(crate) compiles: bool,
    /// The reader.
    pub(crate) caller: SessionState,
    /// The views that the reader keeps, the favourites first.
    pub(crate) views: Vec<KeptView>,
    /// The address of this page.
    pub(crate) address: Address,
    /// The time of the state that the page shows. None: now.
    pub(crate) at: Option<Timestamp>,
    /// The changes before and after that time.
    pub(crate) around: Around,
    /// Whether the address asks for an earlier time and the page can only show the present.
    pub(crate) shows_present_instead: bool,
    /// The time of this request.
    pub(crate) now: Timestamp,
    path: String,
}

impl Visit {
    /// The visit of a request. The error is the response for requests without a page: the reader has to sign in, or the API does not answer.
    pub(crate) async fn new(parts: &Parts, site: Site) -> Result<Self, Response> {
        let uri = parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |OriginalUri(uri)| uri);
        Self::of((uri.path(), uri.query().unwrap_or_default()), &parts.headers, site).await
    }

    /// The visit of the page with a path and a query, with the credentials in the headers of a request. The error is as for [`Self::new`].
    pub(crate) async fn of((path, query): (&str, &str), headers: &HeaderMap, site: Site) -> Result<Self, Response> {
        let address = Address::from_encoded(path, query);
        let (api, compiles) = (Client::over(InProcess::new(site.api, headers)), site.compiles);
        let caller = match api.session().await {
            Ok(caller) => caller,
            Err(ClientError::Refused { status: 401, .. }) => {
                return Err(sign_in(&address));
            }
            Err(error) => return Err(RefusalPage::new(&Refusal::from(error)).response()),
        };
        let at = address.get("at").map(str::parse::<Timestamp>);
        let visit = Self {
            views: views(&api).await,
            api,
            compiles,
            caller,
            at: None,
            around: Around::default(),
            shows_present_instead: false,
            now: Timestamp::now(),
            path: path.to_owned(),
            address,
        };
        match at {
            None => Ok(visit),
            Some(Ok(at)) => Ok(Self { at: Some(at), ..visit }),
            Some(Err(error)) => Err(visit.refuse(Refusal::invalid(&error.to_string()))),
        }
    }

    /// The same visit of a page that has no earlier states: it shows the present, and says so.
    pub(crate) fn of_the_present(self) -> Self {
        Self { shows_present_instead: self.at.is_some(), at: None, ..self }
    }

    /// The same visit with the changes before and after its time, of what a filter selects.
    pub(crate) async fn with_changes(self, filter: &Filter) -> Result<Self, Response> {
        let Some(at) = self.at else { return Ok(self) };
        match Around::read(&self.api, filter, at).await {
            Ok(around) => Ok(Self { around, ..self }),
            Err(error) => Err(self.refuse(Refusal::from(error))),
        }
    }

    /// The address of this page at the change before its time.
    pub(crate) fn previous(&self) -> Option<String> {
        self.around.previous.map(|at| self.then(at))
    }

    /// The address of this page at the change after its time.
    pub(crate) fn next(&self) -> Option<String> {
        self.around.next.map(|at| self.then(at))
    }

    fn then(&self, at: Timestamp) -> String {
        self.address.clone().without("cursor").with("at", &at.to_string()).to_string()
    }

    /// The address of another page, at the same time.
    pub(crate) fn to<S: AsRef<str>>(&self, segments: impl IntoIterator<Item = S>) -> Address {
        let address = Address::of(segments);
        match self.address.get("at") {
            Some(at) => address.with("at", at),
            None => address,
        }
    }

    /// The page of a workload, at the same time.
    pub(crate) fn to_workload(&self, workspace: &str, workload: &str) -> Address {
        self.to(["workloads", workload]).with("workspace", workspace)
    }

    /// The page of a cluster type or a cluster in an environment, at the same time.
    pub(crate) fn to_place(&self, environment: &str, place: &str) -> Address {
        self.to(["places", place]).with("environment", environment)
    }

    /// The address of a page of the navigation, at the same time.
    pub(crate) fn nav(&self, name: &str) -> String {
        self.to((!name.is_empty()).then_some(name)).to_string()
    }

    /// Whether the reader has a session that can end.
    pub(crate) fn has_session(&self) -> bool {
        self.caller.authentication == AuthenticationMethod::Session
    }

    /// Whether the reader may see the audit log.
    pub(crate) fn may_audit(&self) -> bool {
        let is_open = self.caller.authentication == AuthenticationMethod::Open;
        is_open || self.caller.grants.iter().any(|grant| matches!(grant, Scope::Manage | Scope::Admin))
    }

    /// The favourites among the views of the reader, as many as the navigation shows.
    pub(crate) fn favourites(&self) -> Vec<&KeptView> {
        self.views.iter().filter(|view| view.favourite).take(FAVOURITES_SHOWN).collect()
    }

    /// The address under which this page is kept: a list from its first page on.
    pub(crate) fn kept_address(&self) -> String {
        self.address.clone().without("cursor").to_string()
    }

    /// The views of this page.
    pub(crate) fn kept_here(&self) -> Vec<&KeptView> {
        self.views.iter().filter(|view| self.is_kept_as(view)).collect()
    }

    /// Whether a view is this page.
    pub(crate) fn is_kept_as(&self, view: &KeptView) -> bool {
        view.address == self.kept_address()
    }

    /// Whether this is a page of a part of the navigation.
    pub(crate) fn is_in(&self, name: &str) -> bool {
        let first = self.path.split('/').nth(1).unwrap_or_default();
        let is_of_overview = ["environments", "workloads", "places"].contains(&first) && name.is_empty();
        first == name || is_of_overview || (first == "hosts" && name == "deployments")
    }

    /// The filter of the page: the parameters of its address with the names of the API.
    pub(crate) fn filter(&self) -> Filter {
        // All fields are optional texts, so that no address is invalid here; the API says what it does not accept.
        self.parameters().unwrap_or_default()
    }

    /// The page of a list that the address asks for, with so many rows.
    pub(crate) fn page(&self, rows: usize) -> Page {
        Page { cursor: self.address.get("cursor").map(str::to_owned), limit: Some(rows) }
    }

    /// The parameters of the address as a value. Others are left out.
    pub(crate) fn parameters<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(self.address.parameters()).finish();
        serde_urlencoded::from_str(&query).map_err(|error| Refusal::invalid(&error.to_string()))
    }

    /// A name for a file with the content of this page: the path without anything that a file system or a header could misunderstand.
    pub(crate) fn file_name(&self) -> String {
        let is_plain = |character: char| character.is_ascii_alphanumeric() || "-._".contains(character);
        let segments = self.path.split('/').filter(|segment| !segment.is_empty());
        let segments = segments.map(|segment| segment.replace(|character| !is_plain(character), "_"));
        let name = segments.collect::<Vec<_>>().join("-");
        format!("kalypso-{}", name.chars().take(100).collect::<String>())
    }

    /// The response for a page that can't be shown.
    pub(crate) fn refuse(&self, refusal: Refusal) -> Response {
        let has_filter = refusal.status.is_client_error() && self.address.parameters().next().is_some();
        let wider = has_filter.then(|| Address::from_encoded(&self.path, "").to_string());
        self.show(&Refusal { wider, ..refusal })
    }

    /// The response for a change that is refused. A reader whose session has ended signs in, and returns to this page.
    pub(crate) fn refuse_change(&self, title: &'static str, error: ClientError) -> Response {
        match error {
            ClientError::Refused { status: 401, .. } => sign_in(&self.address),
            ClientError::Refused { status: 400..=499, .. } => self.show(&Refusal { title, ..Refusal::from(error) }),
            error => self.show(&Refusal::from(error)),
        }
    }

    fn show(&self, refusal: &Refusal) -> Response {
        respond(refusal.status, &RefusedPage { visit: self, refusal })
    }

    /// The response for the result of a page.
    pub(crate) fn answer<T: Template>(&self, page: Result<T, ClientError>) -> Response {
        match page {
            Ok(page) => respond(StatusCode::OK, &page),
            Err(ClientError::Refused { status: 401, .. }) => sign_in(&self.address),
            Err(error) => self.refuse(Refusal::from(error)),
        }
    }
}

/// The views of the reader. A page is useful without them: a caller that may not read has none, and they may not be known at the moment.
async fn views(api: &Client<InProcess>) -> Vec<KeptView> {
    match api.views().await {
        Ok(views) => views.items,
        Err(error) => {
            tracing::debug!(%error, "a page is shown without the views of its reader");
            Vec::new()
        }
    }
}

/// The response for a reader without a session: the page to sign in, which leads back to an address.
fn sign_in(address: &Address) -> Response {
    let page = Address::of(["sign-in"]).with("return", &address.to_string());
    Redirect::to(&page.to_string()).into_response()
}

impl FromRequestParts<Site> for Visit {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Self, Response> {
        Self::new(parts, site.clone()).await
    }
}
