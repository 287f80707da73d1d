//! Tests of deployments: each one is pushed to a repository in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use git::{
    Commit, Edit, MemoryRepositories, NewCommit, Person, Push, Pushed, Repositories, RepositoryUrl, Revision, opener,
};
use model::kind::Kind;
use model::object::{AnyObject, Object, Workload};
use model::progress::Progress;
use model::source::FileId;
use model::tree::{Child, Entry, Tree, closed};

use super::*;
use crate::images::PinnedImages;
use crate::render::{InputsId, RenderedManifests, RenderedTarget, TargetState};
use crate::settings::ApplicationSettings;
use crate::values::TargetPath;

const SETTINGS: &str = "\
workspace = \"store-team\"
source = { chart = \"chart\" }
gitops = { repo = \"https://git.example/shop-gitops\" }
environments = [{ name = \"dev\" }]
";

const WORKLOAD: &str = "\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata: {name: shop}
spec:
  deploymentTargets:
  - {name: eu-shop, environment: dev, manifests: {repo: 'https://git.example/shop-gitops', branch: dev, path: ./eu}}
";

/// A GitOps repository with one branch.
struct Fixture {
    repositories: MemoryRepositories,
    url: RepositoryUrl,
    settings: ApplicationSettings,
    workload: Arc<Object<Workload>>,
}

impl Fixture {
    fn new(files: &[(&str, &str)]) -> Self {
        let read = model::read::read_kind(FileId::default(), WORKLOAD.as_bytes(), Kind::Workload);
        let workload = read.objects.into_iter().find_map(|object| match object {
            AnyObject::Workload(workload) => Some(workload),
            _ => None,
        });
        let fixture = Self {
            repositories: MemoryRepositories::default(),
            url: RepositoryUrl::from_configuration("https://git.example/shop-gitops").unwrap(),
            settings: ApplicationSettings::parse(SETTINGS, FileId::default()).unwrap(),
            workload: workload.unwrap(),
        };
        fixture.repositories.create(&fixture.url);
        let mut tree = Tree::default();
        files.iter().for_each(|(path, text)| tree.write(path, text.as_bytes()));
        fixture.push(&tree, None);
        fixture
    }

    fn push(&self, tree: &Tree, head: Option<&Commit>) {
        let author = Person { name: "Ann".to_owned(), email: "ann@acme.example".to_owned() };
        let parents: Vec<_> = head.map(|head| head.id).into_iter().collect();
        let open: Box<model::tree::Open<'_>> = match head {
            Some(head) => Box::new(opener(&self.repositories, head)),
            None => Box::new(closed),
        };
        let commit = NewCommit {
            parents: &parents,
            tree,
            open: &*open,
            message: "x",
            author: &author,
            seconds: 1,
            signer: None,
        };
        let push = Push {
            branch: "dev",
            expected: head.map(|head| head.id),
            commit: Some(commit),
            progress: &Progress::default(),
        };
        assert!(matches!(self.repositories.push(&self.url, &push).unwrap(), Pushed::Moved(_)));
    }

    fn head(&self) -> Commit {
        self.repositories.resolve(&self.url, &Revision::branch("dev")).unwrap()
    }

    fn branch(&self) -> DeployedBranch {
        DeployedBranch::read(&self.repositories, &self.head(), "").unwrap()
    }

    /// Plans a deployment of these targets, and pushes it.
    fn deploy(&self, version: &str, targets: &[RenderedTarget], options: PlanOptions) -> DeploymentPlan {
        let head = self.head();
        let open = opener(&self.repositories, &head);
        let source = DescriptorPlace {
            repo: "https://git.example/shop".to_owned(),
            branch: "main".to_owned(),
            path: "./chart".to_owned(),
        };
        let provenance = Provenance {
            version: version.parse().unwrap(),
            source: GitId::of_blob(version.as_bytes()),
            values: None,
            keys: ReleaseKeys { image_tag: Some(format!("{version}-57")), ..ReleaseKeys::default() },
            tools: Vec::new(),
        };
        let plan = DeploymentPlan::new(&PlanRequest {
            settings: &self.settings,
            settings_file: FileId::default(),
            environment: &self.settings.environments[0],
            workload: &self.workload,
            provenance: &provenance,
            source: &source,
            targets,
            current: &self.branch(),
            open: &open,
            options,
        });
        let plan = plan.unwrap();
        if !plan.edits.is_empty() {
            let edits: Vec<_> = plan.edits.iter().map(|(path, edit)| (&**path, edit)).collect();
            self.edit(&edits);
        }
        plan
    }

    fn edit(&self, edits: &[(&str, &Edit)]) {
        let head = self.head();
        let open = opener(&self.repositories, &head);
        let mut tree = self.repositories.tree(&head).unwrap();
        for (path, edit) in edits {
            match edit {
                Edit::Content(_, content) => drop(tree.put(path, Child::File(Entry::file(Arc::clone(content))), &open)),
                _ => drop(tree.remove(path, &open)),
            }
        }
        self.push(&tree, Some(&head));
    }

    fn write(&self, path: &str, text: &str) {
        let content: Arc<[u8]> = text.as_bytes().into();
        self.edit(&[(path, &Edit::Content(GitId::of_blob(&content), content))]);
    }

    /// The paths of all files of the branch.
    fn paths(&self) -> Vec<String> {
        let head = self.head();
        let open = opener(&self.repositories, &head);
        let tree = self.repositories.tree(&head).unwrap();
        tree.files(&open).map(|file| file.unwrap().0).filter(|path| !path.starts_with(".github")).collect()
    }
}

fn target(path: &str, text: &str) -> RenderedTarget {
    let content: Arc<[u8]> = text.as_bytes().into();
    let files = BTreeMap::from([("manifests.yaml".to_owned(), content)]);
    let state = TargetState::Rendered(RenderedManifests { files, ..RenderedManifests::default() });
    RenderedTarget { path: TargetPath::new(path), version: None, inputs: Some(InputsId::from_text(text)), state }
}

fn actions(plan: &DeploymentPlan) -> Vec<(&str, TargetAction)> {
    plan.targets.iter().map(|target| (target.path.as_str(), target.action)).collect()
}

fn messages(plan: &DeploymentPlan) -> Vec<&str> {
    plan.problems.iter().map(|problem| problem.message.as_str()).collect()
}

const NOTHING: PlanOptions = PlanOptions { adopt: false, overwrite: false, confirm_removals: false };

#[test]
fn a_target_is_added_changed_and_removed_with_its_own_files() {
    let fixture = Fixture::new(&[("README.md", "Ours."), ("eu/notes.txt", "A person wrote this.")]);
    let plan = fixture.deploy("1.0.0", &[target("eu", "a"), target("us", "a")], NOTHING);
    assert_eq!(actions(&plan), [("eu", TargetAction::Added), ("us", TargetAction::Added)]);
    let plan = fixture.deploy("1.0.0", &[target("eu", "b"), target("us", "a")], NOTHING);
    assert_eq!(actions(&plan), [("eu", TargetAction::Changed), ("us", TargetAction::Unchanged)]);
    let plan = fixture.deploy("1.1.0", &[target("us", "a")], NOTHING);
    assert_eq!(actions(&plan), [("eu", TargetAction::Removed), ("us", TargetAction::Described)]);
    let expected = ["README.md", "eu/notes.txt", "us/descriptor.yaml", "us/kustomization.yaml", "us/manifests.yaml"];
    assert_eq!(fixture.paths(), expected);
    assert_eq!(fixture.branch().release("shop", "dev").map(|release| release.version).as_deref(), Some("1.1.0"));
}

#[test]
fn the_same_deployment_changes_nothing() {
    let fixture = Fixture::new(&[("README.md", "")]);
    fixture.deploy("1.0.0", &[target("eu", "a")], NOTHING);
    let plan = fixture.deploy("1.0.0", &[target("eu", "a")], NOTHING);
    assert!(plan.edits.is_empty());
    let known = RenderedTarget { state: TargetState::Known, ..target("eu", "a") };
    assert!(fixture.deploy("1.0.0", &[known], NOTHING).edits.is_empty());
}

#[test]
fn the_descriptor_has_the_names_of_the_deployment_target() {
    let fixture = Fixture::new(&[("README.md", "")]);
    fixture.deploy("1.0.0-rc.1+57", &[target("eu", "a"), target("us", "a")], NOTHING);
    let branch = fixture.branch();
    let eu = &branch.targets[&TargetPath::new("eu")];
    assert_eq!(
        (eu.version.as_str(), eu.build.as_str(), eu.whole_version().as_str()),
        ("1.0.0-rc.1", "57", "1.0.0-rc.1+57")
    );
    assert_eq!(branch.tracking["Version"], "1.0.0-rc.1+57");
    assert_eq!(branch.tracking["Promoted_Commit_Id"], eu.commit);
}

#[test]
fn a_failed_target_keeps_what_is_deployed() {
    let fixture = Fixture::new(&[("README.md", "")]);
    fixture.deploy("1.0.0", &[target("eu", "a"), target("us", "a")], NOTHING);
    let failed = RenderedTarget { state: TargetState::Failed, inputs: None, ..target("eu", "b") };
    let plan = fixture.deploy("2.0.0", &[failed, target("us", "b")], NOTHING);
    assert_eq!(actions(&plan), [("eu", TargetAction::Kept), ("us", TargetAction::Changed)]);
    let versions: Vec<_> = fixture.branch().targets.values().map(|target| target.version.clone()).collect();
    assert_eq!(versions, ["1.0.0", "2.0.0"]);
}

#[test]
fn files_of_others_are_taken_over_only_on_request() {
    let fixture = Fixture::new(&[("eu/manifests.yaml", "an earlier pipeline")]);
    let plan = fixture.deploy("1.0.0", &[target("eu", "a")], NOTHING);
    assert_eq!(
        messages(&plan),
        ["target `eu` is not deployed: the GitOps branch has files there that no deployment wrote: eu/manifests.yaml"]
    );
    assert!(plan.edits.is_empty());
    let plan = fixture.deploy("1.0.0", &[target("eu", "a")], PlanOptions { adopt: true, ..NOTHING });
    assert_eq!(actions(&plan), [("eu", TargetAction::Added)]);
}

#[test]
fn changes_of_people_stop_a_target() {
    let fixture = Fixture::new(&[("README.md", "")]);
    fixture.deploy("1.0.0", &[target("eu", "a"), target("us", "a")], NOTHING);
    fixture.write("eu/manifests.yaml", "a repair");
    let plan = fixture.deploy("2.0.0", &[target("eu", "b"), target("us", "b")], NOTHING);
    assert_eq!(actions(&plan), [("eu", TargetAction::Kept), ("us", TargetAction::Changed)]);
    assert_eq!(
        messages(&plan)[0],
        "target `eu` is not deployed: others changed its files in the GitOps branch: manifests.yaml"
    );
    let plan =
        fixture.deploy("2.0.0", &[target("eu", "b"), target("us", "b")], PlanOptions { overwrite: true, ..NOTHING });
    assert_eq!(actions(&plan), [("eu", TargetAction::Changed), ("us", TargetAction::Unchanged)]);
}

#[test]
fn another_workload_keeps_its_folder() {
    let fixture = Fixture::new(&[("README.md", "")]);
    fixture.deploy("1.0.0", &[target("eu", "a")], NOTHING);
    let head = fixture.head();
    let open = opener(&fixture.repositories, &head);
    let tree = fixture.repositories.tree(&head).unwrap();
    let file = tree.file("eu/descriptor.yaml", &open).unwrap().unwrap();
    let git::FileContent::Bytes(bytes) = fixture.repositories.content(&head, file.blob.id(), 1 << 20).unwrap() else {
        panic!()
    };
    fixture.write("eu/descriptor.yaml", &String::from_utf8_lossy(&bytes).replace("name: shop\n", "name: bakery\n"));
    let plan = fixture.deploy(
        "2.0.0",
        &[target("eu", "b")],
        PlanOptions { adopt: true, overwrite: true, confirm_removals: true },
    );
    assert!(plan.edits.is_empty());
    assert_eq!(messages(&plan), ["folder `eu` of the GitOps branch belongs to workload `bakery` in environment `dev`"]);
}

#[test]
fn many_removals_need_a_word() {
    let fixture = Fixture::new(&[("README.md", "")]);
    let targets: Vec<_> = (0..10).map(|number| target(&format!("t{number}"), "a")).collect();
    fixture.deploy("1.0.0", &targets, NOTHING);
    let plan = fixture.deploy("1.0.0", &targets[..5], NOTHING);
    assert!(plan.is_refused && plan.edits.is_empty());
    assert_eq!(messages(&plan).last(), Some(&"5 of 10 deployed targets of environment `dev` would be removed"));
    assert!(!fixture.deploy("1.0.0", &targets[..6], NOTHING).is_refused);
    assert!(fixture.deploy("1.0.0", &[], NOTHING).is_refused);
    let plan = fixture.deploy("1.0.0", &[], PlanOptions { confirm_removals: true, ..NOTHING });
    assert_eq!((plan.count(TargetAction::Removed), fixture.paths()), (6, vec!["README.md".to_owned()]));
}

#[test]
fn files_that_are_no_longer_rendered_are_removed() {
    let fixture = Fixture::new(&[("README.md", "")]);
    let with = |names: &[&str]| {
        let files = names.iter().map(|name| ((*name).to_owned(), Arc::from(name.as_bytes()))).collect();
        RenderedTarget {
            state: TargetState::Rendered(RenderedManifests { files, ..RenderedManifests::default() }),
            ..target("eu", &names.concat())
        }
    };
    fixture.deploy("1.0.0", &[with(&["a.yaml", "sub/b.yaml"])], NOTHING);
    fixture.deploy("1.0.0", &[with(&["a.yaml"])], NOTHING);
    assert_eq!(fixture.paths(), ["README.md", "eu/a.yaml", "eu/descriptor.yaml", "eu/kustomization.yaml"]);
}

#[test]
fn a_service_has_the_version_of_its_chart() {
    let fixture = Fixture::new(&[]);
    let service = |name: &str, version: &str| RenderedTarget {
        version: Some(version.parse().unwrap()),
        ..target(name, &format!("{name} {version}"))
    };
    let targets = [service("eu", "25.8.0"), service("us", "1.2.0+7")];
    fixture.deploy("2.4.0", &targets, NOTHING);
    let branch = fixture.branch();
    let versions: Vec<_> = branch.targets.values().map(DeployedTarget::whole_version).collect();
    assert_eq!(versions, ["25.8.0", "1.2.0+7"]);
    let commit = GitId::of_blob(b"2.4.0").to_string();
    let keys = ReleaseKeys { image_tag: Some("2.4.0-57".to_owned()), ..ReleaseKeys::default() };
    // The tracking files of a shared branch say nothing about another workload.
    assert!(branch.tracking.contains_key("Version"));
    assert_eq!(branch.release_of("2.4.0", "bank", "dev"), None);
    assert_eq!(branch.release_of("2.4.0", "shop", "dev").unwrap().keys, keys);
    assert_eq!(
        branch.release("shop", "dev"),
        Some(DeployedRelease { version: "2.4.0".to_owned(), commit, keys, images: PinnedImages::default() })
    );
    let plan = fixture.deploy("2.4.0", &[service("eu", "25.9.0"), targets[1].clone()], NOTHING);
    assert_eq!(actions(&plan), [("eu", TargetAction::Changed), ("us", TargetAction::Unchanged)]);
    assert_eq!(plan.targets[0].before.as_deref(), Some("25.8.0"));
    assert!(plan.targets.iter().all(|target| !target.has_new_version));
}
