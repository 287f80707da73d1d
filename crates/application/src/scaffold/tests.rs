//! Tests of the files of new applications: each configuration file is parsed, and means what was asked.

use std::fs;

use authoring::scaffold::NewFile;

use super::answers::{AnswerError, GivenAnswers};
use super::branches::{BranchAuthor, BranchCompletion, complete};
use super::found::FoundApplication;
use super::plan::{ApplicationPlan, PlanError, RequiredBranch};
use super::source::NewSourceKind;
use crate::settings::{DeliveryMode, FILE_NAME, PatternNames, SourceKind};

/// A folder with files.
struct Folder(tempfile::TempDir);

const WORKLOAD: &str = "\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata: {name: shop}
spec:
  deploymentTargets:
  - {name: eu, environment: dev, manifests: {repo: 'https://git.example/acme/m', branch: dev, path: ./eu/shop}}
  - {name: us, environment: dev, manifests: {repo: 'https://git.example/acme/m', branch: dev, path: us}}
  - {name: eu, environment: stage, manifests: {repo: 'https://git.example/acme/m', branch: stage, path: eu}}
";

impl Folder {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        files.iter().for_each(|(path, text)| folder.write(path, text));
        folder
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn plan(&self, given: &GivenAnswers) -> Result<ApplicationPlan, String> {
        let found = FoundApplication::read(self.0.path()).unwrap();
        ApplicationPlan::new(given, &found).map_err(|error| match error {
            PlanError::Answer(error) => error.to_string(),
            PlanError::Settings(problems) => panic!("{problems:?}"),
        })
    }

    /// Writes the files of a plan.
    fn make(&self, plan: &ApplicationPlan) {
        plan.files.iter().for_each(|file| self.write(&file.path, &file.text));
    }
}

fn given() -> GivenAnswers {
    GivenAnswers { folder_name: "shop".to_owned(), workspace: Some("store-team".to_owned()), ..GivenAnswers::default() }
}

fn texts(all: &[&str]) -> Vec<String> {
    all.iter().map(|text| (*text).to_owned()).collect()
}

fn paths(plan: &ApplicationPlan) -> Vec<&str> {
    plan.files.iter().map(|file| file.path.as_str()).collect()
}

fn text<'p>(plan: &'p ApplicationPlan, path: &str) -> &'p str {
    plan.files.iter().find(|file| file.path == path).map_or("", |file| &file.text)
}

#[test]
fn an_empty_folder_gets_a_chart() {
    let plan = Folder::with(&[]).plan(&given()).unwrap();
    let expected = [
        "workload/workload.yaml",
        "chart/templates/deployment.yaml",
        "chart/templates/service.yaml",
        "chart/values.yaml",
        "chart/Chart.yaml",
        "values/dev/values.yaml",
        "values/dev/shop/values.yaml",
        FILE_NAME,
    ];
    assert_eq!(paths(&plan), expected);
    let settings = &plan.settings;
    assert_eq!((settings.workspace.as_str(), settings.source.folder.as_str()), ("store-team", "chart"));
    assert_eq!(
        (settings.gitops.repo.as_str(), settings.source.kind.clone()),
        ("../shop-gitops.git", SourceKind::Chart)
    );
    assert_eq!(settings.environments[0].delivery, DeliveryMode::Push);
    assert_eq!(settings.variables["IMAGE"].text, "registry.example/shop:${IMAGE_TAG}");
    assert!(text(&plan, "workload/workload.yaml").contains("repo: https://git.example/platform/shop-gitops\n"));
    assert!(text(&plan, "chart/templates/deployment.yaml").contains("name: platform-config\n"));
    assert_eq!((plan.configs, plan.gitops.branches[0].name.as_str()), (None, "dev"));
}

#[test]
fn answers_are_in_the_configuration() {
    let answers = GivenAnswers {
        workload: Some("till".to_owned()),
        environments: texts(&["dev", "stage"]),
        targets: texts(&["eu/till", "us"]),
        configs: Some("https://git.example/acme/till-configs".to_owned()),
        gitops: Some("https://git.example/acme/till-gitops".to_owned()),
        ..given()
    };
    let plan = Folder::with(&[]).plan(&answers).unwrap();
    let names: Vec<_> = plan.settings.environments.iter().map(|one| (one.name.as_str(), one.delivery)).collect();
    assert_eq!(names, [("dev", DeliveryMode::PullRequest), ("stage", DeliveryMode::PullRequest)]);
    assert_eq!(plan.settings.values.branch.as_ref().unwrap().as_str(), "{environment}");
    let configs = plan.configs.as_ref().unwrap();
    let files = |index: usize| configs.branches[index].files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>();
    assert_eq!(
        (configs.branches[1].name.as_str(), files(1)),
        ("stage", vec!["values.yaml", "eu/till/values.yaml", "us/values.yaml"])
    );
    let workload = text(&plan, "workload/workload.yaml");
    let target = "    - name: eu-till\n      environment: stage\n      manifests:\n        repo: https://git.example/acme/till-gitops\n        branch: stage\n        path: ./eu/till\n";
    assert!(workload.contains(target), "{workload}");
    assert!(!paths(&plan).iter().any(|path| path.starts_with("values/")));
}

#[test]
fn the_targets_of_a_workload_are_taken() {
    let folder = Folder::with(&[("workload/workload.yaml", WORKLOAD), ("deploy/chart/Chart.yaml", "name: shop\n")]);
    let plan = folder.plan(&GivenAnswers { folder_name: "Some Folder".to_owned(), ..given() }).unwrap();
    let expected = [
        "values/dev/values.yaml",
        "values/dev/eu/shop/values.yaml",
        "values/dev/us/values.yaml",
        "values/stage/values.yaml",
        "values/stage/eu/values.yaml",
        FILE_NAME,
    ];
    assert_eq!((paths(&plan), plan.workload.as_str()), (expected.to_vec(), "shop"));
    assert_eq!(plan.settings.source.folder, "deploy/chart");
    assert_eq!(plan.other_gitops.as_deref(), Some("https://git.example/acme/m"));
    assert!(plan.settings.variables.is_empty(), "the chart has its own image");
    let only = folder.plan(&GivenAnswers { environments: texts(&["stage"]), ..given() }).unwrap();
    assert_eq!(only.settings.environments.len(), 1);
}

#[test]
fn environments_can_be_folders_of_one_branch() {
    let text = WORKLOAD.replace("branch: dev", "branch: main").replace("branch: stage", "branch: main");
    let text =
        text.replace("./eu/shop", "dev/eu").replace("path: us", "path: dev/us").replace("path: eu", "path: stage/eu");
    let plan = Folder::with(&[("workload.yaml", &text)]).plan(&given()).unwrap();
    let gitops = &plan.settings.gitops;
    let names = PatternNames { environment: "stage", ..PatternNames::default() };
    assert_eq!((gitops.branch.text(names), gitops.path.text(names)), ("main".to_owned(), "stage".to_owned()));
    assert!(
        paths(&plan).contains(&"values/dev/us/values.yaml") && paths(&plan).contains(&"values/stage/eu/values.yaml")
    );
    assert_eq!((plan.gitops.branches.len(), plan.settings.workload.as_str()), (1, "workload.yaml"));
}

#[test]
fn the_layout_of_microsoft_has_its_names() {
    let answers = GivenAnswers { is_like_microsoft: true, environments: texts(&["dev", "stage"]), ..given() };
    let plan = Folder::with(&[]).plan(&answers).unwrap();
    let settings = &plan.settings;
    assert_eq!(settings.values.repo.as_deref(), Some("../shop-configs"));
    assert_eq!((settings.gitops.repo.as_str(), settings.source.folder.as_str()), ("../shop-gitops.git", "helm"));
    let names = PatternNames { environment: "dev", commit: "4fb8c44", ..PatternNames::default() };
    assert_eq!(settings.gitops.proposing_branch.text(names), "deploy/4fb8c44/dev");
    assert_eq!(
        (settings.output.file.as_str(), settings.output.kustomization, settings.output.tracking),
        ("gen_manifests.yaml", true, true)
    );
    assert!(!settings.helm.skip_tests && settings.environments[0].delivery == DeliveryMode::PullRequest);
    let configs = plan.configs.unwrap();
    let files: Vec<_> = configs.branches[0].files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(files, ["shop/values.yaml"], "the original does not read a file at the root");
}

#[test]
fn other_sources_have_the_same_objects() {
    let check = |kind, folder: &str, expected: &[&str]| {
        let plan = Folder::with(&[]).plan(&GivenAnswers { source: Some(kind), ..given() }).unwrap();
        let own: Vec<_> = paths(&plan).into_iter().filter(|path| path.starts_with(folder)).collect();
        assert_eq!(own, expected);
        let deployment = text(&plan, &format!("{folder}/deployment.yaml"));
        assert!(deployment.contains("name: ${TARGET}\n") && deployment.contains("image: ${IMAGE}\n"), "{deployment}");
    };
    check(NewSourceKind::Manifests, "manifests", &["manifests/deployment.yaml", "manifests/service.yaml"]);
    let kustomize = ["kustomize/deployment.yaml", "kustomize/service.yaml", "kustomize/kustomization.yaml"];
    check(NewSourceKind::Kustomize, "kustomize", &kustomize);
    let overlays = Folder::with(&[("deploy/overlays/dev/kustomization.yaml", "")]).plan(&given()).unwrap();
    let SourceKind::Kustomize(Some(overlay)) = &overlays.settings.source.kind else { panic!("no overlay") };
    assert_eq!((overlay.as_str(), overlays.settings.source.folder.as_str()), ("overlays/{environment}", "deploy"));
}

#[test]
fn a_second_plan_needs_no_answers() {
    let folder = Folder::with(&[]);
    folder.make(&folder.plan(&given()).unwrap());
    let nothing = GivenAnswers { folder_name: "shop".to_owned(), ..GivenAnswers::default() };
    let again = folder.plan(&nothing).unwrap();
    assert_eq!(paths(&again), ["values/dev/values.yaml", "values/dev/shop/values.yaml"]);
    let check = |answers: GivenAnswers, expected: &str| assert_eq!(folder.plan(&answers).unwrap_err(), expected);
    check(
        GivenAnswers { workspace: Some("other".to_owned()), ..nothing.clone() },
        "kalypso-app.toml exists, and has another workspace: store-team",
    );
    check(
        GivenAnswers { environments: texts(&["prod"]), ..nothing.clone() },
        "kalypso-app.toml exists, and has another list of environments: dev",
    );
    check(
        GivenAnswers { gitops: Some("../x".to_owned()), ..nothing },
        "kalypso-app.toml exists, and has another GitOps repository: ../shop-gitops.git",
    );
}

#[test]
fn rings_of_one_environment_have_the_same_targets() {
    let toml = "workspace = \"a\"\nsource = { chart = \"chart\" }\ngitops = { repo = \"../m\" }\nenvironments = [{ name = \"dev\" }, { name = \"dev-canary\", of = \"dev\" }]\n";
    let folder = Folder::with(&[("workload/workload.yaml", WORKLOAD), (FILE_NAME, toml)]);
    let plan = folder.plan(&GivenAnswers { folder_name: "shop".to_owned(), ..GivenAnswers::default() }).unwrap();
    assert!(paths(&plan).contains(&"values/dev-canary/us/values.yaml"), "{:?}", paths(&plan));
}

#[test]
fn wrong_answers_are_refused() {
    let check = |answers: GivenAnswers, expected: &str| {
        assert_eq!(Folder::with(&[]).plan(&answers).unwrap_err(), expected);
    };
    check(GivenAnswers { workspace: None, ..given() }, "the workspace is not known");
    check(GivenAnswers { environments: texts(&["Dev"]), ..given() }, "`Dev` is not the name of an environment");
    check(GivenAnswers { environments: texts(&["a", "a"]), ..given() }, "`a` is given twice");
    check(GivenAnswers { targets: texts(&["../a"]), ..given() }, "`../a` can't be the folder of a target");
    let folder = Folder::with(&[("workload/workload.yaml", WORKLOAD)]);
    let check = |answers: GivenAnswers, expected: &str| assert_eq!(folder.plan(&answers).unwrap_err(), expected);
    check(
        GivenAnswers { workload: Some("till".to_owned()), ..given() },
        "the workload in `workload/workload.yaml` is `shop`, not `till`",
    );
    check(
        GivenAnswers { targets: texts(&["asia"]), ..given() },
        "workload `shop` has no deployment target with the manifests of `asia`",
    );
    check(
        GivenAnswers { environments: texts(&["prod"]), ..given() },
        "workload `shop` has no deployment target with a `path` of its manifests in environment `prod`",
    );
    assert!(AnswerError::NoWorkspace.help().contains("--workspace"));
}

#[test]
fn branches_are_completed_and_never_changed() {
    let repositories = git::MemoryRepositories::default();
    let url = git::RepositoryUrl::from_configuration("https://git.example/acme/shop-configs").unwrap();
    repositories.create(&url);
    let person = git::Person { name: "Ann".to_owned(), email: "ann@acme.example".to_owned() };
    let author = BranchAuthor { person: &person, seconds: 1 };
    let configs = Some("https://git.example/acme/shop-configs".to_owned());
    let branch = |targets: &[&str]| {
        let answers = GivenAnswers { configs: configs.clone(), targets: texts(targets), ..given() };
        Folder::with(&[]).plan(&answers).unwrap().configs.unwrap().branches.remove(0)
    };
    let complete = |targets: &[&str]| complete(&repositories, &url, &branch(targets), author);
    assert_eq!(complete(&["eu"]).unwrap(), BranchCompletion::New);
    assert_eq!(complete(&["eu"]).unwrap(), BranchCompletion::Complete);
    assert_eq!(complete(&["eu", "us"]).unwrap(), BranchCompletion::Added(texts(&["us/values.yaml"])));
}

#[test]
fn a_file_in_the_place_of_a_folder_stays() {
    let repositories = git::MemoryRepositories::default();
    let url = git::RepositoryUrl::from_configuration("https://git.example/acme/shop-configs").unwrap();
    repositories.create(&url);
    let person = git::Person { name: "Ann".to_owned(), email: "ann@acme.example".to_owned() };
    let author = BranchAuthor { person: &person, seconds: 1 };
    let content = |path: &str| {
        let file = NewFile { path: path.to_owned(), text: String::new() };
        RequiredBranch { name: "dev".to_owned(), files: vec![file], is_completed: true }
    };
    complete(&repositories, &url, &content("eu"), author).unwrap();
    let error = complete(&repositories, &url, &content("eu/values.yaml"), author).unwrap_err();
    assert_eq!(error.to_string(), "`eu` in branch `dev` of shop-configs is in the way of a folder");
}
