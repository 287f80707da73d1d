//! The progress of one rollout: of a workload, of a version of it, or of a commit.

use std::borrow::Cow;

use axum::extract::Path;
use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::deployments::Deployment;
use hub_api::page::Page;
use hub_api::rollouts::{EnvironmentRollout, Rollout, RolloutOf};

use super::deployments;
use crate::list::{self, Head, List, Slice};
use crate::part::{Cell, Row, Share};
use crate::text::short;
use crate::visit::Visit;

pub(crate) async fn page(Path(of): Path<String>, visit: Visit) -> Response {
    if visit.address.get("show") == Some("hosts") {
        return list::answer(visit, RolloutHosts { of }).await;
    }
    match visit.api.rollout(&of, &visit.filter(), visit.at).await {
        Ok(rollout) => list::answer(visit, RolloutEnvironments { rollout }).await,
        Err(error) => visit.refuse(error.into()),
    }
}

/// The environments of a rollout.
struct RolloutEnvironments {
    rollout: Rollout,
}

impl List for RolloutEnvironments {
    type Item = EnvironmentRollout;

    const FILTER: &'static [&'static str] = &["environment", "selector"];

    fn columns(&self) -> Vec<Cow<'static, str>> {
        let names = [
            "As desired",
            "Environment",
            "Versions",
            "Other versions there",
            "Pinned",
            "Desired since",
            "First to look at",
        ];
        list::columns(&names)
    }

    async fn fetch(&self, _: &Visit, _: &Page) -> Result<Slice<EnvironmentRollout>, ClientError> {
        Ok(Slice::all(self.rollout.environments.clone()).share(Share::new(self.rollout.counts, None)))
    }

    async fn head(&self, visit: &Visit, _: &Slice<EnvironmentRollout>) -> Result<Head, ClientError> {
        let hosts = ("Hosts".to_owned(), visit.address.clone().with("show", "hosts").to_string());
        Ok(Head {
            title: title(&self.rollout.what),
            about: about(&self.rollout),
            empty: "No environment has it.",
            links: std::iter::once(hosts).chain(links(visit, &self.rollout.what)).collect(),
            share: None,
        })
    }

    fn row(&self, visit: &Visit, item: &EnvironmentRollout) -> Row {
        row(visit, item)
    }
}

/// What the rollout is about, as people say it.
fn title(what: &RolloutOf) -> String {
    match what {
        RolloutOf::Commit { commit, .. } => format!("commit {}", short(commit)),
        RolloutOf::Version { workload, version, .. } => format!("{workload} {version}"),
        RolloutOf::Workload { workload, .. } => workload.clone(),
    }
}

fn about(rollout: &Rollout) -> &'static str {
    match (&rollout.what, rollout.done) {
        (_, true) => "All hosts of this rollout hold it.",
        (RolloutOf::Commit { .. }, _) => {
            "How many reconcilers hold what this commit made desired, in each environment, in the order of promotion."
        }
        (RolloutOf::Version { .. }, _) => {
            "How many reconcilers hold this version, in each environment, in the order of promotion."
        }
        (RolloutOf::Workload { .. }, _) => {
            "How many reconcilers hold the desired versions, in each environment, in the order of promotion."
        }
    }
}

/// Links to what else is known about the subject of a rollout.
fn links(visit: &Visit, what: &RolloutOf) -> Vec<(String, String)> {
    match what {
        RolloutOf::Commit { .. } => Vec::new(),
        RolloutOf::Version { workspace, workload, .. } | RolloutOf::Workload { workspace, workload, .. } => {
            let to = |page: &str| visit.to([page]).with("workspace", workspace).with("workload", workload).to_string();
            vec![
                ("Workload".to_owned(), visit.to(["rollouts", workload]).with("workspace", workspace).to_string()),
                ("History".to_owned(), to("history")),
                ("Rollouts".to_owned(), to("rollouts")),
            ]
        }
    }
}

/// The reconcilers of a rollout.
struct RolloutHosts {
    of: String,
}

impl List for RolloutHosts {
    type Item = Deployment;

    const HAS_PAST: bool = false;
    const FILTER: &'static [&'static str] = &["environment", "clusterType", "host", "selector", "status"];

    fn columns(&self) -> Vec<Cow<'static, str>> {
        deployments::columns()
    }

    async fn fetch(&self, visit: &Visit, page: &Page) -> Result<Slice<Deployment>, ClientError> {
        let answer = visit.api.rollout_hosts(&self.of, &visit.filter(), page).await?;
        Ok(Slice::new(answer.items, answer.next))
    }

    async fn head(&self, visit: &Visit, _: &Slice<Deployment>) -> Result<Head, ClientError> {
        let rollout = visit.address.clone().without("show").without("cursor").without("status").to_string();
        Ok(Head {
            title: format!("Hosts of {}", self.of),
            about: "The reconcilers from which this rollout is expected, and what each applied last.",
            empty: "It is expected from no reconciler.",
            links: vec![("Rollout".to_owned(), rollout)],
            share: None,
        })
    }

    fn row(&self, visit: &Visit, item: &Deployment) -> Row {
        deployments::row(visit, item)
    }
}

fn row(visit: &Visit, one: &EnvironmentRollout) -> Row {
    let environment = visit.to(["environments", &one.environment]);
    let to = visit.address.clone().with("show", "hosts").with("environment", &one.environment);
    let attention = one.attention.first();
    let cells = vec![
        Cell::Share(Share::new(one.counts, Some(&to))),
        Cell::link(&one.environment, &environment),
        Cell::code((!one.versions.is_empty()).then(|| one.versions.join(", "))),
        Cell::code((!one.instead.is_empty()).then(|| one.instead.join(", "))),
        Cell::text((one.pinned > 0).then(|| one.pinned.to_string())),
        Cell::time(one.desired_since, visit.now),
        attention.map_or(Cell::Empty, |first| Cell::link(&first.host, &visit.to(["hosts", &first.host]))),
    ];
    Row { key: one.environment.clone(), cells }
}
