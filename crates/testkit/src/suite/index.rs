//! Checks the table of `suite/README.md`: every promise in the table has a case, and the table links to every file of cases.

use std::collections::BTreeSet;
use std::path::Path;

/// Checks the table of the README in `folder`. Returns the problems that it finds.
///
/// # Errors
/// Returns an error if the README or a file of cases cannot be read.
pub fn problems(folder: &Path) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(folder.join("README.md")).map_err(|error| error.to_string())?;
    let mut problems = Vec::new();
    let mut linked = BTreeSet::new();
    for row in rows(&text) {
        let links = links(row);
        if links.is_empty() {
            problems.push(format!("the row has no case: {row}"));
        }
        for link in links {
            linked.insert(link.split('#').next().unwrap_or_default().to_owned());
            if !leads_somewhere(folder, link) {
                problems.push(format!("{link} is no case: {row}"));
            }
        }
    }
    for file in super::files(folder).map_err(|error| error.to_string())? {
        let name = file.strip_prefix(folder).unwrap_or(&file).display().to_string();
        if !linked.contains(&name) {
            problems.push(format!("{name} is in no row"));
        }
    }
    Ok(problems)
}

/// The rows of the tables whose last column is headed `cases`.
fn rows(text: &str) -> Vec<&str> {
    let mut rows = Vec::new();
    let mut in_table = false;
    for line in text.lines() {
        in_table = line.ends_with("| cases |") || (in_table && line.starts_with('|'));
        if in_table && !line.ends_with("| cases |") && !line.starts_with("|---") {
            rows.push(line);
        }
    }
    rows
}

fn links(row: &str) -> Vec<&str> {
    row.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect()
}

/// Whether the target of a link exists: a case, or a file outside the suite.
fn leads_somewhere(folder: &Path, link: &str) -> bool {
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    if link.starts_with("../") {
        return folder.join(file).exists();
    }
    let cases = super::cases(&folder.join(file)).unwrap_or_default();
    if anchor.is_empty() { !cases.is_empty() } else { cases.iter().any(|case| case.anchor() == anchor) }
}
