//! Runs fuzz targets with inputs made from seeds. By default, the inputs are the same in each run. A variable can request a longer run.

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use simulator::random::Random;

/// The maximum number of changes of one input.
const CHANGES_MAX: u64 = 6;
/// The maximum length of an input, in bytes.
const INPUT_BYTES_MAX: usize = 4096;
/// The default seed of the random numbers.
const SEED: u64 = 0x5eed;

/// The variable with the folder to which seeds and words are written for libFuzzer. If it is set, no target runs.
pub const CORPUS_VARIABLE: &str = "KALYPSO_FUZZ_CORPUS";
/// The variable with the number of seconds for which each target runs.
pub const SECONDS_VARIABLE: &str = "KALYPSO_FUZZ_SECONDS";
/// The variable with the seed of the random numbers.
pub const SEED_VARIABLE: &str = "KALYPSO_FUZZ_SEED";

/// A fuzz target with the material for its inputs.
#[derive(Clone, Copy)]
pub struct FuzzTarget<'a> {
    /// The name of the target below `fuzz/`.
    pub name: &'a str,
    /// The function that checks an input. It panics if a property does not hold.
    pub body: fn(&[u8]),
    /// The first inputs, from which others are made.
    pub seeds: &'a [&'a [u8]],
    /// Words that have a meaning for the parser.
    pub words: &'a [&'a str],
    /// The number of inputs of a normal run.
    pub count: u64,
}

/// The duration of the run of a target, and its inputs.
enum Campaign {
    Usual,
    /// Writes the initial corpus for libFuzzer.
    Corpus(PathBuf),
    Long {
        time: Duration,
        seed: u64,
    },
}

impl Campaign {
    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        if let Some(folder) = variable(CORPUS_VARIABLE) {
            return Self::Corpus(folder.into());
        }
        match variable(SECONDS_VARIABLE).and_then(|seconds| seconds.parse().ok()) {
            Some(seconds) => {
                let seed = variable(SEED_VARIABLE).and_then(|seed| seed.parse().ok()).unwrap_or(SEED);
                Self::Long { time: Duration::from_secs(seconds), seed }
            }
            None => Self::Usual,
        }
    }
}

impl FuzzTarget<'_> {
    /// Runs the target with each of its seeds and with changed inputs: bytes are flipped, removed and doubled, and pieces of the seeds and words are
    /// inserted. `variable` returns the values of the variables that request another kind of run.
    pub fn run(&self, variable: impl Fn(&str) -> Option<String>) {
        match Campaign::from_variables(variable) {
            Campaign::Usual => self.changed(SEED, |done| done < self.count),
            Campaign::Corpus(folder) => {
                let written = self.write_corpus(&folder);
                assert!(written.is_ok(), "{}: {written:?}", folder.display());
            }
            Campaign::Long { time, seed } => {
                let end = Instant::now() + time;
                self.changed(seed, |_| Instant::now() < end);
            }
        }
    }

    fn changed(&self, seed: u64, goes_on: impl Fn(u64) -> bool) {
        self.seeds.iter().for_each(|input| self.try_input(input));
        let (mut random, mut done) = (Random::new(seed), 0);
        while goes_on(done) {
            let mut input = random.pick(self.seeds).to_vec();
            for _ in 0..=random.below(CHANGES_MAX) {
                change(&mut input, &mut random, self);
            }
            input.truncate(INPUT_BYTES_MAX);
            self.try_input(&input);
            done += 1;
        }
    }

    fn try_input(&self, input: &[u8]) {
        let done = panic::catch_unwind(AssertUnwindSafe(|| (self.body)(input)));
        assert!(done.is_ok(), "target {} fails with \"{}\"", self.name, input.escape_ascii());
    }

    fn write_corpus(&self, folder: &Path) -> std::io::Result<()> {
        let of_target = folder.join(self.name);
        fs::create_dir_all(&of_target)?;
        for (number, seed) in self.seeds.iter().enumerate() {
            fs::write(of_target.join(format!("seed-{number:03}")), seed)?;
        }
        let words = self.words.iter().filter(|word| !word.is_empty()).map(|word| dictionary_entry(word));
        fs::write(folder.join(format!("{}.dict", self.name)), words.collect::<String>())
    }
}

/// A line of a dictionary in the format of libFuzzer.
fn dictionary_entry(word: &str) -> String {
    let escape = |byte: u8| match byte {
        b'"' | b'\\' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02X}"),
    };
    format!("\"{}\"\n", word.bytes().map(escape).collect::<String>())
}

fn change(input: &mut Vec<u8>, random: &mut Random, target: &FuzzTarget<'_>) {
    let range = random.range(input.len());
    match random.below(6) {
        0 => input.iter_mut().skip(range.start).take(1).for_each(|byte| *byte ^= 1 << random.below(8)),
        1 => drop(input.drain(range)),
        2 => {
            let doubled = input.get(range.clone()).unwrap_or_default().to_vec();
            input.splice(range.start..range.start, doubled);
        }
        3 => {
            let seed = random.pick(target.seeds);
            let piece = seed.get(random.range(seed.len())).unwrap_or_default().to_vec();
            input.splice(range, piece);
        }
        _ => {
            let word = random.pick(target.words).bytes();
            input.splice(range.start..range.start, word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: FuzzTarget<'_> =
        FuzzTarget { name: "small", body: |_| {}, seeds: &[b"a: \"b\"\n"], words: &["\"", "\u{e9}", "- "], count: 3 };

    #[test]
    fn the_corpus_has_seeds_and_a_dictionary() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap().to_owned();
        TARGET.run(|name| (name == CORPUS_VARIABLE).then(|| path.clone()));
        assert_eq!(fs::read(folder.path().join("small/seed-000")).unwrap(), TARGET.seeds[0]);
        assert_eq!(fs::read_to_string(folder.path().join("small.dict")).unwrap(), "\"\\\"\"\n\"\\xC3\\xA9\"\n\"- \"\n");
    }

    #[test]
    #[should_panic(expected = "target small fails with \"a: ")]
    fn an_input_that_fails_is_shown() {
        FuzzTarget { body: |input| assert!(input.is_empty()), ..TARGET }.run(|_| None);
    }
}
