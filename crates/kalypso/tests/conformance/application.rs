//! The sample's application: what a deployment writes, compared with what the scripts of its workflows write.
//!
//! The scripts put the values of a target one after the other as text, replace variables, and call `helm template` and `kustomize create`. Here they are a few lines of Rust
//! and the same `helm`. The sample contains no chart, so it gets one.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use testkit::programs::{HELM_VARIABLE, helm_folder};

use crate::company::{Ran, git, kalypso};
use crate::files_below;

const VERSION: &str = "1.2.0";
const IMAGE_TAG: &str = "1.2.0-57";

/// The chart, with tests, helpers and an image from a variable.
const CHART: [(&str, &str); 5] = [
    ("Chart.yaml", "apiVersion: v2\nname: hello-world-app\nversion: 0.1.0\nappVersion: 1.16.0\n"),
    ("values.yaml", "# The image of the build.\nimage: ${IMAGE_NAME}\nreplicas: 1\nservice: {port: 80}\nmotd: \"\"\n"),
    (
        "templates/_helpers.tpl",
        "{{- define \"labels\" -}}\napp.kubernetes.io/name: {{ .Chart.Name }}\napp.kubernetes.io/instance: {{ .Release.Name }}\n{{- end -}}\n",
    ),
    (
        "templates/app.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ .Release.Name }}\n  labels: {{- include \"labels\" . | nindent 4 }}\nspec:\n  replicas: {{ .Values.replicas }}\n  selector: {matchLabels: {app: {{ .Release.Name }}}}\n  template:\n    metadata: {labels: {app: {{ .Release.Name }}}}\n    spec:\n      containers:\n      - name: app\n        image: {{ .Values.image | quote }}\n        env: [{name: MOTD, value: {{ .Values.motd | quote }}}]\n---\napiVersion: v1\nkind: Service\nmetadata: {name: {{ .Release.Name }}}\nspec:\n  ports: [{port: {{ .Values.service.port }}}]\n",
    ),
    (
        "templates/tests/connection.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Release.Name }}-test\n  annotations: {helm.sh/hook: test}\nspec:\n  containers: [{name: wget, image: busybox, args: ['{{ .Release.Name }}:{{ .Values.service.port }}']}]\n  restartPolicy: Never\n",
    ),
];

/// The values of an environment, by folder.
fn values(environment: &str) -> Vec<(&'static str, &'static str)> {
    match environment {
        "dev" => vec![
            ("functional-test", "replicas: 2\nmotd: 'in ${ENVIRONMENT}: ${VERSION}'\n"),
            ("performance-test", "# Many.\nreplicas: 20\nservice:\n  port: 8080\n"),
            // A folder inside another one: the scripts join both files.
            ("rings", "replicas: 3\n"),
            ("rings/early", "motd: \"early\"\n"),
        ],
        _ => vec![("uat-test", "replicas: 4\n")],
    }
}

/// The repositories of the application.
struct Room {
    folder: TempDir,
    path: OsString,
}

impl Room {
    fn new(workload: &Path) -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let helm =
            helm_folder(std::env::var_os(HELM_VARIABLE), &path).inspect_err(|reason| println!("{reason}")).ok()?;
        let path = std::env::join_paths([helm].into_iter().chain(std::env::split_paths(&path))).unwrap();
        let room = Self { folder: TempDir::new().unwrap(), path };
        for (name, file) in files_below(workload) {
            room.write(&format!("src/{name}"), &file);
        }
        CHART.iter().for_each(|(name, text)| room.write(&format!("src/helm/{name}"), text));
        room.begin("src");
        room.commit("src", "main");
        room.write("configs/README.md", "Values\n");
        room.begin("configs");
        for environment in ["dev", "stage"] {
            git(&room.path("configs"), &["switch", "--quiet", "--orphan", environment]);
            for (folder, text) in values(environment) {
                room.write(&format!("configs/{folder}/values.yaml"), text);
            }
            room.commit("configs", environment);
        }
        git(room.folder.path(), &["init", "--quiet", "--bare", "gitops.git"]);
        Some(room)
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn begin(&self, repository: &str) {
        git(&self.path(repository), &["init", "--quiet", "--initial-branch", "main"]);
        git(&self.path(repository), &["config", "user.name", "Ann"]);
        git(&self.path(repository), &["config", "user.email", "ann@acme.example"]);
    }

    fn commit(&self, repository: &str, message: &str) {
        git(&self.path(repository), &["add", "--all"]);
        git(&self.path(repository), &["commit", "--quiet", "--message", message]);
    }

    fn app(&self, arguments: &str) -> Ran {
        let mut command = kalypso(&self.path("src"));
        Ran::new(command.env("PATH", &self.path).arg("app").args(arguments.split_whitespace()))
    }

    /// What the scripts write for an environment.
    fn written_by_scripts(&self, environment: &str) -> BTreeMap<String, String> {
        let source = git(&self.path("src"), &["rev-parse", "HEAD"]);
        let configs = git(&self.path("configs"), &["rev-parse", environment]);
        let image = format!("ghcr.io/acme/hello-world-app:{IMAGE_TAG}");
        let substituted = |text: &str| {
            let variables = [("IMAGE_NAME", image.as_str()), ("ENVIRONMENT", environment), ("VERSION", VERSION)];
            variables.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("${{{name}}}"), value))
        };
        let chart = self.path(&format!("scripts/{environment}/chart"));
        for (name, text) in CHART {
            let text = if name == "values.yaml" { substituted(text) } else { text.to_owned() };
            self.write(&format!("scripts/{environment}/chart/{name}"), &text);
        }
        let all = values(environment);
        let mut files = BTreeMap::new();
        let is_leaf = |folder: &str| !all.iter().any(|(other, _)| other.starts_with(&format!("{folder}/")));
        for (folder, _) in all.iter().filter(|(folder, _)| is_leaf(folder)) {
            let above = all.iter().filter(|(other, _)| format!("{folder}/").starts_with(&format!("{other}/")));
            let joined: String = above.map(|(_, text)| substituted(text)).collect();
            self.write("scripts/values.yaml", &joined);
            let mut helm = Command::new("helm");
            let release = folder.rsplit('/').next().unwrap();
            helm.env("PATH", &self.path).arg("template").arg(release).arg(&chart);
            let output = helm.arg("--values").arg(self.path("scripts/values.yaml")).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            files.insert(format!("{folder}/gen_manifests.yaml"), String::from_utf8(output.stdout).unwrap());
            files.insert(format!("{folder}/kustomization.yaml"), KUSTOMIZATION.to_owned());
        }
        let tracking = [
            ("Promoted_Commit_Id", source.as_str()),
            ("Config_Commit_Id", &configs),
            ("Version", VERSION),
            ("Image_tag", IMAGE_TAG),
        ];
        files.extend(tracking.map(|(name, text)| (format!(".github/tracking/{name}"), format!("{text}\n"))));
        files
    }

    /// The files of the branch that a deployment proposes, without descriptors and the page that a new branch begins with.
    fn proposed(&self, environment: &str) -> BTreeMap<String, String> {
        let source = git(&self.path("src"), &["rev-parse", "HEAD"]);
        let branch = format!("deploy/{source}/{environment}");
        let name = format!("clone-{environment}");
        git(self.folder.path(), &["clone", "--quiet", "--branch", &branch, "gitops.git", &name]);
        fs::remove_dir_all(self.path(&name).join(".git")).unwrap();
        let mut files = files_below(&self.path(&name));
        files.retain(|path, _| !path.ends_with("descriptor.yaml") && path != "README.md");
        files
    }
}

/// What `kustomize create --autodetect` writes.
const KUSTOMIZATION: &str =
    "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- gen_manifests.yaml\n";

/// Deploys the sample's application to both environments.
pub(crate) fn it_is_deployed_as_the_scripts_do(sample: &Path) {
    let Some(room) = Room::new(&sample.join("app-src")) else { return };
    room.app("init --workspace kaizen-app-team --like microsoft --configs ../configs --gitops ../gitops.git").ends(0);
    let settings = fs::read_to_string(room.path("src/kalypso-app.toml")).unwrap();
    let image = settings.lines().find(|line| line.starts_with("IMAGE_NAME")).unwrap();
    let own = "IMAGE_NAME = \"ghcr.io/acme/hello-world-app:${IMAGE_TAG}\"";
    fs::write(room.path("src/kalypso-app.toml"), settings.replace(image, own)).unwrap();
    room.commit("src", "Describe the application");
    for environment in ["dev", "stage"] {
        room.app(&format!("deploy -e {environment} --version {VERSION} --image-tag {IMAGE_TAG}")).ends(0);
        let (found, expected) = (room.proposed(environment), room.written_by_scripts(environment));
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (path, text) in &expected {
            assert_eq!(&found[path], text, "{environment}: {path}");
        }
    }
}
