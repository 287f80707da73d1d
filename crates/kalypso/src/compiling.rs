//! Compiling with what earlier runs have found out.

use std::fs;
use std::sync::Arc;

use engine::compile::{Compiled, Options};
use engine::memo::Memo;
use model::fleet::Fleet;
use model::progress::Progress;

use crate::loading::Loaded;
use crate::memo::MemoFile;
use crate::report::Reuse;
use crate::{cache_key, configuration, names};

/// How many times as much as the largest fleet of a run is kept at most. Branches that are looked at by turns all stay known, and what
/// nobody needs any more goes when as much of it has gathered as is needed.
const KEPT_MAX: usize = 2;

/// Compiles an environment, doing only what no earlier run did.
pub(crate) fn compile(loaded: &Loaded, progress: &Progress) -> Compiled {
    begin(loaded, progress).0
}

/// Compiles an environment, with which others will be compared. What is known by then helps with those as well.
pub(crate) fn begin(loaded: &Loaded, progress: &Progress) -> (Compiled, Known) {
    let mut known = Known::of(loaded);
    let compiled = known.compile(&loaded.fleet, Options { progress: progress.clone(), ..Options::default() });
    known.save(&[&compiled]);
    names::remember(loaded, &compiled);
    (compiled, known)
}

/// Compiles two states of an environment that are compared. What both have in common is done once.
pub(crate) fn compile_both(earlier: &Loaded, later: &Loaded, progress: &Progress) -> [Compiled; 2] {
    let mut known = Known::of(later);
    let options = |is_earlier| Options { progress: progress.clone(), is_earlier, ..Options::default() };
    let earlier = known.compile(&earlier.fleet, options(true));
    let later = known.compile(&later.fleet, options(false));
    known.save(&[&earlier, &later]);
    [earlier, later]
}

/// How much of what was compiled was not known from earlier runs.
pub(crate) fn reuse<'c>(compiled: impl IntoIterator<Item = &'c Compiled>) -> Reuse {
    compiled.into_iter().fold(Reuse::default(), |Reuse { recomputed, assignments }, compiled| Reuse {
        recomputed: recomputed + compiled.last_update().recomputed_count(),
        assignments: assignments + compiled.len(),
    })
}

/// What is known about an environment, as long as a run works on it.
pub(crate) struct Known {
    /// None if there is no place for it.
    file: Option<MemoFile>,
    memo: Memo,
    /// Whether there is more in it than in the file.
    has_news: bool,
}

impl Known {
    fn of(loaded: &Loaded) -> Self {
        let file = file_of(loaded);
        let memo = file.as_ref().map(MemoFile::load).unwrap_or_default();
        Self { file, memo, has_news: false }
    }

    /// Compiles an environment as it was, with which a later state is compared.
    pub(crate) fn compile_earlier(&mut self, loaded: &Loaded, later: &Compiled) -> Compiled {
        let options = Options { progress: later.progress().clone(), is_earlier: true, ..Options::default() };
        let compiled = self.compile(&loaded.fleet, options);
        self.save(&[&compiled, later]);
        compiled
    }

    fn compile(&mut self, fleet: &Arc<Fleet>, options: Options) -> Compiled {
        let memo = std::mem::take(&mut self.memo);
        let mut compiled = Compiled::with(fleet, Options { memo, ..options });
        let has_news = compiled.has_news();
        self.memo = compiled.take_memo();
        if has_news {
            self.memo.extend(compiled.known());
            self.has_news = true;
        }
        compiled
    }

    /// Saves what is known, if this run has found out some of it. What is too much for a file stays known in this run.
    fn save(&mut self, compiled: &[&Compiled]) {
        let Some(file) = &self.file else { return };
        if !self.has_news {
            return file.touch();
        }
        let largest = compiled.iter().map(|compiled| compiled.len()).max().unwrap_or_default();
        self.has_news = self.memo.len() > KEPT_MAX * largest;
        if self.has_news {
            let mut needed = Memo::default();
            compiled.iter().for_each(|compiled| needed.extend(compiled.known()));
            file.save(&needed);
        } else {
            file.save(&self.memo);
        }
    }
}

/// The file of an environment: beside the copies of repositories.
fn file_of(loaded: &Loaded) -> Option<MemoFile> {
    let environment = loaded.fleet.environment.as_str();
    if let Some(directory) = &loaded.directory {
        let directory = fs::canonicalize(directory).ok()?;
        let cache = configuration::default_cache().ok()?;
        let key = cache_key::of(&cache, None).ok()?;
        return Some(MemoFile::of((&cache, key), directory.to_str()?, environment));
    }
    let configuration = &loaded.place.as_ref()?.configuration;
    let cache = (configuration.git.cache.as_path(), configuration.git.key.clone());
    Some(MemoFile::of(cache, &configuration.control_plane(), environment))
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
    fn what_a_file_has_no_room_for_stays_known_in_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let key = git::Key::of_secret(b"a key of this test").ok();
        let file = || MemoFile::of((&folder.path().join("cache"), key.clone()), "here", ENVIRONMENT);
        let mut known = Known { file: Some(file()), memo: Memo::default(), has_news: false };
        let [first, second, third] = ["A", "B", "C"].map(fleet);
        let mut compile = |fleet| {
            let compiled = known.compile(fleet, Options::default());
            known.save(&[&compiled]);
            compiled
        };
        compile(&first);
        compile(&second);
        let later = compile(&third);
        let earlier = known.compile(&first, Options { is_earlier: true, ..Options::default() });
        known.save(&[&earlier, &later]);
        let mut saved = Known { file: None, memo: file().load(), has_news: false };
        let mut recomputed = |fleet| saved.compile(fleet, Options::default()).last_update().recomputed_count();
        assert_eq!(earlier.last_update().recomputed_count(), 0);
        assert_eq!([&first, &third, &second].map(&mut recomputed), [0, 0, 1]);
    }
}
