//! Tests of applying patches, and of the messages for patches that do not apply.

use super::*;

const TWELVE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";

/// Applies a patch to files. Returns the files that change, or the message.
fn applied(patch: &str, files: &[(&str, &str)]) -> Result<Vec<(String, Option<String>)>, String> {
    let read = |path: &str| {
        let found = files.iter().find(|(name, _)| *name == path);
        Ok(found.map(|(_, text)| text.as_bytes().into()))
    };
    let patch = Patch::parse(patch.as_bytes()).map_err(|error| error.message)?;
    let edits = patch.apply(&read).map_err(|error| error.to_string())?;
    let text = |path: &str| edits.get(path).flatten().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    Ok(edits.paths().map(|path| (path.to_string(), text(path))).collect())
}

fn check(patch: &str, files: &[(&str, &str)], expected: &[(&str, Option<&str>)]) {
    let expected: Vec<_> = expected.iter().map(|(path, text)| ((*path).to_owned(), text.map(str::to_owned))).collect();
    assert_eq!(applied(patch, files), Ok(expected));
}

fn check_error(patch: &str, files: &[(&str, &str)], expected: &str) {
    let error = applied(patch, files).unwrap_err();
    assert!(error.contains(expected), "{error}");
}

fn twelve(hunk: &str) -> String {
    format!("diff --git a/x.yaml b/x.yaml\nindex 1111111..2222222 100644\n--- a/x.yaml\n+++ b/x.yaml\n{hunk}")
}

#[test]
fn lines_change() {
    let hunks = "@@ -1,2 +1,2 @@\n-1\n+one\n 2\n@@ -7,3 +7,4 @@\n 7\n-8\n+eight\n+and a half\n 9\n";
    check(
        &twelve(hunks),
        &[("x.yaml", TWELVE)],
        &[("x.yaml", Some("one\n2\n3\n4\n5\n6\n7\neight\nand a half\n9\n10\n11\n12\n"))],
    );
}

#[test]
fn lines_may_have_moved() {
    let moved = format!("0\n0\n{TWELVE}");
    let expected = moved.replace("8\n", "").replace("11\n", "eleven\n");
    let hunks = "@@ -7,3 +7,2 @@\n 7\n-8\n 9\n@@ -10,3 +9,3 @@\n 10\n-11\n+eleven\n 12\n";
    check(&twelve(hunks), &[("x.yaml", &moved)], &[("x.yaml", Some(&expected))]);
}

#[test]
fn of_equal_places_the_nearest_is_taken() {
    let twice = "a\nb\nc\na\nb\nc\na\nb\nc\n";
    let hunk = "@@ -5,2 +5,2 @@\n-b\n+B\n c\n";
    check(&twelve(hunk), &[("x.yaml", twice)], &[("x.yaml", Some("a\nb\nc\na\nB\nc\na\nb\nc\n"))]);
}

#[test]
fn files_are_added_removed_and_renamed() {
    let patch = "From 1111 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] Much\n\n---\n new.yaml | 1 +\n\n\
        diff --git a/new.yaml b/new.yaml\nnew file mode 100644\nindex 0000000..1111111\n--- /dev/null\n+++ b/new.yaml\n@@ -0,0 +1 @@\n+new\n\
        diff --git a/old.yaml b/old.yaml\ndeleted file mode 100644\nindex 1111111..0000000\n--- a/old.yaml\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n\
        diff --git a/a.yaml b/b/c.yaml\nsimilarity index 100%\nrename from a.yaml\nrename to b/c.yaml\n-- \n2.47.0\n";
    check(
        patch,
        &[("old.yaml", "old\n"), ("a.yaml", "same\n")],
        &[("a.yaml", None), ("b/c.yaml", Some("same\n")), ("new.yaml", Some("new\n")), ("old.yaml", None)],
    );
}

#[test]
fn a_plain_difference_and_a_missing_line_end_are_understood() {
    let patch = "--- x.yaml\n+++ x.yaml\n@@ -1 +1 @@\n-a: 1\n\\ No newline at end of file\n+a: 2\n";
    check(patch, &[("x.yaml", "a: 1")], &[("x.yaml", Some("a: 2\n"))]);
    check_error(patch, &[("x.yaml", "a: 1\n")], "hunk 1 (line 3 of the patch) does not fit `x.yaml`");
}

#[test]
fn mismatching_hunks_and_files_are_named() {
    let first = "@@ -1,2 +1,2 @@\n-1\n+one\n 2\n";
    let second = "@@ -7,3 +7,3 @@\n 7\n-VIII\n+eight\n 9\n";
    check_error(
        &twelve(&format!("{first}{second}")),
        &[("x.yaml", TWELVE)],
        "hunk 2 (line 9 of the patch) does not fit `x.yaml`: line 8 is `8`, and should be `VIII`",
    );
    check_error(&twelve(first), &[], "it changes `x.yaml`, which is not there");
    check_error(&twelve(first), &[("x.yaml", "0\n1\n2\n")], "line 1 is `0`, and should be `1`");
    let new = "diff --git a/x.yaml b/x.yaml\nnew file mode 100644\n--- /dev/null\n+++ b/x.yaml\n@@ -0,0 +1 @@\n+new\n";
    check_error(new, &[("x.yaml", "")], "it creates `x.yaml`, which exists already");
    check_error(&new.replace("x.yaml", "../x.yaml"), &[], "not in the repository");
    check_error(&new.replace("100644", "120000"), &[], "symbolic link");
}

#[test]
fn invalid_patches_are_reported_with_their_line() {
    check_error("a: 1\n", &[], "it holds no change of a file");
    let good = twelve("@@ -1,2 +1,2 @@\n-1\n+one\n 2\n");
    let broken = format!("{good}diff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1,5 +1,5 @@\n 1\n");
    check_error(&broken, &[], "its part for file 2, from line 9 on, can't be read: hunk header does not match hunk");
}

#[test]
fn patches_written_by_git_are_applied() {
    let folder = tempfile::tempdir().unwrap();
    let git = |arguments: &[&str]| {
        let output = std::process::Command::new("git").current_dir(&folder).args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let (before, after) =
        (TWELVE.repeat(3), TWELVE.repeat(3).replace("5\n", "five\n").replace("12\n1\n", "12\n0\n1\n"));
    std::fs::write(folder.path().join("it's ü.yaml"), &before).unwrap();
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    std::fs::write(folder.path().join("it's ü.yaml"), &after).unwrap();
    for more in [&["diff"][..], &["diff", "--no-prefix"], &["-c", "diff.mnemonicPrefix=true", "diff"], &["diff", "-U1"]]
    {
        check(&git(more), &[("it's ü.yaml", &before)], &[("it's ü.yaml", Some(&after))]);
    }
}
