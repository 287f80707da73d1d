//! Distinguishes errors of the local disk from errors of the remote repository.

use super::cache::Copy;
use crate::repositories::RepositoryError;

/// Error texts of operating systems for a disk that can't be written.
const DISK_REASONS: &[&str] = &["No space left on device", "Disk quota exceeded", "Read-only file system"];
/// The error text for a file that exceeds the size limit for git.
const TOO_LARGE: &str = "File too large";
/// An error text that also has causes other than the disk.
const DENIED: &str = "Permission denied";

/// The error, if git failed because it could not write into the copy. Git reports this only as text. An unknown text counts as an error of the
/// repository, which is more frequent.
pub(super) fn cache_error(messages: &str, copy: &Copy) -> Option<RepositoryError> {
    let reason = messages.split("; ").filter(|line| is_local(line)).find_map(disk_reason)?;
    Some(RepositoryError::Cache { path: copy.git_dir().to_owned(), reason: reason.to_owned() })
}

/// Whether git failed because the transfer was too large.
pub(super) fn is_too_large(messages: &str) -> bool {
    messages.split("; ").any(|line| is_local(line) && line.contains(TOO_LARGE))
}

/// Messages of the server begin with `remote:`, and network errors contain the URL.
fn is_local(line: &str) -> bool {
    !line.starts_with("remote:") && !line.contains("unable to access '")
}

fn disk_reason(line: &str) -> Option<&'static str> {
    let is_of_git = line.starts_with("error: ") || line.starts_with("fatal: ");
    let found = DISK_REASONS.iter().copied().find(|words| line.contains(words));
    found.or_else(|| (is_of_git && line.ends_with(&format!(": {DENIED}"))).then_some(DENIED))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn check(messages: &str, expected: Option<&str>) {
        let found = cache_error(messages, &Copy::new(Path::new("cache"), "url"));
        let reason = found.map(|error| match error {
            RepositoryError::Cache { reason, .. } => reason,
            other => panic!("{other}"),
        });
        assert_eq!(reason.as_deref(), expected, "{messages}");
    }

    #[test]
    fn disk_errors_are_recognized_with_their_reason() {
        check(
            "fatal: write error: No space left on device; fatal: fetch-pack: invalid index-pack output",
            Some(DISK_REASONS[0]),
        );
        check("error: file write error: Disk quota exceeded", Some(DISK_REASONS[1]));
        check("fatal: Unable to create '/c/x.git/shallow.lock': Read-only file system", Some(DISK_REASONS[2]));
        check("fatal: unable to create temporary file: Permission denied", Some(DENIED));
        check("error: unable to write file /c/x.git/objects/ab/cd: Permission denied", Some(DENIED));
    }

    #[test]
    fn remote_and_network_messages_are_not_disk_errors() {
        check("remote: fatal: write error: No space left on device; fatal: protocol error", None);
        check("git@git.example: Permission denied (publickey).; fatal: Could not read from remote repository.", None);
        check("fatal: unable to access 'https://git.example/': Failed to connect: Permission denied", None);
        check("fatal: Authentication failed for 'https://git.example/app'", None);
    }
}
