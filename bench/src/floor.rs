//! A lower bound for the time: copying the output of a fleet in memory, and hashing it as git does.

use std::time::Instant;

use anyhow::Result;
use engine::compile::Compiled;
use model::git_id::GitId;
use rayon::prelude::*;
use testkit::generator::{self, ENVIRONMENT, Size};

use crate::cold::blobs;
use crate::{RUNS, SEED};

/// Seconds for each byte. The files of 10,000 assignments are hashed and copied on all cores.
pub(crate) fn seconds_per_byte() -> Result<f64> {
    let files = generator::fleet(Size::HUNDRED, SEED).into_iter().map(|(path, text)| (path, text.into_bytes()));
    let (fleet, _) = testkit::directory::fleet_of(files.collect(), ENVIRONMENT)?;
    let blobs = blobs(&Compiled::new(&fleet.into()));
    let once = || {
        let start = Instant::now();
        let copied: Vec<(GitId, Vec<u8>)> =
            blobs.par_iter().map(|bytes| (GitId::of_blob(bytes), bytes.to_vec())).collect();
        std::hint::black_box(copied);
        start.elapsed().as_secs_f64()
    };
    let best = (0..RUNS).map(|_| once()).fold(f64::INFINITY, f64::min);
    Ok(best / blobs.iter().map(|bytes| bytes.len()).sum::<usize>() as f64)
}
