//! Tests of the hub's data after a publication: the assignments of folders, which the folders themselves do not contain.

use std::thread;
use std::time::Duration;

use serde_json::{Value as Json, json};
use testkit::hub_program::HubProgram;
use testkit::objects;

use crate::company::{Company, HOST, Ran};
use crate::hub::{good, start};
use crate::reports::token;

/// A company with a hub that accepts requests only from administrators.
struct World {
    company: Company,
    hub: HubProgram,
    token: String,
    /// A token that may only publish.
    publisher: String,
}

impl World {
    fn new() -> Self {
        Self::from_company(Company::new())
    }

    fn from_company(company: Company) -> Self {
        let token = self::token(&company.path("."), &["ci", "--role", "admin"]);
        let publisher = self::token(&company.path("."), &["publisher", "--role", "publish"]);
        Self { hub: start(&company.path(".")), company, token, publisher }
    }

    fn run(&self, arguments: &str) -> Ran {
        let token = if arguments.starts_with("publish") { &self.publisher } else { &self.token };
        self.run_with(token, arguments)
    }

    fn run_with(&self, token: &str, arguments: &str) -> Ran {
        let mut command = self.company.command();
        command.env("KALYPSO_HUB_URL", self.hub.url()).env("KALYPSO_HUB_TOKEN", token);
        Ran::new(command.args(arguments.split_whitespace()))
    }

    /// The answer about a host that applied a folder of the branch.
    fn applied(&self, path: &str) -> Json {
        let commit = self.company.head("gitops", "dev").unwrap();
        let place = format!("--repository {HOST}gitops --branch dev --path {path} --commit {commit}");
        self.run(&format!("report --host berlin --reconciler {path} --status success {place}")).ends(0);
        let rows = self.run("deployments --host berlin -o json").ends(0).json();
        rows["items"].as_array().unwrap().iter().find(|row| row["reconciler"] == path).unwrap().clone()
    }
}

/// The version of an assignment's configuration in the output of `explain`.
fn version(world: &World, assignment: &str) -> Json {
    world.run(&format!("explain -e dev {assignment} -o json")).ends(0).json()["configVersion"].clone()
}

#[test]
fn publications_name_workload_and_target_of_each_folder() {
    let world = World::new();
    let told = world.run("publish -e dev --direct").ends(0).says(&["Sent 4 folders to the hub"]);
    assert_eq!(told.err, "");
    let row = world.applied("west/shop-test");
    let names = ["workspace", "application", "workload", "target", "environment", "clusterType", "state"];
    let names = names.map(|name| row[name].as_str().unwrap_or_default());
    assert_eq!(names, ["shop-team", "shop", "shop", "test", "dev", "west", "succeeded"], "{row}");
    assert_eq!(row["configVersion"], version(&world, "west/shop-test"));
    world.run("publish -e dev --direct").ends(0).says(&["Nothing to do"]);
}

#[test]
fn folders_at_an_earlier_path_are_not_desired_any_more() {
    for is_direct in [true, false] {
        let world = World::new();
        world.run("publish -e dev --direct").ends(0);
        assert_eq!(world.applied("west/shop-test")["state"], "succeeded");
        world.company.change("control-plane@dev", "gitops.yaml", &objects::gitops("dev", "dev", "./fleet"));
        if is_direct {
            let confirmed = format!("publish -e dev --direct --confirm {}", world.company.word());
            world.run(&confirmed).ends(0).says(&["to the hub"]);
        } else {
            world.run("publish -e dev").ends(0);
            world.company.merge("gitops", "dev", "kalypso/dev");
            world.run("publish -e dev").ends(0).says(&["to the hub"]);
        }
        let row = world.applied("fleet/west/shop-test");
        assert_eq!((&row["state"], &row["clusterType"]), (&"succeeded".into(), &"west".into()), "{is_direct}: {row}");
        let rows = world.run("deployments --host berlin -o json").ends(0).json();
        let earlier =
            rows["items"].as_array().unwrap().iter().find(|row| row["reconciler"] == "west/shop-test").unwrap();
        assert_eq!(earlier["state"], Json::Null, "{is_direct}: {earlier}");
        let drift = world.run("drift -o json").ends(0).json();
        assert_eq!(drift["removedPlace"], 1, "{is_direct}: {drift}");
    }
}

#[test]
fn values_that_differ_between_environments_are_compared_by_key() {
    let company = Company::with_environments(&["dev", "stage"]);
    let both = objects::workload("shop");
    let stage = both[both.find("    - name: test").unwrap()..].replace("environment: dev", "environment: stage");
    company.change("shop@main", "shop.yaml", &(both + &stage));
    let common = "DATABASE: mysql://main/a\nLOG_LEVEL: debug\nTOKEN: ghp_0123456789abcdefghijABCDEFGHIJ012345";
    company.change("control-plane@stage", "configs/common.yaml", &objects::config("common", "", common));
    let west = objects::config("west", "region: west-us", "DATABASE: mysql://west-2/a");
    company.change("control-plane@stage", "configs/west.yaml", &west);
    let world = World::from_company(company);
    world.run("publish --all --direct").ends(0);
    let compared = world.run("compare dev stage").ends(0);
    let compared = compared.says(&[
        "differs on 2 of 2 cluster types",
        "LOG_LEVEL   shop/test\n    dev    \"info\"\n    stage  \"debug\"\n",
        "dev    \"mysql://main/a\" on east, \"mysql://west/a\" on west\n",
        "stage  \"mysql://main/a\" on east, \"mysql://west-2/a\" on west\n",
        "TOKEN   shop/test\n    dev    (none)\n",
    ]);
    assert!(!compared.out.contains("ghp_0123"), "{}", compared.out);
    let json = world.run("compare dev stage --differing -o json").ends(0).json();
    let difference = json["values"].as_array().unwrap().iter().find(|one| one["key"] == "LOG_LEVEL").unwrap();
    let side = |value: &str| json!([{"value": value, "sensitive": false, "places": 2, "examples": ["east", "west"]}]);
    assert_eq!(difference["targets"], json!(["shop/test"]));
    assert_eq!([&difference["from"], &difference["to"]], [&side("\"info\""), &side("\"debug\"")]);
    assert!(!json.to_string().contains("ghp_0123"), "{json}");
}

#[test]
fn a_commit_that_changes_no_folder_is_known() {
    let world = World::new();
    world.run("publish -e dev --direct").ends(0);
    let main = world.company.head("control-plane", "main").unwrap();
    world.company.change("control-plane@dev", "base.yaml", &objects::pinned_base(main));
    let before = world.company.head("gitops", "dev");
    world.run("publish -e dev --direct").ends(0).says(&["Sent 0 folders to the hub"]);
    assert_ne!(world.company.head("gitops", "dev"), before);
    assert_eq!(world.applied("west/shop-test")["state"], "succeeded");
}

#[test]
fn interrupted_hub_update_is_completed_by_the_next_run() {
    let world = World::new();
    // As if the program was killed between the push and the hub.
    world.company.kalypso("publish -e dev --direct").ends(0);
    world.run("publish -e dev --direct").ends(0).says(&["Nothing to do", "Sent 4 folders to the hub"]);
    let row = world.applied("west/shop-test");
    assert_eq!((&row["target"], &row["state"]), (&json!("test"), &json!("succeeded")));
    let again = world.run("publish -e dev --direct").ends(0);
    assert!(!again.out.contains("Sent"), "{}", again.out);
}

#[test]
fn proposed_folders_are_known_after_the_merge() {
    let world = World::new();
    let told = world.run("publish -e dev -o json").ends(0).json();
    assert_eq!(told["published"][0]["hub"], "sent");
    world.company.merge("gitops", "dev", "kalypso/dev");
    let told = world.run("publish -e dev --hub-only -o json").ends(0).json();
    let told = ["result", "hub", "commit"].map(|field| told["published"][0][field].clone());
    assert_eq!(told, [json!("sent"), json!("sent"), Json::Null]);
    let row = world.applied("east/shop-test");
    assert_eq!(
        [&row["target"], &row["clusterType"], &row["configVersion"]],
        ["test", "east", version(&world, "east/shop-test").as_str().unwrap()]
    );
}

#[test]
fn watching_hub_joins_observed_and_published_data() {
    let company = Company::new();
    let watch = format!("\n[hub]\nwatch-seconds = 1\n\n[[hub.watch]]\nrepo = \"{HOST}gitops\"\nbranch = \"dev\"\n");
    company.configure(&format!("{}/", company.path("served").display()), &watch);
    let world = World::from_company(company);
    world.run("publish -e dev").ends(0);
    world.company.merge("gitops", "dev", "kalypso/dev");
    let seen = |row: &Json| row["target"] == "test" && row["state"] == "succeeded";
    let row = (0..200).map(|_| world.applied("west/shop-test")).find(seen).unwrap();
    assert_eq!([&row["clusterType"], &row["application"]], ["west", "shop"]);
    assert_eq!(row["configVersion"], version(&world, "west/shop-test"));
}

#[test]
fn unreachable_hub_stops_no_publication_and_is_updated_later() {
    let world = World::new();
    let published = world.run_with("", "publish -e dev --direct -o json").ends(0);
    let published = published.says(&["warning: the hub did not get", "run `kalypso publish -e dev --hub-only`"]);
    assert_eq!(published.json()["published"][0]["hub"], "failed");
    assert_eq!(world.applied("west/shop-test")["target"], Json::Null);
    world.run_with("", "publish -e dev --hub-only").ends(1).says(&["error:"]);
    world.run("publish -e dev --hub-only").ends(0).says(&["Sent 4 folders to the hub"]);
    assert_eq!(world.applied("west/shop-test")["target"], "test");
    world.company.kalypso("publish -e dev --hub-only").ends(64).says(&["no hub is configured", "KALYPSO_HUB_URL"]);
}

#[test]
fn removed_folders_are_not_desired() {
    let world = World::new();
    world.run("publish -e dev --direct").ends(0);
    assert_eq!(world.applied("west/shop-test")["state"], "succeeded");
    world.company.remove("control-plane", "dev", "cluster-types/west.yaml");
    // The folder of the cluster type and the folder of its assignment.
    world
        .run(&format!("publish -e dev --direct --confirm {}", world.company.word()))
        .ends(0)
        .says(&["Sent 2 folders to the hub"]);
    let rows = world.run("deployments --host berlin -o json").ends(0).json();
    assert_eq!(rows["items"][0]["state"], Json::Null, "{rows}");
}

#[test]
fn removals_during_a_hub_outage_are_sent_later() {
    let world = World::new();
    world.run("publish -e dev --direct").ends(0);
    assert_eq!(world.applied("west/shop-test")["state"], "succeeded");
    world.company.remove("control-plane", "dev", "cluster-types/west.yaml");
    // The dates of two commits of the same second do not define their order. Then nothing would be removed.
    thread::sleep(Duration::from_millis(1_100));
    world.run_with("", &format!("publish -e dev --direct --confirm {}", world.company.word())).ends(0);
    let state = || {
        let rows = world.run("deployments --host berlin -o json").ends(0).json();
        rows["items"][0]["state"].clone()
    };
    assert_eq!(state(), "succeeded");
    world.run("publish -e dev --hub-only").ends(0).says(&["Sent 2 folders to the hub"]);
    assert_eq!(state(), Json::Null);
    assert_eq!(world.applied("east/shop-test")["state"], "succeeded");
}

#[test]
fn environment_order_is_sent_to_the_hub() {
    let world = World::new();
    world.company.configure(
        &format!("{}/", world.company.path("served").display()),
        "\n[hub]\nenvironments = [\"stage\", \"dev\"]\n",
    );
    world.run("publish -e dev --direct").ends(0);
    let order = good(&world.company.path("."), &["export", "environment_order"]);
    assert_eq!(order.lines().skip(1).collect::<Vec<_>>(), ["dev,1", "stage,0"], "{order}");
}

#[test]
fn targets_are_named_as_descriptors_name_them() {
    let world = World::new();
    let labelled = objects::workload("shop").replace("purpose: shop", "purpose: shop, application: retail");
    world.company.commit("shop", "main", &[("shop.yaml", labelled)]);
    world.run("publish -e dev --direct").ends(0);
    let row = world.applied("west/shop-test");
    assert_eq!(
        ["application", "workload", "target"].map(|name| row[name].as_str().unwrap()),
        ["retail", "shop", "test"]
    );
}

#[test]
fn cluster_with_its_own_object_has_its_cluster_type() {
    let world = World::new();
    let cluster =
        "apiVersion: fleet.kalypso.io/v1alpha1\nkind: Cluster\nmetadata: {name: line-7}\nspec: {clusterType: west}\n";
    world.company.change("control-plane@dev", "clusters/line-7.yaml", cluster);
    world.run("publish -e dev --direct").ends(0).says(&["Sent 6 folders to the hub"]);
    let row = world.applied("line-7/shop-test");
    assert_eq!([&row["clusterType"], &row["target"], &row["state"]], ["west", "test", "succeeded"]);
    let groups = good(&world.company.path("."), &["export", "place_group"]);
    assert!(groups.contains("clusters of west in dev: shop-test"), "{groups}");
}
