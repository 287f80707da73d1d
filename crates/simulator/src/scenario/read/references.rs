//! Names that sentences and promotions refer to. An event about an unknown cluster has no effect, and a claim that nobody has an unknown change is always true,
//! so unknown names are errors.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::diagnostic::Code;
use model::similar::nearest;
use model::yaml::{Node, Span};

use super::fields::{Reader, text};
use super::text_at;
use crate::scenario::definition::{
    Claim, ClusterGroup, Content, Event, Fault, Members, PersonDecision, Scenario, Who, WorkloadDefinition,
};

/// Reports names of environments, clusters, changes and releases that the scenario does not have. `documents` are all documents of the file.
pub(super) fn check(scenario: &Scenario, documents: &[Node], reader: &mut Reader<'_>) {
    promotions(scenario, documents, reader);
    let Some(root) = documents.first() else { return };
    let known = Known::of(scenario);
    let events =
        scenario.timeline.iter().map(|happening| (happening.line, &happening.text, of_event(&happening.event)));
    let claims = scenario.expectations.iter().map(|found| (found.line, &found.text, of_claim(&found.claim)));
    for (line, written, references) in events.chain(claims) {
        for (message, near) in references.iter().filter_map(|reference| known.missing(reference)) {
            let span = sentence(root, (line, written), reader).unwrap_or(root.span);
            report(reader, (Code::WrongType, span), format!("`{written}`: {message}"), near.as_deref());
        }
    }
}

fn report(reader: &mut Reader<'_>, at: (Code, Span), message: String, near: Option<&str>) {
    match near {
        Some(near) => reader.error_with_help(at, message, format!("did you mean `{near}`?")),
        None => reader.error(at.0, at.1, message),
    }
}

/// Reports environments of promotions.
fn promotions(scenario: &Scenario, documents: &[Node], reader: &mut Reader<'_>) {
    let known: BTreeSet<_> = scenario.environments.iter().map(|environment| &environment.name).collect();
    for (name, promotion) in &scenario.promotions {
        for missing in promotion.from.iter().chain([&promotion.to]).filter(|name| !known.contains(name)) {
            let message =
                format!("the promotion `{name}` names the environment `{missing}`, which the scenario does not have");
            let document = documents
                .iter()
                .find(|document| document.get("metadata").is_some_and(|metadata| *text_at(metadata, "name") == **name));
            let spec = document.and_then(|document| document.get("spec"));
            let from = spec.and_then(|spec| spec.get("from")).and_then(Node::as_sequence).unwrap_or_default();
            let mut fields = from.iter().chain(spec.and_then(|spec| spec.get("to")));
            let field = fields.find(|node| text(node) == *missing).or(document);
            let near = nearest(missing, known.iter().map(|name| &***name));
            let span = field.map_or(Span::at(0), |node| node.span);
            report(reader, (Code::UnknownEnvironment, span), message, near);
        }
    }
}

/// The place of a sentence in the timeline or the expectations.
fn sentence(root: &Node, (line, written): (usize, &str), reader: &Reader<'_>) -> Option<Span> {
    let items = |key: &str| root.get(key).and_then(Node::as_sequence).unwrap_or_default();
    let entries = items("timeline").iter().flat_map(|item| item.as_mapping().unwrap_or_default());
    let events = entries.flat_map(|(_, value)| value.as_sequence().unwrap_or(std::slice::from_ref(value)));
    let mut sentences = events.chain(items("expect"));
    sentences.find(|node| reader.line(node) == line && *text(node) == *written).map(|node| node.span)
}

/// What a sentence refers to.
enum Reference<'s> {
    Clusters(&'s Who),
    Change(&'s Arc<str>),
    Release(&'s Arc<str>, &'s Arc<str>),
    /// A change, or a release of any workload.
    Revision(&'s Arc<str>),
}

fn of_event(event: &Event) -> Vec<Reference<'_>> {
    match event {
        Event::Revert(name) | Event::MoveByHand { commit: name, .. } => vec![Reference::Change(name)],
        Event::Hosts { who, fault: Fault::Failing(Some(name)), .. } => {
            vec![Reference::Clusters(who), Reference::Revision(name)]
        }
        Event::Hosts { who, .. } | Event::Repair(who) | Event::Shrink(who) => vec![Reference::Clusters(who)],
        Event::Decide { decision: PersonDecision::Promote(Some(name)), .. } => vec![Reference::Revision(name)],
        Event::Expect(claim) => of_claim(claim),
        _ => Vec::new(),
    }
}

fn of_claim(claim: &Claim) -> Vec<Reference<'_>> {
    match claim {
        Claim::Has { who, what } | Claim::Lacks { who, what } => {
            let content = match what {
                Content::Change(name) => Reference::Change(name),
                Content::Release(workload, version) => Reference::Release(workload, version),
            };
            vec![Reference::Clusters(who), content]
        }
        Claim::AtOnce { who, .. } => vec![Reference::Clusters(who)],
        Claim::State { .. } | Claim::Rest => Vec::new(),
    }
}

/// The names that a scenario brings, at any time.
struct Known<'s> {
    environments: Vec<&'s Arc<str>>,
    /// Groups of clusters with their environments.
    clusters: Vec<(&'s Arc<str>, &'s ClusterGroup)>,
    changes: BTreeSet<&'s Arc<str>>,
    releases: BTreeSet<(&'s Arc<str>, &'s Arc<str>)>,
}

impl<'s> Known<'s> {
    fn of(scenario: &'s Scenario) -> Self {
        let mut known = Self {
            environments: scenario.environments.iter().map(|environment| &environment.name).collect(),
            clusters: Vec::new(),
            changes: BTreeSet::new(),
            releases: BTreeSet::new(),
        };
        for environment in &scenario.environments {
            known.clusters.extend(environment.clusters.iter().map(|group| (&environment.name, group)));
        }
        let first =
            |workload: &'s WorkloadDefinition| workload.release.as_ref().map(|release| (&workload.name, release));
        known.releases.extend(scenario.workloads.iter().filter_map(first));
        for happening in &scenario.timeline {
            match &happening.event {
                Event::Change { name, .. } | Event::Configure { name, .. } => drop(known.changes.insert(name)),
                Event::Release { workload, version, .. } => drop(known.releases.insert((workload, version))),
                Event::Grow { environment, group } => known.clusters.push((environment, group)),
                _ => {}
            }
        }
        known
    }

    /// What is missing, with a name that is similar. None: nothing.
    fn missing(&self, reference: &Reference<'_>) -> Option<(String, Option<String>)> {
        let changes = || self.changes.iter().map(|name| &***name);
        let versions = || self.releases.iter().map(|(_, version)| &***version);
        match reference {
            Reference::Clusters(who) => self.missing_cluster(who),
            Reference::Change(name) if !self.changes.contains(name) => {
                Some((format!("no event makes the change `{name}`"), nearest(name, changes()).map(str::to_owned)))
            }
            Reference::Release(workload, version) if !self.releases.contains(&(*workload, *version)) => {
                let of = self.releases.iter().filter(|(name, _)| name == workload).map(|(_, version)| &***version);
                let near = nearest(version, of).map(|near| format!("{workload} {near}"));
                Some((format!("there is no release {version} of `{workload}`"), near))
            }
            Reference::Revision(name) => {
                let is_known = self.changes.contains(name) || versions().any(|version| *version == ***name);
                let near = || nearest(name, changes().chain(versions())).map(str::to_owned);
                (!is_known).then(|| (format!("no event makes the change or the release `{name}`"), near()))
            }
            Reference::Change(_) | Reference::Release(..) => None,
        }
    }

    fn missing_cluster(&self, who: &Who) -> Option<(String, Option<String>)> {
        let Members::Named(pattern) = &who.members else { return None };
        let is_there = |environment: &Arc<str>| who.environment.as_ref().is_none_or(|name| name == environment);
        let groups = || self.clusters.iter().filter(|(environment, _)| is_there(environment)).map(|(_, group)| group);
        let ends = [pattern.at(0), pattern.at(pattern.len().saturating_sub(1))];
        let name = ends.into_iter().find(|name| !groups().any(|group| group.names.position(name).is_some()))?;
        let first: Vec<_> = groups().map(|group| group.names.at(0)).collect();
        let names = first.iter().map(String::as_str).chain(self.environments.iter().map(|name| &***name));
        let near = nearest(&name, names).map(str::to_owned);
        let of = who.environment.as_ref().map_or_else(String::new, |environment| format!(" in `{environment}`"));
        Some((format!("there is no cluster `{name}`{of}"), near))
    }
}
