//! The answer as text.

use engine::answers::name_meaning::NameMeaning;
use engine::answers::why_not::{CheckedRequirement, CheckedSide, NearPolicy, Obstacle, SourcedLabel, WhyNot};
use model::diagnostic::Diagnostic;
use model::locate::Locator;
use workbench::answers::why_not::WhyNotAnswer;

use super::{applied, change};
use crate::{places, terminal};

/// The maximum number of policies that are shown.
const POLICIES_MAX: usize = 3;
/// A policy almost matches if at most this number of its conditions are not met.
const NEAR_MAX: usize = 2;
/// The maximum number of problems that are shown.
const PROBLEMS_MAX: usize = 5;

/// The answer for one environment.
pub(super) fn text(answer: &WhyNotAnswer<'_>) -> String {
    let mut locator = Locator::new(answer.fleet);
    let mut lines = Vec::new();
    if answer.found.is_unknown() {
        lines.extend(obstacle_lines(answer, &mut locator));
    } else if answer.found.assignments > 0 {
        lines.extend(assigned_lines(answer));
        if answer.problems.is_empty() {
            lines.extend(obstacle_lines(answer, &mut locator));
        }
    } else {
        lines.push(missing_title(answer));
        lines.extend(obstacle_lines(answer, &mut locator));
        // The question is about the object: the policies are a question of their own.
        match &answer.applied {
            None => lines.extend(policy_lines(answer, &mut locator)),
            Some(_) => lines.push(format!(
                "  kalypso why-not -e {} {} shows which policies almost match",
                answer.fleet.environment,
                subject(answer)
            )),
        }
    }
    lines.extend(applied::lines(answer, &mut locator));
    lines.join("\n") + "\n"
}

/// The words of the question: `chicago-edge/checkout-us`, or one name.
fn subject(answer: &WhyNotAnswer<'_>) -> String {
    let names = [&answer.question.place, &answer.question.target];
    names.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join("/")
}

fn policies(count: usize) -> String {
    if count == 1 { "1 policy".to_owned() } else { format!("{} policies", terminal::thousands(count)) }
}

fn assigned_lines(answer: &WhyNotAnswer<'_>) -> Vec<String> {
    let environment = &answer.fleet.environment;
    let names: Vec<_> = answer.found.policies.iter().map(ToString::to_string).collect();
    let by = format!("{} {}", if names.len() == 1 { "policy" } else { "policies" }, terminal::named(&names));
    let (place, target) = (answer.question.place.as_deref(), answer.question.target.as_deref());
    let (Some(place), Some(target)) = (place, target) else {
        return some_assigned_lines(answer, &by);
    };
    let verb = if names.len() == 1 { "assigns" } else { "assign" };
    let mut lines = vec![format!("{target} is on {place} in {environment}: {by} {verb} it")];
    lines.extend(problem_lines(&answer.problems));
    if answer.applied.is_none() {
        lines.push(format!("  kalypso explain -e {environment} {place}/{target} shows more"));
    }
    lines
}

/// The lines about a place or a target that has assignments.
fn some_assigned_lines(answer: &WhyNotAnswer<'_>, by: &str) -> Vec<String> {
    let environment = &answer.fleet.environment;
    let count = answer.found.assignments as usize;
    let name = subject(answer);
    let title = match &answer.question.target {
        Some(_) => format!("{name} is on {} of {environment}, by {by}", terminal::count(count, "place")),
        None => format!("{name} of {environment} has {}, by {by}", terminal::count(count, "assignment")),
    };
    let other =
        if answer.question.target.is_some() { format!("CLUSTER_TYPE/{name}") } else { format!("{name}/TARGET") };
    vec![
        title,
        format!("  kalypso explain -e {environment} {name} shows them"),
        format!("  kalypso why-not -e {environment} {other} asks about one that is missing"),
    ]
}

fn problem_lines(problems: &[Diagnostic]) -> Vec<String> {
    if problems.is_empty() {
        return Vec::new();
    }
    let mut lines =
        vec!["  but it can't be rendered, so its last good output stays (kalypso check shows more)".to_owned()];
    let shown = problems.iter().take(PROBLEMS_MAX);
    lines.extend(shown.map(|problem| format!("    {}[{}]: {}", problem.severity, problem.code, problem.message)));
    if problems.len() > PROBLEMS_MAX {
        lines.push(format!("    … and {} more", terminal::thousands(problems.len() - PROBLEMS_MAX)));
    }
    lines
}

/// The first line for an assignment that does not exist.
fn missing_title(answer: &WhyNotAnswer<'_>) -> String {
    let environment = &answer.fleet.environment;
    let what = match (&answer.question.place, &answer.question.target) {
        (Some(place), Some(target)) => format!("{target} is not on {place} in {environment}"),
        (None, Some(target)) => format!("{target} is on no place of {environment}"),
        (Some(place), None) => format!("nothing runs on {place} in {environment}"),
        (None, None) => format!("nothing runs in {environment}"),
    };
    if answer.applied.is_some() {
        return what;
    }
    let missing = answer.found.near.first().map(|policy| policy.missing).unwrap_or_default();
    let conditions = terminal::count(missing, "condition");
    let are = if missing == 1 { "is" } else { "are" };
    match answer.found.nearest {
        0 => format!("{what}: no policy almost matches"),
        _ if missing > NEAR_MAX => {
            format!("{what}: no policy almost matches, and {conditions} of the nearest {are} not met")
        }
        1 => format!("{what}: 1 policy almost matches: {conditions} {are} not met"),
        several => format!("{what}: {} almost match: {conditions} of each {are} not met", policies(several)),
    }
}

/// The nearest policies. If none almost matches: only the first one.
fn policy_lines(answer: &WhyNotAnswer<'_>, locator: &mut Locator<'_>) -> Vec<String> {
    let WhyNot { near, nearest, .. } = &answer.found;
    let mut lines: Vec<_> = selection_line(answer).into_iter().collect();
    let is_near = near.first().is_some_and(|policy| policy.missing <= NEAR_MAX);
    let shown = if is_near { (*nearest).min(POLICIES_MAX) } else { 1 };
    for policy in near.iter().take(shown) {
        lines.push(String::new());
        lines.extend(near_policy_lines(answer, policy, locator));
    }
    if *nearest > shown && is_near {
        let environment = &answer.fleet.environment;
        let more = terminal::thousands(nearest - shown);
        lines.push(String::new());
        lines.push(format!("  … and {more} more: kalypso why-not -e {environment} {} -o json", subject(answer)));
    }
    lines
}

/// How many policies select each side.
fn selection_line(answer: &WhyNotAnswer<'_>) -> Option<String> {
    let WhyNot { all_policies, selecting_target, selecting_place, .. } = answer.found;
    let environment = &answer.fleet.environment;
    if all_policies == 0 {
        return Some(format!("  {environment} has no policies"));
    }
    let selecting =
        |count: usize| if count == 1 { "1 policy selects".to_owned() } else { format!("{} select", policies(count)) };
    let text = match (&answer.question.place, &answer.question.target) {
        (Some(place), Some(target)) => match (selecting_target, selecting_place) {
            (0, 0) => format!("no policy selects {target}, and none selects {place}"),
            (0, places) => format!("no policy selects {target}; {} {place}", selecting(places)),
            (targets, 0) => format!("no policy selects {place}; {} {target}", selecting(targets)),
            (targets, places) => {
                format!("{} {target}, {} {place}, and none selects both", selecting(targets), selecting(places))
            }
        },
        (None, Some(target)) if selecting_target == 0 => format!("no policy selects {target}"),
        (None, Some(target)) => format!("{} {target}, and no cluster type or cluster", selecting(selecting_target)),
        (Some(place), None) if selecting_place == 0 => format!("no policy selects {place}"),
        (Some(place), None) => format!("{} {place}, and no deployment target", selecting(selecting_place)),
        (None, None) => return None,
    };
    Some(format!("  {text}"))
}

fn near_policy_lines(answer: &WhyNotAnswer<'_>, policy: &NearPolicy, locator: &mut Locator<'_>) -> Vec<String> {
    let place_name = answer.question.place.as_deref().unwrap_or("this place");
    let target_name = answer.question.target.as_deref().unwrap_or("this target");
    let mut lines = vec![format!("  {}   {}", policy.policy, places::shown(&policy.origin, locator))];
    if let Some(problem) = &policy.problem {
        lines.push(format!("    {}[{}]: {}", problem.severity, problem.code, problem.message));
    }
    let target = NearSide { title: "target", name: target_name, side: &policy.target, policy };
    let place = NearSide { title: "cluster type", name: place_name, side: &policy.place, policy };
    lines.extend(side_lines(&target, locator));
    lines.extend(side_lines(&place, locator));
    lines.extend(change::lines(&policy.changes, answer.question.target.as_deref(), locator));
    lines
}

/// A side of an assignment that a policy almost makes.
struct NearSide<'a> {
    title: &'static str,
    /// The name of the object of this side.
    name: &'a str,
    side: &'a CheckedSide,
    policy: &'a NearPolicy,
}

/// The conditions of one side: the met ones on one line, then each other one with its place.
fn side_lines(near: &NearSide<'_>, locator: &mut Locator<'_>) -> Vec<String> {
    let NearSide { title, side, .. } = *near;
    let met: Vec<_> =
        side.checks.iter().filter(|check| check.is_met).map(|check| format!("✓ {}", check.requirement)).collect();
    let mut texts = Vec::new();
    match (side.is_asked, side.selected) {
        _ if side.checks.is_empty() => texts.push("✓ any".to_owned()),
        (false, selected) if selected > 0 => {
            let noun = if title == "target" { "deployment target" } else { "place" };
            texts.push(format!("✓ selects {}: {}", terminal::count(selected as usize, noun), met_text(&side.checks)));
        }
        _ if met.is_empty() => {}
        _ => texts.push(met.join("   ")),
    }
    if side.is_asked || side.selected == 0 {
        texts.extend(side.unmet().flat_map(|check| unmet_texts(check, near, locator)));
    }
    let line = |(number, text): (usize, String)| {
        let title = if number == 0 { title } else { "" };
        format!("    {title:<15}  {text}")
    };
    texts.into_iter().enumerate().map(line).collect()
}

fn met_text(checks: &[CheckedRequirement]) -> String {
    checks.iter().map(|check| check.requirement.to_string()).collect::<Vec<_>>().join("   ")
}

fn unmet_texts(check: &CheckedRequirement, near: &NearSide<'_>, locator: &mut Locator<'_>) -> Vec<String> {
    let NearSide { name, side, policy, .. } = near;
    let object = model::object_key::ObjectKey {
        kind: model::kind::Kind::SchedulingPolicy,
        name: std::sync::Arc::clone(policy.policy.as_arc()),
        of: None,
    };
    let origin = model::diagnostic::Origin::field(&object, check.path.clone());
    let mut texts = vec![format!("✗ {}   {}", check.requirement, places::shown(&origin, locator))];
    texts.push(match (&check.label, side.is_asked) {
        (Some(label), _) => label_text(name, label, locator),
        (None, true) => format!("  {name} has no such label"),
        (None, false) => "  nothing in this environment has this label".to_owned(),
    });
    texts.extend(check.advice.as_ref().map(|advice| format!("  {advice}")));
    texts
}

/// The label that an object has, with the place where it is set.
pub(super) fn label_text(name: &str, label: &SourcedLabel, locator: &mut Locator<'_>) -> String {
    let place = places::shown(&label.origin(), locator);
    format!("  {name} has {}={}, from {}   {place}", label.key, label.value, label.object)
}

fn obstacle_lines(answer: &WhyNotAnswer<'_>, locator: &mut Locator<'_>) -> Vec<String> {
    let environment = answer.fleet.environment.as_str();
    let mut lines: Vec<_> =
        answer.found.obstacles.iter().flat_map(|obstacle| obstacle_texts(obstacle, environment, locator)).collect();
    let place = answer.question.place.as_deref().unwrap_or_default();
    lines.extend(
        answer.elsewhere.iter().map(|other| format!("  {place} exists in {other}: kalypso explain -e {other} {place}")),
    );
    lines
}

fn obstacle_texts(obstacle: &Obstacle, here: &str, locator: &mut Locator<'_>) -> Vec<String> {
    let did_you_mean = |nearest: Option<&str>| nearest.map(|nearest| format!("  did you mean `{nearest}`?"));
    let is_instead =
        |name: &str, meaning: Option<&NameMeaning>| meaning.map(|meaning| format!("  `{name}` is {meaning}"));
    let (text, advice) = match obstacle {
        Obstacle::UnknownPlace { name, nearest, meaning } => {
            let advice = is_instead(name, meaning.as_ref()).or_else(|| did_you_mean(nearest.as_deref()));
            (format!("{here} has no cluster type or cluster `{name}`"), advice)
        }
        Obstacle::UnknownClusterType { cluster, cluster_type, nearest, origin } => (
            format!(
                "cluster `{cluster}` runs nothing: its cluster type `{cluster_type}` does not exist in {here}   {}",
                places::shown(origin, locator)
            ),
            did_you_mean(nearest.as_deref()),
        ),
        Obstacle::UnknownTarget { name, nearest, meaning } => {
            let advice = is_instead(name, meaning.as_ref()).or_else(|| did_you_mean(nearest.as_deref()));
            (format!("{here} has no deployment target `{name}`"), advice)
        }
        Obstacle::OtherEnvironment { target, environment, nearest, origin, registration } => {
            let place = places::shown(origin, locator);
            let text = format!("deployment target `{target}` is for {environment}, not for {here}   {place}");
            let ask = registration.as_ref().map(|registration| {
                format!(
                    "  this is in the repository of registration {registration}: ask its team for a target in {here}"
                )
            });
            let declared = nearest
                .as_ref()
                .map(|nearest| format!("  no environment `{environment}` is declared: did you mean `{nearest}`?"));
            (text, declared.or(ask))
        }
        Obstacle::Unread { origin, object } => {
            let what = object.as_ref().map_or_else(|| "a part of a file".to_owned(), ToString::to_string);
            let place = places::shown(origin, locator);
            (format!("  {what} can't be read: kalypso check shows why   {place}"), None)
        }
        Obstacle::Unreachable { registration, origin } => {
            let place = places::shown(origin, locator);
            (
                format!("  the repository of registration {registration} can't be read, and may contain it   {place}"),
                None,
            )
        }
        Obstacle::Problem(problem) => {
            let place = problem.labels.first().map(|label| places::shown(&label.origin, locator)).unwrap_or_default();
            (format!("  {}[{}]: {}   {place}", problem.severity, problem.code, problem.message), None)
        }
    };
    std::iter::once(text).chain(advice).collect()
}
