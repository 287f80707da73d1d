//! Tests of the graph: its order, and every mistake in it.

use model::object::AnyObject;
use model::read::read_file;
use model::source::FileId;

use super::*;

/// Reads objects: `dev>stage` is an environment with an annotation, `stage` one without, `on-main` one on the main branch, `{...}` is the spec of a promotion.
fn graph(objects: &[&str]) -> (Graph, Vec<String>) {
    let (mut environments, mut promotions) = (Vec::new(), Vec::new());
    for (number, written) in objects.iter().enumerate() {
        let text = match written.strip_prefix('{') {
            Some(_) => format!(
                "{{apiVersion: fleet.kalypso.io/v1alpha1, kind: Promotion, metadata: {{name: p{number}}}, spec: {written}}}"
            ),
            None => environment(written),
        };
        let read = read_file(FileId::default(), "a.yaml", text.as_bytes());
        match read.objects.first() {
            Some(AnyObject::Environment(object)) => environments.push(Arc::clone(object)),
            Some(AnyObject::Promotion(object)) => promotions.push(Arc::clone(object)),
            _ => panic!("{text}: {:?}", read.diagnostics),
        }
    }
    let (graph, diagnostics) = build(&environments, &promotions, &|place| *place.branch == *"main");
    let shown = |found: &model::diagnostic::Diagnostic| {
        assert!(!found.labels.is_empty() && !found.help.is_empty(), "without a place or advice: {found:?}");
        format!("{} {}", found.code, found.message)
    };
    (graph, diagnostics.iter().map(shown).collect())
}

fn environment(written: &str) -> String {
    let (name, next) = written.split_once('>').unwrap_or((written, ""));
    let annotations =
        if next.is_empty() { String::new() } else { format!(", annotations: {{promotion.kalypso.io/next: {next}}}") };
    let branch = if name == "on-main" { "main" } else { "b" };
    format!(
        "{{apiVersion: scheduler.kalypso.io/v1alpha1, kind: Environment, metadata: {{name: {name}{annotations}}}, \
         spec: {{controlPlane: {{repo: r, branch: {branch}, path: .}}}}}}"
    )
}

fn check(objects: &[&str], order: &str, expected: &[&str]) {
    let (graph, diagnostics) = graph(objects);
    assert_eq!(graph.order().iter().map(EnvironmentName::as_str).collect::<Vec<_>>().join(" "), order, "{objects:?}");
    assert_eq!(diagnostics, expected, "{objects:?}");
}

/// Why nothing can move into an environment.
fn problem(objects: &[&str], environment: &str) -> String {
    let (graph, _) = graph(objects);
    graph.step(environment).and_then(|step| step.problem.clone()).map(|problem| problem.to_string()).unwrap_or_default()
}

#[test]
fn annotations_give_the_order_if_there_is_no_promotion() {
    check(&["stage>prod", "prod", "dev>stage"], "dev stage prod", &[]);
    check(&["b", "a"], "a b", &[]);
    let (graph, _) = graph(&["dev>stage", "stage"]);
    assert!(!graph.is_declared() && graph.object("stage").is_none());
    let gates: Vec<_> = graph.promotion("stage").unwrap().gates.iter().map(|gate| gate.name.to_string()).collect();
    assert_eq!(gates, ["compliant", "failures"]);
    assert!(graph.promotion("dev").unwrap().gates.is_empty());
}

#[test]
fn promotions_give_the_order() {
    let eu = "{from: [stage], to: eu}";
    check(
        &["eu", "us", "dev", "stage", eu, "{from: [stage, eu], to: us}", "{from: [dev], to: stage}"],
        "dev stage eu us",
        &[],
    );
    let (graph, _) = graph(&["dev", "eu", "us", "{from: [dev], to: us}", "{from: [dev], to: eu}"]);
    assert!(graph.is_declared() && graph.object("eu").is_some());
    let names = |names: Vec<&EnvironmentName>| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(names(graph.after("dev").collect()), ["eu", "us"]);
    assert_eq!(names(graph.before("us").iter().collect()), ["dev"]);
    assert!(graph.before("dev").is_empty() && graph.step("qa").is_none());
}

#[test]
fn names_are_sorted_by_the_order() {
    let (graph, _) = graph(&["dev>beta", "beta>alpha", "alpha"]);
    let mut names: Vec<Arc<str>> = ["zeta", "alpha", "dev", "eta", "beta"].map(Arc::from).to_vec();
    names.sort_by(|one, other| graph.compare(one, other));
    assert_eq!(names.join(" "), "dev beta alpha eta zeta");
}

#[test]
fn cycles_are_reported_with_their_path() {
    let message = "K0152 the environments dev → stage → dev wait for one another";
    check(&["dev>stage", "stage>dev"], "dev stage", &[message]);
    let steps = ["dev", "stage", "{from: [stage], to: dev}", "{from: [dev], to: stage}"];
    check(&steps, "dev stage", &[message]);
    assert_eq!(problem(&steps, "stage"), "it waits for itself: dev → stage → dev");
    check(&["dev>dev"], "dev", &["K0152 the environments dev → dev wait for one another"]);
    let three = "K0152 the environments a → c → b → a wait for one another";
    check(&["a>c", "c>b", "b>a"], "a c b", &[three]);
}

#[test]
fn environments_after_a_cycle_are_unreachable() {
    let steps = ["a", "b", "c", "{from: [b], to: a}", "{from: [a], to: b}", "{from: [b], to: c}"];
    let cycle = "K0152 the environments a → b → a wait for one another";
    check(&steps, "a b c", &[cycle, "K0155 no changes ever arrive in `c`: they wait for `b`"]);
    assert_eq!(problem(&steps, "c"), "no changes ever arrive in `b`, which comes before it");
    let any = ["a", "b", "c", "d", "{from: [b], to: a}", "{from: [a], to: b}", "{from: [b, d], to: c, require: any}"];
    check(&any, "d a b c", &[cycle]);
}

#[test]
fn environments_that_do_not_exist_are_reported() {
    let wrong = ["stage", "prod", "{from: [stgae], to: prod}"];
    check(&wrong, "prod stage", &["K0153 there is no environment `stgae`"]);
    assert_eq!(problem(&wrong, "prod"), "`stgae`, which comes before it, does not exist");
    check(&["dev", "{to: qa}"], "dev", &["K0153 there is no environment `qa`"]);
    check(&["dev>qa"], "dev", &["K0153 there is no environment `qa`"]);
    let partly = ["a", "b", "c", "{from: [a, x], to: b}", "{from: [b], to: c}"];
    let after = "K0155 no changes ever arrive in `c`: they wait for `b`";
    check(&partly, "a b c", &["K0153 there is no environment `x`", after]);
}

#[test]
fn two_promotions_to_one_environment_are_reported() {
    let steps = ["dev", "prod", "{from: [dev], to: prod}", "{to: prod}"];
    check(&steps, "dev prod", &["K0154 Promotion `p2` and Promotion `p3` both lead to `prod`"]);
    assert_eq!(problem(&steps, "prod"), "several promotions lead to `prod`");
    let steps = ["prod", "{to: prod}", "{to: prod, rings: [{name: all}]}"];
    let (graph, _) = graph(&steps);
    assert_eq!(graph.promotion("prod").unwrap().rings.len(), 1);
}

#[test]
fn no_promotion_leads_to_an_environment_on_the_main_branch() {
    let message = "K0161 the objects of `on-main` are on the main branch, so no promotion can lead to it";
    for steps in [&["dev", "on-main", "{from: [dev], to: on-main}"][..], &["dev>on-main", "on-main"]] {
        check(steps, "dev on-main", &[message]);
        assert_eq!(problem(steps, "on-main"), "its objects are on the main branch");
    }
    // What comes from there is only read.
    check(&["on-main", "prod", "{from: [on-main], to: prod}"], "on-main prod", &[]);
}

#[test]
fn annotations_that_contradict_promotions_are_reported() {
    let message = "K0156 no promotion leads from `dev` to `prod`: the annotation has no effect";
    check(&["dev>prod", "stage", "prod", "{from: [stage], to: prod}"], "dev stage prod", &[message]);
    check(&["dev>prod", "prod", "{from: [dev], to: prod}"], "dev prod", &[]);
}

#[test]
fn gates_that_can_never_hold_are_reported() {
    let gate = "{to: dev, gates: [{name: a, manual: {}}, {name: b, failures: 0}]}";
    check(&["dev", gate], "dev", &["K0157 the gate `b` measures the environments in `from`, and there is none"]);
    let window = "{to: dev, gates: [{name: w, window: {zone: Europe/Berlyn, from: '09:00', until: '10:00'}}]}";
    check(&["dev", window], "dev", &["K0157 there is no time zone `Europe/Berlyn`"]);
    let ring = "{to: dev, rings: [{name: r, gates: [{name: w, window: {zone: X, from: '09:00', until: '10:00'}}]}]}";
    check(&["dev", ring], "dev", &["K0157 there is no time zone `X`"]);
    check(&["dev", "{to: dev, gates: [{name: w, window: {zone: UTC, from: '09:00', until: '10:00'}}]}"], "dev", &[]);
}
