//! Suggestions for the user: commands that work in the company's folder as they are printed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A suggestion: its purpose, and its commands.
struct Step {
    purpose: &'static str,
    commands: &'static [&'static str],
}

const STEPS: &[Step] = &[
    Step {
        purpose: "where does a value come from?",
        commands: &["kalypso explain -e prod chicago-edge/checkout-us DATABASE_URL"],
    },
    Step {
        purpose: "start the service, a git host and the simulated hosts, in another terminal, in that folder",
        commands: &["kalypso serve"],
    },
    Step {
        purpose: "change the value, and commit",
        commands: &[
            "git -C control-plane switch prod",
            "sed -i.bak 's/central.db/central-2.db/' control-plane/configs/central.yaml",
            "git -C control-plane commit -am 'Move the central region to its new database'",
        ],
    },
    Step { purpose: "what does that do?", commands: &["kalypso plan -e prod"] },
    Step { purpose: "open http://127.0.0.1:8090 in a browser, and merge the pull request", commands: &[] },
    Step {
        purpose: "see hosts follow",
        commands: &["kalypso status", "kalypso deployments --host prod-chicago-edge-02"],
    },
    Step { purpose: "or look at all of it in a browser, while the service runs: http://127.0.0.1:8080", commands: &[] },
];

/// The suggestions for `folder`. Commands are indented by four blanks, so that they differ from the text.
pub(crate) fn text(folder: &Path) -> String {
    let enter = enter(folder);
    let program = folder_to_add(std::env::current_exe().ok(), std::env::var_os("PATH").as_deref());
    let find = program.map(|folder| format!("    export PATH={}:\"$PATH\"", quoted(folder.as_os_str())));
    let steps = STEPS.iter().flat_map(|Step { purpose, commands }| {
        let commands = commands.iter().map(|command| format!("    {command}"));
        std::iter::once(format!("  {purpose}")).chain(commands)
    });
    let first = "Try this (README.md there has more):".to_owned();
    let lines: Vec<_> = std::iter::once(first).chain(enter).chain(find).chain(steps).collect();
    lines.join("\n") + "\n"
}

/// The command to enter a folder. None if it is the current one.
pub(crate) fn enter(folder: &Path) -> Option<String> {
    (folder != Path::new(".")).then(|| format!("    cd {}", quoted(folder.as_os_str())))
}

/// A path as users type it: `./kalypso-demo`.
pub(crate) fn shown(path: &Path) -> String {
    let is_marked = path.is_absolute() || path.starts_with(".") || path.starts_with("..");
    let path = if is_marked { path.to_owned() } else { Path::new(".").join(path) };
    path.display().to_string()
}

/// The folder to add to the shell's `PATH`, so that it finds the running program. None if the shell finds the program already.
fn folder_to_add(program: Option<PathBuf>, path: Option<&OsStr>) -> Option<PathBuf> {
    let program = program?;
    let found = std::env::split_paths(path.unwrap_or_default())
        .map(|folder| folder.join("kalypso"))
        .find(|candidate| candidate.is_file());
    let same = |found: PathBuf| found.canonicalize().ok() == program.canonicalize().ok();
    if found.is_some_and(same) { None } else { program.parent().map(Path::to_owned) }
}

/// Quotes a word for a shell.
fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%,".contains(c);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain) {
        return word.into_owned();
    }
    let word = if word.starts_with('-') { format!("./{word}") } else { word.into_owned() };
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_the_shell() {
        let check = |word: &str, expected: &str| assert_eq!(quoted(OsStr::new(word)), expected);
        check("kalypso-demo", "kalypso-demo");
        check("/tmp/my demo", "'/tmp/my demo'");
        check("it's", r"'it'\''s'");
        check("-e", "'./-e'");
        check("", "''");
    }

    #[test]
    fn program_folder_is_added_to_the_path_if_missing() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("kalypso");
        std::fs::write(&program, "").unwrap();
        let check = |path: Option<&OsStr>, expected: Option<&Path>| {
            assert_eq!(folder_to_add(Some(program.clone()), path).as_deref(), expected);
        };
        check(None, Some(folder.path()));
        check(Some(OsStr::new("/nowhere")), Some(folder.path()));
        check(Some(folder.path().as_os_str()), None);
    }
}
