//! The modules of the workspace with their purposes, from the first lines of their files.

use std::fmt::Write as _;

use anyhow::{Result, bail};

use crate::workspace::{Package, Workspace};

/// Prints the modules of a crate, or of all crates.
///
/// # Errors
/// Returns an error if there is no such crate, or if the workspace can't be read.
pub(crate) fn run(crate_name: Option<&str>) -> Result<()> {
    let workspace = Workspace::read()?;
    let text = text(&workspace, crate_name);
    if text.is_empty() {
        let names: Vec<_> = workspace.packages.iter().map(|package| package.name.as_str()).collect();
        bail!("there is no crate `{}`: there are {}", crate_name.unwrap_or_default(), names.join(", "));
    }
    print!("{text}");
    Ok(())
}

/// The crates, each with its modules. The order is that of their paths.
fn text(workspace: &Workspace, crate_name: Option<&str>) -> String {
    let is_wanted = |package: &&Package| crate_name.is_none_or(|name| name == package.name);
    let crates = workspace.packages.iter().filter(is_wanted).map(|package| of_crate(workspace, package));
    crates.collect::<Vec<_>>().join("\n")
}

fn of_crate(workspace: &Workspace, package: &Package) -> String {
    let folder = format!("{}/src/", package.folder());
    let mut text = format!("{}\n", package.name);
    for (path, content) in workspace.files_of_type("rs") {
        let Some(module) = path.strip_prefix(&folder).and_then(module) else { continue };
        let purpose = content.lines().next().and_then(|line| line.strip_prefix("//! ")).unwrap_or_default();
        let _ = writeln!(text, "  {module}: {purpose}");
    }
    text
}

/// The path of the module in a file. None for tests, and for the root of the crate.
fn module(file: &str) -> Option<String> {
    let path = file.strip_suffix(".rs")?;
    let path = path.strip_suffix("/mod").unwrap_or(path).replace('/', "::");
    let is_test = path.split("::").any(|part| part == "tests");
    (!is_test && !matches!(path.as_str(), "lib" | "main")).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_have_the_first_line_of_their_file() {
        let files = [
            ("crates/a/src/lib.rs", "//! All."),
            ("crates/a/src/b/mod.rs", "//! Reads.\n//! More."),
            ("crates/a/src/b/c.rs", "//! Writes."),
            ("crates/a/src/b/tests.rs", "//! Tests."),
            ("crates/z/src/b.rs", "//! Other."),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text.to_owned())).into_iter().collect();
        let package = |name: &str| Package {
            name: name.to_owned(),
            dependencies: Vec::new(),
            manifest_path: format!("crates/{name}/Cargo.toml"),
        };
        let workspace = Workspace::new(files, vec![package("a"), package("z")]);
        let expected = "a\n  b::c: Writes.\n  b: Reads.\n";
        assert_eq!(text(&workspace, Some("a")), expected);
        assert_eq!(text(&workspace, None), format!("{expected}\nz\n  b: Other.\n"));
        assert_eq!(text(&workspace, Some("y")), "");
    }
}
