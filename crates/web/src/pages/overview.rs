//! The overview: the graph of environments, with what moves between them and what waits, and the same as a table.

use askama::Template;
use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::environments::Environment;
use hub_api::promotions::{PromotionStatus, Wait};

use super::graph::{Given, Graph};
use crate::part::{Moment, Share};
use crate::visit::Visit;

pub(crate) async fn page(visit: Visit) -> Response {
    let page = overview(&visit).await;
    visit.answer(page)
}

/// The overview.
#[derive(Template)]
#[template(path = "overview.html")]
struct OverviewPage<'a> {
    visit: &'a Visit,
    graph: Graph<Summary>,
    /// Whether the order of promotion is known.
    has_order: bool,
}

/// What the overview says of an environment.
#[derive(Clone, Debug, Default)]
struct Summary {
    to: String,
    share: Share,
    targets: i64,
    cluster_types: i64,
    /// What moves into it: the subject and its revision.
    moving: Vec<String>,
    waits: Vec<Waiting>,
    problem: Option<String>,
}

/// What an environment waits for.
#[derive(Clone, Debug)]
struct Waiting {
    text: String,
    since: Option<Moment>,
    command: Option<String>,
    url: Option<String>,
}

/// The number of moves and waits that the overview lists for an environment.
const LISTED: usize = 3;

async fn overview(visit: &Visit) -> Result<OverviewPage<'_>, ClientError> {
    let environments = visit.api.environments(&visit.filter()).await?;
    // A process that is only a hub has no promotions, and a reader of some workspaces may not see them: the graph has no edges then.
    let promotions = visit.api.promotions().await.unwrap_or_default();
    let given = environments.items.into_iter().map(|environment| {
        let promotion = promotions.iter().find(|one| one.environment == environment.name);
        let content = summary(visit, &environment, promotion);
        let before = promotion.map(|one| one.before.clone()).unwrap_or_default();
        let is_active = !content.moving.is_empty() || !content.waits.is_empty();
        Given { name: environment.name, before, is_active, content }
    });
    Ok(OverviewPage { visit, graph: Graph::new(given.collect()), has_order: !promotions.is_empty() })
}

fn summary(visit: &Visit, environment: &Environment, promotion: Option<&PromotionStatus>) -> Summary {
    let to = visit.to(["environments", &environment.name]);
    let share = Share::new(environment.counts, Some(&to));
    let (targets, cluster_types) = (environment.targets, environment.cluster_types);
    let mut summary = Summary { to: to.to_string(), share, targets, cluster_types, ..Summary::default() };
    let Some(promotion) = promotion else { return summary };
    summary.problem.clone_from(&promotion.problem);
    let moving = promotion.subjects.iter().filter_map(|subject| Some((subject, subject.moving.as_ref()?)));
    summary.moving = moving
        .map(|(subject, moving)| {
            let name = subject.subject.as_deref().unwrap_or("platform");
            let revision: String = moving.revision.chars().take(10).collect();
            format!("{name} {revision}")
        })
        .collect();
    summary.waits = promotion.waits().map(|wait| waiting(visit, wait)).collect();
    summary
}

fn waiting(visit: &Visit, wait: &Wait) -> Waiting {
    Waiting {
        text: wait.text.clone(),
        since: wait.since.map(|since| Moment::new(since, visit.now)),
        command: wait.command.clone(),
        url: wait.url.clone().filter(|url| url.starts_with("https://") || url.starts_with("http://")),
    }
}

impl Summary {
    /// The waits that are listed.
    fn listed(&self) -> &[Waiting] {
        self.waits.get(..LISTED).unwrap_or(&self.waits)
    }

    /// The number of waits that are not listed.
    fn more(&self) -> usize {
        self.waits.len().saturating_sub(LISTED)
    }

    /// What happens there, in one line for the graph.
    fn line(&self) -> String {
        match (self.moving.as_slice(), self.waits.len()) {
            ([], 0) => format!("{} targets · {} cluster types", self.targets, self.cluster_types),
            ([], 1) => "1 change waits".to_owned(),
            ([], waits) => format!("{waits} changes wait"),
            ([one], _) => format!("→ {one}"),
            (several, _) => format!("→ {} changes move", several.len()),
        }
    }
}
