//! Compiling with what earlier runs have found out.

use std::fs;

use engine::compile::{Compiled, Options};
use engine::memo::Memo;
use model::progress::Progress;

use crate::configuration;
use crate::loading::Loaded;
use crate::memo::MemoFile;
use crate::report::Reuse;

/// How many times as much as the largest fleet of a run is kept at most. Branches that are looked at by turns all stay known, and what
/// nobody needs any more goes when as much of it has gathered as is needed.
const KEPT_MAX: usize = 2;

/// Compiles an environment, doing only what no earlier run did.
pub(crate) fn compile(loaded: &Loaded, progress: &Progress) -> Compiled {
    let mut known = Known::of(loaded);
    let compiled = known.compile(loaded, Options { progress: progress.clone(), ..Options::default() });
    known.save(&[&compiled]);
    compiled
}

/// Compiles an environment as the earlier one of two that are compared.
pub(crate) fn compile_earlier(loaded: &Loaded, progress: &Progress) -> Compiled {
    let mut known = Known::of(loaded);
    let compiled =
        known.compile(loaded, Options { progress: progress.clone(), is_earlier: true, ..Options::default() });
    known.save(&[&compiled]);
    compiled
}

/// Compiles two states of an environment that are compared. What both have in common is done once.
pub(crate) fn compile_both(earlier: &Loaded, later: &Loaded, progress: &Progress) -> [Compiled; 2] {
    let mut known = Known::of(later);
    let options = |is_earlier| Options { progress: progress.clone(), is_earlier, ..Options::default() };
    let earlier = known.compile(earlier, options(true));
    let later = known.compile(later, options(false));
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
struct Known {
    /// None if there is no place for it.
    file: Option<MemoFile>,
    memo: Memo,
    has_news: bool,
}

impl Known {
    fn of(loaded: &Loaded) -> Self {
        let file = file_of(loaded);
        let memo = file.as_ref().map(MemoFile::load).unwrap_or_default();
        Self { file, memo, has_news: false }
    }

    fn compile(&mut self, loaded: &Loaded, options: Options) -> Compiled {
        let memo = std::mem::take(&mut self.memo);
        let mut compiled = Compiled::with(&loaded.fleet, Options { memo, ..options });
        let has_news = compiled.has_news();
        self.memo = compiled.take_memo();
        if has_news {
            self.memo.extend(compiled.known());
            self.has_news = true;
        }
        compiled
    }

    /// Saves what is known, if this run has found out some of it.
    fn save(self, compiled: &[&Compiled]) {
        let Self { file: Some(file), memo, has_news } = self else { return };
        let largest = compiled.iter().map(|compiled| compiled.len()).max().unwrap_or_default();
        if !has_news {
            file.touch();
        } else if memo.len() <= KEPT_MAX * largest {
            file.save(&memo);
        } else {
            let mut needed = Memo::default();
            compiled.iter().for_each(|compiled| needed.extend(compiled.known()));
            file.save(&needed);
        }
    }
}

/// The file of an environment: beside the copies of repositories.
fn file_of(loaded: &Loaded) -> Option<MemoFile> {
    let environment = loaded.fleet.environment.as_str();
    if let Some(directory) = &loaded.directory {
        let directory = fs::canonicalize(directory).ok()?;
        return Some(MemoFile::of(&configuration::default_cache().ok()?, directory.to_str()?, environment));
    }
    let configuration = &loaded.place.as_ref()?.configuration;
    let url = configuration.repo.as_str();
    // A repository of this machine may have another name in another folder.
    let here = fs::canonicalize(configuration.git.base.join(url)).ok();
    let control_plane = here.as_deref().and_then(|here| here.to_str()).unwrap_or(url);
    Some(MemoFile::of(&configuration.git.cache, &format!("{control_plane}@{}", configuration.branch), environment))
}
