//! A GitOps repository with a branch for each environment. It changes while the hosts pull it.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use engine::layout::Folder;
use engine::layout::own_files::MARKER;
use git::{GitRepositories, NewCommit, Person, Push, Pushed, Repositories as _, RepositoryUrl, Rewrite, Settings};
use model::git_id::GitId;
use model::progress::Progress;
use model::tree::{Tree, closed};
use tempfile::TempDir;
use watch::{WatchSettings, WatchedBranch};

const URL: &str = "https://git.example/acme/platform-gitops";
pub(super) const ENVIRONMENTS: [&str; 3] = ["dev", "prod", "stage"];
/// The folders that hosts pull: assignments, and whole cluster types.
pub(super) const PATHS: [&str; 5] = ["cloud/cart", "cloud/portal", "edge/cart", "edge/kiosk", "edge"];

/// Changes: the step, the environment, the folder, and its new content, or none to remove it.
const CHANGES: [(usize, &str, &str, Option<&str>); 9] = [
    (12, "dev", "edge/cart", Some("2")),
    (20, "stage", "edge/cart", Some("2")),
    (22, "dev", "cloud/portal", None),
    (25, "prod", "edge/cart", Some("2")),
    (30, "prod", "cloud/cart", Some("2")),
    // The content of an earlier commit again.
    (35, "stage", "edge/cart", Some("1")),
    // A commit that changes no folder that a host pulls.
    (40, "prod", "nobody/pulls", Some("2")),
    (45, "dev", "edge/kiosk", Some("3")),
    (58, "stage", "cloud/portal", Some("2")),
];

/// The commits of a branch, each with the trees of the folders that hosts pull.
type Commits = Vec<(GitId, BTreeMap<&'static str, GitId>)>;

/// The repository, and the history of the content of its branches.
pub(super) struct Branches {
    folder: TempDir,
    pub(super) repositories: GitRepositories,
    files: BTreeMap<&'static str, BTreeMap<&'static str, &'static str>>,
    /// The history of each branch.
    pub(super) commits: BTreeMap<&'static str, Commits>,
}

pub(super) fn url() -> RepositoryUrl {
    RepositoryUrl::from_configuration(URL).unwrap()
}

impl Branches {
    /// A repository in which all environments have the same content.
    pub(super) fn new(time: i64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut git = Command::new("git");
        git.args(["init", "--quiet", "--bare", "platform-gitops.git"]).current_dir(folder.path());
        assert!(git.status().unwrap().success());
        let repositories = GitRepositories::new(settings(&folder, "hosts"));
        let files = PATHS.iter().filter(|path| path.contains('/')).map(|path| (*path, "1")).collect();
        let files = ENVIRONMENTS.iter().map(|environment| (*environment, BTreeMap::clone(&files))).collect();
        let mut branches = Self { folder, repositories, files, commits: BTreeMap::new() };
        ENVIRONMENTS.iter().for_each(|environment| branches.commit(environment, time));
        branches
    }

    pub(super) fn watched(&self) -> WatchSettings {
        let branch = |name: &&str| WatchedBranch {
            url: url(),
            branch: (*name).to_owned(),
            folder: Folder::default(),
            environment: Some((*name).to_owned()),
        };
        let branches = ENVIRONMENTS.iter().map(branch).collect();
        WatchSettings { branches, pause: Duration::from_millis(200), git: settings(&self.folder, "hub") }
    }

    /// Makes the changes of a step. Returns whether there is new content to pull.
    pub(super) fn change(&mut self, step: usize, time: i64) -> bool {
        let changes: Vec<_> = CHANGES.iter().filter(|(at, ..)| *at == step).collect();
        for (_, environment, path, content) in &changes {
            let files = self.files.get_mut(environment).unwrap();
            match content {
                Some(content) => drop(files.insert(path, content)),
                None => drop(files.remove(path)),
            }
            self.commit(environment, time);
        }
        step == 0 || !changes.is_empty()
    }

    fn commit(&mut self, environment: &'static str, seconds: i64) {
        let mut tree = Tree::default();
        for (path, content) in &self.files[environment] {
            let cluster_type = path.split('/').next().unwrap();
            tree.write(&format!("{cluster_type}/README.md"), MARKER.as_bytes());
            tree.write(&format!("{path}/platform-config.yaml"), content.as_bytes());
        }
        let commits = self.commits.entry(environment).or_default();
        let expected = commits.last().map(|(commit, _)| *commit);
        let author = Person { name: "Ann".into(), email: "ann@example.com".into() };
        // Without this, the first commits of all branches would be the same commit.
        let message = &format!("Published {environment}");
        let parents: Vec<_> = expected.into_iter().collect();
        let commit = NewCommit {
            parents: &parents,
            tree: &tree,
            open: &closed,
            message,
            author: &author,
            seconds,
            signer: None,
        };
        let push = Push { branch: environment, expected, commit: Some(commit), progress: &Progress::default() };
        let Pushed::Moved(id) = self.repositories.push(&url(), &push).unwrap() else { panic!("the push failed") };
        let folder = |path: &&'static str| Some((*path, tree.folder(path, &closed).unwrap()?.id()));
        commits.push((id, PATHS.iter().filter_map(folder).collect()));
    }

    /// The branches with their present commits.
    pub(super) fn heads(&self) -> BTreeMap<String, String> {
        let head = |(name, commits): (&&str, &Commits)| {
            ((*name).to_owned(), commits.last().map(|(id, _)| id.to_string()).unwrap())
        };
        self.commits.iter().map(head).collect()
    }
}

fn settings(folder: &TempDir, cache: &str) -> Settings {
    let rewrite = Rewrite { from: "https://git.example/acme/".into(), to: "./".into() };
    Settings { rewrite: vec![rewrite], base: folder.path().to_owned(), ..Settings::new(folder.path().join(cache)) }
}
