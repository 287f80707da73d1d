//! Which version of which workload is on which host.

use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::deployments::Deployment;

use super::list::ListPage;
use crate::part::{Cell, Row};
use crate::visit::Visit;

pub(crate) async fn page(visit: Visit) -> Response {
    let page = deployments(&visit).await;
    visit.answer(page)
}

async fn deployments(visit: &Visit) -> Result<ListPage<'_>, ClientError> {
    let names = ["environment", "workspace", "workload", "target", "clusterType", "host", "selector", "status"];
    let answer = visit.api.deployments(&visit.filter(), &visit.page(), visit.at).await?;
    let mut page = ListPage::new(visit, "Hosts", &names);
    page.about = "Each row is a reconciler of a host: what it applied last, and whether that is what is desired.";
    page.empty = "No host has reported or is registered yet. `kalypso report` sends a first report.";
    page.next = visit.next(answer.next.as_ref());
    page.table(&COLUMNS, answer.items.iter().map(|one| row(visit, one)).collect());
    Ok(page)
}

/// The columns of [`row`].
pub(crate) const COLUMNS: [&str; 9] =
    ["State", "Host", "Workload", "Target", "Environment", "Version", "Configuration", "Since", "Message"];

/// The row of a deployment.
pub(crate) fn row(visit: &Visit, one: &Deployment) -> Row {
    let target = one.target.as_ref();
    let workload = |names: &hub_api::deployments::TargetNames| {
        Cell::link(&names.workload, &visit.to(["rollouts", &names.workload]))
    };
    let cells = vec![
        Cell::state(one.state),
        Cell::link(&one.host, &visit.to(["hosts", &one.host])),
        target.map_or_else(|| Cell::Code(one.reconciler.clone()), workload),
        Cell::text(target.map(|names| names.target.as_str())),
        one.environment.as_ref().map_or(Cell::Empty, |name| Cell::link(name, &visit.to(["environments", name]))),
        Cell::code(one.version.as_deref()),
        Cell::code(one.config_version.as_deref()),
        Cell::time(one.since, visit.now),
        one.message.as_ref().or(one.unplaced.as_ref()).map_or(Cell::Empty, |text| Cell::Message(text.clone())),
    ];
    Row { key: format!("{}/{}", one.host, one.reconciler), cells }
}
