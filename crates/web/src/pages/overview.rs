//! The overview: the graph of environments, with what moves between them and what waits, and the same as a table.

use askama::Template;
use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::environments::Environment;
use hub_api::filter::Filter;
use hub_api::promotions::{PromotionStatus, Wait};

use super::graph::{Given, Graph, Node};
use crate::address::web_url;
use crate::part::{Moment, Share};
use crate::text::{count, short};
use crate::visit::Visit;

pub(crate) async fn page(visit: Visit) -> Response {
    match visit.with_changes(&Filter::default()).await {
        Ok(visit) => visit.answer(overview(&visit).await),
        Err(response) => response,
    }
}

/// The overview.
#[derive(Template)]
#[template(path = "overview.html")]
struct OverviewPage<'a> {
    visit: &'a Visit,
    graph: Graph<Summary>,
    /// What the names of the table's environments contain. Empty: anything.
    find: String,
    /// The number of environments before those of the table.
    skipped: usize,
    /// When the hub recorded the counts. None: they are exact.
    recorded: Option<Moment>,
}

/// What the overview says of an environment.
#[derive(Clone, Debug, Default)]
struct Summary {
    to: String,
    share: Share,
    targets: i64,
    cluster_types: i64,
    /// The page of the promotions into it. None: promotions are not known.
    promotion: Option<String>,
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

/// The number of environments in the table.
const ROWS: usize = 40;

/// The number of moves and waits that the overview lists for an environment.
const LISTED: usize = 3;

async fn overview(visit: &Visit) -> Result<OverviewPage<'_>, ClientError> {
    let environments = visit.api.environments(&visit.filter(), visit.at).await?;
    // A process that is only a hub has no promotions: the graph has no edges then.
    let promotions = visit.api.promotions().await?;
    let given = environments.items.into_iter().map(|environment| {
        let promotion = promotions.iter().find(|one| one.environment == environment.name);
        let content = summary(visit, &environment, promotion);
        let before = promotion.map(|one| one.before.clone()).unwrap_or_default();
        let is_active = !content.moving.is_empty() || !content.waits.is_empty();
        Given { name: environment.name, before, is_active, content }
    });
    let find = visit.address.get("find").unwrap_or_default().to_owned();
    let skipped = visit.address.get("skip").and_then(|text| text.parse().ok()).unwrap_or_default();
    let recorded = environments.recorded_on.map(|on| Moment::new(on, visit.now));
    Ok(OverviewPage { visit, graph: Graph::new(given.collect()), find, skipped, recorded })
}

fn summary(visit: &Visit, environment: &Environment, promotion: Option<&PromotionStatus>) -> Summary {
    let to = visit.to(["environments", &environment.name]);
    let share = Share::new(environment.counts, Some(&to));
    let (targets, cluster_types) = (environment.targets, environment.cluster_types);
    let mut summary = Summary { to: to.to_string(), share, targets, cluster_types, ..Summary::default() };
    // What moved and waited at an earlier time is not known.
    let Some(promotion) = promotion.filter(|_| visit.at.is_none()) else { return summary };
    summary.promotion = Some(visit.to(["environments", &environment.name, "promotion"]).to_string());
    summary.problem.clone_from(&promotion.problem);
    let moving = promotion.subjects.iter().filter_map(|subject| Some((subject, subject.moving.as_ref()?)));
    summary.moving = moving
        .map(|(subject, moving)| {
            let name = subject.subject.as_deref().unwrap_or("platform");
            format!("{name} {}", short(&moving.revision))
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
        url: wait.url.as_deref().and_then(web_url).map(str::to_owned),
    }
}

impl OverviewPage<'_> {
    /// The environments that are found.
    fn found(&self) -> Vec<&Node<Summary>> {
        let find = self.find.to_lowercase();
        self.graph.nodes.iter().filter(|node| node.name.to_lowercase().contains(&find)).collect()
    }

    /// The environments of the table.
    fn listed(&self) -> Vec<&Node<Summary>> {
        self.found().into_iter().skip(self.skipped).take(ROWS).collect()
    }

    /// Whether not all environments fit into the table.
    fn is_long(&self) -> bool {
        self.graph.nodes.len() > ROWS
    }

    /// The address of the next environments of the table.
    fn next(&self) -> Option<String> {
        let next = self.skipped.saturating_add(ROWS);
        (next < self.found().len()).then(|| self.visit.address.clone().with("skip", &next.to_string()).to_string())
    }

    fn unfiltered(&self) -> String {
        self.visit.address.clone().without("find").without("skip").to_string()
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
            ([], 0) => {
                let number = |number: i64, noun| count(number.unsigned_abs(), noun);
                format!("{} · {}", number(self.targets, "target"), number(self.cluster_types, "cluster type"))
            }
            ([], 1) => "1 change waits".to_owned(),
            ([], waits) => format!("{waits} changes wait"),
            ([one], _) => format!("→ {one}"),
            (several, _) => format!("→ {} changes move", several.len()),
        }
    }
}
