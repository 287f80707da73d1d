//! The progress of one rollout: of a workload, of a version of it, or of a commit.

use std::borrow::Cow;

use axum::extract::Path;
use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::page::Page;
use hub_api::rollouts::EnvironmentRollout;

use crate::list::{self, Head, List, Slice};
use crate::part::{Cell, Row, Share};
use crate::visit::Visit;

pub(crate) async fn page(Path(of): Path<String>, visit: Visit) -> Response {
    list::answer(visit, OneRollout { of }).await
}

/// The environments of a rollout.
struct OneRollout {
    of: String,
}

impl List for OneRollout {
    type Item = EnvironmentRollout;

    const FILTER: &'static [&'static str] = &["environment", "selector"];

    fn columns(&self) -> Vec<Cow<'static, str>> {
        list::columns(&["As desired", "Environment", "Versions", "Other versions there", "Desired since", "First to look at"])
    }

    async fn fetch(&self, visit: &Visit, _: &Page) -> Result<Slice<EnvironmentRollout>, ClientError> {
        let answer = visit.api.rollout(&self.of, &visit.filter(), visit.at).await?;
        Ok(Slice::all(answer.environments).share(Share::new(answer.counts, None)))
    }

    async fn head(&self, visit: &Visit, _: &Slice<EnvironmentRollout>) -> Result<Head, ClientError> {
        let history = visit.to(["history"]).with("workload", &self.of);
        Ok(Head {
            title: self.of.clone(),
            about: "How far this rollout is in each environment, in the order of promotion.",
            empty: "No environment has it.",
            links: vec![("History".to_owned(), history.to_string())],
            share: None,
        })
    }

    fn row(&self, visit: &Visit, item: &EnvironmentRollout) -> Row {
        row(visit, item)
    }
}

fn row(visit: &Visit, one: &EnvironmentRollout) -> Row {
    let to = visit.to(["environments", &one.environment]);
    let attention = one.attention.first();
    let cells = vec![
        Cell::Share(Share::new(one.counts, Some(&to))),
        Cell::link(&one.environment, &to),
        Cell::code((!one.versions.is_empty()).then(|| one.versions.join(", "))),
        Cell::code((!one.instead.is_empty()).then(|| one.instead.join(", "))),
        Cell::time(one.desired_since, visit.now),
        attention.map_or(Cell::Empty, |first| Cell::link(&first.host, &visit.to(["hosts", &first.host]))),
    ];
    Row { key: one.environment.clone(), cells }
}
