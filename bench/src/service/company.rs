//! A company whose control plane contains generated fleets: its repositories on a git server, and its git host.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, anyhow, ensure};
use git_host::HostKind;
use git_host::double::{BareRepository, HostDouble};
use git_host::hosts::memory::MemoryHost;
use git_host::pull_request::PullRequest;
use model::git_id::GitId;
use tempfile::TempDir;
use testkit::generator::{self, ENVIRONMENT, Size};
use testkit::git_server::GitServer;

use super::git;
use crate::SEED;

/// The base of the company's URLs. Rewritten to the git server.
const BASE: &str = "https://git.example/acme/";
/// The token for the git host.
pub(super) const HOST_TOKEN: &str = "token-of-the-benchmark";
/// The secret of the webhooks.
pub(super) const WEBHOOK_SECRET: &str = "secret-of-the-benchmark";

/// The repositories `control-plane` and `gitops`, served over HTTP, and the git host.
pub(super) struct Company {
    folder: TempDir,
    _server: GitServer,
    host: MemoryHost,
    _double: HostDouble,
}

impl Company {
    /// A control plane with these environments, each with a fleet of this size. `service` are lines of the section `[service]`.
    pub(super) fn new(environments: &[String], size: Size, service: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let served = folder.path().join("served");
        std::fs::create_dir(&served)?;
        let server = GitServer::start(&served)?;
        let host = MemoryHost::new(HostKind::GitHub);
        for name in ["control-plane", "gitops"] {
            let path = served.join(format!("{name}.git"));
            std::fs::create_dir(&path)?;
            git(&path, &["init", "--quiet", "--bare", "--initial-branch=main"])?;
            host.add_repository(&format!("acme/{name}"), Box::new(BareRepository::open(&path)?));
        }
        let double = HostDouble::start(&host)?;
        double.accept_token(HOST_TOKEN, "kalypso-bot");
        let configuration = format!(
            "[control-plane]\nrepo = \"{BASE}control-plane\"\n\n\
             [git]\ncache = \"cache\"\nrewrite = [{{ from = \"{BASE}\", to = \"{}\" }}]\n\n\
             [host]\nkind = \"github\"\nurl = \"https://git.example\"\napi-url = \"{}/api/v3\"\n\
             token-env = \"HOST_TOKEN\"\nwebhook-secret-env = \"WEBHOOK_SECRET\"\n\n[service]\n{service}",
            server.url(),
            double.url()
        );
        std::fs::write(folder.path().join("kalypso.toml"), configuration)?;
        let company = Self { folder, _server: server, host, _double: double };
        company.fill(environments, size)?;
        Ok(company)
    }

    /// The folder with the configuration.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The folder of a repository.
    pub(super) fn repository(&self, name: &str) -> PathBuf {
        self.folder.path().join("served").join(format!("{name}.git"))
    }

    /// The commit of a branch of the GitOps repository. None if it does not exist.
    ///
    /// Reads the file of the branch: a process of git takes as long as a part of what is measured.
    pub(super) fn gitops_head(&self, branch: &str) -> Result<Option<String>> {
        match std::fs::read_to_string(self.repository("gitops").join("refs/heads").join(branch)) {
            Ok(commit) => Ok(Some(commit.trim().to_owned())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Merges the open pull requests of the GitOps repository. Returns their number.
    pub(super) fn merge_all(&self) -> Result<usize> {
        let mut state = self.host.state();
        let refused = |denial| anyhow!("the git host refuses: {denial:?}");
        let repository = state.repository("acme/gitops").map_err(refused)?;
        let open: Vec<_> = repository.pull_requests().into_iter().filter(PullRequest::is_open).collect();
        for found in &open {
            let head = found.head_commit.context("a pull request has no commit")?;
            repository.merge(found.number, head).map_err(refused)?;
        }
        Ok(open.len())
    }

    /// Commits a change of one file to the branch of an environment.
    pub(super) fn change(&self, environment: &str, path: &str, text: &str) -> Result<GitId> {
        self.commit(("control-plane", environment), &BTreeMap::from([(path.to_owned(), text.to_owned())]))
    }

    fn fill(&self, environments: &[String], size: Size) -> Result<()> {
        let declared = environments.iter().map(|name| (format!(".environments/{name}.yaml"), environment(name)));
        self.commit(("control-plane", "main"), &declared.collect())?;
        let fleet = generator::fleet(size, SEED);
        for name in environments {
            let of_environment = |text: &str| text.replace(&format!(": {ENVIRONMENT}\n"), &format!(": {name}\n"));
            // The fleet contains the workloads themselves, so that no repositories of applications are needed.
            let files = fleet.iter().filter(|(path, _)| !path.starts_with("registrations/"));
            let mut files: BTreeMap<_, _> = files.map(|(path, text)| (path.clone(), of_environment(text))).collect();
            files.insert("gitops-repo.yaml".to_owned(), gitops_repo(name));
            self.commit(("control-plane", name), &files)?;
            let readme = [("README.md".to_owned(), format!("What clusters of {name} run.\n"))];
            self.commit(("gitops", name), &readme.into())?;
        }
        Ok(())
    }

    /// Adds files to a branch of a repository. The branch is made if it does not exist.
    fn commit(&self, (name, branch): (&str, &str), files: &BTreeMap<String, String>) -> Result<GitId> {
        let (repository, reference) = (self.repository(name), format!("refs/heads/{branch}"));
        let parent = git(&repository, &["for-each-ref", "--format=%(objectname)", &reference])?;
        let from = if parent.is_empty() { String::new() } else { format!("from {parent}\n") };
        let mut stream =
            format!("commit {reference}\ncommitter Ann <ann@example.com> 1700000000 +0000\ndata 9\nA change\n{from}");
        for (path, text) in files {
            writeln!(stream, "M 100644 inline {path}\ndata {}\n{text}", text.len())?;
        }
        let mut import = Command::new("git")
            .current_dir(&repository)
            .args(["fast-import", "--quiet"])
            .stdin(Stdio::piped())
            .spawn()
            .context("could not start git")?;
        import.stdin.take().context("git has no input")?.write_all(stream.as_bytes())?;
        ensure!(import.wait()?.success(), "git fast-import failed");
        let head = git(&repository, &["rev-parse", &reference])?;
        GitId::from_hex(&head).with_context(|| format!("`{head}` is no commit"))
    }
}

/// The URL of the control plane, as its webhooks name it.
pub(super) fn control_plane_url() -> String {
    format!("{BASE}control-plane.git")
}

fn environment(name: &str) -> String {
    object("Environment", name, &format!("controlPlane: {{repo: {BASE}control-plane, branch: {name}, path: .}}"))
}

fn gitops_repo(environment: &str) -> String {
    object("GitOpsRepo", environment, &format!("repo: {BASE}gitops\n  branch: {environment}\n  path: ."))
}

fn object(kind: &str, name: &str, spec: &str) -> String {
    format!("apiVersion: scheduler.kalypso.io/v1alpha1\nkind: {kind}\nmetadata:\n  name: {name}\nspec:\n  {spec}\n")
}
