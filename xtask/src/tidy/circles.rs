//! Modules of one folder do not use one another in a circle. Existing circles are in a list that may only shrink.
//!
//! The modules of a folder are its files and its subfolders, each with everything below. A module and its parent module may use one another.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::{Finding, line_of};
use crate::rust_source::{RustSource, is_test_file};
use crate::workspace::Workspace;

const LIST: &str = "xtask/tidy-exceptions.toml";

/// The number of uses that a message lists.
const SHOWN_MAX: usize = 8;

/// How many imports are followed to find the module of a name.
const IMPORTS_MAX: usize = 8;

/// The path of a module from the root of its crate.
type Module = Vec<String>;

#[derive(Deserialize)]
struct Circle {
    /// The folder that contains the modules.
    folder: String,
    modules: BTreeSet<String>,
}

#[derive(Default, Deserialize)]
struct List {
    #[serde(default)]
    circle: Vec<Circle>,
}

/// The uses among the modules of one folder, by user and used module. Each has its first file and line.
type Uses<'w> = BTreeMap<(String, String), (&'w str, usize)>;

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let text = workspace.text(LIST);
    let list = match toml::from_str::<List>(text) {
        Ok(list) => list.circle,
        Err(error) => return vec![Finding::new(LIST, 1, format!("circle law: {}", error.message()))],
    };
    let found: Vec<_> = workspace.packages.iter().flat_map(|package| circles(workspace, package.folder())).collect();
    let new = found.iter().filter(|(folder, modules, _)| {
        !list.iter().any(|listed| listed.folder == *folder && modules.is_subset(&listed.modules))
    });
    let new = new.map(|(folder, modules, uses)| Finding::new(folder, 1, message(modules, uses)));
    let still_exists = |listed: &&Circle| {
        found.iter().any(|(folder, modules, _)| listed.folder == *folder && *modules == listed.modules)
    };
    let gone = list.iter().filter(|listed| !still_exists(listed)).map(|listed| {
        let names = listed.modules.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        let message = format!("circle law: {names}: the circle is smaller now, or gone: shorten its entry");
        Finding::new(LIST, line_of(text, &format!("folder = \"{}\"", listed.folder)), message)
    });
    new.chain(gone).collect()
}

fn message(modules: &BTreeSet<String>, uses: &Uses<'_>) -> String {
    let names = modules.iter().map(|module| format!("`{module}`")).collect::<Vec<_>>().join(", ");
    let among = uses.iter().filter(|((from, to), _)| modules.contains(from) && modules.contains(to));
    let shown: Vec<_> = among.map(|((_, to), (path, line))| format!("{path}:{line} uses `{to}`")).collect();
    let more = shown.len().saturating_sub(SHOWN_MAX);
    let more = if more == 0 { String::new() } else { format!(", and {more} more") };
    let shown = shown.iter().take(SHOWN_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    format!("circle law: {names} use one another in a circle: {shown}{more}")
}

/// The circles of a crate: the folder, the modules that use one another, and all uses in the folder.
fn circles<'w>(workspace: &'w Workspace, package: &str) -> Vec<(String, BTreeSet<String>, Uses<'w>)> {
    let source = format!("{package}/src/");
    let files = workspace.rust.iter().filter(|(path, _)| path.starts_with(&source) && !is_test_file(path));
    let modules: BTreeMap<Module, (&str, &RustSource)> =
        files.map(|(path, file)| (module_of(&path[source.len()..]), (path.as_str(), file))).collect();
    let mut by_folder: BTreeMap<&[String], Uses<'w>> = BTreeMap::new();
    for (from, (path, file)) in &modules {
        for used in file.uses() {
            let Some(to) = resolved(&modules, from, &used.segments, IMPORTS_MAX) else { continue };
            let common = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
            if let (Some(one), Some(other)) = (from.get(common), to.get(common)) {
                let uses = by_folder.entry(&from[..common]).or_default();
                uses.entry((one.clone(), other.clone())).or_insert((path, used.line));
            }
        }
    }
    let circles = by_folder.into_iter().flat_map(|(folder, uses)| {
        let folder = [&[source.trim_end_matches('/').to_owned()], folder].concat().join("/");
        in_circles(&uses).into_iter().map(move |circle| (folder.clone(), circle, uses.clone()))
    });
    circles.collect()
}

/// The module of a file: `a/b.rs` and `a/b/mod.rs` are `a::b`, `lib.rs` and `main.rs` are the root.
fn module_of(file: &str) -> Module {
    let mut names: Vec<String> = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if names.last().is_some_and(|last| last == "mod") || names == ["lib"] || names == ["main"] {
        names.pop();
    }
    names
}

/// The module whose file declares the item of a path. Imports in other modules are followed. None if the path is not in this crate.
fn resolved(
    modules: &BTreeMap<Module, (&str, &RustSource)>,
    from: &Module,
    segments: &[String],
    imports_left: usize,
) -> Option<Module> {
    let mut at = from.clone();
    let mut rest = segments;
    while let Some((first, behind)) = rest.split_first() {
        match first.as_str() {
            "crate" => at.clear(),
            "super" => drop(at.pop()?),
            "self" => {}
            _ => break,
        }
        rest = behind;
    }
    while let Some((name, behind)) = rest.split_first() {
        let inner = [at.as_slice(), std::slice::from_ref(name)].concat();
        if !modules.contains_key(&inner) {
            break;
        }
        (at, rest) = (inner, behind);
    }
    let Some(name) = rest.first() else { return Some(at) };
    if at == *from && rest.len() == segments.len() {
        // The path is neither a module of this crate nor an item in one.
        return None;
    }
    let (_, file) = modules.get(&at)?;
    let import = file.uses().find(|used| used.name.as_ref() == Some(name));
    match import.filter(|_| imports_left > 0) {
        Some(import) => resolved(modules, &at, &import.segments, imports_left - 1),
        None => Some(at),
    }
}

/// The groups of modules that use one another, directly or through other modules.
fn in_circles(uses: &Uses<'_>) -> BTreeSet<BTreeSet<String>> {
    let reached = |from: &str| {
        let mut reached: BTreeSet<&str> = BTreeSet::new();
        let mut open = vec![from];
        while let Some(next) = open.pop() {
            let new = uses.keys().filter(|(from, to)| from == next && !reached.contains(to.as_str())).map(|(_, to)| to);
            let new: Vec<&str> = new.map(String::as_str).collect();
            reached.extend(&new);
            open.extend(new);
        }
        reached
    };
    let all: BTreeMap<&str, BTreeSet<&str>> = uses.keys().map(|(from, _)| (from.as_str(), reached(from))).collect();
    let circle = |(name, reached): (&&str, &BTreeSet<&str>)| -> Option<BTreeSet<String>> {
        let is_back = |other: &&&str| all.get(**other).is_some_and(|back| back.contains(name));
        let circle: BTreeSet<String> = reached.iter().filter(is_back).map(|name| (*name).to_owned()).collect();
        (circle.len() > 1).then_some(circle)
    };
    all.iter().filter_map(circle).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::check as check_law;

    const MANIFEST: (&str, &str) = ("a/Cargo.toml", "");

    /// The findings in a crate of these files, with this list of exceptions.
    fn check(files: &[(&str, &str)], list: &str) -> Vec<String> {
        let list = [("xtask/tidy-exceptions.toml", list)];
        check_law(super::check, &[&[MANIFEST], files, &list].concat())
    }

    const CIRCLE: [(&str, &str); 3] = [
        ("a/src/lib.rs", "mod b;\nmod c;\nmod d;"),
        ("a/src/b.rs", "use crate::c::C;"),
        ("a/src/c.rs", "fn f() -> crate::b::B {}"),
    ];

    #[test]
    fn modules_that_use_one_another_are_a_finding() {
        let found =
            "a/src:1: circle law: `b`, `c` use one another in a circle: a/src/b.rs:1 uses `c`, a/src/c.rs:1 uses `b`";
        assert_eq!(check(&CIRCLE, ""), [found]);
        assert_eq!(check(&[CIRCLE[0], CIRCLE[1], ("a/src/c.rs", "")], ""), Vec::<String>::new());
    }

    #[test]
    fn uses_of_parents_and_in_tests_are_allowed() {
        let files = [
            ("a/src/lib.rs", "mod b;\npub use self::b::B;"),
            ("a/src/b.rs", "mod c;\npub use c::C;\n#[cfg(test)]\nmod tests {\n    use crate::d::D;\n}\n"),
            ("a/src/b/c.rs", "use super::super::B;"),
            ("a/src/d.rs", "use crate::B;"),
        ];
        assert_eq!(check(&files, ""), Vec::<String>::new());
    }

    #[test]
    fn reexported_names_are_followed_to_their_module() {
        let files = [
            ("a/src/lib.rs", "mod b;\nuse b::c::C;"),
            ("a/src/b/mod.rs", "mod c;\nmod d;\nuse self::d::D;"),
            ("a/src/b/c.rs", "use super::{D as E};"),
            ("a/src/b/d.rs", "use crate::C;"),
        ];
        let found = "a/src/b:1: circle law: `c`, `d` use one another in a circle: a/src/b/c.rs:1 uses `d`, a/src/b/d.rs:1 uses `c`";
        assert_eq!(check(&files, ""), [found]);
    }

    #[test]
    fn the_list_may_only_shrink() {
        let entry = |modules: &str| format!("[[circle]]\nfolder = \"a/src\"\nmodules = [{modules}]\n");
        let smaller = "xtask/tidy-exceptions.toml:2: circle law:";
        let smaller = |names: &str| format!("{smaller} {names}: the circle is smaller now, or gone: shorten its entry");
        assert_eq!(check(&CIRCLE, &entry("\"b\", \"c\"")), Vec::<String>::new());
        assert_eq!(check(&CIRCLE, &entry("\"b\", \"c\", \"d\"")), [smaller("b, c, d")]);
        assert_eq!(check(&CIRCLE[..2], &entry("\"b\", \"c\"")), [smaller("b, c")]);
        assert_eq!(check(&CIRCLE, &entry("\"c\", \"d\"")).len(), 2);
    }
}
