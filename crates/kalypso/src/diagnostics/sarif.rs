//! The report as SARIF 2.1.0, the format of code scanning and editors.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::Code;
use model::source::Source;
use serde_json::{Map, Value, json};
use workbench::diagnostics::{Acknowledgement, AffectedAssignments, DiagnosticReport, LocatedDiagnostic, Mark, Spot};

use super::affected_text;

/// The base id for the root of the checkout, which SARIF readers know.
const CHECKOUT: &str = "%SRCROOT%";
/// The maximum number of assignments in a result. Readers limit the locations of a result; GitHub limits them to 1,000.
const ASSIGNMENTS_MAX: usize = 100;

pub(super) fn render(report: &DiagnosticReport<'_>) -> Value {
    let driver = json!({
        "name": "kalypso",
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "rules": Code::ALL.iter().map(|code| rule(*code)).collect::<Vec<_>>(),
    });
    let mut results: Vec<_> =
        report.findings.iter().map(|(finding, reaches)| result(report, finding, reaches)).collect();
    // If one result has `suppressions`, all results must have them.
    if !report.acknowledged.is_empty() {
        results.iter_mut().for_each(|result| result["suppressions"] = json!([]));
    }
    results.extend(report.acknowledged.iter().map(|(finding, (why, reaches))| {
        let mut result = result(report, finding, reaches);
        result["suppressions"] = json!([suppression(why)]);
        result
    }));
    let sources = sources(report);
    let bases: Map<_, _> = sources.iter().map(|(name, source)| (name.clone(), base(source))).collect();
    let provenance: Vec<_> = sources.iter().filter_map(|(name, source)| provenance(name, source)).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver },
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": bases,
            "versionControlProvenance": provenance,
            "results": results,
        }],
    })
}

fn rule(code: Code) -> Value {
    let manual = super::manual(code);
    json!({
        "id": code.id(),
        "name": format!("{code:?}"),
        "shortDescription": { "text": code.title() },
        "help": { "text": manual, "markdown": manual },
    })
}

fn suppression(Acknowledgement { reason, until, is_in_source }: &Acknowledgement) -> Value {
    let until = until.map_or_else(String::new, |until| format!(" (until {until})"));
    json!({
        "kind": if *is_in_source { "inSource" } else { "external" },
        "status": "accepted",
        "justification": format!("{reason}{until}"),
    })
}

fn result(report: &DiagnosticReport<'_>, finding: &LocatedDiagnostic<'_>, reaches: &[AffectedAssignments]) -> Value {
    let mut lines = vec![finding.message.clone()];
    lines.extend(affected_text::facts(finding, reaches, report.environments.len() > 1));
    let mut places = finding.marks.iter().filter_map(|mark| place(report, mark));
    let mut location = places.next().unwrap_or_default();
    let logical = logical(reaches);
    if !logical.is_empty() {
        location.insert("logicalLocations".to_owned(), logical.into());
    }
    let locations: Vec<_> = (!location.is_empty()).then_some(location).into_iter().collect();
    json!({
        "ruleId": finding.code.id(),
        "ruleIndex": Code::ALL.iter().position(|code| *code == finding.code),
        "level": finding.severity.to_string(),
        "message": { "text": lines.join("\n") },
        "locations": locations,
        "relatedLocations": places.collect::<Vec<_>>(),
    })
}

/// The location of a mark. None for a diagnostic without a file.
fn place(report: &DiagnosticReport<'_>, mark: &Mark<'_>) -> Option<Map<String, Value>> {
    let mut place = Map::new();
    place.insert("physicalLocation".to_owned(), physical(report, mark.spot.as_ref()?));
    if !mark.text.is_empty() {
        place.insert("message".to_owned(), json!({ "text": mark.text }));
    }
    Some(place)
}

fn physical(report: &DiagnosticReport<'_>, spot: &Spot<'_>) -> Value {
    let (base, path) = match report.path(spot.file) {
        Some(path) => (CHECKOUT.to_owned(), path),
        None => (base_name(&spot.file.source), spot.file.path.to_string()),
    };
    let mut location = json!({ "artifactLocation": { "uri": encoded(&path, ""), "uriBaseId": base } });
    if let Some((start, end)) = spot.positions() {
        location["region"] = json!({
            "startLine": start.line,
            "startColumn": start.column,
            "endLine": end.line,
            "endColumn": end.column,
        });
    }
    location
}

/// The first affected assignments, as logical locations.
fn logical(reaches: &[AffectedAssignments]) -> Vec<Value> {
    let names = reaches.iter().flat_map(|reach| {
        let environment = reach.environment.as_ref().map_or_else(String::new, |environment| format!("{environment}/"));
        reach.assignments.iter().map(move |assignment| format!("{environment}{assignment}"))
    });
    names.take(ASSIGNMENTS_MAX).map(|name| json!({ "fullyQualifiedName": name, "kind": "resource" })).collect()
}

/// The sources of all positions by the id of their base.
fn sources(report: &DiagnosticReport<'_>) -> BTreeMap<String, Arc<Source>> {
    let findings = report.findings.keys().chain(report.acknowledged.keys());
    let spots = findings.flat_map(|finding| &finding.marks).filter_map(|mark| mark.spot.as_ref());
    let named = spots.map(|spot| match report.path(spot.file) {
        Some(_) => (CHECKOUT.to_owned(), Arc::clone(&spot.file.source)),
        None => (base_name(&spot.file.source), Arc::clone(&spot.file.source)),
    });
    named.collect()
}

fn base_name(source: &Source) -> String {
    source.place_name()
}

fn base(source: &Source) -> Value {
    let text = if source.url.is_empty() {
        "the folder that was read".to_owned()
    } else {
        format!("`{}` of {}", source.revision, source.url)
    };
    json!({ "description": { "text": text } })
}

/// The commit of a base. None if the base is not a repository with a URI.
fn provenance(name: &str, source: &Source) -> Option<Value> {
    let is_uri = source.url.contains("://");
    let mut provenance = json!({ "repositoryUri": encoded(&source.url, ":?#[]!$&'()*+,;=%"), "branch": &*source.revision, "mappedTo": { "uriBaseId": name } });
    if let Some(commit) = source.commit {
        provenance["revisionId"] = commit.to_string().into();
    }
    is_uri.then_some(provenance)
}

/// Percent-encodes all characters of `text` except letters, digits, the marks of a path, and `others`.
fn encoded(text: &str, others: &str) -> String {
    let is_kept =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/@".contains(&byte) || others.as_bytes().contains(&byte);
    let encode = |byte: u8| if is_kept(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(encode).collect()
}
