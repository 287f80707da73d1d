//! Random scenarios and events for walks. Each step has random numbers of its own, so leaving a step out does not change the others.

use std::fmt::Write as _;

use crate::random::Random;
use crate::scenario::definition::Scenario;
use crate::scenario::read;

/// The environments that a walk can have, in their order.
const ENVIRONMENTS: [&str; 3] = ["dev", "stage", "prod"];
/// The accounts of people.
pub(super) const PEOPLE: [&str; 4] = ["dora", "ana", "ben", "carl"];

/// What a walk is about.
pub(super) struct Setting {
    /// The scenario as YAML, without a timeline.
    pub(super) header: String,
    /// The promotions as YAML documents.
    pub(super) promotions: String,
    environments: usize,
    workloads: usize,
}

impl Setting {
    /// The text of the scenario without a timeline.
    pub(super) fn text(&self) -> String {
        format!("{}{}", self.header, self.promotions)
    }

    /// The scenario without a timeline.
    pub(super) fn scenario(&self) -> Option<Scenario> {
        read::read("walk.yaml", self.text().as_bytes()).ok()
    }
}

/// A random setting.
pub(super) fn setting(seed: u64) -> Setting {
    let mut random = Random::new(seed);
    let environments = 1 + random.below(3) as usize;
    let workloads = 1 + random.below(2) as usize;
    let mut header = format!("seed: {}\npace: {{step: 5m, heartbeat: 20m}}\nenvironments:\n", seed % 1_000);
    let mut promotions = String::new();
    for (number, name) in ENVIRONMENTS.iter().enumerate().take(environments) {
        let canaries = 1 + random.below(2);
        let stores = 1 + random.below(4);
        let hosts = 1 + random.below(2);
        let _ = writeln!(header, "  {name}:");
        let _ = writeln!(header, "    {name}-canary-[1-{canaries}]: {{labels: {{ring: canary, region: west}}}}");
        let _ = writeln!(header, "    {name}-store-[1-{stores}]: {{labels: {{region: [west, east]}}, hosts: {hosts}}}");
        if number + 1 == environments || random.percent(80) {
            promotion(&mut promotions, number, &mut random);
        }
    }
    header.push_str("workloads:\n  shop: {release: 1.0.0, labels: {tier: front}}\n");
    if workloads == 2 {
        header.push_str(if random.percent(70) { "  search: {release: 1.0.0}\n" } else { "  search: {}\n" });
    }
    Setting { header, promotions, environments, workloads }
}

fn promotion(text: &mut String, number: usize, random: &mut Random) {
    let name = ENVIRONMENTS[number];
    let _ = write!(
        text,
        "---\napiVersion: fleet.kalypso.io/v1alpha1\nkind: Promotion\nmetadata: {{name: to-{name}}}\nspec:\n  to: {name}\n"
    );
    match number {
        0 => {}
        2 if random.percent(30) => {
            let _ = writeln!(text, "  from: [dev, stage]\n  require: {}", random.pick(&["all", "any"]));
        }
        _ => {
            let _ = writeln!(text, "  from: [{}]", ENVIRONMENTS[number - 1]);
        }
    }
    let _ = writeln!(text, "  delivery: {}", random.pick(&["direct", "pullRequest"]));
    let _ = writeln!(text, "  newer: {}", random.pick(&["wait", "queue", "supersede"]));
    let _ = writeln!(text, "  onFailure: {}", random.pick(&["stop", "rollBackRing", "rollBackEnvironment"]));
    if random.percent(10) {
        text.push_str("  start: manual\n");
    }
    if random.percent(40) {
        text.push_str("  select: {workloadSelector: {matchLabels: {tier: front}}}\n");
    }
    gates(text, number > 0, random);
    if random.percent(75) {
        rings(text, random);
    }
}

fn gates(text: &mut String, has_before: bool, random: &mut Random) {
    let mut all = Vec::new();
    if has_before {
        let (share, silent) = (random.pick(&["100%", "60%"]), random.pick(&["wait", "ignore", "fail"]));
        all.push(format!("{{name: healthy, compliant: {{share: {share}, silent: {silent}}}}}"));
        if random.percent(50) {
            all.push(format!("{{name: failures, failures: \"{}\"}}", random.below(2)));
        }
        if random.percent(50) {
            all.push(format!("{{name: soaked, soak: {}}}", random.pick(&["30m", "1h", "3h"])));
        }
    }
    if random.percent(25) {
        all.push("{name: smoke, http: {check: smoke}}".to_owned());
    }
    if random.percent(20) {
        all.push(format!("{{name: approval, approval: {{count: {}}}}}", 1 + random.below(2)));
    }
    if random.percent(5) {
        all.push("{name: go, manual: {}}".to_owned());
    }
    if !all.is_empty() {
        let _ = writeln!(text, "  gates:\n    - {}", all.join("\n    - "));
    }
}

fn rings(text: &mut String, random: &mut Random) {
    let first = random.pick(&["labelSelector: {matchLabels: {ring: canary}}", "percent: 30%"]);
    let mut options = || {
        let limits = random.pick(&[
            "",
            ", limits: {atOnce: \"1\"}",
            ", limits: {atOnce: 50%}",
            ", limits: {per: [{label: region, atOnce: 1}]}",
            ", limits: {atOnce: \"2\", per: [{label: region, atOnce: 1}, {label: ring, atOnce: 2}]}",
        ]);
        let failures = random.pick(&["", ", failures: \"1\"", ", failures: 30%"]);
        let pause = random.pick(&["", ", pause: 20m", ", pause: 2h"]);
        let canary = random.pick(&["", "", ", canary: 1"]);
        let gates = random.pick(&[
            "",
            "",
            ", prove: [{name: present, compliant: {share: 100%, silent: ignore}}]",
            ", prove: [{name: most, compliant: {share: 50%}}]",
            ", prove: [{name: alive, compliant: {share: 100%, silent: fail}}]",
            ", prove: [{name: smoke, http: {check: smoke}}]",
        ]);
        format!("{limits}{failures}{pause}{canary}{gates}")
    };
    let (one, other) = (options(), options());
    let _ = writeln!(text, "  rings:\n    - {{name: first, {first}{one}}}\n    - {{name: others{other}}}");
}

/// The event of a step, in words, and the seconds until the next step. None: nothing happens.
pub(super) fn event(seed: u64, step: usize, setting: &Setting) -> (Option<String>, i64) {
    let mut random = Random::new(seed ^ (step as u64 + 1).wrapping_mul(0xd6e8_feb8_6659_fd93));
    let pause = [120, 300, 300, 600, 900][random.below(5) as usize];
    let environment = ENVIRONMENTS[random.below(setting.environments as u64) as usize];
    let workload = if setting.workloads == 2 && random.percent(50) { "search" } else { "shop" };
    let kind = random.below(100);
    let text = match kind {
        0..38 => return (None, pause),
        38..56 => source(step, (environment, workload), &mut random),
        56..72 => hosts(environment, &mut random),
        72..74 => fleet(step, environment, &mut random),
        74 => program(step, &mut random),
        75..83 => outside(&mut random),
        _ => decision((environment, workload), &mut random),
    };
    (Some(text), pause)
}

fn source(step: usize, (environment, workload): (&str, &str), random: &mut Random) -> String {
    let place = random.pick(&["", "", " where region=west", " of shop"]);
    let author = random.pick(&["", " by ana", " by unknown"]);
    match random.below(10) {
        0..5 => format!("change c{step}{place}{author}"),
        5..7 => format!("release {workload} 2.{step}.0{author}"),
        7 => format!("configure {environment} k{step}{place}"),
        8 if random.percent(50) => format!("merge {environment} by hand"),
        8 => format!("revert c{}", step.saturating_sub(1 + random.below(20) as usize)),
        _ => format!("write c{} into {environment} by hand", step.saturating_sub(random.below(20) as usize)),
    }
}

fn hosts(environment: &str, random: &mut Random) -> String {
    let who = match random.below(4) {
        0 => format!("{environment}-canary-1 of {environment}"),
        1 => format!("{environment}-store-1 of {environment}"),
        2 => format!("2 of {environment}"),
        _ => format!("40% of {environment}"),
    };
    let lasts = random.pick(&["", " for 10m", " for 30m", " for 2h"]);
    match random.below(9) {
        0..3 => format!("fail {who}{lasts}"),
        3 => format!("silence {who}{lasts}"),
        4 => format!("flap {who} every {}{lasts}", random.pick(&["7m", "20m"])),
        5 => format!("lie {who}{lasts}"),
        6 => format!("slow {who} by {}{lasts}", random.pick(&["11m", "50m"])),
        _ => format!("repair all of {environment}"),
    }
}

fn fleet(step: usize, environment: &str, random: &mut Random) -> String {
    if random.percent(60) {
        return format!(
            "add {environment}-new-{step} to {environment} where region={}",
            random.pick(&["west", "east"])
        );
    }
    format!("remove {environment}-store-{} of {environment}", 1 + random.below(3))
}

/// A new version of the program that renders, or one that was there before. The folders that a version renders differently follow from its number.
fn program(step: usize, random: &mut Random) -> String {
    let earlier = step.saturating_sub(1 + random.below(60) as usize);
    let version = if random.percent(25) { earlier } else { step };
    format!("install v{version}{}", ["", " where region=west", " of shop"][version % 3])
}

fn outside(random: &mut Random) -> String {
    let lasts = random.pick(&["3m", "20m", "1h"]);
    match random.below(6) {
        0 => format!("check smoke {} for {lasts}", random.pick(&["fails", "is unknown"])),
        1 => format!("kill the service for {lasts}"),
        2 => format!("git-host API is down for {lasts}"),
        3 => format!("hub is down for {lasts}"),
        4 => format!("hub misses publications for {lasts}"),
        _ => format!("clock is wrong by {} for {lasts}", random.pick(&["-1h", "2h", "-5m", "30m"])),
    }
}

fn decision((environment, workload): (&str, &str), random: &mut Random) -> String {
    let about = match random.below(10) {
        0 => format!("{environment} values"),
        9 => format!("{environment} kalypso/renderer"),
        1..5 => environment.to_owned(),
        _ => format!("{environment} {workload}"),
    };
    let person = random.pick(&PEOPLE);
    match random.below(16) {
        0..5 => format!("approve {about} by {person}"),
        5 => format!("hold {about} by {person} because a freeze"),
        6..8 => format!("resume {about} by {person}"),
        8 => format!("abort {about} by {person} because of complaints"),
        9..12 => format!("retry {about} by {person}"),
        12 => {
            let gate = random.pick(&["pause", "soaked", "healthy", "go", "smoke", "compliant"]);
            format!("skip {about} gate {gate} by {person} because it is urgent")
        }
        13 => format!("rollback {about} by {person} because prices are wrong"),
        _ => format!("promote {about} by {person} because it is time"),
    }
}
