//! The laws of this workspace that the compiler does not check.

mod circles;
mod crates;
mod dependencies;
mod headers;
mod leftovers;
mod links;
mod lints;
mod names;
mod parameters;
mod planner;
mod purity;
mod sizes;
mod speech;

use std::fmt;

use anyhow::Result;

use crate::workspace::Workspace;

/// A law: returns its violations in a workspace.
type Law = fn(&Workspace) -> Vec<Finding>;

const LAWS: &[Law] = &[
    syntax,
    circles::check,
    crates::check,
    dependencies::check,
    headers::check,
    leftovers::check,
    links::check,
    lints::check,
    names::check,
    parameters::check,
    planner::check,
    purity::check,
    sizes::check,
    speech::check,
];

/// A violation of a law.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    /// The line, from 1.
    line: usize,
    /// The law that is broken, and how to correct it.
    message: String,
}

/// Checks all laws and prints the violations. Returns whether there are none.
///
/// # Errors
/// Returns an error if the workspace can't be read.
pub(crate) fn run() -> Result<bool> {
    let workspace = Workspace::read()?;
    let mut findings: Vec<Finding> = LAWS.iter().flat_map(|law| law(&workspace)).collect();
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => println!("tidy: {} files keep all {} laws", workspace.files.len(), LAWS.len()),
        count => println!("tidy: {count} findings"),
    }
    Ok(findings.is_empty())
}

fn syntax(workspace: &Workspace) -> Vec<Finding> {
    let finding = |(path, error): &(String, syn::Error)| {
        Finding::new(path, error.span().start().line, format!("is not Rust, so no law can be checked here: {error}"))
    };
    workspace.broken.iter().map(finding).collect()
}

impl Finding {
    fn new(path: impl Into<String>, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.into(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// The line where this text first occurs, or 1 if it does not occur.
fn line_of(text: &str, searched: &str) -> usize {
    text.lines().position(|line| line.contains(searched)).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{Dependency, Package};

    /// The findings of a law in a workspace of these files. Each manifest is a crate with the dependencies that it lists.
    pub(super) fn check(law: Law, files: &[(&str, &str)]) -> Vec<String> {
        let manifests = files.iter().filter(|(path, _)| path.ends_with("/Cargo.toml"));
        let packages = manifests.map(|(path, text)| package(path, text)).collect();
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        law(&Workspace::new(files, packages)).iter().map(Finding::to_string).collect()
    }

    fn package(path: &str, text: &str) -> Package {
        let manifest: toml::Table = text.parse().expect("the example is TOML");
        let name = path.split('/').rev().nth(1).expect("the example has a folder");
        let mut dependencies = Vec::new();
        for (section, kind) in [("dependencies", None), ("dev-dependencies", Some("dev".to_owned()))] {
            for (name, value) in manifest.get(section).and_then(toml::Value::as_table).into_iter().flatten() {
                let source = value.is_str().then(|| "registry".to_owned());
                dependencies.push(Dependency { name: name.clone(), kind: kind.clone(), source });
            }
        }
        Package { name: name.to_owned(), dependencies, manifest_path: path.to_owned() }
    }

    #[test]
    fn a_file_that_is_not_rust_is_a_finding() {
        let found = check(syntax, &[("a.rs", "//! A.\nfn main() {}\n"), ("b.rs", "//! B.\nfn (\n")]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("b.rs:"), "{found:?}");
    }
}
