//! `ConfigMap`s of a generated fleet, with plain and nested values.

use std::fmt::Write as _;

use simulator::random::Random;

use super::GeneratedFile;

/// Many maps set these keys, so their values override one another and are merged.
const TEXTS: usize = 24;
const NUMBERS: usize = 12;
const MAPPINGS: [&str; 6] = ["DATABASE", "CACHE", "QUEUE", "STORAGE", "TRACING", "NETWORK"];
const LISTS: [&str; 4] = ["ENDPOINTS", "FEATURES", "ROUTES", "VOLUMES"];
const WORDS: [&str; 8] = ["amber", "basalt", "cedar", "delta", "ember", "fjord", "granite", "harbor"];

/// A `ConfigMap` with eight keys: two texts, a number, a text and a number that only this map has, two mappings with three levels and a list of named
/// items. The first map has the keys that the schemas require. `labels` are the lines of the labels that select its assignments.
pub(crate) fn config_map(index: usize, labels: &str, random: &mut Random) -> GeneratedFile {
    let name = format!("config-{index:05}");
    let mut text = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  labels:\n    platform-config: \"true\"\n{labels}data:\n"
    );
    if index == 0 {
        for key in MAPPINGS {
            text += &mapping(key, random);
        }
        for key in LISTS {
            text += &list(key, random);
        }
        text += "  REPLICAS: \"3\"\n  LOG_LEVEL: info\n";
        return (path(index), text);
    }
    for position in distinct(random, TEXTS) {
        let _ = writeln!(text, "  SETTING_{position:02}: {}", sentence(random));
    }
    let _ = writeln!(text, "  LIMIT_{:02}: \"{}\"", random.below(NUMBERS as u64), random.below(100_000));
    let _ = writeln!(text, "{}https://{}.example/{}", own_text(index), random.pick(&WORDS), random.below(1_000));
    let _ = writeln!(text, "  OWN_NUMBER_{index:05}: \"{}\"", random.below(1_000));
    for position in distinct(random, MAPPINGS.len()) {
        text += &mapping(MAPPINGS[position], random);
    }
    text += &list(random.pick(&LISTS), random);
    (path(index), text)
}

/// A text of several lines, one of 40 keys. The first line is indented, and one is empty.
pub(super) fn script(index: usize) -> String {
    let (key, word) = (index % 40, WORDS[index % WORDS.len()]);
    format!(
        "  SCRIPT_{key:02}: |2\n      # {word} {index}\n    set -e\n\n    if [ -n \"$A\" ]; then\n      echo \"{word}: {index}\"\n    fi\n"
    )
}

/// The path of the file of a map.
pub(super) fn path(index: usize) -> String {
    format!("configs/config-{index:05}.yaml")
}

/// The beginning of the line with the text that only this map sets.
pub(super) fn own_text(index: usize) -> String {
    format!("  OWN_TEXT_{index:05}: ")
}

/// The map of a single cluster. It overrides a value of other maps and adds one value.
pub(super) fn of_cluster(cluster: &str, random: &mut Random) -> String {
    format!(
        "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: own-{cluster}
  labels:
    platform-config: \"true\"
    cluster: {cluster}
data:
  REPLICAS: \"{}\"
  OWN_ENDPOINT: https://{}.example/{}
",
        1 + random.below(9),
        random.pick(&WORDS),
        random.below(1_000),
    )
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
