//! Checks for every change of a fleet: an incremental update gives the same result as a full compilation, and recomputes nothing that did not change.

mod limited;
mod matching;
mod oddities;
mod visible_result;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::compile::memo::Memo;
use engine::compile::{CompileOptions, Compiled};
use model::diagnostic::AssignmentId;
use model::fleet::sources::SourceFileChange;
use model::fleet::{AuthorRole, FileScope, Fleet, FleetInput, Sources};
use model::git_id::GitId;
use model::name::RegistrationName;
use model::source::{File, Source};
use simulator::random::Random;

use crate::directory::input_by;
use crate::edits::FleetEdits;
use crate::generator::ENVIRONMENT;
use oddities::Oddities;
use visible_result::{VisibleResult, same};

/// The amount of work of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkCounts {
    /// The number of edits. Each edit counts once, whether it was made alone or together with others.
    pub edits: usize,
    /// The number of changes of a fleet: of one edit, of several edits, or back to an earlier state.
    pub changes: usize,
    /// The number of assignments, summed over all fleets.
    pub assignments: usize,
    /// The number of recomputed assignments.
    pub recomputed: usize,
    /// The number of assignments whose folder changed.
    pub changed: usize,
    /// The number of removed assignments.
    pub removed: usize,
    /// The number of assignments found in a saved memo.
    pub saved: usize,
    /// The number of layout changes. They recompute nothing.
    pub layout: usize,
}

impl std::ops::AddAssign for WorkCounts {
    fn add_assign(&mut self, more: Self) {
        self.edits += more.edits;
        self.changes += more.changes;
        self.assignments += more.assignments;
        self.recomputed += more.recomputed;
        self.changed += more.changed;
        self.removed += more.removed;
        self.saved += more.saved;
        self.layout += more.layout;
    }
}

/// Files with their new texts. The value is `None` if the file is removed.
type Changes = BTreeMap<String, Option<String>>;

/// Edits a small fleet. After each change, compares the updated state with a full compilation: assignments, their files, the tree, and diagnostics
/// with their places. Also compares the reported recomputed assignments with those whose inputs changed.
///
/// # Errors
/// Returns the differences and the edit after which they occurred.
pub fn check(seed: u64, edits: usize) -> Result<WorkCounts, String> {
    walk(seed, edits, Script::new(seed))
}

/// Same as [`check`], but all edits change which application repository provides a workload.
///
/// # Errors
/// Returns the differences and the edit after which they occurred.
pub fn check_claims(seed: u64, edits: usize) -> Result<WorkCounts, String> {
    walk(seed, edits, Script { only_claims: true, ..Script::new(seed) })
}

fn walk(seed: u64, edits: usize, script: Script) -> Result<WorkCounts, String> {
    let mut walk = Walk::new(script)?;
    let mut random = Random::new(seed);
    while walk.counts.edits < edits {
        let (step, number) = (walk.edits.step(&mut random), walk.counts.edits);
        let at = |problem| format!("seed {seed}, edit {number} ({}): {problem}", step.titles.join(" + "));
        walk.counts.edits += step.edits;
        let back = step.changes.keys().map(|path| (path.clone(), walk.files.get(path).cloned())).collect();
        walk.change(&step.changes, step.is_layout).map_err(at)?;
        if random.below(6) == 0 {
            walk.change(&back, step.is_layout).map_err(|problem| at(format!("undone: {problem}")))?;
            walk.change(&step.changes, step.is_layout).map_err(|problem| at(format!("redone: {problem}")))?;
        }
    }
    Ok(walk.counts)
}

/// Edits a small fleet. Compares the result of one thread with the result of eight threads after each change. The amount of work must also be equal.
///
/// # Errors
/// Returns the differences and the edit after which they occurred.
pub fn check_threads(seed: u64, edits: usize) -> Result<(), String> {
    let pool =
        |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| error.to_string());
    let pools = [pool(1)?, pool(8)?];
    let mut script = Script::new(seed);
    let mut sources = sources(script.edits.files())?;
    let mut compiled = [Compiled::new(sources.fleet()), Compiled::new(sources.fleet())];
    let mut random = Random::new(seed);
    for number in 0..edits {
        let step = script.step(&mut random);
        let fleet = sources.update(step.changes.iter().map(change_of)).fleet;
        for (pool, compiled) in pools.iter().zip(&mut compiled) {
            pool.install(|| compiled.update(&fleet).work);
        }
        let at = |problem| format!("seed {seed}, edit {number} ({}): {problem}", step.titles.join(" + "));
        let [one, many] = &compiled;
        same("the results", &VisibleResult::new(one, &[]), &VisibleResult::new(many, &[])).map_err(at)?;
        same("the amounts of work", &one.last_update().work, &many.last_update().work).map_err(at)?;
        let recomputed = |compiled: &Compiled| compiled.last_update().recomputed(compiled).collect::<Vec<_>>();
        same("the recomputed assignments", &recomputed(one), &recomputed(many)).map_err(at)?;
    }
    Ok(())
}

/// The source of the edits.
struct Script {
    edits: FleetEdits,
    oddities: Oddities,
    only_claims: bool,
}

/// The changes that are made together.
struct Step {
    titles: Vec<String>,
    changes: Changes,
    edits: usize,
    is_layout: bool,
}

impl Script {
    fn new(seed: u64) -> Self {
        Self { edits: FleetEdits::new(seed), oddities: Oddities::default(), only_claims: false }
    }

    /// The next edit, or in some cases several edits at the same time.
    fn step(&mut self, random: &mut Random) -> Step {
        let edits = if random.below(5) == 0 { 2 + random.below(4) as usize } else { 1 };
        let mut step = Step { titles: Vec::new(), changes: Changes::new(), edits, is_layout: true };
        for _ in 0..edits {
            let (title, changes, is_layout) = if self.only_claims || random.below(4) == 0 {
                let (title, path, text) = self.oddities.next(random, self.only_claims);
                (title, Changes::from([(path, text)]), false)
            } else {
                let Some(edit) = self.edits.next() else { continue };
                (edit.to_string(), edit.changes().clone(), edit.is_layout())
            };
            step.titles.push(title);
            step.changes.extend(changes);
            step.is_layout &= is_layout;
        }
        step
    }
}

/// A fleet that is edited, with its compiled state.
struct Walk {
    edits: Script,
    files: BTreeMap<String, String>,
    sources: Sources,
    compiled: Compiled,
    /// The result of the last full compilation.
    before: VisibleResult,
    saved: Vec<u8>,
    counts: WorkCounts,
}

impl Walk {
    fn new(edits: Script) -> Result<Self, String> {
        let mut files = edits.edits.files().clone();
        files.insert(limited::BASE_PATH.to_owned(), limited::BASE.to_owned());
        let sources = sources(&files)?;
        let compiled = Compiled::new(sources.fleet());
        let (before, saved) = (VisibleResult::new(&compiled, &[]), compiled.save());
        Ok(Self { edits, files, sources, compiled, before, saved, counts: WorkCounts::default() })
    }

    fn change(&mut self, changes: &Changes, is_layout: bool) -> Result<(), String> {
        for (path, text) in changes {
            match text {
                Some(text) => drop(self.files.insert(path.clone(), text.clone())),
                None => drop(self.files.remove(path)),
            }
        }
        let update = self.sources.update(changes.iter().map(change_of));
        self.compiled.update(&update.fleet);
        let (fleet, found) = Fleet::build(input(&self.files)?);
        let fleet = Arc::new(fleet);
        let cold = Compiled::new(&fleet);
        let after = VisibleResult::new(&cold, &found);
        same("full compilation and update", &after, &VisibleResult::new(&self.compiled, &update.diagnostics))?;
        self.check_update(&after)?;
        visible_result::check_tree(&self.compiled)?;
        matching::check(&cold)?;
        if is_layout && fleet.duplicates.is_empty() && !self.before.has_duplicates {
            self.counts.layout += 1;
            same("the recomputed counts of a layout change", &0, &self.compiled.last_update().recomputed_count())?;
        }
        if self.counts.changes.is_multiple_of(3) {
            self.check_saved(&fleet, &after)?;
        }
        self.counts.changes += 1;
        self.counts.assignments += after.assignments.len();
        (self.before, self.saved) = (after, self.compiled.save());
        Ok(())
    }

    /// Checks that the update reports an assignment as recomputed if and only if its inputs changed. Checks folders in the same way.
    fn check_update(&mut self, after: &VisibleResult) -> Result<(), String> {
        let update = self.compiled.last_update();
        let recomputed = sorted(update.recomputed(&self.compiled));
        same("the recomputed assignments", &self.with_other_inputs(after), &recomputed)?;
        let old = |id| self.before.assignments.get(id);
        let others = after.assignments.iter().filter(|(id, new)| old(id).and_then(|old| old.folder) != new.folder);
        let changed = sorted(update.changed(&self.compiled));
        same("the changed assignments", &sorted(others.map(|(id, _)| id.clone())), &changed)?;
        let gone = self.before.assignments.keys().filter(|id| !after.assignments.contains_key(id));
        let removed = sorted(update.removed(&self.compiled));
        same("the removed assignments", &sorted(gone.cloned()), &removed)?;
        self.counts.recomputed += recomputed.len();
        self.counts.changed += changed.len();
        self.counts.removed += removed.len();
        Ok(())
    }

    fn with_other_inputs(&self, after: &VisibleResult) -> Vec<AssignmentId> {
        let is_other = |id, new: &visible_result::Assignment| {
            self.before.assignments.get(id).is_none_or(|old| old.inputs != new.inputs)
        };
        sorted(after.assignments.iter().filter(|(id, new)| is_other(id, new)).map(|(id, _)| id.clone()))
    }

    /// Checks that a memo saved by an earlier run gives the same result. Each assignment with equal inputs that could be rendered must be found in
    /// the memo.
    fn check_saved(&mut self, fleet: &Arc<Fleet>, after: &VisibleResult) -> Result<(), String> {
        let memo = Memo::read(&self.saved).map_err(|error| error.to_string())?;
        let compiled = Compiled::with(fleet, CompileOptions { memo, ..CompileOptions::default() });
        let mut seen = VisibleResult::new(&compiled, &[]);
        seen.says.clone_from(&after.says);
        same("full compilation and compilation with the saved memo", after, &seen)?;
        let update = compiled.last_update();
        let others: BTreeSet<_> = self.with_other_inputs(after).into_iter().collect();
        let was_rendered = |id: &AssignmentId| self.before.assignments.get(id).is_some_and(|old| old.folder.is_some());
        let wrong: Vec<_> =
            update.recomputed(&compiled).filter(|id| !others.contains(id) && was_rendered(id)).collect();
        same("the assignments that are missing in the saved memo", &Vec::new(), &wrong)?;
        self.counts.saved += update.work.saved;
        Ok(())
    }
}

fn sorted(ids: impl Iterator<Item = AssignmentId>) -> Vec<AssignmentId> {
    let mut ids: Vec<_> = ids.collect();
    ids.sort();
    ids
}

fn texts(files: &BTreeMap<String, String>) -> Vec<(String, Vec<u8>)> {
    files.iter().map(|(path, text)| (path.clone(), text.clone().into_bytes())).collect()
}

fn sources(files: &BTreeMap<String, String>) -> Result<Sources, String> {
    input(files).map(Sources::new)
}

fn input(files: &BTreeMap<String, String>) -> Result<FleetInput, String> {
    input_by(texts(files), ENVIRONMENT, |path| (role_of(path), limited::limits_of(path)))
        .map_err(|error| error.to_string())
}

/// The role of the author of a file: `applications/NAME/…` is in the repository of the registration `NAME`.
fn role_of(path: &str) -> AuthorRole {
    let name = path.strip_prefix("applications/").and_then(|rest| rest.split_once('/')).map(|(name, _)| name);
    let registration = name.and_then(|name| RegistrationName::new(name).ok());
    registration.map_or(AuthorRole::Platform, AuthorRole::Application)
}

fn change_of((path, text): (&String, &Option<String>)) -> SourceFileChange {
    let (role, source, path) = (role_of(path), Arc::new(Source::directory()), path.as_str().into());
    match text {
        None => SourceFileChange::Removed { role, source, path },
        Some(text) => {
            let (id, content) = (GitId::of_blob(text.as_bytes()), text.as_bytes().into());
            let limits = limited::limits_of(&path);
            SourceFileChange::Written {
                role,
                scope: FileScope::Everything,
                limits,
                file: File { source, path, id, content },
            }
        }
    }
}
