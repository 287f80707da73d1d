//! Tests of rendering, with programs in memory.

use model::diagnostic::{Origin, Severity};
use model::kind::Kind;
use model::object::AnyObject;
use model::source::{FileId, Source};

use super::*;
use crate::images::MemoryRegistry;
use crate::programs::MemoryPrograms;

const SETTINGS: &str = "\
workspace = \"store-team\"
source = { chart = \"chart\" }
gitops = { repo = \"../shop-gitops\" }
environments = [{ name = \"dev\", variables = { REPLICAS = \"2\" } }]
variables = { IMAGE = \"registry.example/shop:${VERSION}\" }
";

/// An application in memory.
struct Fixture {
    settings: ApplicationSettings,
    source: FileSet,
    others: Vec<FileSet>,
    schemas: FileSet,
    values: FileSet,
    variables: Variables,
    workload: Arc<Object<Workload>>,
    images: Option<ImageDigests>,
}

const WORKLOAD: &str = "\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata: {name: shop}
spec:
  deploymentTargets:
  - {name: eu, environment: dev, manifests: {path: ./eu}}
  - {name: us, environment: dev, manifests: {path: us}}
  - {name: bad, environment: dev, manifests: {path: bad}}
  - {name: worse, environment: dev, manifests: {path: worse}}
  - {name: kiosk, environment: dev, manifests: {path: ./kiosk/install.yml}}
";

fn workload(text: &str) -> Arc<Object<Workload>> {
    let objects = model::read::read_kind(FileId::default(), text.as_bytes(), Kind::Workload).objects;
    let workload = objects.into_iter().find_map(|object| match object {
        AnyObject::Workload(workload) => Some(workload),
        _ => None,
    });
    workload.unwrap()
}

fn set(texts: &[(&str, &str)]) -> FileSet {
    FileSet::of_texts(&Arc::new(Source::directory()), texts.iter().copied())
}

impl Fixture {
    fn new(settings: &str, source: &[(&str, &str)], values: &[(&str, &str)]) -> Self {
        let mut variables = Variables::default();
        variables.set("VERSION", "2.4.0");
        let settings = ApplicationSettings::parse(settings, FileId::default()).unwrap();
        Self {
            settings,
            source: set(source),
            others: Vec::new(),
            schemas: FileSet::default(),
            values: set(values),
            variables,
            workload: workload(WORKLOAD),
            images: None,
        }
    }

    fn prepared(&self) -> PreparedTargets<'_> {
        let request = RenderRequest {
            settings: &self.settings,
            settings_file: FileId::default(),
            environment: &self.settings.environments[0],
            workload: &self.workload,
            source: RenderSource::Folder(&self.source),
            others: &self.others,
            schemas: &self.schemas,
            values: &self.values,
            variables: &self.variables,
            program_version: "1",
            images: self.images.as_ref(),
        };
        let mut files = Files::default();
        files.add(model::source::File {
            source: Arc::new(Source::directory()),
            path: "kalypso-app.toml".into(),
            id: model::git_id::GitId::of_blob(b""),
            content: Arc::default(),
        });
        PreparedTargets::new(request, files)
    }

    fn render(&self) -> Rendering {
        self.prepared().render(&MemoryPrograms::default(), &|_| false).unwrap()
    }

    /// The manifests of each target, or why there are none.
    fn texts(&self) -> Vec<String> {
        let text = |target: RenderedTarget| match target.state {
            TargetState::Rendered(manifests) => {
                let files = manifests
                    .files
                    .iter()
                    .map(|(name, content)| format!("{name}: {}", String::from_utf8_lossy(content)));
                format!("{}/{}", target.path, files.collect::<String>())
            }
            TargetState::Known => format!("{} known", target.path),
            TargetState::Failed => format!("{} failed", target.path),
        };
        self.render().targets.into_iter().map(text).collect()
    }
}

fn inputs(fixture: &Fixture) -> Vec<Option<InputsId>> {
    fixture.prepared().targets().iter().map(|target| target.inputs.clone()).collect()
}

const VALUES: &[(&str, &str)] = &[
    ("values.yaml", "image: ${IMAGE}\nreplicas: ${REPLICAS}\n"),
    ("eu/values.yaml", "name: ${TARGET}-${ENVIRONMENT}\n"),
    ("us/values.yaml", ""),
];

#[test]
fn values_are_merged_for_each_target() {
    let fixture =
        Fixture::new(SETTINGS, &[("Chart.yaml", ""), ("values.yaml", "tag: ${VERSION}\nreplicas: 1\n")], VALUES);
    let texts = fixture.texts();
    assert_eq!(texts.len(), 2);
    let expected =
        r#"{\"image\":\"registry.example/shop:2.4.0\",\"name\":\"eu-dev\",\"replicas\":\"2\",\"tag\":\"2.4.0\"}"#;
    assert!(texts[0].starts_with("eu/manifests.yaml: ---\n") && texts[0].contains(expected), "{}", texts[0]);
    assert!(texts[1].contains("  name: us\n"), "{}", texts[1]);
}

#[test]
fn an_error_stops_only_its_own_target() {
    let values = [VALUES, &[("bad/values.yaml", "name: ${TARGETT}\n"), ("worse/values.yaml", "fail: true\n")]].concat();
    let fixture = Fixture::new(SETTINGS, &[], &values);
    let rendering = fixture.render();
    let failed: Vec<_> = rendering
        .targets
        .iter()
        .filter(|one| matches!(one.state, TargetState::Failed))
        .map(|one| one.path.as_str())
        .collect();
    assert_eq!(failed, ["bad", "worse"]);
    let messages: Vec<_> =
        rendering.diagnostics.iter().map(|found| (found.message.as_str(), found.notes.join("; "))).collect();
    let expected =
        [("there is no variable `TARGETT`", "of target bad"), ("the value `fail` is set", "of target worse")];
    assert_eq!(messages, expected.map(|(message, note)| (message, note.to_owned())));
}

#[test]
fn only_targets_with_other_inputs_are_rendered() {
    let fixture = Fixture::new(SETTINGS, &[], VALUES);
    let before = inputs(&fixture);
    let changed = [VALUES[0], VALUES[1], ("us/values.yaml", "replicas: 3\n")];
    let fixture = Fixture::new(SETTINGS, &[], &changed);
    let programs = MemoryPrograms::default();
    let prepared = fixture.prepared();
    prepared.render(&programs, &|target| before.contains(&target.inputs)).unwrap();
    assert_eq!(programs.runs(), 1);
}

#[test]
fn a_comment_or_another_order_changes_no_inputs() {
    let before = inputs(&Fixture::new(SETTINGS, &[], VALUES));
    let other = [("values.yaml", "# A comment.\nreplicas: '2'\nimage: ${IMAGE}\n"), VALUES[1], VALUES[2]];
    assert_eq!(before, inputs(&Fixture::new(SETTINGS, &[], &other)));
    let mut next = Fixture::new(SETTINGS, &[], VALUES);
    next.variables.set("VERSION", "2.5.0");
    assert!(before.iter().zip(inputs(&next)).all(|(before, after)| *before != after));
}

#[test]
fn plain_manifests_are_copied_with_their_variables() {
    let settings = SETTINGS.replace("chart = \"chart\"", "manifests = \"deploy\"");
    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"${TARGET}\"}\ndata: {size: \"${size}\"}\n";
    let fixture = Fixture::new(
        &settings,
        &[("a/map.yaml", manifest), ("README.md", "no manifest")],
        &[("eu/values.yaml", "size: 3\n")],
    );
    assert_eq!(
        fixture.texts(),
        [format!("eu/a/map.yaml: {}", manifest.replace("${TARGET}", "eu").replace("${size}", "3"))]
    );
    let bad = Fixture::new(&settings, &[("map.yaml", "x: ${sise}\n")], &[("eu/values.yaml", "size: 3\n")]);
    let rendering = bad.render();
    assert_eq!(rendering.diagnostics[0].help, ["did you mean `${size}`?"]);
    assert!(matches!(rendering.diagnostics[0].labels[0].origin, Origin::Span(..)));
}

#[test]
fn a_manifest_that_does_not_fit_its_schema_stops_only_its_target() {
    let settings = SETTINGS.replace("chart = \"chart\"", "manifests = \"deploy\"");
    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {size: ${size}}\n";
    let values = [("eu/values.yaml", "size: 3\n"), ("us/values.yaml", "size: large\n")];
    let fixture = Fixture::new(&settings, &[("map.yaml", manifest)], &values);
    let rendering = fixture.render();
    let is_rendered = |target: &RenderedTarget| matches!(target.state, TargetState::Rendered(_));
    assert_eq!(rendering.targets.iter().map(is_rendered).collect::<Vec<_>>(), [false, true]);
    let found = &rendering.diagnostics[0];
    assert_eq!(found.message, "`data.size` of ConfigMap a is a number, and must be a text");
    assert_eq!(found.notes, ["of target eu"]);
}

#[test]
fn errors_in_manifests_have_a_place_in_them() {
    // The release has the name of the target: a number is no name of an object.
    let rendering = Fixture::new(SETTINGS, &[], &[("8/values.yaml", "")]).render();
    let found = rendering.diagnostics.iter().find(|found| found.is_error()).unwrap();
    let Origin::Span(file, span) = found.labels[0].origin else { panic!("{found:?}") };
    let file = rendering.files.get(file);
    assert_eq!(&*file.path, "8/manifests.yaml");
    assert!(file.content[span.range()].starts_with(b"apiVersion: v1\nkind: ConfigMap"), "{found:?}");
}

#[test]
fn an_environment_without_targets_is_an_error() {
    let rendering = Fixture::new(SETTINGS, &[], &[("values.yaml", "a: 1\n")]).render();
    let found = &rendering.diagnostics[0];
    assert_eq!((found.severity, rendering.targets.len()), (Severity::Error, 0));
    assert_eq!(found.message, "environment `dev` has no targets: no folder contains `values.yaml`");
}

#[test]
fn targets_and_deployment_targets_belong_together() {
    let mut fixture = Fixture::new(SETTINGS, &[], &[("eu/values.yaml", ""), ("uk/values.yaml", "")]);
    fixture.workload =
        workload(&WORKLOAD.replace("{path: us}", "{repo: 'https://git.example/acme/shop-gitops.git', path: us}"));
    let messages: Vec<_> = fixture.render().diagnostics.into_iter().map(|found| found.message).collect();
    let expected = [
        "deployment target `us` of environment `dev` has no values, so nothing is rendered for it",
        "no deployment target of environment `dev` has the manifests of `uk`, so no cluster gets them",
    ];
    assert_eq!(messages, expected);
}

#[test]
fn a_deployment_target_has_the_branch_of_its_environment() {
    let mut fixture = Fixture::new(SETTINGS, &[], &[("eu/values.yaml", ""), ("us/values.yaml", "")]);
    let place = "{repo: 'https://git.example/acme/shop-gitops.git', branch: dve, path: us}";
    fixture.workload = workload(&WORKLOAD.replace("{path: us}", place));
    let messages: Vec<_> = fixture.render().diagnostics.into_iter().map(|found| found.message).collect();
    let expected = "deployment target `us` has the manifests of branch `dve`, but those of environment `dev` are deployed to branch `dev`";
    assert_eq!(messages, [expected]);
}

const SERVICE: &str = "\
name: NAME
helm:
  repository: https://charts.example
  chart: NAME
  version: 25.8.0
";

/// The services with these names, without their charts.
fn services(names: &[&str], files: &mut Files) -> Services {
    let texts: Vec<_> = names.iter().map(|name| (format!("{name}.yaml"), SERVICE.replace("NAME", name))).collect();
    let texts: Vec<_> = texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    Services::read(&set(&texts), files)
}

fn with_chart(mut services: Services, index: usize, chart: &[(&str, &str)]) -> Services {
    let digest = crate::digest::ContentDigest::of_content(b"");
    services.all[index].chart = Some(Arc::new(crate::services::PulledChart { digest, files: set(chart) }));
    services
}

#[test]
fn each_service_is_rendered_from_its_own_chart() {
    let settings = SETTINGS.replace("chart = \"chart\"", "services = \"services\"");
    let values = [("values.yaml", "replicas: ${REPLICAS}\n"), ("db/eu/values.yaml", ""), ("db/us/values.yaml", "")];
    let fixture = Fixture::new(&settings, &[], &values);
    let mut files = Files::default();
    let services = services(&["cache", "db", "queue"], &mut files);
    let services = with_chart(services, 0, &[("values.yaml", "host: ${HOSTNAME}\n")]);
    let services = with_chart(services, 1, &[("Chart.yaml", "")]);
    let request = RenderRequest { source: RenderSource::Services(&services), ..fixture.prepared().request };
    let rendering = PreparedTargets::new(request, files).render(&MemoryPrograms::default(), &|_| false).unwrap();
    let text = |target: &RenderedTarget| match &target.state {
        TargetState::Rendered(manifests) => String::from_utf8_lossy(&manifests.files["manifests.yaml"]).into_owned(),
        _ => "failed".to_owned(),
    };
    let paths: Vec<_> = rendering.targets.iter().map(|target| target.path.as_str()).collect();
    assert_eq!(paths, ["cache", "db/eu", "db/us", "queue"]);
    let [cache, eu, _, queue] = [0, 1, 2, 3].map(|index| text(&rendering.targets[index]));
    // A text of a chart is for the program in the container.
    assert!(
        cache.contains("name: cache") && cache.contains(r#"{\"host\":\"${HOSTNAME}\",\"replicas\":\"2\"}"#),
        "{cache}"
    );
    // The release has the name of the service, not that of the folder with its values.
    assert!(eu.contains("name: db\n"), "{eu}");
    assert_eq!(queue, "failed");
    let version = rendering.targets[0].version.as_ref().unwrap();
    assert_eq!(version.to_string(), "25.8.0");
}

#[test]
fn the_namespace_of_a_service_counts() {
    let settings =
        ApplicationSettings::parse(&format!("{SETTINGS}helm = {{ namespace = \"shop\" }}\n"), FileId::default());
    let mut services = services(&["db"], &mut Files::default());
    let options = |service: Option<&crate::services::ChartService>| {
        output::helm_options(&settings.as_ref().unwrap().helm, service)
    };
    assert_eq!(options(services.all.first()), ["--skip-tests", "--namespace=shop"]);
    services.all[0].namespace = Some("data".to_owned());
    assert_eq!(options(services.all.first()), ["--skip-tests", "--namespace=data"]);
    assert_eq!(options(None), ["--skip-tests", "--namespace=shop"]);
}

#[test]
fn only_targets_of_a_changed_chart_are_rendered() {
    let settings = SETTINGS.replace("chart = \"chart\"", "services = \"services\"");
    let fixture = Fixture::new(&settings, &[], &[("values.yaml", "")]);
    let inputs = |text: &str| {
        let mut files = Files::default();
        let services = with_chart(services(&["cache", "db"], &mut files), 0, &[("Chart.yaml", text)]);
        let services = with_chart(services, 1, &[("Chart.yaml", "")]);
        let request = RenderRequest { source: RenderSource::Services(&services), ..fixture.prepared().request };
        let prepared = PreparedTargets::new(request, files);
        prepared.targets().iter().map(|target| target.inputs.clone().unwrap()).collect::<Vec<_>>()
    };
    let (before, after) = (inputs("version: 1"), inputs("version: 2"));
    assert!(before[0] != after[0] && before[1] == after[1]);
}

#[test]
fn values_without_a_service_are_reported() {
    let settings = SETTINGS.replace("chart = \"chart\"", "services = \"services\"");
    let problems = |values: &[(&str, &str)]| {
        let fixture = Fixture::new(&settings, &[], values);
        let mut files = Files::default();
        let services = with_chart(services(&["cache"], &mut files), 0, &[("Chart.yaml", "")]);
        let request = RenderRequest { source: RenderSource::Services(&services), ..fixture.prepared().request };
        let diagnostics = source::stray_values(
            &request,
            &services,
            &crate::values::ValuesTree::read(&fixture.values, &mut files, &mut Vec::new()),
        );
        diagnostics.into_iter().map(|found| format!("{}; {}", found.message, found.help[0])).collect::<Vec<_>>()
    };
    assert_eq!(problems(&[("values.yaml", "")]), Vec::<String>::new());
    assert_eq!(
        problems(&[("cahce/values.yaml", "")]),
        ["there is no service `cahce` for these values; did you mean `cache`?"]
    );
    assert!(problems(&[])[0].starts_with("no service has values in environment `dev`;"));
}

/// An application with a chart for `eu`, and files for the host `kiosk`.
fn with_files(files: &[(&str, &str)], values: &[(&str, &str)]) -> Fixture {
    let settings = format!("{SETTINGS}[[sources]]\ntargets = [\"kiosk\"]\nfiles = \"kiosk\"\n");
    let mut fixture = Fixture::new(&settings, &[("Chart.yaml", "")], values);
    fixture.others = vec![set(files)];
    fixture
}

#[test]
fn hosts_get_files_with_their_own_beside_them() {
    let files = [
        (
            "install.yml",
            "- hosts: localhost\n  vars: {url: 'https://packages.example/shop_${VERSION}.deb', port: '${port}'}\n",
        ),
        ("app.conf", "of all\n"),
        ("scripts/run.sh", "echo $HOME $${VERSION}\n"),
    ];
    let values = [
        ("values.yaml", ""),
        ("README.md", "for people"),
        ("eu/values.yaml", ""),
        ("kiosk/values.yaml", "port: 8080\n"),
        ("kiosk/app.conf", "of ${TARGET}\n"),
    ];
    let fixture = with_files(&files, &values);
    let texts = fixture.texts();
    assert!(texts[0].starts_with("eu/manifests.yaml"), "{texts:?}");
    let expected = "kiosk/app.conf: of kiosk\ninstall.yml: - hosts: localhost\n  \
        vars: {url: 'https://packages.example/shop_2.4.0.deb', port: '8080'}\nscripts/run.sh: echo $HOME ${VERSION}\n";
    assert_eq!(texts[1], expected);
    let rendering = fixture.render();
    assert!(rendering.diagnostics.is_empty(), "{:?}", rendering.diagnostics);
    let TargetState::Rendered(kiosk) = &rendering.targets[1].state else { panic!("not rendered") };
    let objects: Vec<_> = kiosk.objects.iter().map(|object| object.id.to_string()).collect();
    assert_eq!(objects, ["File app.conf", "File install.yml", "File scripts/run.sh"]);
}

#[test]
fn only_the_host_depends_on_its_files() {
    let values = [("eu/values.yaml", ""), ("kiosk/values.yaml", ""), ("kiosk/app.conf", "1")];
    let before = inputs(&with_files(&[("a", "1")], &values));
    let source = inputs(&with_files(&[("a", "2")], &values));
    let beside = inputs(&with_files(&[("a", "1")], &[values[0], values[1], ("kiosk/app.conf", "2")]));
    assert!(before[0] == source[0] && before[1] != source[1]);
    assert!(before[0] == beside[0] && before[1] != beside[1]);
}

#[test]
fn mistakes_in_files_are_shown_at_their_places() {
    let values = [("kiosk/values.yaml", ""), ("kiosk/app.conf", "a\n${VERSON}\n")];
    let rendering =
        with_files(&[("install.yml", "sum: ${PACKAGE_SHA256}\n"), ("descriptor.yaml", "")], &values).render();
    let shown = |found: &Diagnostic| match &found.labels[0].origin {
        Origin::Span(file, span) => format!("{} {}: {}", rendering.files.get(*file).path, span.start, found.help[0]),
        _ => "elsewhere".to_owned(),
    };
    let mut problems: Vec<_> = rendering.diagnostics.iter().map(shown).collect();
    problems.sort();
    assert_eq!(
        problems,
        [
            "install.yml 5: name the package of this version: --package FILE, or --package sha256:DIGEST",
            "kiosk/app.conf 2: did you mean `${VERSION}`?",
        ]
    );
    let rendering = with_files(&[("descriptor.yaml", "")], &[("kiosk/values.yaml", "")]).render();
    assert_eq!(
        rendering.diagnostics[0].message,
        "a deployment writes `descriptor.yaml` itself, so the source can't have this file"
    );
    let rendering = with_files(&[], &[("kiosk/values.yaml", "")]).render();
    assert_eq!(rendering.diagnostics[0].message, "nothing is rendered: the output has no object");
}

/// Targets with a pod each, whose images have digests: those of `r.io/shop:1` and `r.io/shop:2`.
fn with_pods(images: &[(&str, &str)]) -> (Fixture, MemoryRegistry) {
    let settings = SETTINGS.replace("chart = \"chart\"", "manifests = \"deploy\"");
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: a\n    image: '${POD_IMAGE}' # why\n";
    let values: Vec<_> = images
        .iter()
        .map(|(target, image)| (format!("{target}/values.yaml"), format!("POD_IMAGE: {image}\n")))
        .collect();
    let values: Vec<_> = values.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let mut fixture = Fixture::new(&settings, &[("pod.yaml", pod), ("role.json", ROLE)], &values);
    let registry = MemoryRegistry::default();
    for image in ["r.io/shop:1", "r.io/shop:2"] {
        registry.publish(image);
    }
    fixture.images = Some(ImageDigests::new(registry.clone()));
    (fixture, registry)
}

const ROLE: &str = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}"#;

#[test]
fn images_get_the_digests_of_the_registry() {
    let (fixture, registry) = with_pods(&[("eu", "r.io/shop:1"), ("us", "r.io/shop:1")]);
    let digest = registry.publish("r.io/shop:1");
    let pod = "pod.yaml: apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: a\n    image: 'r.io/shop:1";
    let text = |target: &str| format!("{target}/{pod}@{digest}' # why\nrole.json: {ROLE}");
    assert_eq!(fixture.texts(), [text("eu"), text("us")]);
    assert_eq!(registry.requests(), 1);
    let rendering = fixture.render();
    let TargetState::Rendered(manifests) = &rendering.targets[0].state else { panic!("it is rendered") };
    let spec = manifests.objects.iter().find(|object| &*object.id.kind == "Pod").unwrap();
    assert_eq!(crate::images::uses(&spec.node)[0].text(), format!("r.io/shop:1@{digest}"));
}

#[test]
fn an_image_without_a_digest_stops_its_targets() {
    let (fixture, _) = with_pods(&[("eu", "r.io/shop:1"), ("us", "r.io/shop:3"), ("bad", "r.io/shop:3")]);
    let rendering = fixture.render();
    let failed = |one: &&RenderedTarget| matches!(one.state, TargetState::Failed);
    let failed: Vec<_> = rendering.targets.iter().filter(failed).map(|one| one.path.as_str()).collect();
    assert_eq!(failed, ["bad", "us"]);
    let [problem] = rendering.diagnostics.as_slice() else { panic!("{:#?}", rendering.diagnostics) };
    assert_eq!(problem.message, "image `r.io/shop:3` can't be pinned: r.io: it has no such image");
    assert_eq!(problem.notes, ["of targets bad, us"]);
}

#[test]
fn an_image_without_a_digest_is_shown_at_its_place() {
    let (mut fixture, _) = with_pods(&[("eu", "")]);
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: r.io/shop:3}]}\n";
    fixture.source = set(&[("pod.yaml", pod)]);
    let rendering = fixture.render();
    let Origin::Span(file, span) = rendering.diagnostics[0].labels[0].origin else { panic!("there is no place") };
    assert_eq!(rendering.files.get(file).content.get(span.range()), Some(b"r.io/shop:3".as_slice()));
}

#[test]
fn pinning_is_an_input_and_digests_are_none() {
    let (mut fixture, registry) = with_pods(&[("eu", "r.io/shop:1")]);
    let pinned = inputs(&fixture);
    registry.publish("r.io/shop:1");
    assert_eq!(inputs(&fixture), pinned);
    fixture.images = None;
    assert_ne!(inputs(&fixture), pinned);
    fixture.images = Some(ImageDigests::new(registry.clone()));
    fixture.prepared().render(&MemoryPrograms::default(), &|_| true).unwrap();
    assert_eq!(registry.requests(), 0);
}
