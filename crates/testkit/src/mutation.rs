//! Changes the lines and values of a file, as an attacker or a mistake could do.

use simulator::random::Random;

/// Values that may stand in the place of another value.
const VALUES: &[&str] = &[
    "null",
    "\"\"",
    "[]",
    "{}",
    "{a: {b: [1]}}",
    "true",
    "-1",
    "1e999",
    "../..",
    "/",
    "*x",
    "&x y",
    "!!binary AA==",
    "\"a\\nb: c\"",
    "\"a\\u2028b\"",
    "\"\\u009b2J\"",
    "'{{ .ConfigData | toJson }}'",
    "'{{ \"x\\n---\\nkind: ClusterRoleBinding\" }}'",
    "'{{ .ClusterType }}'",
    "'{{'",
    "'\"}, evil: {\"'",
    "\"a # b\"",
    "\"- a\"",
    "'{\"$ref\": \"#\"}'",
    "'{\"x-sensitive\": true}'",
    "hello",
    "web",
    "hello-web",
    "dev",
    "drone",
    "east",
    "shop-team",
    "common",
];

/// A text in which some lines are changed: removed, doubled, swapped, indented differently, given another value, or replaced by lines of `others`.
pub fn mutated(text: &str, others: &[&str], random: &mut Chance) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..=random.0.below(3) {
        if lines.is_empty() {
            break;
        }
        let at = random.0.below(lines.len() as u64) as usize;
        match random.0.below(8) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[at].clone()),
            2 => {
                let other = random.0.below(lines.len() as u64) as usize;
                lines.swap(at, other);
            }
            3 => lines[at] = format!("  {}", lines[at]),
            4 => {
                let shallower = lines[at].strip_prefix("  ").map(str::to_owned);
                lines.splice(at..=at, shallower);
            }
            5 => {
                let other: Vec<&str> = random.0.pick(others).lines().collect();
                let start = random.0.below(other.len() as u64 + 1) as usize;
                let piece = other.iter().skip(start).take(1 + random.0.below(12) as usize);
                let piece: Vec<_> = piece.map(|line| (*line).to_owned()).collect();
                lines.splice(at..at, piece);
            }
            _ => {
                if let Some((key, _)) = lines[at].split_once(": ") {
                    lines[at] = format!("{key}: {}", random.0.pick(VALUES));
                }
            }
        }
    }
    lines.join("\n") + "\n"
}

/// A source of random numbers for [`mutated`].
#[derive(Debug)]
pub struct Chance(Random);

impl Chance {
    /// Creates a source. Each seed gives a different sequence.
    pub fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }

    /// A number below `count`.
    pub fn one_of(&mut self, count: usize) -> usize {
        self.0.below(count as u64) as usize
    }
}
