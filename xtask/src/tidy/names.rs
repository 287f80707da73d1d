//! Public types of different crates have different names.

use std::collections::BTreeMap;

use super::Finding;
use crate::rust_source::is_test_file;
use crate::workspace::Workspace;

/// Names that several crates use for what the field calls so.
const SHARED: &[&str] = &[
    // The object in git, and what is known of it.
    "Environment",
    // A name for a commit in git, and what a promotion moves.
    "Revision",
    // A part of a text that other texts share: written by templates, and read as YAML. Neither crate uses the other.
    "SharedPart",
    // A template of Go, and the object that holds some.
    "Template",
];

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut types = BTreeMap::<&str, Vec<(&str, usize)>>::new();
    for (path, source) in workspace.rust.iter().filter(|(path, _)| is_of_crate(path)) {
        for (name, line) in source.public_types().filter(|(name, _)| !SHARED.contains(name)) {
            types.entry(name).or_default().push((path, line));
        }
    }
    let findings = types.into_iter().flat_map(|(name, places)| {
        let (first, others) = places.split_first().map_or(("", &[][..]), |((path, _), others)| (*path, others));
        let elsewhere: Vec<_> = others.iter().filter(|(path, _)| crate_of(path) != crate_of(first)).copied().collect();
        elsewhere.into_iter().map(move |(path, line)| {
            let message = format!("name law: `{name}` is also a public type in {first}: say in the name what differs");
            Finding::new(path, line, message)
        })
    });
    findings.collect()
}

fn is_of_crate(path: &str) -> bool {
    crate_of(path).is_some() && path.contains("/src/") && !is_test_file(path)
}

/// The folder of a crate.
fn crate_of(path: &str) -> Option<&str> {
    path.strip_prefix("crates/")?.split('/').next()
}

#[cfg(test)]
mod tests {
    use super::super::tests::check as check_law;

    #[test]
    fn types_of_two_crates_have_two_names() {
        let a = "//! A.\npub struct Report;\npub(crate) struct Inner;\n";
        let b = "//! B.\n\npub enum Report {}\nstruct Inner;\n#[cfg(test)]\nmod tests {\n    pub struct Inner;\n}\n";
        let found = check_law(super::check, &[("crates/a/src/lib.rs", a), ("crates/b/src/lib.rs", b)]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("crates/b/src/lib.rs:3: name law: `Report` is also a public type in crates/a/"));
    }

    #[test]
    fn modules_of_one_crate_and_its_tests_may_share_a_name() {
        let text = "//! A.\npub struct Report;\n";
        for other in ["crates/a/src/b.rs", "crates/b/tests/c.rs", "crates/b/src/tests.rs", "bench/src/main.rs"] {
            let found = check_law(super::check, &[("crates/a/src/lib.rs", text), (other, text)]);
            assert_eq!(found, Vec::<String>::new());
        }
    }
}
