//! Enforces promotions without the service: nothing is published from a commit of the main branch that no gate let through.
//!
//! Only environments with a `Promotion` object are affected. Annotations alone describe the order, and refuse nothing.

mod ancestry;
mod base_repos;
mod facts;
mod not_admitted;

use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::object::base_repo::MAIN;
use model::object::{Object, Promotion};

use self::base_repos::MainReference;
use self::facts::Facts;
pub use self::not_admitted::{NotAdmitted, not_admitted};
use crate::access::RepositoryAccess;
use crate::sources::loaded::Loaded;

/// Checks an environment before it is published, and stores the result in it. An override turns the refusals into warnings.
pub fn enforce(loaded: &mut Loaded, override_reason: Option<&str>) {
    let (refusals, others): (Vec<_>, Vec<_>) = diagnostics(loaded).into_iter().partition(Diagnostic::is_error);
    loaded.diagnostics.extend(others);
    loaded.enforced.not_admitted = not_admitted(loaded).into_iter().map(|found| found.diagnostic).collect();
    match override_reason.filter(|_| !refusals.is_empty()) {
        Some(reason) => {
            loaded.diagnostics.extend(refusals.into_iter().map(|refusal| overridden(refusal, reason)));
            loaded.enforced.override_reason = Some(reason.into());
        }
        None => loaded.enforced.refusals = refusals,
    }
}

/// Why commits of the main branch may not be published into an environment, and overrides of the last publication. Empty without a `Promotion` object. Only the state of
/// promotions decides, which steps record.
pub fn diagnostics(loaded: &Loaded) -> Vec<Diagnostic> {
    let environment = loaded.fleet.environment.as_str();
    // A plain folder is never published. If files are missing, nothing is published anyway.
    let Some(access) = loaded.access.as_deref().filter(|_| loaded.declarations.is_complete) else { return Vec::new() };
    let Some(promotion) = loaded.graph.object(environment) else { return unknown_promotions(loaded) };
    if !promotion.spec.is_gate_of_commits() {
        return Vec::new();
    }
    let check = Check { loaded, access, promotion };
    base_repos::main_references(loaded, access).iter().filter_map(|reference| check.reference(reference)).collect()
}

/// What a person can do about a commit that was not admitted.
fn ways_on(diagnostic: Diagnostic, commit: &str, environment: &str) -> Diagnostic {
    diagnostic
        .help(format!("`kalypso promote {commit} --to {environment}` moves it when its gates hold"))
        .help("`kalypso publish --override REASON` publishes it anyway, and records the reason")
}

fn unknown_promotions(loaded: &Loaded) -> Vec<Diagnostic> {
    let broken: Vec<_> = loaded.declarations.broken.iter().map(|name| format!("`{name}`")).collect();
    if broken.is_empty() {
        return Vec::new();
    }
    let environment = &loaded.fleet.environment;
    let message =
        format!("the gates before `{environment}` are not known: {} can't be read", model::count::named(&broken));
    let diagnostic = Diagnostic::error(Code::PromotionsUnknown, message)
        .note("an unknown gate is never passed")
        .help("fix the promotion on the main branch of the control plane");
    vec![diagnostic]
}

/// The check of one environment.
struct Check<'a> {
    loaded: &'a Loaded,
    access: &'a RepositoryAccess,
    promotion: &'a Arc<Object<Promotion>>,
}

impl Check<'_> {
    /// Why the commit of a `BaseRepo` may not be published.
    fn reference(&self, reference: &MainReference) -> Option<Diagnostic> {
        let environment = &self.loaded.fleet.environment;
        let Some(commit) = reference.commit else {
            let message = format!(
                "{} has no commit, although a promotion moves the main branch into `{environment}`",
                reference.key
            );
            let help = match facts::published_commit(self.loaded, self.access) {
                Some(commit) => {
                    format!("write `commit: {commit}` into its `spec`: the environment has this commit now")
                }
                None => "write the commit that the environment has now into `spec.commit`".to_owned(),
            };
            return Some(self.at(Diagnostic::error(Code::GateWithoutCommit, message), reference).help(help));
        };
        let facts = Facts { access: self.access };
        let short = commit.short();
        let (code, message, reasons) = match facts.admission(self.loaded, commit) {
            facts::Admission::Admitted => return None,
            facts::Admission::Overridden(reason) => {
                let message = format!("commit {short} was published into `{environment}` past its gates: {reason}");
                return Some(self.at(Diagnostic::warning(Code::GateOverridden, message), reference));
            }
            facts::Admission::MovedByHand(reasons) => {
                let message = format!("commit {short} came into `{environment}` past its gates");
                (Code::MovedPastGate, message, reasons)
            }
            facts::Admission::Unknown(reasons) => {
                let message = format!("nothing proves that commit {short} may enter `{environment}`");
                (Code::ProofUnreadable, message, reasons)
            }
        };
        let mut diagnostic = self.at(Diagnostic::error(code, message), reference);
        for reason in reasons {
            diagnostic = diagnostic.note(reason);
        }
        Some(ways_on(diagnostic, &commit.to_string(), environment.as_str()))
    }

    fn at(&self, diagnostic: Diagnostic, reference: &MainReference) -> Diagnostic {
        let field = if reference.commit.is_some() { "commit" } else { "branch" };
        let path = FieldPath::from(["spec", field]);
        let to = Origin::At(self.promotion.address, FieldPath::from(["spec", "to"]));
        diagnostic
            .at(origin(reference, path), "this commit of the main branch")
            .at(to, "its gates")
            .about(&reference.key)
    }
}

/// A diagnostic at the commit of a reference.
fn at_main(diagnostic: Diagnostic, reference: &MainReference) -> Diagnostic {
    let path = FieldPath::from(["spec", "commit"]);
    diagnostic.at(origin(reference, path), "this commit of the main branch").about(&reference.key)
}

/// The field of a reference.
fn origin(reference: &MainReference, path: FieldPath) -> Origin {
    match reference.address {
        Some(address) => Origin::At(address, path),
        None => Origin::field(&reference.key, path),
    }
}

/// A refusal as a warning, with the reason of the override.
fn overridden(refusal: Diagnostic, reason: &str) -> Diagnostic {
    let message = format!("{}; published nevertheless: {reason}", refusal.message);
    let Diagnostic { labels, notes, object, .. } = refusal;
    Diagnostic { labels, notes, object, ..Diagnostic::warning(Code::GateOverridden, message) }
}
