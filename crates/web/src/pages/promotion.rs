//! The promotions into an environment: what moves, through which rings, past which gates, and what it waits for.

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use hub_api::promotions::{
    GateProgress, GateProgressStatus, MovePhase, MoveStatus, PromotionStatus, RingProgress, RingState, SubjectKind,
    SubjectStatus, Wait,
};
use hub_api::timestamp::Timestamp;

use crate::address::web_url;
use crate::part::Moment;
use crate::visit::Visit;

pub(crate) async fn page(Path(environment): Path<String>, visit: Visit) -> Response {
    let visit = visit.of_the_present();
    let status = visit.api.promotion(&environment).await;
    visit.answer(status.map(|status| PromotionPage { visit: &visit, status }))
}

/// The page of the promotions into an environment.
#[derive(Template)]
#[template(path = "promotion.html")]
struct PromotionPage<'a> {
    visit: &'a Visit,
    status: PromotionStatus,
}

impl PromotionPage<'_> {
    fn environment(&self) -> String {
        self.visit.to(["environments", &self.status.environment]).to_string()
    }

    /// The page of the promotions into another environment.
    fn neighbour(&self, name: &str) -> String {
        self.visit.to(["environments", name, "promotion"]).to_string()
    }

    /// What moves into the environment first, then what rests.
    fn subjects(&self) -> Vec<&SubjectStatus> {
        let mut subjects: Vec<_> = self.status.subjects.iter().collect();
        subjects.sort_by_key(|subject| (subject.moving.is_none(), subject.waiting_for.is_empty()));
        subjects
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
    fn moment(&self, at: &Timestamp) -> Moment {
        Moment::new(*at, self.visit.now)
    }
}

/// The name of a subject, as people say it.
fn name(subject: &SubjectStatus) -> String {
    let name = subject.subject.as_deref().unwrap_or("the platform");
    match subject.kind {
        SubjectKind::Platform => "Commits of the platform".to_owned(),
        SubjectKind::Release => format!("Releases of {name}"),
        SubjectKind::Workload => name.to_owned(),
        SubjectKind::Renderer => "Versions of the renderer".to_owned(),
        SubjectKind::Values => format!("Values of {name}"),
        SubjectKind::Application => format!("Commits of {name}"),
    }
}

fn phase(moving: &MoveStatus) -> &'static str {
    match moving.phase {
        MovePhase::Gated => "waits for its gates",
        MovePhase::Entering => "is being written into the environment",
        MovePhase::Moving => "moves through the rings",
        MovePhase::Proving => "is at all places, and is being proved",
        MovePhase::Stopped => "stopped",
        MovePhase::RollingBack => "is being rolled back",
    }
}

/// The state of a ring: a class of the style sheet, a sign, and words.
fn ring(ring: &RingProgress) -> (&'static str, &'static str, &'static str) {
    match ring.state {
        RingState::Waiting => ("none", "–", "waits"),
        RingState::Moving => ("busy", "◐", "moves"),
        RingState::Done => ("good", "✓", "done"),
        RingState::Withdrawn => ("old", "△", "withdrawn"),
    }
}

/// The state of a gate: a class of the style sheet, a sign, and words.
fn gate(gate: &GateProgress) -> (&'static str, &'static str, &'static str) {
    match gate.status {
        GateProgressStatus::Passed => ("good", "✓", "holds"),
        GateProgressStatus::Waiting => ("busy", "◐", "waits"),
        GateProgressStatus::Failed => ("bad", "✕", "can't hold any more"),
        GateProgressStatus::Skipped => ("old", "△", "skipped"),
    }
}

/// The address of what a wait is about, at the git host.
fn link(wait: &Wait) -> Option<&str> {
    wait.url.as_deref().and_then(web_url)
}
