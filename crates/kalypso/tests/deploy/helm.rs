//! Runs Helm with the chart.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value as Json;
use tempfile::TempDir;
use testkit::programs::{HELM_VARIABLE, helm_folder};

use crate::{page, yaml};

/// The folder of the chart.
pub(crate) const CHART: &str = "deploy/helm/kalypso";

/// The name and the namespace of the release.
pub(crate) const RELEASE: &str = "kalypso";

/// A template that renders the notes as a field of an object.
const NOTES: &str = "notes: {{ include \"kalypso/templates/NOTES.txt\" . | toJson }}\n";

/// The objects of a release, by the file name of their template. Templates without an object are left out.
pub(crate) type Objects = BTreeMap<String, Vec<Json>>;

/// The program, and the chart that it reads.
///
/// The values of a release are the texts of files, in YAML. Helm merges them over those of the chart, later ones over earlier ones.
pub(crate) struct Helm {
    program: PathBuf,
    chart: PathBuf,
}

impl Helm {
    /// The program in the folder that the variable names, or on the search path. None, with a message, if there is none.
    pub(crate) fn find() -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folder =
            helm_folder(std::env::var_os(HELM_VARIABLE), &path).inspect_err(|reason| println!("{reason}")).ok()?;
        Some(Self { program: folder.join("helm"), chart: page::repository(CHART) })
    }

    /// The objects of a release. An error is Helm's text.
    pub(crate) fn render(&self, values: &[String]) -> Result<Objects, String> {
        let output = self.run(&["template", RELEASE, "--namespace", RELEASE], values);
        let said = text(output.stderr);
        if !output.status.success() {
            return Err(said);
        }
        assert_eq!(said, "", "Helm warns of the chart or of these values: {values:?}");
        Ok(objects(&text(output.stdout)))
    }

    /// The notes of a release. Helm prints them only if it reaches a cluster. So they are rendered into an object, in a copy of the chart.
    pub(crate) fn notes(&self, values: &[String]) -> String {
        let folder = TempDir::new().unwrap();
        let chart = folder.path().join("chart");
        assert!(Command::new("cp").arg("-R").arg(&self.chart).arg(&chart).status().unwrap().success());
        fs::write(chart.join("templates/notes.yaml"), NOTES).unwrap();
        let objects = Self { program: self.program.clone(), chart }.render(values).unwrap();
        objects["notes.yaml"][0]["notes"].as_str().unwrap().to_owned()
    }

    /// Checks the chart with these values. Warnings are errors, too. An error is Helm's text.
    pub(crate) fn lint(&self, values: &[String]) -> Result<(), String> {
        let output = self.run(&["lint", "--strict"], values);
        if output.status.success() { Ok(()) } else { Err(text(output.stdout) + &text(output.stderr)) }
    }

    /// Runs a command for the chart, without the settings, plugins and clusters of the user.
    fn run(&self, arguments: &[&str], values: &[String]) -> Output {
        let folder = TempDir::new().unwrap();
        let mut command = Command::new(&self.program);
        command.env_clear().env("HOME", folder.path()).args(arguments).arg(&self.chart);
        for (number, text) in values.iter().enumerate() {
            let path = folder.path().join(format!("{number}.yaml"));
            fs::write(&path, text).unwrap();
            command.arg("--values").arg(path);
        }
        command.output().unwrap_or_else(|error| panic!("{}: {error}", self.program.display()))
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// Splits the output of `helm template`. A comment before each document has the path of its template.
fn objects(printed: &str) -> Objects {
    let mut objects = Objects::new();
    for document in printed.split("---\n# Source: ").skip(1) {
        let (path, text) = document.split_once('\n').unwrap();
        let (_, name) = path.rsplit_once('/').unwrap();
        objects.entry(name.to_owned()).or_default().extend(yaml::documents(text));
    }
    objects
}
