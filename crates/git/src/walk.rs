//! Which files below a path are read: the rules of Flux, for commits and for plain directories.

use std::rc::Rc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::limits::{FILES_MAX, FOLDER_DEPTH_MAX};
use crate::repositories::{Item, ItemKind};

/// The folder of a control plane's main branch that holds its `Environment` objects.
pub const ENVIRONMENTS: &str = ".environments";

/// Names the files that are not read, with the syntax of `.gitignore`.
const IGNORE_FILE: &str = ".sourceignore";

/// What Flux leaves out by itself, as far as it is YAML.
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

/// Why a path can't be read.
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
    #[error("there are more than {FILES_MAX} YAML files below it")]
    TooManyFiles,
    #[error("folders are more than {FOLDER_DEPTH_MAX} deep below it")]
    TooDeep,
}

/// Something that has folders.
pub(crate) trait Folders {
    /// Why something can't be read.
    type Error: From<PathError>;
    /// What is in a folder; none if there is no such folder.
    fn folder(&self, path: &str) -> Result<Option<Vec<Item>>, Self::Error>;
    /// The lines of an ignore file; as far as it is too large, it does not count.
    fn ignore_lines(&self, path: &str, item: &Item) -> Result<String, Self::Error>;
}

/// A file to be read, or a link or submodule that looks like one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Found {
    pub(crate) path: String,
    pub(crate) item: Item,
}

/// Takes `./` and slashes that say nothing out of a path. The empty path is the root.
pub(crate) fn normal(path: &str) -> Result<String, PathError> {
    if path.contains('\\') || path.chars().any(char::is_control) {
        return Err(PathError::Character);
    }
    let parts: Vec<_> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.contains(&"..") { Err(PathError::Upwards) } else { Ok(parts.join("/")) }
}

/// The YAML files at and below a path, sorted. A path that leads to a file is that file alone, whatever its name.
///
/// # Errors
/// If there is no such path, or too much below it.
pub(crate) fn walk<F: Folders>(folders: &F, path: &str) -> Result<Vec<Found>, F::Error> {
    let path = normal(path)?;
    let mut rules = Rules::root();
    let mut above = String::new();
    // Also the rules above count; but what is named itself is read even if they leave it out.
    for part in path.split('/').filter(|part| !part.is_empty()) {
        let Some(items) = folders.folder(&above)? else { return Err(PathError::Missing.into()) };
        rules = rules.with(folders, &above, &items)?;
        let item = items.into_iter().find(|item| item.name == part).ok_or(PathError::Missing)?;
        above = join(&above, part);
        match item.kind {
            ItemKind::Folder => {}
            ItemKind::File if above == path => return Ok(vec![Found { path, item }]),
            ItemKind::File => return Err(PathError::Missing.into()),
            ItemKind::Link | ItemKind::Submodule => return Err(PathError::Link.into()),
        }
    }
    let mut found = below(folders, path, rules)?;
    found.sort();
    Ok(found)
}

fn below<F: Folders>(folders: &F, path: String, rules: Rules) -> Result<Vec<Found>, F::Error> {
    let mut found = Vec::new();
    let mut open = vec![(path, rules, 0)];
    while let Some((folder, rules, depth)) = open.pop() {
        let Some(items) = folders.folder(&folder)? else { return Err(PathError::Missing.into()) };
        if depth > FOLDER_DEPTH_MAX {
            return Err(PathError::TooDeep.into());
        }
        let rules = rules.with(folders, &folder, &items)?;
        for item in items {
            let path = join(&folder, &item.name);
            if item.kind == ItemKind::Folder {
                if item.name == ENVIRONMENTS || !(item.name.starts_with('.') || rules.leave_out(&path, true)) {
                    open.push((path, rules.clone(), depth + 1));
                }
            } else if model::read::is_read(&item.name) && !rules.leave_out(&path, false) {
                found.push(Found { path: shown(path), item });
            }
        }
        if found.len() > FILES_MAX {
            return Err(PathError::TooManyFiles.into());
        }
    }
    Ok(found)
}

/// A path as it may be shown: git allows control characters in names, a terminal obeys them.
fn shown(path: String) -> String {
    if path.chars().any(char::is_control) { path.replace(char::is_control, "\u{fffd}") } else { path }
}

/// Paths below a folder, with slashes.
pub(crate) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// The ignore files of a folder and those above it, the nearest first.
#[derive(Clone)]
struct Rules(Rc<Rule>);

struct Rule {
    patterns: Gitignore,
    /// How much of a path leads to the folder of the patterns.
    prefix: usize,
    above: Option<Rules>,
}

impl Rules {
    fn root() -> Self {
        Self(Rc::new(Rule { patterns: patterns(IGNORED_BY_FLUX.iter().copied()), prefix: 0, above: None }))
    }

    /// With the ignore file of a folder, if it has one.
    fn with<F: Folders>(self, folders: &F, folder: &str, items: &[Item]) -> Result<Self, F::Error> {
        let file = items.iter().find(|item| item.name == IGNORE_FILE && item.kind == ItemKind::File);
        let Some(file) = file else { return Ok(self) };
        let lines = folders.ignore_lines(&join(folder, IGNORE_FILE), file)?;
        let prefix = if folder.is_empty() { 0 } else { folder.len() + 1 };
        Ok(Self(Rc::new(Rule { patterns: patterns(lines.lines()), prefix, above: Some(self) })))
    }

    fn leave_out(&self, path: &str, is_folder: bool) -> bool {
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

/// Lines that are no patterns say nothing, as in git.
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

    use model::git_id::GitId;

    use super::*;

    struct Paper(BTreeMap<&'static str, &'static str>);

    impl Folders for Paper {
        type Error = PathError;

        fn folder(&self, path: &str) -> Result<Option<Vec<Item>>, PathError> {
            let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
            let mut items = BTreeMap::new();
            for (file, text) in &self.0 {
                let Some(rest) = file.strip_prefix(&prefix) else { continue };
                let (name, kind) = match rest.split_once('/') {
                    Some((name, _)) => (name, ItemKind::Folder),
                    None => (rest, if *text == "->" { ItemKind::Link } else { ItemKind::File }),
                };
                items.insert(name, Item { name: name.to_owned(), kind, id: GitId::of_blob(b"") });
            }
            Ok((!items.is_empty()).then(|| items.into_values().collect()))
        }

        fn ignore_lines(&self, path: &str, _: &Item) -> Result<String, PathError> {
            Ok(self.0[path].to_owned())
        }
    }

    fn check(files: &[(&'static str, &'static str)], path: &str, expected: Result<&[&str], PathError>) {
        let found = walk(&Paper(files.iter().copied().collect()), path);
        let found = found.map(|found| found.into_iter().map(|found| found.path).collect::<Vec<_>>());
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
    fn names_say_nothing_to_a_terminal() {
        check(&[("a\u{1b}[2J/b\n.yaml", "")], "", Ok(&["a\u{fffd}[2J/b\u{fffd}.yaml"]));
    }

    #[test]
    fn ignore_files_count_for_what_is_below_them() {
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

    #[test]
    fn what_flux_leaves_out_is_left_out() {
        check(&[("a/.gitlab-ci.yml", ""), ("cloudbuild.yaml", ""), ("x.yaml", "")], "", Ok(&["x.yaml"]));
    }
}
