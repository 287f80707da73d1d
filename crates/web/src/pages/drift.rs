//! Drift: the commits that are not applied everywhere, oldest first.

use std::borrow::Cow;

use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::drift::Drifting;
use hub_api::page::Page;

use crate::list::{self, Head, List, Slice};
use crate::part::{Cell, Row, Share};
use crate::text::short;
use crate::visit::Visit;

pub(crate) async fn page(visit: Visit) -> Response {
    list::answer(visit, DriftingCommits).await
}

/// The commits that are not applied everywhere.
struct DriftingCommits;

impl List for DriftingCommits {
    type Item = Drifting;

    const FILTER: &'static [&'static str] =
        &["environment", "workspace", "workload", "target", "clusterType", "selector"];

    fn columns(&self) -> Vec<Cow<'static, str>> {
        list::columns(&["As desired", "Environment", "Commit", "Desired since"])
    }

    async fn fetch(&self, visit: &Visit, page: &Page) -> Result<Slice<Drifting>, ClientError> {
        let answer = visit.api.drift(&visit.filter(), page, visit.at).await?;
        let share = Share::new(answer.counts, None);
        Ok(Slice::new(answer.items, answer.next).share(share).recorded(answer.recorded_on))
    }

    async fn head(&self, _: &Visit, _: &Slice<Drifting>) -> Result<Head, ClientError> {
        Ok(Head {
            title: "Drift".to_owned(),
            about: "The commits that are not applied at all places where they are desired, the oldest first.",
            empty: "Every reconciler holds what is desired.",
            ..Head::default()
        })
    }

    fn row(&self, visit: &Visit, one: &Drifting) -> Row {
        let to = visit.to(["rollouts", &one.commit]).with("environment", &one.environment);
        let cells = vec![
            Cell::Share(Share::new(one.counts, Some(&to))),
            Cell::link(&one.environment, &visit.to(["environments", &one.environment])),
            Cell::link(&short(&one.commit), &to),
            Cell::time(Some(one.desired_since), visit.now),
        ];
        Row { key: format!("{}@{}", one.commit, one.environment), cells }
    }
}
