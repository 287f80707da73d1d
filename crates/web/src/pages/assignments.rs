//! The assignments of an environment: what runs where.

use axum::extract::Path;
use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::compiled::{AssignmentOrder, AssignmentQuery, CompiledAssignment};

use super::compiled::refuse_past;
use super::list::ListPage;
use crate::part::{Cell, Row};
use crate::text::{count, visible};
use crate::visit::Visit;

pub(crate) async fn page(Path(environment): Path<String>, visit: Visit) -> Response {
    if let Some(refusal) = refuse_past(&visit) {
        return refusal;
    }
    let page = assignments(&visit, environment).await;
    visit.answer(page)
}

const FIELDS: [&str; 8] =
    ["workspace", "workload", "target", "clusterType", "place", "policy", "placeSelector", "targetSelector"];

async fn assignments(visit: &Visit, environment: String) -> Result<ListPage<'_>, ClientError> {
    let query = query(visit);
    let answer = visit.api.assignments(&environment, &query).await?.answer;
    let mut page = ListPage::new(visit, format!("Assignments of {}", visible(&environment)), &FIELDS);
    page.about = "What is desired where: each row is a deployment target at a cluster type or a cluster.";
    page.empty = "No policy assigns a deployment target here.";
    let here = visit.address.clone().without("cursor");
    let failing = if query.failing {
        ("Also what has no errors".to_owned(), here.without("failing").to_string())
    } else {
        (count(answer.failing as u64, "failing assignment"), here.with("failing", "true").to_string())
    };
    page.links = vec![
        failing,
        ("Why is something not here?".to_owned(), visit.to(["environments", &environment, "why-not"]).to_string()),
        ("Findings".to_owned(), visit.to(["environments", &environment, "findings"]).to_string()),
        (visible(&environment), visit.to(["environments", &environment]).to_string()),
    ];
    page.next = visit.next(answer.next.as_ref());
    page.table(&COLUMNS, answer.items.iter().map(|one| row((visit, &environment), one)).collect());
    Ok(page)
}

fn query(visit: &Visit) -> AssignmentQuery {
    let text = |name| visit.address.get(name).map(str::to_owned);
    AssignmentQuery {
        workload: text("workload"),
        workspace: text("workspace"),
        target: text("target"),
        cluster_type: text("clusterType"),
        place: text("place"),
        policy: text("policy"),
        place_selector: text("placeSelector"),
        target_selector: text("targetSelector"),
        failing: visit.address.get("failing").is_some(),
        sort: if visit.address.get("sort") == Some("target") {
            AssignmentOrder::Target
        } else {
            AssignmentOrder::Place
        },
        cursor: text("cursor"),
        limit: None,
    }
}

const COLUMNS: [&str; 8] =
    ["Assignment", "Workload", "Workspace", "Release", "Configuration", "Policies", "Findings", "Files"];

fn row((visit, environment): (&Visit, &str), one: &CompiledAssignment) -> Row {
    let to = visit.to(["environments", environment, "assignments", &one.place, &one.target]);
    let name = format!("{}/{}", one.place, one.target);
    let findings = match one.findings {
        0 => Cell::Empty,
        number => Cell::link(&count(number as u64, "finding"), &to),
    };
    let cells = vec![
        Cell::link(&visible(&name), &to),
        Cell::link(&visible(&one.workload), &visit.to(["rollouts", &one.workload])),
        Cell::Text(visible(&one.workspace)),
        Cell::code(one.release.as_deref().map(visible)),
        Cell::code(one.config_version.as_deref().map(visible)),
        Cell::Text(visible(&one.policies.join(", "))),
        findings,
        if one.is_failing {
            Cell::Text("none: it has errors".to_owned())
        } else {
            Cell::code(one.folder.as_deref().map(visible))
        },
    ];
    Row { key: visible(&name), cells }
}
