//! How fast assignments are made: from files on disk to a tree in memory, and how the cost grows.

use std::path::Path;
use std::time::Instant;

use anyhow::{Result, ensure};
use engine::compile::Prepared;
use engine::output::{Destination, assemble};
use model::fleet::Fleet;
use model::git_id::GitId;
use model::tree::{Blob, Tree};
use rayon::prelude::*;
use serde_json::{Value as Json, json};
use testkit::generator::{self, ENVIRONMENT, Size};

use crate::process;
use crate::report::Row;

const SEED: u64 = 1;
const RUNS: usize = 5;
const MIB: f64 = 1024.0 * 1024.0;

/// From files on disk to a tree in memory, as a process of its own.
pub(crate) fn fleet() -> Result<Vec<Row>> {
    let directory = tempfile::tempdir()?;
    let files = generator::fleet(Size::HUNDRED, SEED);
    let input: usize = files.values().map(String::len).sum();
    generator::write(directory.path(), files)?;
    let arguments = ["--compile".into(), directory.path().into()];
    let usage = process::fastest(std::env::current_exe()?.as_os_str(), &arguments, RUNS)?;
    ensure!(usage.status == Some(0), "the compiling process failed: {}", usage.last_line);
    let said: Json = serde_json::from_str(&usage.last_line)?;
    let step = |name: &str| said[name].as_f64().unwrap_or(f64::NAN);
    let tree = compile(&testkit::directory::fleet(directory.path(), ENVIRONMENT)?.0).0;
    let floor_s = floor(&tree);
    let size = Size::HUNDRED.assignments();
    let mut rows = vec![
        Row::measured(format!("{size} assignments, files to tree: time"), usage.wall_s, "s").at_most(1.0),
        Row::measured(format!("{size} assignments, files to tree: memory"), usage.memory_mib, "MiB").at_most(300.0),
        Row::measured(format!("{size} assignments, files to tree: processor time"), usage.cpu_s, "s"),
    ];
    let steps = [("read", "reading"), ("prepare", "preparing"), ("compile", "compiling"), ("assemble", "assembling")];
    rows.extend(steps.map(|(key, what)| Row::measured(format!("  of which {what}"), step(key), "s")));
    rows.extend([
        Row::measured("  input", input as f64 / MIB, "MiB"),
        Row::measured("  output", bytes(&tree) as f64 / MIB, "MiB"),
        Row::measured("  floor: hashing and copying the output", floor_s, "s"),
        Row::measured("  time above the floor", usage.wall_s / floor_s, "times"),
    ]);
    Ok(rows)
}

/// What an assignment costs in a fleet of 1,000 and in one of 10,000, from parsed objects.
pub(crate) fn growth() -> Result<Vec<Row>> {
    let small = Size { cluster_types: 32, targets: 32, ..Size::HUNDRED };
    let [small, large] = [small, Size::HUNDRED].map(|size| {
        let files = generator::fleet(size, SEED).into_iter().map(|(path, text)| (path, text.into_bytes()));
        let (fleet, _) = testkit::directory::fleet_of(files.collect(), ENVIRONMENT)?;
        let cost = |_| compile(&fleet).1 / size.assignments() as f64;
        anyhow::Ok((size.assignments(), (0..2 * RUNS).map(cost).fold(f64::INFINITY, f64::min)))
    });
    let (small, large) = (small?, large?);
    let row = |(count, cost): (usize, f64)| {
        Row::measured(format!("an assignment among {count}, objects to tree"), cost * 1e6, "µs")
    };
    let growth = Row::measured("  growth of its cost", (large.1 / small.1 - 1.0) * 100.0, "%").at_most(20.0);
    Ok(vec![row(small), row(large), growth])
}

/// Writes the fleet that is measured into a directory.
pub(crate) fn write(directory: &Path) -> Result<()> {
    Ok(generator::write(directory, generator::fleet(Size::HUNDRED, SEED))?)
}

/// Compiles the fleet in a directory, for the process that is measured. What it took, as JSON.
pub(crate) fn compile_once(directory: &Path) -> Result<Json> {
    let mut last = Instant::now();
    let mut took_s = || std::mem::replace(&mut last, Instant::now()).elapsed().as_secs_f64();
    let (fleet, _) = testkit::directory::fleet(directory, ENVIRONMENT)?;
    let read = took_s();
    let prepared = Prepared::new(&fleet);
    let prepare = took_s();
    let compiled = prepared.compile();
    let compile = took_s();
    let output = assemble(&compiled, &Tree::default(), &Destination::default());
    let assemble = took_s();
    let (files, diagnostics) = (output.tree.len(), compiled.diagnostics.len());
    let json = json!({
        "read": read, "prepare": prepare, "compile": compile, "assemble": assemble,
        "files": files, "diagnostics": diagnostics,
    });
    println!("{json}");
    // The system takes the memory back faster than we could.
    std::process::exit(0);
}

/// The tree of a fleet, and the seconds that it took.
fn compile(fleet: &Fleet) -> (Tree, f64) {
    let start = Instant::now();
    let compiled = Prepared::new(fleet).compile();
    let tree = assemble(&compiled, &Tree::default(), &Destination::default()).tree;
    let seconds = start.elapsed().as_secs_f64();
    (tree, seconds)
}

/// The least that anything could take which puts these bytes into memory and names them as git does: seconds.
fn floor(tree: &Tree) -> f64 {
    let blobs: Vec<&[u8]> = blobs(tree).collect();
    let once = || {
        let start = Instant::now();
        let copied: Vec<(GitId, Vec<u8>)> =
            blobs.par_iter().map(|bytes| (GitId::of_blob(bytes), bytes.to_vec())).collect();
        std::hint::black_box(copied);
        start.elapsed().as_secs_f64()
    };
    (0..RUNS).map(|_| once()).fold(f64::INFINITY, f64::min)
}

fn bytes(tree: &Tree) -> usize {
    blobs(tree).map(<[u8]>::len).sum()
}

fn blobs(tree: &Tree) -> impl Iterator<Item = &[u8]> {
    tree.iter().filter_map(|(_, entry)| match &entry.blob {
        Blob::Bytes(bytes) => Some(&**bytes),
        Blob::Existing(_) => None,
    })
}
