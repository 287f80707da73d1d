//! Publications that are sent to the hub.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use delivery::branches::push::Delivered;
use delivery::publication::hub_publication::{Hub, HubError, HubReceiver};
use delivery::publication::publish::{PublishOptions, Request, publish};
use hub_api::client::ClientError;
use hub_api::publication::{
    DesiredPlace, DesiredVersion, Publication, PublicationQuery, PublicationReceipt, PublicationState, PublishedOutput,
};
use testkit::generator::ENVIRONMENT;

use crate::chain::{Chain, name};
use crate::world::{BASE, World};

/// Takes publications, or can't be reached.
#[derive(Default)]
struct MemoryHub {
    is_down: bool,
    /// Whether its token may not change the order of environments.
    is_limited: bool,
    /// Whether it does not know how far outputs are published.
    is_earlier: bool,
    publications: Mutex<Vec<Publication>>,
}

impl Hub for MemoryHub {
    fn publish(&self, publication: &Publication, _: Duration) -> Result<PublicationReceipt, ClientError> {
        if self.is_down {
            return Err(ClientError::Unreachable { url: "http://hub".to_owned(), reason: "it is down".to_owned() });
        }
        if self.is_limited && !publication.environments.is_empty() {
            let detail = "it can't change the order of environments".to_owned();
            return Err(ClientError::Refused { status: 403, detail, hint: None, refused: Vec::new() });
        }
        self.publications.lock().unwrap().push(publication.clone());
        Ok(PublicationReceipt::default())
    }

    fn publication_state(&self, query: &PublicationQuery) -> Result<PublicationState, ClientError> {
        if self.is_down {
            return Err(ClientError::Unreachable { url: "http://hub".to_owned(), reason: "it is down".to_owned() });
        }
        if self.is_earlier {
            return Err(ClientError::Refused { status: 405, detail: String::new(), hint: None, refused: Vec::new() });
        }
        let output = PublishedOutput { environment: query.environment.clone(), folder: query.folder.clone() };
        let publications = self.publications.lock().unwrap();
        let last = publications.iter().rev().find(|publication| publication.completes.as_ref() == Some(&output));
        Ok(PublicationState { commit: last.and_then(|publication| publication.commit.clone()) })
    }
}

impl MemoryHub {
    /// Publishes directly to this hub. Returns the number of folders of each request, and whether it has the head of the branch.
    fn publish_to(&self, world: &World) -> Vec<(usize, bool)> {
        self.publish_confirmed(world, &[])
    }

    /// The same, with the words of removals.
    fn publish_confirmed(&self, world: &World, confirmed: &[String]) -> Vec<(usize, bool)> {
        let receiver = HubReceiver { hub: self, environments: &[] };
        let options = PublishOptions { is_direct: true, confirmed, ..PublishOptions::default() };
        let before = self.publications.lock().unwrap().len();
        let outcome = world.try_publish(options, Some(receiver), &|_, _| {}).unwrap();
        assert!(outcome.places[0].hub.iter().all(Result::is_ok));
        let head = world.head(BASE).map(|head| head.to_string());
        let publications = self.publications.lock().unwrap();
        let sent = |publication: &Publication| (publication.places.len(), publication.commit == head);
        publications.iter().skip(before).map(sent).collect()
    }
}

/// How many folders were sent of a publication, and whether the commit was.
fn check(options: PublishOptions<'_>, expected: (usize, bool)) {
    let (world, hub) = (World::new(), MemoryHub::default());
    let environments = ["prod".to_owned()];
    let receiver = HubReceiver { hub: &hub, environments: &environments };
    let outcome = world.try_publish(options, Some(receiver), &|_, _| {}).unwrap();
    let sent = outcome.places[0].hub.as_ref().map(|result| *result.as_ref().unwrap());
    let publications = hub.publications.into_inner().unwrap();
    let [publication] = &publications[..] else { panic!("{publications:?}") };
    assert_eq!((publication.places.len(), publication.commit.is_some()), expected);
    assert_eq!((sent, publication.branch.as_str()), (Some(expected.0), BASE));
    assert_eq!(publication.environments, environments);
}

#[test]
fn the_hub_gets_the_folders_of_a_proposal_without_a_commit() {
    check(PublishOptions::default(), (18, false));
}

#[test]
fn the_hub_gets_the_folders_of_a_direct_push_with_the_commit() {
    check(PublishOptions { is_direct: true, ..PublishOptions::default() }, (18, true));
}

/// A publication that is killed after its push, and before it reaches the hub.
fn publish_killed(world: &World) {
    let outcome = world.publish(PublishOptions { is_direct: true, ..PublishOptions::default() });
    assert!(matches!(outcome.places[0].delivered, Some(Delivered::Pushed { .. })));
}

#[test]
fn a_publication_that_did_not_reach_the_hub_is_completed_by_the_next() {
    let (mut world, hub) = (World::new(), MemoryHub::default());
    publish_killed(&world);
    assert_eq!(hub.publish_to(&world), [(18, true)]);
    assert_eq!(hub.publish_to(&world), []);
    let path = "workloads/app-0000.yaml";
    let workload = world.files()[path].replace("branch: ", "branch: next-");
    world.change(&[(path, Some(&workload))]);
    publish_killed(&world);
    let [(changed, true)] = hub.publish_to(&world)[..] else { panic!("one publication of the head") };
    assert!((1..18).contains(&changed), "{changed}");
    assert_eq!(hub.publish_to(&world), []);
}

#[test]
fn push_also_sends_folders_missed_by_the_previous_push() {
    let (mut world, hub) = (World::new(), MemoryHub::default());
    publish_killed(&world);
    world.change_value("changed");
    assert_eq!(hub.publish_to(&world), [(18, true)]);
}

#[test]
fn the_hub_gets_a_commit_of_others_without_folders() {
    let (world, hub) = (World::new(), MemoryHub::default());
    hub.publish_to(&world);
    world.write_to(BASE, "other.txt", "Another program.\n");
    assert_eq!(hub.publish_to(&world), [(0, true)]);
    assert_eq!(hub.publish_to(&world), []);
}

#[test]
fn an_earlier_hub_gets_the_changes_of_pushes_only() {
    let (world, hub) = (World::new(), MemoryHub { is_earlier: true, ..MemoryHub::default() });
    assert_eq!(hub.publish_to(&world), [(18, true)]);
    assert_eq!(hub.publish_to(&world), []);
    assert!(hub.publications.lock().unwrap().iter().all(|publication| publication.completes.is_none()));
}

#[test]
fn a_hub_that_is_down_stops_no_publication() {
    let (world, hub) = (World::new(), MemoryHub { is_down: true, ..MemoryHub::default() });
    let receiver = HubReceiver { hub: &hub, environments: &[] };
    let outcome = world.try_publish(PublishOptions::default(), Some(receiver), &|_, _| {}).unwrap();
    let [place] = &outcome.places[..] else { panic!() };
    assert!(matches!(place.delivered, Some(Delivered::Pushed { .. })));
    assert!(matches!(place.hub, Some(Err(HubError::Client(ClientError::Unreachable { .. })))));
}

/// The order that a hub gets from an environment of a chain, if the configuration has this one.
fn order(promotion: Option<&str>, configured: &[String], hub: &MemoryHub) -> Vec<String> {
    let mut chain = Chain::new(&["alpha", "beta"]);
    if let Some(spec) = promotion {
        let text =
            format!("{{apiVersion: fleet.kalypso.io/v1alpha1, kind: Promotion, metadata: {{name: p}}, spec: {spec}}}");
        chain.company.write_main(".environments/p.yaml", &text);
    }
    let (environment, hub) = (&name("beta"), hub);
    let receiver = Some(HubReceiver { hub, environments: configured });
    let options = PublishOptions { is_direct: true, ..PublishOptions::default() };
    let request = Request { environment, gitops_repo: None, options, hub: receiver, is_hub_only: false };
    let outcome = publish(&chain.access, &request, &|_, _| {}).unwrap();
    assert!(outcome.places[0].hub.as_ref().unwrap().is_ok());
    hub.publications.lock().unwrap().last().unwrap().environments.clone()
}

#[test]
fn the_hub_gets_the_order_of_promotions_unless_another_one_is_configured() {
    let (promotion, configured) = (Some("{from: [beta], to: alpha}"), ["alpha".to_owned()]);
    assert_eq!(order(promotion, &[], &MemoryHub::default()), ["beta", "alpha"]);
    assert_eq!(order(promotion, &configured, &MemoryHub::default()), configured);
    assert!(order(None, &[], &MemoryHub::default()).is_empty());
}

#[test]
fn a_token_that_may_not_set_the_order_still_publishes() {
    let limited = MemoryHub { is_limited: true, ..MemoryHub::default() };
    assert!(order(Some("{from: [beta], to: alpha}"), &[], &limited).is_empty());
}

/// The releases of the folders in the last publication, by path: those of people's pins with `pinned`.
fn releases(hub: &MemoryHub) -> BTreeMap<String, String> {
    let publications = hub.publications.lock().unwrap();
    let places = publications.last().unwrap().places.iter();
    let release = |place: &DesiredPlace| {
        let [target] = &place.targets[..] else { return None };
        let DesiredVersion { version, pinned, .. } = target.version.clone()?;
        Some((place.path.clone(), format!("{version}{}", if pinned { " pinned" } else { "" })))
    };
    places.filter_map(release).collect()
}

#[test]
fn the_hub_gets_the_release_of_each_folder_and_whether_it_is_pinned() {
    let (mut world, hub) = (World::new(), MemoryHub::default());
    hub.publish_to(&world);
    let all = releases(&hub);
    assert!(!all.is_empty() && all.values().all(|release| release == ENVIRONMENT), "{all:?}");
    // A pin to what the places have changes no folder.
    let pin = format!(
        "apiVersion: fleet.kalypso.io/v1alpha1\nkind: ReleasePin\nmetadata: {{name: stay}}\nspec: {{deploymentTargetSelector: \
         {{labelSelector: {{matchLabels: {{workload: app-0000}}}}}}, clusterTypeSelector: {{labelSelector: {{}}}}, \
         manifests: {{branch: {ENVIRONMENT}}}, reason: Inventory}}\n"
    );
    world.change(&[("pins/stay.yaml", Some(&pin))]);
    assert_eq!(hub.publish_to(&world), []);
    // What others get from now on is not for these places.
    let workloads = ["workloads/app-0000.yaml", "workloads/app-0001.yaml"];
    let texts = workloads.map(|path| world.files()[path].replace("branch: ", "branch: next-"));
    let changes = [0, 1].map(|index| (workloads[index], Some(texts[index].as_str())));
    world.change(&changes);
    hub.publish_to(&world);
    let found = releases(&hub);
    let of = |workload: &str| -> BTreeSet<_> {
        found.iter().filter(|(path, _)| path.contains(workload)).map(|(_, release)| release.clone()).collect()
    };
    assert_eq!(of("app-0000"), BTreeSet::from([format!("{ENVIRONMENT} pinned")]));
    assert_eq!(of("app-0001"), BTreeSet::from([format!("next-{ENVIRONMENT}")]));
}

/// The earlier names of places in the last publication, by the first folder of their paths.
fn earlier_names_of_places(hub: &MemoryHub) -> BTreeMap<String, Vec<String>> {
    let publications = hub.publications.lock().unwrap();
    let places = publications.last().unwrap().places.iter().filter(|place| place.tree.is_some());
    let first = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
    places.map(|place| (first(&place.path), place.earlier_names.clone())).collect()
}

/// A cluster with earlier names.
fn renamed_cluster(name: &str, earlier: &str) -> String {
    let annotations = format!("{{names.kalypso.io/renamed-from: {earlier:?}}}");
    format!(
        "---\n{{apiVersion: fleet.kalypso.io/v1alpha1, kind: Cluster, metadata: {{name: {name}, annotations: {annotations}}}, \
         spec: {{clusterType: ct-0009}}}}\n"
    )
}

#[test]
fn the_hub_gets_the_earlier_names_of_places_that_no_other_place_has() {
    let (mut world, hub) = (World::new(), MemoryHub::default());
    hub.publish_to(&world);
    assert!(earlier_names_of_places(&hub).values().all(Vec::is_empty));
    let path = world.files().keys().find(|path| path.ends_with("ct-0000.yaml")).unwrap().clone();
    let named = "  name: ct-0009\n  annotations: {names.kalypso.io/renamed-from: \"ct-0000, ct-0001, hall\"}\n";
    let text = world.files()[&path].replace("ct-0000", "ct-0009").replacen("  name: ct-0009\n", named, 1);
    let clusters = renamed_cluster("line-7", "line-6, line-8") + &renamed_cluster("line-8", "line-7");
    let renamed = path.replace("ct-0000", "ct-0009");
    world.change(&[(&path, None), (&renamed, Some(&text)), ("clusters/lines.yaml", Some(&clusters))]);
    let refused = world.publish(PublishOptions { is_direct: true, ..PublishOptions::default() });
    hub.publish_confirmed(&world, &[refused.places[0].planned.confirmation_word().unwrap()]);
    let found = earlier_names_of_places(&hub);
    let names = |place: &str| found[place].iter().map(String::as_str).collect::<Vec<_>>();
    assert_eq!(names("ct-0009"), ["ct-0000", "hall"]);
    assert_eq!((names("line-7"), names("line-8")), (vec!["line-6"], Vec::new()));
}

#[test]
fn the_hub_gets_the_earlier_names_that_no_other_workload_has() {
    let (mut world, hub) = (World::new(), MemoryHub::default());
    let path = "workloads/app-0000.yaml";
    let named = "  name: app-0000\n  annotations: {names.kalypso.io/renamed-from: \"app-0001, till\"}\n";
    let workload = world.files()[path].replacen("  name: app-0000\n", named, 1);
    world.change(&[(path, Some(&workload))]);
    hub.publish_to(&world);
    let publications = hub.publications.lock().unwrap();
    let targets = publications.iter().flat_map(|publication| &publication.places).flat_map(|place| &place.targets);
    let earlier: BTreeSet<_> = targets
        .filter_map(|target| Some((&*target.workload, &**target.labels.get("names.kalypso.io/renamed-from")?)))
        .collect();
    assert_eq!(earlier, BTreeSet::from([("app-0000", "till")]));
}
