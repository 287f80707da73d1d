//! The owner file. It names the environment and control plane whose output is in a branch.

use engine::layout::own_files::OWNER_FILE;
use engine::output::foreign_file;
use model::diagnostic::{Code, Diagnostic};
use model::tree::{Child, Entry, Mode, OpenError, Sealed};

use crate::output::planned::Planned;
use crate::sources::loaded::Loaded;

/// Adds the owner file to the output.
///
/// # Errors
/// If the folder of the file can't be opened.
pub(crate) fn add(loaded: &Loaded, planned: &mut Planned) -> Result<(), OpenError> {
    let owner = planned.target.folder.join(OWNER_FILE);
    let child = Child::File(Entry::file(loaded.owner_text().into_bytes()));
    let mut tree = planned.output.tree.clone();
    tree.put(&owner, child, &|sealed: &Sealed| planned.open(sealed))?;
    planned.output.tree = tree;
    Ok(())
}

/// The diagnostic if the owner file of the branch names another environment or control plane, or if Kalypso did not write it.
///
/// # Errors
/// If the branch can't be read.
pub(crate) fn refusal(loaded: &Loaded, planned: &Planned) -> Result<Option<Diagnostic>, OpenError> {
    let branch = &planned.target.branch;
    let owner = planned.target.folder.join(OWNER_FILE);
    let Some(entry) = branch.tree.file(&owner, &|sealed| branch.open(sealed))? else { return Ok(None) };
    let expected = loaded.owner_text();
    if !matches!(entry.mode, Mode::File | Mode::Executable) || engine::layout::is_text(&entry.blob, &expected) {
        return Ok(None);
    }
    let text = branch.content(entry.blob.id()).and_then(|bytes| String::from_utf8(bytes.to_vec()).ok());
    let Some(other) = text.as_deref().and_then(owner_line) else {
        return Ok(Some(foreign_file(&owner, "it does not name the owner of the branch in Kalypso's format")));
    };
    Ok(Some(
        Diagnostic::error(Code::OwnedByAnother, format!("branch {} belongs to another control plane", branch.name))
            .note(format!("{owner} says: {}", model::credential::without(&other)))
            .note(format!("this is: {}", owner_line(&expected).unwrap_or_default()))
            .help(
                "give each environment a branch or path of its own; remove the file if the other environment does not exist any more",
            ),
    ))
}

/// The content of an owner file in one line. None if Kalypso did not write it.
fn owner_line(text: &str) -> Option<String> {
    const CHARS_MAX: usize = 4_000;
    let mut lines = text.lines();
    let environment = lines.next()?.strip_prefix("environment: ")?;
    let control_plane = lines.next()?.strip_prefix("control-plane:")?.trim();
    let is_complete = lines.next().is_none() && text.chars().count() <= CHARS_MAX && !text.contains(is_unprintable);
    is_complete.then(|| format!("environment: {environment}, control-plane: {control_plane}"))
}

fn is_unprintable(c: char) -> bool {
    c.is_control() && c != '\n'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_valid_owner_files_name_an_owner() {
        let check = |text: &str, expected: Option<&str>| assert_eq!(owner_line(text).as_deref(), expected, "{text:?}");
        check("environment: prod\ncontrol-plane: r\n", Some("environment: prod, control-plane: r"));
        check("environment: prod\ncontrol-plane:\n", Some("environment: prod, control-plane: "));
        check("environment: prod\n", None);
        check("environment: prod\ncontrol-plane: r\nmore\n", None);
        check("environment: pr\u{1b}od\ncontrol-plane: r\n", None);
        check(&format!("environment: prod\ncontrol-plane: {}\n", "r".repeat(4_000)), None);
    }
}
