//! Selects the files below a path that are read, by the rules of Flux. It works for commits and for plain directories.

use std::rc::Rc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use model::git_id::GitId;

use crate::budget::{Budget, Exceeded};
use crate::limits::FOLDER_DEPTH_MAX;
use crate::repositories::{EntryKind, FolderEntry};

/// The folder of a control plane's main branch that holds its `Environment` objects.
pub const ENVIRONMENTS: &str = ".environments";

/// The file that excludes files, in the syntax of `.gitignore`.
const IGNORE_FILE: &str = ".sourceignore";

/// The YAML files among those that Flux excludes by default.
const IGNORED_BY_FLUX: &[&str] = &[
    ".drone.yml",
    ".flux.yaml",
    ".gitlab-ci.yml",
    ".goreleaser.yml",
    ".sops.yaml",
    ".travis.yml",
    "appveyor.yml",
    "cloudbuild.yaml",
    "codeship-services.yml",
    "codeship-steps.yml",
];

/// The reason why a path can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PathError {
    #[error("it leads out of the repository")]
    Upwards,
    #[error("it holds a backslash or a control character")]
    Character,
    #[error("it does not exist")]
    Missing,
    #[error("it is a symbolic link or a submodule, which is not followed")]
    Link,
    #[error(transparent)]
    TooMuch(#[from] Exceeded),
    #[error("folders are more than {FOLDER_DEPTH_MAX} deep below it")]
    TooDeep,
}

/// A tree of folders: a commit or a directory.
pub(crate) trait Folders {
    /// The error of a failed read.
    type Error: From<PathError>;
    /// The entries of a folder. The caller passes the folder's id if it has already read it from the parent. None if the folder does not exist.
    fn folder(&self, path: &str, id: Option<GitId>) -> Result<Option<Vec<FolderEntry>>, Self::Error>;
    /// The text of an ignore file. Content beyond the size limit is ignored.
    fn ignore_lines(&self, path: &str, entry: &FolderEntry) -> Result<String, Self::Error>;
}

/// A file that is read, or a link or submodule with a name that is read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FoundEntry {
    pub(crate) path: String,
    pub(crate) entry: FolderEntry,
}

/// The result of a walk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Walked {
    /// Files that are read, and links and submodules with names that are read; sorted.
    pub(crate) files: Vec<FoundEntry>,
    /// Links and submodules with other names, which may replace a folder; sorted.
    pub(crate) links: Vec<FoundEntry>,
}

/// Whether a file can affect what is read: it has a name that is read, or it excludes others.
pub(crate) fn is_relevant(path: &str) -> bool {
    model::read::is_read(path) || path.rsplit('/').next() == Some(IGNORE_FILE)
}

/// Normalizes a path: removes `.` segments and superfluous slashes. The empty path is the root.
pub(crate) fn normalize(path: &str) -> Result<String, PathError> {
    if path.contains('\\') || path.chars().any(char::is_control) {
        return Err(PathError::Character);
    }
    let parts: Vec<_> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.contains(&"..") { Err(PathError::Upwards) } else { Ok(parts.join("/")) }
}

/// The YAML files at and below a path, sorted. If the path leads to a file, the result is only that file, whatever its name is.
///
/// # Errors
/// If the path does not exist, or if a limit is exceeded below it.
pub(crate) fn walk<F: Folders>(folders: &F, path: &str, budget: &Budget) -> Result<Walked, F::Error> {
    let path = normalize(path)?;
    let walk = Walk { folders, budget };
    let mut rules = Rules::root();
    let (mut above, mut id) = (String::new(), None);
    // Ignore files above the path count too. But the path itself is read even if they exclude it.
    for part in path.split('/').filter(|part| !part.is_empty()) {
        let entries = walk.entries(&above, id)?;
        rules = walk.with_rules(rules, &above, &entries)?;
        let entry = entries.into_iter().find(|entry| entry.name == part).ok_or(PathError::Missing)?;
        above = join(&above, part);
        match entry.kind {
            EntryKind::Folder => id = Some(entry.id),
            EntryKind::File if above == path => {
                return Ok(Walked { files: vec![FoundEntry { path, entry }], links: Vec::new() });
            }
            EntryKind::File => return Err(PathError::Missing.into()),
            EntryKind::Link | EntryKind::Submodule => return Err(PathError::Link.into()),
        }
    }
    let mut found = walk.below(Folder { path, id, rules, depth: 0 })?;
    found.files.sort();
    found.links.sort();
    Ok(found)
}

/// Walks through folders, and counts the steps.
struct Walk<'a, F> {
    folders: &'a F,
    budget: &'a Budget,
}

/// A folder that is not read yet.
struct Folder {
    path: String,
    id: Option<GitId>,
    rules: Rules,
    depth: usize,
}

impl<F: Folders> Walk<'_, F> {
    fn below(&self, folder: Folder) -> Result<Walked, F::Error> {
        let mut found = Walked::default();
        let mut open = vec![folder];
        while let Some(Folder { path: folder, id, rules, depth }) = open.pop() {
            let entries = self.entries(&folder, id)?;
            if depth > FOLDER_DEPTH_MAX {
                return Err(PathError::TooDeep.into());
            }
            let rules = self.with_rules(rules, &folder, &entries)?;
            for entry in entries {
                let path = join(&folder, &entry.name);
                if entry.kind == EntryKind::Folder {
                    if entry.name == ENVIRONMENTS
                        || !(entry.name.starts_with('.') || self.is_excluded(&rules, &path, true)?)
                    {
                        open.push(Folder { path, id: Some(entry.id), rules: rules.clone(), depth: depth + 1 });
                    }
                    continue;
                }
                let is_read = model::read::is_read(&entry.name);
                let is_link = entry.kind != EntryKind::File && !entry.name.starts_with('.');
                if (is_read || is_link) && !self.is_excluded(&rules, &path, false)? {
                    self.budget.file().map_err(PathError::from)?;
                    let found = if is_read { &mut found.files } else { &mut found.links };
                    found.push(FoundEntry { path: printable(path), entry });
                }
            }
        }
        Ok(found)
    }

    /// The entries of a folder. They are counted before they are used: each entry counts by the length of its path.
    fn entries(&self, path: &str, id: Option<GitId>) -> Result<Vec<FolderEntry>, F::Error> {
        const FOLDER_STEPS: u64 = 10;
        self.budget.steps(FOLDER_STEPS).map_err(PathError::from)?;
        let Some(entries) = self.folders.folder(path, id)? else { return Err(PathError::Missing.into()) };
        let steps = |entry: &FolderEntry| 1 + text_steps(path.len() + entry.name.len());
        self.budget.steps(entries.iter().map(steps).sum()).map_err(PathError::from)?;
        Ok(entries)
    }

    /// Adds the ignore file of a folder to the rules, if the folder has one.
    fn with_rules(&self, rules: Rules, folder: &str, entries: &[FolderEntry]) -> Result<Rules, F::Error> {
        // Patterns are also compiled, which takes longer than reading them.
        const BYTE_STEPS: u64 = 4;
        let file = entries.iter().find(|entry| entry.name == IGNORE_FILE && entry.kind == EntryKind::File);
        let Some(file) = file else { return Ok(rules) };
        let lines = self.folders.ignore_lines(&join(folder, IGNORE_FILE), file)?;
        self.budget.steps(BYTE_STEPS * lines.len() as u64).map_err(PathError::from)?;
        Ok(rules.with(folder, &lines))
    }

    fn is_excluded(&self, rules: &Rules, path: &str, is_folder: bool) -> Result<bool, PathError> {
        self.budget.steps(text_steps(rules.0.bytes) * (1 + text_steps(path.len())))?;
        Ok(rules.is_excluded(path, is_folder))
    }
}

/// The number of additional steps for a text of this length.
fn text_steps(bytes: usize) -> u64 {
    const BYTES_PER_STEP: usize = 64;
    (bytes / BYTES_PER_STEP) as u64
}

/// Replaces control characters in a path for output. Git allows them in names, and a terminal would execute them.
fn printable(path: String) -> String {
    if path.chars().any(char::is_control) { path.replace(char::is_control, "\u{fffd}") } else { path }
}

/// Joins a folder and a name with a slash.
pub(crate) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// The ignore files of a folder and of the folders above it, the nearest first.
#[derive(Clone)]
struct Rules(Rc<Rule>);

struct Rule {
    patterns: Gitignore,
    /// The length of the folder's path, with the slash after it. The patterns match the rest of a path.
    prefix: usize,
    /// The total size of this ignore file and those above it, in bytes.
    bytes: usize,
    above: Option<Rules>,
}

impl Rules {
    fn root() -> Self {
        Self(Rc::new(Rule { patterns: patterns(IGNORED_BY_FLUX.iter().copied()), prefix: 0, bytes: 0, above: None }))
    }

    /// Adds the lines of a folder's ignore file.
    fn with(self, folder: &str, lines: &str) -> Self {
        let prefix = if folder.is_empty() { 0 } else { folder.len() + 1 };
        let bytes = self.0.bytes + lines.len();
        Self(Rc::new(Rule { patterns: patterns(lines.lines()), prefix, bytes, above: Some(self) }))
    }

    fn is_excluded(&self, path: &str, is_folder: bool) -> bool {
        let mut rules = Some(self);
        while let Some(Self(rule)) = rules {
            match rule.patterns.matched(path.get(rule.prefix..).unwrap_or_default(), is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => rules = rule.above.as_ref(),
            }
        }
        false
    }
}

/// Compiles patterns. Invalid lines are ignored, as in git.
fn patterns<'a>(lines: impl Iterator<Item = &'a str>) -> Gitignore {
    let mut builder = GitignoreBuilder::new("");
    for line in lines {
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::limits::{APPLICATION, PlaceLimits};

    struct InMemory(BTreeMap<&'static str, &'static str>);

    impl Folders for InMemory {
        type Error = PathError;

        fn folder(&self, path: &str, _: Option<GitId>) -> Result<Option<Vec<FolderEntry>>, PathError> {
            let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
            let mut entries = BTreeMap::new();
            for (file, text) in &self.0 {
                let Some(rest) = file.strip_prefix(&prefix) else { continue };
                let (name, kind) = match rest.split_once('/') {
                    Some((name, _)) => (name, EntryKind::Folder),
                    None => (rest, if *text == "->" { EntryKind::Link } else { EntryKind::File }),
                };
                entries.insert(name, FolderEntry { name: name.to_owned(), kind, id: GitId::of_blob(b"") });
            }
            Ok((!entries.is_empty()).then(|| entries.into_values().collect()))
        }

        fn ignore_lines(&self, path: &str, _: &FolderEntry) -> Result<String, PathError> {
            Ok(self.0[path].to_owned())
        }
    }

    fn check(files: &[(&'static str, &'static str)], path: &str, expected: Result<&[&str], PathError>) {
        let found = walk(&InMemory(files.iter().copied().collect()), path, &Budget::new(APPLICATION));
        let found = found.map(|found| found.files.into_iter().map(|found| found.path).collect::<Vec<_>>());
        assert_eq!(found, expected.map(|paths| paths.iter().map(|path| (*path).to_owned()).collect()), "{path}");
    }

    #[test]
    fn yaml_files_are_read_and_hidden_folders_are_not() {
        let files =
            [("a.yaml", ""), ("b/c.yml", ""), ("b/d.json", ""), (".github/x.yaml", ""), (".environments/e.yaml", "")];
        check(&files, ".", Ok(&[".environments/e.yaml", "a.yaml", "b/c.yml"]));
        check(&files, "./b/", Ok(&["b/c.yml"]));
        check(&files, "/b", Ok(&["b/c.yml"]));
        check(&files, ".github", Ok(&[".github/x.yaml"]));
        check(&files, "b/d.json", Ok(&["b/d.json"]));
        check(&files, "b/d.json/x", Err(PathError::Missing));
        check(&files, "c", Err(PathError::Missing));
    }

    #[test]
    fn a_path_stays_in_its_repository() {
        let files = [("a.yaml", ""), ("link.yaml", "->"), ("way", "->")];
        check(&files, "../x", Err(PathError::Upwards));
        check(&files, "a/../../x", Err(PathError::Upwards));
        check(&files, "a\\b", Err(PathError::Character));
        check(&files, "link.yaml", Err(PathError::Link));
        check(&files, "way/x", Err(PathError::Link));
    }

    #[test]
    fn control_characters_in_names_are_replaced() {
        check(&[("a\u{1b}[2J/b\n.yaml", "")], "", Ok(&["a\u{fffd}[2J/b\u{fffd}.yaml"]));
    }

    #[test]
    fn ignore_files_apply_to_their_folder() {
        let files = [
            (".sourceignore", "*.yml\n/only-here.yaml\ndocs/\n"),
            ("a.yml", ""),
            ("only-here.yaml", ""),
            ("b/only-here.yaml", ""),
            ("b/.sourceignore", "!keep.yml\nx.yaml"),
            ("b/keep.yml", ""),
            ("b/x.yaml", ""),
            ("x.yaml", ""),
            ("docs/d.yaml", ""),
        ];
        check(&files, "", Ok(&["b/keep.yml", "b/only-here.yaml", "x.yaml"]));
        check(&files, "b", Ok(&["b/keep.yml", "b/only-here.yaml"]));
        check(&files, "docs", Ok(&["docs/d.yaml"]));
    }

    /// A tree of folders that git stores in a few objects: each level contains the next level ten times.
    struct Multiplied<'a> {
        levels: usize,
        ignore_lines: &'a str,
        opened: std::cell::Cell<u64>,
    }

    impl Folders for Multiplied<'_> {
        type Error = PathError;

        fn folder(&self, path: &str, _: Option<GitId>) -> Result<Option<Vec<FolderEntry>>, PathError> {
            self.opened.set(self.opened.get() + 1);
            let entry = |name: &str, kind| FolderEntry { name: name.to_owned(), kind, id: GitId::of_blob(b"") };
            if path.split('/').count() > self.levels {
                return Ok(Some(vec![entry("a.txt", EntryKind::File)]));
            }
            let below = (0..10).map(|number| entry(&number.to_string(), EntryKind::Folder));
            let ignore = (!self.ignore_lines.is_empty()).then(|| entry(IGNORE_FILE, EntryKind::File));
            Ok(Some(below.chain(ignore).collect()))
        }

        fn ignore_lines(&self, _: &str, _: &FolderEntry) -> Result<String, PathError> {
            Ok(self.ignore_lines.to_owned())
        }
    }

    fn check_multiplied(ignore_lines: &str, limits: PlaceLimits, opened_max: u64) {
        let folders = Multiplied { levels: 10, ignore_lines, opened: std::cell::Cell::default() };
        let found = walk(&folders, "", &Budget::new(limits));
        assert_eq!(found, Err(PathError::TooMuch(Exceeded::Steps(limits.steps))));
        assert!(folders.opened.get() <= opened_max, "{} folders were opened", folders.opened.get());
    }

    #[test]
    fn multiplied_folders_reach_a_limit() {
        check_multiplied("", APPLICATION, 100_000);
        check_multiplied("", PlaceLimits { steps: 1_000, ..APPLICATION }, 100);
    }

    #[test]
    fn multiplied_patterns_reach_a_limit() {
        let patterns = "*a*b*c?d[0-9]*.yaml\n".repeat(100);
        let limits = PlaceLimits { steps: 100_000, ..APPLICATION };
        check_multiplied(&patterns, limits, 100);
        // Few patterns, and many paths.
        check_multiplied("*a*b*c?d[0-9]*.yaml\n", limits, 10_000);
    }

    #[test]
    fn files_are_counted() {
        let limits = PlaceLimits { files: 2, ..APPLICATION };
        let files = ["a.yaml", "b.yaml", "c.yaml", "d.txt"].map(|name| (name, ""));
        let found = |count| walk(&InMemory(files.into_iter().skip(count).collect()), "", &Budget::new(limits));
        assert_eq!(found(0), Err(PathError::TooMuch(Exceeded::Files(2))));
        assert_eq!(found(1).map(|found| found.files.len()), Ok(2));
    }

    #[test]
    fn default_ignores_of_flux_apply() {
        check(&[("a/.gitlab-ci.yml", ""), ("cloudbuild.yaml", ""), ("x.yaml", "")], "", Ok(&["x.yaml"]));
    }
}
