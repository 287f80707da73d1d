//! A company whose control plane contains generated fleets: its repositories on a git server, and its git host.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use git_host::HostKind;
use git_host::double::{BareRepository, HostDouble};
use git_host::hosts::memory::MemoryHost;
use git_host::pull_request::PullRequest;
use model::git_id::GitId;
use tempfile::TempDir;
use testkit::company::{BareRepositories, CompanyFiles, HOST, PAGES, generated_files};
use testkit::generator::{ENVIRONMENT, Size};
use testkit::git_server::GitServer;
use testkit::objects::environment;

use crate::SEED;

/// The token for the git host.
pub(super) const HOST_TOKEN: &str = "token-of-the-benchmark";
/// The secret of the webhooks.
pub(super) const WEBHOOK_SECRET: &str = "secret-of-the-benchmark";

/// The repositories `control-plane` and `gitops`, served over HTTP, and the git host.
pub(super) struct Company {
    folder: TempDir,
    repositories: BareRepositories,
    _server: GitServer,
    host: MemoryHost,
    _double: HostDouble,
}

impl Company {
    /// A control plane with these environments, each with a fleet of this size. `service` are lines of the section `[service]`.
    pub(super) fn new(environments: &[String], size: Size, service: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let served = folder.path().join("served");
        let server = GitServer::start(&served)?;
        let repositories = BareRepositories::new(served, HOST);
        let host = MemoryHost::new(HostKind::GitHub);
        for name in ["control-plane", "gitops"] {
            let repository = BareRepository::open(&repositories.repository(name))?;
            host.add_repository(&format!("acme/{name}"), Box::new(repository));
        }
        let double = HostDouble::start(&host)?;
        double.accept_token(HOST_TOKEN, "kalypso-bot");
        let configuration = format!(
            "[control-plane]\nrepo = \"{HOST}control-plane\"\n\n\
             [git]\ncache = \"cache\"\nrewrite = [{{ from = \"{HOST}\", to = \"{}\" }}]\n\n\
             [host]\nkind = \"github\"\nurl = \"{PAGES}\"\napi-url = \"{}/api/v3\"\n\
             token-env = \"HOST_TOKEN\"\nwebhook-secret-env = \"WEBHOOK_SECRET\"\n\n[service]\n{service}",
            server.url(),
            double.url()
        );
        std::fs::write(folder.path().join("kalypso.toml"), configuration)?;
        let company = Self { folder, repositories, _server: server, host, _double: double };
        company.fill(environments, size);
        Ok(company)
    }

    /// The folder with the configuration.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The folder of a repository.
    pub(super) fn repository(&self, name: &str) -> PathBuf {
        self.repositories.repository(name)
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
        let commit = self.repositories.change(&format!("control-plane@{environment}"), path, text);
        GitId::from_hex(&commit).with_context(|| format!("`{commit}` is no commit"))
    }

    fn fill(&self, environments: &[String], size: Size) {
        let declared = environments.iter().map(|name| (format!(".environments/{name}.yaml"), environment(name)));
        let fleet = generated_files(size, SEED, ENVIRONMENT);
        let branch = |name: &String| {
            let own = |text: &String| text.replace(&format!(": {ENVIRONMENT}\n"), &format!(": {name}\n"));
            (name.clone(), fleet.iter().map(|(path, text)| (path.clone(), own(text))).collect())
        };
        let environments = environments.iter().map(branch).collect();
        CompanyFiles { main: declared.collect(), environments, ..CompanyFiles::default() }.write(&self.repositories);
    }
}

/// The URL of the control plane, as its webhooks name it.
pub(super) fn control_plane_url() -> String {
    format!("{HOST}control-plane.git")
}
