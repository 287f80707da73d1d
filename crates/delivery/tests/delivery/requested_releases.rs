//! Releases that people request, and the pins that they are written into.

use engine::promotion::command::CommandKind;
use engine::promotion::state::Revision;

use crate::controller::DIRECT;
use crate::releases::Shop;

#[test]
fn release_absent_from_earlier_environments_is_refused() {
    let shop = Shop::new(DIRECT, "");
    shop.write("tag: v1.0.0", "tag: v1.0.0");
    shop.0.settle();
    let request = |workload: &str, version: &str| {
        let kind = CommandKind::Request { revision: Revision(version.into()) };
        shop.0.command_about(Some(workload), kind, "").map_err(|error| error.to_string())
    };
    let refused = |what: &str| Err(format!("no environment before stage has had {what}"));
    assert_eq!(request("shop", "v9.9"), refused("`v9.9` of `shop`: they have had `v1.0.0`"));
    assert_eq!(request("shpo", "v1.0.0"), refused("a release of `shpo`: did you mean `shop`?"));
    assert!(request("shop", "v1.0.0").is_ok());
}

#[test]
fn moved_pin_is_updated_in_its_file() {
    let shop = Shop::new(DIRECT, "");
    shop.write("tag: v1.0.0", "tag: v1.0.0");
    shop.0.settle();
    shop.write("tag: v1.1.0", "tag: v1.0.0");
    shop.0.settle();
    let pin = shop.pin().unwrap();
    let company = &shop.0.chain.company;
    let mut files = testkit::chain::environment("stage", None);
    files.insert("releases/moved.yaml".to_owned(), pin);
    company.write_environment("stage", &files);
    shop.write("tag: v1.2.0", "tag: v1.0.0");
    shop.0.settle();
    let moved = company.read(testkit::company::CONTROL_PLANE, "stage", "releases/moved.yaml").unwrap();
    assert!(moved.contains("tag: v1.2.0\n") && shop.pin().is_none(), "{moved}");
}
