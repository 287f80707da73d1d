//! Tests of the configuration file.

use super::*;

const MINIMAL: &str = "\
workspace = \"store-team\"
source = { chart = \"./chart\" }
gitops = { repo = \"../shop-gitops\" }
environments = [{ name = \"dev\" }]
";

fn problems(text: &str) -> Vec<String> {
    let found = ApplicationSettings::parse(text, FileId::default()).err().unwrap_or_default();
    let at = |problem: &Diagnostic| match &problem.labels[0].origin {
        Origin::Span(_, span) => text.get(span.range()).unwrap_or_default().to_owned(),
        _ => "the file".to_owned(),
    };
    found.iter().map(|problem| format!("{}: {}", at(problem), problem.message)).collect()
}

#[test]
fn everything_else_has_a_default() {
    let settings = ApplicationSettings::parse(MINIMAL, FileId::default()).unwrap();
    let names = PatternNames { workload: "shop", environment: "dev", ..PatternNames::default() };
    assert_eq!((settings.source.folder.as_str(), settings.source.kind), ("chart", SourceKind::Chart));
    assert_eq!(settings.values.path.text(names), "values/dev");
    assert_eq!(settings.gitops.branch.text(names), "dev");
    assert_eq!(settings.gitops.proposing_branch.text(names), "deploy/shop/dev");
    assert_eq!(settings.environments[0].delivery, DeliveryMode::PullRequest);
    assert_eq!(settings.output.file, "manifests.yaml");
    assert!(!settings.pins_images);
}

#[test]
fn images_are_pinned_on_request() {
    let parse = |images: &str| ApplicationSettings::parse(&format!("{images}\n{MINIMAL}"), FileId::default());
    assert!(parse("images = { pin = true }").unwrap().pins_images);
    assert!(parse("images = { pinned = true }").is_err());
}

#[test]
fn values_of_another_repository_are_in_a_branch_for_each_environment() {
    let text = format!("values = {{ repo = \"../shop-configs\" }}\n{MINIMAL}");
    let values = ApplicationSettings::parse(&text, FileId::default()).unwrap().values;
    assert_eq!((values.branch.unwrap().as_str(), values.path.as_str()), ("{environment}", ""));
}

#[test]
fn mistakes_are_reported_at_their_places() {
    let check = |from: &str, to: &str, expected: &[&str]| {
        assert!(MINIMAL.contains(from), "{from}");
        assert_eq!(problems(&MINIMAL.replace(from, to)), expected, "{to}");
    };
    check(
        "{ chart = \"./chart\" }",
        "{}",
        &["{}: `source` must name exactly one of `chart`, `kustomize`, `manifests`, `services` and `files`"],
    );
    check("./chart", "../chart", &["\"../chart\": `../chart` leads out of the folder of kalypso-app.toml"]);
    check("name = \"dev\"", "name = \"Dev_1\"", &["\"Dev_1\": `Dev_1` is not the name of an environment"]);
    check(
        "{ name = \"dev\" }",
        "{ name = \"dev\" }, { name = \"dev\" }",
        &["\"dev\": environment `dev` is there twice"],
    );
    check("store-team", " ", &["\" \": the workspace is empty"]);
    check(
        "workspace",
        "workspaces",
        &[
            "workspaces: unknown field `workspaces`, expected one of `workload`, `workspace`, `application`, `promoted`, `source`, `sources`, `values`, `gitops`, `output`, `helm`, `kubernetes`, `images`, `platform`, `variables`, `environments`, `git`, `host`",
        ],
    );
    check(
        "gitops = ",
        "output = { file = \"a/b.yaml\" }\nhelm = { timeout-seconds = 0 }\ngitops = ",
        &[
            "\"a/b.yaml\": `a/b.yaml` can't be the file of the manifests",
            "0: a time limit is between 1 second and 1 hour",
        ],
    );
}

#[test]
fn targets_have_the_first_other_source_that_names_them() {
    let text = "[[sources]]\ntargets = [\"kiosk\", \"*/edge\"]\nfiles = \"kiosk\"\n";
    let settings = ApplicationSettings::parse(&format!("{MINIMAL}{text}"), FileId::default()).unwrap();
    let pattern = |target: &str| settings.others[0].pattern(target).map(|pattern| pattern.text.as_str());
    assert_eq!([pattern("kiosk"), pattern("eu/edge"), pattern("eu")], [Some("kiosk"), Some("*/edge"), None]);
    assert_eq!([pattern("edge"), pattern("a/b/edge"), pattern("kiosk/a")], [None; 3]);
    let wrong = |from: &str, to: &str| problems(&format!("{MINIMAL}{text}").replace(from, to));
    assert_eq!(wrong("[\"kiosk\", \"*/edge\"]", "[]").len(), 1);
    assert_eq!(wrong("= \"kiosk\"", "= \"../kiosk\"").len(), 1);
    assert_eq!(wrong("chart = \"./chart\"", "services = \"services\"").len(), 1);
}

#[test]
fn releases_of_services_have_the_name_of_the_service() {
    let release = |text: &str| ApplicationSettings::parse(text, FileId::default()).unwrap().helm.release;
    assert_eq!(release(MINIMAL).as_str(), "{target}");
    let services = MINIMAL.replace("chart = \"./chart\"", "services = \"services\"");
    assert_eq!(release(&services).as_str(), "{service}");
    assert_eq!(release(&format!("helm = {{ release = \"x\" }}\n{services}")).as_str(), "x");
}

#[test]
fn unknown_environments_have_a_nearest_one() {
    let settings = ApplicationSettings::parse(MINIMAL, FileId::default()).unwrap();
    assert!(settings.environment("dev").is_ok());
    assert_eq!(settings.environment("dve").unwrap_err().nearest.as_deref(), Some("dev"));
}
