//! The assignments of an environment: what runs where.

use std::borrow::Cow;

use axum::extract::Path;
use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::compiled::{AssignmentOrder, AssignmentQuery, CompiledAssignment};
use hub_api::page::Page;

use crate::list::{self, Head, List, Slice};
use crate::part::{Cell, Row};
use crate::text::{count, visible};
use crate::visit::Visit;

pub(crate) async fn page(Path(environment): Path<String>, visit: Visit) -> Response {
    let query = query(&visit);
    list::answer(visit, Assignments { environment, query }).await
}

/// The assignments of an environment.
struct Assignments {
    environment: String,
    query: AssignmentQuery,
}

impl List for Assignments {
    type Item = CompiledAssignment;

    const HAS_PAST: bool = false;
    const FILTER: &'static [&'static str] =
        &["workspace", "workload", "target", "clusterType", "place", "policy", "placeSelector", "targetSelector"];

    fn columns(&self) -> Vec<Cow<'static, str>> {
        columns()
    }

    async fn fetch(&self, visit: &Visit, page: &Page) -> Result<Slice<CompiledAssignment>, ClientError> {
        let query = AssignmentQuery { cursor: page.cursor.clone(), limit: page.limit, ..self.query.clone() };
        let answer = visit.api.assignments(&self.environment, &query).await?.answer;
        let total = i64::try_from(answer.total).ok();
        Ok(Slice { total, ..Slice::new(answer.items, answer.next) })
    }

    async fn head(&self, visit: &Visit, _: &Slice<CompiledAssignment>) -> Result<Head, ClientError> {
        let here = visit.address.clone().without("cursor");
        let failing = if self.query.failing {
            ("Also what has no errors".to_owned(), here.without("failing").to_string())
        } else {
            ("Only what has errors".to_owned(), here.with("failing", "true").to_string())
        };
        let to = |page: &[&str]| {
            visit.to(["environments", &self.environment].into_iter().chain(page.iter().copied())).to_string()
        };
        let place = self.query.place.as_ref().or(self.query.cluster_type.as_ref());
        let mut links = vec![
            failing,
            ("Why is something not here?".to_owned(), to(&["why-not"])),
            ("Findings".to_owned(), to(&["findings"])),
            (visible(&self.environment), to(&[])),
        ];
        links.extend(place.map(|name| (visible(name), visit.to_place(&self.environment, name).to_string())));
        Ok(Head {
            title: format!("Assignments of {}", visible(&self.environment)),
            about: "What is desired where: each row is a deployment target at a cluster type or a cluster.",
            empty: "No policy assigns a deployment target here.",
            links,
            share: None,
            curve: None,
        })
    }

    fn row(&self, visit: &Visit, one: &CompiledAssignment) -> Row {
        row(visit, &self.environment, one)
    }
}

/// The columns of [`row`].
pub(super) fn columns() -> Vec<Cow<'static, str>> {
    let names = ["Assignment", "Workload", "Workspace", "Release", "Configuration", "Policies", "Findings", "Files"];
    list::columns(&names)
}

/// The row of an assignment.
pub(super) fn row(visit: &Visit, environment: &str, one: &CompiledAssignment) -> Row {
    let to = visit.to(["environments", environment, "assignments", &one.place, &one.target]);
    let name = format!("{}/{}", one.place, one.target);
    let findings = match one.findings {
        0 => Cell::Empty,
        number => Cell::link(&count(number as u64, "finding"), &to),
    };
    let files = if one.is_failing {
        Cell::Text("none: it has errors".to_owned())
    } else {
        Cell::code(one.folder.as_deref().map(visible))
    };
    let cells = vec![
        Cell::link(&visible(&name), &to),
        Cell::link(&visible(&one.workload), &visit.to_workload(&one.workspace, &one.workload)),
        Cell::Text(visible(&one.workspace)),
        Cell::code(one.release.as_deref().map(visible)),
        Cell::code(one.config_version.as_deref().map(visible)),
        Cell::Text(visible(one.policies.join(", "))),
        findings,
        files,
    ];
    Row { key: visible(&name), cells }
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
        cursor: None,
        limit: None,
    }
}
