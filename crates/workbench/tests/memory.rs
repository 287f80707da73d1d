//! Asks questions about environments, plans an edit and proposes it, through this crate alone, on repositories in memory.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::sync::Arc;

use delivery::access::{ControlPlaneSettings, RepositoryAccess, SharedRepositories, StateKeys};
use delivery::output::compilation::{CompiledEnvironment, KnownResults};
use delivery::output::planned::{Planned, planned_targets};
use delivery::reading::ReadAt;
use engine::compile::{Compiled, Prepared};
use engine::output::Adoption;
use git::{Commit, Edits, MemoryRepositories, Person, Push, Repositories, RepositoryUrl, Revision};
use hub_api::compare::{ComparedSide, ComparedTarget};
use model::diagnostic::AssignmentId;
use model::locate::Locator;
use model::name::{DeploymentTargetName, EnvironmentName, PlaceName};
use model::progress::Progress;
use model::rollout::EnvironmentOrder;
use model::tree::Tree;
use serde_json::json;
use workbench::answers::compare::ValueDifference;
use workbench::answers::describe::{DescribedEnvironment, DescribedObject, DescriptionFields};
use workbench::answers::explain::{AssignmentFacts, explained_assignment, explained_value};
use workbench::answers::plan::{EnvironmentPlans, PlanSelection, PlanView, PlannedEnvironment, plan_diagnostics};
use workbench::answers::rename::RenameFields;
use workbench::branch::{BranchOf, ControlPlaneBranch, EditComparison, EditPlace, EditResult, NewProposal};
use workbench::diagnostics::{DiagnosticBatch, DiagnosticReport, Fallback};
use workbench::joint_rename::{JointRename, RenameRequest, Renamed};
use workbench::listing::filter::{FilterOptions, ListConditions};
use workbench::listing::kind::ListedKind;
use workbench::listing::object::objects;
use workbench::listing::rows::{columns_of, row};
use workbench::listing::view::View;
use workbench::releases;
use workbench::states::{self, ControlPlaneState};
use workbench::{EnvironmentSource, Failure};

const URL: &str = "https://git.example/acme/control-plane";
const GITOPS_URL: &str = "https://git.example/acme/gitops";

const ENVIRONMENT: &str = "
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Environment
metadata: {name: dev}
spec: {controlPlane: {repo: 'https://git.example/acme/control-plane', branch: dev, path: .}}
";

const PLATFORM: &str = "
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {name: edge, labels: {region: west}}
spec: {reconciler: any, namespaceService: any, configType: values}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: SchedulingPolicy
metadata: {name: all}
spec:
  deploymentTargetSelector: {labelSelector: {matchLabels: {purpose: test}}}
  clusterTypeSelector: {labelSelector: {matchLabels: {region: west}}}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: any}
spec: {type: reconciler, manifests: ['a: 1']}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: values}
spec: {type: config, manifests: ['{{ toYaml .ConfigData }}']}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata: {name: shop}
spec:
  deploymentTargets:
    - name: shop-web
      labels: {purpose: test}
      environment: dev
      manifests: {repo: 'https://git.example/acme/shop', branch: main, path: .}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: GitOpsRepo
metadata: {name: gitops}
spec: {repo: 'https://git.example/acme/gitops', branch: dev, path: .}
";

/// A control plane in memory, with environment `dev`.
struct ControlPlane {
    repositories: Arc<MemoryRepositories>,
    access: Arc<RepositoryAccess>,
}

impl ControlPlane {
    fn new() -> Self {
        let repositories = Arc::new(MemoryRepositories::default());
        let repo = RepositoryUrl::from_configuration(URL).unwrap();
        repositories.create(&repo);
        repositories.create(&RepositoryUrl::from_configuration(GITOPS_URL).unwrap());
        push(&repositories, "main", (".environments/dev.yaml", ENVIRONMENT));
        push(&repositories, "dev", ("platform.yaml", PLATFORM));
        let settings = ControlPlaneSettings {
            repo,
            branch: "main".to_owned(),
            environment_order: EnvironmentOrder::default(),
            git: git::Settings::new(""),
            acknowledgements: Arc::default(),
            state_keys: StateKeys::default(),
        };
        let shared = Arc::clone(&repositories) as SharedRepositories;
        let access = Arc::new(RepositoryAccess::with(settings, shared, Progress::default()));
        Self { repositories, access }
    }

    fn source(&self) -> EnvironmentSource {
        EnvironmentSource::ControlPlane(Arc::clone(&self.access))
    }

    fn dev(&self) -> ControlPlaneBranch {
        let name = EnvironmentName::new("dev").unwrap();
        ControlPlaneBranch::open(&self.access, BranchOf::Environment(&name), EditPlace::Head).unwrap()
    }

    fn head(&self, branch: &str) -> Commit {
        self.repositories.resolve(&self.access.settings.repo, &Revision::branch(branch)).unwrap()
    }
}

fn push(repositories: &MemoryRepositories, branch: &str, (path, text): (&str, &str)) {
    let url = &RepositoryUrl::from_configuration(URL).unwrap();
    let mut tree = Tree::default();
    tree.write(path, text.as_bytes());
    let author = Person { name: "Ann".to_owned(), email: "ann@example.com".to_owned() };
    let (open, message) = (&model::tree::closed, "Begin");
    let commit = git::NewCommit { parents: &[], tree: &tree, open, message, author: &author, seconds: 0, signer: None };
    let progress = &Progress::default();
    repositories.push(url, &Push { branch, expected: None, commit: Some(commit), progress }).unwrap();
}

/// A `ConfigMap` with one value, as a new file.
fn config(name: &str, data: &str) -> Edits {
    let text = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, labels: {{platform-config: 'true'}}}}\ndata: {data}\n"
    );
    [("configs/new.yaml".into(), Some(text.as_bytes().into()))].into_iter().collect()
}

#[test]
fn rows_have_the_fields_and_cells_of_their_kind() {
    let plane = ControlPlane::new();
    let loaded = plane.source().environment("dev", ReadAt::Heads).unwrap();
    let prepared = Prepared::new(&loaded.fleet);
    let mut view = View::new(&loaded, &prepared);
    let listed: Vec<_> = objects(ListedKind::ClusterType, &prepared).collect();
    let row = row(&listed[0], &mut view);
    assert_eq!(
        row.cells,
        ["edge", "any", "values", "0", "1", "any", "region=west", "control-plane@dev:platform.yaml:4"]
    );
    let columns = columns_of(ListedKind::ClusterType);
    assert_eq!(row.cells.len(), columns.always.len() + columns.wide.len());
    assert_eq!((&row.json["reconciler"], &row.json["ownAssignments"]), (&json!("any"), &json!(1)));
    assert_eq!((&row.json["name"], &row.json["place"]["line"]), (&json!("edge"), &json!(4)));
}

#[test]
fn unknown_names_of_a_filter_get_a_suggestion() {
    let plane = ControlPlane::new();
    let loaded = plane.source().environment("dev", ReadAt::Heads).unwrap();
    let prepared = Prepared::new(&loaded.fleet);
    let options = FilterOptions { of: Some("shopp".to_owned()), ..FilterOptions::default() };
    let filter = ListConditions::new(options, ListedKind::Assignment).unwrap();
    let Failure { message, help, .. } = filter.unknown(&[View::new(&loaded, &prepared)]).unwrap();
    assert_eq!(message, "dev has no workload or deployment target `shopp`");
    assert_eq!(help.unwrap(), "did you mean `shop`?");
}

#[test]
fn edits_are_compared_and_proposed_without_a_working_tree() {
    let plane = ControlPlane::new();
    let (dev, edits) = (plane.dev(), config("common", "{COLOR: red}"));
    let changes = dev.changes(&edits);
    let comparison = EditComparison::new(&changes.changed[0], KnownResults::new(None), &Progress::default()).unwrap();
    assert_eq!(comparison.new_errors(), []);
    assert_eq!(comparison.planned().plan.changes.len(), 1);
    let before = plane.head("dev").id;
    let text = NewProposal {
        edits: &edits,
        branch: "add/config-common",
        title: "Add config common",
        body: &|_| String::new(),
    };
    let proposed = dev.propose(text, None).unwrap();
    assert_eq!((proposed.base.as_str(), plane.head("dev").id), ("dev", before));
    let head = plane.head("add/config-common");
    assert_eq!(head.id, proposed.change.commit);
    // The proposal is a state that can be read, before it is merged.
    let dev = EnvironmentName::new("dev").unwrap();
    let read = states::read(&plane.source(), ControlPlaneState::Commit("add/config-common"), Some(&dev)).unwrap();
    assert!(read[0].fleet.config_maps.contains_key("common"));
}

#[test]
fn edits_with_errors_name_them_before_anything_is_pushed() {
    let plane = ControlPlane::new();
    let changes = plane.dev().changes(&config("common", "{COLOR: [}"));
    let comparison = EditComparison::new(&changes.changed[0], KnownResults::new(None), &Progress::default()).unwrap();
    let codes: Vec<_> = comparison.new_errors().iter().map(|error| error.code.id()).collect();
    assert_eq!(codes, ["K0101"]);
}

/// Everything can be read in these tests.
fn no_warning(text: &str) {
    assert_eq!(text, "");
}

#[test]
fn a_plan_against_the_published_output_has_its_counts_and_its_report() {
    let plane = ControlPlane::new();
    let loaded = plane.source().for_publication("dev", None).unwrap();
    let mut known = KnownResults::new(None);
    let compiled = Arc::new(known.compile(&loaded, &Progress::default(), None));
    let destination = planned_targets(&loaded, None, None).unwrap().remove(0);
    let environment = CompiledEnvironment { compiled: &compiled, known: &mut known };
    let planned = Planned::new(&loaded, environment, destination, &Adoption::Nothing).unwrap();
    let diagnostics = plan_diagnostics(&loaded, &planned, &[]);
    let mut report = DiagnosticReport::new();
    let batch = DiagnosticBatch::of_compiled(&diagnostics, &compiled);
    report.add_problems(&loaded, DiagnosticBatch { fallback: Fallback::of_plan(&planned), ..batch });
    let selection = PlanSelection { limit: Some(0), ..PlanSelection::default() };
    let of = PlannedEnvironment { loaded: &loaded, compiled: &compiled, change: None, not_admitted: &[] };
    let plans = json!(EnvironmentPlans::new(of, &[selection.view(&planned)], false, &report).unwrap());
    let plan = &plans["plans"][0];
    assert_eq!((&plan["counts"]["added"], &plan["changes"]), (&json!(1), &json!([])));
    assert_eq!((&plan["gitopsRepo"], &plan["truncated"]["changes"]), (&json!("gitops"), &json!(1)));
    assert_eq!((&plans["stats"]["assignments"], &plans["report"]["summary"]["errors"]), (&json!(1), &json!(0)));
}

#[test]
fn a_plan_of_an_edit_has_the_values_and_lines_that_change() {
    let plane = ControlPlane::new();
    let changes = plane.dev().changes(&config("common", "{COLOR: red}"));
    let change = &changes.changed[0];
    let comparison = EditComparison::new(change, KnownResults::new(None), &Progress::default()).unwrap();
    let (loaded, compiled) = (comparison.loaded(), comparison.compiled());
    let of = PlannedEnvironment { loaded, compiled, change: Some(change), not_admitted: &[] };
    let view = PlanView::whole(comparison.planned());
    let plans = json!(EnvironmentPlans::new(of, &[view], true, &DiagnosticReport::new()).unwrap());
    assert_eq!(plans["change"]["files"], json!(["configs/new.yaml"]));
    let changed = &plans["plans"][0]["changes"][0];
    assert_eq!((&changed["assignment"], &changed["kind"]), (&json!("edge/shop-shop-web"), &json!("changed")));
    let value = &changed["values"][0];
    assert_eq!((&value["key"], &value["before"], &value["after"]), (&json!("COLOR"), &json!(null), &json!("\"red\"")));
    let diff = changed["files"][0]["diff"].as_str().unwrap();
    assert!(diff.contains("\n+COLOR: red\n"), "{diff}");
}

#[test]
fn an_explanation_names_the_policy_and_the_source_of_each_value() {
    let plane = ControlPlane::new();
    let changes = plane.dev().changes(&config("common", "{COLOR: red}"));
    let loaded = &*changes.changed[0].new;
    let prepared = Prepared::new(&loaded.fleet);
    let place = PlaceName::new("edge").unwrap();
    let id = AssignmentId { place, target: DeploymentTargetName::new("shop-shop-web").unwrap() };
    let facts = AssignmentFacts::find(loaded, &prepared, &id, &no_warning).unwrap();
    let mut locator = Locator::new(&loaded.fleet);
    let answer = json!(explained_assignment(&facts, &mut locator));
    assert_eq!((&answer["workload"], &answer["policies"][0]["policy"]), (&json!("shop"), &json!("all")));
    let reason = prepared.explain_value(&id, "COLOR").unwrap();
    let value = json!(explained_value(&reason, &mut locator));
    assert_eq!(value["setBy"], answer["values"][0]["setBy"]);
    assert_eq!((&value["value"], &value["setBy"]["configMap"]), (&json!("\"red\""), &json!("common")));
    assert_eq!(value["endsUpIn"][0]["file"], "platform-config.yaml");
}

#[test]
fn a_description_says_what_an_object_reaches_and_what_reaches_it() {
    let plane = ControlPlane::new();
    let loaded = plane.source().environment("dev", ReadAt::Heads).unwrap();
    let compiled = Compiled::new(&loaded.fleet);
    let mut environment = DescribedEnvironment::new(&loaded, &compiled, &no_warning);
    let (kind, listed) = (ListedKind::ClusterType, objects(ListedKind::ClusterType, compiled.prepared()).next());
    let description = environment.describe(DescribedObject { kind, listed: listed.unwrap() });
    let answer = json!(DescriptionFields::new(description, &mut environment.view));
    assert_eq!((&answer["name"], &answer["fields"]["reconciler"]), (&json!("edge"), &json!("any")));
    assert_eq!((&answer["reaches"]["assignments"], &answer["reachedBy"][0]["name"]), (&json!(1), &json!("all")));
    assert_eq!((&answer["rollouts"], &answer["clusterNames"]), (&json!([]), &json!([])));
    assert_eq!(answer["report"]["summary"]["errors"], 0);
}

#[test]
fn a_comparison_has_the_values_that_differ_between_two_states() {
    let plane = ControlPlane::new();
    let changes = plane.dev().changes(&config("common", "{COLOR: red}"));
    let change = &changes.changed[0];
    let side = Some(ComparedSide { target: "shop-web".to_owned(), ..ComparedSide::default() });
    let (from, to, workload) = (side.clone(), side, "shop".to_owned());
    let row = ComparedTarget { workload, from, to, ..ComparedTarget::default() };
    let found = json!(ValueDifference::find([&change.old, &change.new], &[row]));
    assert_eq!((&found[0]["key"], &found[0]["targets"]), (&json!("COLOR"), &json!(["shop/shop-web"])));
    let red = json!({"value": "\"red\"", "sensitive": false, "places": 1, "examples": ["edge"]});
    assert_eq!(found[0]["to"], json!([red]));
}

/// The request to rename a workload to `store`, by a proposal.
fn renamed_to_store<'a>(plane: &'a ControlPlane, workload: &'a str) -> RenameRequest<'a> {
    RenameRequest {
        access: &plane.access,
        note: &no_warning,
        workload,
        what: Renamed::Workload,
        names: (workload, "store"),
        checkout: None,
        working_tree: None,
        is_proposed: true,
        is_dry_run: false,
    }
}

#[test]
fn a_rename_is_proposed_in_the_branch_that_names_the_workload() {
    let plane = ControlPlane::new();
    let rename = JointRename::new(renamed_to_store(&plane, "shop")).unwrap().unwrap();
    let done = rename.propose("Rename shop to store", &[], None).unwrap();
    let [EditResult::Proposed(proposed)] = &*done else { panic!("one branch names the workload") };
    assert_eq!(
        (proposed.base.as_str(), plane.head("rename/dev-workload-shop-to-store").id),
        ("dev", proposed.change.commit)
    );
    let answer = json!(RenameFields::new(&rename, &[], &done).unwrap());
    assert_eq!((&answer["objects"][0]["old"], &answer["objects"][0]["new"]), (&json!("shop"), &json!("store")));
    assert_eq!((&answer["branches"][0]["branch"], &answer["isWritten"]), (&json!("dev"), &json!(false)));
    let dev = EnvironmentName::new("dev").unwrap();
    let branch = ControlPlaneState::Commit("rename/dev-workload-shop-to-store");
    let read = states::read(&plane.source(), branch, Some(&dev)).unwrap();
    assert!(read[0].fleet.workloads.contains_key("store") && !read[0].fleet.workloads.contains_key("shop"));
}

#[test]
fn a_workload_that_does_not_exist_is_not_renamed() {
    let plane = ControlPlane::new();
    let Err(error) = JointRename::new(renamed_to_store(&plane, "shopp")) else { panic!("there is no such workload") };
    assert_eq!(error.to_string(), "there is no workload `shopp`");
}

#[test]
fn a_release_is_made_once_and_found_by_its_name() {
    let plane = ControlPlane::new();
    let loaded = plane.source().environment("dev", ReadAt::Heads).unwrap();
    let compiled = Compiled::new(&loaded.fleet);
    let release = releases::of_environment(&plane.access, "spring", (&loaded, &compiled));
    assert!(releases::make(&plane.access, &release).unwrap());
    assert!(!releases::make(&plane.access, &release).unwrap());
    let found = releases::find(&plane.access, "spring").unwrap();
    assert_eq!(releases::differences(&release, &found), []);
    let names: Vec<_> = releases::list(&plane.access, &no_warning).unwrap().into_iter().map(|one| one.name).collect();
    assert_eq!(names, ["spring".into()]);
    let Failure { message, help, .. } = releases::find(&plane.access, "sprng").unwrap_err();
    assert_eq!((message.as_str(), help.as_deref()), ("there is no release `sprng`", Some("did you mean `spring`?")));
}
