//! Leases of environments: one holder at a time, which the clock of the database decides.

use std::collections::BTreeMap;
use std::time::Duration;

use hub::server::leases::{Holder, LeaseTable};
use hub::store::Database;
use hub::store::backup::{back_up, restore};
use hub_api::leases::{LeaderAction, LeaderRequest, LeaderState, Lease, LeaseAnswer, LeaseRound, WantedLease};
use hub_api::promotions::PromotionStatus;
use hub_api::syncs::{EnvironmentSync, EnvironmentSyncDetail, SyncPhase};

use crate::twins::Ground;

twins![
    leases_have_one_holder_as_in_the_model,
    concurrent_replicas_get_one_leader,
    states_and_requests_pass_between_replicas,
    a_backup_has_no_leases,
];

const HOUR: Duration = Duration::from_hours(1);
const ENVIRONMENTS: [&str; 3] = ["dev", "prod", "stage"];

fn replica(database: &Database, number: usize) -> LeaseTable {
    let holder = Holder { id: format!("id-{number}"), name: format!("replica-{number}") };
    LeaseTable { database: database.clone(), holder, duration: HOUR }
}

fn round(wanted: &[&str]) -> LeaseRound {
    let wanted = wanted.iter().map(|name| WantedLease { environment: (*name).to_owned(), state: None, known: 0 });
    LeaseRound {
        control_plane: "https://git.example/acme@main".to_owned(),
        wanted: wanted.collect(),
        ..LeaseRound::default()
    }
}

/// Lets the time of the database pass for all leases.
async fn pass(database: &Database, time: Duration) {
    let mut transaction = database.begin().await.unwrap();
    let earlier = database.dialect().later("held_until", -i64::try_from(time.as_millis()).unwrap());
    transaction.run(&format!("update lease set held_until = {earlier}")).await.unwrap();
    transaction.commit().await.unwrap();
}

/// The lease of an environment in the model.
#[derive(Clone, Copy)]
struct Held {
    holder: usize,
    term: i64,
    has_ended: bool,
}

async fn leases_have_one_holder_as_in_the_model(ground: Ground) {
    let replicas = [0, 1, 2].map(|number| replica(&ground.database, number));
    let mut model = BTreeMap::<&str, Held>::new();
    // Numbers that look random, and are the same in each run.
    let numbers =
        std::iter::successors(Some(7_u64), |last| Some(last.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1)));
    for number in numbers.map(|number| (number >> 33) as usize).take(200) {
        let (holder, some) = (number % 3, number / 3 % 8);
        let some: Vec<_> =
            ENVIRONMENTS.iter().enumerate().filter(|(bit, _)| some >> bit & 1 == 1).map(|(_, name)| *name).collect();
        match number / 24 % 4 {
            0 => {
                let given_up = some.iter().map(|name| (*name).to_owned()).collect();
                replicas[holder].exchange(&LeaseRound { given_up, ..round(&[]) }).await.unwrap();
                let own = model.iter_mut().filter(|(name, held)| some.contains(name) && held.holder == holder);
                own.for_each(|(_, held)| held.has_ended = true);
            }
            1 => {
                pass(&ground.database, 2 * HOUR).await;
                model.values_mut().for_each(|held| held.has_ended = true);
            }
            _ => {
                let LeaseAnswer { leases, .. } = replicas[holder].exchange(&round(&some)).await.unwrap();
                assert_eq!(leases.len(), some.len());
                for lease in leases {
                    let name = ENVIRONMENTS.into_iter().find(|name| *name == lease.environment).unwrap();
                    let held = model.entry(name).or_insert(Held { holder, term: 1, has_ended: false });
                    if held.has_ended || held.holder == holder {
                        held.term += i64::from(held.holder != holder);
                        (held.holder, held.has_ended) = (holder, false);
                    }
                    check(&lease, *held, holder);
                }
            }
        }
    }
    assert!(model.values().any(|held| held.term > 5), "leases move");
}

fn check(lease: &Lease, held: Held, asking: usize) {
    assert_eq!((lease.is_own, lease.term), (held.holder == asking, held.term), "{lease:?}");
    assert_eq!(lease.holder, format!("replica-{}", held.holder));
    assert!(lease.rest > HOUR / 2 && lease.rest <= HOUR, "{lease:?}");
}

async fn concurrent_replicas_get_one_leader(ground: Ground) {
    let [first, second] = [0, 1].map(|number| replica(&ground.database, number));
    for number in 0..20 {
        // New leases, and leases that have ended.
        let new = format!("new-{number}");
        let wanted = round(&["prod", &new, "dev"]);
        let (one, two) = tokio::join!(first.exchange(&wanted), second.exchange(&wanted));
        for (one, two) in one.unwrap().leases.into_iter().zip(two.unwrap().leases) {
            assert!(one.is_own != two.is_own, "{one:?} {two:?}");
            assert_eq!((&one.environment, &one.holder, one.term), (&two.environment, &two.holder, two.term));
        }
        pass(&ground.database, 2 * HOUR).await;
    }
}

fn detail(failures: u32) -> LeaderState {
    let (environment, phase) = ("prod".to_owned(), SyncPhase::Waiting);
    let promotion = PromotionStatus {
        environment: environment.clone(),
        before: vec!["stage".to_owned()],
        after: Vec::new(),
        evaluated_on: None,
        problem: Some("no graph".to_owned()),
        waiting_for: Vec::new(),
        subjects: Vec::new(),
    };
    let state = EnvironmentSync { environment, phase, leader: None, last: None, failures, next_on: None };
    let sync = EnvironmentSyncDetail { state, plans: Vec::new(), problems: Vec::new() };
    LeaderState { sync, promotion: Some(promotion) }
}

fn state_of_prod(state: Option<LeaderState>, known: i64) -> LeaseRound {
    let wanted = vec![WantedLease { environment: "prod".to_owned(), state, known }];
    LeaseRound { wanted, ..round(&[]) }
}

async fn states_and_requests_pass_between_replicas(ground: Ground) {
    let [leader, other] = [0, 1].map(|number| replica(&ground.database, number));
    leader.exchange(&state_of_prod(Some(detail(1)), 0)).await.unwrap();
    // What a replica stores that does not lead is ignored.
    let seen = other.exchange(&state_of_prod(Some(detail(9)), 0)).await.unwrap().leases.remove(0);
    assert_eq!((seen.is_own, seen.number, seen.state), (false, 1, Some(detail(1))));
    let again = other.exchange(&state_of_prod(None, seen.number)).await.unwrap().leases.remove(0);
    assert_eq!((again.number, again.state), (1, None), "it is known");

    let action = LeaderAction::Confirm { word: "1f2e3d4c".to_owned(), by: "ann".to_owned() };
    let actions = [LeaderAction::Sync, LeaderAction::SyncAfterWebhook, action];
    let requests: Vec<_> =
        actions.into_iter().map(|action| LeaderRequest { environment: "prod".to_owned(), action }).collect();
    let sent = LeaseRound { requests: requests.clone(), ..round(&["prod"]) };
    assert!(other.exchange(&sent).await.unwrap().requests.is_empty(), "it does not lead");
    let mut received = leader.exchange(&round(&["prod"])).await.unwrap().requests;
    assert_eq!(received.iter().map(|received| received.request.clone()).collect::<Vec<_>>(), requests);
    let handled = received.drain(..2).map(|received| received.id).collect();
    let rest = leader.exchange(&LeaseRound { handled, ..round(&["prod"]) }).await.unwrap().requests;
    assert_eq!(rest, received, "what is not handled comes again");

    // Another control plane in the same database has leases of its own.
    let elsewhere = LeaseRound { control_plane: "https://git.example/other@main".to_owned(), ..round(&["prod"]) };
    let answer = other.exchange(&elsewhere).await.unwrap();
    assert!(answer.leases[0].is_own && answer.requests.is_empty());

    let given_up = LeaseRound { given_up: vec!["prod".to_owned()], ..round(&[]) };
    leader.exchange(&given_up).await.unwrap();
    let answer = other.exchange(&round(&["prod"])).await.unwrap();
    assert!(answer.leases[0].is_own && answer.leases[0].term == 2, "{answer:?}");
    assert_eq!(answer.requests, received, "the next leader gets what was not handled");
}

async fn a_backup_has_no_leases(ground: Ground) {
    let request = LeaderRequest { environment: "prod".to_owned(), action: LeaderAction::Sync };
    let round = LeaseRound { requests: vec![request], ..round(&["prod"]) };
    replica(&ground.database, 0).exchange(&round).await.unwrap();
    let mut bytes = Vec::new();
    back_up(&ground.database, &mut bytes).await.unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains("replica-0"));
    restore(&ground.database, &mut bytes.as_slice()).await.unwrap();
}
