//! Estimates the compiled size of patterns in schemas. Patterns come from other teams. A pattern of a few bytes can compile to a megabyte.

/// The maximum weight: that of the largest patterns that can be compiled.
const WEIGHT_MAX: u64 = 100_000;

/// Signs of character classes, which match many characters.
const CLASSES: [&str; 11] = ["\\w", "\\W", "\\d", "\\D", "\\p", "\\P", "\\s", "\\S", "[^", "[:^", "."];

/// A letter that matches in upper and lower case counts as a class of this many characters.
const FOLDED: u64 = 4;

/// The approximate size of a pattern with its repetitions written out. Matching takes at most time proportional to this size times the length
/// of the text.
pub(super) fn weight(pattern: &str) -> u64 {
    const CLASS: u64 = 100;
    written_out(pattern, CLASS)
}

/// The approximate number of schemas that take as much memory as the compiled pattern.
pub(super) fn schemas(pattern: &str) -> usize {
    // Measured: a character takes about 12 bytes, `\w` 1,000 and `[^a]` 1,900. Classes count for more, because larger ones exist.
    const CLASS: u64 = 1_000;
    const PER_SCHEMA: u64 = 32;
    (written_out(pattern, CLASS) / PER_SCHEMA) as usize
}

/// The length of a pattern with its repetitions written out. A class of characters counts as `class`.
fn written_out(pattern: &str, class: u64) -> u64 {
    let classes: usize = CLASSES.iter().map(|sign| pattern.matches(sign).count()).sum();
    let mut length = pattern.len() as u64 + 1 + class * classes as u64;
    let has_folding_flag = |group: &str| group.split([':', ')', '<']).next().is_some_and(|flags| flags.contains('i'));
    if pattern.split("(?").skip(1).any(has_folding_flag) {
        length *= FOLDED;
    }
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
        assert_eq!((weight("(?i)abc"), weight("(?P<i>abc)")), (32, 11));
    }
}
