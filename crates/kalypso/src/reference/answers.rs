//! The fields of the structured output of commands.

mod listing;
mod schema;

use application::explain::ExplainedTarget;
use hub_api::compiled::{ContractFields, ExplainedAssignment, ExplainedValue, WhyNotFields};
use workbench::answers::branch_edit::BranchEditFields;
use workbench::answers::codeowners::CodeOwnersFields;
use workbench::answers::compare::EnvironmentComparison;
use workbench::answers::config_history::ConfigHistoryFields;
use workbench::answers::describe::Descriptions;
use workbench::answers::explain::NameOverviews;
use workbench::answers::new_environment::NewEnvironmentFields;
use workbench::answers::plan::EnvironmentPlans;
use workbench::answers::publish::EnvironmentPublication;
use workbench::answers::releases::{ReleaseDifferences, ReleaseFields, ReleaseList};
use workbench::answers::rename::RenameFields;
use workbench::answers::render::RenderedEnvironment;
use workbench::answers::target_edit::{NewWorkloadFields, TargetEditFields};
use workbench::answers::template_packs::TemplatePacks;

use self::schema::of_answer;
use crate::commands::app::{
    ApplicationDeployment, ApplicationDifference, ApplicationImages, ApplicationReleases, ApplicationStatus,
    RenderedApplication, ServiceUpdates,
};
use crate::commands::promotion::dry_run::PlannedMoves;
use crate::commands::report::signed::ExtendedFile;
use crate::commands::simulate::{SimulatedScenario, SimulatedWalks};

/// The path of a field, and its meaning.
pub type AnswerField = (String, String);

/// The fields of commands' output with `-o json`. `[]` stands for each item of a list. The fields inside of `report` are on the page of diagnostics.
///
/// Answers of the hub are described once, by their types: their fields are those of the hub's OpenAPI description.
pub fn answers() -> Vec<(String, Vec<AnswerField>)> {
    let schemas = schema::Schemas::of_hub();
    let of_commands = COMMANDS.iter().map(|(title, fields)| ((*title).to_owned(), owned(fields)));
    let of_hub = HUB.iter().map(|(title, (prefix, schema), more)| {
        ((*title).to_owned(), [schemas.fields(schema, prefix), owned(more)].concat())
    });
    of_types().into_iter().chain(of_commands).chain(listing::lists()).chain(of_hub).collect()
}

/// The output that commands generate themselves, whose fields are those of a type or of another answer.
fn of_types() -> Vec<(String, Vec<AnswerField>)> {
    let answers = [
        ("render", of_answer::<RenderedEnvironment>()),
        ("publish", of_answer::<EnvironmentPublication>()),
        ("plan", of_answer::<EnvironmentPlans>()),
        ("describe", of_answer::<Descriptions>()),
        ("explain", of_answer::<ExplainedAssignment>()),
        ("explain KEY", of_answer::<ExplainedValue>()),
        ("explain NAME", of_answer::<NameOverviews>()),
        ("contract", of_answer::<ContractFields>()),
        ("why-not", of_answer::<WhyNotFields>()),
        ("compare", of_answer::<EnvironmentComparison>()),
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
        ("report OUT", of_answer::<ExtendedFile>()),
        ("promote --dry-run", of_answer::<PlannedMoves>()),
        ("simulate", of_answer::<SimulatedScenario>()),
        ("simulate --random", of_answer::<SimulatedWalks>()),
        ("app render", of_answer::<RenderedApplication>()),
        ("app explain", of_answer::<ExplainedTarget>()),
        ("app images", of_answer::<ApplicationImages>()),
        ("app diff", of_answer::<ApplicationDifference>()),
        ("app deploy", of_answer::<ApplicationDeployment>()),
        ("app release list, app release show", of_answer::<ApplicationReleases>()),
        ("app status", of_answer::<ApplicationStatus>()),
        ("app update", of_answer::<ServiceUpdates>()),
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
const COMMANDS: &[(&str, &[Described])] =
    &[("hub import", HUB_IMPORT), ("rollout status WORKLOAD --status STATUS", LISTED), ("drift KIND", LISTED)];

/// A field that is described here.
type Described = (&'static str, &'static str);

/// An answer of the hub, or the rows of several pages: its title, its schema with the prefix of each field, and the fields that the command adds.
type HubAnswer = (&'static str, (&'static str, &'static str), &'static [Described]);

const HUB: &[HubAnswer] = &[
    ("hub token create", ("", "CreatedToken"), &[]),
    ("hub token list", ("tokens[].", "Token"), &[]),
    ("hub token rotate", ("", "CreatedToken"), &[]),
    ("hub host list", ("hosts[].", "Host"), &[]),
    ("hub host apart", ("reports[].", "ApartReport"), &[]),
    ("report", ("", "Receipt"), &[]),
    ("status", ("", "Environments"), &[]),
    ("status -e ENV", ("items[].", "EnvironmentTarget"), MORE),
    ("deployments", ("items[].", "Deployment"), MORE),
    ("rollout status WORKLOAD", ("", "Rollout"), &[]),
    ("rollout status", ("environments[].", "PromotionStatus"), &[]),
    ("rollout advance", ("environments[].", "PromotionStatus"), &[]),
    ("rollout wait", ("", "Rollout"), &[]),
    ("rollout list", ("items[].", "ListedRollout"), MORE),
    ("hold, resume, abort, retry, skip, approve, rollback, promote", ("", "PromotionReceipt"), &[]),
    ("rollout restore", ("", "PromotionReceipt"), &[]),
    ("history", ("items[].", "Event"), MORE),
    ("drift", ("", "Drift"), &[]),
    ("events", ("", "FleetChange"), FOLLOWED),
    ("hub rule list", ("rules[].", "RuleState"), &[]),
    ("hub audit", ("entries[].", "AuditEntry"), &[]),
];

const MORE: &[Described] = &[("more", "whether there are more than `--limit`")];

const FOLLOWED: &[Described] = &[("id", "the value for `--after`, which continues after the event")];

const LISTED: &[Described] =
    &[("items[]", "the same as `deployments` lists"), ("more", "whether there are more than `--limit`")];

/// The field of other output that holds a whole report.
pub const REPORT: &str = "report";

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
