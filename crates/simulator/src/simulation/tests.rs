//! The behavior of simulated hosts.

use git::{MemoryRepositories, NewCommit, Person};
use model::tree::{Tree, closed};

use super::*;

const URL: &str = "https://git.example/acme/gitops";

fn url() -> RepositoryUrl {
    RepositoryUrl::from_configuration(URL).unwrap()
}

/// A repository whose folders `edge/a` and `edge/b` contain this text.
fn committed(memory: &MemoryRepositories, text: &str) -> GitId {
    let mut tree = Tree::default();
    ["edge/a/app.yaml", "edge/b/app.yaml"].iter().for_each(|path| tree.write(path, text.as_bytes()));
    let author = Person { name: "Ann".into(), email: "ann@example.com".into() };
    let commit = NewCommit {
        parents: &[],
        tree: &tree,
        open: &closed,
        message: text,
        author: &author,
        seconds: 1,
        signer: None,
    };
    memory.commit(&url(), "dev", &commit).unwrap()
}

/// Two hosts for each format.
fn fleet(seed: u64, behavior: Behavior) -> Simulation {
    let pull = |name: &str| Pull {
        reconciler: name.into(),
        repository: url(),
        branch: "dev".into(),
        path: format!("edge/{name}"),
    };
    let host = |(number, format): (usize, &HostReportFormat)| HostOptions {
        name: format!("edge-{number:02}"),
        format: *format,
        token: Some(HubToken { text: "kal_id_secret".into(), id: "id".into(), signing_key: "key".into() }),
        pulls: vec![pull("a"), pull("b")],
    };
    let hosts =
        HostReportFormat::ALL.iter().cycle().take(2 * HostReportFormat::ALL.len()).enumerate().map(host).collect();
    Simulation::new(SimulationOptions { seed, starts_on: 1_000, behavior, hosts })
}

fn smooth() -> Behavior {
    Behavior { faltering: 0, failing: 0, lagging: 0, silent: 0, ..Behavior::default() }
}

fn lived(seed: u64, behavior: Behavior) -> (Simulation, Vec<Message>) {
    let memory = MemoryRepositories::default();
    let mut fleet = fleet(seed, behavior);
    let mut messages = Vec::new();
    for (hour, text) in ["one", "two"].iter().enumerate() {
        committed(&memory, text);
        fleet.read_contents(&memory).unwrap();
        let begin = 1_000 + 3_600 * hour as i64;
        (0..360).for_each(|step| messages.extend(fleet.advance(begin + step * 10)));
    }
    messages.extend(fleet.remaining_messages());
    (fleet, messages)
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_one_others() {
    let behavior = || Behavior { late: 20, twice: 10, ..Behavior::default() };
    assert_eq!(lived(7, behavior()).1, lived(7, behavior()).1);
    assert_ne!(lived(7, behavior()).1, lived(8, behavior()).1);
}

#[test]
fn hosts_without_faults_have_the_newest_content() {
    let (fleet, _) = lived(7, smooth());
    let memory = MemoryRepositories::default();
    committed(&memory, "one");
    let head = committed(&memory, "two");
    let reports = fleet.last_reports(i64::MAX);
    assert_eq!(reports.len(), 36);
    assert!(reports.values().all(|report| report.status == SentStatus::Success && report.content.commit == head));
}

#[test]
fn faltering_hosts_recover_and_failing_hosts_stay_failed() {
    let (fleet, _) = lived(7, Behavior { faltering: 100, ..smooth() });
    assert!(fleet.log.iter().any(|(_, report, _)| report.status == SentStatus::Failure && !report.message.is_empty()));
    assert!(fleet.last_reports(i64::MAX).values().all(|report| report.status == SentStatus::Success));
    let (fleet, _) = lived(7, Behavior { failing: 100, ..smooth() });
    assert!(fleet.last_reports(i64::MAX).values().all(|report| report.status == SentStatus::Failure));
}

#[test]
fn relapsing_hosts_fail_and_recover() {
    let (fleet, _) = lived(7, Behavior { relapsing: 30, ..smooth() });
    let of = |host| fleet.log.iter().filter(move |(number, report, _)| *number == host && report.pull.path == "edge/a");
    for host in 0..18 {
        let statuses: Vec<_> = of(host).map(|(_, report, _)| report.status).collect();
        assert!(statuses.windows(2).all(|pair| pair != [SentStatus::Failure, SentStatus::Failure]), "{statuses:?}");
        let relapsed = statuses.windows(2).filter(|pair| *pair == [SentStatus::Failure, SentStatus::Success]).count();
        assert!(relapsed > 0, "{host}: {statuses:?}");
    }
}

#[test]
fn lagging_hosts_keep_their_earlier_content() {
    let behavior = Behavior { lagging: 100, lag: 1_000_000, ..smooth() };
    let (fleet, _) = lived(7, behavior);
    let first = fleet.log[0].1.content;
    assert!(
        fleet
            .last_reports(i64::MAX)
            .values()
            .all(|report| report.content == first && report.status == SentStatus::Success)
    );
}

#[test]
fn settled_content_is_not_applied_again() {
    let memory = MemoryRepositories::default();
    committed(&memory, "one");
    let mut fleet = fleet(7, smooth());
    fleet.read_contents(&memory).unwrap();
    fleet.settle();
    fleet.advance(2_000);
    assert!(!fleet.log.is_empty() && fleet.log.iter().all(|(_, report, _)| report.status == SentStatus::Success));
}

#[test]
fn silent_hosts_send_no_more_reports() {
    let (fleet, _) = lived(7, Behavior { silent: 100, silent_after: 500..=500, ..smooth() });
    let promises = |report: &SentReport| report.heartbeat.is_some();
    assert!(
        fleet.log.iter().all(|(_, report, _)| !promises(report) || report.at < 1_500 && report.heartbeat == Some(300))
    );
    assert!(fleet.log.iter().any(|(_, report, _)| !promises(report) && report.at > 4_600), "Argo CD promises nothing");
}

#[test]
fn delayed_reports_are_not_received_yet() {
    let memory = MemoryRepositories::default();
    committed(&memory, "one");
    let mut fleet = fleet(7, Behavior { late: 100, delay: 5_000..=5_000, ..smooth() });
    fleet.read_contents(&memory).unwrap();
    assert_eq!(fleet.advance(2_000), []);
    assert!(fleet.last_reports(i64::MAX).is_empty() && !fleet.log.is_empty());
    fleet.remaining_messages();
    assert_eq!(fleet.last_reports(i64::MAX).len(), 36);
}

/// The number of hosts' reconcilers whose last report is a failure.
fn failures(fleet: &Simulation) -> usize {
    let last = fleet.last_reports(i64::MAX);
    last.values().filter(|report| report.status == SentStatus::Failure).count()
}

#[test]
fn chosen_hosts_fail_until_they_are_repaired() {
    let (memory, mut fleet) = (MemoryRepositories::default(), fleet(3, smooth()));
    committed(&memory, "one");
    fleet.read_contents(&memory).unwrap();
    fleet.settle();
    fleet.set_failing(|host| host == "edge-00");
    committed(&memory, "two");
    fleet.read_contents(&memory).unwrap();
    let live = |fleet: &mut Simulation, until| {
        fleet.advance(until);
        fleet.remaining_messages();
        (failures(fleet), fleet.is_outdated())
    };
    assert_eq!(live(&mut fleet, 3_000), (2, true));
    fleet.set_failing(|_| false);
    assert_eq!(live(&mut fleet, 6_000), (0, false));
}

#[test]
fn later_simulation_resumes_the_hosts() {
    let (memory, mut earlier) = (MemoryRepositories::default(), fleet(3, smooth()));
    committed(&memory, "one");
    earlier.read_contents(&memory).unwrap();
    earlier.settle();
    let mut later = fleet(4, smooth());
    later.read_contents(&memory).unwrap();
    assert!(later.is_outdated());
    later.resume(&earlier);
    assert!(!later.is_outdated());
}

#[test]
fn after_a_restart_all_hosts_report_that_they_are_well() {
    let (memory, mut fleet) = (MemoryRepositories::default(), fleet(3, smooth()));
    committed(&memory, "one");
    fleet.read_contents(&memory).unwrap();
    fleet.settle();
    fleet.restart();
    fleet.advance(3_000);
    fleet.remaining_messages();
    let last = fleet.last_reports(i64::MAX);
    assert_eq!(last.len(), 4 * HostReportFormat::ALL.len());
    assert!(last.values().all(|report| report.status == SentStatus::Success));
}
