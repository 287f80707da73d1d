//! The page `promote-with-the-demo.md`: a change of the platform moves through dev, stage and the rings of prod, past a cluster that fails and is repaired. No
//! person does anything else.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::{Machine, Serving, branches};

/// The demo with promotions, while its service runs.
pub(crate) struct World {
    pub(crate) machine: Machine,
    pub(crate) serving: Serving,
    /// The commands of the page that change the platform, and those that repair the host.
    change: String,
    repair: String,
}

impl World {
    fn new() -> Self {
        Self::with(&|promotions| promotions)
    }

    /// With other promotions than those of the page.
    pub(crate) fn with(edit: &dyn Fn(String) -> String) -> Self {
        let machine = Machine::new();
        machine.made(&[]);
        let promotions = machine.path("kalypso-demo/promotions.yaml");
        fs::write(&promotions, edit(fs::read_to_string(&promotions).unwrap())).unwrap();
        let [declare, serve, change, repair] = blocks();
        let declare = declare.strip_prefix("kalypso demo\ncd kalypso-demo\n").unwrap();
        assert_eq!(serve, "kalypso serve\n");
        run(&machine, declare);
        let serving = Serving::start(&machine, "kalypso-demo");
        let repair = repair.strip_suffix("kalypso rollout status --watch\n").unwrap().to_owned();
        Self { machine, serving, change, repair }
    }

    /// The state of the main branch's commits in an environment.
    pub(crate) fn platform(&self, environment: &str) -> Json {
        let mut ask = self.machine.command(env!("CARGO_BIN_EXE_kalypso"));
        let ask = ask.args(["rollout", "status", "-o", "json"]).env("KALYPSO_HUB_URL", &self.serving.hub);
        let answer: Json = serde_json::from_slice(&ask.output().unwrap().stdout).unwrap_or_default();
        let all = answer["environments"].as_array().cloned().unwrap_or_default();
        let found = all.into_iter().find(|one| one["environment"] == environment);
        found.map(|found| found["subjects"][0].clone()).unwrap_or_default()
    }

    /// Waits until something is there. If it does not come, the panic shows where the changes stand.
    pub(crate) fn until<T>(&self, what: &str, find: impl Fn() -> Option<T>) -> T {
        let start = Instant::now();
        while start.elapsed() < Duration::from_mins(5) {
            if let Some(found) = find() {
                return found;
            }
            thread::sleep(Duration::from_millis(200));
        }
        let mut ask = self.machine.command(env!("CARGO_BIN_EXE_kalypso"));
        let ask = ask.args(["rollout", "status"]).env("KALYPSO_HUB_URL", &self.serving.hub).output().unwrap();
        panic!("{what} did not happen:\n{}", String::from_utf8_lossy(&ask.stdout));
    }

    pub(crate) fn has_proved(&self, environment: &str, commit: &str) -> Option<()> {
        (self.platform(environment)["proved"]["revision"] == commit).then_some(())
    }

    /// The places of an environment whose folders have the changed value.
    fn changed(&self, environment: &str) -> Vec<String> {
        let gitops = self.machine.path("kalypso-demo/platform-gitops.git");
        let mut grep = self.machine.command("git");
        grep.arg("--git-dir").arg(gitops).args(["grep", "--name-only", "--fixed-strings", "ACME Stores", environment]);
        let found = String::from_utf8(grep.output().unwrap().stdout).unwrap();
        let mut places: Vec<_> =
            found.lines().filter_map(|line| line.split([':', '/']).nth(1)).map(str::to_owned).collect();
        places.dedup();
        places
    }

    /// The places of an environment in the order in which the GitOps branch got their changed value.
    fn order(&self, environment: &str) -> Vec<String> {
        let gitops = self.machine.path("kalypso-demo/platform-gitops.git");
        let mut log = self.machine.command("git");
        log.arg("--git-dir").arg(gitops).args(["log", "--reverse", "--format=", "--name-only", "-S", "ACME Stores"]);
        let found = String::from_utf8(log.arg(environment).output().unwrap().stdout).unwrap();
        let mut places: Vec<_> = found.lines().filter_map(|path| path.split('/').next()).map(str::to_owned).collect();
        places.dedup();
        places
    }

    /// The events of the history about a commit of the main branch, the oldest first: environment and kind.
    fn events(&self, commit: &str) -> Vec<(String, String)> {
        let answer = crate::get(&self.serving.hub, "/api/v1/promotion-events?limit=1000");
        let answer: Json = serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}"));
        let mut events: Vec<_> =
            answer["items"].as_array().unwrap().iter().filter(|event| event["revision"] == *commit).collect();
        // The answer begins with the newest event. Events of one step have the same time.
        events.reverse();
        events.sort_by_key(|event| event["at"].to_string());
        let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
        events.into_iter().map(|event| (text(&event["environment"]), text(&event["kind"]))).collect()
    }
}

/// The commands of the page about this: to declare the promotions, to serve, to change the platform, and to repair the host.
fn blocks() -> [String; 4] {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/how-to/promote-with-the-demo.md");
    let text = fs::read_to_string(page).unwrap();
    let blocks = text.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned());
    blocks.collect::<Vec<_>>().try_into().unwrap()
}

pub(crate) fn run(machine: &Machine, script: &str) {
    let mut command = machine.command("sh");
    let done = command.current_dir(machine.path("kalypso-demo")).args(["-ec", script]).output().unwrap();
    assert!(done.status.success(), "{done:?}");
}

#[test]
fn a_failing_cluster_stops_a_change_and_its_repair_lets_it_reach_prod() {
    let world = World::new();
    run(&world.machine, &world.change);
    let heads = branches(&world.machine.path("kalypso-demo/control-plane"), "%(refname:short) %(objectname)");
    let commit = heads.lines().find_map(|line| line.strip_prefix("main ")).unwrap().to_owned();

    let reason = world.until("the stop in stage", || {
        let moving = world.platform("stage")["moving"].clone();
        let is_stopped = moving["phase"] == "stopped" && moving["revision"] == *commit;
        is_stopped.then(|| moving["reason"].as_str().unwrap_or_default().to_owned())
    });
    assert!(reason.contains("fail"), "{reason}");
    world.has_proved("dev", &commit).unwrap();
    assert!(!world.changed("stage").is_empty() && world.changed("prod").is_empty());

    run(&world.machine, &world.repair);
    world.until("the proof in prod", || world.has_proved("prod", &commit));
    // Each pull request with output says what was admitted.
    let admitted = format!("</span> <code>kalypso/admission</code> admitted: main {}", &commit[..7]);
    let page = |number: u32| world.serving.browse(&format!("GET /acme/platform-gitops/pulls/{number}"), "");
    let pages: Vec<_> = (1..50).map(page).take_while(|page| page.starts_with("HTTP/1.1 200")).collect();
    assert!(pages.iter().any(|page| page.contains(&admitted)), "{pages:#?}");
    let seen = world.order("prod");
    let is_canary =
        |place: &String| ["central-kiosk", "chicago-edge", "dallas-cloud", "detroit-plant"].contains(&place.as_str());
    let first_of_rest = seen.iter().position(|place| !is_canary(place)).unwrap();
    assert!(first_of_rest > 0 && !seen[first_of_rest..].iter().any(is_canary), "{seen:?}");
    let events = world.events(&commit);
    let mut rest = events.iter();
    for (environment, kind) in [
        ("dev", "proved"),
        ("stage", "promoted"),
        ("stage", "stopped"),
        ("stage", "resumed"),
        ("stage", "proved"),
        ("prod", "promoted"),
        ("prod", "proved"),
    ] {
        assert!(
            rest.any(|event| *event == (environment.to_owned(), kind.to_owned())),
            "{environment} {kind}: {events:?}"
        );
    }
}
