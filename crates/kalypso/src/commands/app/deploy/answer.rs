//! The answer of a deployment.

use std::fmt::Write as _;

use application::deployment::{TargetAction, TargetDeployment};
use model::count::count;
use serde::Serialize;
use utoipa::ToSchema;

use super::super::diff::counts;
use super::PlannedEnvironment;
use super::delivering::Delivered;
use crate::table;

/// A deployment.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApplicationDeployment {
    /// The deployed environments.
    environments: Vec<DeployedEnvironment>,
    /// The commit in the GitOps repository. None: nothing was pushed.
    pushed: Option<String>,
    /// The branch that it was pushed to.
    branch: Option<String>,
    /// The page of the pull request.
    pull_request: Option<String>,
}

/// A deployed environment.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DeployedEnvironment {
    /// The environment.
    environment: String,
    /// The version.
    version: String,
    /// The commit of the source.
    commit: String,
    /// The targets, with what happens to them.
    targets: Vec<DeployedTargetFields>,
}

/// A target of a deployment.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DeployedTargetFields {
    /// The target.
    target: String,
    /// What happens to it: `new`, `changed`, `version`, `unchanged`, `removed` or `kept`.
    change: String,
    /// The version that was deployed before.
    before: Option<String>,
}

impl ApplicationDeployment {
    pub(super) fn new(planned: &[PlannedEnvironment], delivered: &Delivered) -> Self {
        let (pushed, branch, pull_request) = match delivered {
            Delivered::Pushed(commit, branch) => (Some(commit.to_string()), Some(branch.clone()), None),
            Delivered::Proposed(result) => {
                let link = result.change.pull_request.as_ref().and_then(|found| found.as_ref().ok()?.open());
                let page = link.map(|link| link.url.clone());
                (Some(result.change.commit.to_string()), Some(result.branch.clone()), page)
            }
            Delivered::Nothing | Delivered::LostRace => (None, None, None),
        };
        Self { environments: planned.iter().map(DeployedEnvironment::new).collect(), pushed, branch, pull_request }
    }
}

impl DeployedEnvironment {
    fn new(planned: &PlannedEnvironment) -> Self {
        let PlannedEnvironment { release, environment, plan, .. } = planned;
        let target = |target: &TargetDeployment| DeployedTargetFields {
            target: target.path.to_string(),
            change: target.action.word().to_owned(),
            before: target.before.clone(),
        };
        Self {
            environment: environment.settings.name.clone(),
            version: release.version.clone(),
            commit: environment.provenance.source.to_string(),
            targets: plan.targets.iter().map(target).collect(),
        }
    }
}

/// The answer for people.
pub(super) fn text(planned: &[PlannedEnvironment], delivered: &Delivered, is_dry_run: bool) -> String {
    let text: String = planned.iter().map(of_environment).collect();
    let files: usize = planned.iter().map(|one| one.plan.edits.iter().count()).sum();
    let end = match delivered {
        Delivered::Proposed(result) => result.text(),
        Delivered::Pushed(commit, branch) => format!("Pushed {} to {branch}\n", commit.short()),
        Delivered::Nothing if planned.iter().any(|one| one.plan.is_refused) => "Nothing was deployed\n".to_owned(),
        Delivered::Nothing if files == 0 => "Nothing to deploy\n".to_owned(),
        Delivered::Nothing if is_dry_run => format!("{} would be written\n", count(files, "file")),
        Delivered::Nothing | Delivered::LostRace => String::new(),
    };
    let first = planned.first().filter(|one| one.release.project.settings.is_promoted);
    let next = first.filter(|_| matches!(delivered, Delivered::Pushed(..) | Delivered::Proposed(_))).map(|one| {
        let workload = &one.release.project.workload.name;
        format!("Promotions move it from there: `kalypso rollout status {workload}` shows what it waits for\n")
    });
    format!("{text}{end}{}", next.unwrap_or_default())
}

fn of_environment(planned: &PlannedEnvironment) -> String {
    let PlannedEnvironment { release, environment, plan, .. } = planned;
    let shown = plan.targets.iter().filter(|target| target.action != TargetAction::Unchanged);
    let rows = shown.map(|target| {
        let sign = match target.action {
            TargetAction::Added => "+",
            TargetAction::Changed | TargetAction::Described => "~",
            TargetAction::Removed => "-",
            TargetAction::Kept | TargetAction::Unchanged => "!",
        };
        let before = target.before.as_ref().map_or_else(String::new, |before| format!("was {before}"));
        [format!("{sign} {}", target.path), target.action.text().to_owned(), before]
    });
    let (unchanged, kept) = (plan.count(TargetAction::Unchanged), plan.count(TargetAction::Kept));
    let mut counts = counts(plan.targets.len() - unchanged - kept, unchanged);
    if kept > 0 {
        let _ = write!(counts, ", {kept} kept");
    }
    let workload = &release.project.workload.name;
    let heading = format!("{workload} {} in {}: {counts}\n", release.version, environment.settings.name);
    heading + &table::indented(rows, 2)
}
