//! Tests that a run uses the results of earlier runs, and that its output does not change by this.

use std::fs;
use std::path::PathBuf;

use testkit::objects;

use crate::company::{Company, folder_text};

const DATABASE: &str = "DATABASE: mysql://west-2/a";

impl Company {
    /// The files with stored results.
    fn memos(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.path("cache/memos")).map(|files| files.map(|file| file.unwrap().path()));
        files.into_iter().flatten().collect()
    }

    /// The number of assignments that a command recomputed.
    #[track_caller]
    fn recomputed(&self, command: &str, expected: &str) {
        let ran = self.kalypso(command);
        assert!(ran.out.contains(&format!("{expected} assignments recomputed")), "{command}\n{}{}", ran.out, ran.err);
    }
}

#[test]
fn every_command_reports_recomputed_assignments() {
    let company = Company::new();
    company.recomputed("check", "2 of 2");
    for command in ["check", "render -e dev --digest", "plan -e dev", "publish -e dev --direct", "plan -e dev"] {
        company.recomputed(command, "0 of 2");
    }
    assert_eq!(company.memos().len(), 1);
}

#[test]
fn only_changed_assignments_are_recomputed() {
    let company = Company::new().published();
    company.change("control-plane@dev", "configs/west.yaml", &objects::config("west", "region: west-us", DATABASE));
    company.recomputed("plan -e dev", "1 of 2");
    company.recomputed("plan -e dev", "0 of 2");
    company.change("control-plane@dev", "configs/none.yaml", &objects::config("none", "region: nowhere", DATABASE));
    company.recomputed("plan -e dev", "0 of 2");
}

#[test]
fn structured_output_has_recomputed_counts() {
    let company = Company::new();
    let numbers = |command: &str, at: &str| {
        let json = company.kalypso(&format!("{command} -o json")).json();
        let at = json.pointer(at).unwrap();
        (at["recomputed"].as_u64().unwrap(), at["assignments"].as_u64().unwrap())
    };
    assert_eq!(numbers("check", "/summary"), (2, 2));
    assert_eq!(numbers("check", "/summary"), (0, 2));
    assert_eq!(numbers("render -e dev --digest", ""), (0, 2));
    assert_eq!(numbers("plan -e dev", "/stats"), (0, 2));
    assert_eq!(numbers("publish -e dev", ""), (0, 2));
}

#[test]
fn output_is_the_same_with_and_without_memos() {
    let company = Company::new();
    let render = |out: &str| {
        company.kalypso(&format!("render -e dev --out {out}")).ends(0);
        folder_text(&company.path(out)).replace(out, "")
    };
    let cold = render("cold");
    assert_eq!(render("warm"), cold);
    company.recomputed("check", "0 of 2");
    company.memos().iter().for_each(|memo| fs::remove_file(memo).unwrap());
    assert_eq!(render("again"), cold);
}

#[test]
fn a_plain_directory_has_a_memo_by_whatever_way_it_is_named() {
    let company = Company::new();
    company.write_plain("platform");
    company.recomputed("check --from platform -e dev", "2 of 2");
    company.recomputed("check --from ./platform/../platform -e dev", "0 of 2");
}

#[test]
fn damaged_memo_is_recreated() {
    let company = Company::new();
    company.recomputed("check", "2 of 2");
    for memo in company.memos() {
        let mut bytes = fs::read(&memo).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        fs::write(&memo, bytes).unwrap();
    }
    company.kalypso("check").ends(0).says(&["2 of 2 assignments recomputed"]);
    company.recomputed("check", "0 of 2");
}

#[test]
fn no_value_is_in_a_memo() {
    let company = Company::new();
    company.kalypso("check").ends(0);
    for memo in company.memos() {
        let text = String::from_utf8_lossy(&fs::read(memo).unwrap()).into_owned();
        assert!(!text.contains("mysql") && !text.contains("west") && !text.contains("shop"));
    }
}

#[test]
fn commands_work_without_a_writable_cache() {
    let company = Company::new();
    fs::create_dir_all(company.path("cache")).unwrap();
    fs::write(company.path("cache/memos"), "in the way").unwrap();
    for _ in 0..2 {
        company.kalypso("check").ends(0).says(&["2 of 2 assignments recomputed"]);
    }
}
