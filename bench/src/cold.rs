//! Compiles a fleet in a separate process: from files on disk to the digest of the tree, in memory.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Args;
use engine::compile::memo::Memo;
use engine::compile::{CompileOptions, Compiled, Prepared};
use engine::output::{Destination, assemble};
use git::Edits;
use git::load::{Directory, read_directory};
use model::fleet::{Fleet, FleetInput};
use model::name::EnvironmentName;
use model::progress::Progress;
use model::tree::Tree;
use serde_json::{Value as Json, json};
use testkit::generator::ENVIRONMENT;

use crate::process::{self, Usage};
use crate::report::{MIB, Row};

/// The measurements of a process that compiled a fleet.
pub(crate) struct Cold {
    /// The measurements of the operating system.
    pub(crate) usage: Usage,
    /// The number of assignments with files.
    pub(crate) assignments: usize,
    /// The number of assignments that were not in a memo.
    pub(crate) recomputed: usize,
    /// The id of the tree.
    pub(crate) tree: String,
    /// The bytes of the files that only one assignment has.
    pub(crate) output_bytes: usize,
    /// The steps in their order, each with its seconds.
    steps: Vec<(String, f64)>,
    /// The counts that the process reports.
    counts: Vec<(String, f64)>,
}

/// The files for memos.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Memos {
    /// Read the memo from this file at the start.
    #[arg(long, hide = true, value_name = "FILE")]
    pub(crate) read: Option<PathBuf>,
    /// Write the memo into this file at the end.
    #[arg(long, hide = true, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
}

/// The steps before the objects are parsed.
const READING: [&str; 2] = ["reading files", "reading the memo"];

impl Cold {
    /// Compiles the fleet in a directory `runs` times, and returns the fastest run.
    pub(crate) fn measure(directory: &Path, memos: &Memos, runs: usize) -> Result<Self> {
        let mut arguments: Vec<OsString> = vec!["--compile".into(), directory.into()];
        for (option, file) in [("--read", &memos.read), ("--save", &memos.save)] {
            arguments.extend(file.iter().flat_map(|file| [option.into(), file.into()]));
        }
        let usage = process::fastest(std::env::current_exe()?.as_os_str(), &arguments, runs)?;
        ensure!(usage.status == Some(0), "the compiling process failed: {}", usage.last_line);
        let figures: Json = serde_json::from_str(&usage.last_line)?;
        let named = |key: &str| {
            let entries = figures[key].as_object().into_iter().flatten();
            entries.map(|(name, figure)| (name.clone(), figure.as_f64().unwrap_or(f64::NAN))).collect()
        };
        let number = |key: &str| figures[key].as_u64().unwrap_or_default() as usize;
        Ok(Self {
            assignments: number("assignments"),
            recomputed: number("recomputed"),
            tree: figures["tree"].to_string(),
            output_bytes: number("output_bytes"),
            steps: named("steps"),
            counts: named("counts"),
            usage,
        })
    }

    /// The seconds from parsed objects to the digest of the tree.
    pub(crate) fn after_reading_s(&self) -> f64 {
        self.steps.iter().filter(|(name, _)| !READING.contains(&&**name)).map(|(_, seconds)| seconds).sum()
    }

    /// A row for each step.
    pub(crate) fn steps(&self) -> impl Iterator<Item = Row> {
        self.steps.iter().map(|(name, seconds)| Row::measured(format!("  of which {name}"), *seconds, "s"))
    }

    /// A row for each step, each count, and the lower bound of the time.
    pub(crate) fn details(&self, floor_s_per_byte: f64) -> Vec<Row> {
        let counts = self.counts.iter().map(|(name, count)| Row::measured(format!("  {name}"), *count, ""));
        let floor_s = floor_s_per_byte * self.output_bytes as f64;
        let floor = [
            Row::measured("  output without the files that assignments share", self.output_bytes as f64 / MIB, "MiB"),
            Row::measured("  floor: hashing and copying that output", floor_s, "s"),
            Row::measured("  time above the floor", self.usage.wall_s / floor_s, "times"),
        ];
        let processor = Row::measured("  processor time", self.usage.cpu_s, "s");
        [processor].into_iter().chain(self.steps()).chain(counts).chain(floor).collect()
    }
}

/// Reads the files in a directory in the same way as `kalypso`.
pub(crate) fn read(directory: &Path) -> Result<FleetInput> {
    let (edits, progress) = (Edits::default(), Progress::default());
    let directory = Directory { path: directory, edits: &edits, progress: &progress };
    Ok(read_directory(directory, &EnvironmentName::new(ENVIRONMENT)?)?.input)
}

/// Compiles the fleet in a directory, prints the measurements, and ends the process.
pub(crate) fn compile_and_exit(directory: &Path, memos: &Memos) -> Result<()> {
    let mut last = Instant::now();
    let mut seconds_since_last = || std::mem::replace(&mut last, Instant::now()).elapsed().as_secs_f64();
    let fleet = Arc::new(Fleet::build(read(directory)?).0);
    let reading = seconds_since_last();
    let memo = memos.read.as_ref().map(|file| anyhow::Ok(Memo::read(&std::fs::read(file)?)?)).transpose()?;
    let remembering = seconds_since_last();
    let prepared = Prepared::new(&fleet);
    let preparing = seconds_since_last();
    let options = CompileOptions { memo: memo.unwrap_or_default(), ..CompileOptions::default() };
    let compiled = Compiled::from_prepared(prepared, options);
    let compiling = seconds_since_last();
    let tree = assemble(&compiled, &Tree::default(), &Destination::default(), &|sealed| compiled.open(sealed))?.tree;
    let id = tree.id();
    let assembling = seconds_since_last();
    if let Some(file) = &memos.save {
        std::fs::write(file, compiled.save())?;
    }
    let steps = json!({
        READING[0]: reading, READING[1]: remembering, "preparing": preparing, "compiling": compiling,
        "assembling": assembling,
    });
    let (update, work) = (compiled.last_update(), compiled.last_update().work);
    let counts = json!({
        "different sets of values": work.compositions, "checks of values": work.checks, "renderings": work.renderings,
        "files rendered": work.files,
    });
    let figures = json!({
        "steps": steps, "counts": counts, "assignments": compiled.rendered_count(), "recomputed": update.recomputed_count(),
        "output_bytes": work.bytes, "tree": id.to_string(),
    });
    println!("{figures}");
    // Ending the process is faster than freeing the memory here.
    std::process::exit(0);
}

/// The contents of all files.
pub(crate) fn blobs(compiled: &Compiled) -> Vec<Arc<[u8]>> {
    let files: Vec<_> = compiled.tree().files(&|sealed| compiled.open(sealed)).collect();
    files.into_iter().filter_map(|file| file.ok()?.1.blob.bytes().cloned()).collect()
}
