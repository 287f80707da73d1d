//! The audit log: who did what.

use std::borrow::Cow;

use axum::response::Response;
use hub_api::audit::{AuditEntry, AuditFilter};
use hub_api::client::ClientError;
use hub_api::page::Page;

use crate::list::{self, Head, List, Slice};
use crate::part::{Cell, Row};
use crate::visit::Visit;

pub(crate) async fn page(visit: Visit) -> Response {
    let filter = AuditFilter {
        actor: visit.address.get("actor").map(str::to_owned),
        subject: visit.address.get("subject").map(str::to_owned),
        until: visit.at,
        ..AuditFilter::default()
    };
    list::answer(visit, Entries(filter)).await
}

/// The entries of the audit log.
struct Entries(AuditFilter);

impl List for Entries {
    type Item = AuditEntry;

    const FILTER: &'static [&'static str] = &["actor", "subject"];

    fn columns(&self) -> Vec<Cow<'static, str>> {
        list::columns(&["When", "Who", "What", "About", "Details"])
    }

    async fn fetch(&self, visit: &Visit, page: &Page) -> Result<Slice<AuditEntry>, ClientError> {
        let filter = AuditFilter { cursor: page.cursor.clone(), limit: page.limit, ..self.0.clone() };
        let answer = visit.api.audit(&filter).await?;
        Ok(Slice::new(answer.items, answer.next))
    }

    async fn head(&self, visit: &Visit, _: &Slice<AuditEntry>) -> Result<Head, ClientError> {
        let decisions = visit.to(["history"]).with("kind", "decision").to_string();
        Ok(Head {
            title: "Audit".to_owned(),
            about: "All acts of people and programs at the hub, the newest first.",
            empty: "No act is recorded yet.",
            links: vec![("Decisions about promotions".to_owned(), decisions)],
            share: None,
            curve: None,
        })
    }

    fn row(&self, visit: &Visit, one: &AuditEntry) -> Row {
        let detail = one.detail.as_ref().map(ToString::to_string);
        let cells = vec![
            Cell::time(Some(one.at), visit.now),
            Cell::Text(one.actor.clone()),
            Cell::Code(one.action.as_str().to_owned()),
            Cell::Code(one.subject.clone()),
            detail.map_or(Cell::Empty, Cell::Message),
        ];
        Row { key: format!("{} {} {}", one.at, one.actor, one.subject), cells }
    }
}
