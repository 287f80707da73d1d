//! The cost of a change when earlier results are known, in memory or from a saved memo.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use engine::compile::Compiled;
use model::fleet::{AuthorRole, FileScope, Sources, sources};
use model::git_id::GitId;
use model::source::File;
use serde_json::{Value as Json, json};
use testkit::generator::change::GeneratedChange;

use crate::cold::{self, Cold};
use crate::report::{MIB, Row, grouped};
use crate::{Options, process, scale};

/// How often each change is made. A cluster type has the same number of other rings, so that each turn adds a new one.
const TURNS: usize = 3;

/// Changes of a fleet, each with its limit in milliseconds.
fn changes(options: &Options) -> [(GeneratedChange, f64); 4] {
    let size = scale::million_size(options);
    [
        (GeneratedChange::value_on_cluster_type(size), 100.0),
        (GeneratedChange::value_of_assignment(size), 5.0),
        (GeneratedChange::comment(), 1.0),
        (GeneratedChange::label_of_cluster_type(size), 20.0),
    ]
}

/// From the bytes of a changed file to the digest of the new tree, with the results before the change in memory.
pub(crate) fn warm(options: &Options) -> Result<Vec<Row>> {
    let directory = tempfile::tempdir()?;
    scale::write_million(options, directory.path())?;
    let share = options.share.to_string();
    let arguments: [OsString; 4] = ["--share".into(), share.into(), "--change".into(), directory.path().into()];
    let usage = process::fastest(std::env::current_exe()?.as_os_str(), &arguments, 1)?;
    ensure!(usage.status == Some(0), "the changing process failed: {}", usage.last_line);
    let figures: Json = serde_json::from_str(&usage.last_line)?;
    let count = grouped(scale::million_size(options).assignments());
    let mut rows = Vec::new();
    for (index, (change, at_most_ms)) in changes(options).into_iter().enumerate() {
        let figure = |key: &str| figures[index][key].as_f64().unwrap_or(f64::NAN);
        let what = format!("warm, of {count} assignments: {} changes", change.what);
        rows.extend([
            Row::measured(what, figure("total_ms"), "ms").at_most(at_most_ms),
            Row::measured("  assignments recomputed", figure("recomputed"), "").exactly(change.reached as f64),
            Row::measured("  of which reading the file", figure("reading_ms"), "ms"),
            Row::measured("  of which compiling", figure("compiling_ms"), "ms"),
        ]);
    }
    rows.push(Row::measured("  memory, with the cold compilation before", usage.memory_mib, "MiB"));
    Ok(rows)
}

/// Makes the changes, prints the measurements of each, and ends the process.
pub(crate) fn change_and_exit(options: &Options, directory: &Path) -> Result<()> {
    let sources = Sources::new(cold::read(directory)?);
    let compiled = Compiled::new(sources.fleet());
    let mut fleet = WarmFleet { sources, compiled };
    let figures: Vec<_> = changes(options).iter().map(|(change, _)| fleet.measure(change)).collect::<Result<_>>()?;
    println!("{}", json!(figures));
    // Ending the process is faster than freeing the memory here.
    std::process::exit(0);
}

/// A fleet with all results that are kept in memory.
struct WarmFleet {
    sources: Sources,
    compiled: Compiled,
}

/// The measurements of one change.
struct Measurement {
    reading_ms: f64,
    compiling_ms: f64,
    recomputed: usize,
    tree: GitId,
}

impl WarmFleet {
    /// Makes a change and reverts it, several times. The fastest time and the largest number of assignments count.
    fn measure(&mut self, change: &GeneratedChange) -> Result<Json> {
        let fleet = Arc::clone(self.sources.fleet());
        let (_, file) = fleet.files.iter().find(|(_, file)| *file.path == *change.path).context("no such file")?;
        let text = std::str::from_utf8(&file.content)?;
        let before = self.compiled.tree().id();
        let mut found = Vec::new();
        for turn in 0..TURNS {
            let applied = self.write(file, change.apply(text, turn).as_bytes());
            let reverted = self.write(file, text.as_bytes());
            ensure!(
                (applied.tree != before) == (change.reached > 0),
                "{} changed too little, or too much",
                change.path
            );
            ensure!(reverted.tree == before, "{} is as it was, but the tree is not", change.path);
            ensure!(reverted.recomputed == applied.recomputed, "there and back are not equally far");
            found.push(applied);
        }
        let total_ms = |measured: &Measurement| measured.reading_ms + measured.compiling_ms;
        let recomputed = found.iter().map(|measured| measured.recomputed).max();
        let best = found.into_iter().min_by(|one, other| total_ms(one).total_cmp(&total_ms(other)));
        let best = best.context("nothing was measured")?;
        Ok(json!({
            "total_ms": total_ms(&best), "reading_ms": best.reading_ms, "compiling_ms": best.compiling_ms,
            "recomputed": recomputed,
        }))
    }

    fn write(&mut self, file: &File, content: &[u8]) -> Measurement {
        let start = Instant::now();
        let file = File { id: GitId::of_blob(content), content: content.into(), ..file.clone() };
        let written = sources::SourceFileChange::Written {
            role: AuthorRole::Platform,
            scope: FileScope::Everything,
            limits: model::fleet::limits::Limits::default(),
            file,
        };
        let fleet = self.sources.update([written]).fleet;
        let read = Instant::now();
        let recomputed = self.compiled.update(&fleet).recomputed_count();
        let tree = self.compiled.tree().id();
        let compiled = Instant::now();
        let ms = |from: Instant, to: Instant| to.duration_since(from).as_secs_f64() * 1e3;
        Measurement { reading_ms: ms(start, read), compiling_ms: ms(read, compiled), recomputed, tree }
    }
}

/// From files on disk to the digest of the tree, in a new process that reads a saved memo.
pub(crate) fn memo(options: &Options) -> Result<Vec<Row>> {
    let (directory, memo) = (tempfile::tempdir()?, tempfile::NamedTempFile::new()?);
    scale::write_million(options, directory.path())?;
    let saving = Cold::measure(
        directory.path(),
        &cold::Memos { save: Some(memo.path().to_owned()), ..cold::Memos::default() },
        1,
    )?;
    let memos = cold::Memos { read: Some(memo.path().to_owned()), ..cold::Memos::default() };
    let same = Cold::measure(directory.path(), &memos, TURNS)?;
    ensure!(same.tree == saving.tree, "the tree with a memo is another one than without");
    let change = GeneratedChange::value_on_cluster_type(scale::million_size(options));
    let path = directory.path().join(&change.path);
    std::fs::write(&path, change.apply(&std::fs::read_to_string(&path)?, 0))?;
    let changed = Cold::measure(directory.path(), &memos, TURNS)?;
    let what = |what: &str| format!("new process with a memo of {} assignments: {what}", grouped(saving.assignments));
    let mut rows = Vec::new();
    for (cold, what, reached) in
        [(&changed, what(&format!("{} changes", change.what)), change.reached), (&same, what("nothing changes"), 0)]
    {
        rows.extend([
            Row::measured(what, cold.usage.wall_s, "s").at_most(5.0),
            Row::measured("  assignments recomputed", cold.recomputed as f64, "").exactly(reached as f64),
            Row::measured("  memory", cold.usage.memory_mib, "MiB"),
        ]);
        rows.extend(cold.steps());
    }
    let saved = std::fs::metadata(memo.path())?.len() as f64 / MIB;
    rows.push(Row::measured("  size of the memo", saved, "MiB"));
    Ok(rows)
}
