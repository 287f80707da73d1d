//! Promotions with real parts: git, the service with its hub, and reports of simulated clusters over the API.

use testkit::company::common_value;
use testkit::objects;
use testkit::postgres::{PostgresServer, availability};

use crate::company::{Ran, git};
use crate::promotion_world::{PROMOTIONS, World};
use crate::serving::eventually;

#[test]
fn a_commit_moves_through_three_environments_and_rings_unattended() {
    let world = World::new(None);
    let first = world.company.head("control-plane", "main").unwrap();
    world.until("the first commit in prod", || world.proves("prod", &first));
    *world.failing.lock().unwrap() = Some(("stage", "east"));
    let second = world.company.change("control-plane@main", "common.yaml", &common_value("second"));
    world.until("the stop in stage", || world.platform("stage")["moving"]["phase"] == "stopped");
    assert!(world.platform("dev")["at"] == *second && world.platform("prod")["at"] == *first);
    world.run(&format!("rollout wait {} -e stage", &second[..7])).ends(1).says(&["failed: stage:", "of 2 reconcilers"]);
    *world.failing.lock().unwrap() = None;
    world.until("the proof in stage", || world.proves("stage", &second));
    world.until("the wait for approvals", || world.run("rollout status -e prod").out.contains("waiting  managers:"));
    world.run(&format!("rollout wait {second} -e stage")).ends(0).says(&["done"]);
    world.run(&format!("rollout wait {second} -e prod --timeout 0s")).ends(3).says(&["prod: managers: 0 of 2"]);
    let watch = world.watch("prod");
    // The author of a pushed commit is not known, so one more approval is needed.
    for person in 0..2 {
        Ran::new(&mut world.command("approve -e prod", person)).ends(0).says(&["approve for the gate"]);
    }
    eventually("the canary", || world.value("prod", "east").contains("second").then_some(()));
    assert!(!world.value("prod", "west").contains("second"), "{}", world.value("prod", "west"));
    world.run("rollout status shop -e prod").ends(0).says(&["On its way:", "canary", "1 of 1 places released"]);
    world.until("the proof in prod", || world.proves("prod", &second));
    world.run(&format!("rollout wait {}", &second[..12])).ends(0).says(&["done"]);
    // An earlier commit is known from the history.
    world.run(&format!("rollout wait {first} -e prod")).ends(0).says(&["done"]);
    assert!(world.value("prod", "west").contains("second"));
    // It shows the state at its start, and each change.
    let proved = format!("main  {}  proved", &second[..7]);
    watch.until(&proved);
    watch.ends_with_all(&["waiting  managers: 0 of 2 approvals", &proved]);
}

#[test]
fn a_commit_that_failed_reaches_no_further_environment_with_its_fix() {
    let world = World::with(None, &PROMOTIONS.replace("    - {name: managers, approval: {count: 1}}\n", ""));
    let first = world.company.head("control-plane", "main").unwrap();
    world.until("the first commit in prod", || world.proves("prod", &first));
    *world.failing.lock().unwrap() = Some(("dev", "east"));
    world.company.change("control-plane@main", "common.yaml", &common_value("broken"));
    world.until("the stop in dev", || world.platform("dev")["moving"]["phase"] == "stopped");
    let fix = world.company.change("control-plane@main", "common.yaml", &common_value("repaired"));
    world.until("the fix in dev", || world.value("dev", "east").contains("repaired"));
    *world.failing.lock().unwrap() = None;
    world.until("the proof of the fix in prod", || world.proves("prod", &fix));
    for environment in ["stage", "prod"] {
        assert!(world.value(environment, "west").contains("repaired"));
        let history = git(&world.company.repository("gitops"), &["log", "--patch", environment]);
        assert!(!history.contains("broken"), "{history}");
    }
}

#[test]
fn a_commit_that_removes_a_gate_waits_for_it() {
    let world = World::new(None);
    let first = world.company.head("control-plane", "main").unwrap();
    world.until("the first commit in prod", || world.proves("prod", &first));
    let without = PROMOTIONS.replace("    - {name: managers, approval: {count: 1}}\n", "");
    world.company.change("control-plane@main", ".environments/promotions.yaml", &without);
    let second = world.company.change("control-plane@main", "common.yaml", &common_value("second"));
    world.until("the proof in stage", || world.proves("stage", &second));
    world.until("the gate", || world.run("rollout status -e prod").out.contains("waiting  managers:"));
    // The whole promotion is gone: nothing moves, and prod keeps what it has.
    let (rest, _) = without.rsplit_once("---").unwrap();
    world.company.change("control-plane@main", ".environments/promotions.yaml", rest);
    let third = world.company.change("control-plane@main", "common.yaml", &common_value("third"));
    world.until("the proof in stage", || world.proves("stage", &third));
    world.company.change("control-plane@prod", "later.yaml", &objects::config("later", "", "LATER: value"));
    world.run("publish -e prod --no-step --direct");
    for cluster in ["east", "west"] {
        assert!(world.value("prod", cluster).contains("first"), "{}", world.value("prod", cluster));
    }
}

#[test]
fn urgent_value_overtakes_a_moving_commit_without_releasing_it() {
    let manual = "region: east}}, prove: [{name: released, manual: {}}]}";
    let promotions = PROMOTIONS.replace("region: east}}}", manual).replace("count: 1}}", "count: 1}, for: [main]}");
    let world = World::with(None, &promotions);
    let first = world.company.head("control-plane", "main").unwrap();
    world.until("the first commit in prod", || {
        world.run("skip -e prod shop --gate released --reason test");
        world.proves("prod", &first)
    });
    let second = world.company.change("control-plane@main", "common.yaml", &common_value("second"));
    world.until("the wait for approvals", || world.run("rollout status -e prod").out.contains("waiting  managers:"));
    for person in 0..2 {
        Ran::new(&mut world.command("approve -e prod", person)).ends(0);
    }
    let value = |cluster: &str| world.value("prod", cluster);
    world.until("the canary", || value("east").contains("second"));
    assert!(!value("west").contains("second"));
    let urgent = objects::config("urgent", "", "URGENT: now");
    world.company.change("control-plane@prod", "urgent.yaml", &urgent);
    world.until("the value in the canary", || value("east").contains("URGENT"));
    assert!(!value("west").contains("URGENT"));
    world.run("rollout status shop -e prod").ends(0).says(&["ahead: the newest values move first"]);
    world.run("skip -e prod shop --gate released --reason urgent").ends(0);
    world.until("the value in all rings", || value("west").contains("URGENT"));
    assert!(!value("west").contains("second") && value("east").contains("second"), "{}", value("west"));
    world.until("the commit in the canary again", || {
        world.run("rollout status shop -e prod").out.contains("waiting  released:")
    });
    assert!(!value("west").contains("second"));
    world.run("skip -e prod shop --gate released --reason tested").ends(0);
    world.until("the proof in prod", || world.proves("prod", &second));
    assert!(
        ["east", "west"].iter().all(|cluster| value(cluster).contains("second") && value(cluster).contains("URGENT"))
    );
}

#[test]
fn a_rollback_keeps_the_values_or_restores_them() {
    let world = World::with(None, &PROMOTIONS.replace("    - {name: managers, approval: {count: 1}}\n", ""));
    let first = world.company.head("control-plane", "main").unwrap();
    world.until("the first commit in prod", || world.proves("prod", &first));
    let second = world.company.change("control-plane@main", "common.yaml", &common_value("second"));
    world.until("the second commit in prod", || world.proves("prod", &second));
    let value = |name: &str| {
        let text = objects::config(name, "", &format!("{}: now", name.to_uppercase()));
        world.company.change("control-plane@prod", &format!("{name}.yaml"), &text);
    };
    let has = |words: &[&str], others: &[&str]| {
        let [east, west] = ["east", "west"].map(|cluster| world.value("prod", cluster));
        [east, west]
            .iter()
            .all(|text| words.iter().all(|word| text.contains(word)) && !others.iter().any(|word| text.contains(word)))
    };
    let is_at_rest = || {
        let status = world.run("rollout status -e prod").out;
        status.lines().any(|line| line.trim().starts_with("shop") && line.ends_with("ago"))
    };
    value("urgent");
    world.until("the value in all rings", || has(&["second", "URGENT"], &[]) && is_at_rest());
    world.run("rollback -e prod shop --reason slow").ends(0);
    world.until("the first commit with the value", || has(&["first", "URGENT"], &[]));
    // Values go on while the commit waits for a person.
    value("later");
    world.until("a newer value on the first commit", || has(&["first", "URGENT", "LATER"], &[]));
    world.run("retry -e prod shop").ends(0);
    world.until("the second commit with all values", || has(&["second", "URGENT", "LATER"], &[]) && is_at_rest());
    world.run("rollback -e prod --with-values --reason wrong").ends(0);
    world.until("what prod had with the first commit", || has(&["first"], &["URGENT", "LATER"]));
    value("newest");
    world.until("the newest value waits", || world.run("rollout status -e prod").out.contains("ann-smith: wrong"));
    assert!(has(&["first"], &["URGENT", "LATER", "NEWEST"]));
    world.run("retry -e prod").ends(0);
    world.until("all again", || has(&["second", "URGENT", "LATER", "NEWEST"], &[]));
}

#[test]
fn another_replica_completes_the_promotions_of_a_killed_one() {
    if let Err(reason) = availability() {
        println!("skipped: {reason}");
        return;
    }
    let server = PostgresServer::start_private(&[]).unwrap();
    let database = server.create_database().unwrap();
    let mut world = World::new(Some(database.url()));
    let first = world.company.head("control-plane", "main").unwrap();
    world.until("the first commit in prod", || world.proves("prod", &first));
    let other = World::serve(&world.company, world.database.as_ref(), "other");
    // The other replica leads nothing, and knows where the changes stand.
    let url = other.program.url();
    eventually("the state of the leader", || {
        let mut ask = world.command("rollout status -e prod -o json", 0);
        let graph = Ran::new(ask.env("KALYPSO_HUB_URL", url)).ends(0).json();
        (graph["environments"][0]["subjects"][0]["proved"]["revision"] == *first).then_some(())
    });
    let second = world.company.change("control-plane@main", "common.yaml", &common_value("second"));
    world.until("the move into stage", || world.platform("stage")["at"] == *second);
    let mut killed = std::mem::replace(&mut world.serving, other);
    killed.program.process().kill().unwrap();
    killed.program.process().wait().unwrap();
    world.until("the wait for approvals", || world.run("rollout status -e prod").out.contains("waiting  managers:"));
    for person in 0..2 {
        Ran::new(&mut world.command("approve -e prod", person)).ends(0);
    }
    world.until("the proof in prod", || world.proves("prod", &second));
    assert!(world.value("prod", "east").contains("second") && world.value("prod", "west").contains("second"));
    // No step was done twice: each environment's branch got the commit once.
    let log = crate::company::git(&world.company.repository("control-plane"), &["log", "--format=%s", "prod"]);
    assert_eq!(log.lines().filter(|line| line.contains(&second[..7])).count(), 1, "{log}");
}
