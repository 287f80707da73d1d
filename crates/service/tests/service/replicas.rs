//! Two replicas with the same leases: one syncs, the other shows its state and passes on requests.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use git_host::HostKind;
use git_host::double::events::RepositoryWebhooks;
use git_host::secret::Secret;
use hub_api::leases::Leases;
use hub_api::syncs::{Confirmation, ConfirmationError, SyncRequest, SyncService as _};
use service::{Service, ServiceSettings, Timing};
use testkit::company::{CONTROL_PLANE, MemoryCompany};
use testkit::generator::ENVIRONMENT;

use crate::leases::{DURATION, MemoryLeases, Table};
use crate::world::{OFTEN, RARELY, SECRET, World, eventually, state, syncs};

struct Replica {
    service: Service,
    leases: Arc<MemoryLeases>,
}

impl Replica {
    /// Starts a replica and waits until it is ready.
    fn start(world: &World, timing: Timing, (holder, table): (&'static str, &Arc<Mutex<Table>>)) -> Self {
        let leases = MemoryLeases::new(holder, table);
        let service = Service::start(settings(world, timing, &leases));
        eventually("a leader", || service.missing().is_empty());
        Self { service, leases }
    }

    fn leads(&self) -> bool {
        self.service.metrics().contains(&format!("kalypso_environment_leading{{environment=\"{ENVIRONMENT}\"}} 1"))
    }
}

fn settings(world: &World, timing: Timing, leases: &Arc<MemoryLeases>) -> ServiceSettings {
    ServiceSettings { leases: Some(Arc::clone(leases) as Arc<dyn Leases>), ..world.settings(timing) }
}

fn two(world: &World, timing: Timing) -> (Replica, Replica) {
    let table = Arc::default();
    let (first, second) = (("one", &table), ("two", &table));
    let pair = (Replica::start(world, timing, first), Replica::start(world, timing, second));
    assert!(pair.0.leads() && !pair.1.leads());
    pair
}

#[test]
fn the_other_replica_shows_the_state_and_passes_requests_on() {
    let mut world = World::new();
    let (leader, other) = two(&world, RARELY);
    eventually("the state", || state(&other.service).last.is_some());
    let (own, shown) = (leader.service.detail(ENVIRONMENT).unwrap(), other.service.detail(ENVIRONMENT).unwrap());
    assert_eq!(shown, own);
    assert_eq!((shown.state.leader.as_deref(), syncs(&other.service)), (Some("one"), 0));

    world.company.change_value("1");
    other.service.request_sync(&SyncRequest::default()).unwrap();
    let newest = |service: &Service, commit: &str| {
        state(service).last.is_some_and(|last| last.sources.iter().any(|source| source.commit == commit))
    };
    let commit = world.company.environment_head().to_string();
    eventually("the sync by the leader", || newest(&leader.service, &commit));
    eventually("the new state", || newest(&other.service, &commit));
    eventually("the end of the request", || other.leases.waiting() == 0);

    let send = |commit| {
        let secret = Secret::new(SECRET);
        let webhooks = RepositoryWebhooks { kind: HostKind::GitHub, secret: &secret, url: CONTROL_PLANE };
        let sent = webhooks.push(ENVIRONMENT, Some(commit));
        let header =
            |name: &str| sent.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, v)| v.clone());
        other.service.receive_webhook("github", &header, sent.body.as_bytes()).unwrap().environments
    };
    assert!(send(world.company.environment_head()).is_empty(), "the commit is known");
    world.company.change_value("2");
    assert_eq!(send(world.company.environment_head()), [ENVIRONMENT]);
    let commit = world.company.environment_head().to_string();
    eventually("the sync by the leader", || newest(&leader.service, &commit));
    assert_eq!((syncs(&other.service), world.pull_requests().len()), (0, 1));
}

#[test]
fn a_confirmation_reaches_the_leader() {
    let mut company = MemoryCompany::new();
    company.set_gitops_field("autoMerge: true");
    let mut world = World::with_company(company);
    let (leader, other) = two(&world, RARELY);
    let path = world.company.files().keys().find(|path| path.starts_with("cluster-types/")).unwrap().clone();
    world.company.change(&[(&path, None)]);
    leader.service.request_sync(&SyncRequest::default()).unwrap();
    let word = || state(&other.service).last?.destinations.first()?.confirmation.clone();
    eventually("the word", || word().is_some());
    let confirm = |word: &str| {
        other.service.confirm(&Confirmation { environment: ENVIRONMENT.to_owned(), word: word.to_owned() }, "ann")
    };
    assert!(matches!(confirm("00000000"), Err(ConfirmationError::OtherWord { .. })));
    assert!(world.last().is_open());
    confirm(&word().unwrap()).unwrap();
    eventually("the merge", || !world.last().is_open());
    assert_eq!(syncs(&other.service), 0);
}

#[test]
fn a_replica_that_is_cut_off_stops_before_the_other_one_begins() {
    let mut world = World::new();
    let (leader, other) = two(&world, OFTEN);
    leader.leases.cut_off();
    eventually("the takeover", || {
        // The order matters: the former leader is asked last.
        let (new, old) = (other.leads(), leader.leads());
        assert!(!(old && new), "two replicas lead");
        new
    });
    eventually("its sync", || state(&other.service).last.is_some_and(|last| last.reason == "takeover"));
    let before = syncs(&leader.service);
    world.company.change_value("1");
    let commit = world.company.environment_head().to_string();
    eventually("the sync by the other replica", || {
        state(&other.service).last.is_some_and(|last| last.sources.iter().any(|source| source.commit == commit))
    });
    assert_eq!((syncs(&leader.service), world.pull_requests().len()), (before, 1));
    leader.leases.reconnect();
    eventually("the new state", || state(&leader.service).leader.as_deref() == Some("two"));
    assert!(!leader.leads() && other.leads());
}

#[test]
fn a_stop_gives_the_leases_up_at_once_and_a_reload_keeps_them() {
    let world = World::new();
    let (leader, other) = two(&world, RARELY);
    leader.service.replace(settings(&world, RARELY, &leader.leases));
    eventually("the lease", || leader.leads());
    std::thread::sleep(DURATION);
    assert!(leader.leads() && !other.leads());
    leader.service.stop(Duration::from_mins(1));
    assert!(!leader.leads());
    eventually("the takeover", || other.leads());
    eventually("its sync", || state(&other.service).last.is_some_and(|last| last.reason == "takeover"));
    assert_eq!(world.pull_requests().len(), 1);
}

#[test]
fn a_new_environment_of_two_replicas_has_one_leader() {
    let world = World::new();
    let (first, second) = two(&world, OFTEN);
    world.company.declare("second");
    let shown = |replica: &Replica| replica.service.states().into_iter().find(|state| state.environment == "second");
    let leader = |replica: &Replica| shown(replica).and_then(|state| state.leader);
    eventually("one leader", || leader(&first).is_some() && leader(&first) == leader(&second));
    eventually("the first sync", || {
        [&first, &second].into_iter().all(|replica| shown(replica).unwrap().last.is_some())
    });
}
