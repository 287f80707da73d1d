//! Names and labels in sentences and promotions. Unknown ones are errors: an event about an unknown cluster has no effect, and nobody ever has an unknown
//! change.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic};
use model::object::promotion::GateKind;
use model::similar::nearest;
use model::yaml::{Node, Span};

use super::fields::{Reader, text};
use super::text_at;
use crate::scenario::definition::{
    ChangeOrRelease, Claim, ClusterGroup, DecisionEvent, DecisionKind, FaultKind, FolderScope, Happening, LabelPair,
    MemberSelection, PromotionEdit, Scenario, ScenarioEvent, Who,
};

/// Reports environments, clusters, labels, changes, releases and checks that the scenario does not have. `documents` are all documents of the file.
pub(super) fn check(scenario: &Scenario, documents: &[Node], reader: &mut Reader<'_>) {
    promotions(scenario, documents, reader);
    unused_promotions(scenario, documents, reader);
    let Some(root) = documents.first() else { return };
    let known = Known::from_scenario(scenario);
    let events =
        scenario.timeline.iter().map(|happening| (happening.line, &happening.text, of_event(&happening.event)));
    let claims = scenario.expectations.iter().map(|found| (found.line, &found.text, of_claim(&found.claim)));
    for happening in repeated_versions(scenario) {
        let span = sentence(root, (happening.line, &happening.text), reader).unwrap_or(root.span);
        let message = format!("`{}`: an earlier event installs this version, with its own folders", happening.text);
        let help = "leave out `of` and `where`, or write another version";
        reader.diagnostics.push(reader.diagnostic(Code::WrongType, span, message).help(help));
    }
    for (line, written, references) in events.chain(claims) {
        for (message, near) in references.iter().filter_map(|reference| known.missing(reference)) {
            let span = sentence(root, (line, written), reader).unwrap_or(root.span);
            let diagnostic = reader.diagnostic(Code::WrongType, span, format!("`{written}`: {message}"));
            reader.diagnostics.push(with_similar(diagnostic, near.as_deref()));
        }
    }
}

/// The events that install a version again, with other folders: they would have no effect.
fn repeated_versions(scenario: &Scenario) -> Vec<&Happening> {
    let mut known = BTreeSet::new();
    let mut is_repeated = |event: &ScenarioEvent| match event {
        ScenarioEvent::Install { version, scope } => {
            !known.insert(Arc::clone(version)) && *scope != FolderScope::default()
        }
        _ => false,
    };
    scenario.timeline.iter().filter(|happening| is_repeated(&happening.event)).collect()
}

/// Removes the events about what the scenario does not have. They have no effect.
pub(in crate::scenario) fn remove_unknown(scenario: &mut Scenario) {
    loop {
        let known = Known::from_scenario(scenario);
        let is_known =
            |event: &ScenarioEvent| of_event(event).iter().all(|reference| known.missing(reference).is_none());
        let kept: Vec<_> = scenario.timeline.iter().filter(|happening| is_known(&happening.event)).cloned().collect();
        if kept.len() == scenario.timeline.len() {
            return;
        }
        scenario.timeline = kept;
    }
}

/// A diagnostic with the advice to write the name that is similar, if there is one.
fn with_similar(diagnostic: Diagnostic, near: Option<&str>) -> Diagnostic {
    match near {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic,
    }
}

/// Reports a second promotion into an environment that no event brings: it would have no effect.
fn unused_promotions(scenario: &Scenario, documents: &[Node], reader: &mut Reader<'_>) {
    let is_written = |name: &Arc<str>| {
        let edit = PromotionEdit::Write(Arc::clone(name));
        let mut events = scenario.timeline.iter().map(|happening| &happening.event);
        events.any(|event| matches!(event, ScenarioEvent::Change { promotion: Some(found), .. } if *found == edit))
    };
    for (position, (name, promotion)) in scenario.promotions.iter().enumerate() {
        let mut before = scenario.promotions.iter().take(position);
        if let Some((first, _)) = before.find(|(_, before)| before.to == promotion.to).filter(|_| !is_written(name)) {
            let span = document(documents, name).map_or(Span::at(0), |document| document.span);
            let message =
                format!("the promotion `{first}` leads to `{}` already, and no event brings `{name}`", promotion.to);
            let help = format!("write `change NAME with {name}`");
            reader.diagnostics.push(reader.diagnostic(Code::WrongType, span, message).help(help));
        }
    }
}

/// The document of a promotion.
fn document<'n>(documents: &'n [Node], name: &str) -> Option<&'n Node> {
    let is_it = |node: &&Node| node.get("metadata").is_some_and(|metadata| *text_at(metadata, "name") == *name);
    documents.iter().find(is_it)
}

/// Reports environments of promotions.
fn promotions(scenario: &Scenario, documents: &[Node], reader: &mut Reader<'_>) {
    let known: BTreeSet<_> = scenario.environments.iter().map(|environment| &environment.name).collect();
    for (name, promotion) in &scenario.promotions {
        for missing in promotion.from.iter().chain([&promotion.to]).filter(|name| !known.contains(name)) {
            let message =
                format!("the promotion `{name}` names the environment `{missing}`, which the scenario does not have");
            let document = document(documents, name);
            let spec = document.and_then(|document| document.get("spec"));
            let from = spec.and_then(|spec| spec.get("from")).and_then(Node::as_sequence).unwrap_or_default();
            let mut fields = from.iter().chain(spec.and_then(|spec| spec.get("to")));
            let field = fields.find(|node| text(node) == *missing).or(document);
            let near = nearest(missing, known.iter().map(|name| &***name));
            let span = field.map_or(Span::at(0), |node| node.span);
            let diagnostic = reader.diagnostic(Code::UnknownEnvironment, span, message);
            reader.diagnostics.push(with_similar(diagnostic, near));
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
    /// Clusters with a label. The environment may be left out.
    Label(Option<&'s Arc<str>>, &'s LabelPair),
    Check(&'s Arc<str>),
    Promotion(&'s Arc<str>),
}

fn of_who(who: &Who) -> Vec<Reference<'_>> {
    let label = who.label.as_ref().map(|label| Reference::Label(who.environment.as_ref(), label));
    [Reference::Clusters(who)].into_iter().chain(label).collect()
}

fn of_scope<'s>(environment: Option<&'s Arc<str>>, scope: &'s FolderScope) -> Vec<Reference<'s>> {
    scope.label.iter().map(|label| Reference::Label(environment, label)).collect()
}

fn of_event(event: &ScenarioEvent) -> Vec<Reference<'_>> {
    match event {
        ScenarioEvent::Revert(name) | ScenarioEvent::MoveByHand { what: ChangeOrRelease::Change(name), .. } => {
            vec![Reference::Change(name)]
        }
        ScenarioEvent::Change { scope, promotion, .. } => {
            let promotion = promotion.iter().map(|edit| Reference::Promotion(edit.name()));
            of_scope(None, scope).into_iter().chain(promotion).collect()
        }
        ScenarioEvent::Pin { environment, workload, version, label } => {
            let label = label.iter().map(|label| Reference::Label(Some(environment), label));
            label.chain([Reference::Release(workload, version)]).collect()
        }
        ScenarioEvent::Install { scope, .. } => of_scope(None, scope),
        ScenarioEvent::Configure { environment, scope, .. } => of_scope(Some(environment), scope),
        ScenarioEvent::Hosts { who, fault: FaultKind::Failing(Some(name)), .. } => {
            of_who(who).into_iter().chain([Reference::Revision(name)]).collect()
        }
        ScenarioEvent::Hosts { who, .. } | ScenarioEvent::Repair(who) | ScenarioEvent::Shrink(who) => of_who(who),
        ScenarioEvent::Check { name, .. } => vec![Reference::Check(name)],
        ScenarioEvent::Decide(DecisionEvent { decision: DecisionKind::Promote(Some(name)), .. }) => {
            vec![Reference::Revision(name)]
        }
        ScenarioEvent::Expect(claim) => of_claim(claim),
        _ => Vec::new(),
    }
}

fn of_claim(claim: &Claim) -> Vec<Reference<'_>> {
    match claim {
        Claim::Has { who, what } | Claim::Lacks { who, what } => {
            let content = match what {
                ChangeOrRelease::Change(name) => Reference::Change(name),
                ChangeOrRelease::Release(workload, version) => Reference::Release(workload, version),
            };
            of_who(who).into_iter().chain([content]).collect()
        }
        Claim::AtOnce { who, .. } => of_who(who),
        Claim::State { .. } | Claim::Rest => Vec::new(),
    }
}

/// The names that a scenario brings, at any time.
struct Known<'s> {
    environments: Vec<&'s Arc<str>>,
    /// Groups of clusters with their environments.
    clusters: Vec<(&'s Arc<str>, &'s ClusterGroup)>,
    changes: BTreeSet<&'s Arc<str>>,
    releases: BTreeSet<(&'s Arc<str>, Arc<str>)>,
    checks: BTreeSet<&'s Arc<str>>,
    promotions: BTreeSet<&'s Arc<str>>,
}

/// The versions of all releases, with their workloads.
fn releases(scenario: &Scenario) -> BTreeSet<(&Arc<str>, Arc<str>)> {
    let first = scenario.workloads.iter().filter_map(|workload| Some((&workload.name, workload.release.as_ref()?)));
    let later = scenario.timeline.iter().filter_map(|happening| match &happening.event {
        ScenarioEvent::Release { workload, version, .. }
        | ScenarioEvent::MoveByHand { what: ChangeOrRelease::Release(workload, version), .. } => {
            Some((workload, version))
        }
        _ => None,
    });
    let versions = |(workload, release): (&'_ Arc<str>, &'_ Arc<str>)| {
        let definition = scenario.workloads.iter().find(|definition| definition.name == *workload);
        definition.map(|definition| definition.versions_of(release)).unwrap_or_default()
    };
    first.chain(later).flat_map(|found| versions(found).into_iter().map(move |version| (found.0, version))).collect()
}

impl<'s> Known<'s> {
    fn from_scenario(scenario: &'s Scenario) -> Self {
        let mut known = Self {
            environments: scenario.environments.iter().map(|environment| &environment.name).collect(),
            clusters: Vec::new(),
            changes: BTreeSet::new(),
            releases: BTreeSet::new(),
            checks: BTreeSet::new(),
            promotions: scenario.promotions.iter().map(|(name, _)| name).collect(),
        };
        for (_, promotion) in &scenario.promotions {
            let gates = promotion.rings.iter().flat_map(model::object::promotion::Ring::gates).chain(&promotion.gates);
            known.checks.extend(gates.filter_map(|gate| match &gate.kind {
                GateKind::Check(check) => Some(&check.name),
                _ => None,
            }));
        }
        for environment in &scenario.environments {
            known.clusters.extend(environment.clusters.iter().map(|group| (&environment.name, group)));
        }
        known.releases = releases(scenario);
        for happening in &scenario.timeline {
            match &happening.event {
                ScenarioEvent::Change { name, .. }
                | ScenarioEvent::Configure { name, .. }
                | ScenarioEvent::Retarget { name, .. }
                | ScenarioEvent::Install { version: name, .. } => {
                    known.changes.insert(name);
                }
                ScenarioEvent::Grow { environment, group } => known.clusters.push((environment, group)),
                _ => {}
            }
        }
        known
    }

    /// What is missing, with a name that is similar. None: nothing.
    fn missing(&self, reference: &Reference<'_>) -> Option<(String, Option<String>)> {
        let changes = || self.changes.iter().map(|name| &***name);
        let versions = || self.releases.iter().map(|(_, version)| &**version);
        match reference {
            Reference::Clusters(who) => self.missing_cluster(who),
            Reference::Change(name) if !self.changes.contains(name) => {
                Some((format!("no event makes the change `{name}`"), nearest(name, changes()).map(str::to_owned)))
            }
            Reference::Release(workload, version) if !self.releases.contains(&(*workload, Arc::clone(version))) => {
                let of = self.releases.iter().filter(|(name, _)| name == workload).map(|(_, version)| &**version);
                let near = nearest(version, of).map(|near| format!("{workload} {near}"));
                Some((format!("there is no release {version} of `{workload}`"), near))
            }
            Reference::Revision(name) => {
                let is_known = self.changes.contains(name) || versions().any(|version| *version == ***name);
                let near = || nearest(name, changes().chain(versions())).map(str::to_owned);
                (!is_known).then(|| (format!("no event makes the change or the release `{name}`"), near()))
            }
            Reference::Label(environment, label) => self.missing_label(*environment, label),
            Reference::Check(name) if !self.checks.contains(name) => {
                let near = nearest(name, self.checks.iter().map(|name| &***name));
                Some((format!("no gate uses the check `{name}`"), near.map(str::to_owned)))
            }
            Reference::Promotion(name) if !self.promotions.contains(name) => {
                let near = nearest(name, self.promotions.iter().map(|name| &***name));
                Some((format!("no document is the promotion `{name}`"), near.map(str::to_owned)))
            }
            Reference::Change(_) | Reference::Release(..) | Reference::Check(_) | Reference::Promotion(_) => None,
        }
    }

    fn missing_label(
        &self,
        environment: Option<&Arc<str>>,
        (key, value): &LabelPair,
    ) -> Option<(String, Option<String>)> {
        let labels: Vec<_> = self.clusters_of(environment).flat_map(|group| &group.labels).collect();
        let values = || labels.iter().filter(|(known, _)| known == key).flat_map(|(_, values)| values);
        if values().any(|known| known == value) {
            return None;
        }
        let near_value = nearest(value, values().map(|known| &**known)).map(|near| format!("{key}={near}"));
        let keys = || labels.iter().map(|(known, _)| &**known).filter(|known| *known != &**key);
        let near = near_value.or_else(|| nearest(key, keys()).map(|near| format!("{near}={value}")));
        let of = environment.map_or_else(String::new, |environment| format!(" in `{environment}`"));
        Some((format!("no cluster{of} has the label `{key}={value}`"), near))
    }

    /// The groups of clusters of an environment, or of all.
    fn clusters_of(&self, environment: Option<&Arc<str>>) -> impl Iterator<Item = &'s ClusterGroup> {
        let groups = self.clusters.iter().filter(move |(name, _)| environment.is_none_or(|wanted| wanted == *name));
        groups.map(|(_, group)| *group)
    }

    fn missing_cluster(&self, who: &Who) -> Option<(String, Option<String>)> {
        let MemberSelection::Named(pattern) = &who.members else { return None };
        let groups = || self.clusters_of(who.environment.as_ref());
        let ends = [pattern.at(0), pattern.at(pattern.len().saturating_sub(1))];
        let name = ends.into_iter().find(|name| !groups().any(|group| group.names.position(name).is_some()))?;
        let first: Vec<_> = groups().map(|group| group.names.at(0)).collect();
        let names = first.iter().map(String::as_str).chain(self.environments.iter().map(|name| &***name));
        let near = nearest(&name, names).map(str::to_owned);
        let of = who.environment.as_ref().map_or_else(String::new, |environment| format!(" in `{environment}`"));
        Some((format!("there is no cluster `{name}`{of}"), near))
    }
}
