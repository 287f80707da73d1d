//! Why something is not at a cluster type or cluster.

use std::collections::BTreeSet;

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::compiled::{
    AssignmentQuery, ContractQuery, WhyNotApplied, WhyNotChange, WhyNotEnvironment, WhyNotObstacle, WhyNotPolicy,
    WhyNotQuery, WhyNotRequirement,
};

use super::compiled::commits;
use crate::fact::Fact;
use crate::text::{count, visible};
use crate::visit::Visit;

/// The number of assignments in which the targets of a workload are searched.
const ASSIGNMENTS_SEARCHED: usize = 1_000;

/// The form with the question, and the answer.
#[derive(Template)]
#[template(path = "why_not.html")]
struct WhyNotPage<'a> {
    visit: &'a Visit,
    environment: String,
    title: String,
    answers: Vec<ShownReasons>,
    /// The targets of the workload that the address names, each with its question.
    targets: Option<Vec<(String, String)>>,
    commits: Vec<String>,
}

/// The answer to the question.
struct ShownReasons {
    headline: String,
    facts: Vec<(&'static str, Fact)>,
    /// The page of the assignment, if it exists.
    assignment: Option<String>,
    policies: Vec<ShownPolicy>,
    applied: Vec<ShownPolicy>,
}

/// A policy that almost matches, or an object that does not apply.
struct ShownPolicy {
    name: Fact,
    requirements: Vec<ShownRequirement>,
    changes: Vec<ShownChange>,
}

/// A requirement, and whether it is met.
struct ShownRequirement {
    side: &'static str,
    is_met: bool,
    fact: Fact,
}

/// A change after which it would exist.
struct ShownChange {
    edits: Vec<Fact>,
    effect: String,
}

pub(crate) async fn page(Path(environment): Path<String>, visit: Visit) -> Response {
    let visit = visit.of_the_present();
    let page = why_not(&visit, environment).await;
    visit.answer(page)
}

async fn why_not(visit: &Visit, environment: String) -> Result<WhyNotPage<'_>, ClientError> {
    let text = |name| visit.address.get(name).map(str::to_owned);
    let query = WhyNotQuery { place: text("place"), target: text("target"), object: text("object"), key: text("key") };
    let mut page = WhyNotPage {
        visit,
        title: visible(&environment),
        environment,
        answers: Vec::new(),
        targets: None,
        commits: Vec::new(),
    };
    if let (None, Some(workload)) = (&query.target, text("workload")) {
        page.targets = Some(page.targets_of(&workload).await?);
        return Ok(page);
    }
    if query.place.is_none() && query.target.is_none() {
        return Ok(page);
    }
    let found = visit.api.why_not(&page.environment, &query).await?;
    page.answers = found.answer.answers.iter().map(|one| page.shown(one)).collect();
    page.commits = commits(&found.sources);
    Ok(page)
}

impl WhyNotPage<'_> {
    fn field(&self, name: &str) -> &str {
        self.visit.address.get(name).unwrap_or_default()
    }

    /// Another page of the environment.
    fn to(&self, page: &str) -> String {
        self.visit.to(["environments", &self.environment, page]).to_string()
    }

    /// The targets of a workload, each with its question.
    async fn targets_of(&self, workload: &str) -> Result<Vec<(String, String)>, ClientError> {
        let api = &self.visit.api;
        let (workload, limit) = (Some(workload.to_owned()), Some(ASSIGNMENTS_SEARCHED));
        let of_workload = AssignmentQuery { workload: workload.clone(), limit, ..AssignmentQuery::default() };
        let assigned = api.assignments(&self.environment, &of_workload).await?.answer;
        let contract = api.contract(&self.environment, &ContractQuery { workload, place: None }).await?.answer;
        let mut names: BTreeSet<_> = assigned.items.into_iter().map(|one| one.target).collect();
        let workloads = contract.environments.into_iter().flat_map(|one| one.workloads);
        names.extend(workloads.flat_map(|one| one.unassigned).map(|one| one.target));
        let question = |target: &String| self.visit.address.clone().without("workload").with("target", target);
        Ok(names.iter().map(|target| (visible(target), question(target).to_string())).collect())
    }

    fn shown(&self, one: &WhyNotEnvironment) -> ShownReasons {
        let assignment = one.cluster_type_or_cluster.as_ref().zip(one.target.as_ref());
        let assignment = assignment.filter(|_| one.assignments > 0);
        let mut facts: Vec<_> = one.assigned_by.iter().map(|name| ("assigned by", Fact::new(name, None))).collect();
        let problem = |found: &hub_api::compiled::WhyNotProblem| {
            ("error", Fact::new(format!("[{}] {}", found.code, found.message), None))
        };
        facts.extend(one.problems.iter().map(problem));
        facts.extend(one.obstacles.iter().map(|found| ("reason", obstacle(found))));
        facts.extend(one.other_environments.iter().map(|name| ("it is in", Fact::new(name, None))));
        facts.extend(one.value.iter().map(|value| {
            let by = value.overridden_by.iter().map(|by| format!("ConfigMap {} overrides it", by.config_map));
            ("the key", Fact::new(standing(&value.standing), value.place.as_ref()).because(by))
        }));
        ShownReasons {
            headline: headline(one),
            facts,
            assignment: assignment.map(|(place, target)| {
                self.visit.to(["environments", &self.environment, "assignments", place, target]).to_string()
            }),
            policies: one.near_policies.iter().map(policy).collect(),
            applied: one.applied.iter().flatten().map(applied).collect(),
        }
    }
}

/// The answer in a sentence.
fn headline(one: &WhyNotEnvironment) -> String {
    let place = one.cluster_type_or_cluster.as_deref();
    let target = one.target.as_deref().unwrap_or("anything");
    let at = place.map_or_else(|| format!("in {}", one.environment), |place| format!("on {place}"));
    let text = if one.assignments > 0 {
        format!("{target} is {at}: {}", count(one.assignments, "assignment"))
    } else if let Some(nearest) = one.near_policies.first() {
        let policies = match one.nearest_count {
            1 => "1 policy".to_owned(),
            number => format!("{number} policies"),
        };
        let missing = count(nearest.missing as u64, "more thing");
        format!("{target} is not {at}: {policies} could have put it there, and would need {missing}")
    } else {
        format!("{target} is not {at}")
    };
    visible(&text)
}

fn standing(standing: &str) -> &str {
    match standing {
        "sets" => "the ConfigMap sets it",
        "setsPart" => "the ConfigMap sets a part of it",
        "overridden" => "another ConfigMap overrides it",
        "withoutKey" => "the ConfigMap does not have it",
        other => other,
    }
}

fn obstacle(found: &WhyNotObstacle) -> Fact {
    let name = &found.name;
    let text = match found.reason.as_str() {
        "unknownClusterTypeOrCluster" => format!("there is no cluster type or cluster {name}"),
        "unknownClusterType" => format!("there is no cluster type {name}"),
        "unknownTarget" => format!("there is no deployment target {name}"),
        "otherEnvironment" => format!("it is for the environment {name}"),
        "unread" => format!("{name} can't be read"),
        "unreachable" => format!("the repository of the registration {name} can't be reached"),
        _ => name.clone(),
    };
    let nearest = found.nearest.iter().map(|name| format!("did you mean {name}?"));
    Fact::new(text, found.place.as_ref()).because(nearest)
}

fn policy(one: &WhyNotPolicy) -> ShownPolicy {
    let requirements = one.target.requirements.iter().map(|found| requirement("target", found));
    let requirements =
        requirements.chain(one.cluster_type.requirements.iter().map(|found| requirement("cluster type", found)));
    let problem = one.problem.iter().map(|problem| format!("[{}] {}", problem.code, problem.message));
    ShownPolicy {
        name: Fact::new(format!("policy {}", one.policy), one.place.as_ref()).because(problem),
        requirements: requirements.collect(),
        changes: one.changes.iter().map(change).collect(),
    }
}

fn requirement(side: &'static str, found: &WhyNotRequirement) -> ShownRequirement {
    let label = found.label.iter().map(|label| format!("it has {}={}", label.key, label.value));
    let fact = Fact::new(&found.requirement, found.place.as_ref()).because(label.chain(found.advice.clone()));
    ShownRequirement { side, is_met: found.met, fact }
}

fn applied(one: &WhyNotApplied) -> ShownPolicy {
    let state = if one.applies { "applies" } else { "does not apply" };
    let condition = |found: &hub_api::compiled::WhyNotCondition| {
        let labels = found.labels.iter().map(|label| format!("{} has {}={}", label.object, label.key, label.value));
        let text = format!("{}={}", found.key, found.value);
        let fact = Fact::new(text, found.place.as_ref()).because(labels.chain(found.advice.clone()));
        ShownRequirement { side: "label", is_met: found.met, fact }
    };
    ShownPolicy {
        name: Fact::new(format!("{} {state}", one.name), one.place.as_ref()).because(&one.excluded),
        requirements: one.conditions.iter().map(condition).collect(),
        changes: one.changes.iter().map(change).collect(),
    }
}

fn change(one: &WhyNotChange) -> ShownChange {
    let edit = |edit: &hub_api::compiled::WhyNotEdit| {
        let (action, now) = words(edit);
        let registration = edit.registration.iter().map(|name| format!("ask the team of the registration {name}"));
        Fact::new(action, edit.place.as_ref()).because(now.into_iter().chain(registration))
    };
    let mut effects = vec![format!("adds {}", count(one.answers, "assignment"))];
    let more = [
        (one.adds, "adds", "other"),
        (one.removes, "removes", ""),
        (one.reconfigures, "changes the values of", "other"),
    ];
    effects.extend(more.iter().filter(|(number, _, _)| *number > 0).map(|(number, verb, other)| {
        let noun = if other.is_empty() { "assignment".to_owned() } else { format!("{other} assignment") };
        format!("{verb} {}", count(*number, &noun))
    }));
    ShownChange { edits: one.edits.iter().map(edit).collect(), effect: effects.join(", ") }
}

/// An edit in words, and what is there now.
fn words(edit: &hub_api::compiled::WhyNotEdit) -> (String, Option<String>) {
    let of = format!("{} {}", edit.kind, edit.object);
    let key = edit.key.as_deref().unwrap_or_default();
    let after = edit.after.as_deref().unwrap_or_default();
    let action = match edit.action.as_str() {
        "setLabel" => format!("set label {key}={after} of {of}"),
        "removeLabel" => format!("remove label {key} of {of}"),
        "setRequirement" => format!("write {after} in {} of {of}", edit.field),
        "removeRequirement" => format!("remove the requirement of {key} in {} of {of}", edit.field),
        "setWorkspace" => format!("set the workspace of {of} to {after}"),
        other => format!("{other} {key} {after} of {of}"),
    };
    (action, edit.before.as_ref().map(|before| format!("now it is {before}")))
}
