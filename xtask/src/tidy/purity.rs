//! The pure crates enable the bans of `clippy.toml`.

use super::{Finding, line_of};
use crate::workspace::Workspace;

/// Crates without I/O, clock, environment and randomness.
const PURE: &[&str] = &["gotemplate", "model", "engine", "authoring"];

/// The lints whose lists in `clippy.toml` contain the banned calls.
const SWITCHES: &[&str] = &["disallowed_methods", "disallowed_types"];

/// Crates with the same functions as the standard library's banned calls.
const BANNED_CRATES: &[&str] = &[
    "async-std",
    "chrono",
    "fastrand",
    "fs-err",
    "getrandom",
    "rand",
    "reqwest",
    "tempfile",
    "time",
    "tokio",
    "walkdir",
];

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in workspace.packages.iter().filter(|package| PURE.contains(&package.name.as_str())) {
        let root = format!("{}/src/lib.rs", package.folder());
        for lint in SWITCHES {
            let switched_on = |line: &str| line.starts_with("#![cfg_attr(not(test), warn(") && line.contains(lint);
            if !workspace.files.get(&root).is_some_and(|text| text.lines().any(switched_on)) {
                let message =
                    format!("purity law: switch the bans on: `#![cfg_attr(not(test), warn(clippy::{lint}))]`");
                findings.push(Finding::new(&root, 1, message));
            }
        }
        let normal = package.dependencies.iter().filter(|dependency| dependency.kind.is_none());
        for banned in normal.filter(|dependency| BANNED_CRATES.contains(&dependency.name.as_str())) {
            let manifest = workspace.text(&package.manifest_path);
            let message = format!(
                "purity law: `{}` does I/O, reads the clock or makes random numbers: take its result as a parameter",
                banned.name
            );
            findings.push(Finding::new(&package.manifest_path, line_of(manifest, &banned.name), message));
        }
    }
    findings.extend(PURE.iter().flat_map(|name| exemptions(workspace, &format!("crates/{name}/src/"))));
    findings
}

/// The places in the files of this folder that disable a ban.
fn exemptions(workspace: &Workspace, folder: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, source) in workspace.rust.iter().filter(|(path, _)| path.starts_with(folder)) {
        for (level, lint) in ["allow", "expect"].iter().flat_map(|level| SWITCHES.iter().map(move |lint| (level, lint)))
        {
            let message = format!("purity law: no exemption from `{lint}`: take the result of the call as a parameter");
            let found = source.find(&[level, "(", "clippy", "::", lint]).into_iter();
            findings.extend(found.map(|line| Finding::new(path, line, &message)));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::super::tests::check as check_law;
    use crate::workspace;

    const SWITCH: &str = "#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types))]\n";

    fn check(name: &str, manifest: &str, root: &str) -> Vec<String> {
        let folder = format!("crates/{name}");
        check_law(super::check, &[(&format!("{folder}/Cargo.toml"), manifest), (&format!("{folder}/src/lib.rs"), root)])
    }

    #[test]
    fn pure_crates_with_the_switch_and_other_crates_are_accepted() {
        assert_eq!(check("engine", "[dependencies]\nserde = \"1\"\n", SWITCH), Vec::<String>::new());
        assert_eq!(check("git", "[dependencies]\ntime = \"1\"\n", ""), Vec::<String>::new());
    }

    #[test]
    fn a_pure_crate_without_the_switch_is_a_finding() {
        assert_eq!(check("model", "", "//! Model.\n").len(), 2);
        assert_eq!(check("model", "", &SWITCH.replace(", clippy::disallowed_types", "")).len(), 1);
    }

    #[test]
    fn exemptions_and_impure_crates_are_findings() {
        let exemption = format!("{SWITCH}#[allow(clippy::disallowed_types, reason = \"hurry\")]\nfn f() {{}}\n");
        assert!(check("engine", "", &exemption)[0].starts_with("crates/engine/src/lib.rs:2: purity law: no exemption"));
        assert!(
            check("engine", "[dependencies]\nrand = \"1\"\n", SWITCH)[0].starts_with("crates/engine/Cargo.toml:2: ")
        );
    }

    #[test]
    fn clippy_finds_every_banned_call() {
        let configuration = std::fs::read_to_string(workspace::root().join("clippy.toml")).unwrap();
        let configuration: toml::Table = configuration.parse().unwrap();
        let found = clippy("xtask/fixtures/impure.rs");
        for entry in
            ["disallowed-methods", "disallowed-types"].iter().flat_map(|list| configuration[*list].as_array().unwrap())
        {
            let path = entry["path"].as_str().unwrap();
            assert!(entry["reason"].as_str().is_some_and(|reason| found.contains(reason)), "{path} has no reason");
            assert!(found.contains(&format!("`{path}`")), "{path} was not found:\n{found}");
        }
    }

    /// The output of clippy for this file, with the workspace's configuration and the bans enabled.
    fn clippy(file: &str) -> String {
        let output_folder = std::env::temp_dir().join(format!("xtask-purity-{}", std::process::id()));
        let output = Command::new("clippy-driver")
            .args(["--crate-type", "lib", "--edition", "2024", "--emit", "metadata", "--out-dir"])
            .arg(&output_folder)
            .args(["-W", "clippy::disallowed_methods", "-W", "clippy::disallowed_types", file])
            .env("CLIPPY_CONF_DIR", workspace::root())
            .current_dir(workspace::root())
            .output()
            .unwrap();
        std::fs::remove_dir_all(&output_folder).unwrap();
        String::from_utf8(output.stderr).unwrap()
    }
}
