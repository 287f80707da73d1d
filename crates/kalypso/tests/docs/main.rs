//! Runs the commands of the documents, and compares their output with the pages.
//!
//! Each page is read from its beginning to its end, in a separate folder:
//!
//! - A block of type `console` holds commands after `$ ` and their output. A line that ends with `\` continues after `> `. `…` stands for any text in
//!   a line, and a line with only `…` for any lines. Ids of commits and times may differ.
//! - A line that ends with `` `path`: `` and the block after it create that file.
//! - The comment `<!-- starts with: kalypso demo --no-hub -->` runs a command that the page does not show. Longer commands are scripts in
//!   `$FIXTURES`. A hub does not end by itself: its command ends with `&`, and later commands use this hub, until `stop`. `NAME=$(command)` sets a variable
//!   for all later commands. `helm` puts Helm on the search path. `postgresql` starts a server of PostgreSQL. Its superuser runs the blocks of type `sql` and the text after `sql: `.
//! - A block of type `sh`, on a page with such a comment, holds commands whose output is not shown. They must succeed. `kalypso hub`, alone or with
//!   options, and `kalypso serve` start the hub for later commands. Addresses, tokens and folders of other machines are replaced by those of the test ([`shell`]).
//!
//! `KALYPSO_BLESS=1 cargo test -p kalypso --test docs` writes the output into the pages. With `KALYPSO_PAGE=NAME`, only one how-to page is run.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "what a test can't set up fails it, or is said"
)]

mod objects;
mod page;
mod shell;
mod wildcard;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use page::{Piece, pieces};
use shell::Shell;

/// The folder of the documents.
fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

/// Runs a page. Returns the differences as text.
fn check(path: &Path) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut shell = Shell::new();
    let mut made = String::new();
    let mut wrong = Vec::new();
    for piece in pieces(&text) {
        match &piece {
            Piece::Text(_) => {}
            Piece::Start(command) => {
                if let Err(reason) = shell.start(command) {
                    println!("skipped: the rest of {}: {reason}", path.display());
                    return Ok(());
                }
            }
            Piece::Script(script) => shell.succeed(script),
            Piece::Sql(script) => shell.administer(script),
            Piece::File { path, content, .. } => shell.write(path, content),
            Piece::Command { command, expected } => {
                let printed = shell.run(command);
                if !wildcard::matches(expected, &printed) {
                    wrong.push(format!(
                        "{}: `{command}` prints\n{printed}\nbut the page says\n{expected}",
                        path.display()
                    ));
                    made.push_str(&Piece::Command { command: command.clone(), expected: printed }.to_string());
                    continue;
                }
            }
        }
        made.push_str(&piece.to_string());
    }
    if std::env::var_os("KALYPSO_BLESS").is_some() {
        fs::write(path, made).map_err(|error| error.to_string())?;
        return Ok(());
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n\n")) }
}

#[test]
fn the_readme() {
    check(&docs().join("../README.md")).unwrap_or_else(|wrong| panic!("{wrong}"));
}

#[test]
fn the_tutorial() {
    check(&docs().join("tutorial.md")).unwrap_or_else(|wrong| panic!("{wrong}"));
}

#[test]
fn the_how_to_pages() {
    let pages = fs::read_dir(docs().join("how-to")).unwrap().map(|entry| entry.unwrap().path());
    let only = std::env::var("KALYPSO_PAGE").ok();
    let is_wanted = |path: &Path| only.as_deref().is_none_or(|name| path.file_stem().is_some_and(|stem| stem == name));
    let mut pages: Vec<_> = pages.filter(|path| is_page(path) && is_wanted(path)).collect();
    pages.sort();
    assert!(!pages.is_empty());
    let wrong: Vec<_> = pages.iter().filter_map(|path| check(path).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn change_windows_of_the_clinics_are_right_at_every_hour() {
    let root = tempfile::tempdir().unwrap();
    let path = format!("{}:{}", root.path().display(), std::env::var("PATH").unwrap());
    let date = root.path().join("date");
    fs::write(&date, "#!/bin/sh\nprintf '%02d\\n' \"$HOUR\"\n").unwrap();
    fs::set_permissions(&date, fs::Permissions::from_mode(0o755)).unwrap();
    for hour in 0..24 {
        let made = root.path().join(format!("at-{hour}"));
        let script = docs().join("../examples/clinics/make.sh");
        let output = Command::new("sh")
            .arg(script)
            .arg(&made)
            .env("PATH", &path)
            .env("HOUR", hour.to_string())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let (opens, closes) = ((hour + 18) % 24, (hour + 5) % 24);
        let window = format!("from: \"{opens:02}:00\", until: \"{closes:02}:00\"");
        let promotions = fs::read_to_string(made.join("promotions.yaml")).unwrap();
        assert_eq!(promotions.matches(&window).count(), 1, "{hour}: {promotions}");
    }
}

#[test]
fn every_page_is_in_the_index() {
    let index = fs::read_to_string(docs().join("README.md")).unwrap();
    let folders = ["", "how-to/", "reference/"];
    let pages = folders.iter().flat_map(|folder| {
        let entries = fs::read_dir(docs().join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
        entries.map(move |name| format!("{folder}{}", name.to_string_lossy()))
    });
    for page in pages.filter(|page| is_page(Path::new(page)) && page != "README.md") {
        assert!(index.contains(&format!("]({page})")), "{page} is not in docs/README.md");
    }
}
