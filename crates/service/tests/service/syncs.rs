//! What requests a sync, and what comes of it.

use std::time::Duration;

use delivery::access::ControlPlaneSettings;
use git_host::HostKind;
use git_host::double::events::RepositoryWebhooks;
use git_host::error::HostError;
use git_host::secret::{Secret, SecretSource};
use hub_api::syncs::{Confirmation, ConfirmationError, SyncPhase, SyncReceipt, SyncRequest, SyncService as _};
use service::{Service, ServiceSettings};
use testkit::company::memory::commit_files;
use testkit::company::{BranchTexts, CONTROL_PLANE, MemoryCompany, PAGES, PROPOSAL};
use testkit::generator::ENVIRONMENT;
use testkit::objects;

use crate::world::{OFTEN, RARELY, SECRET, World, eventually, state, syncs};

fn all() -> SyncReceipt {
    SyncReceipt { environments: vec![ENVIRONMENT.to_owned()] }
}

#[test]
fn polls_find_changes_of_sources_and_merges() {
    let mut world = World::new();
    let service = world.start(OFTEN);
    assert_eq!(world.last().number, 1);
    let before = world.last();
    world.company.change_value("1");
    eventually("the update", || world.last().head_commit != before.head_commit && world.last().body != before.body);
    eventually("the end of the sync", || state(&service).phase == SyncPhase::Waiting);
    world.merge();
    eventually("the removal of the branch", || world.company.head(PROPOSAL).is_none());
    // On a busy machine, a poll sees the merge after the sync that found it.
    let is_quiet = || {
        let before = syncs(&service);
        std::thread::sleep(Duration::from_millis(300));
        syncs(&service) == before && state(&service).phase == SyncPhase::Waiting
    };
    eventually("the rest", is_quiet);
    world.company.change_value("2");
    eventually("the next proposal", || world.pull_requests().len() == 2);
    // Its own pushes request no sync.
    eventually("the end of the sync", || state(&service).phase == SyncPhase::Waiting);
    assert!(is_quiet());
}

fn repository_webhooks<'a>(secret: &'a Secret, url: &'a str) -> RepositoryWebhooks<'a> {
    RepositoryWebhooks { kind: HostKind::GitHub, secret, url }
}

#[test]
fn a_webhook_is_verified_and_requests_one_sync_for_a_burst() {
    let mut world = World::new();
    let service = world.start(RARELY);
    assert_eq!(syncs(&service), 1);
    let send = |secret: &str, commit| {
        let sent = repository_webhooks(&Secret::new(secret), CONTROL_PLANE).push(ENVIRONMENT, commit);
        let header = |name: &str| {
            let found = sent.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.clone())
        };
        service.receive_webhook("github", &header, sent.body.as_bytes())
    };
    let read = world.company.environment_head();
    assert_eq!(send(SECRET, Some(read)).unwrap(), SyncReceipt::default(), "the commit is known");
    for number in 0..20 {
        world.company.change_value(&number.to_string());
        assert_eq!(send(SECRET, Some(world.company.environment_head())).unwrap(), all());
    }
    assert_eq!(send("another secret", None).unwrap_err().status, 401);
    assert_eq!(service.receive_webhook("github", &|_| None, b"{}").unwrap_err().status, 401);
    assert_eq!(service.receive_webhook("gitea", &|_| None, b"{}").unwrap_err().status, 401);
    assert_eq!(service.receive_webhook("svn", &|_| None, b"{}").unwrap_err().status, 404);
    eventually("the sync", || syncs(&service) > 1 && state(&service).phase == SyncPhase::Waiting);
    std::thread::sleep(Duration::from_millis(200));
    assert!(syncs(&service) <= 4, "{} syncs for a burst", syncs(&service));
    let newest = world.company.environment_head().to_string();
    assert!(state(&service).last.unwrap().sources.iter().any(|source| source.commit == newest));
}

#[test]
fn a_replaced_secret_of_webhooks_counts_at_once() {
    let world = World::new();
    let mut settings = world.settings(RARELY);
    settings.hosts[0].webhook_secrets = vec![SecretSource::sequence(&["old", "new"])];
    let service = Service::start(settings);
    eventually("the first sync", || service.missing().is_empty());
    let send = |secret: &str| {
        let sent = repository_webhooks(&Secret::new(secret), CONTROL_PLANE).push(ENVIRONMENT, None);
        let header = |name: &str| sent.headers.iter().find(|(own, _)| *own == name).map(|(_, value)| value.clone());
        service.receive_webhook("github", &header, sent.body.as_bytes()).map_err(|refused| refused.status)
    };
    assert_eq!((send("old"), send("new"), send("old")), (Ok(all()), Ok(all()), Err(401)));
}

/// The number of webhooks with a result, from the metrics.
fn webhooks(service: &Service, result: &str) -> usize {
    let line = format!("kalypso_webhooks_total{{kind=\"github\",result=\"{result}\"}} ");
    let metrics = service.metrics();
    metrics.lines().find_map(|found| found.strip_prefix(&line)?.parse().ok()).unwrap_or_default()
}

#[test]
fn a_webhook_counts_by_the_path_of_its_repository() {
    let mut world = World::new();
    let service = world.start(RARELY);
    let path = CONTROL_PLANE.strip_prefix(PAGES).unwrap().trim_matches('/');
    let send = |url: &str, commit| {
        let sent = repository_webhooks(&Secret::new(SECRET), url).push(ENVIRONMENT, commit);
        let header = |name: &str| sent.headers.iter().find(|(own, _)| *own == name).map(|(_, value)| value.clone());
        service.receive_webhook("github", &header, sent.body.as_bytes()).unwrap()
    };
    let addresses = [
        format!("http://internal:3000/{}.git", path.to_uppercase()),
        format!("{PAGES}/{path}.git/"),
        format!("ssh://git@internal:2222/{path}.git"),
        format!("git@internal:{path}"),
    ];
    for (number, url) in addresses.iter().enumerate() {
        world.company.change_value(&number.to_string());
        assert_eq!(send(url, Some(world.company.environment_head())), all(), "{url}");
    }
    assert_eq!((webhooks(&service, "success"), webhooks(&service, "unmatched")), (addresses.len(), 0));
    for _ in 0..2 {
        assert_eq!(send("http://internal:3000/acme/other.git", None), SyncReceipt::default());
    }
    assert_eq!((webhooks(&service, "success"), webhooks(&service, "unmatched")), (addresses.len(), 2));
}

#[test]
fn removals_wait_for_the_confirmation_of_exactly_these() {
    let mut company = MemoryCompany::new();
    company.set_gitops_field("autoMerge: true");
    let mut world = World::with_company(company);
    world.begin_states();
    let settings = ServiceSettings { confirmers: Some(vec!["ann".to_owned()]), ..world.settings(RARELY) };
    let service = Service::start(settings);
    eventually("the first sync", || service.missing().is_empty());
    assert!(!world.last().is_open(), "it is merged");
    let path = world.company.files().keys().find(|path| path.starts_with("cluster-types/")).unwrap().clone();
    world.company.change(&[(&path, None)]);
    assert_eq!(service.request_sync(&SyncRequest::default()).unwrap(), all());
    eventually("the proposal", || world.pull_requests().len() == 2);
    let word = || state(&service).last?.destinations.first()?.confirmation.clone();
    eventually("the word", || word().is_some());
    let word = word().unwrap();
    let confirm_as = |by: &str, environment: &str, word: &str| {
        let confirmation = Confirmation { environment: environment.to_owned(), word: word.to_owned() };
        service.confirm(&confirmation, by)
    };
    let confirm = |environment: &str, word: &str| confirm_as("ann", environment, word);
    assert!(matches!(confirm_as("bob", ENVIRONMENT, &word), Err(ConfirmationError::NotAllowed { .. })));
    assert!(matches!(confirm("nowhere", &word), Err(ConfirmationError::Unknown(_))));
    assert!(matches!(confirm(ENVIRONMENT, "00000000"), Err(ConfirmationError::OtherWord { .. })));
    assert!(world.last().is_open());
    assert_eq!(confirm(ENVIRONMENT, &word).unwrap(), all());
    eventually("the merge", || !world.last().is_open());
    let noted = format!("ann confirmed the removals with the word {word}");
    assert!(world.newest_state().contains(&noted), "{}", world.newest_state());
}

#[test]
fn unreachable_systems_are_reported_and_retried() {
    let world = World::new();
    world.company.break_control_plane();
    let service = Service::start(world.settings(OFTEN));
    eventually("the reason", || service.missing().iter().any(|reason| reason.contains("it is down")));
    assert!(service.states().is_empty());
    assert!(service.request_sync(&SyncRequest { environment: Some(ENVIRONMENT.to_owned()) }).is_err());

    let world = World::new();
    let failed = HostError::Failed { call: "GET /pulls".to_owned(), status: 502, message: "Bad Gateway".to_owned() };
    world.host.fail_next("pull_requests", failed, false);
    let service = world.start(RARELY);
    let last = state(&service).last.unwrap();
    assert!(last.error.as_ref().is_some_and(|error| error.contains("502")), "{last:?}");
    assert_eq!((state(&service).failures, world.company.head(PROPOSAL)), (1, None));
    service.request_sync(&SyncRequest::default()).unwrap();
    eventually("the second try", || state(&service).failures == 0);
    assert_eq!(world.pull_requests().len(), 1);
}

#[test]
fn restart_reaches_the_same_state_without_local_state() {
    let mut world = World::new();
    for number in 0..3 {
        let service = world.start(RARELY);
        service.stop(Duration::from_mins(1));
        world.company.change_value(&number.to_string());
    }
    let service = world.start(RARELY);
    assert_eq!(world.pull_requests().len(), 1);
    let detail = service.detail(ENVIRONMENT).unwrap();
    assert!(detail.plans[0].markdown.contains("added"), "{detail:?}");
    assert_eq!(detail.state.last.unwrap().destinations[0].pull_request.as_ref().unwrap().number, 1);
}

#[test]
fn changed_settings_apply_to_a_running_service() {
    let mut world = World::new();
    let service = world.start(RARELY);
    service.replace(world.settings(OFTEN));
    world.company.change_value("1");
    let newest = world.company.environment_head().to_string();
    eventually("the sync with the new settings", || {
        let sources = service.states().into_iter().filter_map(|state| state.last).flat_map(|last| last.sources);
        sources.into_iter().any(|source| source.commit == newest)
    });
    assert_eq!(world.pull_requests().len(), 1);
}

#[test]
fn a_new_environment_is_found() {
    let world = World::new();
    let service = world.start(OFTEN);
    world.company.declare("second");
    eventually("the new environment", || service.states().iter().any(|state| state.environment == "second"));
    eventually("its first sync", || service.missing().is_empty());
    assert_eq!(service.states().len(), 2);
}

#[test]
fn broken_control_plane_does_not_delay_the_others() {
    let world = World::new();
    let commit = |branch: &str, files: &BranchTexts| {
        commit_files(&world.company.repositories, (CONTROL_PLANE, branch), files);
    };
    commit("retail", &[(".environments/shop.yaml".to_owned(), objects::environment("shop"))].into());
    let mut files = world.company.files().clone();
    let gitops = files["gitops-repo.yaml"].replace("branch: clusters", "branch: shops");
    files.insert("gitops-repo.yaml".to_owned(), gitops);
    commit("shop", &files);
    let settings = world.settings(RARELY);
    let other = |branch: &str| ControlPlaneSettings { branch: branch.to_owned(), ..settings.control_plane.clone() };
    let others = [("retail", "retail"), ("broken", "nowhere")].map(|(name, branch)| (name.to_owned(), other(branch)));
    let service = Service::start(ServiceSettings { other_control_planes: others.into(), ..settings });
    eventually("both environments", || {
        let states = service.states();
        let names: Vec<_> = states.iter().map(|state| state.environment.as_str()).collect();
        names == [ENVIRONMENT, "retail:shop"] && states.iter().all(|state| state.last.is_some())
    });
    let [missing] = &service.missing()[..] else { panic!("{:?}", service.missing()) };
    assert!(missing.starts_with("control plane broken: ") && missing.contains("nowhere"), "{missing}");
    assert!(world.company.head("kalypso/shop").is_some() && world.company.head(PROPOSAL).is_some());
    assert!(service.detail("retail:shop").is_some() && service.detail("shop").is_none());
    let request = |name: &str| service.request_sync(&SyncRequest { environment: Some(name.to_owned()) });
    assert_eq!(request("retail:shop").unwrap().environments, ["retail:shop"]);
    assert!(request("retail:prod").is_err() && request("broken:shop").is_err());
    assert_eq!(service.request_sync(&SyncRequest::default()).unwrap().environments, [ENVIRONMENT, "retail:shop"]);
    assert!(service.metrics().contains("kalypso_syncs_total{environment=\"retail:shop\""));
}
