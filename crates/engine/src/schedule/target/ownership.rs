//! Selects the owner of a whole name if several deployment targets have it: target `c` of workload `a-b`, and target `b-c` of workload `a`.
//!
//! A target of the platform team takes precedence. A target of a workload whose registration has the workload's name comes second. Targets
//! of the same precedence are not rendered, because the commits do not show which target was first.

use std::collections::BTreeMap;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::fleet::{Author, Fleet, RegisteredWorkload};
use model::kind::Kind;
use model::name::{DeploymentTargetName, RegistrationName};

use super::Target;

/// Targets by their whole names, in the order in which diagnostics name them.
pub(super) type Claims = BTreeMap<DeploymentTargetName, Vec<Claim>>;

/// A target that claims its whole name, with its precedence.
pub(super) struct Claim {
    pub(super) target: Target,
    pub(super) precedence: Precedence,
}

/// The precedence of a claim. The last variant takes precedence over the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Precedence {
    /// The target of an application whose registration has another name than the workload.
    Other,
    /// The target of an application whose registration has the workload's name.
    Namesake,
    /// The target of the control plane.
    Platform,
}

impl Precedence {
    pub(super) fn from_workload(workload: &RegisteredWorkload) -> Self {
        match workload.author {
            Author::Platform => Self::Platform,
            Author::Application if workload.is_namesake() => Self::Namesake,
            Author::Application => Self::Other,
        }
    }
}

/// Selects the owner of each name, and adds diagnostics about the other claims.
pub(super) fn assign_owners(
    fleet: &Fleet,
    claims: Claims,
    diagnostics: &mut Vec<Diagnostic>,
) -> BTreeMap<DeploymentTargetName, Target> {
    let owners = claims.into_iter().filter_map(|(name, claims)| {
        let precedence = claims.iter().map(|claim| claim.precedence).max()?;
        let (first, weaker): (Vec<_>, Vec<_>) = claims.into_iter().partition(|claim| claim.precedence == precedence);
        let mut first = first.into_iter().map(|claim| claim.target);
        let mut owner = first.next()?;
        for equal in first {
            let diagnostic = collision(&owner, &equal);
            owner.problem = Some(diagnostic.clone());
            diagnostics.push(diagnostic);
        }
        diagnostics.extend(weaker.iter().map(|weaker| name_taken(&weaker.target, (&owner, precedence))));
        let maybe = unknown_owner(fleet, &owner, precedence).filter(|_| owner.problem.is_none());
        if let Some(registration) = maybe {
            let diagnostic = name_maybe_taken(fleet, &owner, registration);
            owner.problem = Some(diagnostic.clone());
            diagnostics.push(diagnostic);
        }
        Some((name, owner))
    });
    owners.collect()
}

/// Reports two targets with the same name and precedence. Neither is rendered.
fn collision(first: &Target, second: &Target) -> Diagnostic {
    let message = format!("two deployment targets have the whole name `{}`", first.name);
    Diagnostic::error(Code::NameCollision, message)
        .at(place(first), format!("of {}", first.origin.0))
        .at(place(second), format!("of {}", second.origin.0))
        .note("neither is rendered; their published output stays")
        .help("rename one of them")
}

/// Reports a target that is ignored, because its name belongs to another target.
fn name_taken(target: &Target, (owner, precedence): (&Target, Precedence)) -> Diagnostic {
    let whose = if is_workload(owner) { "a deployment target of " } else { "" };
    let message = format!("the whole name `{}` belongs to {whose}{}", target.name, owner.origin.0);
    let why = match precedence {
        Precedence::Platform => "this one is used: it comes from the control plane",
        _ => "this one is used: its registration has the name of its workload",
    };
    Diagnostic::error(Code::TargetTaken, message)
        .at(place(target), format!("this one, of {}, is ignored", target.origin.0))
        .at(place(owner), why)
        .help("rename the deployment target")
        .about(&target.origin.0)
}

/// Finds a registration whose repository can't be read and to which the target's name may belong: the whole name begins with the
/// registration's name. If the target's own registration has its workload's name, only longer registration names count. Otherwise a
/// single unreadable repository with a shorter name could stop all targets of the workload.
fn unknown_owner<'f>(fleet: &'f Fleet, target: &Target, precedence: Precedence) -> Option<&'f RegistrationName> {
    let may_own = |registration: &&RegistrationName| {
        let name = registration.as_str();
        let is_prefix = target.name.as_str().strip_prefix(name).is_some_and(|rest| rest.starts_with('-'));
        let is_stronger = match precedence {
            Precedence::Other => true,
            Precedence::Namesake => name.len() > target.workload().len(),
            Precedence::Platform => false,
        };
        is_prefix && is_stronger && target.registration.as_ref() != Some(*registration)
    };
    fleet.unavailable.iter().find(may_own)
}

/// Reports a target that keeps its last good output, because its name may belong to another target.
fn name_maybe_taken(fleet: &Fleet, target: &Target, registration: &RegistrationName) -> Diagnostic {
    let message = format!(
        "the whole name `{}` may belong to registration `{registration}`, whose repository can't be read",
        target.name
    );
    let mut diagnostic = Diagnostic::error(Code::TargetTaken, message).at(place(target), "");
    if let Some(object) = fleet.registrations.get(registration) {
        let name = Origin::field(&object.key(), FieldPath::from(["metadata", "name"]));
        diagnostic = diagnostic
            .at(name, "names that begin with this name belong to this registration, if its repository defines them");
    }
    diagnostic
        .note("its published output stays")
        .help("make the repository readable, or rename the deployment target")
        .about(&target.origin.0)
}

/// The place of a target's name.
fn place(target: &Target) -> Origin {
    let (object, path) = &target.origin;
    let name = if is_workload(target) { path.key("name") } else { FieldPath::from(["metadata", "name"]) };
    Origin::field(object, name)
}

/// Whether a workload defines the target.
fn is_workload(target: &Target) -> bool {
    target.origin.0.kind == Kind::Workload
}
