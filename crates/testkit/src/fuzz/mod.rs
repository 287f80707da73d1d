//! The bodies of the fuzz targets: properties that hold for every input of the parsers and writers.
//!
//! `fuzz/` runs them under libFuzzer. `tests/fuzz_seeded.rs` runs them with inputs that are the same in each run.

mod fleet;
mod seeded;
mod selector;
mod template;
mod url;
mod yaml_reader;
mod yaml_writer;

pub use fleet::{fleet, fleet_input};
pub use seeded::{CORPUS_VARIABLE, FuzzTarget, SECONDS_VARIABLE, SEED_VARIABLE};
pub use selector::selector;
pub use template::template;
pub use url::url;
pub use yaml_reader::yaml_reader;
pub use yaml_writer::yaml_writer;
