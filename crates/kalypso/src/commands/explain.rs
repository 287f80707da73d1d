//! `kalypso explain`: the reasons for an assignment, and the origins of its values.

use delivery::held_assignments::{self, Failing};
use delivery::loaded::Loaded;
use engine::compile::Prepared;
use engine::explain::{Explanation, MappedLabel, UnusedContainer, ValuePart, ValueReason, ValueSource};
use engine::hold::{Held, HeldFolder};
use engine::place::Place;
use model::credential::without;
use model::diagnostic::{AssignmentId, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::fleet::Fleet;
use model::locate::Locator;
use model::name::{ClusterName, ClusterTypeName, DeploymentTargetName, PlaceName};
use model::object::release_pin::MANIFESTS;
use model::object::{Object, ReleasePin};
use serde_json::{Map, Value as Json, json};

use crate::arguments::{Explain, Format};
use crate::exit::{Exit, Failure};
use crate::loading;
use crate::progress::Watch;
use crate::{paint, terminal};

/// The maximum number of `ConfigMap`s that are named if they have a value but do not match.
const NOT_USED_MAX: usize = 10;
/// The maximum number of shown parts of a value that several `ConfigMap`s define.
const PIECES_MAX: usize = 20;
/// The maximum number of similar keys that are named for an unknown key.
const NEAREST_MAX: usize = 3;

pub(super) fn run(options: &Explain) -> anyhow::Result<Exit> {
    let mut watch = Watch::start();
    let loaded = loading::environment(&options.source, &options.environment, &mut watch)?;
    let prepared = Prepared::with_progress(&loaded.fleet, watch.progress());
    let id = assignment(&options.assignment)?;
    let problems = if options.key.is_none() { prepared.problems(&id) } else { Vec::new() };
    let held = held(&loaded, (&prepared, &problems), &id);
    let mut locator = Locator::new(&loaded.fleet);
    let place_text = text_of_place(&loaded.fleet, &id);
    let reason = options.key.as_ref().map(|key| (key, prepared.explain_value(&id, key)));
    if let Some((key, Some(reason))) = &reason
        && !reason.is_known()
    {
        return Err(unknown_key((key, &reason.path), &prepared, (&options.environment, &id)).into());
    }
    let answer = match reason {
        Some((_, reason)) => reason.map(|reason| match options.output {
            Format::Human => value_text(
                &reason,
                &id,
                &mut Words { environment: &options.environment, place_text: &place_text, locator: &mut locator },
            ),
            format => terminal::structured(&value_json(&reason, &mut locator), format),
        }),
        None => prepared.explain(&id).map(|explanation| match options.output {
            Format::Human => {
                let mut words =
                    Words { environment: &options.environment, place_text: &place_text, locator: &mut locator };
                let mut text = assignment_text(&explanation, &mut words);
                text.push_str(&problems_text(&problems, &held));
                text
            }
            format => {
                let mut json = assignment_json(&explanation, &mut locator);
                json["held"] = held_json(&held);
                terminal::structured(&json, format)
            }
        }),
    };
    let Some(answer) = answer else { return Err(not_assigned(&prepared, &loaded, &id).into()) };
    watch.end();
    match options.output {
        Format::Human => terminal::answer_fitted(&answer, paint::explanation)?,
        _ => terminal::answer(&answer)?,
    }
    Ok(Exit::Good)
}

fn assignment(text: &str) -> Result<AssignmentId, Failure> {
    let usage = || {
        Failure::usage(format!("`{text}` is not an assignment"))
            .help("write CLUSTER_TYPE/TARGET, as in the GitOps repository: chicago-edge/checkout-us")
    };
    let (place, target) = text.trim_matches('/').split_once('/').ok_or_else(usage)?;
    Ok(AssignmentId {
        place: PlaceName::new(place).map_err(|_| usage())?,
        target: DeploymentTargetName::new(target).map_err(|_| usage())?,
    })
}

/// The description of an assignment's place.
fn text_of_place(fleet: &Fleet, id: &AssignmentId) -> String {
    match Place::find(fleet, id.place.as_str()) {
        Some(Place { cluster_type, cluster: Some(cluster) }) => {
            format!("cluster {} of cluster type {}", cluster.name, cluster_type.name)
        }
        _ => format!("cluster type {}", id.place),
    }
}

/// The error for an assignment that does not exist. It names the existing ones.
fn not_assigned(prepared: &Prepared, loaded: &Loaded, id: &AssignmentId) -> Failure {
    let environment = &loaded.fleet.environment;
    let nearest = |name: &str, known: Vec<&str>| {
        let scored = known.into_iter().map(|other| (strsim::damerau_levenshtein(name, other), other));
        scored.min().map_or_else(String::new, |(_, nearest)| format!("the nearest name is `{nearest}`"))
    };
    let fleet = &loaded.fleet;
    if Place::find(fleet, id.place.as_str()).is_none() {
        let cluster_types = fleet.cluster_types.keys().map(ClusterTypeName::as_str);
        let help =
            nearest(id.place.as_str(), cluster_types.chain(fleet.clusters.keys().map(ClusterName::as_str)).collect());
        let what = if fleet.clusters.is_empty() { "cluster type" } else { "cluster type or cluster" };
        return Failure::refused(format!("{environment} has no {what} `{}`", id.place)).help(help);
    }
    let targets: Vec<_> = prepared.targets().iter().map(|target| target.name.as_str()).collect();
    if !targets.contains(&id.target.as_str()) {
        let help = nearest(id.target.as_str(), targets);
        return Failure::refused(format!("{environment} has no deployment target `{}`", id.target)).help(help);
    }
    let here = prepared.targets_on(id.place.as_str());
    let here: Vec<_> = here.iter().take(10).map(|name| format!("`{name}`")).collect();
    let help =
        if here.is_empty() { "it has no targets at all".to_owned() } else { format!("it has {}", here.join(", ")) };
    Failure::refused(format!("no policy of {environment} assigns `{}` to `{}`", id.target, id.place)).help(help)
}

/// The error for a key that has no value and is in no `ConfigMap` and no schema. It names similar keys.
fn unknown_key(
    (key, path): (&str, &FieldPath),
    prepared: &Prepared,
    (environment, id): (&str, &AssignmentId),
) -> Failure {
    let known: Vec<_> = prepared.value_paths(id).iter().map(ToString::to_string).collect();
    let wanted = path.to_string();
    // If the keys are too different, the whole list helps more than a suggestion.
    let distance = |known: &String| {
        let (wanted, known) = (wanted.to_lowercase(), known.to_lowercase());
        let distance = strsim::damerau_levenshtein(&wanted, &known);
        (distance * 2 <= wanted.chars().count()).then_some(distance)
    };
    let mut near: Vec<_> = known.iter().filter_map(|name| Some((distance(name)?, name))).collect();
    near.sort();
    let named = near.iter().take(NEAREST_MAX).map(|(_, name)| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let all = format!("kalypso explain -e {environment} {id} lists all keys");
    let help = if named.is_empty() { all } else { format!("did you mean {named}? {all}") };
    let message =
        format!("{id} has no value `{key}` in {environment}, no ConfigMap has this key, and no schema requires it");
    Failure::refused(message).help(help)
}

/// The data that all texts need.
struct Words<'a, 'f> {
    environment: &'a str,
    /// The description of the assignment's place.
    place_text: &'a str,
    locator: &'a mut Locator<'f>,
}

impl Words<'_, '_> {
    fn place(&mut self, origin: &Origin) -> String {
        self.locator.shown(origin).unwrap_or_else(|| "(unknown place)".to_owned())
    }
}

fn value_text(reason: &ValueReason, id: &AssignmentId, words: &mut Words<'_, '_>) -> String {
    let environment = words.environment;
    let whose = format!("in {environment}, {}, target {}", words.place_text, id.target);
    let mut rows: Vec<[String; 2]> = Vec::new();
    let mut lines = match &reason.shown {
        Some(shown) => vec![format!("{} = {shown}      {whose}", reason.path), String::new()],
        None if reason.overrides.is_empty() => vec![
            format!("{} has no value      {whose}", reason.path),
            "no ConfigMap that matches sets it".to_owned(),
            String::new(),
        ],
        None => vec![
            format!("{} has no value      {whose}", reason.path),
            "a later ConfigMap replaces what it was in".to_owned(),
            String::new(),
        ],
    };
    if let Some(source) = &reason.set_by {
        rows.push(["set by".into(), source_text(source, false, words)]);
        rows.push([String::new(), matches_text(&source.matches)]);
    }
    rows.extend(pieces_rows(&reason.composed_of, words));
    rows.extend(reason.overrides.iter().map(|source| ["overrides".into(), source_text(source, true, words)]));
    let unused_containers = reason.unused_containers.iter().take(NOT_USED_MAX);
    rows.extend(unused_containers.map(|other| ["not used".into(), not_used_text(other, words)]));
    if let Some(more) = reason.unused_containers.len().checked_sub(NOT_USED_MAX).filter(|more| *more > 0) {
        rows.push(["not used".into(), format!("{}: -o json lists all", terminal::count(more, "more ConfigMap"))]);
    }
    rows.extend(reason.checks.iter().map(|check| {
        let object = match &check.origin {
            Origin::Field(field) => format!("{}'s schema", field.object),
            _ => "a schema".to_owned(),
        };
        ["checked by".into(), format!("{object}   {}   {}", words.place(&check.origin), check.requirements)]
    }));
    rows.extend(reason.rendered_lines.iter().map(|(file, line)| ["ends up in".into(), format!("{id}/{file}:{line}")]));
    lines.extend(rows.iter().map(|[name, text]| format!("  {name:<12}  {text}").trim_end().to_owned()));
    lines.join("\n") + "\n"
}

/// The parts of a value that several `ConfigMap`s define, in the order in which they are merged.
fn pieces_rows(pieces: &[ValuePart], words: &mut Words<'_, '_>) -> Vec<[String; 2]> {
    let mut rows = Vec::new();
    for ValuePart { path, source } in pieces.iter().take(PIECES_MAX) {
        let value = format!("   {path} = {}", source.shown);
        rows.push(["composed of".into(), format!("{}{value}", source_text(source, false, words))]);
        rows.push([String::new(), matches_text(&source.matches)]);
    }
    if let Some(more) = pieces.len().checked_sub(PIECES_MAX).filter(|more| *more > 0) {
        rows.push(["composed of".into(), format!("{}: -o json lists all", terminal::count(more, "more part"))]);
    }
    rows
}

fn source_text(source: &ValueSource, with_value: bool, words: &mut Words<'_, '_>) -> String {
    let value = if with_value { format!("   {}", source.shown) } else { String::new() };
    format!("ConfigMap {}   {}{value}", source.container, words.place(&source.origin))
}

fn matches_text(matches: &[String]) -> String {
    if matches.is_empty() {
        "it has no labels that narrow it: it matches everything".to_owned()
    } else {
        format!("it matches: {}", matches.join(", "))
    }
}

fn not_used_text(other: &UnusedContainer, words: &mut Words<'_, '_>) -> String {
    format!("ConfigMap {}   {}   {}", other.container, words.place(&other.origin), other.unmet_conditions.join("; "))
}

fn assignment_text(explanation: &Explanation, words: &mut Words<'_, '_>) -> String {
    let Explanation { id, policies, values, .. } = explanation;
    let mut lines = vec![format!(
        "{} runs on {} in {} because {} so",
        id.target,
        id.place,
        words.environment,
        says(policies.len())
    )];
    for reason in policies {
        lines.push(String::new());
        lines.push(format!("  {}   {}", reason.policy, words.place(&reason.origin)));
        lines.push(format!("    target         {}", requirements(&reason.target)));
        lines.push(format!("    cluster type   {}", requirements(&reason.cluster_type)));
    }
    lines.push(String::new());
    let team = if explanation.workspace.is_empty() { String::new() } else { format!(" of {}", explanation.workspace) };
    lines.push(format!("  workload       {}{team}   {}", explanation.workload, words.place(&explanation.target)));
    if let Some(registration) = &explanation.registration {
        lines.push(format!("  registered by  {registration}"));
    }
    for MappedLabel { key, value, mapping, origin } in &explanation.mapped {
        lines.push(format!("  label          {key}={value}, added by mapping {mapping}   {}", words.place(origin)));
    }
    lines.extend(explanation.pins.iter().flat_map(|pin| pin_lines(pin, words)));
    let [reconciler, namespace, config] = &explanation.templates;
    lines.push(format!("  templates      {reconciler}, {namespace}, {config}"));
    lines.push(format!("  configuration  version {}, {}", explanation.version, terminal::count(values.len(), "value")));
    lines.push(String::new());
    let widest = values.iter().map(|value| value.path.to_string().chars().count()).max().unwrap_or_default().min(40);
    for value in values {
        let from =
            value.set_by.as_ref().map(|source| format!("{}   {}", source.container, words.place(&source.origin)));
        let shown = cut(value.shown.as_deref().unwrap_or_default());
        let over =
            if value.overrides.is_empty() { String::new() } else { format!(" (overrides {})", value.overrides.len()) };
        lines.push(format!("    {:widest$}  {shown:<36}  {}{over}", value.path.to_string(), from.unwrap_or_default()));
    }
    lines.push(String::new());
    lines.push(format!("  kalypso explain -e {} {id} KEY says more about one value", words.environment));
    lines.join("\n") + "\n"
}

fn pin_lines(pin: &Object<ReleasePin>, words: &mut Words<'_, '_>) -> Vec<String> {
    let ReleasePin { manifests, reason, expires, .. } = &pin.spec;
    let place = words.place(&Origin::field(&pin.key(), FieldPath::from(MANIFESTS)));
    let manifests: Vec<_> = manifests.iter().map(|(key, value)| format!("{key}={}", without(value))).collect();
    let mut lines = vec![format!("  pinned by      {}   {place}   {}", pin.name, manifests.join("   "))];
    let expires = expires.map(|expiry| format!("expires {expiry}"));
    let reason = (!reason.is_empty()).then(|| reason.lines().collect::<Vec<_>>().join(" "));
    let more: Vec<_> = expires.into_iter().chain(reason).collect();
    if !more.is_empty() {
        lines.push(format!("                 {}", more.join(": ")));
    }
    lines
}

fn says(count: usize) -> String {
    if count == 1 { "1 policy says".to_owned() } else { format!("{count} policies say") }
}

fn requirements(requirements: &[String]) -> String {
    if requirements.is_empty() { "any".to_owned() } else { requirements.join("   ") }
}

fn cut(text: &str) -> String {
    const SHOWN_MAX: usize = 36;
    if text.chars().count() <= SHOWN_MAX {
        return text.to_owned();
    }
    text.chars().take(SHOWN_MAX - 1).chain(['…']).collect()
}

/// The diagnostics that prevent the assignment from being rendered.
fn problems_text(problems: &[Diagnostic], held: &[(String, Held)]) -> String {
    if problems.is_empty() {
        return String::new();
    }
    let of_held: Vec<_> = held.iter().flat_map(|(_, held)| held.diagnostics()).collect();
    let lines = problems
        .iter()
        .chain(&of_held)
        .map(|problem| format!("    {}[{}]: {}\n", problem.severity, problem.code, problem.message));
    format!("\n  what is wrong with it (kalypso check says more)\n{}", lines.collect::<String>())
}

/// The files that release pins hold for a failing assignment, on each branch.
fn held(loaded: &Loaded, (prepared, problems): (&Prepared, &[Diagnostic]), id: &AssignmentId) -> Vec<(String, Held)> {
    let ids = || if problems.iter().any(Diagnostic::is_error) { vec![id.clone()] } else { Vec::new() };
    let found = held_assignments::on_branches(loaded, Failing { prepared, ids: &ids });
    found.unwrap_or_else(|error| {
        terminal::warn(&format!("the files that release pins hold in the GitOps branch can't be read: {error}"));
        Vec::new()
    })
}

fn held_json(held: &[(String, Held)]) -> Json {
    let folders = held.iter().flat_map(|(branch, held)| held.folders.values().map(move |folder| (branch, folder)));
    let json = |(branch, folder): (&String, &std::sync::Arc<HeldFolder>)| {
        let pins: Vec<_> = folder.pins.iter().map(|pin| pin.name.as_str()).collect();
        json!({"branch": branch, "from": folder.from.to_string(), "releasePins": pins})
    };
    folders.map(json).collect::<Vec<_>>().into()
}

pub(super) fn place_json(origin: &Origin, locator: &mut Locator<'_>) -> Json {
    let Some(place) = locator.locate(origin) else { return Json::Null };
    let (position, file) = (locator.position(&place), locator.file(&place));
    json!({
        "repository": &*file.source.url,
        "revision": &*file.source.revision,
        "commit": file.source.commit.map(|commit| commit.to_string()),
        "path": &*file.path,
        "line": position.line,
        "column": position.column,
    })
}

fn source_json(source: &ValueSource, locator: &mut Locator<'_>) -> Json {
    json!({
        "configMap": source.container.as_str(),
        "place": place_json(&source.origin, locator),
        "value": source.shown,
        "matches": source.matches,
    })
}

fn piece_json(piece: &ValuePart, locator: &mut Locator<'_>) -> Json {
    let mut json = source_json(&piece.source, locator);
    json["key"] = piece.path.to_string().into();
    json
}

fn value_json(reason: &ValueReason, locator: &mut Locator<'_>) -> Json {
    let unused_containers = |other: &UnusedContainer, locator: &mut Locator<'_>| json!({"configMap": other.container.as_str(), "place": place_json(&other.origin, locator), "because": other.unmet_conditions});
    json!({
        "key": reason.path.to_string(),
        "value": reason.shown,
        "setBy": reason.set_by.as_ref().map(|source| source_json(source, locator)),
        "composedOf": reason.composed_of.iter().map(|piece| piece_json(piece, locator)).collect::<Vec<_>>(),
        "overrides": reason.overrides.iter().map(|source| source_json(source, locator)).collect::<Vec<_>>(),
        "notUsed": reason.unused_containers.iter().map(|other| unused_containers(other, locator)).collect::<Vec<_>>(),
        "checks": reason.checks.iter().map(|check| json!({"place": place_json(&check.origin, locator), "demands": check.requirements})).collect::<Vec<_>>(),
        "endsUpIn": reason.rendered_lines.iter().map(|(file, line)| json!({"file": &**file, "line": line})).collect::<Vec<_>>(),
    })
}

fn assignment_json(explanation: &Explanation, locator: &mut Locator<'_>) -> Json {
    let policies = explanation.policies.iter().map(|reason| {
        json!({
            "policy": reason.policy.as_str(),
            "place": place_json(&reason.origin, locator),
            "target": reason.target,
            "clusterType": reason.cluster_type,
        })
    });
    let policies: Vec<_> = policies.collect();
    let mapped = explanation.mapped.iter().map(|label| {
        json!({
            "label": &*label.key,
            "value": &*label.value,
            "labelMapping": label.mapping.as_str(),
            "place": place_json(&label.origin, locator),
        })
    });
    let mapped: Vec<_> = mapped.collect();
    let pins = explanation.pins.iter().map(|pin| {
        json!({
            "releasePin": pin.name.as_str(),
            "place": place_json(&Origin::field(&pin.key(), FieldPath::from(MANIFESTS)), locator),
            "manifests": pin.spec.manifests.iter().map(|(key, value)| (key.to_string(), Json::from(&*without(value)))).collect::<Map<_, _>>(),
            "reason": &*pin.spec.reason,
            "expires": pin.spec.expires.map(|expiry| expiry.to_string()),
        })
    });
    let pins: Vec<_> = pins.collect();
    json!({
        "clusterType": explanation.place.cluster_type.name.as_str(),
        "cluster": explanation.place.cluster.as_ref().map(|cluster| cluster.name.as_str()),
        "target": explanation.id.target.as_str(),
        "workload": &*explanation.workload,
        "workspace": &*explanation.workspace,
        "registration": explanation.registration.as_ref().map(model::name::RegistrationName::as_str),
        "place": place_json(&explanation.target, locator),
        "policies": policies,
        "mappedLabels": mapped,
        "releasePins": pins,
        "templates": explanation.templates.iter().map(|name| &**name).collect::<Vec<_>>(),
        "configVersion": &*explanation.version,
        "values": explanation.values.iter().map(|value| value_json(value, locator)).collect::<Vec<_>>(),
    })
}
