//! Approvals: which gate of which change a person approves, and whether the approval counts there.

use std::fmt;
use std::sync::Arc;

use model::object::promotion::{Approval, Gate, GateKind, Ring};
use model::object::release::{is_called, shown};

use super::{About, Applied, Attempt, ChangedMove, NotApplied};
use crate::promotion::command::{Command, CommandKind, CommandRefusal, apply_to_advance, apply_to_rollout};
use crate::promotion::evidence::{Approver, Authors, UNKNOWN_AUTHORS};
use crate::promotion::gates::{NotCounted, counts};
use crate::promotion::state::{AdvanceState, Candidate, GateRecord, GateStatus, Move, Revision};
use crate::promotion::step::RENDERER;

/// A gate that waits for approvals of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenApproval {
    /// What moves, as people name it. None: the commits of the main branch.
    pub subject: Option<Arc<str>>,
    /// The ring in which it waits. None: it waits before the environment.
    pub ring: Option<Arc<str>>,
    /// The revision.
    pub revision: Revision,
    /// The gate.
    pub gate: Arc<str>,
    /// The approvals that it has.
    pub text: Arc<str>,
}

impl fmt::Display for OpenApproval {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = self.subject.as_deref().unwrap_or("main");
        let ring = self.ring.as_ref().map_or_else(String::new, |ring| format!(" in the ring `{ring}`"));
        write!(formatter, "{subject} {}{ring} at the gate `{}` ({})", shown(&self.revision.0), self.gate, self.text)
    }
}

/// What a gate for approvals is about.
#[derive(Clone, Copy)]
enum Target<'a> {
    Main,
    Release(&'a Arc<str>),
    Renderer,
    Source(&'a Arc<str>),
    Rollout(&'a Arc<str>),
}

impl Target<'_> {
    /// What moves, as people name it. None: the commits of the main branch.
    fn subject(self) -> Option<Arc<str>> {
        match self {
            Self::Main => None,
            Self::Renderer => Some(RENDERER.into()),
            Self::Release(name) | Self::Source(name) | Self::Rollout(name) => Some(Arc::clone(name)),
        }
    }
}

/// A change that approvals are for.
struct Change<'a> {
    target: Target<'a>,
    /// The ring in which it moves. None: it waits before the environment.
    ring: Option<&'a Ring>,
    revision: &'a Revision,
    authors: Option<&'a Authors>,
    approvals: &'a [Approver],
}

/// A gate for approvals that was evaluated for a change.
struct Evaluated<'a> {
    target: Target<'a>,
    open: OpenApproval,
    is_waiting: bool,
    rule: &'a Approval,
    authors: &'a Authors,
    approvals: &'a [Approver],
}

impl Evaluated<'_> {
    fn is_about(&self, about: About<'_>) -> bool {
        match (about, self.target) {
            (About::Environment, _) | (About::Renderer, Target::Renderer) => true,
            (About::Workload(name), Target::Release(own) | Target::Rollout(own))
            | (About::Source(name), Target::Source(own)) => **own == *name,
            _ => false,
        }
    }

    fn is_called(&self, revision: &str) -> bool {
        let own = &self.open.revision.0;
        own.starts_with(revision) || is_called(own, revision)
    }
}

impl Attempt<'_> {
    /// Approves one gate of one change: the only one that is meant, and at which the account counts.
    pub(super) fn approve(&self, about: About<'_>, gate: Option<&Arc<str>>) -> Result<Applied, NotApplied> {
        self.check_gate(gate)?;
        let all = self.evaluated();
        let of_subject: Vec<_> = all.iter().filter(|found| found.is_about(about)).collect();
        if of_subject.is_empty() && !self.is_known(about) {
            return Err(NotApplied::UnknownSubject(match about {
                About::Workload(name) | About::Source(name) => name.to_owned(),
                About::Renderer => "the renderer".to_owned(),
                About::Environment => "main".to_owned(),
            }));
        }
        let of_gate: Vec<_> =
            of_subject.into_iter().filter(|found| gate.is_none_or(|gate| found.open.gate == *gate)).collect();
        let waiting: Vec<_> = of_gate.iter().filter(|found| found.is_waiting).copied().collect();
        let meant: Vec<_> = match self.revision {
            Some(revision) => waiting.iter().filter(|found| found.is_called(revision)).copied().collect(),
            None => waiting.clone(),
        };
        if let (Some(about), true, Some(other)) = (self.revision, meant.is_empty(), waiting.first()) {
            let moving = shown(&other.open.revision.0).into();
            return Err(CommandRefusal::OtherRevision { about: about.into(), moving }.into());
        }
        if let (true, Some(holding)) = (meant.is_empty(), of_gate.first().filter(|_| gate.is_some())) {
            return Err(CommandRefusal::GateHolds(Arc::clone(&holding.open.gate)).into());
        }
        let chosen = self.chosen(&meant).map_err(|refusal| {
            // Of a workload, the answer says nothing about others: it may be for a token that is limited to some.
            let open = all.iter().filter(|found| found.is_waiting && found.is_about(about));
            let open = open.map(|found| found.open.to_string());
            refusal.unwrap_or_else(|| CommandRefusal::NoApproval { open: open.collect() })
        })?;
        self.apply_approval(chosen)
    }

    /// People approve at gates for approvals only, before the environment or in one of its rings.
    fn check_gate(&self, gate: Option<&Arc<str>>) -> Result<(), CommandRefusal> {
        let (Some(gate), Some(promotion)) = (gate, self.known.promotion()) else { return Ok(()) };
        let all = promotion.gates.iter().chain(promotion.rings.iter().flat_map(Ring::gates));
        let names: Vec<_> = all.filter(|gate| gate.kind.is_approval()).map(|gate| Arc::clone(&gate.name)).collect();
        if names.contains(gate) {
            Ok(())
        } else {
            Err(CommandRefusal::NotForApprovals { gate: Arc::clone(gate), names })
        }
    }

    /// The only gate at which the approval counts, or why there is none. No reason: nothing waits.
    fn chosen<'e, 's>(&self, meant: &[&'e Evaluated<'s>]) -> Result<&'e Evaluated<'s>, Option<CommandRefusal>> {
        let checked: Vec<_> = meant.iter().map(|found| (*found, self.check_approval(found))).collect();
        let counted: Vec<_> = checked.iter().filter(|(_, checked)| checked.is_ok()).map(|(found, _)| *found).collect();
        match &*counted {
            [one] => Ok(one),
            [] => Err(checked.into_iter().find_map(|(_, checked)| checked.err())),
            several => Err(Some(CommandRefusal::SeveralApprovals {
                open: several.iter().map(|found| found.open.to_string()).collect(),
            })),
        }
    }

    /// Whether the approval counts at a gate.
    fn check_approval(&self, found: &Evaluated<'_>) -> Result<(), CommandRefusal> {
        let (by, gate) = (&self.command.by, &found.open.gate);
        let teams = self.known.teams();
        if let Err(why) = counts(by, found.rule, (found.authors, teams)) {
            let reason = match (why, &found.rule.team) {
                (NotCounted::OtherTeam, Some(team)) if !teams.contains_key(team) => {
                    format!("the team `{team}` is not in the configuration of the service")
                }
                (NotCounted::OtherTeam, team) => {
                    format!("{by} is not in the team `{}`", team.as_deref().unwrap_or_default())
                }
                (NotCounted::Author, _) => format!("{by} is an author of the change"),
            };
            return Err(CommandRefusal::NotCounted { gate: Arc::clone(gate), reason });
        }
        let covers = |approver: &&Approver| approver.gate.as_ref().is_none_or(|of| of == gate);
        let is_own = |approver: &Approver| approver.account.to_lowercase() == by.to_lowercase();
        let has_approved = found.approvals.iter().filter(covers).any(is_own);
        if has_approved { Err(CommandRefusal::IsApproved(Arc::clone(by))) } else { Ok(()) }
    }

    fn apply_approval(&self, found: &Evaluated<'_>) -> Result<Applied, NotApplied> {
        let OpenApproval { subject, revision, gate, .. } = &found.open;
        let command = Command { kind: CommandKind::Approve { gate: Some(Arc::clone(gate)) }, ..self.command.clone() };
        let advanced = |state: Option<&AdvanceState>| {
            apply_to_advance(&state.cloned().unwrap_or_default(), &command).map_err(NotApplied::from)
        };
        let changed = match found.target {
            Target::Main => ChangedMove::Main(advanced(self.state.main.as_ref())?),
            Target::Renderer => ChangedMove::Renderer(advanced(self.state.renderer.as_ref())?),
            Target::Release(name) => ChangedMove::Release(Arc::clone(name), advanced(self.state.releases.get(name))?),
            Target::Source(name) => ChangedMove::Source(Arc::clone(name), advanced(self.state.sources.get(name))?),
            Target::Rollout(name) => {
                let before = self.state.rollouts.get(name).cloned().unwrap_or_default();
                ChangedMove::Rollout(Arc::clone(name), apply_to_rollout(&before, &command)?)
            }
        };
        let event = command.event(Some(revision.clone()));
        let changes = vec![(changed, event.clone())];
        Ok(Applied { subject: subject.clone(), revision: Some(revision.clone()), event, changes })
    }

    fn is_known(&self, about: About<'_>) -> bool {
        match about {
            About::Environment => true,
            About::Renderer => self.state.renderer.is_some(),
            About::Workload(name) => self.has_release(name) || self.state.rollouts.contains_key(name),
            About::Source(name) => self.state.sources.contains_key(name),
        }
    }

    /// All gates for approvals that were evaluated for what moves.
    fn evaluated(&self) -> Vec<Evaluated<'_>> {
        let Some(promotion) = self.known.promotion() else { return Vec::new() };
        let state = self.state;
        let main = state.main.iter().map(|main| (Target::Main, main));
        let renderer = state.renderer.iter().map(|renderer| (Target::Renderer, renderer));
        let releases = state.releases.iter().map(|(name, one)| (Target::Release(name), one));
        let sources = state.sources.iter().map(|(name, one)| (Target::Source(name), one));
        let advances = main.chain(renderer).chain(releases).chain(sources);
        let before = advances.flat_map(|(target, state)| {
            records(state).filter_map(move |(candidate, record)| {
                let Candidate { revision, authors, approvals, .. } = candidate;
                let change = Change { target, ring: None, revision, authors: authors.as_ref(), approvals };
                change.evaluated(record, &promotion.gates)
            })
        });
        let in_rings = state.rollouts.iter().flat_map(|(name, rollout)| {
            let current = rollout.current.iter();
            current.flat_map(|current| current.gates.iter().map(move |record| (current, record))).filter_map(
                move |(current, record)| {
                    let ring = promotion.rings.get(current.ring)?;
                    let (target, Move { revision, authors, approvals, .. }) = (Target::Rollout(name), current);
                    let change = Change { target, ring: Some(ring), revision, authors: authors.as_ref(), approvals };
                    change.evaluated(record, ring.gates())
                },
            )
        });
        before.chain(in_rings).collect()
    }
}

/// The gates of a change that was not admitted yet, and those of admitted ones that are evaluated again.
fn records(state: &AdvanceState) -> impl Iterator<Item = (&Candidate, &GateRecord)> {
    let current = state.current.iter().flat_map(|change| {
        let records = if change.phase.is_admitted() { &change.entry } else { &change.gates };
        records.iter().map(move |record| (change, record))
    });
    let unmerged = state.unmerged.iter().map(|unmerged| &unmerged.change);
    current.chain(unmerged.flat_map(|change| change.entry.iter().map(move |record| (change, record))))
}

impl<'a> Change<'a> {
    /// The record of one of these gates, if it is one for approvals.
    fn evaluated(self, record: &GateRecord, gates: impl IntoIterator<Item = &'a Gate>) -> Option<Evaluated<'a>> {
        let Self { target, ring, revision, authors, approvals } = self;
        let mut rules = gates.into_iter().filter(|gate| gate.name == record.name).map(|gate| &gate.kind);
        let rule = rules.find_map(|kind| match kind {
            GateKind::Approval(rule) => Some(rule),
            _ => None,
        })?;
        let open = OpenApproval {
            subject: target.subject(),
            ring: ring.map(|ring| Arc::clone(&ring.name)),
            revision: revision.clone(),
            gate: Arc::clone(&record.name),
            text: Arc::clone(&record.text),
        };
        let is_waiting = record.status == GateStatus::Waiting;
        Some(Evaluated { target, open, is_waiting, rule, authors: authors.unwrap_or(&UNKNOWN_AUTHORS), approvals })
    }
}
