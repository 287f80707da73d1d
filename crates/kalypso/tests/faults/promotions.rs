//! Rounds with several controllers of promotions over real git and a real hub: they race, and are killed at any moment.
//!
//! A commit of the main branch goes from `dev` into two rings of `prod`. Between the runs, nothing reaches a place that was not proved before, and nothing moves
//! during a hold. Afterwards, a single controller ends what the others began, and nothing exists twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::panic::resume_unwind;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use testkit::company::{CompanyFiles, common_value};
use testkit::hub_program::HubProgram;
use testkit::objects;

use crate::chance::Chance;
use crate::company::{Company, HOST, Ran, git};
use crate::rounds::{number, told};
use crate::site::{ENVIRONMENTS, await_orphans, await_unlocked, check_history};

/// The number of kills without other settings.
const KILLS: u64 = 40;
/// How often a single controller may run until everything is proved.
const RECOVERIES_MAX: usize = 12;
/// What a controller can be.
const CONTROLLERS: [&str; 3] = ["publish -e dev --direct", "publish -e prod --direct", "rollout advance"];
/// The places of each environment. Each place of `prod` is a ring.
const PLACES: [(&str, &[&str]); 2] = [("dev", &["east"]), ("prod", &["east", "west"])];

/// Runs rounds until the given number of runs was killed, and there were two races for each five of them. The variables of [`crate::rounds::run`] select them.
pub(crate) fn run() {
    let seed = number("KALYPSO_FAULTS_SEED").unwrap_or(1);
    let (kills, rounds) = (number("KALYPSO_FAULTS_KILLS").unwrap_or(KILLS), number("KALYPSO_FAULTS_ROUNDS"));
    let start = Instant::now();
    let mut world = World::new();
    let is_left = |world: &World| world.killed < kills || world.races < kills * 2 / 5;
    while rounds.map_or_else(|| is_left(&world), |rounds| world.round < rounds) {
        world.round += 1;
        let mut chance = Chance::new(seed ^ world.round << 20);
        let story = format!("round {} of seed {seed} with promotions", world.round);
        let again = format!("--seed {seed} --rounds {} --only promotions", world.round);
        told(story, &again, |story| world.play(&mut chance, story)).unwrap_or_else(|panic| resume_unwind(panic));
    }
    world.check_thoroughly();
    println!(
        "promotions: {} rounds, {} runs killed, {} races; {} s in all, seed {seed}",
        world.round,
        world.killed,
        world.races,
        start.elapsed().as_secs()
    );
}

struct World {
    company: Company,
    hub: HubProgram,
    token: String,
    round: u64,
    killed: u64,
    races: u64,
    /// The time of a plain run.
    typical: Duration,
    /// The rounds whose change the host of each place reported as applied.
    applied: BTreeMap<(&'static str, &'static str), BTreeSet<u64>>,
    /// The heads of the branches that clusters pull, as they were checked last.
    heads: BTreeMap<&'static str, String>,
}

impl World {
    fn new() -> Self {
        let gates = "gates:\n  - {name: compliant, compliant: {share: 100%}}";
        let rings = "rings:\n  - {name: first, names: [east]}\n  - {name: others}";
        let spec = format!("from: [dev]\nto: prod\ndelivery: direct\n{gates}\n{rings}");
        let promotion = objects::object("Promotion", "to-prod", &spec);
        let files = CompanyFiles::with_places(&PLACES).following("dev").with("common.yaml", value(0));
        let company = Company::empty().filled(&files.with(".environments/to-prod.yaml", promotion));
        let mut create = company.command();
        create.current_dir(company.path(".")).args(["hub", "token", "create", "admin", "--role", "admin"]);
        let token = Ran::new(&mut create).ends(0).out.lines().next().unwrap_or_default().to_owned();
        let mut hub = company.command();
        let hub = HubProgram::start(hub.args(["hub", "--listen", "127.0.0.1:0", "--log-format", "json"])).unwrap();
        let applied = PLACES.iter().flat_map(|(name, places)| places.iter().map(|place| ((*name, *place), [0].into())));
        let heads = ENVIRONMENTS.map(|name| (name, company.head("gitops", name).unwrap()));
        let (applied, heads, typical) = (applied.collect(), heads.into(), Duration::ZERO);
        let mut world = Self { company, hub, token, round: 0, killed: 0, races: 0, typical, applied, heads };
        world.recover();
        world
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = self.company.command();
        command.env("KALYPSO_HUB_URL", self.hub.url()).env("KALYPSO_HUB_TOKEN", &self.token);
        command.args(arguments.split_whitespace());
        command
    }

    fn run(&self, arguments: &str) -> Ran {
        Ran::new(&mut self.command(arguments)).ends(0)
    }

    fn start(&self, arguments: &str) -> Child {
        let log = |name: &str| fs::File::options().append(true).create(true).open(self.company.path(name)).unwrap();
        self.command(arguments).stdout(log("out.log")).stderr(log("err.log")).spawn().unwrap()
    }

    fn play(&mut self, chance: &mut Chance, story: &mut String) {
        self.company.change("control-plane@main", "common.yaml", &value(self.round));
        let is_held = chance.once_in(5);
        if is_held {
            self.run("hold -e prod --reason freeze");
            let _ = write!(story, ", a hold");
        }
        let before = self.tree("prod");
        for _ in 0..3 {
            if chance.once_in(3) {
                self.race(chance, story);
            } else {
                self.kill_some(chance, story);
            }
            self.await_orphans();
            self.check();
            let environment = chance.one_of(&ENVIRONMENTS);
            if chance.once_in(2) {
                let _ = write!(story, ", reports from {environment}");
                self.report(environment);
            }
        }
        if is_held {
            assert_eq!(self.tree("prod"), before, "nothing moves during a hold");
            self.run("resume -e prod");
        }
        self.recover();
    }

    /// Several controllers begin, and are killed.
    fn kill_some(&mut self, chance: &mut Chance, story: &mut String) {
        let commands: Vec<_> = (0..=chance.below(3)).map(|_| chance.one_of(&CONTROLLERS)).collect();
        let delay = chance.below(self.typical.as_millis() as u64 + 1);
        let _ = write!(story, ", {} killed after {delay} ms", commands.join(" and "));
        let mut runs: Vec<_> = commands.iter().map(|command| self.start(command)).collect();
        thread::sleep(Duration::from_millis(delay));
        for run in &mut runs {
            self.killed += u64::from(run.try_wait().unwrap().is_none());
            run.kill().unwrap();
            run.wait().unwrap();
        }
    }

    /// Two controllers begin at once, and end by themselves. One of them may find that the other one was first.
    fn race(&mut self, chance: &mut Chance, story: &mut String) {
        let commands = [chance.one_of(&CONTROLLERS), chance.one_of(&CONTROLLERS)];
        let _ = write!(story, ", a race of {}", commands.join(" and "));
        let runs = commands.map(|command| self.start(command));
        for mut run in runs {
            run.wait().unwrap();
        }
        self.races += 1;
    }

    /// The hosts of an environment report what they pull now.
    fn report(&mut self, environment: &'static str) {
        let commit = self.company.head("gitops", environment).unwrap();
        for (_, places) in PLACES.iter().filter(|(name, _)| *name == environment) {
            for place in *places {
                let Some(value) = self.value(&commit, place, environment) else { continue };
                let host = format!("{environment}-{place}");
                let at = format!("--repository {HOST}gitops --branch {environment} --path {place} --commit {commit}");
                self.run(&format!("report --host {host} --reconciler {host} --status success {at}"));
                self.applied.entry((environment, place)).or_default().insert(value);
            }
        }
    }

    /// The round whose change a place has at a commit of the GitOps repository. None: it has nothing yet.
    fn value(&self, commit: &str, place: &str, environment: &str) -> Option<u64> {
        let path = format!("{commit}:{place}/shop-{environment}/platform-config.yaml");
        let mut show = Command::new("git");
        let shown = show.current_dir(self.company.repository("gitops")).args(["show", &path]).output().unwrap();
        let text = String::from_utf8(shown.stdout).unwrap();
        let value = text.lines().find_map(|line| line.trim().strip_prefix("VALUE: round-"))?;
        Some(value.parse().unwrap())
    }

    fn tree(&self, environment: &str) -> String {
        git(&self.company.repository("gitops"), &["rev-parse", &format!("{environment}^{{tree}}")])
    }

    /// Checks each commit since the last check. Hosts report only after it.
    fn check(&mut self) {
        let log = fs::read_to_string(self.company.path("err.log")).unwrap_or_default();
        assert!(!log.contains("panicked") && !log.contains("mistake in Kalypso"), "{log}");
        let repository = self.company.repository("gitops");
        for environment in ENVIRONMENTS {
            let head = self.company.head("gitops", environment).unwrap();
            let before = self.heads.insert(environment, head.clone()).unwrap();
            check_history(&repository, &before, &head);
            let commits = git(&repository, &["rev-list", "--first-parent", &format!("{before}..{head}")]);
            for commit in commits.lines().filter(|_| environment == "prod") {
                // The first ring follows `dev`, and the other one the first ring.
                for (place, proof) in [("east", ("dev", "east")), ("west", ("prod", "east"))] {
                    let value = self.value(commit, place, environment);
                    let is_proved = value.is_none_or(|value| self.applied[&proof].contains(&value));
                    assert!(is_proved, "{place} has {value:?} in {commit}, {proof:?} had {:?}", self.applied[&proof]);
                }
            }
        }
    }

    /// A single controller, and hosts that report, until the newest change is everywhere.
    fn recover(&mut self) {
        self.await_orphans();
        let is_there = |world: &Self| {
            let has = |(name, places): &(&'static str, &[&'static str])| {
                let head = world.company.head("gitops", name).unwrap();
                places.iter().all(|place| world.value(&head, place, name) == Some(world.round))
            };
            PLACES.iter().all(has) && world.run("rollout status -e prod").out.matches("proved").count() >= 2
        };
        let mut runs = 0;
        while !is_there(self) || runs < 2 {
            assert!(runs < RECOVERIES_MAX, "{}", self.run("rollout status").out);
            runs += 1;
            for environment in ENVIRONMENTS {
                let start = Instant::now();
                self.run(&format!("publish -e {environment} --direct"));
                self.typical = start.elapsed();
                self.check();
                self.report(environment);
            }
        }
        let log = git(&self.company.repository("control-plane"), &["log", "--format=%s", "prod"]);
        let titles: Vec<_> = log.lines().filter(|title| title.starts_with("Promote ")).collect();
        let different: BTreeSet<_> = titles.iter().collect();
        assert_eq!(titles.len(), different.len(), "a commit was written twice: {log}");
    }

    fn await_orphans(&self) {
        await_orphans(&self.company);
        await_unlocked(["gitops", "control-plane"].map(|name| self.company.repository(name)).into_iter());
    }

    /// The chain of states is whole, and the published folders are those of a clean run.
    fn check_thoroughly(&self) {
        let mut check = self.command("check -e prod");
        Ran::new(check.env("KALYPSO_CACHE_DIR", self.company.path("clean"))).ends(0);
        let mut plan = self.command("plan -e prod");
        let plan = Ran::new(plan.env("KALYPSO_CACHE_DIR", self.company.path("clean"))).ends(0);
        plan.says(&["nothing changes"]);
        let repository = self.company.repository("control-plane");
        assert_eq!(git(&repository, &["rev-list", "--merges", "kalypso-rollouts/prod"]), "");
    }
}

fn value(round: u64) -> String {
    common_value(&format!("round-{round}"))
}
