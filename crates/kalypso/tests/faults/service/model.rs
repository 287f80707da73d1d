//! What should be on the git host, computed by a plain run of the program with copies of the repositories.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use git_host::pull_request::PullRequest;

use super::hosted::{FOREIGN_BRANCH, Hosted, eventually};
use crate::company::{Ran, git, kalypso};
use crate::site::ENVIRONMENTS;

/// The desired state of an environment.
#[derive(Debug)]
struct Expected {
    environment: &'static str,
    /// The tree of the branch that clusters pull.
    base: String,
    /// The tree of that branch after the merge of the proposal. None if there is nothing to propose.
    proposed: Option<String>,
}

/// What should be on the git host.
#[derive(Debug)]
pub(crate) struct Model {
    environments: Vec<Expected>,
}

impl Model {
    /// Publishes all environments from copies of the repositories, without the branches of the service, the cache and the git host.
    pub(crate) fn new(hosted: &Hosted) -> Self {
        let folder = hosted.company.path("model");
        eventually("a copy of the repositories", || copy(&hosted.company.path("served"), &folder).then_some(()));
        let repository = folder.join("served/gitops.git");
        for environment in ENVIRONMENTS {
            let branch = format!("refs/heads/kalypso/{environment}");
            if !git(&repository, &["for-each-ref", &branch]).is_empty() {
                git(&repository, &["update-ref", "-d", &branch]);
            }
        }
        let (url, to) = (&hosted.company.url, folder.join("served"));
        let configuration = format!(
            "[control-plane]\nrepo = \"{url}control-plane\"\n[git]\nrewrite = [{{ from = \"{url}\", to = \"{}/\" }}]\n",
            to.display()
        );
        fs::write(folder.join("kalypso.toml"), configuration).unwrap();
        let expected = |environment: &'static str| {
            let ran = Ran::new(kalypso(&folder).args(["publish", "-e", environment]));
            // Errors in the sources have status 1: what they do not affect is published.
            assert!(matches!(ran.status, 0 | 1), "{}{}", ran.out, ran.err);
            let tree = |branch: &str| git(&repository, &["rev-parse", &format!("{branch}^{{tree}}")]);
            let branch = format!("kalypso/{environment}");
            let is_proposed = !git(&repository, &["for-each-ref", &format!("refs/heads/{branch}")]).is_empty();
            let proposed = is_proposed.then(|| tree(&branch));
            Expected { environment, base: tree(environment), proposed }
        };
        Self { environments: ENVIRONMENTS.map(expected).into() }
    }

    /// The number of environments with a proposal.
    pub(crate) fn proposals(&self) -> usize {
        self.environments.iter().filter(|expected| expected.proposed.is_some()).count()
    }

    /// Compares the git host with what should be there. Returns the first difference.
    pub(crate) fn compare(&self, hosted: &Hosted) -> Result<(), String> {
        self.environments.iter().try_for_each(|expected| expected.compare(hosted))?;
        let mut branches = vec!["dev".to_owned(), FOREIGN_BRANCH.to_owned(), "prod".to_owned()];
        let proposed = self.environments.iter().filter(|expected| expected.proposed.is_some());
        branches.extend(proposed.map(|expected| format!("kalypso/{}", expected.environment)));
        branches.sort_unstable();
        let repository = hosted.company.repository("gitops");
        let found = git(&repository, &["for-each-ref", "--sort=refname", "--format=%(refname:lstrip=2)", "refs/heads"]);
        if found.lines().collect::<Vec<_>>() != branches {
            return Err(format!("the branches are {found:?} instead of {branches:?}"));
        }
        Ok(())
    }
}

impl Expected {
    fn compare(&self, hosted: &Hosted) -> Result<(), String> {
        let (environment, repository) = (self.environment, hosted.company.repository("gitops"));
        let base = git(&repository, &["rev-parse", &format!("{environment}^{{tree}}")]);
        if base != self.base {
            return Err(format!("{environment} was changed"));
        }
        let open: Vec<_> = hosted.pull_requests().into_iter().filter(PullRequest::is_open).collect();
        let own: Vec<_> =
            open.iter().filter(|found| found.author == "kalypso-bot" && found.base == environment).collect();
        let Some(proposed) = &self.proposed else {
            return if own.is_empty() { Ok(()) } else { Err(format!("{environment} has nothing to propose: {own:?}")) };
        };
        let [own] = own[..] else {
            return Err(format!("{environment} has {} open pull requests instead of one", own.len()));
        };
        let head = format!("kalypso/{environment}");
        if own.head != head || hosted.company.head("gitops", &head).is_none() {
            return Err(format!("the branch of {environment} is missing, or another one is proposed: {own:?}"));
        }
        let merged = git(&repository, &["merge-tree", "--write-tree", environment, &head]);
        if merged != *proposed {
            let changes = git(&repository, &["diff-tree", "-r", "--name-status", environment, &head]);
            return Err(format!("{environment} proposes other files: {merged} instead of {proposed}\n{changes}"));
        }
        Ok(())
    }
}

/// Copies repositories into a folder, with commits that no branch has any more. Returns false if a push in progress made the copy incomplete: a file of it was gone, or a
/// branch was copied later than the folder with its objects.
fn copy(repositories: &Path, folder: &Path) -> bool {
    drop(fs::remove_dir_all(folder));
    fs::create_dir(folder).unwrap();
    let succeeds = |command: &mut Command| command.stderr(Stdio::null()).status().unwrap().success();
    let has_all_objects = |repository: fs::DirEntry| {
        succeeds(Command::new("git").current_dir(repository.path()).args(["rev-list", "--all", "--objects", "--quiet"]))
    };
    succeeds(Command::new("cp").arg("-r").arg(repositories).arg(folder))
        && fs::read_dir(folder.join("served")).unwrap().all(|repository| has_all_objects(repository.unwrap()))
}
