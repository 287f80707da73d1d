//! Names the newest commits of values and applications that the output of an environment does not follow yet.

use std::sync::Arc;

use engine::promotion::in_force::in_force;
use engine::promotion::state::{Candidate, GateRecord};
use model::diagnostic::{Code, Diagnostic};
use model::git_id::GitId;
use model::object::promotion::{GateKind, Promotion};

use super::facts::gate_text;
use crate::loaded::Loaded;
use crate::rollout_store;

/// The commits that wait for their gates. One that waits only for a window is a hint: no person has to do anything.
pub(super) fn not_admitted(loaded: &Loaded) -> Vec<Diagnostic> {
    let (Some(access), Some(admission)) = (loaded.access.as_deref(), &loaded.admission) else { return Vec::new() };
    if admission.sources.is_empty() {
        return Vec::new();
    }
    let environment = &loaded.fleet.environment;
    let Ok(stored) = rollout_store::read(access, environment) else { return Vec::new() };
    let Some(Ok(advances)) = &stored.advances else { return Vec::new() };
    let declared: Vec<_> =
        loaded.graph.promotion(environment.as_str()).map(|promotion| &**promotion).into_iter().collect();
    let promotion = in_force(stored.admitted_promotion(), &declared);
    let waiting = advances.sources.iter().filter_map(|(name, stored)| {
        let admitted = stored.state.admitted.as_ref().and_then(|admitted| GitId::from_hex(&admitted.0))?;
        let waiting = stored.state.current.as_ref().filter(|candidate| !candidate.phase.is_admitted());
        Some((name, admitted, waiting?))
    });
    let diagnostic = |(name, admitted, candidate): (_, GitId, _)| {
        diagnostic((name, environment.as_str()), (admitted, candidate), promotion.as_ref())
    };
    waiting.map(diagnostic).collect()
}

fn diagnostic(
    (name, environment): (&Arc<str>, &str),
    (admitted, candidate): (GitId, &Candidate),
    promotion: Option<&Promotion>,
) -> Diagnostic {
    let commit =
        GitId::from_hex(&candidate.revision.0).map_or_else(|| candidate.revision.0.to_string(), |id| id.short());
    let message = format!("commit {commit} of {name} waits before `{environment}`");
    let open: Vec<_> = candidate.gates.iter().filter(|gate| !gate.holds()).collect();
    let is_of_clock = |record: &&&GateRecord| {
        let gates = promotion.iter().flat_map(|promotion| &promotion.gates);
        gates.filter(|gate| gate.name == record.name).any(|gate| matches!(gate.kind, GateKind::Window(_)))
    };
    let of_people = open.iter().find(|record| !is_of_clock(record));
    let new = if of_people.is_some() { Diagnostic::error } else { Diagnostic::hint };
    let mut diagnostic = new(Code::SourceNotAdmitted, message)
        .note(format!("the output stays at commit {}, which was admitted", admitted.short()));
    for record in &open {
        diagnostic = diagnostic.note(gate_text(record));
    }
    if let Some(gate) = of_people {
        diagnostic = diagnostic.help(format!(
            "`kalypso skip -e {environment} {name} --gate {} --reason TEXT` lets it in, or `kalypso approve` where the gate waits for approvals",
            gate.name
        ));
    }
    diagnostic.help("`kalypso publish --override REASON` publishes it anyway, and keeps the reason")
}
