//! Formats counts for text output.

/// A number with a comma between every three digits: `3,102,844`.
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 file`, `1,204 files`.
pub fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(number))
}

/// The number of places: `12 cluster types and 3 clusters`.
pub fn places(cluster_types: usize, clusters: usize) -> String {
    let (types_text, clusters_text) = (count(cluster_types, "cluster type"), count(clusters, "cluster"));
    match (cluster_types, clusters) {
        (_, 0) => types_text,
        (0, _) => clusters_text,
        _ => format!("{types_text} and {clusters_text}"),
    }
}

/// The first names of a list, and the number of further ones: `a, b and 3 more`.
pub fn named(names: &[String]) -> String {
    const NAMED_MAX: usize = 5;
    let shown = names.get(..NAMED_MAX).unwrap_or(names).join(", ");
    let more = names.len().saturating_sub(NAMED_MAX);
    if more == 0 { shown } else { format!("{shown} and {} more", thousands(more)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated_by_commas() {
        let check = |number, text| assert_eq!(thousands(number), text);
        check(0, "0");
        check(999, "999");
        check(1_000, "1,000");
        check(3_102_844, "3,102,844");
    }

    #[test]
    fn numbers_are_easy_to_read() {
        let check = |number, text| assert_eq!(count(number, "file"), text);
        check(0, "0 files");
        check(1, "1 file");
        check(1204, "1,204 files");
        check(3_102_844, "3,102,844 files");
    }

    #[test]
    fn place_counts_name_cluster_types_and_clusters() {
        let check = |cluster_types, clusters, text| assert_eq!(places(cluster_types, clusters), text);
        check(0, 0, "0 cluster types");
        check(12, 0, "12 cluster types");
        check(0, 1, "1 cluster");
        check(1, 1_000_000, "1 cluster type and 1,000,000 clusters");
    }
}
