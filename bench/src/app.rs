//! The time for rendering, comparing and deploying an application with many targets, compared with the time that `helm` alone needs for the same targets.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Result, bail, ensure};
use testkit::programs::{HELM_VARIABLE, helm_folder};

use crate::report::Row;
use crate::{Options, command};

const TARGETS: usize = 200;
/// The number of helm processes at the same time: one for each processor of the measured machine.
const PROCESSES: usize = 2;
/// Measurements of several seconds are repeated less often than others. The best run counts.
const RUNS: usize = 3;

/// A chart with many targets.
struct Shape {
    name: &'static str,
    /// The number of templates. Each makes three objects.
    templates: usize,
    /// The number of values that each target sets itself.
    own_values: usize,
}

const SHAPES: [Shape; 2] = [
    Shape { name: "a small chart", templates: 2, own_values: 3 },
    Shape { name: "a large chart", templates: 40, own_values: 60 },
];

/// Measures 200 targets of a small and of a large chart.
pub(crate) fn rows(options: &Options) -> Result<Vec<Row>> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let helm = match helm_folder(std::env::var_os(HELM_VARIABLE), &path) {
        Ok(folder) => folder.join("helm"),
        Err(reason) => return Ok(vec![Row::skipped("kalypso app render", "s", reason)]),
    };
    let kalypso = command::build()?;
    let mut rows = Vec::new();
    for shape in &SHAPES {
        let application = Application::create(shape, options.share_of(TARGETS), (&helm, &kalypso))?;
        rows.extend(application.measure(shape)?);
    }
    Ok(rows)
}

/// An application in real repositories.
struct Application {
    folder: tempfile::TempDir,
    helm: PathBuf,
    kalypso: PathBuf,
    targets: Vec<String>,
}

impl Application {
    fn create(shape: &Shape, targets: usize, (helm, kalypso): (&Path, &Path)) -> Result<Self> {
        let targets = (0..targets).map(|target| format!("ring-{}/region-{}/{}", target % 3, target % 7, name(target)));
        let folder = tempfile::tempdir()?;
        let application =
            Self { folder, helm: helm.to_owned(), kalypso: kalypso.to_owned(), targets: targets.collect() };
        for (path, text) in application.files(shape) {
            let path = application.path("shop").join(path);
            fs::create_dir_all(path.parent().unwrap_or(&path))?;
            fs::write(path, text)?;
        }
        // A program named helm that counts its runs.
        let counting = application.path("counting/helm");
        fs::create_dir_all(application.path("counting"))?;
        let runs = application.path("runs");
        fs::write(&counting, format!("#!/bin/sh\necho >> {}\nexec {} \"$@\"\n", runs.display(), helm.display()))?;
        run(Command::new("chmod").arg("+x").arg(&counting))?;
        run(application.git().args(["init", "--quiet", "--bare", "gitops.git"]))?;
        run(application.git().args(["init", "--quiet", "--initial-branch", "main", "shop"]))?;
        application.commit()?;
        Ok(application)
    }

    /// The files of the source.
    fn files(&self, shape: &Shape) -> Vec<(String, String)> {
        let mut workload = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Workload\nmetadata:\n  name: shop\nspec:\n  deploymentTargets:\n".to_owned();
        let mut files = Vec::new();
        for target in &self.targets {
            let name = target.rsplit('/').next().unwrap_or_default();
            let _ = writeln!(
                workload,
                "    - {{name: {name}, environment: dev, manifests: {{repo: 'https://git.example/acme/gitops', branch: dev, path: ./{target}}}}}"
            );
            let own = (0..shape.own_values).map(|value| format!("own{value}: {name} {value}\n")).collect::<String>();
            files.push((format!("values/dev/{target}/values.yaml"), format!("replicas: 3\n{own}")));
        }
        let rings = ["ring-0", "ring-1", "ring-2"];
        files.extend(rings.map(|ring| (format!("values/dev/{ring}/values.yaml"), format!("ring: {ring}\n"))));
        let defaults = (0..shape.own_values).map(|value| format!("own{value}: none\n")).collect::<String>();
        files.extend([
            ("kalypso-app.toml".to_owned(), SETTINGS.to_owned()),
            ("workload/workload.yaml".to_owned(), workload),
            ("values/dev/values.yaml".to_owned(), "environment: dev\n".to_owned()),
            ("chart/Chart.yaml".to_owned(), "apiVersion: v2\nname: shop\nversion: 0.1.0\n".to_owned()),
            ("chart/values.yaml".to_owned(), format!("replicas: 1\nring: none\n{defaults}")),
            ("chart/templates/_helpers.tpl".to_owned(), HELPERS.to_owned()),
        ]);
        let template = |number: usize| (format!("chart/templates/part-{number}.yaml"), template(number));
        files.extend((0..shape.templates).map(template));
        files
    }

    fn measure(&self, shape: &Shape) -> Result<Vec<Row>> {
        let count = self.targets.len();
        let (mut helm_s, mut render_s) = (f64::INFINITY, f64::INFINITY);
        // In turn, so that other work on the machine meets both.
        for _ in 0..RUNS {
            helm_s = helm_s.min(self.helm_alone()?);
            render_s = render_s.min(self.kalypso(&["render", "--env", "dev", "--force", "--out", "../out"])?);
        }
        let deploy_s = self.kalypso(&["deploy", "--env", "dev", "--version", "1.0.0"])?;
        let known_s = self.kalypso(&["deploy", "--env", "dev", "--version", "1.0.0"])?;
        let unchanged_s = self.fastest(&["diff", "--env", "dev"])?;
        let leaf = self.path(&format!("shop/values/dev/{}/values.yaml", self.targets[0]));
        fs::write(&leaf, fs::read_to_string(&leaf)?.replace("replicas: 3", "replicas: 4"))?;
        let leaf_s = self.fastest(&["diff", "--env", "dev"])?;
        let against_s = self.fastest(&["diff", "--env", "dev", "--against", "HEAD"])?;
        let renders = self.count_renders(&["diff", "--env", "dev"])?;
        let ring = self.path("shop/values/dev/ring-0/values.yaml");
        fs::write(&ring, "ring: first\n")?;
        let ring_s = self.fastest(&["diff", "--env", "dev"])?;
        let what = |what: &str| format!("{count} targets of {}: {what}", shape.name);
        Ok(vec![
            Row::measured(what("kalypso app render"), render_s, "s"),
            Row::measured("  helm alone, two at a time", helm_s, "s"),
            Row::measured("  beside helm", render_s / helm_s, "times").at_most(1.3),
            Row::measured("  kalypso app deploy, the first time", deploy_s, "s"),
            Row::measured("  kalypso app deploy of what is deployed", known_s, "s"),
            Row::measured("  kalypso app diff, nothing changed", unchanged_s, "s").at_most(2.0),
            Row::measured("  kalypso app diff, one target changed", leaf_s, "s").at_most(2.0),
            Row::measured("  the same, with --against a commit", against_s, "s").at_most(2.0),
            Row::measured("  targets that this renders", renders as f64, "").exactly(1.0),
            Row::measured("  kalypso app diff, a ring (a third) changed", ring_s, "s"),
        ])
    }

    /// The seconds that `helm` needs for all targets, with the files of values as arguments.
    fn helm_alone(&self) -> Result<f64> {
        let next = AtomicUsize::new(0);
        let start = Instant::now();
        let work = || -> Result<()> {
            while let Some(target) = self.targets.get(next.fetch_add(1, Ordering::Relaxed)) {
                let mut helm = Command::new(&self.helm);
                helm.current_dir(self.path("shop")).args(["template", "shop", "chart"]);
                let mut folder = "values/dev".to_owned();
                for part in std::iter::once("").chain(target.split('/')) {
                    folder = if part.is_empty() { folder } else { format!("{folder}/{part}") };
                    let file = format!("{folder}/values.yaml");
                    if self.path("shop").join(&file).is_file() {
                        helm.args(["--values", &file]);
                    }
                }
                run(&mut helm)?;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..PROCESSES).map(|_| scope.spawn(work)).collect();
            threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| bail!("a thread panicked")))
        })?;
        Ok(start.elapsed().as_secs_f64())
    }

    fn fastest(&self, arguments: &[&str]) -> Result<f64> {
        let mut best = f64::INFINITY;
        for _ in 0..RUNS {
            best = best.min(self.kalypso(arguments)?);
        }
        Ok(best)
    }

    fn kalypso(&self, arguments: &[&str]) -> Result<f64> {
        let start = Instant::now();
        self.app(arguments, &self.helm)?;
        Ok(start.elapsed().as_secs_f64())
    }

    /// The number of targets that a command renders. One run of `helm` tells its version.
    fn count_renders(&self, arguments: &[&str]) -> Result<usize> {
        self.app(arguments, &self.path("counting/helm"))?;
        Ok(fs::read_to_string(self.path("runs"))?.lines().count().saturating_sub(1))
    }

    fn app(&self, arguments: &[&str], helm: &Path) -> Result<()> {
        let folders = helm.parent().map(Path::to_owned).into_iter();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(folders.chain(std::env::split_paths(&path)))?;
        let mut command = Command::new(&self.kalypso);
        command.current_dir(self.path("shop")).env("PATH", path).env("KALYPSO_CACHE_DIR", self.path("cache"));
        run(command.arg("app").args(arguments))
    }

    fn commit(&self) -> Result<()> {
        let shop: OsString = self.path("shop").into();
        run(self.git().arg("-C").arg(&shop).args(["add", "--all"]))?;
        let identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.invalid"];
        run(self.git().arg("-C").arg(&shop).args(identity).args(["commit", "--quiet", "--message", "Begin"]))
    }

    fn git(&self) -> Command {
        let mut git = Command::new("git");
        git.current_dir(self.folder.path());
        git
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }
}

fn name(target: usize) -> String {
    format!("store-{target:03}")
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output()?;
    ensure!(output.status.success(), "{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

const SETTINGS: &str = "\
workspace = \"store-team\"
source = { chart = \"chart\", repo = \"https://git.example/acme/shop\" }
gitops = { repo = \"../gitops.git\" }
environments = [{ name = \"dev\", delivery = \"push\" }]
";

const HELPERS: &str = r#"
{{- define "shop.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | default "0" | quote }}
ring: {{ .Values.ring }}
{{- end -}}
"#;

/// A template with a deployment, a service and a config map that holds all values.
fn template(number: usize) -> String {
    let text = r#"
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-NUMBER
  labels: {{- include "shop.labels" . | nindent 4 }}
spec:
  replicas: {{ .Values.replicas }}
  selector:
    matchLabels: {app: {{ .Release.Name }}-NUMBER}
  template:
    metadata:
      labels: {app: {{ .Release.Name }}-NUMBER}
    spec:
      containers:
        - name: part
          image: registry.example/shop/part-NUMBER:1.0.0
          envFrom: [{configMapRef: {name: {{ .Release.Name }}-NUMBER}}]
---
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}-NUMBER
  labels: {{- include "shop.labels" . | nindent 4 }}
spec:
  selector: {app: {{ .Release.Name }}-NUMBER}
  ports: [{port: 80, targetPort: 8080}]
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-NUMBER
  labels: {{- include "shop.labels" . | nindent 4 }}
data:
  {{- range $name, $value := .Values }}
  {{ $name }}: {{ $value | toString | quote }}
  {{- end }}
"#;
    text.trim_start().replace("NUMBER", &number.to_string())
}
