//! Rounds with the service: users change things, webhooks are lost, the git host fails, and the service is killed.

mod clock;
mod disk;
mod happenings;
mod hosted;
mod kind;
mod large;
mod model;
mod slow;
mod storm;

use std::fmt::Write as _;
use std::panic::resume_unwind;
use std::time::{Duration, Instant};

use git_host::HostKind;

pub(crate) use self::clock::jumping_clock;
pub(crate) use self::disk::full_disk;
use self::happenings::Round;
use self::hosted::{FOREIGN_BRANCH, Hosted, PATIENCE, eventually};
pub(crate) use self::large::large_history;
use self::model::Model;
pub(crate) use self::slow::slow_answers;
pub(crate) use self::storm::storm;
use crate::chance::Chance;
use crate::company::git;
use crate::rounds::{number, told};
use crate::site::{ENVIRONMENTS, await_unlocked, processes_with};

/// The settings of the service: it finds a change without a webhook after a second.
const SERVICE: &str = "poll = \"1s\"\nsettle = \"50ms\"\nresync = \"1h\"\n";
/// The number of kills on GitHub without other settings.
const KILLS: u64 = 5;
/// The number of rounds on each other kind of git host without other settings.
const ROUNDS_OF_OTHERS: u64 = 3;
/// The longest series of events in a round.
const EVENTS_MAX: u64 = 5;
/// Rounds in which the service needs longer are shown. After several failures, it waits that long before it tries again.
const SLOW: Duration = Duration::from_secs(20);
/// The time limit for child processes of a killed service.
const ORPHANS_LIMIT: Duration = Duration::from_secs(30);

/// Runs rounds on a kind of git host. The variables of [`crate::rounds::run`] select them.
pub(crate) fn run(kind: HostKind) {
    let seed = number("KALYPSO_FAULTS_SEED").unwrap_or(1);
    let (amount, name) = (Amount::of_this_run(kind), kind.as_str());
    let start = Instant::now();
    let (mut site, mut tally) = (Site::new(kind), Tally::default());
    let mut round = 0;
    while amount.is_left(round, tally.kills) {
        round += 1;
        // Each round on each kind has its own random numbers, so that it can be repeated alone.
        let mut chance = Chance::new(seed ^ round << 20 ^ (kind as u64) << 40);
        let story = format!("round {round} of seed {seed} with the service on {name}");
        let again = format!("--seed {seed} --rounds {round} --only service --host {name}");
        let played = told(story, &again, |story| site.play(&mut tally, (&mut chance, story)));
        if let Err(panic) = played {
            println!("{}", site.log());
            resume_unwind(panic);
        }
    }
    site.end();
    let Tally { kills, proposals, slowest } = tally;
    println!(
        "service on {name}: {round} rounds, killed {kills} times, {proposals} proposals compared; it was right again after {:.1} s at most; {} s in all, seed {seed}",
        slowest.as_secs_f64(),
        start.elapsed().as_secs()
    );
}

/// The number of rounds, or of kills.
#[derive(Clone, Copy)]
enum Amount {
    Rounds(u64),
    Kills(u64),
}

impl Amount {
    fn of_this_run(kind: HostKind) -> Self {
        match (number("KALYPSO_FAULTS_ROUNDS"), number("KALYPSO_FAULTS_KILLS")) {
            (Some(rounds), _) => Self::Rounds(rounds),
            (None, Some(kills)) => Self::Kills(kills),
            (None, None) if kind == HostKind::GitHub => Self::Kills(KILLS),
            (None, None) => Self::Rounds(ROUNDS_OF_OTHERS),
        }
    }

    /// Whether another round follows.
    fn is_left(self, round: u64, kills: u64) -> bool {
        match self {
            Self::Rounds(rounds) => round < rounds,
            Self::Kills(wanted) => {
                assert!(round < 4 * wanted + 20, "too few kills");
                kills < wanted
            }
        }
    }
}

/// The counts of events until now.
#[derive(Default)]
struct Tally {
    kills: u64,
    proposals: usize,
    /// The longest time from the last fault until everything was right.
    slowest: Duration,
}

/// The company with what users did to it.
struct Site {
    hosted: Hosted,
    /// The number of the last change.
    state: u64,
    /// The commit of the branch of another user.
    foreign: String,
    /// The trees of the folders of other users.
    legacy: [String; 2],
}

impl Site {
    fn new(kind: HostKind) -> Self {
        let mut hosted = Hosted::new(kind, SERVICE);
        hosted.start();
        hosted.is_ready();
        let foreign = hosted.company.head("gitops", FOREIGN_BRANCH).unwrap();
        let legacy = ENVIRONMENTS.map(|environment| legacy(&hosted, environment));
        Self { hosted, state: 0, foreign, legacy }
    }

    /// Plays one round, and checks its result.
    fn play(&mut self, tally: &mut Tally, (chance, story): (&mut Chance, &mut String)) {
        let mut round = Round::default();
        for _ in 0..=chance.below(EVENTS_MAX) {
            if chance.once_in(3) {
                let _ = write!(story, ", {}", Round::spoil(&self.hosted, chance));
            }
            self.state += 1;
            let _ = write!(story, ", {}", round.happen(&mut self.hosted, chance, self.state));
            if chance.once_in(4) {
                let _ = write!(story, ", {}", round.kill(&mut self.hosted, chance));
            }
        }
        let _ = write!(story, "{}", round.settle(&mut self.hosted, (chance, &mut self.state)));
        let start = Instant::now();
        let model = Model::new(&self.hosted);
        self.await_model(&model);
        tally.kills += round.kills;
        tally.proposals += model.proposals();
        let took = start.elapsed();
        if took > SLOW {
            println!("slow, {} s: {story}\n{}", took.as_secs(), self.log());
        }
        tally.slowest = tally.slowest.max(took);
        self.check_rest(&model);
    }

    /// Waits until the git host has the expected content.
    fn await_model(&self, model: &Model) {
        let start = Instant::now();
        loop {
            let is_quiet = self.hosted.is_quiet();
            match model.compare(&self.hosted) {
                Ok(()) if is_quiet => return,
                result if start.elapsed() > PATIENCE => {
                    panic!("the service is {}quiet; {result:?}", if is_quiet { "" } else { "not " });
                }
                _ => std::thread::sleep(Duration::from_millis(50)),
            }
        }
    }

    /// Checks that another sync changes nothing, and that nothing of other users was touched.
    fn check_rest(&self, model: &Model) {
        let hosted = &self.hosted;
        let all = || (git(&hosted.company.repository("gitops"), &["for-each-ref"]), hosted.pull_requests());
        let before = all();
        hosted.double.forget_exchanges();
        let starts =
            || hosted.environments().iter().map(|one| one["last"]["startedOn"].to_string()).collect::<Vec<_>>();
        let earlier = starts();
        assert_eq!(hosted.ask("POST /api/v1/sync", &[], "").map(|(status, _)| status), Some(202));
        eventually("another sync", || {
            let is_again = starts().iter().zip(&earlier).all(|(now, earlier)| now != earlier);
            (is_again && hosted.is_quiet()).then_some(())
        });
        assert_eq!(all(), before, "a sync without a change changed something");
        assert_eq!(model.compare(hosted), Ok(()));
        let exchanges = hosted.double.exchanges();
        let made = exchanges.iter().filter(|one| kind::makes_something(one)).map(|one| &one.target);
        assert_eq!(made.collect::<Vec<_>>(), Vec::<&String>::new(), "something is made twice");
        assert_eq!(hosted.company.head("gitops", FOREIGN_BRANCH).as_ref(), Some(&self.foreign));
        assert_eq!(ENVIRONMENTS.map(|environment| legacy(hosted, environment)), self.legacy);
        let mut state = hosted.host.state();
        let repository = state.repository(&hosted.gitops()).unwrap();
        let foreign = repository.pull_request(1).unwrap();
        assert!(foreign.is_open() && foreign.labels.is_empty() && foreign.body.is_empty(), "{foreign:?}");
        assert!(
            repository.comments(1, "kalypso-bot").unwrap().is_empty(),
            "the pull request of another user has a comment"
        );
        let issues = repository.issues("kalypso", "kalypso-bot");
        assert!(issues.iter().filter(|issue| issue.is_open).count() <= ENVIRONMENTS.len(), "{issues:?}");
        drop(state);
        let log = self.hosted.log();
        assert!(!log.contains("panicked") && !log.contains("a bug of Kalypso"), "{log}");
    }

    /// Ends the service. Afterwards no process and no lock remains, and git finds no error.
    fn end(&mut self) {
        self.hosted.kill();
        let mark = format!("HOME={}", self.hosted.company.path("").display().to_string().trim_end_matches('/'));
        let start = Instant::now();
        while !processes_with(&mark).is_empty() {
            assert!(start.elapsed() < ORPHANS_LIMIT, "these processes still run: {:?}", processes_with(&mark));
            std::thread::sleep(Duration::from_millis(20));
        }
        let repository = self.hosted.company.repository("gitops");
        await_unlocked(std::iter::once(repository.clone()));
        git(&repository, &["fsck", "--no-dangling"]);
    }

    /// The last lines of the service.
    fn log(&self) -> String {
        let log = self.hosted.log();
        let lines: Vec<_> = log.lines().collect();
        lines[lines.len().saturating_sub(60)..].join("\n")
    }
}

/// The tree of the folder of other users.
fn legacy(hosted: &Hosted, environment: &str) -> String {
    git(&hosted.company.repository("gitops"), &["rev-parse", &format!("{environment}:legacy")])
}
