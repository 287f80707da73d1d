//! The bytes of YAML that are parsed per second, on one thread.

use std::time::Instant;

use anyhow::{Result, ensure};
use model::yaml::{self, YamlOptions};
use testkit::generator::{self, Size};

use crate::report::Row;

const RUNS: usize = 20;

/// Measures the objects of a generated fleet, and one large file.
pub(crate) fn rows() -> Result<Vec<Row>> {
    let files: Vec<_> = generator::fleet(Size::HUNDRED, 1).into_values().collect();
    let one = files.join("---\n");
    let small: Vec<&[u8]> = files.iter().map(String::as_bytes).collect();
    Ok(vec![row("YAML: many small files", &small)?, row("YAML: one large file", &[one.as_bytes()])?])
}

fn row(what: &str, texts: &[&[u8]]) -> Result<Row> {
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let start = Instant::now();
        for text in texts {
            let reading = yaml::read_bytes(text, &YamlOptions::OBJECTS);
            ensure!(reading.problems.is_empty(), "a generated file has a problem: {:?}", reading.problems);
            std::hint::black_box(reading);
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    let megabytes = texts.iter().map(|text| text.len()).sum::<usize>() as f64 / 1e6;
    Ok(Row::measured(what, megabytes / best, "MB/s"))
}
