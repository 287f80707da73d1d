//! The simulated hosts that can't apply what is new, in a file that people edit while the service runs.

use std::collections::BTreeSet;
use std::path::Path;

/// The file in the folder of the demo. Without it, no host fails.
pub(super) const FILE: &str = "failing-hosts.txt";

/// The names of the hosts in the file: one on each line. Empty lines, and lines that begin with `#`, are comments.
pub(super) fn read(folder: &Path) -> BTreeSet<String> {
    std::fs::read_to_string(folder.join(FILE)).map(|text| parse(&text)).unwrap_or_default()
}

fn parse(text: &str) -> BTreeSet<String> {
    let lines = text.lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_names_a_host() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()), BTreeSet::new());
        std::fs::write(folder.path().join(FILE), "# broken\nstage-hamburg-edge-01\n\n  prod-x-02 \r\n").unwrap();
        assert_eq!(read(folder.path()).into_iter().collect::<Vec<_>>(), ["prod-x-02", "stage-hamburg-edge-01"]);
    }
}
