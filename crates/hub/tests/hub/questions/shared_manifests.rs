//! A folder of manifests that targets of several environments share.

use hub::questions::{compare, deployments, rollout};
use hub::server::shared_manifests::{SharedManifests, SharingTarget, find};
use hub::writer::Writer;
use hub_api::compare::{Compared, ComparedSide};
use hub_api::deployments::Deployment;
use hub_api::endpoint::Endpoint;
use hub_api::filter::Filter;
use hub_api::page::Page;
use hub_api::publication::{BranchContent, DesiredPlace, DesiredTarget, DesiredVersion, Role};
use hub_api::report::{Report, Status};
use hub_api::rollouts::EnvironmentRollout;
use hub_api::timestamp::Timestamp;

use super::releases::{COMMITTED, REPOSITORY, tree};
use crate::sample;
use crate::twins::Ground;

twins![environments_that_share_manifests_are_counted_separately, folders_that_environments_share_are_found];

/// A workload with a target in each of two environments, whose manifests are one folder. `dev` has 2.4.0 of it, and `prod` 2.3.0.
async fn with_shared_manifests(ingest: &Writer) {
    const MANIFESTS: &str = "https://git.example/acme/portal-manifests";
    let target = |environment: &str, version: &str| DesiredTarget {
        workspace: "acme".into(),
        application: "clinics".into(),
        workload: "portal".into(),
        name: format!("portal-{environment}"),
        environment: environment.into(),
        version: Some(DesiredVersion::named(version)),
        ..DesiredTarget::default()
    };
    let place = |path: &str, (role, environment): (Role, Option<&str>), targets| DesiredPlace {
        path: path.into(),
        tree: Some(tree(path)),
        role,
        environment: environment.map(Into::into),
        cluster_type: Some("clinic".into()).filter(|_| role == Role::Platform),
        cluster: None,
        earlier_names: Vec::new(),
        config_version: None,
        targets,
    };
    let content = |(repository, branch): (&str, &str), number: i64, places| BranchContent {
        repository: repository.into(),
        branch: branch.into(),
        commit: sample::hash(number),
        committed_on: Timestamp::from_millis(COMMITTED * number),
        places,
        is_complete: true,
    };
    let shared = vec![target("dev", "2.4.0"), target("prod", "2.4.0")];
    let manifests = place("portal", (Role::Application, Some("dev")), shared);
    ingest.publish(content((MANIFESTS, "main"), 1, vec![manifests])).await.unwrap();
    let mut reports = Vec::new();
    for (number, (environment, version, host)) in (2..).zip([("dev", "2.4.0", "berlin"), ("prod", "2.3.0", "tokyo")]) {
        let folder = |path: &str, targets| place(path, (Role::Platform, Some(environment)), targets);
        let path = format!("{host}/portal");
        let places = vec![folder(host, Vec::new()), folder(&path, vec![target(environment, version)])];
        ingest.publish(content((REPOSITORY, environment), number, places)).await.unwrap();
        // The host in `prod` applies the folder of the whole cluster.
        let path = if environment == "prod" { host.to_owned() } else { path };
        let folders = [(REPOSITORY, environment, path, number), (MANIFESTS, "main", "portal".to_owned(), 1)];
        for (repository, branch, path, commit) in folders {
            reports.push(Report {
                host: host.into(),
                reconciler: path.clone(),
                endpoint: Endpoint::new(repository, branch, &path).ok(),
                revision: sample::hash(commit),
                status: Status::Success,
                ..sample::report("", "prod", "", sample::Applied { commit: 1, at: 150_000 })
            });
        }
    }
    ingest.submit(reports).await.unwrap();
}

async fn environments_that_share_manifests_are_counted_separately(ground: Ground) {
    let (ingest, _writer) = Writer::start(ground.database.clone());
    with_shared_manifests(&ingest).await;
    for (version, expected) in [
        ("2.4.0", ["dev 1 of 1, 0 elsewhere", "prod 0 of 0, 1 elsewhere"]),
        ("2.3.0", ["dev 0 of 0, 1 elsewhere", "prod 1 of 1, 0 elsewhere"]),
    ] {
        let answer = rollout(&ground.database, &format!("portal@{version}"), &Filter::default(), None).await.unwrap();
        let line = |one: &EnvironmentRollout| {
            format!(
                "{} {} of {}, {} elsewhere",
                one.environment, one.counts.succeeded, one.counts.expected, one.elsewhere
            )
        };
        let lines: Vec<_> = answer.environments.iter().map(line).collect();
        assert_eq!(lines, expected, "{version}");
    }
    let page = deployments(&ground.database, &Filter::default(), &Page::default(), None).await.unwrap();
    let line = |row: &Deployment| {
        let target = row.target.as_ref().map(|target| target.target.as_str());
        format!("{} {} {}", row.host, row.environment.as_deref().unwrap_or_default(), target.unwrap_or_default())
    };
    let lines: Vec<_> = page.items.iter().map(line).collect();
    assert_eq!(lines, ["berlin dev portal-dev", "tokyo prod portal-prod", "berlin dev portal-dev", "tokyo prod "]);
    let compared = Compared {
        from: "dev".into(),
        to: "prod".into(),
        map: Some("portal-dev=portal-prod".into()),
        ..Compared::default()
    };
    let answer = compare(&ground.database, &compared, &Filter::default(), &Page::default()).await.unwrap();
    let side = |side: Option<&ComparedSide>| {
        side.map(|side| (side.version.clone().unwrap_or_default(), side.counts.succeeded, side.counts.expected))
    };
    let sides: Vec<_> = answer.items.iter().map(|row| [side(row.from.as_ref()), side(row.to.as_ref())]).collect();
    assert_eq!(sides, [[Some(("2.4.0".to_owned(), 1, 1)), Some(("2.3.0".to_owned(), 1, 1))]]);
    let at = Some(Timestamp::from_millis(160_000));
    let then = rollout(&ground.database, "portal@2.4.0", &Filter::default(), at).await.unwrap();
    assert_eq!((then.counts.expected, then.counts.succeeded), (1, 1));
}

async fn folders_that_environments_share_are_found(ground: Ground) {
    let (ingest, _writer) = Writer::start(ground.database.clone());
    assert_eq!(find(&ground.database).await.unwrap(), []);
    with_shared_manifests(&ingest).await;
    let target = |environment: &str| SharingTarget {
        environment: environment.into(),
        workload: "portal".into(),
        target: format!("portal-{environment}"),
    };
    let shared = SharedManifests {
        endpoint: "https://git.example/acme/portal-manifests/main/portal".into(),
        targets: vec![target("dev"), target("prod")],
    };
    assert_eq!(find(&ground.database).await.unwrap(), [shared]);
}
