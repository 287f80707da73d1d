//! `ConfigMap`s of a generated fleet, with plain and nested values.

use std::fmt::Write as _;

use super::objects::{REGIONS, RINGS, SIZES, TEAMS, cluster_type_name, workload_name};
use crate::random::Random;

/// Keys that many maps set, so that values override one another and are merged.
const TEXTS: usize = 24;
const NUMBERS: usize = 12;
const MAPPINGS: [&str; 6] = ["DATABASE", "CACHE", "QUEUE", "STORAGE", "TRACING", "NETWORK"];
const LISTS: [&str; 4] = ["ENDPOINTS", "FEATURES", "ROUTES", "VOLUMES"];
const WORDS: [&str; 8] = ["amber", "basalt", "cedar", "delta", "ember", "fjord", "granite", "harbor"];

/// A `ConfigMap` with eight keys: two texts, a number, a text and a number of its own, two mappings three levels deep, a list of named items.
/// The first one is for everybody and has what the schemas require.
pub(super) fn config_map(index: usize, random: &mut Random) -> (String, String) {
    let name = format!("config-{index:05}");
    let mut text = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  labels:\n    platform-config: \"true\"\n{}data:\n",
        labels(index)
    );
    if index == 0 {
        for key in MAPPINGS {
            text += &mapping(key, random);
        }
        for key in LISTS {
            text += &list(key, random);
        }
        text += "  REPLICAS: \"3\"\n  LOG_LEVEL: info\n";
        return (format!("configs/{name}.yaml"), text);
    }
    for position in distinct(random, TEXTS) {
        let _ = writeln!(text, "  SETTING_{position:02}: {}", sentence(random));
    }
    let _ = writeln!(text, "  LIMIT_{:02}: \"{}\"", random.below(NUMBERS as u64), random.below(100_000));
    let _ = writeln!(text, "  OWN_TEXT_{index:05}: https://{}.example/{}", random.pick(&WORDS), random.below(1_000));
    let _ = writeln!(text, "  OWN_NUMBER_{index:05}: \"{}\"", random.below(1_000));
    for position in distinct(random, MAPPINGS.len()) {
        text += &mapping(MAPPINGS[position], random);
    }
    text += &list(random.pick(&LISTS), random);
    (format!("configs/{name}.yaml"), text)
}

/// The labels of a map: of 20 maps, one is for everybody, six are for a region, three for a size, two for a ring, four for a team,
/// two for a team in a region, one for a cluster type, one for a workload.
fn labels(index: usize) -> String {
    let round = index / 20;
    let nth = |of_round: usize, first: usize| round * of_round + (index % 20 - first);
    let region = |nth: usize| format!("    region: region-{}\n", nth % REGIONS);
    let team = |nth: usize| format!("    team: team-{}\n", nth % TEAMS);
    match index % 20 {
        0 => String::new(),
        1..=6 => region(nth(6, 1)),
        7..=9 => format!("    size: {}\n", SIZES[nth(3, 7) % SIZES.len()]),
        10..=11 => format!("    ring: {}\n", RINGS[nth(2, 10) % RINGS.len()]),
        12..=15 => team(nth(4, 12)),
        16..=17 => region(nth(2, 16)) + &team(nth(2, 16) / 2),
        18 => format!("    cluster-type: {}\n", cluster_type_name(round)),
        _ => format!("    workload: {}\n", workload_name(round)),
    }
}

/// Two different numbers below `bound`.
fn distinct(random: &mut Random, bound: usize) -> [usize; 2] {
    let first = random.below(bound as u64) as usize;
    let second = (first + 1 + random.below(bound as u64 - 1) as usize) % bound;
    [first, second]
}

fn sentence(random: &mut Random) -> String {
    [random.pick(&WORDS), random.pick(&WORDS), random.pick(&WORDS)].join(" ")
}

fn mapping(key: &str, random: &mut Random) -> String {
    format!(
        "  {key}: |
    host: {}.{}.example
    port: {}
    enabled: {}
    options:
      timeout: {}s
      retries: {}
      pool:
        min: {}
        max: {}
",
        random.pick(&WORDS),
        random.pick(&WORDS),
        1024 + random.below(60_000),
        random.below(2) == 0,
        random.below(60),
        random.below(10),
        random.below(10),
        10 + random.below(90),
    )
}

fn list(key: &str, random: &mut Random) -> String {
    let mut text = format!("  {key}: |\n");
    for position in distinct(random, WORDS.len()) {
        let _ = write!(
            text,
            "    - name: {}\n      url: https://{}.example/{}\n      weight: {}\n",
            WORDS[position],
            random.pick(&WORDS),
            random.below(1_000),
            random.below(100),
        );
    }
    text
}
