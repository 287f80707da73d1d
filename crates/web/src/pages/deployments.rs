//! Which version of which workload is on which host.

use std::borrow::Cow;

use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::deployments::Deployment;
use hub_api::page::Page;

use crate::address::Address;
use crate::list::{self, Head, List, Slice};
use crate::part::{Cell, Row};
use crate::visit::Visit;

pub(crate) async fn page(visit: Visit) -> Response {
    list::answer(visit, AllDeployments).await
}

/// The reconcilers of all hosts.
struct AllDeployments;

impl List for AllDeployments {
    type Item = Deployment;

    const FILTER: &'static [&'static str] =
        &["environment", "workspace", "workload", "target", "clusterType", "host", "selector", "status"];

    fn columns(&self) -> Vec<Cow<'static, str>> {
        columns()
    }

    async fn fetch(&self, visit: &Visit, page: &Page) -> Result<Slice<Deployment>, ClientError> {
        let answer = visit.api.deployments(&visit.filter(), page, visit.at).await?;
        Ok(Slice::new(answer.items, answer.next))
    }

    async fn head(&self, _: &Visit, _: &Slice<Deployment>) -> Result<Head, ClientError> {
        Ok(Head {
            title: "Hosts".to_owned(),
            about: "Each row is a reconciler of a host: what it applied last, and whether that is what is desired.",
            empty: "No host has reported or is registered yet. `kalypso report` sends a first report.",
            ..Head::default()
        })
    }

    fn row(&self, visit: &Visit, item: &Deployment) -> Row {
        row(visit, item)
    }
}

/// The columns of [`row`].
pub(crate) fn columns() -> Vec<Cow<'static, str>> {
    let names = ["State", "Host", "Workload", "Target", "Environment", "Version", "Configuration", "Since", "Message"];
    list::columns(&names)
}

/// The assignments that a deployment is of: why it is there, and with which values.
fn why(visit: &Visit, one: &Deployment) -> Option<Address> {
    let (environment, cluster_type, target) =
        (one.environment.as_ref()?, one.cluster_type.as_ref()?, one.target.as_ref()?);
    let list = visit.to(["environments", environment, "assignments"]).with("clusterType", cluster_type);
    visit.compiles.then(|| list.with("workspace", &target.workspace).with("workload", &target.workload))
}

/// The row of a deployment.
pub(crate) fn row(visit: &Visit, one: &Deployment) -> Row {
    let target = one.target.as_ref();
    let workload = |names: &hub_api::deployments::TargetNames| {
        Cell::link(&names.workload, &visit.to_workload(&names.workspace, &names.workload))
    };
    let cells = vec![
        Cell::state(one.state),
        Cell::link(&one.host, &visit.to(["hosts", &one.host])),
        target.map_or_else(|| Cell::Code(one.reconciler.clone()), workload),
        target.map_or(Cell::Empty, |names| {
            why(visit, one).map_or_else(|| Cell::Text(names.target.clone()), |to| Cell::link(&names.target, &to))
        }),
        one.environment.as_ref().map_or(Cell::Empty, |name| Cell::link(name, &visit.to(["environments", name]))),
        Cell::code(one.version.as_deref()),
        Cell::code(one.config_version.as_deref()),
        Cell::time(one.since, visit.now),
        one.message.as_ref().or(one.unplaced.as_ref()).map_or(Cell::Empty, |text| Cell::Message(text.clone())),
    ];
    Row { key: format!("{}/{}", one.host, one.reconciler), cells }
}
