//! Every Rust file begins with a `//!` comment that states its purpose.

use super::Finding;
use crate::workspace::Workspace;

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let without_purpose = workspace.files_of_type("rs").filter(|(_, text)| !has_purpose(text));
    without_purpose
        .map(|(path, _)| Finding::new(path, 1, "header law: begin the file with `//! <its one purpose>`"))
        .collect()
}

fn has_purpose(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.strip_prefix("//! ").is_some_and(|purpose| purpose.contains(char::is_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::super::tests::check as check_law;

    fn check(text: &str) -> usize {
        check_law(super::check, &[("a.rs", text)]).len()
    }

    #[test]
    fn purpose_line_is_accepted() {
        assert_eq!(check("//! Reads YAML.\n"), 0);
    }

    #[test]
    fn missing_purpose_line_is_a_finding() {
        for text in ["", "fn main() {}\n", "\n//! Late.\n", "//! .\n", "// Not a doc comment.\n"] {
            assert_eq!(check(text), 1, "{text:?}");
        }
    }
}
