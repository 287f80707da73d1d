//! Tests that the keys of structured output are stable.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::process::Stdio;

use testkit::objects::{cluster_type, config, policy, workload};

use crate::company::{Company, Ran, git, kalypso};

/// The keys of an object and of its nested objects, sorted.
fn keys(json: &serde_json::Value) -> String {
    let Some(object) = json.as_object() else { return String::new() };
    let mut names: Vec<_> = object.keys().map(String::as_str).collect();
    names.sort_unstable();
    names.join(" ")
}

#[test]
fn answers_in_json_hold_their_keys() {
    let company = Company::new().published();
    company.change("control-plane@dev", "configs/west.yaml", &config("west", "region: west-us", "DATABASE: x"));
    let check = |arguments: &str, status: i32, expected: &str| {
        let json = company.kalypso(&format!("{arguments} -o json")).ends(status).json();
        assert_eq!(keys(&json), expected, "{arguments}");
        let yaml = company.kalypso(&format!("{arguments} -o yaml")).ends(status);
        assert!(expected.split(' ').all(|key| yaml.out.contains(&format!("{key}:"))), "{}", yaml.out);
        json
    };
    check("check", 0, "diagnostics summary");
    check(
        "render -e dev --digest",
        0,
        "assignments clusterTypes clusters environment failed failedCount files recomputed report tree",
    );
    check("explain -e dev west/shop-test DATABASE", 0, "checks composedOf endsUpIn key notUsed overrides setBy value");
    check(
        "explain -e dev west/shop-test",
        0,
        "cluster clusterType configVersion held mappedLabels place policies registration releasePins rollout target templates values workload workspace",
    );
    let plan = check("plan -e dev", 2, "change environment notAdmitted plans report stats");
    let expected = "adopted branch changes commit confirmation counts gitopsRepo groups held kept missing needsConfirmation otherFiles relocation rollouts stillFailing tree truncated unassigned";
    assert_eq!(keys(&plan["plans"][0]), expected);
    assert_eq!(
        keys(&plan["plans"][0]["changes"][0]),
        "assignment files kind moreValues reasons renamedFrom values valuesSameAs workload"
    );
    let value = &plan["plans"][0]["changes"][0]["values"][0];
    assert_eq!(value["because"], "control-plane@dev:configs/west.yaml:7");
    let published = company.kalypso("publish -e dev -o json").ends(0).json();
    assert_eq!(keys(&published), "assignments environment notAdmitted published recomputed report");
    assert_eq!(keys(&published["published"][0]), "branch commit confirmation counts gitopsRepo hub pullRequest result");
    assert_eq!(published["published"][0]["result"], "pushed");
}

#[test]
fn number_of_listed_failing_assignments_is_limited() {
    let folder = tempfile::tempdir().unwrap();
    // There are no templates for them, so all of them fail.
    let places = (0..1_002).map(|index| cluster_type(&format!("edge-{index}"), "west-us"));
    let objects: Vec<_> = places.chain([policy("shop", "shop"), workload("shop")]).collect();
    fs::write(folder.path().join("fleet.yaml"), objects.join("---\n")).unwrap();
    let render = |output: &str| {
        let arguments = ["render", "--from", ".", "-e", "dev", "--digest", "-o", output];
        Ran::new(kalypso(folder.path()).args(arguments)).ends(1)
    };
    let json = render("json").json();
    assert_eq!(json["failedCount"], 1_002);
    assert_eq!(json["failed"].as_array().unwrap().len(), 1_000);
    render("human").says(&["1,002 assignments failed: edge-0/shop-test, edge-1/shop-test", "and 997 more\n"]);
}

#[test]
fn an_explanation_names_some_of_many_that_do_not_match() {
    let company = Company::new();
    let others: Vec<_> = (10..22).map(|at| config(&format!("c{at}"), "region: moon", "DATABASE: x")).collect();
    company.change("control-plane@dev", "others.yaml", &others.join("---\n"));
    let text = company.kalypso("explain -e dev west/shop-test DATABASE").ends(0);
    assert_eq!(text.out.matches("not used").count(), 11);
    text.says(&["2 more ConfigMaps: -o json lists all"]);
    let json = company.kalypso("explain -e dev west/shop-test DATABASE -o json").ends(0).json();
    assert_eq!(json["notUsed"].as_array().unwrap().len(), 12);
}

#[test]
fn many_items_of_a_list_are_one_line_and_one_entry() {
    let company = Company::new().published();
    let items: Vec<_> = (0..30).map(|at| format!("host-{at}")).collect();
    let data = format!("HOSTS: |\n  [{}]", items.join(", "));
    company.change("control-plane@dev", "hosts.yaml", &config("hosts", "region: west-us", &data));
    company.kalypso("plan -e dev").ends(2).says(&["HOSTS  30 items new", "because hosts.yaml:"]);
    let values = &company.kalypso("plan -e dev -o json").ends(2).json()["plans"][0]["changes"][0]["values"];
    assert_eq!(values.as_array().unwrap().len(), 1, "{values}");
    assert_eq!((&values[0]["key"], &values[0]["items"]["added"]), (&"HOSTS".into(), &30.into()));
}

#[test]
fn a_plan_has_colours_where_they_are_seen() {
    let company = Company::new().published();
    company.change("control-plane@dev", "configs/west.yaml", &config("west", "region: west-us", "DATABASE: x"));
    let plan = |variable| Ran::new(company.command().args(["plan", "-e", "dev"]).env(variable, "1")).ends(2);
    assert!(plan("CLICOLOR_FORCE").out.contains("  \u{1b}[33m~\u{1b}[0m "), "the output has no colour");
    assert!(!plan("NO_COLOR").out.contains('\u{1b}'));
}

#[test]
fn an_explanation_names_every_part_of_a_composed_value() {
    let company = Company::new();
    let all = config("all", "", "LIMITS: |\n  {cpu: 1, memory: 2}");
    let west = config("west-limits", "region: west-us", "LIMITS: |\n  {memory: 4, disk: 8}");
    company.change("control-plane@dev", "limits.yaml", &[all, west].join("---\n"));
    let explain = |key: &str| company.kalypso(&format!("explain -e dev west/shop-test {key}")).ends(0);
    let text = explain("LIMITS").says(&["LIMITS.memory = 4", "LIMITS.disk = 8"]);
    assert_eq!(text.out.matches("composed of").count(), 3, "{}", text.out);
    assert!(!text.out.contains("set by"), "{}", text.out);
    let json = explain("LIMITS -o json").json();
    assert!(json["setBy"].is_null(), "{json}");
    let parts = json["composedOf"].as_array().unwrap().iter();
    let parts: Vec<_> = parts.map(|part| format!("{} {}", part["configMap"], part["key"])).collect();
    let expected =
        [r#""all" "LIMITS""#, r#""west-limits" "LIMITS.disk""#, r#""west-limits" "LIMITS.memory""#].map(str::to_owned);
    assert_eq!(parts, expected);
    let json = explain("LIMITS.memory -o json").json();
    assert_eq!(json["setBy"]["configMap"], "west-limits");
    assert_eq!(json["composedOf"], serde_json::json!([]));
}

#[test]
fn an_explanation_of_a_mistyped_key_names_the_keys_like_it() {
    let company = Company::new();
    let ran = company.kalypso("explain -e dev west/shop-test DATABSE").ends(1);
    ran.says(&["west/shop-test has no value `DATABSE` in dev", "did you mean `DATABASE`?"]);
    let ran = company.kalypso("explain -e dev west/shop-test Q -o json").ends(1);
    ran.says(&["kalypso explain -e dev west/shop-test lists all keys"]);
    // A key that only other places have is not an error.
    company.change("control-plane@dev", "moon.yaml", &config("moon", "region: moon", "MOON: x"));
    company.kalypso("explain -e dev west/shop-test MOON").ends(0).says(&["MOON has no value", "not used"]);
}

#[test]
fn a_check_is_written_for_code_hosts() {
    let company = Company::new();
    company.change("control-plane@dev", "broken.yaml", "a: [\n");
    let sarif = company.kalypso("check -o sarif").ends(1).json();
    assert_eq!(sarif["version"], "2.1.0");
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "K0101");
    company.kalypso("check -o github").ends(1).says(&["::error ", "K0101"]);
}

#[test]
fn closed_output_pipe_is_not_an_error() {
    let company = Company::new();
    company.change("control-plane@dev", "broken.yaml", "a: [\n");
    let mut child = company.command().arg("check").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    let status = child.wait().unwrap();
    assert_eq!((status.code(), err.as_str()), (Some(0), ""));
}

#[test]
fn output_has_colours_only_on_a_terminal_or_if_forced() {
    let company = Company::new();
    company.change("control-plane@dev", "broken.yaml", "a: [\n");
    let plain = company.kalypso("check").ends(1);
    assert!(!format!("{}{}", plain.out, plain.err).contains('\u{1b}'));
    let forced = Ran::new(company.command().arg("check").env("CLICOLOR_FORCE", "1"));
    assert!(forced.out.contains('\u{1b}'));
    let refused = Ran::new(company.command().arg("check").env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1"));
    assert!(!refused.out.contains('\u{1b}'));
}

#[test]
fn warnings_fail_only_with_strict() {
    let company = Company::new();
    company.change("control-plane@dev", "policies/none.yaml", &testkit::objects::policy("none", "nothing"));
    company.kalypso("check").ends(0).says(&["K0202", "1 warning"]);
    company.kalypso("check --strict").ends(1);
    company.kalypso("render -e dev --digest --strict").ends(1);
}

#[test]
fn the_digest_is_the_tree_of_git() {
    let company = Company::new();
    company.kalypso("render -e dev --out out").ends(0);
    let out = company.path("out");
    fs::remove_dir_all(out.join(".kalypso")).unwrap();
    git(&out, &["init", "-q"]);
    git(&out, &["add", "-A"]);
    let tree = git(&out, &["write-tree"]);
    company.kalypso("render -e dev --digest").ends(0).says(&[&tree]);
}

#[test]
fn a_checkout_is_checked_without_git() {
    let company = Company::new();
    let folder = company.path("checkout");
    for (repository, branch) in [("control-plane", "main"), ("control-plane", "dev"), ("shop", "main")] {
        let name = format!("checkout/{repository}-{branch}");
        let from = company.repository(repository);
        git(&company.path(""), &["clone", "-q", "-b", branch, from.to_str().unwrap(), &name]);
    }
    company.kalypso("check --from checkout").ends(0).says(&["nothing wrong"]);
    fs::write(folder.join("control-plane-dev/broken.yaml"), "a: [\n").unwrap();
    company.kalypso("check --from checkout").ends(1).says(&["K0101", "control-plane-dev/broken.yaml:1"]);
    company
        .kalypso("check --from checkout -e dev -o github")
        .ends(1)
        .says(&["file=checkout/control-plane-dev/broken.yaml"]);
    company.kalypso("check --from nowhere").ends(64).says(&["nowhere"]);
}

/// The subcommands of a command in its help.
fn below(command: &[String], help: &str) -> Vec<Vec<String>> {
    let list = match command {
        // The commands of the program are grouped by task, before its options.
        [] => help.split_once("\nOptions:\n").map_or("", |(list, _)| list),
        _ => help.split_once("\nCommands:\n").map_or("", |(_, list)| list.split("\n\n").next().unwrap()),
    };
    let names = list.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names = names.filter(|name| !name.is_empty() && *name != "help");
    names.map(|name| [command, &[name.to_owned()]].concat()).collect()
}

#[test]
fn every_command_has_help_with_examples_and_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let run = |command: &[String]| Ran::new(kalypso(folder.path()).args(command)).ends(0);
    let mut pages = BTreeSet::new();
    let mut waiting = vec![Vec::new()];
    while let Some(command) = waiting.pop() {
        let help = run(&[command.as_slice(), &["--help".to_owned()]].concat());
        let commands = below(&command, &help.out);
        if commands.is_empty() {
            help.says(&["Examples:\n  kalypso "]);
        }
        waiting.extend(commands);
        pages.insert(format!("{}.1", [&["kalypso".to_owned()], command.as_slice()].concat().join("-")));
    }
    run(&["man", "--out", "pages"].map(str::to_owned));
    let written = fs::read_dir(folder.path().join("pages")).unwrap();
    assert_eq!(written.map(|page| page.unwrap().file_name().into_string().unwrap()).collect::<BTreeSet<_>>(), pages);
}

#[test]
fn completions_and_schemas_are_printed() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| Ran::new(kalypso(folder.path()).args(arguments)).ends(0);
    for (shell, word) in [("bash", "complete -o"), ("zsh", "#compdef kalypso"), ("fish", "complete --keep-order")] {
        run(&["completions", shell]).says(&[word, "KALYPSO_COMPLETE"]);
    }
    run(&["schema", "GitOpsRepo"]).says(&["\"branch\""]);
}

#[test]
fn a_command_that_does_not_exist_is_wrong_usage() {
    let folder = tempfile::tempdir().unwrap();
    let status =
        |arguments: &[&str]| kalypso(folder.path()).args(arguments).stderr(Stdio::null()).status().unwrap().code();
    assert_eq!(status(&[]), Some(64));
    assert_eq!(status(&["paln"]), Some(64));
}
