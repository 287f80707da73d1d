//! An application that can't be read: what was proposed of it stays in the proposal.

use delivery::output::changes::places::words;
use delivery::publication::publish::{Outcome, PublishOptions};
use git::publications::PublishedCommit;
use git::{Repositories as _, Revision};
use model::name::EnvironmentName;
use testkit::company::GITOPS;
use testkit::company::memory::{commit_files, url};
use testkit::objects;

use crate::world::{BASE, PROPOSAL, World};

const SHOP: &str = "https://git.example/store/shop";

/// A company whose output is published, with the registration of an application.
struct Company(World);

impl Company {
    fn new() -> Self {
        let mut world = World::new();
        world.publish(PublishOptions { is_direct: true, ..PublishOptions::default() });
        let (registration, policy) = (objects::registration("shop", SHOP), objects::policy("shops", "shops"));
        world.change(&[("shop.yaml", Some(&registration)), ("shops.yaml", Some(&policy))]);
        Self(world)
    }

    /// Writes the workload of the application, with targets with these names.
    fn write(&self, version: &str, targets: &[&str]) {
        let manifests = format!("repo: {SHOP}-manifests, branch: {version}, path: .");
        let targets: Vec<_> = targets.iter().map(|name| objects::target((name, "prod"), "shops", &manifests)).collect();
        let file = ("workload.yaml".to_owned(), objects::workload_with("shop", &targets));
        commit_files(&self.0.repositories, (SHOP, "main"), &[file].into());
    }

    fn publish(&self) -> Outcome {
        self.0.publish(PublishOptions::default())
    }

    /// The repository of the application can't be reached, and this machine has no copy of it.
    fn lose(&self) {
        self.0.repositories.set_broken(&url(SHOP), Some("it is down"));
        self.0.repositories.forget_requests();
    }

    fn find(&self) {
        self.0.repositories.set_broken(&url(SHOP), None);
    }

    /// The folders of the application on a branch.
    fn folders(&self, branch: &str) -> Vec<String> {
        let paths = self.0.paths(branch).into_iter().filter(|path| path.contains("/shop-"));
        let mut folders: Vec<_> = paths.map(|path| path.rsplit_once('/').unwrap().0.to_owned()).collect();
        folders.dedup();
        folders
    }

    /// The newest publication on the proposing branch.
    fn proposed(&self) -> PublishedCommit {
        let head = self.0.repositories.resolve(&url(GITOPS), &Revision::branch(PROPOSAL)).unwrap();
        let found = PublishedCommit::newest(&*self.0.repositories, &head, &EnvironmentName::new("prod").unwrap());
        found.unwrap().unwrap()
    }

    fn source(&self) -> Option<model::git_id::GitId> {
        self.proposed().sources.get(&(SHOP.to_owned(), "main".to_owned())).copied()
    }
}

#[test]
fn proposed_folders_of_an_unreadable_application_stay() {
    let mut company = Company::new();
    company.write("v1", &["one", "two"]);
    company.publish();
    let proposed = company.folders(PROPOSAL);
    assert_eq!((proposed.len(), company.folders(BASE).len()), (4, 0), "{proposed:?}");
    let (head, source) = (company.0.head(PROPOSAL), company.source());
    company.lose();
    company.publish();
    assert_eq!(company.0.head(PROPOSAL), head);
    // What others change is proposed beside it.
    company.0.change_value("1");
    for _ in 0..2 {
        let outcome = company.publish();
        let plan = &outcome.places[0].planned.plan;
        let mut reasons =
            plan.changes.values().flat_map(|change| change.reasons.iter().flat_map(|found| &found.others));
        assert!(reasons.any(|reason| words(reason).starts_with("proposed before")));
        assert_eq!(company.folders(PROPOSAL), proposed);
        assert_ne!(company.0.head(PROPOSAL), head);
        assert_eq!((company.source(), source.is_some()), (source, true));
    }
    company.find();
    company.write("v2", &["one"]);
    company.publish();
    assert_eq!(company.folders(PROPOSAL).len(), 2);
}

#[test]
fn proposed_changes_of_an_unreadable_application_stay() {
    let mut company = Company::new();
    company.write("v1", &["one", "two"]);
    company.0.publish(PublishOptions { is_direct: true, ..PublishOptions::default() });
    let published = company.folders(BASE);
    company.write("v2", &["one", "three"]);
    company.publish();
    let (proposed, head) = (company.folders(PROPOSAL), company.0.head(PROPOSAL));
    assert_ne!(proposed, published);
    company.lose();
    company.publish();
    assert_eq!((company.0.head(PROPOSAL), company.folders(BASE)), (head, published));
    // A person merges it with another message, and then something else changes.
    company.0.squash(PROPOSAL, BASE);
    company.publish();
    assert_eq!((company.0.head(PROPOSAL), company.folders(BASE)), (None, proposed.clone()));
    company.0.change_value("1");
    company.publish();
    assert_eq!(company.folders(PROPOSAL), proposed);
}

#[test]
fn folders_published_since_the_proposal_stay() {
    let company = Company::new();
    company.write("v1", &["one"]);
    company.publish();
    company.write("v2", &["one", "two"]);
    company.0.publish(PublishOptions { is_direct: true, ..PublishOptions::default() });
    let published = company.folders(BASE);
    assert_eq!(published.len(), 4);
    company.lose();
    company.publish();
    assert_eq!((company.0.head(PROPOSAL), company.folders(BASE)), (None, published));
}
