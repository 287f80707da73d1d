//! What `kalypso promote` moves: a commit of the main branch, the release of a workload, a named release, or all that waits.

use delivery::access::RepositoryAccess;
use delivery::access::renderer::SUBJECT;
use delivery::promotion::controller::line::Line;
use delivery::promotion::controller::plane::Plane;
use delivery::promotion::controller::settled;
use delivery::states::named_releases;
use hub_api::promotions::{PromotionStatus, SubjectKind};
use model::name::EnvironmentName;
use model::similar;
use workbench::source::environment_name;

use crate::arguments::Promote;
use crate::exit::Failure;
use crate::terminal;

/// The minimum length of an abbreviated commit.
const DIGITS_MIN: usize = 4;

/// A revision that is to move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// The workload. None: the commits of the main branch.
    pub(super) subject: Option<String>,
    /// The commit, or the version.
    pub(super) revision: String,
}

/// What a command line asks for, without looking into the control plane: a workload with a version, or the digits of a commit. None: it may be something else.
pub(super) fn plain(options: &Promote) -> Option<Wanted> {
    let what = options.what.as_ref()?;
    match what.split_once('@') {
        Some((workload, version)) => Some(Wanted { subject: Some(workload.to_owned()), revision: version.to_owned() }),
        None => is_commit(what).then(|| Wanted { subject: None, revision: what.clone() }),
    }
}

fn is_commit(what: &str) -> bool {
    what.len() >= DIGITS_MIN && what.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// What a command line asks for. `status` describes where changes stand, by environment.
///
/// # Errors
/// If it is not known, or nothing waits.
pub(super) fn wanted(
    access: &RepositoryAccess,
    options: &Promote,
    status: impl FnOnce() -> anyhow::Result<Vec<PromotionStatus>>,
) -> anyhow::Result<Vec<Wanted>> {
    let Some(what) = &options.what else { return Ok(waiting(&status()?, &options.to)?) };
    let outside = |error: String| Failure::outside(error);
    if let Some(plain) = plain(options) {
        let is_known = plain.subject.is_some()
            || Line::read(access).map_err(|error| outside(error.to_string()))?.find(what).is_ok();
        if is_known {
            return Ok(vec![plain]);
        }
    }
    if let Some((_, release)) = named_releases::find(access, what).map_err(|error| outside(error.to_string()))? {
        let release = release.map_err(|error| Failure::refused(format!("{}: {error}", named_releases::BRANCH)))?;
        let platform = release.platform.map(|commit| Wanted { subject: None, revision: commit.to_string() });
        let plane = Plane::read(access).map_err(|error| outside(error.to_string()))?;
        let moves_releases = moves_releases(&plane, &environment_name(&options.to)?);
        let workloads = release.workloads.iter().filter(|_| moves_releases).filter_map(|(name, workload)| {
            let (_, version) = workload.version.as_ref()?;
            Some(Wanted { subject: Some(name.to_string()), revision: version.to_string() })
        });
        return Ok(platform.into_iter().chain(workloads).collect());
    }
    Ok(vec![of_workload(access, what, &options.to)?])
}

fn moves_releases(plane: &Plane<'_>, environment: &EnvironmentName) -> bool {
    plane.step(environment).is_some_and(|step| step.promotion.select.workloads.is_some())
}

/// All revisions that wait for their gates, or for this command.
fn waiting(status: &[PromotionStatus], to: &str) -> Result<Vec<Wanted>, Failure> {
    let subjects = status.iter().filter(|status| status.environment == to).flat_map(|status| &status.subjects);
    let wanted: Vec<_> = subjects
        .filter_map(|subject| {
            // What moves through the rings is there already.
            let moving = subject.moving.as_ref().filter(|_| subject.kind != SubjectKind::Workload)?;
            Some(Wanted { subject: subject.subject.clone(), revision: moving.revision.clone() })
        })
        .collect();
    if wanted.is_empty() {
        return Err(Failure::refused(format!("nothing waits to move into {to}"))
            .help("`kalypso rollout status` shows the progress of changes"));
    }
    Ok(wanted)
}

/// The release of a workload that the environments before have.
fn of_workload(access: &RepositoryAccess, workload: &str, to: &str) -> anyhow::Result<Wanted> {
    let to = environment_name(to)?;
    let plane = Plane::read(access).map_err(|error| Failure::outside(error.to_string()))?;
    let unknown = |help: String| {
        Failure::refused(format!(
            "`{workload}` is no commit of the main branch, no release and no workload that moves into {to}"
        ))
        .help(help)
    };
    let step = plane.step(&to).filter(|_| moves_releases(&plane, &to));
    let Some(step) = step else {
        return Err(
            unknown("releases of workloads move where a Promotion has `select.workloadSelector`".to_owned()).into()
        );
    };
    let mut known = Vec::new();
    for before in &step.promotion.from {
        let Ok(before) = EnvironmentName::new(before.clone()) else { continue };
        let record = settled::read(access, &before).map_err(|error| Failure::outside(error.to_string()))?;
        let releases = record.map(|record| record.releases).unwrap_or_default();
        if let Some(version) = releases.get(workload) {
            return Ok(Wanted { subject: Some(workload.to_owned()), revision: version.to_string() });
        }
        known.extend(releases.into_keys().filter(|name| **name != *SUBJECT));
    }
    let names: Vec<_> = known.iter().map(ToString::to_string).collect();
    let help = match similar::nearest(workload, names.iter().map(String::as_str)) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None if names.is_empty() => "the environments before have not recorded a release yet".to_owned(),
        None => format!("the environments before have releases of {}", terminal::named(&names)),
    };
    Err(unknown(help).into())
}

#[cfg(test)]
pub(super) mod tests {
    use hub_api::promotions::{MovePhase, MoveStatus, SubjectStatus};
    use hub_api::timestamp::Timestamp;

    use super::*;

    fn subject(name: Option<&str>, revision: Option<&str>) -> SubjectStatus {
        let moving = revision.map(|revision| MoveStatus {
            revision: revision.to_owned(),
            phase_since: Timestamp::MIN,
            since: Timestamp::MIN,
            phase: MovePhase::Gated,
            reason: None,
            rings: Vec::new(),
            gates: Vec::new(),
            waiting_for: Vec::new(),
        });
        SubjectStatus {
            moving,
            ..SubjectStatus::new(name, if name.is_some() { SubjectKind::Release } else { SubjectKind::Platform })
        }
    }

    pub(in super::super) fn status(environment: &str, subjects: Vec<SubjectStatus>) -> PromotionStatus {
        let (before, after) = (Vec::new(), Vec::new());
        PromotionStatus {
            environment: environment.to_owned(),
            before,
            after,
            evaluated_on: None,
            problem: None,
            waiting_for: Vec::new(),
            subjects,
        }
    }

    #[test]
    fn all_waiting_changes_are_promoted() {
        let release = |revision| subject(Some("checkout"), revision);
        let in_rings = SubjectStatus { kind: SubjectKind::Workload, ..release(Some("77aa")) };
        let subjects = vec![subject(None, Some("41c7")), release(Some("2.4.0")), subject(Some("cart"), None), in_rings];
        let all = [status("stage", subjects), status("prod", vec![subject(None, Some("0000"))])];
        let found = waiting(&all, "stage").unwrap();
        let found: Vec<_> = found.iter().map(|wanted| (wanted.subject.as_deref(), wanted.revision.as_str())).collect();
        assert_eq!(found, [(None, "41c7"), (Some("checkout"), "2.4.0")]);
        assert!(waiting(&all, "dev").is_err());
    }
}
