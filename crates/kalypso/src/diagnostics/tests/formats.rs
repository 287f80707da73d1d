//! One value that a schema in another repository refuses, in every format.

use std::collections::BTreeSet;
use std::sync::Arc;

use insta::assert_snapshot;
use model::diagnostic::{AssignmentId, Code, Diagnostic, Origin};
use model::git_id::GitId;
use model::locate::Locator;
use model::name::{DeploymentTargetName, EnvironmentName, PlaceName};
use model::source::{File, Files, Source};
use model::yaml::Span;
use workbench::checkout_paths::CheckoutPaths;
use workbench::diagnostics::{DiagnosticBatch, DiagnosticReport, Fallback};

use super::super::{ReportFormat, render};

fn add(files: &mut Files, label: &str, path: &str, content: &str) -> model::source::FileId {
    let url = format!("https://git.example/acme/{label}");
    let commit = GitId::of_blob(label.as_bytes());
    let (url, revision) = (url.into(), "prod".into());
    let source = Source { label: label.into(), url, revision, commit: Some(commit), is_pinned: false };
    let (content, id) = (content.as_bytes().into(), GitId::of_blob(content.as_bytes()));
    files.add(File { source: Arc::new(source), path: path.into(), id, content })
}

fn diagnostic(files: &mut Files) -> Diagnostic {
    let config = add(files, "control-plane", "configs/we, st.yaml", "data:\n  PORT: \"54x2\"\n");
    let schema = add(files, "shop", "workload.yaml", "PORT: { type: integer }\n");
    let assignment = |place, target| AssignmentId {
        place: PlaceName::new(place).unwrap(),
        target: DeploymentTargetName::new(target).unwrap(),
    };
    let diagnostic = Diagnostic::error(Code::WrongValue, "`PORT` is 100% wrong")
        .at(Origin::Span(config, Span::new(14, 20)), "this value")
        .at(Origin::Span(schema, Span::new(8, 21)), "asked for here")
        .note("a note")
        .help("write a number");
    ["a", "b", "c", "d"].into_iter().fold(diagnostic, |diagnostic, name| diagnostic.reaching(&assignment("edge", name)))
}

#[test]
fn answers_stay_short_however_much_is_wrong() {
    let assignment = |index: usize| AssignmentId {
        place: PlaceName::new(format!("place-{index:04}")).unwrap(),
        target: DeploymentTargetName::new("shop").unwrap(),
    };
    let wrong = |index: usize| Diagnostic::error(Code::WrongValue, format!("value {index:04} is wrong"));
    let mut diagnostics: Vec<_> = (0..1_500).map(wrong).collect();
    diagnostics[0].assignments = (0..1_200).map(assignment).collect();
    let (mut report, files) = (DiagnosticReport::new(), Files::default());
    report.add(
        DiagnosticBatch { diagnostics: &diagnostics, ..DiagnosticBatch::default() },
        &mut Locator::of_files(&files),
    );
    let check = |json: &serde_json::Value, [findings, assignments, not_listed]: [usize; 3]| {
        assert_eq!(json["diagnostics"].as_array().unwrap().len(), findings);
        assert_eq!(json["diagnostics"][0]["assignments"].as_array().unwrap().len(), assignments);
        assert_eq!(json["diagnostics"][0]["assignment_count"], 1_200);
        assert_eq!(json["summary"]["not_listed"], not_listed);
    };
    check(&report.to_json(), [1_000, 1_000, 500]);
    check(&serde_json::from_str(&render(&report, ReportFormat::Json)).unwrap(), [1_500, 1_000, 0]);
    let human = anstream::adapter::strip_str(&render(&report, ReportFormat::Human)).to_string();
    assert_eq!(human.matches("error[K0312]").count(), 50);
    assert!(human.contains("reaches 1,200 assignments") && human.contains("and 1,450 more: "), "{human}");
}

fn rendered(format: ReportFormat) -> String {
    let mut files = Files::default();
    let diagnostics = [diagnostic(&mut files), Diagnostic::warning(Code::NoTargetSelected, "nothing here")];
    let url = "https://git.example/acme/control-plane".into();
    let checkout = CheckoutPaths { url, revision: "prod".into(), commit: None, folder: "./platform/".to_owned() };
    let mut report = DiagnosticReport::new().checked_out(vec![checkout]);
    let environments = ["prod", "stage"].map(|name| EnvironmentName::new(name).unwrap());
    let missing = BTreeSet::new();
    let fallback = Fallback::KeptExcept(&missing, Some(GitId::of_blob(b"")));
    for environment in &environments {
        let (assignments, nothing) = (Some(9), BTreeSet::new());
        let environment = Some(environment);
        let batch = DiagnosticBatch {
            environment,
            assignments,
            fallback,
            diagnostics: &diagnostics,
            sensitive: Some(&nothing),
            ..DiagnosticBatch::default()
        };
        report.add(batch, &mut Locator::of_files(&files));
    }
    render(&report, format)
}

#[test]
fn human() {
    assert_snapshot!(anstream::adapter::strip_str(&rendered(ReportFormat::Human)), @r#"
    error[K0312]: `PORT` is 100% wrong
     --> control-plane@prod:configs/we, st.yaml:2:9
      |
    2 |   PORT: "54x2"
      |         ^^^^^^ this value
      |
     ::: shop@prod:workload.yaml:1:9
      |
    1 | PORT: { type: integer }
      |         ------------- asked for here
      |
      = a note
      = reaches 4 assignments of prod: edge/a, edge/b and 2 more
      = these keep their last good output (commit e69de29); 5 others are not affected
      = reaches 4 assignments of stage: edge/a, edge/b and 2 more
      = these keep their last good output (commit e69de29); 5 others are not affected
      = help: write a number

    warning[K0202]: nothing here

    1 error, 1 warning in 2 files of 2 repositories
    "#);
}

#[test]
fn json() {
    let json: serde_json::Value = serde_json::from_str(&rendered(ReportFormat::Json)).unwrap();
    assert_snapshot!(json["diagnostics"][0]["labels"][0], @r#"
    {"repository":"https://git.example/acme/control-plane","revision":"prod","commit":"986611cae158a97e1ecd4f2e364ed00faa4ebdb3","path":"configs/we, st.yaml","line":2,"column":9,"end_line":2,"end_column":15,"text":"this value"}
    "#);
    assert_snapshot!(json["diagnostics"][0]["assignments"].as_array().unwrap().len(), @r"
    8
    ");
    assert_snapshot!(json["diagnostics"][1], @r#"
    {"code":"K0202","severity":"warning","message":"nothing here","labels":[],"notes":[],"help":[],"environments":["prod","stage"],"assignments":[],"assignment_count":0,"object":null}
    "#);
    assert_snapshot!(json["summary"], @r#"
    {"errors":1,"warnings":1,"files":2,"repositories":2,"not_listed":0}
    "#);
}

#[test]
fn yaml_equals_json() {
    let yaml = rendered(ReportFormat::Yaml);
    assert_snapshot!(yaml.lines().skip_while(|line| !line.contains("K0202")).collect::<Vec<_>>().join("\n"), @r"
          code: K0202
          environments:
            - prod
            - stage
          help: []
          labels: []
          message: nothing here
          notes: []
          object: null
          severity: warning
    summary:
        errors: 1
        files: 2
        not_listed: 0
        repositories: 2
        warnings: 1
    ");
}

#[test]
fn github() {
    assert_snapshot!(rendered(ReportFormat::Github), @r"
    ::error file=platform/configs/we%2C st.yaml,line=2,endLine=2,col=9,endColumn=15,title=K0312::`PORT` is 100%25 wrong%0Ashop@prod:workload.yaml:1: asked for here%0Aa note%0Areaches 4 assignments of prod: edge/a, edge/b and 2 more%0Athese keep their last good output (commit e69de29); 5 others are not affected%0Areaches 4 assignments of stage: edge/a, edge/b and 2 more%0Athese keep their last good output (commit e69de29); 5 others are not affected%0Ahelp: write a number
    ::warning title=K0202::nothing here
    1 error, 1 warning in 2 files of 2 repositories
    ");
}

#[test]
fn sarif() {
    let sarif: serde_json::Value = serde_json::from_str(&rendered(ReportFormat::Sarif)).unwrap();
    let schema = serde_json::from_str(include_str!("../../../testdata/sarif-schema-2.1.0.json")).unwrap();
    let errors: Vec<_> =
        jsonschema::validator_for(&schema).unwrap().iter_errors(&sarif).map(|e| e.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
    let run = &sarif["runs"][0];
    let result = &run["results"][0];
    assert_snapshot!(result["level"], @r#"
    "error"
    "#);
    assert_snapshot!(result["locations"][0]["physicalLocation"], @r#"
    {"artifactLocation":{"uri":"platform/configs/we%2C%20st.yaml","uriBaseId":"%SRCROOT%"},"region":{"startLine":2,"startColumn":9,"endLine":2,"endColumn":15}}
    "#);
    assert_snapshot!(result["locations"][0]["logicalLocations"][7], @r#"
    {"fullyQualifiedName":"stage/edge/d","kind":"resource"}
    "#);
    assert_snapshot!(result["relatedLocations"], @r#"
    [{"physicalLocation":{"artifactLocation":{"uri":"workload.yaml","uriBaseId":"shop@prod"},"region":{"startLine":1,"startColumn":9,"endLine":1,"endColumn":22}},"message":{"text":"asked for here"}}]
    "#);
    assert_snapshot!(run["originalUriBaseIds"], @r#"
    {"%SRCROOT%":{"description":{"text":"`prod` of https://git.example/acme/control-plane"}},"shop@prod":{"description":{"text":"`prod` of https://git.example/acme/shop"}}}
    "#);
    assert_snapshot!(run["versionControlProvenance"][1], @r#"
    {"repositoryUri":"https://git.example/acme/shop","branch":"prod","mappedTo":{"uriBaseId":"shop@prod"},"revisionId":"e23e327668c4212da8a0457f0bcfabaaa10f9a3c"}
    "#);
}

#[test]
fn a_note_is_no_problem_in_any_format() {
    let (mut report, files) = (DiagnosticReport::new(), Files::default());
    let diagnostics = [Diagnostic::hint(Code::NoTargetSelected, "for your information")];
    report.add(
        DiagnosticBatch { diagnostics: &diagnostics, ..DiagnosticBatch::default() },
        &mut Locator::of_files(&files),
    );
    let check = |format, words: &str| {
        let text = anstream::adapter::strip_str(&render(&report, format)).to_string();
        assert!(text.contains(words), "{text}");
    };
    check(ReportFormat::Human, "note[K0202]: for your information\n\nnothing wrong, 1 note in 0 files\n");
    check(ReportFormat::Github, "::notice title=K0202::for your information\n");
    check(ReportFormat::Json, "\"severity\": \"note\"");
    check(ReportFormat::Yaml, "notes: 1\n");
    check(ReportFormat::Sarif, "\"level\": \"note\"");
    assert!(!report.has_problems(true));
}
