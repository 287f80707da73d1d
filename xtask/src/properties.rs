//! Runs the property tests many times, each time with other inputs.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};

use crate::tools::{self, Permission};
use crate::workspace::{self, Workspace};

/// Runs each property test this many times, and stops at the first failure. Returns whether all passed.
///
/// # Errors
/// Returns an error if there are no property tests, or nextest is missing or can't be started.
pub(crate) fn run(count: u32) -> Result<bool> {
    tools::require_cargo_tool(&tools::NEXTEST, Permission::of_this_run(false)).map_err(anyhow::Error::msg)?;
    let workspace = Workspace::read()?;
    let names: BTreeSet<_> =
        workspace.rust.values().flat_map(|source| &source.property_tests).map(String::as_str).collect();
    ensure!(!names.is_empty(), "the workspace has no tests in `proptest!`");
    let mut command = workspace::cargo();
    command.args(["nextest", "run", "--workspace", "--locked", "--status-level", "fail", "-E", &filter(&names)]);
    command.args(["--stress-count", &count.to_string()]);
    Ok(command.status().context("cannot start cargo nextest")?.success())
}

/// The filter of nextest that selects the tests with these names, whatever their modules.
fn filter(names: &BTreeSet<&str>) -> String {
    let names = names.iter().copied().collect::<Vec<_>>().join("|");
    format!("test(/(^|::)({names})$/)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_selected_by_their_whole_names() {
        assert_eq!(filter(&BTreeSet::from(["b", "a"])), "test(/(^|::)(a|b)$/)");
    }
}
