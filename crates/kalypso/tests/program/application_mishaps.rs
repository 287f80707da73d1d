//! `kalypso app` with charts that misbehave, and deployments that end at any moment.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::application_world::{Application, DEPLOYMENT, SETTINGS, WORKLOAD};
use crate::company::git;

/// The number of deployments that are killed, each one at a later moment.
const KILLS: u32 = 12;

impl Application {
    /// A chart that does something only for the target `us`, with a time limit.
    fn misbehaving(what: &str) -> Option<Self> {
        let application = Self::new()?;
        application.write("kalypso-app.toml", &format!("helm = {{ timeout-seconds = 5 }}\n{SETTINGS}"));
        let template = format!("{{{{- if .Values.misbehave }}}}{what}{{{{ end }}}}\n{DEPLOYMENT}");
        application.write("chart/templates/deployment.yaml", &template);
        application.write("values/dev/us/values.yaml", "misbehave: true\n");
        application.commit("Misbehave");
        Some(application)
    }

    /// Deploys. Only the target `eu` gets there.
    fn stops_only_one_target(&self, words: &[&str]) {
        let ran = self.app("deploy -e dev --version 1.0.0").ends(1).says(words).says(&["+ eu  new", "of target us"]);
        assert!(ran.err.len() < 10_000, "{}", ran.err.len());
        assert!(self.files("dev").contains("eu/manifests.yaml") && !self.files("dev").contains("us/"));
    }
}

#[test]
fn a_chart_that_does_not_end_stops_only_its_target() {
    let loops = "{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}";
    let Some(application) = Application::misbehaving(loops) else { return };
    application.stops_only_one_target(&["K0704", "did not end within 5 seconds"]);
}

#[test]
fn a_chart_that_calls_itself_stops_only_its_target() {
    let Some(application) = Application::misbehaving("{{ include \"again\" . }}") else { return };
    application.write("chart/templates/_again.tpl", "{{- define \"again\" }}{{ include \"again\" . }}{{ end -}}");
    application.commit("Again");
    application.stops_only_one_target(&["K0704"]);
}

#[test]
fn a_chart_that_prints_too_much_stops_only_its_target() {
    let text = "{{ range until 20000 }}# {{ repeat 1000 \"x\" }}\n{{ end }}";
    let Some(application) = Application::misbehaving(text) else { return };
    application.stops_only_one_target(&["K0704", "printed more than 8 MiB"]);
}

#[test]
fn a_chart_gets_nothing_from_outside_its_folder() {
    let what =
        "{{ .Files.Get \"../kalypso-app.toml\" | required \"nothing outside\" }}{{ getHostByName \"git.example\" }}";
    let Some(application) = Application::misbehaving(what) else { return };
    application.stops_only_one_target(&["K0704", "nothing outside"]);
    std::os::unix::fs::symlink("/etc/hostname", application.path("shop/chart/templates/host.yaml")).unwrap();
    application.app("check -e dev").ends(1).says(&["templates/host.yaml", "link"]);
}

#[test]
fn a_deployment_that_is_killed_is_whole_or_not_there() {
    let Some(application) = Application::new() else { return };
    let start = Instant::now();
    application.app("deploy -e dev --version 1.0.0").ends(0);
    let typical = start.elapsed();
    let versions = || {
        // The process of git that pushes may outlive the deployment.
        let head = git(&application.path("shop-gitops.git"), &["rev-parse", "dev"]);
        let version = |target: &str| {
            let descriptor = application.deployed(&format!("{head}:{target}/descriptor.yaml"));
            let manifests = application.deployed(&format!("{head}:{target}/manifests.yaml"));
            let version = descriptor.lines().find_map(|line| line.trim().strip_prefix("version: ")).unwrap();
            let version = version.trim_matches('"').to_owned();
            assert!(manifests.contains(&format!("shop:{version}")), "{manifests}\n{descriptor}");
            version
        };
        [version("eu"), version("us"), application.deployed(&format!("{head}:.github/tracking/Version"))]
    };
    let mut before = "1.0.0".to_owned();
    for kill in 0..KILLS {
        let next = format!("1.{}.0", kill + 1);
        let mut command = application.command(&format!("deploy -e dev --version {next}"));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(typical * kill / KILLS + Duration::from_millis(1));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = versions();
        assert!(found.iter().all(|version| *version == found[0]), "{found:?}");
        assert!(found[0] == before || found[0] == next, "{found:?}");
        application.app(&format!("deploy -e dev --version {next}")).ends(0);
        assert_eq!(versions(), [&*next; 3]);
        before = next;
    }
    git(&application.path("shop-gitops.git"), &["fsck", "--strict"]);
}

#[test]
fn a_renamed_target_moves_in_one_commit() {
    let Some(application) = Application::new() else { return };
    application.app("deploy -e dev --version 1.0.0").ends(0);
    fs::rename(application.path("shop/values/dev/us"), application.path("shop/values/dev/usa")).unwrap();
    application.write("workload/workload.yaml", &WORKLOAD.replace("path: ./us", "path: ./usa"));
    application.commit("The US is the USA");
    application.app("diff -e dev").ends(0).says(&["- us", "+ usa", "2 targets change, 1 unchanged"]);
    application.app("deploy -e dev --version 1.1.0").ends(0).says(&["- us", "+ usa"]);
    assert!(application.files("dev").contains("usa/manifests.yaml") && !application.files("dev").contains("us/"));
    let commits = git(&application.path("shop-gitops.git"), &["rev-list", "--count", "dev"]);
    assert_eq!(commits, "3");
}

#[test]
fn another_name_of_the_configuration_file_is_read() {
    let Some(application) = Application::new() else { return };
    application.write("other.toml", &SETTINGS.replace("store-team", "other-team"));
    application.write("kalypso-app.toml", "not = valid");
    application.commit("Another file");
    application.app("deploy -e dev --version 1.0.0 --config other.toml").ends(0);
    assert!(application.deployed("dev:eu/descriptor.yaml").contains("name: other-team"));
    application.app("check").ends(64).says(&["kalypso-app.toml` is wrong", "line 1"]);
    application.app("check --config another.toml").ends(64).says(&["another.toml` can't be read"]);
}
