//! Tests of the desired state that polling branches records in the hub's database.

use std::path::Path;
use std::process::Command;

use engine::layout::own_files::MARKER;
use git::{GitRepositories, MemoryRepositories, NewCommit, Person};
use hub::desired::{DesiredUpdate, PlannedContent};
use hub::store::{Database, DatabaseUrl, Row, SqlValue};
use hub::writer::Writer;
use hub::writer::observed::ObservedBranches;
use hub_api::publication::{DesiredPlace, DesiredTarget, Role};
use hub_api::watches::WatchProblem;
use model::git_id::GitId;
use model::tree::{Tree, closed};

use super::*;

const URL: &str = "https://git.example/acme/gitops";
const OTHER: &str = "https://git.example/acme/manifests";

fn url(text: &str) -> RepositoryUrl {
    RepositoryUrl::from_configuration(text).unwrap()
}

/// Reads branches `dev` of repositories in memory.
struct Hub {
    memory: Arc<MemoryRepositories>,
    database: Database,
    ingest: Writer,
    resources: Resources,
    shared: Arc<Shared>,
    pollers: Vec<BranchPoller>,
}

/// A branch to which commits are added.
#[derive(Clone, Copy)]
struct Branch<'a> {
    memory: &'a MemoryRepositories,
    repository: &'a str,
}

impl Branch<'_> {
    fn commit(self, files: &[(&str, &str)], message: &str, parents: &[GitId]) -> GitId {
        let mut tree = Tree::default();
        files.iter().for_each(|(path, text)| tree.write(path, text.as_bytes()));
        let author = Person { name: "Ann".into(), email: "ann@example.com".into() };
        let commit =
            NewCommit { parents, tree: &tree, open: &closed, message, author: &author, seconds: 1, signer: None };
        self.memory.commit(&url(self.repository), "dev", &commit).unwrap()
    }
}

impl Hub {
    async fn watching(urls: &[&str]) -> Self {
        let database = Database::open(&DatabaseUrl::Memory).await.unwrap();
        let (ingest, _) = Writer::start(database.clone());
        let memory = Arc::new(MemoryRepositories::default());
        let repositories: Arc<dyn Repositories + Send + Sync> = memory.clone();
        let sink = Arc::new(ObservedBranches::new(database.clone(), ingest.clone()));
        let resources = Resources { sink, repositories };
        let (shared, pollers) = pollers(&resources, branches(urls));
        Self { memory, database, ingest, resources, shared, pollers }
    }

    /// Restarts the pollers of the hub.
    fn restart(&mut self, urls: &[&str]) {
        (self.shared, self.pollers) = pollers(&self.resources, branches(urls));
    }

    /// The branch `dev` of a repository.
    fn branch<'a>(&'a self, repository: &'a str) -> Branch<'a> {
        Branch { memory: &self.memory, repository }
    }

    /// Polls every branch, in order. Returns whether all could be read.
    async fn poll(&mut self) -> bool {
        let mut is_good = true;
        for poller in &mut self.pollers {
            is_good &= poller.poll().await;
        }
        is_good
    }

    /// The desired paths with their role and environment.
    async fn desired_places(&self) -> Vec<String> {
        self.rows(
            "select p.path, g.role, coalesce(e.name, '-') from place p join place_revision w on w.id = p.desired_revision_id \
             join place_group g on g.id = p.place_group_id left join environment e on e.id = g.environment_id \
             where w.tree is not null order by p.path",
        )
        .await
    }

    async fn rows(&self, sql: &str) -> Vec<String> {
        let rows = self.database.rows(sql, Vec::new()).await.unwrap();
        let text = |value: &SqlValue| if let SqlValue::Text(text) = value { text.clone() } else { None };
        let line = |row: &Row| row.values().iter().map_while(text).collect::<Vec<_>>().join(" ");
        rows.iter().map(line).collect()
    }

    async fn versions(&self) -> Vec<String> {
        let sql = "select t.name, v.version from deployment_assignment a join deployment_target t on t.id = a.deployment_target_id \
            join workload_version v on v.id = a.workload_version_id order by a.id";
        self.rows(sql).await
    }

    fn problems(&self) -> Vec<String> {
        let states = self.shared.states.lock().unwrap();
        let problems = states.values().flat_map(|state| &state.problems);
        let text = |problem: &WatchProblem| {
            format!("{}:{} {}", problem.file.as_deref().unwrap_or(""), problem.line.unwrap_or(0), problem.message)
        };
        problems.map(text).collect()
    }
}

fn branches(urls: &[&str]) -> Vec<WatchedBranch> {
    let branch = |text: &&str| WatchedBranch {
        url: url(text),
        branch: "dev".into(),
        folder: Folder::default(),
        environment: None,
    };
    urls.iter().map(branch).collect()
}

fn descriptor(target: &str, version: &str, repository: &str) -> String {
    let manifests = format!("      repo: {repository}\n      branch: dev\n      path: ./{target}\n");
    let example = model::kind::Kind::DeploymentDescriptor.example();
    let (before, rest) = example.split_once("      repo: https://git.example/acme/hello-world-gitops\n").unwrap();
    let after = rest.split_once("./functional-test\n").unwrap().1;
    format!("{before}{manifests}{after}").replace("functional-test", target).replace("1.0.3", version)
}

#[tokio::test]
async fn manifests_are_desired_in_the_version_of_their_commit() {
    let mut hub = Hub::watching(&[URL]).await;
    let one = descriptor("web", "1.0.0", URL);
    let first = hub.branch(URL).commit(&[("web/app.yaml", "a"), ("web.yaml", &one)], "1", &[]);
    assert!(hub.poll().await);
    assert_eq!(hub.desired_places().await, ["web application dev"]);
    let two = descriptor("web", "2.0.0", URL);
    let second = hub.branch(URL).commit(&[("web/app.yaml", "b"), ("web.yaml", &two)], "2", &[first]);
    hub.branch(URL).commit(&[("web/app.yaml", "b"), ("web.yaml", &two), ("docs.md", "x")], "3", &[second]);
    assert!(hub.poll().await);
    assert_eq!(hub.versions().await, ["web 1.0.0", "web 2.0.0"]);
    let sql =
        "select c.commit_id from place_revision w join gitops_commit c on c.id = w.gitops_commit_id order by w.id";
    assert_eq!(hub.rows(sql).await, [first.to_string(), second.to_string()]);
}

#[tokio::test]
async fn equal_manifests_with_another_version_are_a_new_version() {
    let mut hub = Hub::watching(&[URL]).await;
    let first = hub.branch(URL).commit(
        &[("web/app.yaml", "a"), ("web.yaml", &descriptor("web", "1", URL).replace(": 1\n", ": \"1\"\n"))],
        "1",
        &[],
    );
    hub.poll().await;
    hub.branch(URL).commit(&[("web/app.yaml", "a"), ("web.yaml", &descriptor("web", "2.0.0", URL))], "2", &[first]);
    hub.poll().await;
    assert_eq!(hub.versions().await, ["web 1", "web 2.0.0"]);
}

#[tokio::test]
async fn folders_of_kalypso_are_places_in_either_layout() {
    let mut hub = Hub::watching(&[URL]).await;
    let files = [
        ("large/README.md", MARKER),
        ("large/web/namespace.yaml", "a"),
        ("d3/5c/large/README.md", MARKER),
        ("docs/README.md", "ours"),
        (".kalypso/owner", "environment: prod\ncontrol-plane: x\n"),
    ];
    let first = hub.branch(URL).commit(&files[..2], "x\n\nKalypso-Environment: stage\n", &[]);
    assert!(hub.poll().await);
    assert_eq!(hub.desired_places().await, ["large platform stage", "large/web platform stage"]);
    hub.branch(URL).commit(&files[2..], "2", &[first]);
    assert!(hub.poll().await);
    assert_eq!(hub.desired_places().await, ["d3/5c/large platform prod"]);
}

#[tokio::test]
async fn the_folder_of_the_output_may_change_before_or_after_its_configuration() {
    let files =
        |folder: &str| [(format!("{folder}/edge/README.md"), MARKER), (format!("{folder}/edge/web/x.yaml"), "1")];
    for is_configured_first in [true, false] {
        let mut hub = Hub::watching(&[]).await;
        let watch = |hub: &mut Hub, folder: &str| {
            let folder = Folder::parse(folder).unwrap();
            let branch = branches(&[URL]).into_iter().map(|branch| WatchedBranch { folder: folder.clone(), ..branch });
            (hub.shared, hub.pollers) = pollers(&hub.resources, branch.collect());
        };
        let commit = |hub: &Hub, folder: &str, parents: &[GitId]| {
            let files = files(folder);
            hub.branch(URL).commit(&files.each_ref().map(|(path, text)| (path.as_str(), *text)), folder, parents)
        };
        let first = commit(&hub, "old", &[]);
        watch(&mut hub, "old");
        assert!(hub.poll().await);
        assert_eq!(hub.desired_places().await, ["old/edge platform -", "old/edge/web platform -"]);
        if is_configured_first {
            watch(&mut hub, "new");
            assert!(hub.poll().await);
        }
        commit(&hub, "new", &[first]);
        assert!(hub.poll().await);
        if !is_configured_first {
            assert_eq!(hub.desired_places().await, [""; 0]);
            watch(&mut hub, "new");
            assert!(hub.poll().await);
        }
        assert_eq!(hub.desired_places().await, ["new/edge platform -", "new/edge/web platform -"]);
        // Without a change, nothing is recorded again.
        let revisions = hub.rows("select id from place_revision").await.len();
        assert!(hub.poll().await);
        assert_eq!(hub.rows("select id from place_revision").await.len(), revisions);
    }
}

#[tokio::test]
async fn unreadable_content_is_not_removed() {
    let mut hub = Hub::watching(&[URL]).await;
    let [good, other] = ["web", "api"].map(|target| descriptor(target, "1.0.0", URL));
    let files = [("web/app.yaml", "a"), ("api/app.yaml", "a"), ("web.yaml", good.as_str()), ("api.yaml", &other)];
    let first = hub.branch(URL).commit(&files, "1", &[]);
    assert!(hub.poll().await);
    let all = hub.desired_places().await;
    let broken = good.replace("version: 1.0.0", "version: [");
    let files = [files[0], files[1], ("web.yaml", broken.as_str()), files[3]];
    let second = hub.branch(URL).commit(&files, "2", &[first]);
    assert!(hub.poll().await);
    assert_eq!(hub.desired_places().await, all);
    assert!(hub.problems().iter().all(|problem| problem.starts_with("web.yaml:2")), "{:?}", hub.problems());
    hub.memory.set_broken(&url(URL), Some("gone"));
    assert!(!hub.poll().await);
    hub.restart(&[URL]);
    assert!(!hub.poll().await);
    hub.memory.set_broken(&url(URL), None);
    // The earlier content of the broken file is not known any more, so nothing is removed.
    assert!(hub.poll().await);
    assert_eq!(hub.desired_places().await, all);
    hub.branch(URL).commit(&files[1..2], "3", &[second]);
    assert!(hub.poll().await);
    assert_eq!(hub.desired_places().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_branch_may_be_reset_and_rewritten() {
    let mut hub = Hub::watching(&[URL]).await;
    let files = |tree: &'static str| [("edge/README.md", MARKER), ("edge/web/a.yaml", tree)];
    let first = hub.branch(URL).commit(&files("a"), "1", &[]);
    hub.poll().await;
    let trees = "select w.tree from place p join place_revision w on w.id = p.desired_revision_id order by p.path";
    let before = hub.rows(trees).await;
    hub.branch(URL).commit(&files("b"), "2", &[first]);
    hub.poll().await;
    assert_ne!(hub.rows(trees).await, before);
    assert_eq!(hub.branch(URL).commit(&files("a"), "1", &[]), first);
    hub.poll().await;
    assert_eq!(hub.rows(trees).await, before);
    hub.branch(URL).commit(&files("c"), "another", &[]);
    assert!(hub.poll().await);
    assert_eq!(hub.desired_places().await, ["edge platform -", "edge/web platform -"]);
    assert_eq!(hub.rows("select id from place_revision where tree is not null").await.len(), 8);
}

#[tokio::test]
async fn manifests_may_be_on_another_branch_if_it_is_watched() {
    let mut hub = Hub::watching(&[URL]).await;
    hub.branch(URL).commit(&[("web.yaml", &descriptor("web", "1.0.0", OTHER))], "1", &[]);
    let manifests = hub.branch(OTHER).commit(&[("web/app.yaml", "a")], "1", &[]);
    hub.poll().await;
    assert_eq!(hub.desired_places().await, Vec::<String>::new());
    assert_eq!(
        hub.problems(),
        [format!("web.yaml:0 its manifests are on branch `dev` of `{OTHER}`, which is not watched")]
    );
    hub.restart(&[URL, OTHER]);
    hub.poll().await;
    assert_eq!((hub.desired_places().await, hub.problems()), (vec!["web application dev".to_owned()], vec![]));
    hub.restart(&[OTHER, URL]);
    hub.branch(OTHER).commit(&[("api/app.yaml", "a")], "2", &[manifests]);
    assert!(hub.poll().await);
    assert!(hub.poll().await);
    assert_eq!(hub.desired_places().await, Vec::<String>::new());
}

#[tokio::test]
async fn two_descriptors_of_one_target_that_differ_are_a_problem() {
    let mut hub = Hub::watching(&[URL, OTHER]).await;
    let (one, two) = (descriptor("web", "1.0.0", URL), descriptor("web", "2.0.0", URL));
    let files =
        |second: &str| [("web/app.yaml", "a".to_owned()), ("a.yaml", one.clone()), ("b.yaml", second.to_owned())];
    let commit = |hub: &Hub, files: &[(&str, String)], parents: &[GitId]| {
        let files: Vec<_> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
        hub.branch(URL).commit(&files, "c", parents)
    };
    // Two descriptors with the same content are not a conflict.
    let first = commit(&hub, &files(&one), &[]);
    hub.branch(OTHER).commit(&[("readme.md", "")], "1", &[]);
    assert!(hub.poll().await);
    assert_eq!(hub.problems(), [""; 0]);
    let second = commit(&hub, &files(&two), &[first]);
    assert!(hub.poll().await);
    let problems = hub.problems();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(
        problems[0].starts_with("a.yaml:0 target `web` of ") && problems[0].ends_with("has other content in `b.yaml`"),
        "{problems:?}"
    );
    assert!(problems[1].starts_with("b.yaml:0 ") && problems[1].ends_with("`a.yaml`"), "{problems:?}");
    // The second descriptor may be in any branch, and may name another folder.
    commit(&hub, &files(&one)[..2], &[second]);
    let there = one.replace("./web", "./other");
    hub.branch(OTHER).commit(&[("x/there.yaml", &there)], "2", &[]);
    assert!(hub.poll().await && hub.poll().await);
    let problems = hub.problems();
    assert!(
        problems.iter().any(|problem| problem.contains(&format!("`x/there.yaml` on branch `dev` of `{OTHER}`"))),
        "{problems:?}"
    );
}

fn planned(tree: &str, cluster: &str) -> DesiredUpdate {
    let target = DesiredTarget {
        workload: "shop".into(),
        name: "web".into(),
        environment: "prod".into(),
        ..DesiredTarget::default()
    };
    let place = DesiredPlace {
        path: format!("{cluster}/shop-web"),
        tree: Some(tree.to_owned()),
        role: Role::Platform,
        environment: Some("prod".into()),
        cluster_type: Some("edge".into()),
        cluster: Some(cluster.to_owned()),
        earlier_names: Vec::new(),
        config_version: Some("5b2e".into()),
        targets: vec![target],
    };
    DesiredUpdate::Planned(PlannedContent { repository: URL.into(), branch: "dev".into(), places: vec![place] })
}

#[tokio::test]
async fn publications_and_observed_content_are_joined_in_any_order() {
    let is_first = [true, false];
    for is_first in is_first {
        let mut hub = Hub::watching(&[URL]).await;
        let mut folder = Tree::default();
        folder.write("a.yaml", *b"a");
        let plan = planned(&folder.id().to_string(), "line-7");
        if is_first {
            hub.ingest.update_desired(plan.clone()).await.unwrap();
        }
        hub.branch(URL).commit(&[("line-7/README.md", MARKER), ("line-7/shop-web/a.yaml", "a")], "1", &[]);
        hub.poll().await;
        if !is_first {
            hub.ingest.update_desired(plan).await.unwrap();
        }
        let sql = "select g.name, w.config_version, t.name, p.cluster from place p join place_group g on g.id = p.place_group_id \
            join place_revision w on w.id = p.desired_revision_id join place_group_target m on m.place_group_id = g.id \
            join deployment_target t on t.id = m.deployment_target_id";
        assert_eq!(hub.rows(sql).await, ["clusters of edge in prod: shop-web 5b2e web line-7"], "{is_first}");
    }
}

#[tokio::test]
async fn branches_are_read_over_http_and_missing_state_is_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("gitops.git");
    std::fs::create_dir(&work).unwrap();
    let commit = |file: &str, text: &str| {
        std::fs::create_dir_all(work.join(file).parent().unwrap()).unwrap();
        std::fs::write(work.join(file), text).unwrap();
        git(&work, &["add", "-A"]);
        git(&work, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", file]);
    };
    git(&work, &["init", "-qb", "dev"]);
    commit("edge/README.md", MARKER);
    commit("edge/web/a.yaml", "a");
    let server = testkit::git_server::GitServer::start(folder.path()).unwrap();
    let mut hub = Hub::watching(&[]).await;
    let settings = git::Settings::new(folder.path().join("cache"));
    hub.resources.repositories = Arc::new(GitRepositories::new(settings));
    let address = format!("{}gitops.git/.git", server.url());
    hub.restart(&[&address]);
    assert!(hub.poll().await);
    assert_eq!(hub.desired_places().await, ["edge platform -", "edge/web platform -"]);
    commit("edge/api/a.yaml", "a");
    hub.restart(&[&address]);
    assert!(hub.poll().await);
    assert_eq!(hub.desired_places().await.len(), 3);
}

fn git(folder: &Path, arguments: &[&str]) {
    assert!(Command::new("git").current_dir(folder).args(arguments).status().unwrap().success());
}
