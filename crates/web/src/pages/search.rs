//! The search: objects whose names match words.

use askama::Template;
use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::search::{SearchGroup, SearchHit, SearchKind, SearchQuery};

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
}

/// The number of hits of each kind that the page of the search shows, and the list below the box shows.
const LIMIT: usize = 20;

async fn search(visit: &Visit) -> Result<SearchPage<'_>, ClientError> {
    let words = visit.address.get("q").unwrap_or_default().trim().to_owned();
    let groups = if words.is_empty() {
        Vec::new()
    } else {
        let few = visit.address.get("limit").and_then(|text| text.parse().ok());
        let query = SearchQuery { q: words.clone(), limit: Some(few.unwrap_or(LIMIT)) };
        visit.api.search(&query).await?.groups
    };
    Ok(SearchPage { visit, words, groups })
}

impl SearchPage<'_> {
    /// The page of a hit.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
    fn to(&self, kind: &SearchKind, hit: &SearchHit) -> String {
        let of = |name: &str, value: &Option<String>, address: crate::address::Address| {
            value.iter().fold(address, |address, value| address.with(name, value))
        };
        let name = hit.name.as_str();
        let address = match kind {
            SearchKind::Environment => self.visit.to(["environments", name]),
            SearchKind::Workspace => self.visit.to(["deployments"]).with("workspace", name),
            SearchKind::Workload => of("workspace", &hit.workspace, self.visit.to(["rollouts", name])),
            SearchKind::Target => {
                let address = self.visit.to(["deployments"]).with("target", name);
                of("workspace", &hit.workspace, of("workload", &hit.workload, address))
            }
            SearchKind::ClusterType => self.visit.to(["deployments"]).with("clusterType", name),
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
