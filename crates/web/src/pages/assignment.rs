//! An assignment: why it is here, its values with their origins, what is wrong with it, and its files.

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::compiled::{
    AssignmentDifference, AssignmentFile, AssignmentFileChange, AssignmentFiles, AssignmentName, DifferenceQuery,
    ExplainedAssignment, ExplainedPolicy, ExplainedValue, FilesQuery, FindingQuery, FolderFileChange,
    FolderPublication, NotShownReason,
};

use super::compiled::commits;
use crate::address::Address;
use crate::fact::{Fact, ShownFinding};
use crate::part::Moment;
use crate::text::{count, short, visible};
use crate::visit::Visit;

/// The page of an assignment.
#[derive(Template)]
#[template(path = "assignment.html")]
struct AssignmentPage<'a> {
    visit: &'a Visit,
    title: String,
    /// Its workload, its workspace, and more.
    about: Vec<(&'static str, String)>,
    links: Vec<(String, String)>,
    reasons: Vec<(&'static str, Fact)>,
    values: Vec<ShownValue>,
    findings: Vec<ShownFinding>,
    files: Vec<ShownFile>,
    /// The publication of the files. None: as they are compiled now.
    at: Option<ShownPublication>,
    more_files: usize,
    publications: Vec<ShownPublication>,
    difference: Option<ShownDifference>,
    /// The page without a choice of a publication.
    plain: String,
    notes: Vec<String>,
    commits: Vec<String>,
}

/// A value, with what set it, and what else there is about it.
struct ShownValue {
    key: String,
    value: Option<String>,
    facts: Vec<(&'static str, Fact)>,
}

/// A file, or the difference of one.
struct ShownFile {
    path: String,
    /// Its id on the page.
    anchor: String,
    size: String,
    content: Option<String>,
    not_shown: Option<&'static str>,
}

/// A publication that changed the files.
struct ShownPublication {
    commit: String,
    on: Option<Moment>,
    /// The page with the files as they were published.
    files: String,
    /// The page with the difference to what is compiled now.
    difference: String,
}

/// The difference to an earlier publication.
struct ShownDifference {
    from: Option<ShownPublication>,
    to: Option<ShownPublication>,
    files: Vec<ShownFile>,
    more: usize,
}

pub(crate) async fn page(Path((environment, place, target)): Path<(String, String, String)>, visit: Visit) -> Response {
    let visit = visit.of_the_present();
    let page = assignment(&visit, &environment, &AssignmentName { place, target }).await;
    visit.answer(page)
}

async fn assignment<'a>(
    visit: &'a Visit,
    environment: &str,
    name: &AssignmentName,
) -> Result<AssignmentPage<'a>, ClientError> {
    let text = |name| visit.address.get(name).map(str::to_owned);
    let explained = visit.api.explain(environment, name, None).await?;
    let files = visit.api.files(environment, name, &FilesQuery { at: text("publication") }).await?;
    let (place, target) = (Some(name.place.clone()), Some(name.target.clone()));
    let affecting = FindingQuery { place, target, ..FindingQuery::default() };
    let findings = visit.api.findings(environment, &affecting).await?.answer.items;
    let compared = DifferenceQuery { from: text("from"), to: text("to") };
    let difference = match compared.from {
        Some(_) => Some(visit.api.difference(environment, name, &compared).await?.answer),
        None => None,
    };
    let here = visit.to(["environments", environment, "assignments", &name.place, &name.target]);
    let AssignmentFiles { at, files: listed, more, publications, .. } = files.answer;
    let publication = |one: &FolderPublication| shown_publication(visit, &here, one);
    let notes = explained.notes.iter().chain(&files.notes).map(visible);
    Ok(AssignmentPage {
        visit,
        title: visible(name.to_string()),
        about: about(&explained.answer),
        links: links(visit, environment, &explained.answer),
        reasons: reasons(&explained.answer),
        values: explained.answer.values.iter().map(shown_value).collect(),
        findings: findings.iter().map(ShownFinding::new).collect(),
        files: listed.iter().map(shown_file).collect(),
        at: at.as_ref().map(publication),
        more_files: more,
        publications: publications.iter().map(publication).collect(),
        difference: difference.map(|found| shown_difference(&found, &publication)),
        plain: here.to_string(),
        notes: notes.collect(),
        commits: commits(&explained.sources),
    })
}

fn about(one: &ExplainedAssignment) -> Vec<(&'static str, String)> {
    let mut about = vec![("Workload", visible(&one.workload)), ("Workspace", visible(&one.workspace))];
    about.push(("Cluster type", visible(&one.cluster_type)));
    about.extend(one.cluster.as_deref().map(|cluster| ("Cluster", visible(cluster))));
    about.push(("Target", visible(&one.target)));
    about.extend(one.registration.as_deref().map(|name| ("Registration", visible(name))));
    about.push(("Templates", visible(one.templates.join(", "))));
    about.push(("Version of the configuration", visible(&one.config_version)));
    about
}

fn links(visit: &Visit, environment: &str, one: &ExplainedAssignment) -> Vec<(String, String)> {
    let contract = visit.to(["environments", environment, "contract"]).with("workload", &one.workload);
    let hosts = visit.to(["deployments"]).with("environment", environment).with("workload", &one.workload);
    let place = one.cluster.as_ref().unwrap_or(&one.cluster_type);
    vec![
        ("Workload".to_owned(), visit.to_workload(&one.workspace, &one.workload).to_string()),
        (visible(place), visit.to_place(environment, place).to_string()),
        ("All assignments".to_owned(), visit.to(["environments", environment, "assignments"]).to_string()),
        ("Contract of the workload".to_owned(), contract.to_string()),
        ("Hosts".to_owned(), hosts.to_string()),
        ("Rollout".to_owned(), visit.to(["rollouts", &one.workload]).to_string()),
        (visible(environment), visit.to(["environments", environment]).to_string()),
    ]
}

/// Why the assignment exists, and what holds it.
fn reasons(one: &ExplainedAssignment) -> Vec<(&'static str, Fact)> {
    let policy = |policy: &ExplainedPolicy| {
        let requirements = policy.target.iter().map(|text| format!("target: {text}"));
        let requirements = requirements.chain(policy.cluster_type.iter().map(|text| format!("cluster type: {text}")));
        ("assigned by", Fact::new(format!("policy {}", policy.policy), policy.place.as_ref()).because(requirements))
    };
    let mut reasons: Vec<_> = one.policies.iter().map(policy).collect();
    reasons.extend(one.place.as_ref().map(|place| ("target", Fact::new(&one.target, Some(place)))));
    reasons.extend(one.mapped_labels.iter().map(|label| {
        let text = format!("{}: {}, by LabelMapping {}", label.label, label.value, label.label_mapping);
        ("label", Fact::new(text, label.place.as_ref()))
    }));
    reasons.extend(one.release_pins.iter().map(|pin| {
        let manifests = pin.manifests.iter().map(|(key, value)| format!("{key}: {value}"));
        let expires = pin.expires.iter().map(|day| format!("until {day}"));
        let more = std::iter::once(pin.reason.clone()).filter(|reason| !reason.is_empty()).chain(manifests);
        let fact = Fact::new(format!("release pin {}", pin.release_pin), pin.place.as_ref());
        ("held by", fact.because(more.chain(expires)))
    }));
    reasons.extend(one.held.iter().map(|held| {
        let text = format!("{} is rendered from the publication {}", held.branch, held.from);
        ("held on", Fact::new(text, None))
    }));
    reasons.extend(one.rollout.iter().map(|published| {
        let ring = published.ring.iter().map(|ring| format!("ring {ring}"));
        let since = published.since.iter().map(|since| format!("since {since}"));
        ("published is", Fact::new(format!("other content: {}", published.reason), None).because(ring.chain(since)))
    }));
    reasons
}

fn shown_value(one: &ExplainedValue) -> ShownValue {
    let mut facts: Vec<_> = one.set_by.iter().map(|source| ("set by", Fact::of_source(source))).collect();
    facts.extend(one.composed_of.iter().map(|part| {
        let fact = Fact::of_source(&part.source);
        ("made of", Fact { text: format!("{} by {}", visible(&part.key), fact.text), ..fact })
    }));
    facts.extend(one.overrides.iter().map(|source| ("overrides", Fact::of_source(source))));
    facts.extend(one.not_used.iter().map(|unused| {
        let fact = Fact::new(format!("ConfigMap {}", unused.config_map), unused.place.as_ref());
        ("not used", fact.because(&unused.because))
    }));
    facts.extend(one.checks.iter().map(|check| ("checked by", Fact::new(&check.demands, check.place.as_ref()))));
    ShownValue { key: visible(&one.key), value: one.value.as_deref().map(visible), facts }
}

fn shown_file(file: &AssignmentFile) -> ShownFile {
    ShownFile {
        path: visible(&file.path),
        anchor: anchor("file", &file.path),
        size: file.bytes.map_or_else(String::new, |bytes| count(bytes, "byte")),
        content: file.content.as_deref().map(visible),
        not_shown: file.not_shown.map(NotShownReason::words),
    }
}

fn shown_change(file: &AssignmentFileChange) -> ShownFile {
    let change = match file.change {
        FolderFileChange::Added => "added",
        FolderFileChange::Changed => "changed",
        FolderFileChange::Removed => "removed",
    };
    ShownFile {
        path: visible(&file.path),
        anchor: anchor("difference", &file.path),
        size: change.to_owned(),
        content: file.difference.as_deref().map(visible),
        not_shown: file.not_shown.map(NotShownReason::words),
    }
}

/// The id of a file on the page.
fn anchor(kind: &str, path: &str) -> String {
    format!("{kind}{}", Address::of([path])).replace('/', "-")
}

fn shown_difference(
    found: &AssignmentDifference,
    publication: &impl Fn(&FolderPublication) -> ShownPublication,
) -> ShownDifference {
    ShownDifference {
        from: found.from.as_ref().map(publication),
        to: found.to.as_ref().map(publication),
        files: found.files.iter().map(shown_change).collect(),
        more: found.more,
    }
}

fn shown_publication(visit: &Visit, here: &Address, one: &FolderPublication) -> ShownPublication {
    ShownPublication {
        commit: visible(short(&one.commit)),
        on: one.committed_on.map(|on| Moment::new(on, visit.now)),
        files: here.clone().with("publication", &one.commit).to_string(),
        difference: here.clone().with("from", &one.commit).to_string(),
    }
}
