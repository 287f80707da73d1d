//! What is wrong in an environment.

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::compiled::{FindingQuery, FindingSeverity};

use super::compiled::commits;
use crate::fact::ShownFinding;
use crate::text::visible;
use crate::visit::Visit;

/// The findings of an environment.
#[derive(Template)]
#[template(path = "findings.html")]
struct FindingsPage<'a> {
    visit: &'a Visit,
    environment: String,
    title: String,
    findings: Vec<ShownFinding>,
    total: usize,
    errors: usize,
    warnings: usize,
    next: Option<String>,
    commits: Vec<String>,
    notes: Vec<String>,
}

pub(crate) async fn page(Path(environment): Path<String>, visit: Visit) -> Response {
    let visit = visit.of_the_present();
    let page = findings(&visit, environment).await;
    visit.answer(page)
}

async fn findings(visit: &Visit, environment: String) -> Result<FindingsPage<'_>, ClientError> {
    let text = |name| visit.address.get(name).map(str::to_owned);
    let severity = match visit.address.get("severity") {
        Some("error") => Some(FindingSeverity::Error),
        Some("warning") => Some(FindingSeverity::Warning),
        _ => None,
    };
    let query = FindingQuery {
        severity,
        code: text("code"),
        workload: text("workload"),
        cursor: text("cursor"),
        ..FindingQuery::default()
    };
    let found = visit.api.findings(&environment, &query).await?;
    Ok(FindingsPage {
        visit,
        title: visible(&environment),
        environment,
        findings: found.answer.items.iter().map(ShownFinding::new).collect(),
        total: found.answer.total,
        errors: found.answer.errors,
        warnings: found.answer.warnings,
        next: found.answer.next.as_deref().map(|cursor| visit.address.clone().with("cursor", cursor).to_string()),
        commits: commits(&found.sources),
        notes: found.notes.iter().map(visible).collect(),
    })
}

impl FindingsPage<'_> {
    /// The value of a condition of the filter.
    fn condition(&self, name: &str) -> &str {
        self.visit.address.get(name).unwrap_or_default()
    }

    /// The page with only the findings of a severity.
    fn only(&self, severity: &str) -> String {
        self.visit.address.clone().without("cursor").with("severity", severity).to_string()
    }

    fn is_filtered(&self) -> bool {
        ["severity", "code", "workload"].iter().any(|name| self.visit.address.get(name).is_some())
    }

    fn unfiltered(&self) -> String {
        self.to("findings")
    }

    /// Another page of the environment.
    fn to(&self, page: &str) -> String {
        self.visit.to(["environments", &self.environment, page]).to_string()
    }

    /// The affected assignments that are named: each with its page.
    fn reached(&self, found: &ShownFinding) -> Vec<(String, String)> {
        let link = |name: &hub_api::compiled::AssignmentName| {
            let to = self.visit.to(["environments", &self.environment, "assignments", &name.place, &name.target]);
            (visible(name.to_string()), to.to_string())
        };
        found.finding.assignments.iter().map(link).collect()
    }
}
