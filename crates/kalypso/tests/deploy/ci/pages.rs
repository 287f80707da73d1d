//! The page about the workflows: its variables, its configuration, and its commands.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use super::rules::{AZURE, GITHUB, GITLAB};
use crate::machine::Machine;
use crate::page;

const PAGE: &str = "docs/how-to/use-it-from-your-ci.md";

/// The names of variables in a text: capital letters, digits and `_`, after each of some texts.
fn names(text: &str, before: &[&str]) -> BTreeSet<String> {
    let is_of_name = |c: &char| c.is_ascii_uppercase() || c.is_ascii_digit() || *c == '_';
    let after = before.iter().flat_map(|before| text.split(before).skip(1));
    after.map(|text| text.chars().take_while(is_of_name).collect()).filter(|name: &String| !name.is_empty()).collect()
}

#[test]
fn the_page_lists_the_variables() {
    let text = |files: &[&str]| files.iter().map(|file| page::text(file)).collect::<String>();
    let listed = names(&page::text(PAGE), &["| `"]);
    let of_github = names(&text(GITHUB), &["${{ secrets.", "${{ vars."]);
    assert_eq!(of_github, listed);
    let without_dispatch = |name: &&String| !name.starts_with("CONTROL_PLANE");
    let common: BTreeSet<_> = listed.iter().filter(without_dispatch).cloned().collect();
    let mut of_azure = names(&text(AZURE), &[": $("]);
    // Predefined variables, such as `System.AccessToken`, leave one letter.
    of_azure.retain(|name| name.len() > 1);
    assert_eq!(of_azure, common);
    // GitLab passes all variables to the scripts. Those that the files use are on the page, or set by the files.
    let (page, pipelines) = (page::text(PAGE), text(GITLAB));
    for name in names(&pipelines, &["$KALYPSO_"]) {
        let is_set = ["=", ": "].iter().any(|sign| pipelines.contains(&format!(" KALYPSO_{name}{sign}")));
        assert!(is_set || page.contains(&format!("KALYPSO_{name}`")), "{name}");
    }
}

#[test]
fn the_configuration_on_the_page_is_read() {
    let configuration = page::blocks_of(PAGE, "toml").remove(0);
    let mut machine = Machine::new(&configuration);
    machine.set("KALYPSO_GIT_TOKEN", "token");
    let output = machine.run(&["check"]);
    // The repository does not exist on the machine of the test.
    assert_eq!(output.status.code(), Some(69), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_commands_on_the_page_put_the_files_where_they_are_used() {
    let folder = tempfile::tempdir().unwrap();
    symlink(page::repository("deploy"), folder.path().join("deploy")).unwrap();
    for name in ["control-plane", "platform-gitops"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    let script = page::blocks_of(PAGE, "sh").concat();
    let status = Command::new("sh").args(["-ec", &script]).current_dir(folder.path()).status().unwrap();
    assert!(status.success());
    for path in [
        "control-plane/.github/actions/kalypso/action.yml",
        "control-plane/.github/workflows/kalypso-check.yml",
        "platform-gitops/.github/workflows/kalypso-merged.yml",
        "control-plane/.gitlab/kalypso.yml",
        "control-plane/.gitlab/kalypso-gitops.yml",
        "control-plane/.azure-pipelines/kalypso-steps.yml",
    ] {
        assert!(folder.path().join(path).is_file(), "{path}");
    }
}
