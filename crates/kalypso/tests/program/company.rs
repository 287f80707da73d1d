//! A small company: its repositories, created by the Git program, and the Kalypso program.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value as Json;
use tempfile::TempDir;
use testkit::objects;
pub(crate) use testkit::objects::HOST;

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

/// Runs Git, which must succeed.
pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").current_dir(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A file of a commit.
#[derive(Clone, Copy)]
pub(crate) struct CommittedFile<'f> {
    path: &'f str,
    /// The mode, as git writes it.
    mode: &'static str,
    content: &'f [u8],
}

impl<'f> CommittedFile<'f> {
    pub(crate) fn regular(path: &'f str, content: &'f [u8]) -> Self {
        Self { path, mode: "100644", content }
    }

    pub(crate) fn link(path: &'f str, target: &'f str) -> Self {
        Self { path, mode: "120000", content: target.as_bytes() }
    }
}

/// Repositories in a folder, with a `kalypso.toml` beside them.
pub(crate) struct Company {
    folder: TempDir,
    /// The base of its URLs. Files that are committed name it where their text contains [`HOST`].
    pub(crate) url: String,
}

impl Company {
    /// A folder with only a configuration file.
    pub(crate) fn empty() -> Self {
        Self::empty_at(HOST)
    }

    fn empty_at(url: &str) -> Self {
        let company = Self { folder: TempDir::new().unwrap(), url: url.to_owned() };
        fs::create_dir(company.path("served")).unwrap();
        company.configure(&format!("{}/", company.path("served").display()), "");
        company
    }

    /// A control plane with environment `dev`, two cluster types, and the workload `shop` with a target on both: 2 assignments.
    pub(crate) fn new() -> Self {
        Self::at(HOST)
    }

    /// The same with another base of its URLs. It ends with a slash.
    pub(crate) fn at(url: &str) -> Self {
        let company = Self::empty_at(url);
        let mut main = vec![
            (".environments/dev.yaml", objects::environment("dev")),
            ("workloads/shop.yaml", objects::registration("shop", &format!("{HOST}shop"))),
        ];
        main.extend(objects::templates());
        company.commit("control-plane", "main", &main);
        company.commit("control-plane", "dev", &dev());
        company.commit("shop", "main", &[("shop.yaml", objects::workload("shop"))]);
        company.commit("gitops", "dev", &[("README.md", "What clusters of dev run.\n".to_owned())]);
        company
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
        let files = dev().into_iter().chain(objects::templates()).chain([("shop.yaml", objects::workload("shop"))]);
        for (path, text) in files.filter(|(path, _)| !path.contains("base")) {
            fs::create_dir_all(folder.join(path).parent().unwrap()).unwrap();
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

    /// The folder of a repository. It is created if it does not exist.
    pub(crate) fn repository(&self, name: &str) -> PathBuf {
        let path = self.path("served").join(format!("{name}.git"));
        if !path.exists() {
            git(self.folder.path(), &["init", "--quiet", "--bare", "--initial-branch=main", path.to_str().unwrap()]);
        }
        path
    }

    /// Makes a commit with exactly these files on a branch. Returns its id.
    pub(crate) fn commit(&self, name: &str, branch: &str, files: &[(&str, String)]) -> String {
        let files: Vec<_> = files.iter().map(|(path, text)| CommittedFile::regular(path, text.as_bytes())).collect();
        self.import(&format!("{name}@{branch}"), "deleteall\n", &files)
    }

    /// Makes a commit that changes one file of a branch, `REPOSITORY@BRANCH`. Returns its id.
    pub(crate) fn change(&self, at: &str, path: &str, text: &str) -> String {
        self.change_file(at, CommittedFile::regular(path, text.as_bytes()))
    }

    /// The same with any bytes, or with a link.
    pub(crate) fn change_file(&self, at: &str, file: CommittedFile<'_>) -> String {
        self.import(at, "", &[file])
    }

    /// Makes a commit that removes a file or folder of a branch.
    pub(crate) fn remove(&self, name: &str, branch: &str, path: &str) -> String {
        self.import(&format!("{name}@{branch}"), &format!("D {path}\n"), &[])
    }

    fn import(&self, at: &str, first: &str, files: &[CommittedFile<'_>]) -> String {
        let (name, branch) = at.split_once('@').unwrap();
        let repository = self.repository(name);
        let from = self.head(name, branch).map_or_else(String::new, |head| format!("from {head}\n"));
        let message = "A change\n";
        let mut stream = format!(
            "commit refs/heads/{branch}\ncommitter Ann <ann@example.com> 1700000000 +0000\ndata {}\n{message}{from}{first}",
            message.len()
        )
        .into_bytes();
        for CommittedFile { path, mode, content } in files {
            let bytes = self.with_own_url(content);
            write!(stream, "M {mode} inline \"{}\"\ndata {}\n", path.replace('"', "\\\""), bytes.len()).unwrap();
            stream.extend_from_slice(&bytes);
            stream.push(b'\n');
        }
        let mut child = Command::new("git")
            .current_dir(&repository)
            .args(["fast-import", "--quiet", "--force"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&stream).unwrap();
        assert!(child.wait().unwrap().success());
        self.head(name, branch).unwrap()
    }

    /// A file with the company's URL instead of [`HOST`].
    fn with_own_url<'f>(&self, file: &'f [u8]) -> Cow<'f, [u8]> {
        match std::str::from_utf8(file) {
            Ok(text) if self.url != HOST => Cow::Owned(text.replace(HOST, &self.url).into_bytes()),
            _ => Cow::Borrowed(file),
        }
    }

    /// The head of a branch, if it exists.
    pub(crate) fn head(&self, name: &str, branch: &str) -> Option<String> {
        let heads = git(&self.repository(name), &["for-each-ref", "--format=%(objectname) %(refname)"]);
        let wanted = format!(" refs/heads/{branch}");
        heads.lines().find_map(|line| line.strip_suffix(&wanted)).map(str::to_owned)
    }

    /// A file of a branch.
    pub(crate) fn file(&self, name: &str, branch: &str, path: &str) -> String {
        git(&self.repository(name), &["show", &format!("{branch}:{path}")])
    }

    /// The files of a branch, one per line.
    pub(crate) fn files(&self, name: &str, branch: &str) -> String {
        git(&self.repository(name), &["ls-tree", "-r", "--name-only", branch])
    }

    /// Moves a branch to the commit of another branch, like the merge of a pull request.
    pub(crate) fn merge(&self, name: &str, branch: &str, from: &str) {
        git(&self.repository(name), &["update-ref", &format!("refs/heads/{branch}"), &format!("refs/heads/{from}")]);
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

/// The files of branch `dev` of the control plane.
pub(crate) fn dev() -> Vec<(&'static str, String)> {
    vec![
        ("base.yaml", objects::base()),
        ("gitops.yaml", objects::gitops("dev", "dev", ".")),
        ("cluster-types/east.yaml", objects::cluster_type("east", "east-us")),
        ("cluster-types/west.yaml", objects::cluster_type("west", "west-us")),
        ("policies/shop.yaml", objects::policy("shop", "shop")),
        ("configs/common.yaml", objects::config("common", "", "DATABASE: mysql://main/a\nLOG_LEVEL: info")),
        ("configs/west.yaml", objects::config("west", "region: west-us", "DATABASE: mysql://west/a")),
    ]
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
