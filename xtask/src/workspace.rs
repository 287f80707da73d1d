//! The workspace for the checks: the texts of its files, and the data of its manifests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, str};

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use crate::rust_source::RustSource;

/// The files and members to check.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    /// The texts of the files by their path from the root, with `/`. These are all files that git tracks, or that `git add` would add. A file that is
    /// not UTF-8 has an empty text, because no law checks its content.
    pub(crate) files: BTreeMap<String, String>,
    /// The parsed Rust files.
    pub(crate) rust: BTreeMap<String, RustSource>,
    /// The Rust files that can't be parsed, with the reason.
    pub(crate) broken: Vec<(String, syn::Error)>,
    /// The members, from `cargo metadata`.
    pub(crate) packages: Vec<Package>,
}

/// A member of the workspace.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) dependencies: Vec<Dependency>,
    /// The path of `Cargo.toml`. Relative to the root after [`Workspace::read`].
    pub(crate) manifest_path: String,
}

/// A dependency of a member.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// `None` for a normal dependency, otherwise `dev` or `build`.
    pub(crate) kind: Option<String>,
    /// The source of the crate. None for a member of this workspace.
    pub(crate) source: Option<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

impl Workspace {
    /// Reads this workspace from the disk.
    ///
    /// # Errors
    /// Returns an error if `git` or `cargo` can't be run, or a file can't be read.
    pub(crate) fn read() -> Result<Self> {
        let root = root();
        let mut files = BTreeMap::new();
        for path in list_files(&root)? {
            let bytes = fs::read(root.join(&path)).with_context(|| format!("cannot read {path}"))?;
            files.insert(path, String::from_utf8(bytes).unwrap_or_default());
        }
        Ok(Self::new(files, read_packages(&root)?))
    }

    /// Makes a workspace of these files and members.
    pub(crate) fn new(files: BTreeMap<String, String>, packages: Vec<Package>) -> Self {
        let mut workspace = Self { files, packages, ..Self::default() };
        for (path, text) in workspace.files.iter().filter(|(path, _)| has_extension(path, "rs")) {
            match RustSource::parse(text) {
                Ok(source) => drop(workspace.rust.insert(path.clone(), source)),
                Err(error) => workspace.broken.push((path.clone(), error)),
            }
        }
        workspace
    }

    /// The paths and texts of the files with this extension.
    pub(crate) fn files_of_type(&self, extension: &str) -> impl Iterator<Item = (&str, &str)> {
        let files = self.files.iter().filter(move |(path, _)| has_extension(path, extension));
        files.map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The text of a file. Empty if the file does not exist.
    pub(crate) fn text(&self, path: &str) -> &str {
        self.files.get(path).map_or("", String::as_str)
    }
}

impl Package {
    /// The folder of the member, relative to the root.
    pub(crate) fn folder(&self) -> &str {
        self.manifest_path.strip_suffix("/Cargo.toml").unwrap_or_default()
    }
}

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    // The value at run time has priority over the one at compile time: several worktrees can share a target folder.
    let manifest = env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    manifest.parent().map_or_else(|| manifest.clone(), Path::to_path_buf)
}

/// The folder for the results of builds.
pub(crate) fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |folder| root().join(folder))
}

/// The cargo that started this program, at the root of the workspace, in the environment of a shell.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    // `cargo run` describes this program in variables. The build script of `ring` reads them: with others than in a shell, ring and a hundred crates are built again.
    let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for name in names.filter(|name| describes_package(name)) {
        command.env_remove(name);
    }
    command
}

/// Whether `cargo run` sets a variable to describe the package that it runs.
fn describes_package(variable: &str) -> bool {
    variable.starts_with("CARGO_PKG_")
        || matches!(variable, "CARGO_MANIFEST_DIR" | "CARGO_MANIFEST_PATH" | "CARGO_MANIFEST_LINKS")
}

fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found == extension)
}

fn list_files(root: &Path) -> Result<Vec<String>> {
    let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git").args(arguments).current_dir(root).output().context("cannot run git")?;
    ensure!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr).trim());
    let names = str::from_utf8(&output.stdout).context("a file name is not UTF-8")?;
    // git also lists files that are deleted but still in the index. Symbolic links are not followed.
    let is_file = |name: &&str| fs::symlink_metadata(root.join(name)).is_ok_and(|found| found.is_file());
    Ok(names.split_terminator('\0').filter(is_file).map(str::to_owned).collect())
}

fn read_packages(root: &Path) -> Result<Vec<Package>> {
    let output = cargo().args(["metadata", "--no-deps", "--format-version", "1"]).output()?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim());
    let mut packages = serde_json::from_slice::<Metadata>(&output.stdout)?.packages;
    for package in &mut packages {
        let manifest = Path::new(&package.manifest_path).strip_prefix(root).context("a member outside the root")?;
        package.manifest_path = manifest.to_string_lossy().replace('\\', "/");
    }
    Ok(packages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_does_not_see_the_package_of_this_program() {
        assert!(env::var_os("CARGO_PKG_NAME").is_some(), "the test itself is started by cargo");
        let command = cargo();
        let removed: Vec<_> = command.get_envs().filter(|(_, value)| value.is_none()).map(|(name, _)| name).collect();
        for name in ["CARGO_PKG_NAME", "CARGO_PKG_VERSION", "CARGO_MANIFEST_DIR"] {
            assert!(removed.contains(&name.as_ref()), "{name}");
        }
        assert!(!removed.contains(&"CARGO_HOME".as_ref()) && !removed.contains(&"CARGO_TARGET_DIR".as_ref()));
    }
}
