//! Every relative link in a Markdown file leads to a file or folder of the workspace.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag};

use super::Finding;
use crate::workspace::Workspace;

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    workspace.files_of_type("md").flat_map(|(path, text)| check_document(workspace, path, text)).collect()
}

fn check_document(workspace: &Workspace, path: &str, text: &str) -> Vec<Finding> {
    let relative = links(text).filter(|(target, _)| !target.contains(':'));
    let broken = relative.filter(|(target, _)| !resolve(path, target).is_some_and(|place| exists(workspace, &place)));
    let finding = |(target, range): (String, Range<usize>)| {
        let line = 1 + text.get(..range.start).unwrap_or_default().matches('\n').count();
        Finding::new(path, line, format!("link law: `{target}` does not exist: correct the link"))
    };
    broken.map(finding).collect()
}

fn links(text: &str) -> impl Iterator<Item = (String, Range<usize>)> {
    Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter().filter_map(|(event, range)| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => Some((dest_url.into_string(), range)),
        _ => None,
    })
}

/// The path of a relative link's target, from the root. None if the target is outside of the workspace.
fn resolve(document: &str, target: &str) -> Option<String> {
    let target = target.split(['#', '?']).next().unwrap_or_default();
    let (start, target) = match target.strip_prefix('/') {
        _ if target.is_empty() => (document, ""),
        Some(from_root) => ("", from_root),
        None => (document.rsplit_once('/').map_or("", |(folder, _)| folder), target),
    };
    let mut place: Vec<&str> = start.split('/').filter(|name| !name.is_empty()).collect();
    for name in target.split('/') {
        match name {
            ".." => drop(place.pop()?),
            "" | "." => {}
            name => place.push(name),
        }
    }
    Some(place.join("/"))
}

fn exists(workspace: &Workspace, place: &str) -> bool {
    let folder = format!("{place}/");
    place.is_empty() || workspace.files.keys().any(|path| path == place || path.starts_with(&folder))
}

#[cfg(test)]
mod tests {
    use super::super::tests::check as check_law;

    fn check(document: &str) -> Vec<String> {
        check_law(super::check, &[("docs/a.md", document), ("docs/b/c.md", ""), ("README.md", "")])
    }

    #[test]
    fn links_to_files_folders_and_elsewhere_are_good() {
        let good =
            "[c](b/c.md#top) [b](./b/) [up](../README.md) [root](/README.md) [out](https://a.example) [here](#x)\n";
        assert_eq!(check(good), Vec::<String>::new());
        assert_eq!(check("`[code](gone.md)`\n\n```\n[code](gone.md)\n```\n"), Vec::<String>::new());
    }

    #[test]
    fn broken_links_are_findings() {
        assert_eq!(
            check("# A\n\nSee\n[c](c.md).\n"),
            ["docs/a.md:4: link law: `c.md` does not exist: correct the link"]
        );
        assert_eq!(check("[out](../../README.md)").len(), 1);
        assert_eq!(check("[by name][c]\n\n[c]: c.md\n").len(), 1);
    }
}
