//! A small company: its repositories, and the Kalypso program.

use std::fmt::Write as _;
use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value as Json;
use tempfile::TempDir;
use testkit::company::{BareRepositories, CompanyFiles};
pub(crate) use testkit::company::{HOST, git};
use testkit::objects;

/// The output and the exit status of a run.
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Runs a command.
    pub(crate) fn new(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let ran =
            Self { status: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) };
        assert!(!ran.err.contains("panicked") && !ran.err.contains("mistake in Kalypso"), "{}", ran.err);
        ran
    }

    /// Asserts the exit status.
    #[track_caller]
    pub(crate) fn ends(self, status: i32) -> Self {
        assert_eq!(self.status, status, "\n--- stdout\n{}\n--- stderr\n{}", self.out, self.err);
        self
    }

    /// Asserts that the output contains these texts, on either stream.
    #[track_caller]
    pub(crate) fn says(self, words: &[&str]) -> Self {
        for word in words {
            let said = self.out.contains(word) || self.err.contains(word);
            assert!(said, "`{word}` is not in\n--- stdout\n{}\n--- stderr\n{}", self.out, self.err);
        }
        self
    }

    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}{}", self.out, self.err))
    }
}

/// The program with an environment that contains only Git.
pub(crate) fn kalypso(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kalypso"));
    command.current_dir(folder).env_clear().stdin(Stdio::null());
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", folder).env("KALYPSO_CACHE_DIR", folder.join("cache")).env("KALYPSO_PROGRESS", "never");
    command
}

/// Repositories in a folder, with a `kalypso.toml` beside them.
pub(crate) struct Company {
    folder: TempDir,
    repositories: BareRepositories,
}

impl Deref for Company {
    type Target = BareRepositories;

    fn deref(&self) -> &BareRepositories {
        &self.repositories
    }
}

impl Company {
    /// A folder with only a configuration file.
    pub(crate) fn empty() -> Self {
        Self::empty_at(HOST)
    }

    /// A folder with only a configuration file, for URLs with this base. It ends with a slash.
    pub(crate) fn empty_at(url: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let company = Self { repositories: BareRepositories::new(folder.path().join("served"), url), folder };
        company.configure(&format!("{}/", company.path("served").display()), "");
        company
    }

    /// A control plane with environment `dev`, two cluster types, and the workload `shop` with a target on both: 2 assignments.
    pub(crate) fn new() -> Self {
        Self::at(HOST)
    }

    /// The same with another base of its URLs. It ends with a slash.
    pub(crate) fn at(url: &str) -> Self {
        Self::empty_at(url).filled(&with_target_in_dev(&["dev"]))
    }

    /// The same with these environments. `shop` has a target only in `dev`.
    pub(crate) fn with_environments(environments: &[&str]) -> Self {
        Self::empty().filled(&with_target_in_dev(environments))
    }

    /// Writes the repositories of a company.
    pub(crate) fn filled(self, files: &CompanyFiles) -> Self {
        files.write(&self.repositories);
        self
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    /// Writes `kalypso.toml`. The repositories are at `to`.
    pub(crate) fn configure(&self, to: &str, more: &str) {
        let url = &self.url;
        let text = format!(
            "[control-plane]\nrepo = \"{url}control-plane\"\n\n[git]\ncache = \"cache\"\nrewrite = [{{ from = \"{url}\", to = \"{to}\" }}]\n{more}"
        );
        fs::write(self.path("kalypso.toml"), text).unwrap();
    }

    /// Writes all files of environment `dev` into a plain folder.
    pub(crate) fn write_plain(&self, folder: &str) -> PathBuf {
        let folder = self.path(folder);
        let more = objects::templates().into_iter().chain([("shop.yaml", objects::workload("shop"))]);
        let files = dev().into_iter().chain(more.map(|(path, text)| (path.to_owned(), text)));
        for (path, text) in files.filter(|(path, _)| !path.contains("base")) {
            fs::create_dir_all(folder.join(&path).parent().unwrap()).unwrap();
            fs::write(folder.join(path), text).unwrap();
        }
        folder
    }

    /// Runs the program in the company's folder.
    pub(crate) fn kalypso(&self, arguments: &str) -> Ran {
        Ran::new(self.command().args(arguments.split_whitespace()))
    }

    pub(crate) fn command(&self) -> Command {
        kalypso(self.folder.path())
    }

    /// The confirmation that a plan requires before it removes so many files.
    pub(crate) fn word(&self) -> String {
        let plan = self.kalypso("plan -e dev -o json").json();
        plan["plans"][0]["confirmation"]["word"].as_str().unwrap().to_owned()
    }

    /// Publishes directly to the GitOps branch, which must succeed.
    pub(crate) fn published(self) -> Self {
        self.kalypso("publish -e dev --direct").ends(0);
        self
    }
}

fn with_target_in_dev(environments: &[&str]) -> CompanyFiles {
    let mut files = CompanyFiles::with_applications(environments, &["shop"]);
    files.applications.insert("shop".to_owned(), [("shop.yaml".to_owned(), objects::workload("shop"))].into());
    files
}

/// The files of branch `dev` of the control plane.
pub(crate) fn dev() -> Vec<(String, String)> {
    with_target_in_dev(&["dev"]).environments.remove("dev").unwrap().into_iter().collect()
}

/// All files below a folder. Each text follows after a line with its path.
pub(crate) fn folder_text(folder: &Path) -> String {
    let mut paths = vec![folder.to_owned()];
    let mut files = Vec::new();
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            paths.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            files.push(path);
        }
    }
    files.sort();
    let mut text = String::new();
    for file in files {
        let bytes = fs::read(&file).unwrap();
        write!(text, "--- {}\n{}\n", file.strip_prefix(folder).unwrap().display(), String::from_utf8_lossy(&bytes))
            .unwrap();
    }
    text
}
