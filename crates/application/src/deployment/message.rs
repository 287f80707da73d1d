//! The texts of a deployment: its commit message and the body of its pull request.

use std::fmt::Write as _;

use git::trailer;
use model::count::count;

use super::{DeploymentPlan, Provenance, TargetAction};

/// The trailer with the workload.
pub const APPLICATION: &str = "Kalypso-Application";
/// The trailer with an environment.
pub const ENVIRONMENT: &str = "Kalypso-Application-Environment";
/// The trailer with the version.
pub const VERSION: &str = "Kalypso-Application-Version";
/// The trailer with the commit of the source.
pub const SOURCE: &str = "Kalypso-Application-Source";
/// The trailer with the commit of the values, if it is another one than that of the source.
pub const VALUES: &str = "Kalypso-Application-Values";
/// The trailer with a program that rendered, and its version.
pub const TOOL: &str = "Kalypso-Application-Tool";

/// Whether the message of a commit is that of a deployment of a workload.
pub fn commit_is_of(message: &str, workload: &str) -> bool {
    trailer::trailers(message, APPLICATION).contains(&workload)
}

/// The trailers of a commit: what was deployed, and what it was made from.
pub fn trailers(
    workload: &str,
    plans: &[(&str, &DeploymentPlan)],
    provenance: &Provenance,
) -> Vec<(&'static str, String)> {
    let mut trailers = vec![(APPLICATION, workload.to_owned())];
    let changed = plans.iter().filter(|(_, plan)| !plan.edits.is_empty());
    trailers.extend(changed.map(|(environment, _)| (ENVIRONMENT, (*environment).to_owned())));
    trailers.push((VERSION, provenance.version.to_string()));
    trailers.push((SOURCE, provenance.source.to_string()));
    trailers.extend(provenance.values.map(|commit| (VALUES, commit.to_string())));
    trailers.extend(provenance.tools.iter().map(|tool| (TOOL, tool.clone())));
    trailers
}

/// The first line of the commit message, and the title of the pull request. The plans have the names of their environments.
pub fn commit_message(workload: &str, plans: &[(&str, &DeploymentPlan)], provenance: &Provenance) -> String {
    let version = provenance.version.to_string();
    let mut targets = plans.iter().flat_map(|(_, plan)| &plan.targets);
    let is_new = targets.any(|target| target.has_new_version);
    match (plans, is_new) {
        ([(environment, _)], true) => format!("Deploy {workload} {version} to {environment}"),
        ([(environment, _)], false) => format!("Configure {workload} {version} in {environment}"),
        (_, true) => format!("Deploy {workload} {version}"),
        (_, false) => format!("Configure {workload} {version}"),
    }
}

/// The body of the pull request, in Markdown, of at most this number of characters.
pub fn pull_request_body(plans: &[(&str, &DeploymentPlan)], provenance: &Provenance, max: usize) -> String {
    let Provenance { version, source, values, tools, .. } = provenance;
    let mut body = format!("Version {version} of commit {source}");
    if let Some(values) = values {
        let _ = write!(body, ", with the values of commit {values}");
    }
    let _ =
        writeln!(body, ". Rendered by {}.\n", if tools.is_empty() { "copying".to_owned() } else { tools.join(", ") });
    let _ = writeln!(body, "| environment | target | change | deployed now |\n|---|---|---|---|");
    let all = plans.iter().flat_map(|(name, plan)| plan.targets.iter().map(move |target| (name, target)));
    let (unchanged, changed): (Vec<_>, Vec<_>) = all.partition(|(_, target)| target.action == TargetAction::Unchanged);
    let end = if unchanged.is_empty() {
        String::new()
    } else {
        format!("\n{} unchanged.\n", count(unchanged.len(), "target"))
    };
    let mut left = 0;
    for (environment, target) in changed {
        let before = target.before.as_deref().unwrap_or("–");
        let row = format!("| {environment} | {} | {} | {before} |\n", target.path, target.action.text());
        // The rest of the text needs some room.
        if body.chars().count() + row.chars().count() + end.len() + 100 > max {
            left += 1;
        } else {
            body.push_str(&row);
        }
    }
    if left > 0 {
        let _ = writeln!(body, "\n{} more.", count(left, "target"));
    }
    body + &end
}

impl TargetAction {
    /// The action as one word, for programs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            other => other.text(),
        }
    }

    /// The action in words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Added => "new",
            Self::Changed => "changed",
            Self::Described => "version",
            Self::Unchanged => "unchanged",
            Self::Removed => "removed",
            Self::Kept => "kept as it is, because of an error",
        }
    }
}
