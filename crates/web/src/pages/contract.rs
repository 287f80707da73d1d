//! The values that workloads ask for, and the values that the platform gives.

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::compiled::{
    ContractAdvice, ContractGiven, ContractPlaces, ContractQuery, ContractValue, ContractWorkload, ValueCounts,
};

use super::compiled::commits;
use crate::address::Address;
use crate::fact::Fact;
use crate::text::{count, visible};
use crate::visit::Visit;

/// The contracts of an environment.
#[derive(Template)]
#[template(path = "contract.html")]
struct ContractPage<'a> {
    visit: &'a Visit,
    environment: String,
    title: String,
    workloads: Vec<ShownContract>,
    unused: Vec<Fact>,
    unused_count: usize,
    commits: Vec<String>,
}

/// The contract of a workload.
struct ShownContract {
    name: String,
    workspace: String,
    /// The page with the details of this workload only.
    to: String,
    /// The page of the workload.
    workload: String,
    about: String,
    counts: ValueCounts,
    values: Vec<ShownAsked>,
    others: Vec<Fact>,
    unassigned: Vec<String>,
    unusable: Vec<Fact>,
    not_checked: u64,
}

/// A value that schemas ask for.
struct ShownAsked {
    key: String,
    is_required: bool,
    is_sensitive: bool,
    /// The sign, its class, and its words.
    state: (&'static str, &'static str, String),
    facts: Vec<(&'static str, Fact)>,
}

pub(crate) async fn page(Path(environment): Path<String>, visit: Visit) -> Response {
    let visit = visit.of_the_present();
    let page = contract(&visit, environment).await;
    visit.answer(page)
}

async fn contract(visit: &Visit, environment: String) -> Result<ContractPage<'_>, ClientError> {
    let text = |name| visit.address.get(name).map(str::to_owned);
    let query = ContractQuery { workload: text("workload"), place: text("place") };
    let found = visit.api.contract(&environment, &query).await?;
    let environments = found.answer.environments;
    let workloads = environments.iter().flat_map(|one| &one.workloads);
    let here = visit.to(["environments", &environment, "contract"]);
    Ok(ContractPage {
        visit,
        title: visible(&environment),
        workloads: workloads.map(|one| shown(visit, &here, one)).collect(),
        unused: environments.iter().flat_map(|one| &one.unused).map(given).collect(),
        unused_count: environments.iter().map(|one| one.unused_count).sum(),
        commits: commits(&found.sources),
        environment,
    })
}

impl ContractPage<'_> {
    fn field(&self, name: &str) -> &str {
        self.visit.address.get(name).unwrap_or_default()
    }

    /// Another page of the environment.
    fn to(&self, page: &str) -> String {
        self.visit.to(["environments", &self.environment, page]).to_string()
    }
}

fn shown(visit: &Visit, here: &Address, one: &ContractWorkload) -> ShownContract {
    let assigned = if one.is_assigned { "" } else { "no policy assigns it; the numbers are as if all places had it: " };
    let targets = count(one.targets as u64, "target");
    let assignments = count(one.assignments, "assignment");
    ShownContract {
        name: visible(&one.workload),
        workspace: visible(&one.workspace),
        to: here.clone().with("workload", &one.workload).to_string(),
        workload: visit.to_workload(&one.workspace, &one.workload).to_string(),
        about: format!("{assigned}{targets}, {assignments} on {}", places(&one.places)),
        counts: one.counts,
        values: one.values.iter().map(asked).collect(),
        others: one.not_asked_for.iter().map(given).collect(),
        unassigned: one.unassigned.iter().map(|one| visible(&one.target)).collect(),
        unusable: one
            .unusable_schemas
            .iter()
            .map(|one| Fact::new("a schema can't be used", one.place.as_ref()))
            .collect(),
        not_checked: one.not_checked,
    }
}

fn places(places: &ContractPlaces) -> String {
    let cluster_types = count(places.cluster_types, "cluster type");
    if places.clusters == 0 {
        cluster_types
    } else {
        format!("{cluster_types} and {}", count(places.clusters, "cluster"))
    }
}

fn asked(one: &ContractValue) -> ShownAsked {
    let mut facts: Vec<_> = one
        .asks
        .iter()
        .map(|ask| {
            let more =
                ask.description.iter().cloned().chain(ask.default.iter().map(|value| format!("default {value}")));
            ("asked for", Fact::new(&ask.demands, ask.place.as_ref()).because(more))
        })
        .collect();
    facts.extend(one.given_by.iter().map(|by| ("given by", given(by))));
    if one.given_by_more > 0 {
        facts.push(("given by", Fact::new(format!("and {} more", one.given_by_more), None)));
    }
    facts.extend(one.missing.iter().map(|missing| {
        let text = format!("in {}: {}", count(missing.assignments, "assignment"), missing.examples.join(", "));
        ("missing", Fact::new(text, None))
    }));
    facts.extend(one.wrong.iter().map(|wrong| {
        let because = format!("in {}: {}", count(wrong.assignments, "assignment"), wrong.examples.join(", "));
        ("wrong", Fact::new(&wrong.message, wrong.place.as_ref()).because([because]))
    }));
    facts.extend(one.advice.iter().map(|found| ("help", advice(found))));
    ShownAsked {
        key: if one.key.is_empty() { "several values".to_owned() } else { visible(&one.key) },
        is_required: one.is_required,
        is_sensitive: one.is_sensitive,
        state: state(one),
        facts,
    }
}

fn state(one: &ContractValue) -> (&'static str, &'static str, String) {
    if let Some(missing) = &one.missing {
        return ("✕", "bad", format!("missing in {} of {}", missing.assignments, one.asked.assignments));
    }
    if !one.wrong.is_empty() {
        let wrong: u64 = one.wrong.iter().map(|wrong| wrong.assignments).sum();
        return ("✕", "bad", format!("wrong in {wrong} of {}", one.asked.assignments));
    }
    let words = format!("given to {} of {}", one.given.assignments, one.asked.assignments);
    if one.given.assignments < one.asked.assignments { ("–", "none", words) } else { ("✓", "good", words) }
}

fn given(one: &ContractGiven) -> Fact {
    let on = format!("on {}", places(&one.places));
    let more = (one.more > 0).then(|| format!("and {} more", one.more));
    let because = one.conditions.iter().cloned().chain([on]).chain(more);
    let text = if one.key.is_empty() { one.container.clone() } else { format!("{} in {}", one.key, one.container) };
    Fact::new(text, one.place.as_ref()).with_value(&one.value).because(because)
}

fn advice(one: &ContractAdvice) -> Fact {
    let text = match (&one.similar_key, &one.assignment) {
        (Some(key), _) => format!("{} has {key}, which differs only in its spelling", one.container),
        (None, Some(assignment)) => format!("{} has it, and does not match {assignment}", one.container),
        (None, None) => format!("{} has it, and does not match", one.container),
    };
    let unmet = one.unmet.iter().flatten().map(|label| {
        let actual = label.actual.as_deref().unwrap_or("nothing");
        format!("it needs {}={}, there it is {actual}", label.label, label.value)
    });
    Fact::new(text, one.place.as_ref()).because(unmet)
}
