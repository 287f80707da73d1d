//! Many edits of small fleets, after each of which what was updated is compared with what is compiled from the beginning.

use rayon::prelude::*;
use testkit::incremental::{Counts, check};

use crate::report::{Row, grouped};
use crate::{Options, SEED};

/// Each sequence of edits begins with another fleet.
const SEQUENCES: usize = 16;
const EDITS: usize = 250;
/// A difference is shown with so many of its lines.
const LINES_MAX: usize = 40;

/// What was tried, and how many sequences of edits ended with a difference.
pub(crate) fn rows(options: &Options) -> Vec<Row> {
    let seeds: Vec<u64> = (0..options.share_of(SEQUENCES) as u64).map(|number| SEED + number).collect();
    let found: Vec<Result<Counts, String>> = seeds.par_iter().map(|seed| check(*seed, EDITS)).collect();
    let (mut tried, mut differences) = (Counts::default(), 0);
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
