//! Tests that the published sample of Microsoft's Kalypso renders to the same bytes as there.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "all of it is a test")]

#[path = "../program/company.rs"]
#[allow(dead_code, reason = "the tests of the program use the rest")]
mod company;

mod application;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::{Arguments, Trial};
use testkit::git_server::GitServer;

use crate::company::{Company, Ran, folder_text, git};

const SAMPLE_HOST: &str = "https://github.com/microsoft/";
const TRACKING: &str = ".github/tracking/Promoted_Commit_Id";
const TOKEN: &str = "a-token-of-the-sample";
/// The environments, and the folders of their expected files.
const ENVIRONMENTS: [(&str, &str); 2] = [("dev", "dev-tutorial"), ("stage", "stage-uat-westdb")];

/// A test with the sample's repositories and the folder of the expected files.
type Test = fn(&Company, &Path);

fn main() {
    let folder = std::env::var_os("KALYPSO_CONFORMANCE").map(PathBuf::from);
    let tests: [(&str, Test); 3] = [
        ("it_is_rendered_from_local_repositories", it_is_rendered_from_local_repositories),
        ("it_is_rendered_over_http_with_a_token", it_is_rendered_over_http_with_a_token),
        ("it_is_published_straight_to_the_branch", it_is_published_straight_to_the_branch),
    ];
    let trial = |folder: &Path, name: &str, test: Test| {
        let reference = folder.join("reference");
        Trial::test(name, move || {
            test(&sample(&reference), &reference.join("golden"));
            Ok(())
        })
    };
    let make = |folder: PathBuf| {
        let sample = folder.join("reference/sample");
        let application = Trial::test("its_application_is_deployed_as_the_scripts_do", move || {
            application::it_is_deployed_as_the_scripts_do(&sample);
            Ok(())
        });
        tests.iter().map(|(name, test)| trial(&folder, name, *test)).chain([application]).collect()
    };
    libtest_mimic::run(&Arguments::from_args(), testkit::corpus::trials(folder, make)).exit();
}

/// The sample's repositories with the files of its tutorial.
fn sample(reference: &Path) -> Company {
    let (company, sample) = (Company::empty(), reference.join("sample"));
    let files_of = |folders: &[&str]| {
        let mut files = BTreeMap::new();
        for folder in folders {
            collect(&sample.join(folder), &sample.join(folder), &mut files);
        }
        files
    };
    let commit = |name: &str, branch: &str, files: &BTreeMap<String, String>| {
        let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.clone())).collect();
        company.commit(name, branch, &files)
    };
    let main = commit("kalypso-control-plane", "main", &files_of(&["control-plane/main", "tutorial/main"]));
    for (environment, _) in ENVIRONMENTS {
        let folders = [format!("control-plane/{environment}"), format!("tutorial/{environment}")];
        let mut files = files_of(&[&folders[0], &folders[1]]);
        let base = files.get_mut("base-repo.yaml").unwrap();
        let pinned = base.lines().map(|line| match line.split_once("commit: ") {
            Some((indent, _)) => format!("{indent}commit: {main}\n"),
            None => format!("{line}\n"),
        });
        *base = pinned.collect();
        commit("kalypso-control-plane", environment, &files);
        company.commit("kalypso-gitops", environment, &[("README.md", "Begin\n".to_owned())]);
    }
    commit("kalypso-app-src", "main", &files_of(&["app-src"]));
    commit("kalypso-svc-src", "main", &files_of(&["svc-src"]));
    company.configure_sample(&format!("{}/", company.path("served").display()), "");
    company
}

/// The files below a folder, by path.
fn files_below(folder: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    collect(folder, folder, &mut files);
    files
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            files.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
}

impl Company {
    fn configure_sample(&self, to: &str, more: &str) {
        let text = format!(
            "[control-plane]\nrepo = \"{SAMPLE_HOST}kalypso-control-plane\"\n[git]\ncache = \"cache\"\nrewrite = [{{ from = \"{SAMPLE_HOST}\", to = \"{to}\" }}]\n{more}"
        );
        fs::write(self.path("kalypso.toml"), text).unwrap();
    }
}

/// Reads the files of a folder and of the expected folder, without Kalypso's own files. It also checks the promoted commit.
fn check(company: &Company, found: &Path, golden: &Path) {
    let head = company.head("kalypso-control-plane", "main").unwrap();
    assert_eq!(fs::read_to_string(found.join(TRACKING)).unwrap().trim(), head);
    for name in [TRACKING, ".kalypso/render.json", ".kalypso/owner", "README.md"] {
        drop(fs::remove_file(found.join(name)));
    }
    let expected = folder_text(golden);
    let tracking = expected.find(&format!("--- {TRACKING}")).unwrap();
    let end = expected[tracking + 4..].find("\n--- ").map_or(expected.len(), |end| tracking + 4 + end + 1);
    let expected = format!("{}{}", &expected[..tracking], &expected[end..]);
    assert_eq!(folder_text(found), expected);
}

fn it_is_rendered_from_local_repositories(company: &Company, golden: &Path) {
    for (environment, name) in ENVIRONMENTS {
        company.kalypso(&format!("render -e {environment} --out {environment}")).ends(0);
        check(company, &company.path(environment), &golden.join(name));
    }
}

fn it_is_rendered_over_http_with_a_token(company: &Company, golden: &Path) {
    let server = GitServer::start(&company.path("served")).unwrap();
    let url = server.url();
    company.configure_sample(&url, &format!("credentials = [{{ prefix = \"{url}\", token-env = \"SAMPLE_TOKEN\" }}]"));
    let render = |token: &str| {
        let mut command = company.command();
        command.args(["render", "-e", "dev", "--out", "dev"]).env("SAMPLE_TOKEN", token);
        Ran::new(&mut command)
    };
    render(TOKEN).ends(0);
    let sent = server.requests().into_iter().find_map(|request| request.authorization).unwrap();
    server.require(&sent);
    render(TOKEN).ends(0);
    check(company, &company.path("dev"), &golden.join("dev-tutorial"));
    let refused = render("another").ends(69).says(&["[K0601]", "control-plane"]);
    assert!(!format!("{}{}", refused.out, refused.err).contains(TOKEN));
}

fn it_is_published_straight_to_the_branch(company: &Company, golden: &Path) {
    for (environment, name) in ENVIRONMENTS {
        company.kalypso(&format!("publish -e {environment} --direct")).ends(0);
        let clone = company.path(environment);
        let repository = company.repository("kalypso-gitops");
        git(&company.path(""), &["clone", "-q", "-b", environment, repository.to_str().unwrap(), environment]);
        fs::remove_dir_all(clone.join(".git")).unwrap();
        check(company, &clone, &golden.join(name));
        company.kalypso(&format!("plan -e {environment}")).ends(0).says(&["nothing changes"]);
    }
}
