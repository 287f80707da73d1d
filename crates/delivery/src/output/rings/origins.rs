//! The origins of a workload's folders, as its state names them: commits of the branch, or earlier sources, which are rendered again.

use std::collections::btree_map::Entry;
use std::sync::Arc;

use engine::compile::Compiled;
use engine::output::PlaceFolders;
use engine::promotion::revision::{self, Revisions};
use engine::promotion::rings::layout::layout;
use engine::promotion::state::{BranchPosition, MoveStage, Revision};
use model::tree::Sealed;

use super::{Movement, Origin, Rings, WorkloadRollout};
use crate::output::compilation::{CompiledEnvironment, KnownResults};
use crate::output::gitops_destination::GitOpsDestination;
use crate::sources::loaded::Loaded;
use crate::states::rollout_position;
use crate::states::rollout_store::RevisionSources;

impl Rings {
    /// Adds a workload with its state.
    pub(super) fn add(&mut self, reader: &mut Reader<'_>, rollout: WorkloadRollout<'_>) {
        let WorkloadRollout { workload, stored } = rollout;
        let targets = self.all_targets(workload, &stored.targets);
        let mut state = stored.state.clone();
        if !state.is_of(&layout(&self.membership.rings)) {
            // The state is about other rings: everything stays until the controller begins the move again.
            state.current = None;
        }
        let Some(current) = state.current.as_ref() else {
            self.moves.push(Movement::at_rest(Arc::clone(workload), state, targets));
            return;
        };
        let returns = !matches!(current.phase, MoveStage::Moving | MoveStage::Stopped { is_withdrawn: false, .. });
        let base = self.position(reader, &current.base);
        let base = self.known(workload, base);
        // Before the first proved revision, a workload returns to what was there before.
        let stable = self.stable(reader, rollout, returns).unwrap_or(base);
        let moving = self.revision(reader, rollout, &current.revision);
        if !matches!(current.phase, MoveStage::RollingBack { .. })
            && let Err(missing) = &moving
        {
            self.miss(workload, missing, &missing.reason);
        }
        let moving = self.known(workload, moving.map_err(String::from));
        let rest = match state.interrupted.as_ref().map(|interrupted| &interrupted.rest) {
            Some(rest) => self.revision(reader, rollout, rest).map_err(String::from),
            None => Ok(Origin::Unknown),
        };
        if let Err(reason) = &rest {
            self.unknown.insert(Arc::clone(workload), reason.clone());
        }
        let rest = self.known(workload, rest);
        self.moves.push(Movement { workload: Arc::clone(workload), state, targets, moving, base, stable, rest });
    }

    /// Folders, or the problem that they can't be read.
    fn known(&mut self, workload: &Arc<str>, found: Result<Origin, String>) -> Origin {
        found.unwrap_or_else(|reason| {
            self.problems.push((Arc::clone(workload), reason));
            Origin::Unknown
        })
    }

    /// The folders of the stable revision: those of the branch when it was proved. If that commit is gone, for example because the branch was replaced, the revision
    /// is rendered again when it is needed. None: no revision is stable.
    pub(super) fn stable(
        &mut self,
        reader: &mut Reader<'_>,
        rollout: WorkloadRollout<'_>,
        is_needed: bool,
    ) -> Option<Origin> {
        let WorkloadRollout { workload, stored } = rollout;
        let stable = stored.state.stable.as_ref()?;
        if stable.at == BranchPosition::default() {
            // No commit of the branch has it at all places: it was proved below a move that is half-way.
            let rendered = self.revision(reader, rollout, &stable.revision);
            if let Err(missing) = rendered.as_ref()
                && is_needed
            {
                self.miss(workload, missing, &missing.reason);
            }
            return Some(self.known(workload, rendered.map_err(String::from)));
        }
        let found = self.position(reader, &stable.at);
        let Err(reason) = found.as_ref() else { return found.ok() };
        if !is_needed {
            return Some(Origin::Unknown);
        }
        let rendered = self.revision(reader, rollout, &stable.revision);
        if let Err(missing) = &rendered {
            self.miss(workload, missing, reason);
        }
        Some(self.known(workload, rendered.map_err(String::from).or(found)))
    }

    /// Folders that places are to have now can't be read or rendered.
    fn miss(&mut self, workload: &Arc<str>, missing: &Missing, reason: &str) {
        self.unknown.insert(Arc::clone(workload), reason.to_owned());
        self.lost.extend(missing.is_lost.then(|| Arc::clone(workload)));
    }

    /// The folders at a position.
    fn position(&mut self, reader: &Reader<'_>, position: &BranchPosition) -> Result<Origin, String> {
        let target = reader.target;
        let Some(commit) = rollout_position::commit(position, &target.name) else {
            return Err(format!("its state names no commit of {}", target.branch.name));
        };
        if let Entry::Vacant(entry) = self.published.entry(commit) {
            let open = |sealed: &Sealed| target.branch.open(sealed);
            let tree = target.branch.tree_at(commit);
            let folders = tree.and_then(|tree| PlaceFolders::read(&tree, &target.folder, &open));
            entry.insert(folders.map_err(|error| error.to_string())?);
        }
        Ok(Origin::Published(commit))
    }

    /// The folders of a revision.
    pub(super) fn revision(
        &mut self,
        reader: &mut Reader<'_>,
        WorkloadRollout { workload, stored }: WorkloadRollout<'_>,
        revision: &Revision,
    ) -> Result<Origin, Missing> {
        if self.revisions.desired(workload).as_ref() == Some(revision) {
            return Ok(Origin::Latest);
        }
        if *revision == revision::empty() {
            return Ok(Origin::Nothing);
        }
        let index = match stored.revisions.get(revision) {
            Some(sources) => reader.render(sources, &mut self.earlier)?,
            None => return Err("its state does not name the sources of the moving revision".to_owned().into()),
        };
        let is_same = |compiled: &Compiled| {
            let revisions = Revisions::new(compiled);
            // Earlier sources may have the workload under an earlier name.
            self.all_names(workload).any(|name| revisions.desired(name).as_ref() == Some(revision))
        };
        let is_rendered = self.earlier.get(index).is_some_and(is_same);
        let reason = "its sources give another revision than before, with this version of Kalypso";
        is_rendered
            .then_some(Origin::Earlier(index))
            .ok_or_else(|| Missing { reason: reason.to_owned(), is_lost: true })
    }
}

/// Why a revision has no folders.
pub(super) struct Missing {
    reason: String,
    /// Whether it can't be rendered any more.
    is_lost: bool,
}

impl From<String> for Missing {
    fn from(reason: String) -> Self {
        Self { reason, is_lost: false }
    }
}

impl From<Missing> for String {
    fn from(missing: Missing) -> Self {
        missing.reason
    }
}

/// Reads the sources of revisions.
pub(super) struct Reader<'a> {
    pub(super) loaded: &'a Loaded,
    pub(super) compiled: &'a Arc<Compiled>,
    pub(super) known: &'a mut KnownResults,
    pub(super) target: &'a GitOpsDestination,
    /// The sources that were read, in the order of the compiled states.
    sources: Vec<RevisionSources>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        loaded: &'a Loaded,
        CompiledEnvironment { compiled, known }: CompiledEnvironment<'a>,
        target: &'a GitOpsDestination,
    ) -> Self {
        Self { loaded, compiled, known, target, sources: Vec::new() }
    }

    /// Renders the environment from these sources, or finds it among the rendered ones. Returns its index.
    pub(super) fn render(&mut self, sources: &RevisionSources, earlier: &mut Vec<Compiled>) -> Result<usize, String> {
        if let Some(index) = self.sources.iter().position(|known| known == sources) {
            return Ok(index);
        }
        let state = u8::try_from(earlier.len() + 1).ok().filter(|state| *state <= Compiled::STATES_MAX);
        let Some(state) = state else {
            return Err(format!(
                "more than {} different states of the sources are moving at once; this one waits",
                Compiled::STATES_MAX
            ));
        };
        let loaded = self.target.branch.load_at(self.loaded, vec![sources.publication()])?;
        earlier.push(self.known.compile_state(&loaded, state, self.compiled));
        self.sources.push(sources.clone());
        Ok(earlier.len() - 1)
    }
}
