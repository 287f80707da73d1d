//! Services with the real Helm: charts of a repository that the test serves are downloaded, rendered and updated.
//!
//! Helm is in the folder that the variable `KALYPSO_HELM` names, or on the search path. Without it, the tests fail.

#![allow(clippy::unwrap_used, clippy::panic, reason = "what a test can't set up fails it")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use application::digest::ContentDigest;
use application::files::FileSet;
use application::programs::{ProgramEnvironment, RealPrograms};
use application::render::{PreparedTargets, RenderRequest, RenderSource, Rendering, TargetState};
use application::services::{ChartStore, ServiceUpdate, Services, UpdateRequest, UpdateVersion};
use application::settings::ApplicationSettings;
use application::variables::Variables;
use model::code::Code;
use model::diagnostic::Diagnostic;
use model::kind::Kind;
use model::object::{AnyObject, Object, Workload};
use model::source::{FileId, Files, Source};
use tempfile::TempDir;
use testkit::registry_server::RegistryServer;

const SETTINGS: &str = "\
workspace = \"platform-team\"
source = { services = \"services\" }
gitops = { repo = \"../observability-gitops\" }
environments = [{ name = \"dev\", variables = { SIZE = \"3\" } }]
";

const WORKLOAD: &str = "\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata: {name: observability}
spec:
  deploymentTargets:
  - {name: metrics, environment: dev, manifests: {path: metrics}}
";

const TEMPLATE: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
  namespace: {{ .Release.Namespace }}
data:
  size: {{ required \"size is missing\" .Values.size | quote }}
  version: {{ .Chart.Version }}
  host: {{ .Values.host | quote }}
";

/// A chart with one object.
const SMALL_CHART: &[(&str, &str)] = &[
    ("Chart.yaml", "apiVersion: v2\nname: metrics\nversion: 0.0.0\n"),
    ("values.yaml", "host: ${HOSTNAME}\n"),
    (".helmignore", "*.md\n"),
    ("templates/map.yaml", TEMPLATE),
];

/// A chart with what the charts of large projects have: a part with another name that a value switches on, a library, hooks, a test, definitions of kinds,
/// files, templates in values, questions to the cluster, a password that it makes up, line ends of Windows and documents without an object.
const LARGE_CHART: &[(&str, &str)] = &[
    (
        "Chart.yaml",
        "apiVersion: v2\nname: metrics\nversion: 0.0.0\ndependencies:\n\
         - {name: store, alias: history, version: 1.x.x, condition: history.enabled}\n\
         - {name: common, version: 2.0.0}\n",
    ),
    (
        "values.yaml",
        "history: {enabled: false, size: 1}\ntitle: '{{ .Release.Name }} of {{ .Values.global.site }}'\nglobal: {site: none}\npassword: ''\n",
    ),
    ("charts/store/Chart.yaml", "apiVersion: v2\nname: store\nversion: 1.4.2\n"),
    ("charts/store/values.yaml", "size: 5\n"),
    (
        "charts/store/templates/set.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}-{{ .Chart.Name }}', labels: {{ include \"common.labels\" . | nindent 4 }} }\n\
         data: {size: '{{ .Values.size }}', site: '{{ .Values.global.site }}'}\n",
    ),
    ("charts/common/Chart.yaml", "apiVersion: v2\nname: common\nversion: 2.0.0\ntype: library\n"),
    ("charts/common/templates/_labels.tpl", "{{ define \"common.labels\" }}{app: {{ .Chart.Name }}}{{ end }}"),
    ("crds/alerts.yaml", CRD),
    ("dashboards/main.json", "{\"panels\": [\"{{ not a template }}\"]}\n"),
    (
        "templates/all.yaml",
        "{{- /* nothing */ -}}\r\n---\r\n# Only a comment.\r\n---\r\napiVersion: v1\r\nkind: ConfigMap\r\nmetadata: {name: dashboards}\r\ndata:\r\n\
         \x20 title: {{ tpl .Values.title . | quote }}\r\n  main: |-\r\n{{ .Files.Get \"dashboards/main.json\" | indent 4 }}\r\n",
    ),
    (
        "templates/secret.yaml",
        "{{- $old := lookup \"v1\" \"Secret\" .Release.Namespace \"admin\" }}\napiVersion: v1\nkind: Secret\nmetadata: {name: admin}\n\
         data: {password: '{{ .Values.password | default (randAlphaNum 12) | b64enc }}', known: '{{ not (empty $old) | toString | b64enc }}'}\n",
    ),
    (
        "templates/hook.yaml",
        "{{- if .Capabilities.APIVersions.Has \"monitoring.example/v1\" }}\napiVersion: v1\nkind: ConfigMap\n\
         metadata: {name: migrate, annotations: {helm.sh/hook: pre-upgrade}}\n{{- end }}\n",
    ),
    (
        "templates/tests/ping.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: ping, annotations: {helm.sh/hook: test}}\nspec: {containers: [{name: a, image: b}]}\n",
    ),
    ("templates/NOTES.txt", "Thank you for {{ .Chart.Name }}.\n"),
];

const CRD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: alerts.monitoring.example}
spec:
  group: monitoring.example
  names: {kind: Alert, plural: alerts}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object}}
";

/// The search path with Helm.
fn search_path() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = std::env::var_os("KALYPSO_HELM").map(PathBuf::from);
    let folders: Vec<_> = first.into_iter().chain(std::env::split_paths(&path)).collect();
    let message = "these tests need Helm: install it, or name its folder in the variable KALYPSO_HELM";
    assert!(folders.iter().any(|folder| folder.join("helm").is_file()), "{message}");
    std::env::join_paths(folders).unwrap()
}

/// A chart repository on this machine, until it is dropped.
struct ChartRepository {
    folder: TempDir,
    url: String,
    server: ChartServer,
}

/// What serves the charts.
enum ChartServer {
    /// A web server, with its number of requests.
    Web(Arc<AtomicUsize>),
    /// A registry of images.
    Registry(RegistryServer),
}

impl ChartRepository {
    /// A repository with a small chart in these versions.
    fn new(versions: &[&str]) -> Self {
        Self::of(SMALL_CHART, versions)
    }

    /// A repository with a chart in these versions.
    fn of(chart: &[(&str, &str)], versions: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(AtomicUsize::new(0));
        let repository =
            Self { folder: tempfile::tempdir().unwrap(), url, server: ChartServer::Web(Arc::clone(&requests)) };
        repository.package(chart, versions);
        repository.helm(&["repo", "index", "--url", &repository.url], Path::new("."));
        let folder = repository.folder.path().to_owned();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                requests.fetch_add(1, Ordering::Relaxed);
                answer(stream, &folder);
            }
        });
        repository
    }

    /// A registry with a chart in these versions.
    fn in_registry(versions: &[&str]) -> Self {
        let registry = RegistryServer::start().unwrap();
        let url = format!("oci://{}/charts", registry.name());
        let mut repository =
            Self { folder: tempfile::tempdir().unwrap(), url, server: ChartServer::Web(Arc::default()) };
        repository.package(SMALL_CHART, versions);
        for version in versions {
            registry.publish_chart("charts/metrics", version, &repository.archive(version));
        }
        repository.server = ChartServer::Registry(registry);
        repository
    }

    /// Makes the archives.
    fn package(&self, files: &[(&str, &str)], versions: &[&str]) {
        let chart = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = chart.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        for version in versions {
            let version = format!("--version={version}");
            self.helm(&["package", &version, "--destination=."], chart.path());
        }
    }

    fn helm(&self, arguments: &[&str], last: &Path) {
        let mut command = Command::new("helm");
        command.current_dir(self.folder.path()).env("PATH", search_path()).args(arguments).arg(last);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn archive(&self, version: &str) -> Vec<u8> {
        fs::read(self.folder.path().join(format!("metrics-{version}.tgz"))).unwrap()
    }

    fn digest(&self, version: &str) -> ContentDigest {
        ContentDigest::of_content(&self.archive(version))
    }

    fn requests(&self) -> usize {
        match &self.server {
            ChartServer::Web(requests) => requests.load(Ordering::Relaxed),
            ChartServer::Registry(registry) => registry.requests().len(),
        }
    }

    /// The file of a service with a version, and with further lines of `helm`.
    fn service(&self, version: &str, more: &str) -> String {
        let url = &self.url;
        format!(
            "# Metrics\nname: metrics\nhelm:\n  repository: {url}\n  chart: metrics\n  version: {version}{more}\nnamespace: monitoring\n"
        )
    }
}

/// Answers one request with a file of the folder.
fn answer(mut stream: TcpStream, folder: &Path) {
    let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
    let first = lines.next().unwrap_or_default();
    lines.take_while(|line| !line.is_empty()).for_each(drop);
    let name = first.split(' ').nth(1).unwrap_or_default().trim_start_matches('/');
    let content = (!name.contains('/')).then(|| fs::read(folder.join(name)).ok()).flatten();
    let (status, content) = content.map_or(("404 Not Found", Vec::new()), |content| ("200 OK", content));
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", content.len());
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&content));
}

/// An application with services, and its cache.
struct Fixture {
    settings: ApplicationSettings,
    workload: Arc<Object<Workload>>,
    programs: RealPrograms,
    cache: TempDir,
}

impl Fixture {
    fn new() -> Self {
        let objects = model::read::read_kind(FileId::default(), WORKLOAD.as_bytes(), Kind::Workload).objects;
        let workload = objects.into_iter().find_map(|object| match object {
            AnyObject::Workload(workload) => Some(workload),
            _ => None,
        });
        let environment =
            ProgramEnvironment { path: search_path(), home: std::env::var_os("HOME"), variables: Vec::new() };
        Self {
            settings: ApplicationSettings::parse(SETTINGS, FileId::default()).unwrap(),
            workload: workload.unwrap(),
            programs: RealPrograms::new(environment).unwrap(),
            cache: tempfile::tempdir().unwrap(),
        }
    }

    fn store(&self) -> ChartStore {
        ChartStore::new(self.cache.path().join("charts"), Duration::from_mins(1))
    }

    /// Renders one service with these values.
    fn render(&self, service: &str, values: &[(&str, &str)]) -> Rendering {
        let (source, values) = (files(&[("metrics.yaml", service)]), files(values));
        let mut files = Files::default();
        let mut services = Services::read(&source, &mut files);
        services.fetch(&self.programs, &self.store()).unwrap();
        let request = RenderRequest {
            settings: &self.settings,
            settings_file: FileId::default(),
            environment: &self.settings.environments[0],
            workload: &self.workload,
            source: RenderSource::Services(&services),
            others: &[],
            schemas: &FileSet::default(),
            values: &values,
            variables: &Variables::default(),
            program_version: "",
            images: None,
        };
        PreparedTargets::new(request, files).repeating().render(&self.programs, &|_| false).unwrap()
    }

    fn updates(&self, service: &str, version: UpdateVersion<'_>) -> (Vec<ServiceUpdate>, Vec<Diagnostic>) {
        let source = files(&[("metrics.yaml", service)]);
        let store = self.store();
        let request = UpdateRequest { files: &source, names: &[], version, programs: &self.programs, store: &store };
        Services::read(&source, &mut Files::default()).updates(&request).unwrap()
    }
}

fn files(texts: &[(&str, &str)]) -> FileSet {
    FileSet::of_texts(&Arc::new(Source::directory()), texts.iter().copied())
}

/// The fields of the only object of a rendering, or its diagnostics.
fn object(rendering: &Rendering) -> BTreeMap<String, String> {
    let TargetState::Rendered(manifests) = &rendering.targets[0].state else { panic!("{:?}", rendering.diagnostics) };
    let text = String::from_utf8_lossy(&manifests.files["manifests.yaml"]).into_owned();
    let fields = text.lines().filter_map(|line| line.trim().split_once(": "));
    fields.map(|(key, value)| (key.to_owned(), value.trim_matches('"').to_owned())).collect()
}

const VALUES: &[(&str, &str)] = &[("values.yaml", ""), ("metrics/values.yaml", "size: ${SIZE}\n")];

#[test]
fn a_service_is_rendered_from_the_chart_of_its_repository() {
    let repository = ChartRepository::new(&["1.0.0", "1.1.0"]);
    let rendering = Fixture::new().render(&repository.service("1.0.0", ""), VALUES);
    let object = object(&rendering);
    let field = |name: &str| object[name].as_str();
    assert_eq!([field("name"), field("namespace"), field("version")], ["metrics", "monitoring", "1.0.0"]);
    assert_eq!([field("size"), field("host")], ["3", "${HOSTNAME}"]);
    assert_eq!(rendering.targets[0].version.as_ref().unwrap().to_string(), "1.0.0");
    let codes: Vec<_> = rendering.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(codes, [Code::ServiceNotPinned]);
}

#[test]
fn a_pinned_chart_needs_its_repository_once() {
    for repository in [ChartRepository::new(&["1.0.0"]), ChartRepository::in_registry(&["1.0.0"])] {
        let fixture = Fixture::new();
        let service = repository.service("1.0.0", &format!("\n  digest: {}", repository.digest("1.0.0")));
        let first = object(&fixture.render(&service, VALUES));
        let requests = repository.requests();
        assert!(requests > 0);
        assert_eq!((object(&fixture.render(&service, VALUES)), repository.requests()), (first, requests));
    }
}

#[test]
fn a_replaced_chart_is_refused() {
    let repository = ChartRepository::new(&["1.0.0", "1.1.0"]);
    let expected = repository.digest("1.1.0");
    let rendering = Fixture::new().render(&repository.service("1.0.0", &format!("\n  digest: {expected}")), VALUES);
    let problem = &rendering.diagnostics[0];
    assert_eq!(problem.code, Code::ChartDigest);
    let found = repository.digest("1.0.0").to_string();
    assert!(problem.message.contains(&found) && problem.message.contains(&expected.to_string()), "{problem:?}");
    assert!(matches!(rendering.targets[0].state, TargetState::Failed));
}

#[test]
fn errors_are_located_in_the_file_of_the_service() {
    let repository = ChartRepository::new(&["1.0.0"]);
    for (version, values, message) in [("9.9.9", VALUES, "9.9.9"), ("1.0.0", &[("values.yaml", "")], "size is missing")]
    {
        let rendering = Fixture::new().render(&repository.service(version, ""), values);
        let problem = rendering.diagnostics.iter().find(|problem| problem.is_error()).unwrap();
        assert!(problem.message.contains(message), "{problem:?}");
        let model::diagnostic::Origin::Span(file, _) = &problem.labels[0].origin else { panic!("{problem:?}") };
        assert_eq!(&*rendering.files.get(*file).path, "metrics.yaml");
    }
}

#[test]
fn an_update_writes_the_newest_version_with_its_digest() {
    let versions = ["1.0.0", "1.1.0", "2.0.0-rc.1"];
    for repository in [ChartRepository::new(&versions), ChartRepository::in_registry(&versions)] {
        let (updates, problems) =
            Fixture::new().updates(&repository.service("1.0.0", "   # old"), UpdateVersion::Newest);
        assert_eq!(problems, []);
        let digest = repository.digest("1.1.0");
        let edit = updates[0].edit.as_ref().unwrap();
        assert_eq!((updates[0].newest.as_deref(), &edit.digest), (Some("1.1.0"), &digest));
        let expected = repository.service("1.1.0", &format!("   # old\n  digest: {digest}"));
        assert_eq!(String::from_utf8_lossy(&edit.content), expected);
    }
}

/// The objects of a rendering.
fn objects(rendering: &Rendering) -> Vec<String> {
    let TargetState::Rendered(manifests) = &rendering.targets[0].state else { panic!("{:?}", rendering.diagnostics) };
    manifests.objects.iter().map(|object| object.id.to_string()).collect()
}

/// The messages of the diagnostics with a code.
fn messages(rendering: &Rendering, code: Code) -> Vec<&str> {
    rendering.diagnostics.iter().filter(|found| found.code == code).map(|found| found.message.as_str()).collect()
}

#[test]
fn charts_of_large_projects_are_rendered() {
    let repository = ChartRepository::of(LARGE_CHART, &["1.0.0"]);
    let mut fixture = Fixture::new();
    let helm = "[helm]\napi-versions = [\"monitoring.example/v1\"]\ninclude-crds = true\n";
    fixture.settings = ApplicationSettings::parse(&format!("{SETTINGS}{helm}"), FileId::default()).unwrap();
    let service = repository.service("1.0.0", "");
    let small = fixture.render(&service, &[("values.yaml", "")]);
    let all = [
        "CustomResourceDefinition alerts.monitoring.example",
        "Secret admin",
        "ConfigMap dashboards",
        "ConfigMap migrate",
    ];
    assert_eq!(objects(&small), all);
    let values = "global: {site: eu}\nhistory: {enabled: true, size: '${SIZE}'}\npassword: given\n";
    let large = fixture.render(&service, &[("values.yaml", values)]);
    assert_eq!(objects(&large), [all[0], all[1], "ConfigMap metrics-history", all[2], all[3]]);
    let TargetState::Rendered(manifests) = &large.targets[0].state else { panic!("{:?}", large.diagnostics) };
    let text = String::from_utf8_lossy(&manifests.files["manifests.yaml"]);
    for line in ["{size: '3', site: 'eu'}", "title: \"metrics of eu\"", "{\"panels\": [\"{{ not a template }}\"]}"] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn what_a_chart_makes_up_is_a_warning() {
    let repository = ChartRepository::of(LARGE_CHART, &["1.0.0"]);
    let (fixture, service) = (Fixture::new(), repository.service("1.0.0", ""));
    let made_up = fixture.render(&service, &[("values.yaml", "")]);
    let expected = "Secret admin is another one each time it is rendered: `data.password`";
    assert_eq!(messages(&made_up, Code::NotReproducible), [expected]);
    let found = made_up.diagnostics.iter().find(|found| found.code == Code::NotReproducible).unwrap();
    assert_eq!(found.notes, ["the template is metrics/templates/secret.yaml", "of target metrics"]);
    let given = fixture.render(&service, &[("values.yaml", "password: given\n")]);
    assert_eq!(messages(&given, Code::NotReproducible), [""; 0]);
}

#[test]
fn a_registry_without_the_chart_is_an_error() {
    let repository = ChartRepository::in_registry(&["1.0.0"]);
    let rendering = Fixture::new().render(&repository.service("9.9.9", ""), VALUES);
    let problem = rendering.diagnostics.iter().find(|problem| problem.is_error()).unwrap();
    assert_eq!(problem.code, Code::ChartNotAvailable);
    assert!(problem.message.contains("9.9.9") && problem.message.contains("not found"), "{problem:?}");
}

#[test]
fn pins_are_the_digests_of_the_archives() {
    let repository = ChartRepository::new(&["1.0.0", "1.1.0"]);
    let (updates, _) = Fixture::new().updates(&repository.service("1.0.0", ""), UpdateVersion::Current);
    assert_eq!(updates[0].edit.as_ref().unwrap().digest, repository.digest("1.0.0"));
}
