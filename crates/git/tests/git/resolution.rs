//! The tags and branches that name releases are resolved to commits, when an environment is loaded.

use git::MemoryRepositories;
use git::load::{BrokenFiles, ControlPlane, LoadedFiles, ReadRole, Snapshot};
use git::publications::{AdmittedReleases, NO_RELEASES, Publications, PublishedCommit, source_trailer};
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::object::AnyObject;
use model::progress::Progress;
use testkit::objects::{self, environment, labelled, object, template, workload_with};

use crate::load::fill;
use crate::playground::{HOST, commit, control_plane, memory, url};

const PROMOTION: &str = "from: [dev]\nto: stage\nselect: {workloadSelector: {matchLabels: {tier: front}}}";

/// The environments `dev` and `stage` with the workload `shop`, whose manifests are in a repository.
struct World {
    repositories: MemoryRepositories,
}

impl World {
    /// `dev` and `stage` are the fields of `manifests` in each environment.
    fn new(dev: &str, stage: &str) -> Self {
        let repositories = memory("control-plane");
        ["shop", "manifests"].iter().for_each(|name| repositories.create(&url(name)));
        let spec = format!("workload: {{repo: {HOST}shop, branch: main, path: .}}\nworkspace: store");
        let registration = labelled("WorkloadRegistration", "shop", "{tier: front}", &spec);
        let target = |name: &str, more: &str| {
            objects::target(("shop", name), "shop", &format!("repo: {HOST}manifests, path: p, {more}"))
        };
        let template = template("flux", "reconciler", "{{ with .Manifests.commit }}commit: {{ . }}{{ end }}");
        let workload = workload_with("shop", &[target("dev", dev), target("stage", stage)]);
        let declarations = [
            (".environments/dev.yaml", &*environment("dev")),
            (".environments/stage.yaml", &*environment("stage")),
            (".environments/to-stage.yaml", &*object("Promotion", "to-stage", PROMOTION)),
        ];
        fill(
            &repositories,
            &[
                ("control-plane", "main", &declarations),
                ("control-plane", "dev", &[("r.yaml", &registration), ("t.yaml", &template)]),
                ("control-plane", "stage", &[("r.yaml", &registration), ("t.yaml", &template)]),
                ("shop", "main", &[("w.yaml", &workload)]),
            ],
        );
        Self { repositories }
    }

    fn commit(&self, text: &str) -> GitId {
        commit(&self.repositories, &url("manifests"), "main", &[("p/a.yaml", text)])
    }

    fn load(&self, name: &str, (releases, published): (&AdmittedReleases, &[Publications])) -> LoadedFiles {
        let url = url("control-plane");
        let (progress, broken) = (&Progress::default(), &BrokenFiles::default());
        let platform = ControlPlane { releases, ..control_plane(&url, (progress, broken)) };
        Snapshot::new(&self.repositories, platform).load_after(&EnvironmentName::new(name).unwrap(), published)
    }

    /// The release of `shop` in an environment, and the commit that was read for it.
    fn release(&self, name: &str) -> (Option<String>, Option<GitId>) {
        found(&self.load(name, (&NO_RELEASES, &[])))
    }
}

fn found(loaded: &LoadedFiles) -> (Option<String>, Option<GitId>) {
    let objects = loaded.input.contents.iter().flat_map(|file| &file.objects.objects);
    let mut pins = objects.filter_map(|object| match object {
        AnyObject::ReleasePin(pin) => Some(format!("{:?}", pin.spec.manifests)),
        _ => None,
    });
    let read = loaded.reads.iter().find(|read| matches!(&read.role, ReadRole::Manifests(name) if &**name == "shop"));
    (pins.next(), read.map(|read| read.commit))
}

fn at(key: &str, name: &str, commit: GitId) -> (Option<String>, Option<GitId>) {
    (Some(format!("{{\"{key}\": \"{name}@{commit}\"}}")), Some(commit))
}

#[test]
fn a_branch_that_environments_share_is_resolved() {
    let world = World::new("branch: main", "branch: main");
    let first = world.commit("1");
    assert_eq!(world.release("dev"), at("branch", "main", first));
    assert_eq!(world.release("stage"), at("branch", "main", first));
    let second = world.commit("2");
    assert_eq!(world.release("dev"), at("branch", "main", second));
    // With a branch for each environment, a commit of one is none of the other.
    let own = World::new("branch: main", "branch: stage");
    own.commit("1");
    assert_eq!(own.release("dev"), (None, None));
}

#[test]
fn a_tag_is_resolved_each_time() {
    let world = World::new("tag: v2", "tag: v1");
    let (first, second) = (world.commit("1"), world.commit("2"));
    world.repositories.tag(&url("manifests"), "v1", first);
    assert_eq!(world.release("dev"), (None, None));
    world.repositories.tag(&url("manifests"), "v2", first);
    assert_eq!((world.release("dev"), world.release("stage")), (at("tag", "v2", first), at("tag", "v1", first)));
    world.repositories.tag(&url("manifests"), "v2", second);
    assert_eq!(world.release("dev"), at("tag", "v2", second));
}

#[test]
fn admitted_releases_are_not_resolved_again() {
    let world = World::new("tag: v1", "tag: v1");
    let (first, second) = (world.commit("1"), world.commit("2"));
    world.repositories.tag(&url("manifests"), "v1", second);
    let admitted = [("shop".into(), format!("v1@{first}").into())].into();
    assert_eq!(found(&world.load("stage", (&admitted, &[]))), (at("tag", "v1", first).0, None));
    let other = [("other".into(), "v1".into())].into();
    assert_eq!(found(&world.load("stage", (&other, &[]))), at("tag", "v1", second));
}

#[test]
fn the_published_commit_counts_while_the_repository_cannot_be_reached() {
    let world = World::new("tag: v1", "tag: v1");
    let (first, second) = (world.commit("1"), world.commit("2"));
    world.repositories.tag(&url("manifests"), "v1", second);
    let name = (url("manifests").as_str().to_owned(), "v1".to_owned());
    let message = format!("Publish\n\nKalypso-Source: {}\n", source_trailer(&name, first));
    let published = [Publications { publications: vec![PublishedCommit::from_message(first, &message)] }];
    world.repositories.set_broken(&url("manifests"), Some("it is down"));
    assert_eq!(found(&world.load("dev", (&NO_RELEASES, &published))), at("tag", "v1", first));
    assert_eq!(world.release("dev"), (None, None));
}

#[test]
fn without_a_template_that_prints_commits_nothing_is_resolved() {
    let world = World::new("branch: main", "branch: main");
    world.commit("1");
    commit(&world.repositories, &url("control-plane"), "dev", &[("t.yaml", "# no template\n")]);
    assert_eq!(world.release("dev"), (None, None));
}

#[test]
fn a_pin_that_a_person_wrote_for_a_promotion_stays() {
    let world = World::new("tag: v1", "tag: v1");
    let tagged = world.commit("1");
    world.repositories.tag(&url("manifests"), "v1", tagged);
    let pin = "{apiVersion: fleet.kalypso.io/v1alpha1, kind: ReleasePin, metadata: {name: promoted-shop}, spec: {deploymentTargetSelector: \
               {labelSelector: {}}, clusterTypeSelector: {labelSelector: {}}, manifests: {tag: v9}}}";
    commit(&world.repositories, &url("control-plane"), "dev", &[("pin.yaml", pin)]);
    assert_eq!(world.release("dev"), (Some("{\"tag\": \"v9\"}".to_owned()), None));
}
