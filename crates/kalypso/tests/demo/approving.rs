//! Two people decide about a change that a third one made, on the pages of the demo's git host.

use serde_json::Value as Json;

use crate::branches;
use crate::promoting::{World, run};

const PULLS: &str = "/acme/control-plane/pulls";

/// `to-prod` with the gate that the README of the demo shows.
fn with_approvals(promotions: String) -> String {
    let (before, to_prod) = promotions.split_once("  name: to-prod").unwrap();
    let to_prod = to_prod.replacen("delivery: direct", "delivery: pullRequest", 1);
    let gate = "  gates:\n    - name: release-managers\n      approval: {team: release-managers, count: 1}";
    format!("{before}  name: to-prod{}", to_prod.replacen("  gates:", gate, 1))
}

/// Presses a button of a pull request of the control plane. Returns the answer.
fn press(world: &World, account: &str, (number, button): (u64, &str)) -> String {
    let page = world.serving.browse_as(account, &format!("GET {PULLS}/{number}"), "");
    let head = page.split_once("name=\"head\" value=\"").map_or("", |(_, rest)| &rest[..40]);
    world.serving.browse_as(account, &format!("POST {PULLS}/{number}/{button}"), &format!("head={head}"))
}

fn gate(world: &World) -> Option<Json> {
    let moving = world.platform("prod")["moving"].clone();
    let gates = moving["gates"].as_array().cloned().unwrap_or_default();
    gates.into_iter().find(|gate| gate["name"] == "release-managers")
}

fn says(world: &World, words: &str) -> Option<()> {
    gate(world)?["text"].as_str()?.contains(words).then_some(())
}

#[test]
fn two_users_approve_the_change_of_a_third() {
    let world = World::with(&with_approvals);
    run(
        &world.machine,
        "git -C control-plane switch -c new-name
         sed -i.bak 's/ACME Markets/ACME Stores/' control-plane/configs/company.yaml
         git -C control-plane commit --all --message 'The new name of the company'
         git -C control-plane switch main",
    );
    let opened = world.serving.browse_as("paula", &format!("POST {PULLS}/open"), "head=new-name&base=main");
    let number = opened.split_once(&format!("Location: {PULLS}/")).unwrap().1;
    let number: u64 = number.split_once("\r\n").unwrap().0.parse().unwrap();
    assert!(press(&world, "paula", (number, "merge")).starts_with("HTTP/1.1 303"));
    let heads = branches(&world.machine.path("kalypso-demo/control-plane"), "%(refname:short) %(objectname)");
    let commit = heads.lines().find_map(|line| line.strip_prefix("main ")).unwrap().to_owned();

    let url = world.until("the wait for approvals in prod", || {
        let moving = world.platform("prod")["moving"].clone();
        let waits = moving["waitingFor"].as_array().cloned().unwrap_or_default();
        let url =
            waits.iter().find_map(|wait| wait["url"].as_str().filter(|url| url.contains(PULLS)).map(str::to_owned));
        url.filter(|_| moving["revision"] == *commit)
    });
    let promotion: u64 = url.rsplit_once('/').unwrap().1.parse().unwrap();
    // Who made it may press the button: the pull request is one of Kalypso. The approval does not count.
    press(&world, "paula", (promotion, "approve"));
    press(&world, "ana", (promotion, "approve"));
    world.until("the approval that does not count", || says(&world, "not counted: paula (an author)"));
    // The commit with the promotions has no pull request, so its author is not known.
    let one_more = "1 of 2 approvals of the team `release-managers` (ana); one more, because not all authors";
    world.until("the first approval", || says(&world, one_more));
    assert!(world.has_proved("prod", &commit).is_none());
    press(&world, "bob", (promotion, "approve"));
    world.until("the second approval", || says(&world, "2 of 2 approvals"));
    world.until("the merge", || press(&world, "bob", (promotion, "merge")).starts_with("HTTP/1.1 303").then_some(()));
    world.until("the proof in prod", || world.has_proved("prod", &commit));
}
