//! Unfinished work is not committed: no notes to the developer, no ignored tests, no paths of one machine, no conflict markers of git.

use super::Finding;
use crate::workspace::Workspace;

/// The words are split, so that this file does not break its own law.
const NOTES: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX")];
const MACHINE: &str = concat!("/wo", "rk/");
/// What a line of a merge that was not finished begins with. In a case of the suite, such a line is input.
const CONFLICTS: &[&str] = &[concat!("<<<<", "<<< "), concat!(">>>>", ">>> ")];

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in &workspace.files {
        for (index, line) in text.lines().enumerate() {
            findings.extend(leftover(path, line).map(|message| Finding::new(path, index + 1, message)));
        }
    }
    for (path, source) in &workspace.rust {
        let ignored = source.find_anywhere(&["#", "[", "ignore"]);
        let message = "leftover law: no test is ignored: repair it or remove it";
        findings.extend(ignored.into_iter().map(|line| Finding::new(path, line, message)));
    }
    findings
}

fn leftover(path: &str, line: &str) -> Option<String> {
    let is_ours = [".rs", ".toml", ".sh", ".ci/run"].iter().any(|end| path.ends_with(end));
    let note = NOTES.iter().find(|note| is_ours && contains_word(line, note));
    if let Some(note) = note {
        return Some(format!("leftover law: `{note}`: do it now, or open an issue and remove the note"));
    }
    let is_conflict = !path.starts_with("suite/") && CONFLICTS.iter().any(|marker| line.starts_with(marker));
    if is_conflict {
        return Some("leftover law: a merge was not finished here: keep one of the sides".to_owned());
    }
    let mut found = line.match_indices(MACHINE).filter_map(|(at, _)| line.get(..at));
    let absolute = |before: &str| !before.ends_with(|last: char| last.is_alphanumeric() || "._-}$)".contains(last));
    found.any(absolute).then(|| format!("leftover law: a path of one machine (`{MACHINE}`): make it relative"))
}

fn contains_word(line: &str, word: &str) -> bool {
    let is_edge = |neighbour: Option<char>| neighbour.is_none_or(|neighbour| !neighbour.is_alphanumeric());
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (line.get(..at), line.get(at + word.len()..));
        is_edge(before.and_then(|text| text.chars().next_back())) && is_edge(after.and_then(|text| text.chars().next()))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::check as check_law;
    use super::{CONFLICTS, MACHINE, NOTES};

    fn check(path: &str, text: &str) -> Vec<String> {
        check_law(super::check, &[(path, text)])
    }

    #[test]
    fn finished_work_is_accepted() {
        let word_in_a_word = format!("// {}LIST\n", NOTES[0]);
        let part_of_a_path = format!("see https://a.example{MACHINE}x\n");
        for text in [word_in_a_word.as_str(), part_of_a_path.as_str(), "#[test]\nfn a() {}\n"] {
            assert_eq!(check("a.md", text), Vec::<String>::new());
        }
        assert_eq!(check("a.rs", &word_in_a_word), Vec::<String>::new());
    }

    #[test]
    fn notes_are_findings() {
        for note in NOTES {
            assert_eq!(check("a.rs", &format!("\n// {note}: later\n")).len(), 1, "{note}");
            assert_eq!(check("a.toml", &format!("# {note}\n")).len(), 1, "{note}");
        }
    }

    #[test]
    fn ignored_tests_are_findings() {
        for attribute in ["#[ignore]", "#[ignore = \"slow\"]"] {
            let text = format!("#[cfg(test)]\nmod tests {{\n    #[test]\n    {attribute}\n    fn a() {{}}\n}}\n");
            assert!(check("a.rs", &text)[0].starts_with("a.rs:4: leftover law: no test is ignored"));
        }
    }

    #[test]
    fn conflict_markers_are_findings() {
        for marker in CONFLICTS {
            let text = format!("a\n{marker}topic\n");
            assert!(check("a.md", &text)[0].starts_with("a.md:2: leftover law: a merge was not finished"));
            assert_eq!(check("suite/a.md", &text), Vec::<String>::new());
        }
    }

    #[test]
    fn paths_of_one_machine_are_findings() {
        assert!(
            check("a.md", &format!("cd {MACHINE}x\n"))[0].starts_with("a.md:1: leftover law: a path of one machine")
        );
    }
}
