//! Compiles environments with the results of earlier runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::compile::memo::Memo;
use engine::compile::{CompileOptions, Compiled, FolderStore};
use engine::output::Output;
use engine::promotion::revision::Revisions;
use git::publications::PublishedCommit;
use model::diagnostic::Diagnostic;
use model::fleet::Fleet;
use model::progress::Progress;

use crate::access::memo_file::MemoFile;
use crate::sources::loaded::Loaded;
use crate::sources::source_difference::KnownDifferences;
use crate::states::rollout_store::RevisionSources;

/// The maximum size of a saved memo, relative to the largest fleet of a run. The memo can contain the results of several branches that are compiled in turn.
/// Results that are no longer needed are removed when there are as many of them as needed ones.
const KEPT_MAX: usize = 2;
/// The number of states of the sources whose revisions are remembered.
const REVISIONS_MAX: usize = 64;

/// The number of assignments that were computed again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reuse {
    /// The number of assignments without a result of an earlier run.
    pub recomputed: usize,
    /// The number of all assignments.
    pub assignments: usize,
}

/// Counts the assignments of compiled environments, and the ones that were computed again.
pub fn reuse<'c>(compiled: impl IntoIterator<Item = &'c Compiled>) -> Reuse {
    compiled.into_iter().fold(Reuse::default(), |Reuse { recomputed, assignments }, compiled| Reuse {
        recomputed: recomputed + compiled.last_update().recomputed_count(),
        assignments: assignments + compiled.len(),
    })
}

/// The known results of an environment, during one run.
pub struct KnownResults {
    /// The file to which they are saved. None: they are not saved.
    file: Option<MemoFile>,
    memo: Memo,
    /// Whether the memo has results that the file does not have.
    has_new_results: bool,
    differences: KnownDifferences,
    /// The revisions that earlier sources give.
    revisions: BTreeMap<RevisionSources, Arc<Revisions>>,
}

/// An environment as it is compiled now, with the results of earlier runs.
pub struct CompiledEnvironment<'a> {
    /// The compiled environment.
    pub compiled: &'a Arc<Compiled>,
    /// The results.
    pub known: &'a mut KnownResults,
}

/// The newest publication of an environment, compiled from its sources.
#[derive(Clone, Copy)]
pub struct PublishedEnvironment<'a> {
    /// The publication.
    pub publication: &'a PublishedCommit,
    /// The compiled environment.
    pub compiled: &'a Compiled,
}

impl KnownResults {
    /// Reads the results of earlier runs.
    pub fn new(file: Option<MemoFile>) -> Self {
        let memo = file.as_ref().map(MemoFile::load).unwrap_or_default();
        let (differences, revisions) = (KnownDifferences::default(), BTreeMap::new());
        Self { file, memo, has_new_results: false, differences, revisions }
    }

    /// The revisions that these sources gave when they were rendered last. None: they were not rendered in this run.
    pub(crate) fn revisions(&self, sources: &RevisionSources) -> Option<Arc<Revisions>> {
        self.revisions.get(sources).cloned()
    }

    /// Remembers the revisions that sources give.
    pub(crate) fn set_revisions(&mut self, sources: RevisionSources, revisions: Arc<Revisions>) {
        if self.revisions.len() >= REVISIONS_MAX {
            self.revisions.clear();
        }
        self.revisions.insert(sources, revisions);
    }

    /// The comparisons of the commits of sources.
    pub(crate) fn differences(&mut self) -> &mut KnownDifferences {
        &mut self.differences
    }

    /// Compiles an environment. Only assignments without a known result are computed. `folder_store` stores the rendered folders that have no room in memory, if all of them are
    /// opened afterwards.
    #[tracing::instrument(skip_all)]
    pub fn compile(
        &mut self,
        loaded: &Loaded,
        progress: &Progress,
        folder_store: Option<Arc<dyn FolderStore>>,
    ) -> Compiled {
        let options = CompileOptions { progress: progress.clone(), folder_store, ..CompileOptions::default() };
        let compiled = self.run(&loaded.fleet, options);
        self.save(&[&compiled]);
        compiled
    }

    /// Compiles two states of an environment, to compare them. Common results are computed only once.
    pub fn compile_both(&mut self, earlier: &Loaded, later: &Loaded, progress: &Progress) -> [Compiled; 2] {
        let options =
            |is_earlier| CompileOptions { progress: progress.clone(), is_earlier, ..CompileOptions::default() };
        let earlier = self.run(&earlier.fleet, options(true));
        let later = self.run(&later.fleet, options(false));
        self.save(&[&earlier, &later]);
        [earlier, later]
    }

    /// Compiles an earlier state of an environment, to compare a later state with it.
    pub fn compile_earlier(&mut self, loaded: &Loaded, later: &Compiled) -> Compiled {
        let options =
            CompileOptions { progress: later.progress().clone(), is_earlier: true, ..CompileOptions::default() };
        let compiled = self.run(&loaded.fleet, options);
        self.save(&[&compiled, later]);
        compiled
    }

    /// Compiles an earlier state of an environment, whose folders are used beside those of the `later` one and of other states. `state` is its number, from 1 to
    /// [`Compiled::STATES_MAX`].
    pub fn compile_state(&mut self, loaded: &Loaded, state: u8, later: &Compiled) -> Compiled {
        let options = CompileOptions { progress: later.progress().clone(), state, ..CompileOptions::default() };
        let compiled = self.run(&loaded.fleet, options);
        self.save(&[&compiled, later]);
        compiled
    }

    fn run(&mut self, fleet: &Arc<Fleet>, options: CompileOptions) -> Compiled {
        let memo = std::mem::take(&mut self.memo);
        let mut compiled = Compiled::with(fleet, CompileOptions { memo, ..options });
        let has_new_results = compiled.has_new_results();
        self.memo = compiled.take_memo();
        if has_new_results {
            self.memo.extend(compiled.results());
            self.has_new_results = true;
        }
        compiled
    }

    /// Saves the memo, if this run has added results to it. Results beyond the maximum size are not saved, but stay in memory during this run.
    fn save(&mut self, compiled: &[&Compiled]) {
        let Some(file) = &self.file else { return };
        if !self.has_new_results {
            return file.touch();
        }
        let largest = compiled.iter().map(|compiled| compiled.len()).max().unwrap_or_default();
        self.has_new_results = self.memo.len() > KEPT_MAX * largest;
        if self.has_new_results {
            let mut needed = Memo::default();
            compiled.iter().for_each(|compiled| needed.extend(compiled.results()));
            file.save(&needed);
        } else {
            file.save(&self.memo);
        }
    }
}

/// All diagnostics of reading, compiling and assembling.
pub fn diagnostics(loaded: &Loaded, compiled: &Compiled, output: &Output) -> Vec<Diagnostic> {
    let others = loaded.diagnostics.iter().chain(&output.diagnostics).cloned();
    model::diagnostic::merged(others.chain(compiled.diagnostics()).collect())
}

#[cfg(test)]
mod tests {
    use testkit::generator::{self, ENVIRONMENT, Size};

    use super::*;

    /// A fleet of one assignment with one value of its own.
    fn fleet(value: &str) -> Arc<Fleet> {
        let size = Size { cluster_types: 1, targets: 1, config_maps: 2, schemas: 0 };
        let files = generator::fleet(size, 1).into_iter();
        let changed = files.map(|(path, text)| (path, text.replace("OWN_NUMBER_00001: ", &format!("{value}: "))));
        let bytes = changed.map(|(path, text)| (path, text.into_bytes())).collect();
        testkit::directory::fleet_of(bytes, ENVIRONMENT).unwrap().0.into()
    }

    #[test]
    fn results_beyond_the_file_size_stay_known_in_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let key = git::CacheKey::derive(b"a key of this test").ok();
        let file = || MemoFile::new((&folder.path().join("cache"), key.clone()), "here", ENVIRONMENT);
        let mut known = KnownResults { file: Some(file()), memo: Memo::default(), ..KnownResults::new(None) };
        let [first, second, third] = ["A", "B", "C"].map(fleet);
        let mut compile = |fleet| {
            let compiled = known.run(fleet, CompileOptions::default());
            known.save(&[&compiled]);
            compiled
        };
        compile(&first);
        compile(&second);
        let later = compile(&third);
        let earlier = known.run(&first, CompileOptions { is_earlier: true, ..CompileOptions::default() });
        known.save(&[&earlier, &later]);
        let mut saved = KnownResults { memo: file().load(), ..KnownResults::new(None) };
        let mut recomputed = |fleet| saved.run(fleet, CompileOptions::default()).last_update().recomputed_count();
        assert_eq!(earlier.last_update().recomputed_count(), 0);
        assert_eq!([&first, &third, &second].map(&mut recomputed), [0, 0, 1]);
    }
}
