//! The progress of one rollout: of a workload, of a version of it, or of a commit.

use std::borrow::Cow;
use std::collections::BTreeMap;

use axum::extract::Path;
use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::deployments::Deployment;
use hub_api::page::Page;
use hub_api::promotions::{PromotionStatus, SubjectStatus, Wait};
use hub_api::rollouts::{CurvePoint, EnvironmentRollout, Rollout, RolloutOf};

use super::deployments;
use crate::address::Address;
use crate::curve::Curve;
use crate::list::{self, Head, List, Slice};
use crate::part::{Cell, Row, Share};
use crate::text::short;
use crate::visit::Visit;

pub(crate) async fn page(Path(of): Path<String>, visit: Visit) -> Response {
    if visit.address.get("show") == Some("hosts") {
        return list::answer(visit, RolloutHosts { of }).await;
    }
    match environments(&visit, &of).await {
        Ok(environments) => list::answer(visit, environments).await,
        Err(error) => visit.refuse(error.into()),
    }
}

/// The environments of a rollout.
struct RolloutEnvironments {
    rollout: Rollout,
    /// The progress over time. None: it is not recorded for this selection.
    curve: Option<Curve>,
    /// What the workload waits for now, by environment. Empty at an earlier time.
    waits: BTreeMap<String, Vec<Wait>>,
}

async fn environments(visit: &Visit, of: &str) -> Result<RolloutEnvironments, ClientError> {
    let rollout = visit.api.rollout(of, &visit.filter(), visit.at).await?;
    let promotions = if visit.at.is_none() { visit.api.promotions().await? } else { Vec::new() };
    let waits = waits(&rollout.what, promotions);
    let curve = curve(visit, &rollout).await?;
    Ok(RolloutEnvironments { rollout, curve, waits })
}

/// The progress of a rollout up to the time of the page. It is recorded for all hosts together only.
async fn curve(visit: &Visit, rollout: &Rollout) -> Result<Option<Curve>, ClientError> {
    let filter = visit.filter();
    if filter.selector.is_some() {
        return Ok(None);
    }
    let recorded = visit.api.rollout_curve(&rollout.of, &filter).await?;
    let until = visit.at.unwrap_or(visit.now);
    let last = CurvePoint { on: until, counts: rollout.counts };
    let points = recorded.points.into_iter().filter(|point| point.on < until).chain([last]).collect();
    Ok(Curve::new(points, visit.now))
}

/// What the workload of a rollout waits for before environments and in them.
fn waits(what: &RolloutOf, promotions: Vec<PromotionStatus>) -> BTreeMap<String, Vec<Wait>> {
    let (RolloutOf::Workload { workload, .. } | RolloutOf::Version { workload, .. }) = what else {
        return BTreeMap::new();
    };
    let in_environment = |one: PromotionStatus| {
        let subjects = one.subjects.iter().filter(|subject| subject.is_of_workload(workload));
        let waits: Vec<_> = subjects.flat_map(SubjectStatus::waits).cloned().collect();
        (one.environment, waits)
    };
    promotions.into_iter().map(in_environment).collect()
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
            "Waits for",
            "Pinned",
            "Desired since",
            "First to look at",
        ];
        list::columns(&names)
    }

    async fn fetch(&self, _: &Visit, _: &Page) -> Result<Slice<EnvironmentRollout>, ClientError> {
        let share = Share::new(self.rollout.counts, None);
        Ok(Slice::all(self.rollout.environments.clone()).share(share).recorded(self.rollout.recorded_on))
    }

    async fn head(&self, visit: &Visit, _: &Slice<EnvironmentRollout>) -> Result<Head, ClientError> {
        let hosts = ("Hosts".to_owned(), visit.address.clone().with("show", "hosts").to_string());
        Ok(Head {
            title: title(&self.rollout.what),
            about: about(&self.rollout),
            empty: "No environment has it.",
            links: std::iter::once(hosts).chain(links(visit, &self.rollout.what)).collect(),
            share: None,
            curve: self.curve.clone(),
        })
    }

    fn row(&self, visit: &Visit, item: &EnvironmentRollout) -> Row {
        let waits = self.waits.get(&item.environment).map_or(&[][..], Vec::as_slice);
        row(visit, (&self.rollout.what, item), waits)
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
            let of_all = ("All versions".to_owned(), visit.to(["rollouts", workload]).with("workspace", workspace));
            let to = |page: &str| visit.to([page]).with("workspace", workspace).with("workload", workload);
            let own = [
                ("Workload".to_owned(), visit.to_workload(workspace, workload)),
                ("History".to_owned(), to("history")),
                ("Rollouts".to_owned(), to("rollouts")),
            ];
            let of_all = matches!(what, RolloutOf::Version { .. }).then_some(of_all);
            own.into_iter().chain(of_all).map(|(label, to)| (label, to.to_string())).collect()
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
            curve: None,
        })
    }

    fn row(&self, visit: &Visit, item: &Deployment) -> Row {
        deployments::row(visit, item)
    }
}

fn row(visit: &Visit, (what, one): (&RolloutOf, &EnvironmentRollout), waits: &[Wait]) -> Row {
    let environment = by_places(visit, what, &one.environment);
    let to = visit.address.clone().with("show", "hosts").with("environment", &one.environment);
    let attention = one.attention.first();
    let cells = vec![
        Cell::Share(Share::new(one.counts, Some(&to))),
        Cell::link(&one.environment, &environment),
        Cell::code((!one.versions.is_empty()).then(|| one.versions.join(", "))),
        Cell::code((!one.instead.is_empty()).then(|| one.instead.join(", "))),
        waiting(visit, (one, waits)),
        Cell::text((one.pinned > 0).then(|| one.pinned.to_string())),
        Cell::time(one.desired_since, visit.now),
        attention.map_or(Cell::Empty, |first| Cell::link(&first.host, &visit.to(["hosts", &first.host]))),
    ];
    Row { key: one.environment.clone(), cells }
}

/// The table of an environment, with the versions of the workload by cluster types. There, they can be grouped by any label.
fn by_places(visit: &Visit, what: &RolloutOf, environment: &str) -> Address {
    let table = visit.to(["environments", environment]);
    match what {
        RolloutOf::Commit { .. } => table,
        RolloutOf::Workload { workspace, workload, .. } | RolloutOf::Version { workspace, workload, .. } => {
            let table = table.with("workspace", workspace).with("workload", workload);
            table.with("rows", "clusterType").with("columns", "version")
        }
    }
}

/// What an environment waits for, with a link to its promotions, which show the rings and the gates.
fn waiting(visit: &Visit, (one, waits): (&EnvironmentRollout, &[Wait])) -> Cell {
    let Some((first, others)) = waits.split_first() else { return Cell::Empty };
    let text = match others.len() {
        0 => first.text.clone(),
        others => format!("{}, and {others} more", first.text),
    };
    Cell::link(&text, &visit.to(["environments", &one.environment, "promotion"]))
}

#[cfg(test)]
mod tests {
    use hub_api::promotions::SubjectKind;

    use super::*;

    fn subject(name: &str, kind: SubjectKind, text: &str) -> SubjectStatus {
        let wait = Wait { text: text.to_owned(), ..Wait::default() };
        SubjectStatus { waiting_for: vec![wait], ..SubjectStatus::new(Some(name), kind) }
    }

    #[test]
    fn a_rollout_waits_for_what_its_workload_waits_for() {
        let promotion = PromotionStatus {
            environment: "prod".to_owned(),
            before: Vec::new(),
            after: Vec::new(),
            evaluated_on: None,
            problem: None,
            waiting_for: vec![Wait::default()],
            subjects: vec![
                subject("till", SubjectKind::Release, "approval"),
                subject("till", SubjectKind::Values, "values"),
                subject("shop", SubjectKind::Release, "shop"),
            ],
        };
        let [workspace, application, workload] = ["acme", "till", "till"].map(str::to_owned);
        let of = RolloutOf::Workload { workspace, application, workload };
        let found = waits(&of, vec![promotion.clone()]);
        let texts: Vec<_> = found.get("prod").unwrap().iter().map(|wait| wait.text.as_str()).collect();
        assert_eq!(texts, ["approval"]);
        assert!(waits(&RolloutOf::default(), vec![promotion]).is_empty());
    }
}
