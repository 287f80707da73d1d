//! Only the programs print, or read the environment or the current directory. Libraries do not.

use super::Finding;
use crate::rust_source::is_test_file;
use crate::workspace::Workspace;

/// The programs, which may do this.
const PROGRAMS: &[&str] = &["kalypso", "bench", "xtask"];

const PRINTING: &[&str] = &["print", "println", "eprint", "eprintln", "dbg"];

/// The items of `std::env` that depend on how and where the program was started. A `{` or `*` could import any of them.
const ENVIRONMENT: &[&str] = &[
    "{",
    "*",
    "args",
    "args_os",
    "current_dir",
    "current_exe",
    "home_dir",
    "remove_var",
    "set_current_dir",
    "set_var",
    "temp_dir",
    "var",
    "var_os",
    "vars",
    "vars_os",
];

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let libraries = workspace.packages.iter().filter(|package| !PROGRAMS.contains(&package.name.as_str()));
    let mut findings = Vec::new();
    for package in libraries {
        let folder = format!("{}/src/", package.folder());
        let sources = workspace.rust.iter().filter(|(path, _)| path.starts_with(&folder) && !is_test_file(path));
        for (path, source) in sources {
            for name in PRINTING {
                let message =
                    format!("speech law: `{name}!` below the binary: return the text or a diagnostic instead");
                findings.extend(source.find(&[name, "!"]).into_iter().map(|line| Finding::new(path, line, &message)));
            }
            for name in ENVIRONMENT {
                let message = format!("speech law: `env::{name}` below the binary: take it as a parameter instead");
                let found = source.find(&["env", "::", name]).into_iter();
                findings.extend(found.map(|line| Finding::new(path, line, &message)));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::tests::check as check_law;

    fn check(name: &str, file: &str, text: &str) -> Vec<String> {
        let (manifest, path) = (format!("crates/{name}/Cargo.toml"), format!("crates/{name}/{file}"));
        check_law(super::check, &[(&manifest, ""), (&path, text)])
    }

    #[test]
    fn binary_and_tests_may_print() {
        let text = "fn a() { println!(\"{:?}\", std::env::args()); }";
        assert_eq!(check("kalypso", "src/main.rs", text), Vec::<String>::new());
        assert_eq!(check("git", "tests/all.rs", text), Vec::<String>::new());
        assert_eq!(check("git", "src/a/tests.rs", text), Vec::<String>::new());
    }

    #[test]
    fn other_crates_may_not_print_or_read_the_environment() {
        assert_eq!(
            check("git", "src/lib.rs", "fn a() {\n    println!();\n}\n"),
            [
                "crates/git/src/lib.rs:2: speech law: `println!` below the binary: return the text or a diagnostic instead"
            ]
        );
        for text in ["use std::env::var;", "use std::env::{self};", "fn a() { f!(env::current_dir()); }"] {
            assert_eq!(check("hub", "src/a.rs", text).len(), 1, "{text}");
        }
    }
}
