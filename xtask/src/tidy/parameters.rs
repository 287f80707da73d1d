//! Functions have few parameters, and tuples do not hide them. The number of those with more may only shrink.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Finding, line_of};
use crate::workspace::Workspace;

/// The largest number of parameters. A tuple of three is three; `self` counts, as for clippy.
const PARAMETERS_MAX: usize = 4;

const LIST: &str = "xtask/tidy-exceptions.toml";
/// The folder of crates in [`LIST`] for files that are in no crate below `crates`.
const CRATES: &str = "crates/";

#[derive(Default, Deserialize)]
struct Exceptions {
    /// The number of functions with more parameters, by folder.
    #[serde(default)]
    parameters: BTreeMap<String, usize>,
}

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let list = workspace.text(LIST);
    let allowed = match toml::from_str::<Exceptions>(list) {
        Ok(exceptions) => exceptions.parameters,
        Err(error) => return vec![Finding::new(LIST, 1, format!("parameter law: {}", error.message()))],
    };
    let found = measure(workspace);
    let mut findings = Vec::new();
    for folder in allowed.keys().chain(found.keys().filter(|folder| !allowed.contains_key(*folder))) {
        let most = allowed.get(folder).copied().unwrap_or_default();
        let functions = found.get(folder).map_or(&[][..], Vec::as_slice);
        let number = functions.len();
        if number < most {
            let message =
                format!("parameter law: `{folder}` has only {number} functions now: lower its entry from {most}");
            findings.push(Finding::new(LIST, line_of(list, &format!("\"{folder}\"")), message));
        }
        if number > most {
            findings.extend(functions.iter().map(|(path, line, name)| {
                let message = format!(
                    "parameter law: `{name}` has more than {PARAMETERS_MAX} parameters; `{folder}` has {number} such \
                     functions, {most} are allowed: give them a struct with names"
                );
                Finding::new(*path, *line, message)
            }));
        }
    }
    findings
}

/// The functions with too many parameters, by folder: their files, lines and names.
fn measure(workspace: &Workspace) -> BTreeMap<String, Vec<(&str, usize, &str)>> {
    let mut found: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for (path, source) in &workspace.rust {
        for function in source.functions.iter().filter(|function| function.parameters > PARAMETERS_MAX) {
            let entry = (path.as_str(), *function.lines.start(), function.name.as_str());
            found.entry(folder(path)).or_default().push(entry);
        }
    }
    found
}

/// The crate of a file, or its first folder.
fn folder(path: &str) -> String {
    let below = path.strip_prefix(CRATES);
    let name = below.unwrap_or(path).split('/').next().unwrap_or_default();
    format!("{}{name}", if below.is_some() { CRATES } else { "" })
}

#[cfg(test)]
mod tests {
    use super::super::tests::check as check_law;

    fn check(parameters: &str, list: &str) -> Vec<String> {
        let text = format!("//! A.\nfn f({parameters}) {{}}\n");
        check_law(super::check, &[("crates/a/src/lib.rs", &text), ("xtask/tidy-exceptions.toml", list)])
    }

    #[test]
    fn four_parameters_are_accepted() {
        assert_eq!(check("a: A, (b, c): (B, C), d: D", ""), Vec::<String>::new());
    }

    #[test]
    fn elements_of_tuples_are_parameters() {
        for parameters in
            ["a: A, b: B, (c, d, e): (C, D, E)", "a: A, all: &(B, C, D, E)", "a: A, ((b, c), d, e): ((B, C), D, E)"]
        {
            let found = check(parameters, "");
            assert!(
                found[0].starts_with("crates/a/src/lib.rs:2: parameter law: `f` has more than 4 parameters"),
                "{found:?}"
            );
            assert_eq!(check(parameters, "[parameters]\n\"crates/a\" = 1\n"), Vec::<String>::new());
        }
    }

    #[test]
    fn the_number_may_only_shrink() {
        let found = check("a: A", "[parameters]\n\"crates/a\" = 1\n");
        let expected = "parameter law: `crates/a` has only 0 functions now: lower its entry from 1";
        assert_eq!(found, [format!("xtask/tidy-exceptions.toml:2: {expected}")]);
    }
}
