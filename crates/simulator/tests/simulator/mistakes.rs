//! Mistakes in scenarios: each is reported at its place, with advice.

use model::locate::Locator;
use proptest::prelude::*;
use simulator::scenario;

/// The messages about a scenario, with their lines and advice.
fn mistakes(text: &str) -> String {
    let Err(unreadable) = scenario::read("scenario.yaml", text.as_bytes()) else { return String::new() };
    let mut locator = Locator::of_files(&unreadable.files);
    let lines = unreadable.diagnostics.iter().map(|diagnostic| {
        let place = diagnostic.labels.first().and_then(|label| locator.shown(&label.origin)).unwrap_or_default();
        format!("{place}: {} ({})\n", diagnostic.message, diagnostic.help.join("; "))
    });
    lines.collect()
}

/// Writes something else into the example, and checks the only message about it: the line of the change, and these parts.
fn check(from: &str, to: &str, parts: &[&str]) {
    assert!(scenario::EXAMPLE.contains(from), "the example has no `{from}`");
    let before = scenario::EXAMPLE.split(from).next().unwrap_or_default();
    let found = mistakes(&scenario::EXAMPLE.replacen(from, to, 1));
    let place = format!("scenario.yaml:{}: ", before.lines().count());
    assert!(found.starts_with(&place) && found.lines().count() == 1, "{to}: not {place}{found}");
    assert!(parts.iter().all(|part| found.contains(part)), "{to}: {found}");
}

#[test]
fn the_example_has_no_mistake() {
    assert_eq!(mistakes(scenario::EXAMPLE), "");
}

#[test]
fn invalid_sentences_are_reported_with_the_correct_form() {
    let failing = |to: &str, parts: &[&str]| check("fail stage-2 on c2", to, parts);
    failing("fial stage-2 on c2", &["`fial` is no event", "did you mean `fail`?"]);
    failing("stage-2 fails on c2", &["`stage-2` is no event", "write `fail CLUSTERS [on NAME] [for DURATION]`"]);
    failing("fail stage-2 for soon", &["`soon`: a duration is a number with `d`"]);
    failing("hold stage by ann", &["`because REASON` is missing at the end", "write `hold ENVIRONMENT"]);
    failing("release shopp 2.0.0", &["there is no workload `shopp`"]);
    failing("merge stage", &["`by hand` is missing at the end", "write `merge ENVIRONMENT [WORKLOAD] by hand`"]);
    failing("merge stage shopp by hand", &["there is no workload `shopp`"]);
    failing("write shop 9.0.0 into prod", &["`by hand` is missing at the end", "write `write NAME into ENVIRONMENT"]);
    failing("pin shop 2.3.0 prod", &["`in` is expected before `prod`", "write `pin WORKLOAD VERSION in ENVIRONMENT"]);
    failing(
        "retarget shop in prod",
        &["`with` is missing at the end", "write `retarget WORKLOAD in ENVIRONMENT with NAME`"],
    );
    failing("hold prod application/shopp by ann because x", &["`by` is expected before `application/shopp`"]);
    failing("install 0.2.0 of shopp", &["there is no workload `shopp`"]);
    failing("delete prod", &["`states of` is expected before `prod`", "write `delete states of ENVIRONMENT`"]);
    failing("hub misses publications", &["`for` is missing at the end", "or hub misses publications for DURATION"]);
    failing("change c3 without", &["the name of a promotion is missing at the end", "[with PROMOTION|"]);
    failing("nothing at all", &["`nothing` is no event", "events begin with `change`"]);
    check("at 4h", "at noon", &["`at noon` is no time", "write `at 0h`"]);
    check("prod has c1 by", "prod hass c1 by", &["`hass` is no claim", "`CLUSTERS has CHANGE`"]);
}

#[test]
fn a_version_that_is_installed_again_has_no_other_folders() {
    let with = |again: &str| {
        let text = scenario::EXAMPLE.replacen("fail stage-2 on c2", "install 0.2.0 of shop", 1);
        mistakes(&text.replacen("repair stage-2", again, 1))
    };
    assert_eq!(with("install 0.2.0"), "");
    let found = with("install 0.2.0 where region=west");
    assert!(found.contains("an earlier event installs this version"), "{found}");
}

#[test]
fn names_that_nothing_has_are_mistakes() {
    let failing = |to: &str, parts: &[&str]| check("fail stage-2 on c2", to, parts);
    failing("fail stage-9", &["`fail stage-9`: there is no cluster `stage-9`"]);
    failing("fail stage-[2-4]", &["there is no cluster `stage-4`"]);
    failing("fail stage-2 of prod", &["there is no cluster `stage-2` in `prod`"]);
    failing("fail stage-2 on c9", &["no event makes the change or the release `c9`"]);
    failing("revert c9", &["no event makes the change `c9`"]);
    failing("expect proud has c1", &["there is no cluster `proud`", "did you mean `prod`?"]);
    failing("fail 2 of prod where region=wset", &["no cluster in `prod` has the label", "did you mean `region=west`?"]);
    failing("fail stage where region=west", &["no cluster in `stage` has the label `region=west`"]);
    failing("change c3 where regoin=west", &["no cluster has the label", "did you mean `region=west`?"]);
    failing("change c3 of shopp", &["there is no workload `shopp`"]);
    failing("change c3 with to-stagee", &["no document is the promotion `to-stagee`", "did you mean `to-stage`?"]);
    failing("pin shop 9.9.9 in prod", &["there is no release 9.9.9 of `shop`"]);
    failing(
        "pin shop 2.3.0 in prod where regoin=west",
        &["no cluster in `prod` has the label", "did you mean `region=west`?"],
    );
    failing("check smoke fails", &["no gate uses the check `smoke`"]);
    check("prod lacks c2 at", "prod lacks c9 at", &["`prod lacks c9 at 4h`: no event makes the change `c9`"]);
    check("prod has c1 by", "prod has shop 9.9.9 by", &["there is no release 9.9.9 of `shop`"]);
    check("to: stage", "to: stagee", &["`to-stage` names the environment `stagee`", "did you mean `stage`?"]);
    check("from: [dev]", "from: [devv]", &["names the environment `devv`", "did you mean `dev`?"]);
}

#[test]
fn a_release_has_a_version_for_each_key_of_its_targets() {
    let keys = "shop: {release: 'tag=2.3.0,version=2.3.0-1', keys: {tag: region=west, version: region=east}}";
    let text = scenario::EXAMPLE.replacen("shop: 2.3.0", keys, 1);
    assert_eq!(mistakes(&text), "");
    let needs = "is no release of `shop`, whose targets need `tag=VERSION,version=VERSION`";
    assert!(mistakes(&text.replacen(",version=2.3.0-1", "", 1)).contains(&format!("`tag=2.3.0` {needs}")));
    let released = |event: &str| mistakes(&text.replacen("repair stage-2", event, 1));
    assert!(released("release shop 2.4.0").contains(&format!("`2.4.0` {needs}")));
    assert!(released("write shop 2.4.0 into prod by hand").contains(&format!("`2.4.0` {needs}")));
    assert_eq!(released("pin shop 2.3.0-1 in prod where region=east"), "");
    check("shop: 2.3.0", "shop: {keys: {tga: region=west}}", &["`tga` names no release: write one of `digest`"]);
    check("shop: 2.3.0", "shop: {keys: {tag: west}}", &["`west` is no label: write `KEY=VALUE`"]);
}

#[test]
fn a_second_promotion_into_an_environment_needs_an_event_that_brings_it() {
    let looser = "---\napiVersion: fleet.kalypso.io/v1alpha1\nkind: Promotion\nmetadata: {name: looser}\nspec: {from: [dev], to: stage}\n";
    let text = format!("{}{looser}", scenario::EXAMPLE);
    let expected = "the promotion `to-stage` leads to `stage` already, and no event brings `looser` (write `change NAME with looser`)\n";
    let (place, message) =
        mistakes(&text).split_once(": ").map(|(place, rest)| (place.to_owned(), rest.to_owned())).unwrap();
    assert_eq!(
        (place, message.as_str()),
        (format!("scenario.yaml:{}", scenario::EXAMPLE.lines().count() + 2), expected)
    );
    assert_eq!(mistakes(&text.replacen("change c2", "change c2 with looser", 1)), "");
}

#[test]
fn names_of_later_events_are_known() {
    let added = "repair stage-2\n  - at 5h: add stage-9 to stage\n  - at 6h: [remove stage-9, release shop 2.4.0, write shop 2.5.0 into prod by hand]\n  - at 7h: expect prod lacks shop 2.5.0";
    let text = scenario::EXAMPLE.replacen("repair stage-2", added, 1).replacen("on c2", "on 2.4.0", 1);
    assert_eq!(mistakes(&text), "");
}

proptest! {
    #[test]
    fn every_unreadable_scenario_has_a_reported_mistake(from in 0..1_400_usize, length in 0..80_usize, text in "[ -~\n]{0,20}") {
        let mut broken = scenario::EXAMPLE.to_owned();
        let (from, to) = (from.min(broken.len()), (from + length).min(broken.len()));
        broken.replace_range(from..to, &text);
        let is_read = scenario::read("scenario.yaml", broken.as_bytes()).is_ok();
        prop_assert_eq!(is_read, mistakes(&broken).is_empty());
    }
}
