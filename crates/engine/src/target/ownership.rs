//! Whose a deployment target is, where several have one whole name: `a-b` with `c`, and `a` with `b-c`.
//!
//! The platform's own comes first, then that of a workload whose registration has its name. What is equal in that stops each other, because
//! who came first can't be seen from the commits.

use std::collections::BTreeMap;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::fleet::{Author, Fleet, RegisteredWorkload};
use model::kind::Kind;
use model::name::{DeploymentTargetName, RegistrationName};

use super::Target;

/// Targets by their whole names, in the order in which they are told.
pub(super) type Claims = BTreeMap<DeploymentTargetName, Vec<Claim>>;

/// A target, and how strong its claim on its name is.
pub(super) struct Claim {
    pub(super) target: Target,
    pub(super) standing: Standing,
}

/// How strong a claim on a name is; the strongest is last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// Of an application, whose registration has another name than its workload.
    Other,
    /// Of an application whose registration has the workload's name.
    Namesake,
    /// Of the control plane itself.
    Platform,
}

impl Standing {
    pub(super) fn of(workload: &RegisteredWorkload) -> Self {
        match workload.author {
            Author::Platform => Self::Platform,
            Author::Application if workload.is_namesake() => Self::Namesake,
            Author::Application => Self::Other,
        }
    }
}

/// Gives each name to its owner, and says what is wrong with the others.
pub(super) fn settle(
    fleet: &Fleet,
    claims: Claims,
    diagnostics: &mut Vec<Diagnostic>,
) -> BTreeMap<DeploymentTargetName, Target> {
    let settled = claims.into_iter().filter_map(|(name, claims)| {
        let standing = claims.iter().map(|claim| claim.standing).max()?;
        let (first, weaker): (Vec<_>, Vec<_>) = claims.into_iter().partition(|claim| claim.standing == standing);
        let mut first = first.into_iter().map(|claim| claim.target);
        let mut owner = first.next()?;
        for equal in first {
            let diagnostic = collision(&owner, &equal);
            owner.problem = Some(diagnostic.clone());
            diagnostics.push(diagnostic);
        }
        diagnostics.extend(weaker.iter().map(|weaker| taken(&weaker.target, (&owner, standing))));
        let maybe = unknown_owner(fleet, &owner, standing).filter(|_| owner.problem.is_none());
        if let Some(registration) = maybe {
            let diagnostic = maybe_taken(fleet, &owner, registration);
            owner.problem = Some(diagnostic.clone());
            diagnostics.push(diagnostic);
        }
        Some((name, owner))
    });
    settled.collect()
}

/// Neither of two targets is rendered.
fn collision(first: &Target, second: &Target) -> Diagnostic {
    let message = format!("two deployment targets have the whole name `{}`", first.name);
    Diagnostic::error(Code::NameCollision, message)
        .at(place(first), format!("of {}", first.origin.0))
        .at(place(second), format!("of {}", second.origin.0))
        .note("neither is rendered; what was published of them stays")
        .help("rename one of them")
}

/// A target is ignored, because its name is another one's.
fn taken(target: &Target, (owner, standing): (&Target, Standing)) -> Diagnostic {
    let whose = if is_workload(owner) { "a deployment target of " } else { "" };
    let message = format!("the whole name `{}` belongs to {whose}{}", target.name, owner.origin.0);
    let why = match standing {
        Standing::Platform => "this one counts: it comes from the control plane",
        _ => "this one counts: the registration that brings it has its workload's name",
    };
    Diagnostic::error(Code::TargetTaken, message)
        .at(place(target), format!("this one, of {}, is ignored", target.origin.0))
        .at(place(owner), why)
        .help("rename the deployment target")
        .about(&target.origin.0)
}

/// A registration whose repository can't be read, and to which a target may belong: its whole name begins with the registration's name. A workload of
/// its registration's name gives way only where the other name is the longer one, so that nobody can hold up all of it by being unreadable.
fn unknown_owner<'f>(fleet: &'f Fleet, target: &Target, standing: Standing) -> Option<&'f RegistrationName> {
    let may_own = |registration: &&RegistrationName| {
        let name = registration.as_str();
        let is_prefix = target.name.as_str().strip_prefix(name).is_some_and(|rest| rest.starts_with('-'));
        let is_stronger = match standing {
            Standing::Other => true,
            Standing::Namesake => name.len() > target.workload().len(),
            Standing::Platform => false,
        };
        is_prefix && is_stronger && target.registration.as_ref() != Some(*registration)
    };
    fleet.unavailable.iter().find(may_own)
}

/// A target keeps its last good output, because it may be another one's.
fn maybe_taken(fleet: &Fleet, target: &Target, registration: &RegistrationName) -> Diagnostic {
    let message = format!(
        "the whole name `{}` may belong to registration `{registration}`, whose repository can't be read",
        target.name
    );
    let mut diagnostic = Diagnostic::error(Code::TargetTaken, message).at(place(target), "");
    if let Some(object) = fleet.registrations.get(registration) {
        let name = Origin::field(&object.key(), FieldPath::from(["metadata", "name"]));
        diagnostic = diagnostic.at(name, "names that begin with this name belong to it, if it brings them");
    }
    diagnostic
        .note("what was published of it stays")
        .help("see why the repository can't be read, or rename the deployment target")
        .about(&target.origin.0)
}

/// Where a target's name is written.
fn place(target: &Target) -> Origin {
    let (object, path) = &target.origin;
    let name = if is_workload(target) { path.key("name") } else { FieldPath::from(["metadata", "name"]) };
    Origin::field(object, name)
}

/// Whether a workload brings it.
fn is_workload(target: &Target) -> bool {
    target.origin.0.kind == Kind::Workload
}
