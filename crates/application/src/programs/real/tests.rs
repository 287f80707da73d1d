//! Tests of the real programs, with scripts in their place.

use std::fs;

use super::*;

/// A program with this script, as the only one on its path.
fn with_program(name: &str, script: &str) -> (TempDir, RealPrograms) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    #[cfg(unix)]
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    // The programs of this machine come last: they may be installed here.
    let path = std::env::join_paths([folder.path(), Path::new("/bin")]).unwrap();
    (folder, RealPrograms::new(ProgramEnvironment { path, ..ProgramEnvironment::default() }).unwrap())
}

fn template(programs: &RealPrograms, seconds: u64) -> Result<String, String> {
    let time_limit = Duration::from_secs(seconds);
    let run = HelmTemplate { chart: Path::new("/charts/shop"), release: "eu", values: "{}", options: &[], time_limit };
    let output = programs.helm_template(&run).map_err(|error| error.to_string())?;
    Ok(String::from_utf8(output).unwrap())
}

#[test]
fn values_and_release_are_passed() {
    let (_folder, programs) = with_program("helm", "echo \"$1 $2\" \"$4 $5 $6\"; cat \"$3\"");
    assert_eq!(template(&programs, 60).unwrap(), "template --values -- eu /charts/shop\n{}");
}

#[test]
fn missing_programs_are_named() {
    let programs = RealPrograms::new(ProgramEnvironment::default()).unwrap();
    assert_eq!(template(&programs, 60).unwrap_err(), "`helm` is not installed: it is not on the path");
}

#[test]
fn programs_have_limits_of_time_and_output() {
    let (_folder, programs) = with_program("helm", "sleep 1000");
    assert_eq!(template(&programs, 1).unwrap_err(), "`helm` did not end within 1 seconds");
    let (_folder, programs) = with_program("helm", "head -c 20000000 /dev/zero");
    assert_eq!(template(&programs, 60).unwrap_err(), "`helm` printed more than 8 MiB");
}

#[test]
fn messages_name_no_path_of_the_machine() {
    let script = "echo 'Error: /charts/shop/templates/a.yaml is wrong in /charts/shop' >&2; exit 1";
    let (_folder, programs) = with_program("helm", script);
    assert_eq!(template(&programs, 60).unwrap_err(), "`helm` failed: templates/a.yaml is wrong in the chart");
}

#[test]
fn long_messages_lose_their_middle() {
    let script =
        "echo 'Error: the beginning' >&2; head -c 20000 /dev/zero | tr '\\0' x >&2; echo ' the end' >&2; exit 1";
    let (_folder, programs) = with_program("helm", script);
    let message = template(&programs, 60).unwrap_err();
    assert!(message.starts_with("`helm` failed: the beginning") && message.ends_with("the end"), "{message}");
    assert!(message.chars().count() < 2_100, "{}", message.len());
}

#[test]
fn programs_get_neither_network_nor_variables_of_the_user() {
    let (_folder, mut programs) =
        with_program("helm", "env | cut -d= -f1 | sort | tr '\\n' ' '; echo; echo $https_proxy $GIT_ALLOW_PROTOCOL");
    programs.environment.variables = [("GITHUB_TOKEN", "secret"), ("HTTPS_PROXY", "http://proxy")]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
    let output = template(&programs, 60).unwrap();
    assert!(!output.contains("GITHUB_TOKEN"), "{output}");
    assert!(output.ends_with("http://127.0.0.1:1 none\n"), "{output}");
}

#[test]
#[cfg(unix)]
fn kubectl_takes_the_place_of_kustomize() {
    let (folder, mut programs) = with_program("kubectl", "echo \"$@\"");
    std::os::unix::fs::symlink("/bin/sh", folder.path().join("sh")).unwrap();
    programs.environment.path = folder.path().into();
    let output = programs.kustomize_build(Path::new("/x/base"), Duration::from_mins(1)).unwrap();
    assert_eq!(output, b"kustomize -- /x/base\n");
    assert_eq!(programs.version(Program::Kustomize).unwrap(), "version --client");
}

#[test]
fn charts_are_read_from_repositories_and_registries() {
    let (_folder, mut programs) = with_program("helm", "echo \"$@\" $HTTPS_PROXY >&2; exit 1");
    programs.environment.variables = vec![("HTTPS_PROXY".into(), "http://proxy".into())];
    let pull = |repository, version| {
        let chart = RemoteChart { repository, chart: "db", version };
        programs.helm_pull(&chart, Duration::from_mins(1)).unwrap_err().to_string()
    };
    let expected = "`helm` failed: pull --version=1.0.0 --repo=https://charts.example -- db http://proxy";
    assert_eq!(pull("https://charts.example", Some("1.0.0")), expected);
    let expected = "`helm` failed: pull --version=1.0.0 -- oci://registry.example/charts/db http://proxy";
    assert_eq!(pull("oci://registry.example/charts/", Some("1.0.0")), expected);
    let expected = "`helm` failed: pull --version=1.0.0 --plain-http -- oci://[::1]:5000/db http://proxy";
    assert_eq!(pull("oci://[::1]:5000", Some("1.0.0")), expected);
    let newest = RemoteChart { repository: "oci://registry.example", chart: "db", version: None };
    let message = programs.helm_show_chart(&newest, Duration::from_mins(1)).unwrap_err().to_string();
    assert_eq!(message, "`helm` failed: show chart -- oci://registry.example/db http://proxy");
}

#[test]
fn the_archive_of_a_chart_is_what_helm_writes() {
    let (_folder, programs) = with_program("helm", "printf archive > db-1.0.0.tgz");
    let chart = RemoteChart { repository: "https://charts.example", chart: "db", version: None };
    assert_eq!(programs.helm_pull(&chart, Duration::from_mins(1)).unwrap(), b"archive");
    let (_folder, programs) = with_program("helm", "true");
    let error = programs.helm_pull(&chart, Duration::from_mins(1)).unwrap_err();
    assert_eq!(error.to_string(), "`helm` failed: `helm pull` wrote no archive");
}
