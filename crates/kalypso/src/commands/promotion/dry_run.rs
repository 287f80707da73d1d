//! `kalypso promote --dry-run`: each step of a commit on its way into an environment, with gates, rings and the number of places.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use delivery::promotion::controller::command::requested_release;
use delivery::promotion::controller::plane::{KnownBranches, Plane};
use delivery::promotion::controller::settled;
use delivery::reading::{ReadAt, from_git};
use engine::promotion::graph::Step;
use engine::promotion::rings::membership::Membership;
use engine::promotion::state::Revision;
use model::count::{count, thousands};
use model::name::EnvironmentName;
use model::object::promotion::{ChangeDelivery, GateKind, Start};
use model::object::release::shown;
use serde::Serialize;
use utoipa::ToSchema;
use workbench::source::environment_name;

use super::local::LocalController;
use super::subject::Wanted;
use crate::exit::{self, Failure};

/// The moves of revisions into an environment.
#[derive(Serialize, ToSchema)]
pub(crate) struct PlannedMoves {
    pub(super) moves: Vec<PlannedMove>,
}

/// The steps of a revision into an environment.
#[derive(Serialize, ToSchema)]
pub(super) struct PlannedMove {
    /// The workload; `null` for a commit of the main branch.
    subject: Option<String>,
    /// The commit, or the release of the workload.
    revision: String,
    steps: Vec<PlannedStep>,
}

/// A step of a commit into an environment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PlannedStep {
    /// An environment on the way, in the order of promotion.
    environment: String,
    /// Whether it has the revision already, or a newer commit.
    is_done: bool,
    /// The environments before it.
    after: Vec<String>,
    #[serde(skip)]
    delivery: ChangeDelivery,
    #[serde(skip)]
    is_manual: bool,
    /// The gates that these must pass.
    gates: Vec<String>,
    /// How many clusters and cluster types it has.
    places: usize,
    rings: Vec<PlannedRing>,
}

/// A ring of an environment.
#[derive(Serialize, ToSchema)]
struct PlannedRing {
    /// Its rings, in their order.
    name: String,
    /// How many of its places are in the ring.
    places: usize,
}

/// The steps of a revision into an environment, in their order: those of the environments before it, and its own.
pub(super) fn steps(controller: &LocalController, (wanted, to): (&Wanted, &str)) -> anyhow::Result<PlannedMove> {
    let outside = |error: &dyn std::fmt::Display| Failure::outside(error.to_string());
    let plane = Plane::read(&controller.access).map_err(|error| outside(&error))?;
    let revision = match &wanted.subject {
        Some(workload) => {
            let (to, requested) = (environment_name(to)?, Revision(wanted.revision.as_str().into()));
            requested_release(&plane, (&to, workload), &requested).map_err(exit::refusal)?
        }
        None => plane.line.find(&wanted.revision).cloned().map_err(|found| no_commit(&wanted.revision, found))?,
    };
    let mut known = KnownBranches::default();
    let mut found = Vec::new();
    for name in chain(controller, &plane, to)? {
        let Some(step) = plane.step(&name) else { continue };
        let is_done = if let Some(workload) = &wanted.subject {
            let record = settled::read(&controller.access, &name).map_err(|error| outside(&error))?;
            record.is_some_and(|record| record.releases.get(workload.as_str()) == Some(&revision.0))
        } else {
            let standing = plane.standing(&name, &mut known).map_err(|error| outside(&error))?;
            let position = |revision: &Revision| plane.line.commits.iter().position(|commit| commit == revision);
            let at = standing.and_then(|standing| position(&standing.at?));
            at.zip(position(&revision)).is_some_and(|(at, commit)| at <= commit)
        };
        found.push(planned(controller, (&name, step), is_done)?);
    }
    Ok(PlannedMove { subject: wanted.subject.clone(), revision: revision.0.to_string(), steps: found })
}

fn no_commit(digits: &str, found: usize) -> Failure {
    Failure::refused(match found {
        0 => format!("no commit of the main branch begins with `{digits}`"),
        found => format!("{found} commits of the main branch begin with `{digits}`"),
    })
}

/// The environments through which a change reaches one, in their order.
fn chain(controller: &LocalController, plane: &Plane<'_>, to: &str) -> anyhow::Result<Vec<EnvironmentName>> {
    let to = controller.names(Some(to))?.remove(0);
    let mut wanted = vec![to];
    let mut index = 0;
    while let Some(name) = wanted.get(index).cloned() {
        for before in plane.graph.before(name.as_str()) {
            if !wanted.contains(before) {
                wanted.push(before.clone());
            }
        }
        index += 1;
    }
    Ok(plane.graph.order().iter().filter(|name| wanted.contains(name)).cloned().collect())
}

fn planned(
    controller: &LocalController,
    (name, step): (&EnvironmentName, &Step),
    is_done: bool,
) -> anyhow::Result<PlannedStep> {
    let loaded = from_git(&controller.access, Some(name), ReadAt::Heads)?;
    let promotion = &step.promotion;
    let (mut places, mut rings) = (0, Vec::new());
    if let Some(loaded) = loaded.first() {
        match Membership::new(&loaded.fleet, promotion) {
            Some(membership) => {
                let mut counts: BTreeMap<u16, usize> = BTreeMap::new();
                membership.ring.iter().for_each(|ring| *counts.entry(*ring).or_default() += 1);
                places = membership.places.len();
                let number = |index: usize| u16::try_from(index).ok().and_then(|index| counts.get(&index).copied());
                let named = membership.rings.iter().enumerate();
                let named = named.map(|(index, ring)| PlannedRing {
                    name: ring.name.to_string(),
                    places: number(index).unwrap_or(0),
                });
                rings = named.collect();
            }
            None => places = Membership::in_one_ring(&loaded.fleet).places.len(),
        }
    }
    Ok(PlannedStep {
        environment: name.to_string(),
        is_done,
        after: promotion.from.iter().map(ToString::to_string).collect(),
        delivery: promotion.delivery,
        is_manual: promotion.start == Start::Manual,
        gates: promotion.gates.iter().map(|gate| format!("{} ({})", gate.name, kind(&gate.kind))).collect(),
        places,
        rings,
    })
}

fn kind(kind: &GateKind) -> String {
    match kind {
        GateKind::Compliant { share, .. } => format!("{share} applied it"),
        GateKind::Failures(amount) => format!("at most {amount} failed"),
        GateKind::Soak(time) => format!("good for {}", crate::hub_client::length(*time)),
        GateKind::Check(check) => format!("check {}", check.name),
        GateKind::Window(window) => {
            let zone = window.zone.as_deref().unwrap_or("the time zone of each place");
            format!("from {} until {} in {zone}", window.from, window.until)
        }
        GateKind::Approval(approval) => count(approval.count as usize, "approval"),
        GateKind::Manual => "a person lets it through".to_owned(),
    }
}

/// The steps for people.
pub(super) fn text(moves: &[PlannedMove]) -> String {
    let mut text: String = moves.iter().map(text_of).collect();
    let steps = moves.iter().flat_map(|one| &one.steps).filter(|step| !step.is_done);
    let reached: BTreeMap<_, _> = steps.map(|step| (&step.environment, step.places)).collect();
    let _ = writeln!(text, "Reaches {} places. Nothing was changed.", thousands(reached.values().sum()));
    text
}

fn text_of(PlannedMove { subject, revision, steps }: &PlannedMove) -> String {
    let mut text = match subject {
        Some(workload) => format!("{workload} {}\n", shown(revision)),
        None => format!("{} of main\n", shown(revision)),
    };
    for (number, step) in steps.iter().enumerate() {
        let by = match step.delivery {
            ChangeDelivery::Direct => "a commit on its branch",
            ChangeDelivery::PullRequest => "a pull request",
        };
        let state = if step.is_done { "has it already".to_owned() } else { format!("by {by}") };
        let places = count(step.places, "place");
        let _ = writeln!(text, "{}. {}: {state}, {places}", number + 1, step.environment);
        if !step.after.is_empty() && !step.is_done {
            let _ = writeln!(text, "   after {}, with the gates: {}", step.after.join(", "), listed(&step.gates));
        }
        if step.is_manual && !step.is_done {
            text.push_str("   starts with `kalypso promote`\n");
        }
        for PlannedRing { name, places } in step.rings.iter().filter(|_| !step.is_done) {
            let _ = writeln!(text, "   ring {name}: {}", count(*places, "place"));
        }
    }
    text
}

fn listed(gates: &[String]) -> String {
    if gates.is_empty() { "none".to_owned() } else { gates.join(", ") }
}
