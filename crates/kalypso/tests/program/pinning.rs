//! Tests of `pin` and `unpin`.

use crate::adding::Edited;

#[test]
fn a_pin_is_added_changed_and_removed() {
    let edited = Edited::new();
    let line = "pin shop@https://git.example/acme/old -e dev --key repo --on region=west-us --dry-run";
    edited.run(line).ends(0).says(&["Would add ReleasePin shop-west-us", "release pin shop-west-us holds it"]);
    let ran = edited.run("pin shop@release-2 -e dev --on region=west-us --reason 'Old tills.'").ends(0);
    ran.says(&["Added ReleasePin shop-west-us"]);
    let path = "dev/shop-west-us.yaml";
    assert!(
        edited.text(path).contains("  manifests:\n    branch: release-2\n  reason: Old tills.\n"),
        "{}",
        edited.text(path)
    );
    edited.run("pin shop@release-3 -e dev --on region=west-us").ends(0).says(&["Changed ReleasePin shop-west-us"]);
    assert!(edited.text(path).contains("  manifests:\n    branch: release-3\n  reason: Old tills.\n"));
    edited.run("pin shop@release-3 -e dev --on region=west-us").ends(0).says(&["Nothing to change"]);
    edited.run("unpin shop -e dev").ends(0).says(&["Removed ReleasePin shop-west-us"]);
    assert_eq!(edited.status("dev"), "");
}

#[test]
fn mistakes_in_a_pin_are_located() {
    let edited = Edited::new();
    edited.run("pin shop -e dev").ends(64).says(&["write WORKLOAD@VERSION"]);
    edited.run("pin shpo@1 -e dev").ends(1).says(&["did you mean `shop`?"]);
    edited.run("pin shop@1 -e dev --key tag").ends(1).says(&["no target of `shop` has the key `tag`", "branch"]);
    edited.run("pin shop@1 -e dev --expires tomorrow").ends(64).says(&["is not a day"]);
    edited.run("unpin shop -e dev").ends(1).says(&["no pin `shop`", "no pins on its branch"]);
    edited.run("pin shop@1 -e dev").ends(0);
    edited.run("pin shop@1 -e dev --on region=west-us").ends(0);
    edited.run("unpin shop-wset-us -e dev").ends(1).says(&["did you mean `shop-west-us`?"]);
    edited.run("unpin shop -e dev --all").ends(0).says(&["2 ReleasePins"]);
}

#[test]
fn the_release_that_a_promotion_wrote_is_no_pin_of_a_person() {
    let edited = Edited::new();
    edited.run("pin shop@release-2 -e dev").ends(0);
    let promoted = edited.text("dev/shop.yaml").replace("name: shop\n", "name: promoted-shop\n");
    std::fs::write(edited.path("dev/promoted-shop.yaml"), promoted).unwrap();
    edited.run("unpin shop -e dev").ends(0).says(&["Removed ReleasePin shop "]);
    edited.run("unpin shop -e dev").ends(1).says(&["`kalypso unpin promoted-shop` removes it"]);
    edited.run("unpin promoted-shop -e dev").ends(0).says(&["Removed ReleasePin promoted-shop"]);
}

#[test]
fn two_pins_that_disagree_are_refused() {
    let edited = Edited::new();
    edited.run("pin shop@release-2 -e dev").ends(0);
    edited.run("pin shop@release-3 -e dev --on region=west-us").ends(1).says(&["nothing is written"]);
}
