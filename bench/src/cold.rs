//! A cold compilation as a process of its own: from files on disk to the digest of the tree, in memory.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, ensure};
use engine::compile::{Compiled, Options, Prepared};
use engine::output::{Destination, assemble};
use model::tree::Tree;
use serde_json::{Value as Json, json};
use testkit::generator::ENVIRONMENT;

use crate::process::{self, Usage};
use crate::report::{MIB, Row};

/// What a process that compiled a fleet used, and what it said about it.
pub(crate) struct Cold {
    /// What the operating system says.
    pub(crate) usage: Usage,
    /// How many assignments have files.
    pub(crate) assignments: usize,
    /// Bytes of the tree's files.
    pub(crate) output_bytes: usize,
    /// The steps in their order, with the seconds that each took.
    steps: Vec<(String, f64)>,
    /// What was counted.
    counts: Vec<(String, f64)>,
}

/// The step that ends where objects are known.
const READING: &str = "reading";

impl Cold {
    /// Compiles the fleet in a directory so many times, and keeps the fastest.
    pub(crate) fn measure(directory: &Path, runs: usize) -> Result<Self> {
        let arguments: [OsString; 2] = ["--compile".into(), directory.into()];
        let usage = process::fastest(std::env::current_exe()?.as_os_str(), &arguments, runs)?;
        ensure!(usage.status == Some(0), "the compiling process failed: {}", usage.last_line);
        let said: Json = serde_json::from_str(&usage.last_line)?;
        let named = |key: &str| {
            let entries = said[key].as_object().into_iter().flatten();
            entries.map(|(name, figure)| (name.clone(), figure.as_f64().unwrap_or(f64::NAN))).collect()
        };
        let number = |key: &str| said[key].as_u64().unwrap_or_default() as usize;
        let (assignments, output_bytes) = (number("assignments"), number("output_bytes"));
        Ok(Self { assignments, output_bytes, steps: named("steps"), counts: named("counts"), usage })
    }

    /// From parsed objects to the digest of the tree: seconds.
    pub(crate) fn after_reading_s(&self) -> f64 {
        self.steps.iter().filter(|(name, _)| name != READING).map(|(_, seconds)| seconds).sum()
    }

    /// A row for each step, for each count, and for the least that anything could take.
    pub(crate) fn details(&self, floor_s_per_byte: f64) -> Vec<Row> {
        let steps = self.steps.iter().map(|(name, seconds)| Row::measured(format!("  of which {name}"), *seconds, "s"));
        let counts = self.counts.iter().map(|(name, count)| Row::measured(format!("  {name}"), *count, ""));
        let floor_s = floor_s_per_byte * self.output_bytes as f64;
        let floor = [
            Row::measured("  output", self.output_bytes as f64 / MIB, "MiB"),
            Row::measured("  floor: hashing and copying the output", floor_s, "s"),
            Row::measured("  time above the floor", self.usage.wall_s / floor_s, "times"),
        ];
        steps.chain(counts).chain(floor).collect()
    }
}

/// Compiles the fleet in a directory, for the process that is measured: says what it took, and ends the process.
pub(crate) fn compile_and_exit(directory: &Path) -> Result<()> {
    let mut last = Instant::now();
    let mut took_s = || std::mem::replace(&mut last, Instant::now()).elapsed().as_secs_f64();
    let (fleet, _) = testkit::directory::fleet(directory, ENVIRONMENT)?;
    let reading = took_s();
    let fleet = Arc::new(fleet);
    let prepared = Prepared::new(&fleet);
    let preparing = took_s();
    let compiled = Compiled::of(prepared, Options::default());
    let compiling = took_s();
    let tree = assemble(&compiled, &Tree::default(), &Destination::default(), &|sealed| compiled.open(sealed))?.tree;
    let assembling = took_s();
    let id = tree.id();
    let hashing = took_s();
    let steps = json!({
        READING: reading, "preparing": preparing, "compiling": compiling, "assembling": assembling, "hashing": hashing,
    });
    let work = compiled.last_update().work;
    let counts = json!({
        "different sets of values": work.compositions, "checks of values": work.checks, "renderings": work.renderings,
    });
    let (assignments, output_bytes) = (compiled.good_count(), work.bytes);
    let tree = id.to_string();
    println!(
        "{}",
        json!({ "steps": steps, "counts": counts, "assignments": assignments, "output_bytes": output_bytes, "tree": tree })
    );
    // The system takes the memory back faster than we could.
    std::process::exit(0);
}

/// The contents of all files.
pub(crate) fn blobs(compiled: &Compiled) -> Vec<Arc<[u8]>> {
    let files: Vec<_> = compiled.tree().files(&|sealed| compiled.open(sealed)).collect();
    files.into_iter().filter_map(|file| file.ok()?.1.blob.bytes().cloned()).collect()
}
