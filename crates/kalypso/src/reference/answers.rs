//! The fields of the structured output of commands.

mod listing;
mod schema;

use workbench::answers::branch_edit::BranchEditFields;
use workbench::answers::codeowners::CodeOwnersFields;
use workbench::answers::config_history::ConfigHistoryFields;
use workbench::answers::contract::ContractFields;
use workbench::answers::describe::Descriptions;
use workbench::answers::explain::{ExplainedAssignment, ExplainedValue, NameOverviews};
use workbench::answers::new_environment::NewEnvironmentFields;
use workbench::answers::plan::EnvironmentPlans;
use workbench::answers::releases::{ReleaseDifferences, ReleaseFields, ReleaseList};
use workbench::answers::rename::RenameFields;
use workbench::answers::target_edit::{NewWorkloadFields, TargetEditFields};
use workbench::answers::template_packs::TemplatePacks;
use workbench::answers::why_not::WhyNotFields;

use self::schema::of_answer;

/// The path of a field, and its meaning.
pub type AnswerField = (String, String);

/// The fields of commands' output with `-o json`. `[]` stands for each item of a list. The fields inside of `report` are on the page of diagnostics.
///
/// Answers of the hub are described once, by their types: their fields are those of the hub's OpenAPI description.
pub fn answers() -> Vec<(String, Vec<AnswerField>)> {
    let schemas = schema::Schemas::of_hub();
    let of_commands = COMMANDS.iter().map(|(title, fields)| ((*title).to_owned(), owned(fields)));
    let of_hub = HUB.iter().map(|answer| {
        let mut fields = schemas.fields(answer.schema, answer.prefix);
        fields.extend(owned(answer.more));
        (answer.title.to_owned(), fields)
    });
    of_types().into_iter().chain(of_commands).chain(listing::lists()).chain(of_hub).collect()
}

/// The output that commands generate themselves, whose fields are those of its type.
fn of_types() -> Vec<(String, Vec<AnswerField>)> {
    let answers = [
        ("plan", of_answer::<EnvironmentPlans>()),
        ("describe", of_answer::<Descriptions>()),
        ("explain", of_answer::<ExplainedAssignment>()),
        ("explain KEY", of_answer::<ExplainedValue>()),
        ("explain NAME", of_answer::<NameOverviews>()),
        ("contract", of_answer::<ContractFields>()),
        ("why-not", of_answer::<WhyNotFields>()),
        ("add, remove, rename, pin, unpin, config rollback", of_answer::<BranchEditFields>()),
        ("add workload --checkout", of_answer::<NewWorkloadFields>()),
        ("add target, set target, remove target", of_answer::<TargetEditFields>()),
        ("config history", of_answer::<ConfigHistoryFields>()),
        ("releases create, releases show", of_answer::<ReleaseFields>()),
        ("releases list", of_answer::<ReleaseList>()),
        ("releases diff", of_answer::<ReleaseDifferences>()),
        ("codeowners", of_answer::<CodeOwnersFields>()),
        ("add environment", of_answer::<NewEnvironmentFields>()),
        ("add template --list", of_answer::<TemplatePacks>()),
        ("rename workload, rename target", of_answer::<RenameFields>()),
    ];
    answers.into_iter().map(|(title, fields)| (title.to_owned(), fields)).collect()
}

/// The fields of all counts: the numbers of reconcilers by state.
pub fn counts() -> Vec<AnswerField> {
    schema::Schemas::of_hub().fields("Counts", "")
}

fn owned(fields: &[(&str, &str)]) -> Vec<AnswerField> {
    fields.iter().map(|(field, meaning)| ((*field).to_owned(), (*meaning).to_owned())).collect()
}

/// Other output that commands generate themselves.
const COMMANDS: &[(&str, &[Described])] = &[
    ("render", RENDER),
    ("publish", PUBLISH),
    ("hub import", HUB_IMPORT),
    ("report OUT", REPORT_KEPT),
    ("rollout status WORKLOAD --status STATUS", LISTED),
    ("promote --dry-run", PROMOTE_DRY_RUN),
    ("simulate", SIMULATE),
    ("simulate --random", SIMULATE_RANDOM),
    ("drift KIND", LISTED),
];

/// A field that is described here.
type Described = (&'static str, &'static str);

/// An answer of the hub, or the rows of several pages.
struct HubAnswer {
    title: &'static str,
    /// The prefix of each field of the schema.
    prefix: &'static str,
    schema: &'static str,
    /// The fields that the command adds.
    more: &'static [Described],
}

const fn hub_answer(
    title: &'static str,
    (prefix, schema): (&'static str, &'static str),
    more: &'static [Described],
) -> HubAnswer {
    HubAnswer { title, prefix, schema, more }
}

const HUB: &[HubAnswer] = &[
    hub_answer("hub token create", ("", "CreatedToken"), &[]),
    hub_answer("hub token list", ("tokens[].", "Token"), &[]),
    hub_answer("hub token rotate", ("", "CreatedToken"), &[]),
    hub_answer("hub host list", ("hosts[].", "Host"), &[]),
    hub_answer("hub host apart", ("reports[].", "ApartReport"), &[]),
    hub_answer("report", ("", "Receipt"), &[]),
    hub_answer("status", ("", "Environments"), &[]),
    hub_answer("status -e ENV", ("items[].", "EnvironmentTarget"), MORE),
    hub_answer("deployments", ("items[].", "Deployment"), MORE),
    hub_answer("rollout status WORKLOAD", ("", "Rollout"), &[]),
    hub_answer("rollout status", ("environments[].", "PromotionStatus"), &[]),
    hub_answer("rollout advance", ("environments[].", "PromotionStatus"), &[]),
    hub_answer("rollout wait", ("", "Rollout"), &[]),
    hub_answer("rollout list", ("items[].", "ListedRollout"), MORE),
    hub_answer("hold, resume, abort, retry, skip, approve, rollback, promote", ("", "PromotionReceipt"), &[]),
    hub_answer("rollout restore", ("", "PromotionReceipt"), &[]),
    hub_answer("compare", ("items[].", "ComparedTarget"), COMPARED),
    hub_answer("history", ("items[].", "Event"), MORE),
    hub_answer("drift", ("", "Drift"), &[]),
    hub_answer("events", ("", "FleetChange"), FOLLOWED),
    hub_answer("hub rule list", ("rules[].", "RuleState"), &[]),
    hub_answer("hub audit", ("entries[].", "AuditEntry"), &[]),
];

const PROMOTE_DRY_RUN: &[Described] = &[
    ("moves[].subject", "the workload; null for a commit of the main branch"),
    ("moves[].revision", "the commit, or the release of the workload"),
    ("moves[].steps[].environment", "an environment on the way, in the order of promotion"),
    ("moves[].steps[].isDone", "whether it has the revision already, or a newer commit"),
    ("moves[].steps[].after[]", "the environments before it"),
    ("moves[].steps[].gates[]", "the gates that these must pass"),
    ("moves[].steps[].places", "how many clusters and cluster types it has"),
    ("moves[].steps[].rings[].name", "its rings, in their order"),
    ("moves[].steps[].rings[].places", "how many of its places are in the ring"),
];

const MORE: &[Described] = &[("more", "whether there are more than `--limit`")];

const COMPARED: &[Described] = &[
    ("from", "the one environment"),
    ("to", "the other"),
    ("more", "whether there are more than `--limit`"),
    ("values[]", "the values that differ between these targets; `null` without a control plane here"),
    ("values[].key", "the key"),
    ("values[].targets[]", "the targets for which it differs in this way: `WORKLOAD/TARGET`"),
    ("values[].from[]", "the values in the one environment, the most frequent one first"),
    ("values[].from[].value", "the value, or a digest of a sensitive one; `null`: these places have none"),
    ("values[].from[].sensitive", "whether it is sensitive"),
    ("values[].from[].places", "how many places have it"),
    ("values[].from[].examples[]", "the first of them"),
    ("values[].to[]", "the values in the other environment, in the same form"),
];

const FOLLOWED: &[Described] = &[("id", "the value for `--after`, which continues after the event")];

const LISTED: &[Described] =
    &[("items[]", "the same as `deployments` lists"), ("more", "whether there are more than `--limit`")];

/// The field of other output that holds a whole report.
pub const REPORT: &str = "report";

const RENDER: &[Described] = &[
    ("environment", "the environment"),
    ("tree", "the git tree id of the result"),
    ("assignments", "how many assignments there are"),
    ("recomputed", "assignments that no earlier run computed"),
    ("clusterTypes", "how many cluster types there are"),
    ("clusters", "how many clusters there are that are places of their own"),
    ("failed[]", "assignments that could not be rendered, as `CLUSTER_TYPE/TARGET`: the first 1,000"),
    ("failedCount", "how many these are"),
    ("files", "`null` with `--digest`"),
    ("files[].path", "a file of the result"),
    ("files[].id", "its git blob id"),
    ("report", "the diagnostics, as in `check -o json`; at most 1,000"),
];

const PUBLISH: &[Described] = &[
    ("environment", "the environment"),
    ("assignments", "how many assignments there are"),
    ("recomputed", "assignments that no earlier run computed"),
    ("notAdmitted[]", "what waits for its gates, as in `plan -o json`"),
    (
        "published[]",
        "one for each `GitOpsRepo`; before these, what was pushed before a step of promotions admitted more",
    ),
    ("published[].gitopsRepo", "its name"),
    (
        "published[].result",
        "`pushed`; `proposed`, if the proposing branch contains it already; `unchanged`, if there is nothing to do; `withdrawn`, if a needless proposing branch was removed; `declined`, if a person closed the pull request; `sent`, with `--hub-only`; `refused`",
    ),
    (
        "published[].pullRequest.result",
        "`opened`, `updated`, `unchanged`, `merged`, `closed`; `declined`, if a person closed it; `failed`. `pullRequest` is `null` without one",
    ),
    ("published[].pullRequest.number", "its number; `null` if it failed"),
    ("published[].pullRequest.url", "its page; `null` if it failed"),
    ("published[].pullRequest.autoMerge", "whether the git host merges it by itself"),
    ("published[].pullRequest.incomplete[]", "labels, reviewers or an automatic merge that could not be set"),
    ("published[].pullRequest.error", "the reason, if it failed"),
    ("published[].branch", "the branch that was pushed to; `null` if none was"),
    ("published[].commit", "the new commit; `null` if there is none"),
    (
        "published[].hub",
        "`sent`, if the hub accepted the publication; `failed`, if that was not possible; `null` without a hub, or if nothing changed for it",
    ),
    (
        "published[].confirmation.word",
        "the value that `--confirm` needs, or needed; `confirmation` is `null` if so little is removed that none is needed",
    ),
    ("published[].confirmation.removed", "how many folders are removed: those of assignments and of cluster types"),
    ("published[].confirmation.removals[]", "their paths in the GitOps repository"),
    ("published[].counts.changed", "assignments that change"),
    ("published[].counts.added", "assignments that are added"),
    ("published[].counts.renamed", "assignments that get another name: the folder moves"),
    ("published[].counts.removed", "assignments that are removed"),
    ("published[].counts.unchanged", "assignments that stay as they are"),
    (
        "published[].counts.held",
        "assignments that fail, and are held: rendered from an earlier publication, with a release pin",
    ),
    ("published[].counts.kept", "assignments that fail, and keep their last good output"),
    ("report", "the diagnostics, as in `check -o json`; at most 1,000"),
];

const HUB_IMPORT: &[Described] = &[
    ("files[].file", "a file, as it was named"),
    ("files[].error", "why the file is rejected as a whole; `null` if it is accepted"),
    ("files[].imported", "the result of its import; `null` if the file is rejected"),
    ("files[].imported.token", "the name of the token that signed it"),
    ("files[].imported.createdOn", "when it was begun, by the clock of its site"),
    ("files[].imported.reports", "how many reports it has"),
    ("files[].imported.stored", "reports that were added to the history"),
    ("files[].imported.confirmed", "reports that repeat the known state with a later time"),
    ("files[].imported.repeated", "reports that the hub had already"),
    (
        "files[].imported.apart",
        "reports that are kept apart and not counted: their hosts are not registered for their places",
    ),
    ("files[].imported.refused", "rejected reports"),
    ("files[].imported.refusals[].line", "the line of one of these: of the first 1,000"),
    ("files[].imported.refusals[].field", "the field that is wrong"),
    ("files[].imported.refusals[].message", "what is wrong with it"),
];

const SIMULATE: &[Described] = &[
    ("story[].seconds", "when it happened, in seconds since the start"),
    ("story[].place", "where: an environment with the workload; empty for an event of the timeline"),
    ("story[].kind", "the kind of the event: `event`, or a kind of event of a promotion, such as `ringDone`"),
    ("story[].text", "what happened"),
    ("expectations[].text", "the expectation as it is written"),
    ("expectations[].line", "its line in the scenario"),
    ("expectations[].isMet", "whether it was met; null if the simulation ended before"),
    ("expectations[].seconds", "when that was decided, in seconds since the start"),
    ("expectations[].found", "what was found instead; empty if it was met"),
    ("isGood", "whether all expectations were met"),
    ("seconds", "the end, in seconds since the start"),
];

const SIMULATE_RANDOM: &[Described] = &[
    ("walks", "the number of walks"),
    ("steps", "the number of steps of each"),
    ("decisions", "how many steps of the controller they had"),
    ("failure", "the walk that broke a rule; null if there is none"),
    ("failure.seed", "its seed"),
    ("failure.rule", "the rule"),
    ("failure.text", "what happened"),
    ("failure.scenario", "the walk as a scenario, with as few events as the search found"),
];

const REPORT_KEPT: &[Described] = &[
    ("file", "the signed file, as it was named"),
    ("added", "how many reports were added to it"),
    ("reports", "how many it has now"),
];
