//! The deployment targets of an environment: what is desired for each of them, and how many reconcilers hold it.

use std::borrow::Cow;

use axum::extract::Path;
use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::environments::EnvironmentTarget;
use hub_api::filter::Filter;
use hub_api::page::Page;
use hub_api::publication::Role;

use crate::list::{self, Head, List, Slice};
use crate::part::{Cell, Row, Share};
use crate::text::short;
use crate::visit::Visit;

pub(crate) async fn page(Path(environment): Path<String>, visit: Visit) -> Response {
    list::answer(visit, Targets { environment }).await
}

/// The column that names the workload.
pub(super) const WORKLOAD: usize = 1;

/// The column that names the target.
pub(super) const TARGET: usize = 2;

/// The deployment targets of an environment.
struct Targets {
    environment: String,
}

impl List for Targets {
    type Item = EnvironmentTarget;

    const FILTER: &'static [&'static str] = &["workspace", "workload", "target", "clusterType", "selector"];

    fn filter(&self, visit: &Visit) -> Filter {
        Filter { environment: Some(self.environment.clone()), ..visit.filter() }
    }

    fn columns(&self) -> Vec<Cow<'static, str>> {
        columns()
    }

    async fn fetch(&self, visit: &Visit, page: &Page) -> Result<Slice<EnvironmentTarget>, ClientError> {
        let answer = visit.api.targets(&self.filter(visit), page, visit.at).await?;
        Ok(Slice::new(answer.items, answer.next).recorded(answer.recorded_on))
    }

    async fn head(&self, visit: &Visit, _: &Slice<EnvironmentTarget>) -> Result<Head, ClientError> {
        let to = |page: &str| visit.to([page]).with("environment", &self.environment);
        let links = [("Hosts", "deployments"), ("Drift", "drift"), ("History", "history")]
            .map(|(label, page)| (label.to_owned(), to(page).to_string()));
        let environment = visit.to(["environments", &self.environment]).to_string();
        let mut head = Head {
            title: format!("Targets of {}", self.environment),
            about: "What is desired for each deployment target, and how many reconcilers hold it.",
            empty: "Nothing was published for this environment yet.",
            links: std::iter::once(("Environment".to_owned(), environment)).chain(links).collect(),
            share: None,
            curve: None,
        };
        let all = visit.api.environments(&self.filter(visit), visit.at).await?;
        head.share = all.items.first().map(|one| Share::new(one.counts, Some(&to("deployments"))));
        Ok(head)
    }

    fn row(&self, visit: &Visit, item: &EnvironmentTarget) -> Row {
        row(visit, item)
    }
}

/// The columns of [`row`].
pub(super) fn columns() -> Vec<Cow<'static, str>> {
    let names = ["As desired", "Workload", "Target", "Content", "Version", "Configuration", "Commit", "Desired since"];
    list::columns(&names)
}

/// The row of a target.
pub(super) fn row(visit: &Visit, one: &EnvironmentTarget) -> Row {
    let names = one.target.as_ref();
    let mut to = visit.to(["deployments"]).with("environment", &one.environment);
    if let Some(names) = names {
        to = to.with("workspace", &names.workspace).with("workload", &names.workload).with("target", &names.target);
    }
    if let Some(cluster_type) = &one.cluster_type {
        to = to.with("clusterType", cluster_type);
    }
    let content = match (one.role, &one.cluster_type) {
        (Role::Application, _) => Cell::Text("manifests of the workload".to_owned()),
        (Role::Platform, Some(cluster_type)) => {
            Cell::link(&format!("folder of {cluster_type}"), &visit.to_place(&one.environment, cluster_type))
        }
        (Role::Platform, None) => Cell::Text("platform folder".to_owned()),
    };
    let workload = names.map_or(Cell::Empty, |names| {
        Cell::link(&names.workload, &visit.to_workload(&names.workspace, &names.workload))
    });
    let cells = vec![
        one.counts.map_or(Cell::Empty, |counts| Cell::Share(Share::new(counts, Some(&to)))),
        workload,
        Cell::text(names.map(|names| names.target.as_str())),
        content,
        Cell::code(one.version.as_deref()),
        Cell::code(one.config_version.as_deref()),
        one.commit.as_deref().map_or(Cell::Empty, |commit| Cell::link(&short(commit), &visit.to(["rollouts", commit]))),
        Cell::time(one.desired_since, visit.now),
    ];
    let key = names.map(|names| format!("{}/{}/{}", names.workspace, names.workload, names.target));
    let place = one.cluster_type.as_deref().unwrap_or(one.role.as_str());
    Row { key: format!("{}/{place}", key.unwrap_or_default()), cells }
}
