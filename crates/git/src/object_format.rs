//! The object format of a repository. Only `sha1` is supported: a repository with another format is refused by name, not as one without branches.

use std::fs;
use std::path::{Path, PathBuf};

use model::git_id::GitId;

const SHA1: &str = "sha1";
const SHA256: &str = "sha256";
/// The length of a SHA-256 id in hexadecimal digits.
const SHA256_DIGITS: usize = 64;

/// Messages of git about a server with another format than the copy, which has SHA-1.
const REFUSALS: &[&str] =
    &["does not support this repository's hash algorithm", "does not support this repository's object format"];

/// The instruction for the user. Git can't convert a repository in place.
pub(crate) const ADVICE: &str = "use a repository with SHA-1: create one with `git init --bare --object-format=sha1`, commit the same files in a clone of it, and push its branches; git can't convert a repository";

/// The lines of a list of references: each id with its name.
///
/// # Errors
/// The object format, if the ids are of another one than SHA-1.
pub(crate) fn references(list: &str) -> Result<Vec<(GitId, &str)>, &'static str> {
    let is_sha256 = |id: &str| id.len() == SHA256_DIGITS && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let lines = list.lines().filter_map(|line| line.split_once('\t'));
    let parsed = lines.filter_map(|(id, name)| match GitId::from_hex(id) {
        Some(id) => Some(Ok((id, name))),
        None => is_sha256(id).then_some(Err(SHA256)),
    });
    parsed.collect()
}

/// The object format that a server announced, from traced messages of git. None if it is SHA-1. A server without this capability has SHA-1.
pub(crate) fn announced(messages: &str) -> Option<&str> {
    let received = messages.lines().filter_map(|line| line.split_once(" packet: ")?.1.split_once("< "));
    let mut formats = received.filter_map(|(_, packet)| packet.split_once("object-format="));
    formats.find_map(|(_, rest)| rest.split_whitespace().next().filter(|format| *format != SHA1))
}

/// The object format that made git fail, from its messages. None if it failed for another reason.
pub(crate) fn of_failure(message: &str) -> Option<&str> {
    let word = |before: &str| message.split_once(before)?.1.split(|c: char| !c.is_ascii_alphanumeric()).next();
    word("unknown object format '")
        .or_else(|| word("mismatched algorithms: client sha1; server "))
        .or_else(|| REFUSALS.iter().any(|text| message.contains(text)).then_some(SHA256))
}

/// The object format of a repository on this machine. None if it is SHA-1, or if the folder has no repository.
pub(crate) fn of_folder(folder: &Path) -> Option<String> {
    let git_dir = [folder.join(".git"), folder.to_owned()].into_iter().find(|path| path.exists())?;
    let git_dir = linked(&git_dir, "gitdir: ").unwrap_or(git_dir);
    // A linked working tree has its configuration in the main repository.
    let common = linked(&git_dir.join("commondir"), "").unwrap_or(git_dir);
    let config = gix::config::File::from_path_no_includes(common.join("config"), gix::config::Source::Local).ok()?;
    let format = config.string("extensions.objectFormat")?.to_string().to_ascii_lowercase();
    (format != SHA1).then_some(format)
}

/// The path in a file of git that names another folder, relative to the folder of the file.
fn linked(file: &Path, prefix: &str) -> Option<PathBuf> {
    let text = file.is_file().then(|| fs::read_to_string(file).ok()).flatten()?;
    Some(file.parent()?.join(text.strip_prefix(prefix)?.trim_end_matches(['\n', '\r'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_sha256_are_recognised() {
        let (short, long) = ("8ba5162a756df090d793f9e105180b79e8205c69", "a".repeat(64));
        let list = format!("{short}\trefs/heads/main\n{short}\trefs/tags/v1^{{}}\n");
        let good = references(&list).unwrap();
        assert_eq!(good.iter().map(|(_, name)| *name).collect::<Vec<_>>(), ["refs/heads/main", "refs/tags/v1^{}"]);
        assert_eq!(references(&format!("{long}\trefs/heads/main\n")), Err("sha256"));
        assert_eq!(references("ref: refs/heads/main\tHEAD\n"), Ok(Vec::new()));
    }

    #[test]
    fn the_announced_format_is_found() {
        let second = "12:00:00.1 pkt-line.c:86           packet:          git< object-format=sha256\n";
        assert_eq!(announced(second), Some("sha256"));
        let first =
            "packet:  packet:          git< 0123 refs/heads/main\\0multi_ack object-format=sha256 agent=git/2\n";
        assert_eq!(announced(first), Some("sha256"));
        assert_eq!(announced("x packet:          git< object-format=sha1\n"), None);
        assert_eq!(announced("x packet:          git> object-format=sha256\n"), None);
        assert_eq!(announced(""), None);
    }

    #[test]
    fn failures_because_of_the_format_are_recognised() {
        assert_eq!(of_failure("fatal: mismatched algorithms: client sha1; server sha256"), Some("sha256"));
        assert_eq!(of_failure("fatal: unknown object format 'sha512' specified by server"), Some("sha512"));
        let refused = "fatal: the receiving end does not support this repository's hash algorithm";
        assert_eq!(of_failure(refused), Some("sha256"));
        assert_eq!(of_failure("fatal: couldn't find remote ref refs/heads/sha256"), None);
    }
}
