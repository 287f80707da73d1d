//! An environment: what is desired for each deployment target, and how many reconcilers hold it.

use axum::extract::Path;
use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::environments::EnvironmentTarget;
use hub_api::filter::Filter;
use hub_api::publication::Role;

use super::list::ListPage;
use crate::part::{Cell, Row, Share};
use crate::visit::Visit;

pub(crate) async fn page(Path(environment): Path<String>, visit: Visit) -> Response {
    let page = targets(&visit, environment).await;
    visit.answer(page)
}

async fn targets(visit: &Visit, environment: String) -> Result<ListPage<'_>, ClientError> {
    let filter = Filter { environment: Some(environment.clone()), ..visit.filter() };
    let answer = visit.api.targets(&filter, &visit.page(), visit.at).await?;
    let names = ["workspace", "workload", "target", "clusterType", "selector"];
    let mut page = ListPage::new(visit, environment.clone(), &names);
    page.about = "What is desired for each deployment target, and how many reconcilers hold it.";
    page.empty = "Nothing was published for this environment yet.";
    page.links = vec![
        ("Hosts".to_owned(), visit.to(["deployments"]).with("environment", &environment).to_string()),
        ("Drift".to_owned(), visit.to(["drift"]).with("environment", &environment).to_string()),
        ("History".to_owned(), visit.to(["history"]).with("environment", &environment).to_string()),
    ];
    if visit.at.is_none() {
        let compiled = [
            ("Assignments", "assignments"),
            ("Why not?", "why-not"),
            ("Findings", "findings"),
            ("Contract", "contract"),
        ];
        let link = |(label, name): (&str, &str)| {
            (label.to_owned(), visit.to(["environments", &environment, name]).to_string())
        };
        page.links.extend(compiled.map(link));
        let all = visit.api.environments(&filter).await?;
        let to = visit.to(["deployments"]).with("environment", &environment);
        page.total = all.items.first().map(|one| Share::new(one.counts, Some(&to)));
    }
    page.next = visit.next(answer.next.as_ref());
    page.table(&COLUMNS, answer.items.iter().map(|one| row(visit, one)).collect());
    Ok(page)
}

const COLUMNS: [&str; 8] =
    ["As desired", "Workload", "Target", "Content", "Version", "Configuration", "Commit", "Desired since"];

fn row(visit: &Visit, one: &EnvironmentTarget) -> Row {
    let names = one.target.as_ref();
    let mut to = visit.to(["deployments"]).with("environment", &one.environment);
    if let Some(names) = names {
        to = to.with("workspace", &names.workspace).with("workload", &names.workload).with("target", &names.target);
    }
    if let Some(cluster_type) = &one.cluster_type {
        to = to.with("clusterType", cluster_type);
    }
    let content = match (one.role, &one.cluster_type) {
        (Role::Application, _) => "manifests of the workload".to_owned(),
        (Role::Platform, Some(cluster_type)) => format!("folder of {cluster_type}"),
        (Role::Platform, None) => "platform folder".to_owned(),
    };
    let workload = names.map_or(Cell::Empty, |names| {
        Cell::link(&names.workload, &visit.to(["rollouts", &names.workload]).with("workspace", &names.workspace))
    });
    let cells = vec![
        one.counts.map_or(Cell::Empty, |counts| Cell::Share(Share::new(counts, Some(&to)))),
        workload,
        Cell::text(names.map(|names| names.target.as_str())),
        Cell::Text(content),
        Cell::code(one.version.as_deref()),
        Cell::code(one.config_version.as_deref()),
        one.commit.as_deref().map_or(Cell::Empty, |commit| {
            Cell::link(&commit.chars().take(10).collect::<String>(), &visit.to(["rollouts", commit]))
        }),
        Cell::time(one.desired_since, visit.now),
    ];
    let key = names.map(|names| format!("{}/{}/{}", names.workspace, names.workload, names.target));
    let place = one.cluster_type.as_deref().unwrap_or(one.role.as_str());
    Row { key: format!("{}/{place}", key.unwrap_or_default()), cells }
}
