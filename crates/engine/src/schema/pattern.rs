//! How large a pattern of a schema becomes when it is compiled: patterns come from other teams, and a few bytes can stand for a megabyte.

/// The weight of the largest patterns that can be compiled.
const WEIGHT_MAX: u64 = 100_000;

/// Signs that stand for many characters.
const CLASSES: [&str; 10] = ["\\w", "\\W", "\\d", "\\D", "\\p", "\\P", "\\s", "\\S", "[^", "."];

/// How large a pattern is when its repetitions are written out, about. Matching takes linear time, at worst as many times the text.
pub(super) fn weight(pattern: &str) -> u64 {
    const CLASS: u64 = 100;
    written_out(pattern, CLASS)
}

/// How many schemas take as much memory as a compiled pattern, about.
pub(super) fn schemas(pattern: &str) -> usize {
    // Measured: a character takes about 12 bytes, `\w` 1,000 and `[^a]` 1,900; classes count for more, because there are larger ones.
    const CLASS: u64 = 1_000;
    const PER_SCHEMA: u64 = 32;
    (written_out(pattern, CLASS) / PER_SCHEMA) as usize
}

/// The length of a pattern with its repetitions written out, if a class of characters counts so much.
fn written_out(pattern: &str, class: u64) -> u64 {
    let classes: usize = CLASSES.iter().map(|sign| pattern.matches(sign).count()).sum();
    let mut length = pattern.len() as u64 + 1 + class * classes as u64;
    for repetition in pattern.split('{').skip(1) {
        let written = repetition.split('}').next().unwrap_or_default();
        let times = written.split(',').filter_map(|number| number.trim().parse::<u64>().ok()).max();
        length = length.saturating_mul(times.unwrap_or(1).max(1));
    }
    length.min(WEIGHT_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_and_classes_count() {
        let sizes = ["^[a-z]+$", "^[a-z]{0,200}$", "^\\w{0,20}$", "((a{50}){50}){50}"].map(schemas);
        assert_eq!(sizes, [0, 93, 631, 3_125]);
        assert_eq!(weight("a{3}"), 15);
    }
}
