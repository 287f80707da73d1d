//! Applies many edits to small fleets. After each edit, compares the incremental result with a full compilation.

use rayon::prelude::*;
use testkit::incremental::{WorkCounts, check};

use crate::report::{Row, grouped};
use crate::{Options, SEED};

/// The number of sequences of edits. Each begins with another fleet.
const SEQUENCES: usize = 16;
const EDITS: usize = 250;
/// The number of lines of a difference that are shown.
const LINES_MAX: usize = 40;

/// The number of sequences of edits that ended with a difference, and what was compared.
pub(crate) fn rows(options: &Options) -> Vec<Row> {
    let seeds: Vec<u64> = (0..options.share_of(SEQUENCES) as u64).map(|number| SEED + number).collect();
    let found: Vec<Result<WorkCounts, String>> = seeds.par_iter().map(|seed| check(*seed, EDITS)).collect();
    let (mut tried, mut differences) = (WorkCounts::default(), 0);
    for sequence in found {
        match sequence {
            Ok(counts) => tried += counts,
            Err(difference) => {
                differences += 1;
                difference.lines().take(LINES_MAX).for_each(|line| eprintln!("{line}"));
            }
        }
    }
    let row = |what: &str, count: usize| Row::measured(what, count as f64, "");
    vec![
        row(&format!("updated or compiled anew, {} edits: differences", grouped(tried.edits)), differences)
            .exactly(0.0),
        row("  changes, of one edit or of several, and back", tried.changes),
        row("  assignments compared", tried.assignments),
        row("  assignments recomputed, each because an input differs", tried.recomputed),
        row("  assignments with another folder", tried.changed),
    ]
}
