//! The files of a new source: a small chart, or the same objects for Kustomize or as plain manifests.

use authoring::scaffold::NewFile;

use super::answers::NewApplication;
use super::source::NewSourceKind;

impl NewApplication {
    /// The files of a new source. The file that marks a chart or a folder for Kustomize is the last one: an interrupted run leaves no half source that is
    /// taken for a whole one.
    pub(super) fn source_files(&self) -> Vec<NewFile> {
        if !self.source.is_new {
            return Vec::new();
        }
        let texts: Vec<(&str, String)> = match self.source.kind {
            NewSourceKind::Chart => vec![
                ("templates/deployment.yaml", DEPLOYMENT.filled(&CHART_WORDS)),
                ("templates/service.yaml", SERVICE.filled(&CHART_WORDS)),
                ("values.yaml", VALUES.replace("IMAGE", self.image_variable())),
                ("Chart.yaml", CHART.replace("NAME", self.workload.as_str())),
            ],
            NewSourceKind::Kustomize => {
                let mut files = self.plain();
                files.push(("kustomization.yaml", KUSTOMIZATION.to_owned()));
                files
            }
            NewSourceKind::Manifests => self.plain(),
            NewSourceKind::Existing => Vec::new(),
        };
        let path = |name: &str| format!("{}/{name}", self.source.folder);
        texts.into_iter().map(|(name, text)| NewFile { path: path(name), text }).collect()
    }

    fn plain(&self) -> Vec<(&'static str, String)> {
        let image = format!("${{{}}}", self.image_variable());
        let words = Words { image: &image, ..PLAIN_WORDS };
        vec![("deployment.yaml", DEPLOYMENT.filled(&words)), ("service.yaml", SERVICE.filled(&words))]
    }
}

/// A text with the places of [`Words`].
struct Template(&'static str);

/// What differs between a chart and manifests with variables.
struct Words<'a> {
    /// The name of the objects: that of the target.
    name: &'a str,
    image: &'a str,
    replicas: &'a str,
    port: &'a str,
}

const CHART_WORDS: Words<'_> = Words {
    name: "{{ .Release.Name }}",
    image: "{{ .Values.image | quote }}",
    replicas: "{{ .Values.replicas }}",
    port: "{{ .Values.port }}",
};

const PLAIN_WORDS: Words<'_> = Words { name: "${TARGET}", image: "", replicas: "${replicas}", port: "8080" };

impl Template {
    fn filled(&self, words: &Words<'_>) -> String {
        let Words { name, image, replicas, port } = words;
        let all = [("<name>", name), ("<image>", image), ("<replicas>", replicas), ("<port>", port)];
        all.into_iter().fold(self.0.to_owned(), |text, (place, word)| text.replace(place, word))
    }
}

const CHART: &str = "\
apiVersion: v2
name: NAME
description: The manifests of NAME, rendered for each target by `kalypso app`.
type: application
version: 0.1.0
";

const VALUES: &str = "\
# The values of all targets in all environments. Those of an environment and of a target override them.

# A variable of kalypso-app.toml.
image: ${IMAGE}
replicas: 1
port: 8080
";

const KUSTOMIZATION: &str = "\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- deployment.yaml
- service.yaml
";

const DEPLOYMENT: Template = Template(
    "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: <name>
  labels:
    app.kubernetes.io/name: <name>
spec:
  replicas: <replicas>
  selector:
    matchLabels:
      app.kubernetes.io/name: <name>
  template:
    metadata:
      labels:
        app.kubernetes.io/name: <name>
    spec:
      containers:
        - name: app
          image: <image>
          ports:
            - name: http
              containerPort: <port>
          envFrom:
            # The values that the platform gives this target. Kalypso writes them into its namespace.
            - configMapRef:
                name: platform-config
                optional: true
",
);

const SERVICE: Template = Template(
    "\
apiVersion: v1
kind: Service
metadata:
  name: <name>
  labels:
    app.kubernetes.io/name: <name>
spec:
  selector:
    app.kubernetes.io/name: <name>
  ports:
    - name: http
      port: 80
      targetPort: http
",
);
