//! The fields of the structured output of commands.

mod edits;
mod listing;
mod schema;

use self::schema::of_answer;
use crate::commands::{AssignmentFields, ContractFields, DescribeFields, OverviewFields, ValueFields, WhyNotFields};

/// The path of a field, and its meaning.
pub type Field = (String, String);

/// The fields of commands' output with `-o json`. `[]` stands for each item of a list. The fields inside of `report` are on the page of diagnostics.
///
/// Answers of the hub are described once, by their types: their fields are those of the hub's OpenAPI description.
pub fn answers() -> Vec<(String, Vec<Field>)> {
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
fn of_types() -> Vec<(String, Vec<Field>)> {
    let answers = [
        ("describe", of_answer::<DescribeFields>()),
        ("explain", of_answer::<AssignmentFields>()),
        ("explain KEY", of_answer::<ValueFields>()),
        ("explain NAME", of_answer::<OverviewFields>()),
        ("contract", of_answer::<ContractFields>()),
        ("why-not", of_answer::<WhyNotFields>()),
    ];
    answers.into_iter().map(|(title, fields)| (title.to_owned(), fields)).collect()
}

/// The fields of all counts: the numbers of reconcilers by state.
pub fn counts() -> Vec<Field> {
    schema::Schemas::of_hub().fields("Counts", "")
}

fn owned(fields: &[(&str, &str)]) -> Vec<Field> {
    fields.iter().map(|(field, meaning)| ((*field).to_owned(), (*meaning).to_owned())).collect()
}

/// Other output that commands generate themselves.
const COMMANDS: &[(&str, &[Described])] = &[
    ("render", RENDER),
    ("plan", PLAN),
    ("publish", PUBLISH),
    ("add, remove, rename, pin, unpin, config rollback", edits::EDIT),
    ("config history", edits::CONFIG_HISTORY),
    ("releases create, releases show", edits::RELEASE),
    ("releases list", edits::RELEASES),
    ("releases diff", edits::RELEASES_DIFF),
    ("add environment", edits::ENVIRONMENT),
    ("add template --list", edits::PACKS),
    ("add target, set target, remove target", edits::TARGET),
    ("rename workload", edits::RENAME),
    ("rename target", edits::RENAME),
    ("codeowners", CODEOWNERS),
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

const fn of(
    title: &'static str,
    (prefix, schema): (&'static str, &'static str),
    more: &'static [Described],
) -> HubAnswer {
    HubAnswer { title, prefix, schema, more }
}

const HUB: &[HubAnswer] = &[
    of("hub token create", ("", "CreatedToken"), &[]),
    of("hub token list", ("tokens[].", "Token"), &[]),
    of("hub token rotate", ("", "CreatedToken"), &[]),
    of("hub host list", ("hosts[].", "Host"), &[]),
    of("hub host apart", ("reports[].", "ApartReport"), &[]),
    of("report", ("", "Receipt"), &[]),
    of("status", ("", "Environments"), &[]),
    of("status -e ENV", ("items[].", "EnvironmentTarget"), MORE),
    of("deployments", ("items[].", "Deployment"), MORE),
    of("rollout status WORKLOAD", ("", "Rollout"), &[]),
    of("rollout status", ("environments[].", "PromotionStatus"), &[]),
    of("rollout advance", ("environments[].", "PromotionStatus"), &[]),
    of("rollout wait", ("", "Rollout"), &[]),
    of("rollout list", ("items[].", "ListedRollout"), MORE),
    of("hold, resume, abort, retry, skip, approve, rollback, promote", ("", "PromotionReceipt"), &[]),
    of("rollout restore", ("", "PromotionReceipt"), &[]),
    of("compare", ("items[].", "ComparedTarget"), COMPARED),
    of("history", ("items[].", "Event"), MORE),
    of("drift", ("", "Drift"), &[]),
    of("events", ("", "FleetChange"), FOLLOWED),
    of("hub rule list", ("rules[].", "RuleState"), &[]),
    of("hub audit", ("entries[].", "AuditEntry"), &[]),
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

const PLAN: &[Described] = &[
    ("environment", "the environment"),
    ("change", "what is compared, with `--commit`, `--patch` and `--working-tree`; `null` without them"),
    ("change.branch", "the branch that changes; `null` for a plain directory and for working trees"),
    ("change.from", "its commit before; `null` for a plain directory and for working trees"),
    ("change.to", "its commit after; `null` with `--patch` and `--working-tree`"),
    ("change.patch", "the patch, as it was named"),
    ("change.workingTrees[]", "the working trees that the environment is read from"),
    ("change.files[]", "the files that the patch names, or those with changes that are not committed"),
    ("plans[]", "one for each `GitOpsRepo`; with `--commit`, `--patch` and `--working-tree` one for all"),
    ("plans[].gitopsRepo", "its name, or what it was compared with instead"),
    ("plans[].branch", "the branch that was compared with: `REPOSITORY@BRANCH`, or the folder"),
    ("plans[].commit", "the commit of that branch; `null` for a folder"),
    ("plans[].tree", "the git tree id that the branch should have"),
    ("plans[].counts.changed", "assignments that change"),
    ("plans[].counts.added", "assignments that are added"),
    ("plans[].counts.renamed", "assignments that get another name: the folder moves"),
    ("plans[].counts.removed", "assignments that are removed"),
    ("plans[].counts.unchanged", "assignments that stay as they are"),
    ("plans[].counts.moved", "folders of cluster types that move, because the layout of the branch changes"),
    (
        "plans[].counts.held",
        "assignments that fail, and are held: rendered from an earlier publication, with a release pin",
    ),
    ("plans[].counts.kept", "assignments that fail, and keep their last good output"),
    ("plans[].counts.missing", "assignments that fail, and have no output yet"),
    (
        "plans[].counts.stillFailing",
        "assignments that fail before and after, with `--commit`, `--patch` and `--working-tree`: these do not read what was published of them",
    ),
    ("plans[].counts.unassigned", "deployment targets that are new, and that no policy assigns anywhere"),
    (
        "plans[].counts.selected",
        "assignments that change, and are selected by `--workload`, `--cluster-type` and `--selector`",
    ),
    (
        "plans[].groups[].kind",
        "`groups` has the rows of the text: one for all selected assignments with the same change for the same reason. `added`, `changed`, `renamed` or `removed`",
    ),
    (
        "plans[].groups[].workloads[]",
        "the workloads with this change, at most 100; of removed assignments whose workload is not known, the deployment targets",
    ),
    ("plans[].groups[].moreWorkloads", "how many workloads are not listed"),
    ("plans[].groups[].key", "the changed value; `null` if it is another change"),
    ("plans[].groups[].change", "the change in words, as in the text: `DATABASE_URL  a → b`; long values are cut"),
    (
        "plans[].groups[].because",
        "where the cause is: `control-plane@prod:configs/central.yaml:11`; `null` if it is not known. A label may have several places: then that of the first assignment",
    ),
    (
        "plans[].groups[].label",
        "the label of a cluster type, cluster or target that is the cause; `null` if it is another one",
    ),
    ("plans[].groups[].assignments", "how many assignments change so"),
    ("plans[].groups[].places", "on how many cluster types and clusters they are"),
    (
        "plans[].rollouts",
        "how far the rollout of each workload is, and what stays because a version of Kalypso is not admitted yet, in words; `null` if there is neither",
    ),
    ("plans[].needsConfirmation", "whether so much is removed that `publish --direct` needs `--confirm`"),
    (
        "plans[].confirmation.word",
        "the value for `--confirm`; `null` if it is compared with no branch. `confirmation` is `null` if none is needed",
    ),
    ("plans[].confirmation.removed", "how many folders are removed: those of assignments and of cluster types"),
    ("plans[].confirmation.removals[]", "their paths in the GitOps repository"),
    ("plans[].changes[].assignment", "`CLUSTER_TYPE/TARGET`"),
    ("plans[].changes[].kind", "`added`, `changed`, `renamed` or `removed`"),
    ("plans[].changes[].renamedFrom", "the name before, if the assignment is renamed"),
    ("plans[].changes[].workload", "its workload; `null` if it is not known"),
    ("plans[].changes[].values[].key", "the path of a value that changes"),
    ("plans[].changes[].values[].before", "the old value; `null` if it is added"),
    ("plans[].changes[].values[].after", "the new value; `null` if it is removed"),
    (
        "plans[].changes[].values[].items",
        "`null` for a value; for a list with more than 5 changes in it, which is one entry, how many items change",
    ),
    ("plans[].changes[].values[].items.added", "how many items are added"),
    ("plans[].changes[].values[].items.changed", "how many change"),
    ("plans[].changes[].values[].items.removed", "how many are removed"),
    (
        "plans[].changes[].values[].because",
        "where the reason is written, `REPOSITORY@BRANCH:FILE:LINE`: the value, or the label that has changed; may be `null`",
    ),
    ("plans[].changes[].values[].label", "the label that has changed, if that is the reason"),
    (
        "plans[].changes[].valuesSameAs",
        "the assignment whose `values` are the same, if they are many and listed there; else `null`",
    ),
    ("plans[].changes[].moreValues", "how many changes of values are not listed here"),
    ("plans[].changes[].reasons[]", "other reasons, in words"),
    ("plans[].changes[].files[].path", "a file that changes"),
    ("plans[].changes[].files[].kind", "`added`, `changed` or `removed`"),
    ("plans[].changes[].files[].before", "its git blob id before; `null` if it is added"),
    ("plans[].changes[].files[].after", "its git blob id after; `null` if it is removed"),
    ("plans[].changes[].files[].diff", "the difference, with `--diff`"),
    ("plans[].otherFiles[]", "files that belong to no assignment, with the same fields"),
    ("plans[].otherFiles[].path", ""),
    ("plans[].otherFiles[].kind", ""),
    ("plans[].otherFiles[].before", ""),
    ("plans[].otherFiles[].after", ""),
    ("plans[].otherFiles[].diff", ""),
    ("plans[].truncated", "`null` if everything is listed"),
    ("plans[].truncated.groups", "how many groups are not listed; the same for the other lists"),
    ("plans[].truncated.changes", ""),
    ("plans[].truncated.otherFiles", ""),
    ("plans[].truncated.held", ""),
    ("plans[].truncated.kept", ""),
    ("plans[].truncated.missing", ""),
    ("plans[].truncated.stillFailing", ""),
    ("plans[].truncated.adopted", ""),
    ("plans[].truncated.help", "how to see them"),
    ("plans[].held[]", "the assignments that fail and are held"),
    ("plans[].held[].assignment", ""),
    ("plans[].held[].from", "the publication from whose commits it is rendered"),
    ("plans[].held[].pins[]", "the release pins that are applied; empty if no pin holds it any more"),
    ("plans[].kept[]", "the assignments that keep their last good output"),
    ("plans[].missing[]", "the assignments that have no output yet"),
    ("plans[].stillFailing[]", "the assignments that fail before and after"),
    (
        "plans[].relocation",
        "the move of all folders to another path, because the `path` of the `GitOpsRepo` changed: `from`, `to` (both may be empty: the root), and `folders` (how many move); `null` if the path stays",
    ),
    (
        "plans[].adopted[]",
        "the folders that `--adopt` takes over: `clusterType` (the cluster type or cluster), and `files` (its removed and replaced files, with the fields of `otherFiles`)",
    ),
    ("plans[].unassigned[]", "the new deployment targets that no policy assigns anywhere"),
    (
        "notAdmitted[]",
        "what waits for its gates: `source` (`main`, `values`, `values/NAME`, `application/NAME`, or the workload of a release), `revision`, `admitted` (what the output has instead), `waitsFor` (`people`, `clock` or `evidence`; a person must act for `people`), and the open `gates` with `name`, `since` and `text`",
    ),
    ("stats.assignments", "how many assignments there are"),
    ("stats.recomputed", "assignments that neither the other side nor an earlier run computed"),
    ("stats.matches", "`ConfigMap`s and schemas that were examined for a match"),
    ("stats.compositions", "different sets of values that were composed"),
    ("stats.checks", "sets of values that were checked, each by one schema"),
    ("stats.renderings", "assignments whose templates were rendered"),
    ("stats.trees", "folders of cluster types and clusters whose git tree id was computed"),
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

const CODEOWNERS: &[Described] = &[
    ("repository", "the repository"),
    ("branch", "its branch"),
    ("rules[].pattern", "the files, in the notation of the git host; later rules override earlier ones"),
    ("rules[].owners[]", "their owners"),
    ("rules[].reasons[]", "the objects that name the owners, with their files"),
    ("warnings[]", "owners without effect, and limits that the limited team can change"),
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
