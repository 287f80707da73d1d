//! The search: objects whose names match words.

use askama::Template;
use axum::response::Response;
use futures_util::future::join_all;
use hub_api::client::ClientError;
use hub_api::compiled::{CompiledValue, CompiledValues, ValueQuery, ValueSetter};
use hub_api::filter::Filter;
use hub_api::search::{SearchGroup, SearchHit, SearchKind, SearchQuery};

use crate::address::Address;
use crate::source_link::SourceLink;
use crate::text::{count, visible};
use crate::visit::Visit;

pub(crate) async fn page(visit: Visit) -> Response {
    let visit = visit.of_the_present();
    let page = search(&visit).await;
    visit.answer(page)
}

/// The page of the search.
#[derive(Template)]
#[template(path = "search.html")]
struct SearchPage<'a> {
    visit: &'a Visit,
    /// The words. Empty: nothing was searched for yet.
    words: String,
    groups: Vec<SearchGroup>,
    values: Vec<EnvironmentValues>,
    /// The number of environments whose values were not searched.
    unsearched: usize,
}

/// The values of an environment that match.
struct EnvironmentValues {
    environment: String,
    found: CompiledValues,
    /// Why they could not be searched.
    problem: Option<String>,
}

/// The number of hits of each kind on the page.
const LIMIT: usize = 20;

/// The number of values of each environment.
const VALUES: usize = 5;

/// The number of environments whose values are searched.
const ENVIRONMENTS: usize = 8;

async fn search(visit: &Visit) -> Result<SearchPage<'_>, ClientError> {
    let words = visit.address.get("q").unwrap_or_default().trim().to_owned();
    let mut page = SearchPage { visit, words, groups: Vec::new(), values: Vec::new(), unsearched: 0 };
    if page.words.is_empty() {
        return Ok(page);
    }
    // While one types, there is a limit, and no time to search through values.
    let few = visit.address.get("limit").and_then(|text| text.parse().ok());
    let query = SearchQuery { q: page.words.clone(), limit: Some(few.unwrap_or(LIMIT)) };
    page.groups = visit.api.search(&query).await?.groups;
    if few.is_none() && visit.compiles {
        let environments = visit.api.environments(&Filter::default(), None).await?.items;
        page.unsearched = environments.len().saturating_sub(ENVIRONMENTS);
        let searched = environments.into_iter().take(ENVIRONMENTS);
        let found = join_all(searched.map(|environment| values(visit, environment.name, &page.words))).await;
        page.values = found.into_iter().flatten().collect();
    }
    Ok(page)
}

/// The values of an environment that match. None: there are none, or the environment is not compiled here.
async fn values(visit: &Visit, environment: String, words: &str) -> Option<EnvironmentValues> {
    let query = ValueQuery { q: words.to_owned(), limit: Some(VALUES) };
    match visit.api.values(&environment, &query).await {
        Ok(found) if found.answer.items.is_empty() => None,
        Ok(found) => Some(EnvironmentValues { environment, found: found.answer, problem: None }),
        Err(ClientError::Refused { status: 404, .. }) => None,
        Err(error) => {
            let found = CompiledValues::default();
            Some(EnvironmentValues { environment, found, problem: Some(error.to_string()) })
        }
    }
}

impl SearchPage<'_> {
    /// The first assignment that has a value, at its values.
    fn assignment(&self, environment: &str, value: &CompiledValue) -> Option<String> {
        let first = value.assignments.first()?;
        let to = self.visit.to(["environments", environment, "assignments", &first.place, &first.target]);
        Some(format!("{to}#values"))
    }

    /// The environments whose values were not searched. None: all were.
    fn not_searched(&self) -> Option<String> {
        (self.unsearched > 0).then(|| count(self.unsearched as u64, "more environment"))
    }

    /// The page of a hit.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
    fn to(&self, kind: &SearchKind, hit: &SearchHit) -> String {
        let of = |name: &str, value: &Option<String>, address: Address| {
            value.iter().fold(address, |address, value| address.with(name, value))
        };
        let name = hit.name.as_str();
        let address = match kind {
            SearchKind::Environment => self.visit.to(["environments", name]),
            SearchKind::Workspace => self.visit.to(["deployments"]).with("workspace", name),
            SearchKind::Workload => of("workspace", &hit.workspace, self.visit.to(["workloads", name])),
            SearchKind::Target => {
                let address = self.visit.to(["deployments"]).with("target", name);
                of("workspace", &hit.workspace, of("workload", &hit.workload, address))
            }
            SearchKind::ClusterType => self.visit.to(["places", name]),
            SearchKind::Host => self.visit.to(["hosts", name]),
            SearchKind::Version => {
                let of_workload = format!("{}@{name}", hit.workload.as_deref().unwrap_or_default());
                of("workspace", &hit.workspace, self.visit.to(["rollouts", &of_workload]))
            }
            SearchKind::Commit => self.visit.to(["rollouts", name]),
        };
        address.to_string()
    }
}

/// A kind in words.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
fn words(kind: &SearchKind) -> &'static str {
    match kind {
        SearchKind::Environment => "Environments",
        SearchKind::Workspace => "Workspaces",
        SearchKind::Workload => "Workloads",
        SearchKind::Target => "Targets",
        SearchKind::ClusterType => "Cluster types",
        SearchKind::Host => "Hosts",
        SearchKind::Version => "Versions",
        SearchKind::Commit => "Commits",
    }
}

/// What a hit belongs to.
fn belongs(hit: &SearchHit) -> String {
    let parts = [&hit.workspace, &hit.application, &hit.workload, &hit.repository, &hit.branch];
    parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" / ")
}

/// The number of assignments that have a value.
fn reach(value: &CompiledValue) -> String {
    count(value.assignment_count as u64, "assignment")
}

/// Where a value is written: the objects with their positions.
fn sources(value: &CompiledValue) -> Vec<(String, Option<SourceLink>)> {
    let source = |by: &ValueSetter| (visible(&by.config_map), by.place.as_ref().map(SourceLink::new));
    value.set_by.iter().map(source).collect()
}
