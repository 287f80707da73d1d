//! Inputs made from seeds, the same in each run.

use crate::random::Random;

/// How many changes one input has, at most.
const CHANGES_MAX: u64 = 6;
/// The longest input, in bytes.
const INPUT_BYTES_MAX: usize = 4096;

/// Runs `body` with each of the `seeds`, and with `count` inputs made by changing them: bytes flipped, dropped, doubled, and
/// pieces of the seeds and of the `words` put in.
pub fn run_seeded(body: fn(&[u8]), seeds: &[&[u8]], words: &[&str], count: u64) {
    for seed in seeds {
        body(seed);
    }
    let mut random = Random::new(0x5eed);
    for _ in 0..count {
        let mut input = random.pick(seeds).to_vec();
        for _ in 0..=random.below(CHANGES_MAX) {
            change(&mut input, &mut random, seeds, words);
        }
        input.truncate(INPUT_BYTES_MAX);
        body(&input);
    }
}

fn change(input: &mut Vec<u8>, random: &mut Random, seeds: &[&[u8]], words: &[&str]) {
    let range = random.range(input.len());
    match random.below(6) {
        0 => input.iter_mut().skip(range.start).take(1).for_each(|byte| *byte ^= 1 << random.below(8)),
        1 => drop(input.drain(range)),
        2 => {
            let doubled = input.get(range.clone()).unwrap_or_default().to_vec();
            input.splice(range.start..range.start, doubled);
        }
        3 => {
            let seed = random.pick(seeds);
            let piece = seed.get(random.range(seed.len())).unwrap_or_default().to_vec();
            input.splice(range, piece);
        }
        _ => {
            let word = random.pick(words).bytes();
            input.splice(range.start..range.start, word);
        }
    }
}
