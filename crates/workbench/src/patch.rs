//! Patches: changes of files that are not committed, in the format of `git diff` and `git format-patch`.

use std::collections::BTreeMap;
use std::sync::Arc;

use diffy::patch_set::{FileMode, FileOperation, FilePatch, ParseOptions, PatchKind, PatchSet};
use diffy::{Hunk, Line};
use git::Edits;

use crate::Failure;

/// The maximum size of a patch, in bytes.
pub const PATCH_BYTES_MAX: u64 = 64 << 20;

/// A parsed patch.
pub(crate) struct Patch<'a> {
    text: &'a [u8],
    files: Vec<FilePatch<'a, [u8]>>,
}

/// Reads a file.
pub(crate) type ReadFile<'a> = dyn Fn(&str) -> Result<Content, Failure> + 'a;

/// The content of a file. None if the file does not exist.
pub(crate) type Content = Option<Arc<[u8]>>;

/// The first line of the section of a file, as Git writes it.
const GIT_HEADER: &[u8] = b"diff --git ";

/// What a part of a patch is applied to.
struct Before {
    content: Arc<[u8]>,
    /// The number of hunks of the parts before.
    hunks: usize,
}

impl<'a> Patch<'a> {
    /// Parses a patch.
    ///
    /// # Errors
    /// If the text is not a patch. The message names the part that can't be parsed.
    pub(crate) fn parse(text: &'a [u8]) -> Result<Self, Failure> {
        let is_git = lines(text).any(|line| line.starts_with(GIT_HEADER));
        let (options, header) =
            if is_git { (ParseOptions::gitdiff(), GIT_HEADER) } else { (ParseOptions::unidiff(), &b"--- "[..]) };
        let mut files = Vec::new();
        for file in PatchSet::parse_bytes(text, options) {
            match file {
                Ok(file) => files.push(file),
                Err(error) => {
                    return Err(unreadable(&error.to_string(), line_of(text, header, files.len()), files.len() + 1));
                }
            }
        }
        Ok(Self { text, files })
    }

    /// The paths before and after the patch, sorted.
    pub(crate) fn paths(&self) -> Vec<String> {
        let both = self.files.iter().map(paths);
        let mut paths: Vec<_> = both.flat_map(|(before, after)| [before, after]).flatten().collect();
        paths.sort();
        paths.dedup();
        paths
    }

    /// Applies the patch to files. The files do not change: the new contents are returned.
    ///
    /// # Errors
    /// If a hunk does not apply. The message names the hunk and the reason.
    pub(crate) fn apply(&self, read: &ReadFile<'_>) -> Result<Edits, Failure> {
        let mut edits: BTreeMap<Arc<str>, Content> = BTreeMap::new();
        let mut hunks_before = 0;
        for file in &self.files {
            let (before, after) = paths(file);
            let current = |path: &str| match edits.get(path) {
                Some(content) => Ok(content.clone()),
                None => read(path),
            };
            let old = match &before {
                Some(path) => current(path)?.ok_or_else(|| missing(path))?,
                None => Arc::default(),
            };
            if let Some(path) = after.as_ref().filter(|path| before.as_ref() != Some(path)) {
                refuse_path(path, file)?;
                if current(path)?.is_some() {
                    let help = "is the patch applied there already?";
                    return Err(Failure::refused(format!("it creates `{path}`, which exists already")).help(help));
                }
            }
            let name = after.as_ref().or(before.as_ref()).cloned().unwrap_or_default();
            let new = self.patched(file, &name, &Before { content: old, hunks: hunks_before })?;
            hunks_before += hunks(file).len();
            if after.is_none() && !new.is_empty() {
                return Err(Failure::refused(format!(
                    "it removes `{name}`, which has more content than the patch removes"
                )));
            }
            let is_copy = matches!(file.operation(), FileOperation::Copy { .. });
            if let Some(path) = before.filter(|path| !is_copy && after.as_ref() != Some(path)) {
                edits.insert(path.into(), None);
            }
            if let Some(path) = after {
                edits.insert(path.into(), Some(new));
            }
        }
        Ok(edits.into_iter().collect())
    }

    fn patched(&self, file: &FilePatch<'_, [u8]>, path: &str, before: &Before) -> Result<Arc<[u8]>, Failure> {
        if matches!(file.patch(), PatchKind::Binary(_)) {
            // The content of files that Kalypso does not read is not needed.
            let is_read = model::read::is_read(path);
            let refused = || Failure::refused(format!("its part for `{path}` is binary, which can't be read as YAML"));
            return if is_read { Err(refused()) } else { Ok(Arc::clone(&before.content)) };
        }
        let image: Vec<_> = lines(&before.content).collect();
        apply(&image, hunks(file)).map_err(|misfit| {
            let at = line_of(self.text, b"@@ -", before.hunks + misfit.hunk);
            let at = at.map_or_else(String::new, |line| format!(" (line {line} of the patch)"));
            let message = format!("hunk {}{at} does not fit `{path}`: {}", misfit.hunk + 1, misfit.why);
            Failure::refused(message).help("was it made from the current files? Nothing of it was applied")
        })
    }
}

fn hunks<'f>(file: &'f FilePatch<'_, [u8]>) -> &'f [Hunk<'f, [u8]>] {
    file.patch().as_text().map_or(&[], |patch| patch.hunks())
}

fn missing(path: &str) -> Failure {
    Failure::refused(format!("it changes `{path}`, which is not there"))
        .help("was it made in another branch or folder? Its paths begin at the root of the control plane's repository")
}

fn unreadable(error: &str, line: Option<usize>, part: usize) -> Failure {
    let Some(line) = line else {
        return Failure::refused("it holds no change of a file").help("make one with `git diff` or `git format-patch`");
    };
    // The text before the last colon has a byte offset, which does not help the user.
    let reason = error.rsplit(": ").next().unwrap_or(error);
    Failure::refused(format!("its part for file {part}, from line {line} on, can't be read: {reason}"))
        .help("make it with `git diff` or `git format-patch`, and leave its hunks as they are")
}

/// New files follow the rules for all files: they must be inside the repository, and regular files.
fn refuse_path(path: &str, file: &FilePatch<'_, [u8]>) -> Result<(), Failure> {
    if path.is_empty() || path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(Failure::refused(format!("it makes `{}`, which is not in the repository", path.escape_debug())));
    }
    match file.new_mode() {
        Some(FileMode::Symlink | FileMode::Gitlink) => {
            Err(Failure::refused(format!("it creates `{path}`, which is a symbolic link or a submodule")))
        }
        _ => Ok(()),
    }
}

/// The paths before and after, without the prefixes of Git and other tools.
fn paths(file: &FilePatch<'_, [u8]>) -> (Option<String>, Option<String>) {
    let text = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
    let stripped = |path: &[u8]| {
        let path = text(path);
        // `a/`, `b/`, and the prefixes of `diff.mnemonicPrefix`. With `--no-prefix` there is no prefix.
        let rest = path.split_once('/').filter(|(prefix, _)| matches!(*prefix, "a" | "b" | "c" | "i" | "o" | "w"));
        rest.map_or_else(|| path.clone(), |(_, rest)| rest.to_owned())
    };
    match file.operation() {
        FileOperation::Delete(path) => (Some(stripped(path)), None),
        FileOperation::Create(path) => (None, Some(stripped(path))),
        FileOperation::Modify { modified, .. } => (Some(stripped(modified)), Some(stripped(modified))),
        // These headers have no prefixes.
        FileOperation::Rename { from, to } | FileOperation::Copy { from, to } => (Some(text(from)), Some(text(to))),
    }
}

/// The reason why a patch does not apply.
#[derive(Debug, PartialEq, Eq)]
struct Misfit {
    /// The index of the hunk, from 0.
    hunk: usize,
    why: String,
}

/// Applies hunks to the lines of a file. The lines may have moved, but all context lines must be equal, as in `git apply`.
fn apply(image: &[&[u8]], hunks: &[Hunk<'_, [u8]>]) -> Result<Arc<[u8]>, Misfit> {
    let mut made = Vec::new();
    let (mut done, mut drift) = (0, 0_isize);
    for (number, hunk) in hunks.iter().enumerate() {
        let known: Vec<_> = hunk.lines().iter().filter_map(line_before).collect();
        let start = hunk.old_range().start();
        // A hunk that removes nothing after line 5 begins behind line 5.
        let stated = if known.is_empty() { start } else { start.saturating_sub(1) };
        let expected = stated.saturating_add_signed(drift).max(done);
        let last = image.len().checked_sub(known.len()).filter(|last| *last >= done);
        let fits = |position: &usize| image.get(*position..*position + known.len()) == Some(known.as_slice());
        let ends_open = matches!(hunk.lines().last(), Some(Line::Context(_)));
        let found = match last {
            None => None,
            // A hunk without context before it belongs to the beginning of the file, a hunk without context behind it to the end.
            Some(_) if start <= 1 => {
                Some(0).filter(|_| done == 0).filter(fits).filter(|_| ends_open || known.len() == image.len())
            }
            Some(last) if !ends_open => Some(last).filter(fits),
            Some(last) => nearest(expected, done..=last).find(fits),
        };
        let position = found.ok_or_else(|| Misfit { hunk: number, why: misfit(image, &known, expected) })?;
        made.extend_from_slice(&image[done..position].concat());
        hunk.lines().iter().filter_map(line_after).for_each(|line| made.extend_from_slice(line));
        drift = position as isize - stated as isize;
        done = position + known.len();
    }
    made.extend_from_slice(&image[done..].concat());
    Ok(made.into())
}

/// All positions of a range, ordered by their distance to the expected position.
fn nearest(expected: usize, range: std::ops::RangeInclusive<usize>) -> impl Iterator<Item = usize> {
    let (first, last) = (*range.start(), *range.end());
    let expected = expected.clamp(first, last);
    let reach = (expected - first).max(last - expected);
    let both = move |distance: usize| {
        [expected.checked_sub(distance), expected.checked_add(distance).filter(|_| distance > 0)]
    };
    (0..=reach).flat_map(both).flatten().filter(move |position| range.contains(position))
}

/// Describes the first line that differs from the hunk.
fn misfit(image: &[&[u8]], known: &[&[u8]], expected: usize) -> String {
    let shown = |line: &[u8]| {
        let text = String::from_utf8_lossy(line);
        text.trim_end_matches(['\n', '\r']).chars().take(60).flat_map(char::escape_debug).collect::<String>()
    };
    let differs = known.iter().enumerate().find(|(offset, line)| image.get(expected + offset) != Some(line));
    match differs.map(|(offset, line)| (expected + offset, line)) {
        Some((position, line)) => match image.get(position) {
            Some(there) => format!("line {} is `{}`, and should be `{}`", position + 1, shown(there), shown(line)),
            None => format!("it has {} lines, and line {} should be `{}`", image.len(), position + 1, shown(line)),
        },
        None => "there are more lines before or after it than in the patch".to_owned(),
    }
}

fn line_before<'a>(line: &Line<'a, [u8]>) -> Option<&'a [u8]> {
    match line {
        Line::Context(line) | Line::Delete(line) => Some(line),
        Line::Insert(_) => None,
    }
}

fn line_after<'a>(line: &Line<'a, [u8]>) -> Option<&'a [u8]> {
    match line {
        Line::Context(line) | Line::Insert(line) => Some(line),
        Line::Delete(_) => None,
    }
}

/// The lines of a text, each with its line end.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
}

/// The number of the line that begins with `start`, after `earlier` other such lines.
fn line_of(text: &[u8], start: &[u8], earlier: usize) -> Option<usize> {
    let numbered = lines(text).enumerate().filter(|(_, line)| line.starts_with(start));
    numbered.map(|(number, _)| number + 1).nth(earlier)
}

#[cfg(test)]
mod tests;
