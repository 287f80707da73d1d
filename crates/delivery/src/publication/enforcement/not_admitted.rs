//! Names the revisions that the output of an environment does not have yet, because they were not admitted.

use std::sync::Arc;

use engine::promotion::answer::{Answer, WaitingSubject};
use engine::promotion::in_force::in_force;
use engine::promotion::open_gates::{WaitsFor, open_gates, waits_for};
use engine::promotion::state::{AdvanceState, Candidate, CandidatePhase, GateRecord, Revision};
use git::publications::SourceBranch;
use git::{Commit, RepositoryUrl};
use model::diagnostic::{Code, Diagnostic};
use model::git_id::GitId;
use model::kind::Kind;
use model::object::Promotion;
use model::object::release::shown;

use super::base_repos::{self, MainReference};
use super::facts::{NOT_LET_IN, by_hand, gate_text};
use super::{MAIN, ways_on};
use crate::access::RepositoryAccess;
use crate::access::renderer::SUBJECT;
use crate::sources::loaded::Loaded;
use crate::states::promoted_commit::PromotedCommit;
use crate::states::rollout_store::{self, Advances, StoredSource};

/// A revision that was not admitted into an environment.
#[derive(Clone, Debug)]
pub struct NotAdmitted {
    /// Where it comes from: `main`, `values`, `values/NAME`, `application/NAME`, or the workload of a release.
    pub source: Arc<str>,
    /// The revision: a commit, or a release.
    pub revision: Arc<str>,
    /// The revision that the output has instead. None: it is not known.
    pub admitted: Option<Arc<str>>,
    /// What it waits for.
    pub waits_for: WaitsFor,
    /// The gates that do not hold, as they were evaluated last.
    pub gates: Vec<GateRecord>,
    /// The same as a diagnostic: an error if a person must act, else a note.
    pub diagnostic: Diagnostic,
}

/// What was not admitted into an environment that was read at what was admitted, by its recorded state.
pub fn not_admitted(loaded: &Loaded) -> Vec<NotAdmitted> {
    let (Some(access), true) = (loaded.access.as_deref(), loaded.admission.is_some()) else { return Vec::new() };
    let environment = &loaded.fleet.environment;
    let Ok(stored) = rollout_store::read(access, environment) else { return Vec::new() };
    let Some(Ok(advances)) = &stored.advances else { return Vec::new() };
    let declared = loaded.graph.promotion(environment.as_str());
    let declared: Vec<_> = declared.map(|promotion| &**promotion).into_iter().collect();
    let promotion = in_force(stored.admitted_promotion(), &declared);
    let declared = loaded.declarations.environments.iter().find(|object| object.name == *environment);
    let branch = declared.and_then(|object| PromotedCommit::read(access, environment, &object.spec.control_plane).ok());
    let found = Recorded { loaded, access, advances, promotion: promotion.as_ref(), branch: branch.as_ref() };
    let by_hand = found.moved_by_hand();
    let is_by_hand = |one: &NotAdmitted| by_hand.as_ref().is_some_and(|by_hand| by_hand.revision == one.revision);
    let main = found.main().filter(|main| !is_by_hand(main));
    let rest = found.sources().chain(found.releases()).collect::<Vec<_>>();
    by_hand.clone().into_iter().chain(main).chain(rest).collect()
}

/// The recorded state of an environment.
struct Recorded<'a> {
    loaded: &'a Loaded,
    access: &'a RepositoryAccess,
    advances: &'a Advances,
    promotion: Option<&'a Promotion>,
    /// The environment's branch. None: it can't be read.
    branch: Option<&'a PromotedCommit>,
}

impl Recorded<'_> {
    /// What the environment's branch names instead of the admitted commit. None: it names the admitted commit, or one that is being admitted.
    fn moved_by_hand(&self) -> Option<NotAdmitted> {
        let (environment, access) = (&self.loaded.fleet.environment, self.access);
        let admitted = self.loaded.admission.as_ref()?.main?;
        let branch = self.branch?;
        let written = branch.commit.filter(|written| *written != admitted)?;
        let gates = by_hand(self.advances.platform.as_ref()?, written)?;
        let references = base_repos::main_references(self.loaded, access);
        let is_main = |reference: &&MainReference| reference.key.kind == Kind::BaseRepo && *reference.key.name == *MAIN;
        let diagnostic = Diagnostic::error(
            Code::MovedPastGate,
            format!("commit {} came into `{environment}` past its gates", written.short()),
        );
        let diagnostic = match references.iter().find(is_main) {
            Some(main) => super::at_main(diagnostic, main),
            None => diagnostic,
        };
        let admitted = Revision(admitted.to_string().into());
        let mut diagnostic = stays_at(diagnostic, &admitted);
        diagnostic.notes.extend(self.edit_of(branch));
        diagnostic.notes.extend(gates.iter().map(gate_text));
        if gates.is_empty() {
            diagnostic = diagnostic.note(NOT_LET_IN);
        }
        Some(NotAdmitted {
            source: MAIN.into(),
            revision: written.to_string().into(),
            admitted: Some(admitted.0),
            waits_for: WaitsFor::People,
            gates,
            diagnostic: ways_on(diagnostic, &written.to_string(), environment.as_str()),
        })
    }

    /// The commit of the environment's branch that brought its present file with the promoted commit.
    fn edit_of(&self, branch: &PromotedCommit) -> Option<String> {
        /// The number of commits that are searched.
        const COMMITS_MAX: usize = 50;
        let (path, repositories) = (branch.path()?, &*self.access.repositories);
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let content = |commit: &Commit| {
            let entries = repositories.folder(commit, folder).ok()??;
            entries.into_iter().find(|entry| entry.name == name).map(|entry| entry.id)
        };
        let present = content(&branch.head)?;
        let history = repositories.history(&branch.head, COMMITS_MAX).ok()?;
        let same = history.iter().take_while(|commit| content(commit) == Some(present)).count().checked_sub(1)?;
        let commit = history.get(same)?;
        let author = repositories.info(commit).ok()?.author.name;
        let (short, of) = (commit.id.short(), branch.head.revision.name());
        // It may be older than what was searched.
        let is_known = same + 1 < history.len() || history.len() < COMMITS_MAX;
        is_known.then(|| format!("`{path}` of branch `{of}` was edited in {short} by {author}"))
    }

    fn main(&self) -> Option<NotAdmitted> {
        self.advance(MAIN, self.advances.platform.as_ref()?)
    }

    fn sources(&self) -> impl Iterator<Item = NotAdmitted> {
        self.advances.sources.iter().filter_map(|(name, stored)| {
            let mut found = self.advance(name, &stored.state).or_else(|| self.unseen(name, stored))?;
            found.diagnostic.notes.extend(self.pushed_to(&stored.source, &found.revision));
            Some(found)
        })
    }

    /// The head of the environment's own branch, if no step has decided about it yet.
    fn unseen(&self, name: &str, stored: &StoredSource) -> Option<NotAdmitted> {
        let head = &self.branch?.head;
        let is_own = (&*stored.source.0, &*stored.source.1) == (head.url.as_str(), &*head.revision.name());
        let admitted =
            stored.state.admitted.as_ref().filter(|admitted| is_own && *admitted.0 != *head.id.to_string())?;
        let message = format!("no step has decided about commit {} of {name} yet", head.id.short());
        let diagnostic = stays_at(Diagnostic::hint(Code::NotAdmitted, message), admitted)
            .help("`kalypso publish`, `kalypso rollout advance` or the service makes a step");
        Some(NotAdmitted {
            source: name.into(),
            revision: head.id.to_string().into(),
            admitted: Some(Arc::clone(&admitted.0)),
            waits_for: WaitsFor::Clock,
            gates: Vec::new(),
            diagnostic,
        })
    }

    /// How a commit of a source came: by which branch, and from whom.
    fn pushed_to(&self, (url, branch): &SourceBranch, commit: &str) -> Option<String> {
        let url = RepositoryUrl::from_configuration(url).ok()?;
        let revision = git::Revision::Commit { id: GitId::from_hex(commit)?, branch: Some(branch.as_str().into()) };
        let commit = self.access.repositories.resolve(&url, &revision).ok()?;
        let author = self.access.repositories.info(&commit).ok()?.author.name;
        Some(format!("branch `{branch}` of {url} has it, by {author}"))
    }

    fn releases(&self) -> impl Iterator<Item = NotAdmitted> {
        self.advances.releases.iter().filter_map(|(workload, state)| self.advance(workload, state))
    }

    /// The candidate of a source, if it is not admitted yet.
    fn advance(&self, source: &str, state: &AdvanceState) -> Option<NotAdmitted> {
        let admitted = state.admitted.as_ref();
        let is_waiting = |candidate: &&Candidate| {
            let is_open = matches!(candidate.phase, CandidatePhase::Gated | CandidatePhase::Entering { .. });
            is_open && admitted != Some(&candidate.revision)
        };
        let candidate = state.current.as_ref().filter(is_waiting)?;
        Some(NotAdmitted {
            source: source.into(),
            revision: Arc::clone(&candidate.revision.0),
            admitted: admitted.map(|admitted| Arc::clone(&admitted.0)),
            waits_for: waits_for(candidate, self.promotion),
            gates: open_gates(candidate).cloned().collect(),
            diagnostic: self.diagnostic(source, state, candidate),
        })
    }

    fn diagnostic(&self, source: &str, state: &AdvanceState, candidate: &Candidate) -> Diagnostic {
        let waits_for = waits_for(candidate, self.promotion);
        let environment = &self.loaded.fleet.environment;
        let what = match GitId::from_hex(&candidate.revision.0) {
            Some(commit) => format!("commit {} of {source}", commit.short()),
            None => format!("release {} of {source}", shown(&candidate.revision.0)),
        };
        let new = if waits_for == WaitsFor::People { Diagnostic::error } else { Diagnostic::hint };
        let mut diagnostic = new(Code::NotAdmitted, format!("{what} waits before `{environment}`"));
        if let Some(admitted) = &state.admitted {
            diagnostic = stays_at(diagnostic, admitted);
        }
        diagnostic.notes.extend(open_gates(candidate).map(gate_text));
        if let CandidatePhase::Entering { since } = candidate.phase {
            diagnostic =
                diagnostic.note(format!("its gates hold since {since:.0}; it is admitted when the branch names it"));
        }
        if let Some(hold) = state.hold.as_ref().or(self.advances.hold()) {
            diagnostic = diagnostic.note(format!("held by {} since {:.0}: {}", hold.by, hold.at, hold.reason));
        }
        let subject = (*source != *MAIN).then_some(source);
        let is_release = source != SUBJECT && self.advances.releases.contains_key(source);
        let revision = is_release.then_some(&*candidate.revision.0);
        let about = WaitingSubject { environment: environment.as_str(), subject, revision };
        let gates = self.promotion.map(|promotion| promotion.gates.as_slice()).unwrap_or_default();
        let answer = |record: &GateRecord| Some(Answer::to_record(record, gates)?.command(about, &record.name));
        let answers = open_gates(candidate).filter(|_| waits_for == WaitsFor::People).filter_map(answer);
        diagnostic.help.extend(answers.map(|command| format!("a person admits it with `{command}`")));
        // An override is about commits, and about this version of Kalypso.
        diagnostic.help(if is_release {
            format!("`kalypso skip -e {environment} {source} --gate NAME --reason TEXT` passes a gate, and records the reason")
        } else {
            "`kalypso publish --override REASON` publishes it anyway, and records the reason".to_owned()
        })
    }
}

fn stays_at(diagnostic: Diagnostic, admitted: &Revision) -> Diagnostic {
    let admitted = match GitId::from_hex(&admitted.0) {
        Some(commit) => format!("commit {}", commit.short()),
        None => format!("release {}", admitted.0),
    };
    diagnostic.note(format!("the output stays at {admitted}, which was admitted"))
}
