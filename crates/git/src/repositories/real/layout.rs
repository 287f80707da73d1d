//! Checks the files of a copy: only files that git and Kalypso create are allowed.
//!
//! Another user can restore a cache, as in many CI systems. A copy needs no settings, hooks, alternates or replacement commits, so none of them are
//! allowed. The content of objects is checked when they are read.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

use crate::trust;

/// The content of a copy's `HEAD`: a branch that does not exist.
pub(super) const HEAD: &str = "ref: refs/heads/none\n";
/// The content of a copy's `config`.
pub(super) const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n";
/// The prefix of a copy's references.
const REFERENCES: &str = "refs/kalypso/";

/// Checks that a copy contains only allowed files.
///
/// # Errors
/// A message with the first file that is not allowed.
pub(super) fn check(git_dir: &Path) -> Result<(), String> {
    let metadata = fs::symlink_metadata(git_dir).map_err(|error| error.to_string())?;
    if !metadata.is_dir() || !trust::is_own(&metadata) {
        return Err("it is not a folder of this user".to_owned());
    }
    for (name, expected) in [("HEAD", HEAD), ("config", CONFIG)] {
        let found = fs::read(git_dir.join(name)).map_err(|error| format!("{name}: {error}"))?;
        if found != expected.as_bytes() {
            return Err(format!("{name} is not as it was written"));
        }
    }
    for name in ["objects", "refs"] {
        if !git_dir.join(name).is_dir() {
            return Err(format!("there is no folder {name}"));
        }
    }
    check_below(git_dir, String::new(), is_closed(&metadata))?;
    check_packed(git_dir)
}

/// Checks the content of a folder in a copy. `is_closed`: other users can't enter the copy, so the modes of the files in it do not matter.
fn check_below(folder: &Path, inside: String, is_closed: bool) -> Result<(), String> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other.map_err(|error| format!("{inside}: {error}"))?,
    };
    for entry in entries {
        let entry = entry.map_err(|error| format!("{inside}: {error}"))?;
        let name = entry.file_name();
        let name = name.to_str().ok_or_else(|| format!("{inside} holds a name that is not UTF-8"))?;
        let path = format!("{inside}{name}");
        let metadata = match fs::symlink_metadata(entry.path()) {
            // Git may remove temporary files during the check.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            other => other.map_err(|error| format!("{path}: {error}"))?,
        };
        if !trust::is_own(&metadata) || !(is_closed || is_unwritable(&metadata)) {
            return Err(format!("others may change {path}"));
        }
        let is_expected = if metadata.is_dir() { is_folder(&path) } else { metadata.is_file() && is_file(&path) };
        if !is_expected {
            return Err(format!("{path} does not belong there"));
        }
        if metadata.is_dir() {
            check_below(&entry.path(), format!("{path}/"), is_closed)?;
        }
    }
    Ok(())
}

/// Checks that all references in `packed-refs` have the prefix of the copy.
fn check_packed(git_dir: &Path) -> Result<(), String> {
    let text = match fs::read_to_string(git_dir.join("packed-refs")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other.map_err(|error| format!("packed-refs: {error}"))?,
    };
    let lines = text.lines().filter(|line| !line.starts_with(['#', '^']));
    let mut names = lines.map(|line| line.split_once(' ').map_or("", |(_, name)| name));
    match names.find(|name| !name.starts_with(REFERENCES)) {
        Some(name) => Err(format!("reference `{}` does not belong there", name.escape_debug())),
        None => Ok(()),
    }
}

/// Whether a folder with this path is allowed. Git creates and removes empty folders for references at any time.
fn is_folder(path: &str) -> bool {
    let is_of_objects = path.strip_prefix("objects/").is_some_and(|name| name.len() == 2 && is_hexadecimal(name));
    is_of_objects || matches!(path, "objects" | "objects/info" | "objects/pack" | "refs") || path.starts_with("refs/")
}

/// Whether a file with this path is allowed.
fn is_file(path: &str) -> bool {
    if let Some(path) = path.strip_prefix("objects/") {
        return match path.split_once('/') {
            Some(("pack", name)) => is_of_pack(name),
            Some(("info", _)) => false,
            None => path == "maintenance.lock",
            Some((_, name)) => is_object(name) || name.starts_with("tmp_obj_"),
        };
    }
    if path.starts_with("refs/") {
        return path.starts_with(REFERENCES) || has_ending(path, "lock");
    }
    let known = ["HEAD", "config", "packed-refs", "packed-refs.new", "shallow", "gc.pid"];
    let is_temporary = has_ending(path, "lock") || path.starts_with("shallow_");
    known.contains(&path) || (!path.contains('/') && is_temporary)
}

/// Whether a file in `objects/pack` is allowed: packs with their indexes, and unfinished files of git. Bitmaps and commit graphs are not: git would
/// trust them without reading the objects.
fn is_of_pack(name: &str) -> bool {
    let pack = name.strip_prefix("pack-").and_then(|rest| rest.split_once('.'));
    let is_pack = |(id, ending): (&str, &str)| {
        is_hexadecimal(id) && matches!(ending, "pack" | "idx" | "rev" | "keep" | "mtimes" | "lock")
    };
    pack.is_some_and(is_pack) || name.starts_with("tmp_") || name.starts_with(".tmp-")
}

fn is_object(name: &str) -> bool {
    name.len() == 38 && is_hexadecimal(name)
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn has_ending(path: &str, ending: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found == ending)
}

#[cfg(unix)]
fn is_closed(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    const FOR_OTHERS: u32 = 0o077;
    metadata.mode() & FOR_OTHERS == 0
}

#[cfg(unix)]
fn is_unwritable(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    metadata.mode() & WRITABLE_BY_OTHERS == 0
}

#[cfg(not(unix))]
fn is_closed(_metadata: &Metadata) -> bool {
    true
}

#[cfg(not(unix))]
fn is_unwritable(_metadata: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_git_and_kalypso_are_accepted() {
        let id = "4fb8c440e19eca604bbdc14dbba63e5fb98b2c52";
        let packs = ["pack", "idx", "rev", "keep"].map(|ending| format!("objects/pack/pack-{id}.{ending}"));
        let object = format!("objects/4f/{}", &id[2..]);
        let marker = format!("refs/kalypso/commits/{id}");
        let others = [
            "HEAD",
            "config",
            "packed-refs",
            "shallow",
            "shallow.lock",
            "shallow_Ab12Cd",
            "refs/kalypso/heads/feature/a",
            "refs/kalypso/heads/main.lock",
            "objects/pack/tmp_pack_123",
            "objects/pack/.tmp-12-pack-34.idx",
            "objects/4f/tmp_obj_AbC",
            "objects/maintenance.lock",
        ];
        for path in packs.iter().chain([&object, &marker]).map(String::as_str).chain(others) {
            assert!(is_file(path), "{path}");
        }
        for path in ["objects", "objects/4f", "objects/pack", "objects/info", "refs/kalypso/heads/feature"] {
            assert!(is_folder(path), "{path}");
        }
    }

    #[test]
    fn other_files_are_refused() {
        for path in [
            "config.worktree",
            "commondir",
            "gitdir",
            "hooks/pre-push",
            "info/grafts",
            "info/attributes",
            "objects/info/alternates",
            "objects/info/http-alternates",
            "objects/info/commit-graph",
            "objects/pack/multi-pack-index",
            "objects/pack/pack-4fb8.bitmap",
            "objects/pack/pack-4fb8.promisor",
            "refs/replace/4fb8c440e19eca604bbdc14dbba63e5fb98b2c52",
            "refs/heads/main",
            "objects/4f/notes",
        ] {
            assert!(!is_file(path), "{path}");
        }
        for path in ["hooks", "info", "worktrees", "modules", "logs", "objects/info/commit-graphs", "objects/xy"] {
            assert!(!is_folder(path), "{path}");
        }
    }
}
