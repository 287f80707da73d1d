//! Tests of services, with chart repositories in memory.

use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use model::diagnostic::{Code, Severity};
use model::source::{Files, Source};
use tempfile::TempDir;

use super::*;
use crate::digest::ContentDigest;
use crate::files::FileSet;
use crate::programs::{MemoryPrograms, ProgramEnvironment, PublishedChart, RealPrograms};

const REPOSITORY: &str = "https://charts.example";

const PROMETHEUS: &str = "\
# Who: the platform team.
name: prometheus
helm:
  repository: https://charts.example   # ours
  chart: prometheus
  version: 25.8.0
namespace: monitoring
";

/// The archive of a chart with these files.
fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (path, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_cksum();
        builder.append_data(&mut header, format!("prometheus/{path}"), content.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

/// A repository with one version of a chart, and the digest of its archive.
fn repository(version: &str) -> (MemoryPrograms, ContentDigest) {
    let archive = archive(&[("Chart.yaml", "name: prometheus\n"), ("values.yaml", "retention: 15d\n")]);
    let digest = ContentDigest::of_content(&archive);
    let mut programs = MemoryPrograms::default();
    programs.publish(published(version, archive));
    (programs, digest)
}

fn published(version: &str, archive: Vec<u8>) -> PublishedChart {
    let text = str::to_owned;
    PublishedChart { repository: text(REPOSITORY), chart: text("prometheus"), version: text(version), archive }
}

fn read(texts: &[(&str, &str)]) -> Services {
    let set = FileSet::of_texts(&Arc::new(Source::directory()), texts.iter().copied());
    Services::read(&set, &mut Files::default())
}

fn store(folder: &TempDir) -> ChartStore {
    ChartStore::new(folder.path().join("charts"), Duration::from_mins(1))
}

fn messages(services: &Services) -> Vec<&str> {
    services.problems.iter().map(|problem| problem.message.as_str()).collect()
}

/// Checks what is wrong with a file after a change of one place.
fn check(from: &str, to: &str, message: &str) {
    assert!(PROMETHEUS.contains(from), "{from}");
    let services = read(&[("prometheus.yaml", &PROMETHEUS.replace(from, to))]);
    let errors: Vec<_> = services.problems.iter().filter(|problem| problem.is_error()).collect();
    let found: Vec<_> = errors.iter().map(|error| error.message.as_str()).collect();
    assert_eq!(found, [message], "{to}");
    assert!(!errors[0].labels.is_empty() && !errors[0].help.is_empty(), "{to}");
    // The service stays known, so that its folder is not removed.
    assert_eq!(services.all[0].name, "prometheus");
    assert!(services.all[0].reference.is_none());
}

#[test]
fn a_file_names_a_chart() {
    let services = read(&[("prometheus.yaml", PROMETHEUS), ("README.md", "# Services")]);
    let service = &services.all[0];
    let expected = ChartReference {
        repository: REPOSITORY.to_owned(),
        chart: "prometheus".to_owned(),
        version: "25.8.0".to_owned(),
        digest: None,
    };
    assert_eq!((services.all.len(), service.reference.as_ref()), (1, Some(&expected)));
    assert_eq!(service.namespace.as_deref(), Some("monitoring"));
    assert_eq!(messages(&services), ["chart `prometheus` 25.8.0 of service `prometheus` has no digest"]);
    assert_eq!(services.problems[0].severity, Severity::Warning);
}

#[test]
fn mistakes_are_reported_and_the_service_stays_known() {
    check("25.8.0", "25.x", "`25.x` is not an exact version");
    check("25.8.0", "'>=25'", "`>=25` is not an exact version");
    check("25.8.0", "25.8", "`25.8` is not an exact version");
    check("  version: 25.8.0\n", "", "a service needs `helm.version`");
    check("name: prometheus\n", "name: grafana\n", "service `grafana` is in `prometheus.yaml`");
    check("https://charts.example ", "charts.example ", "`charts.example` is not the address of a chart repository");
    check("https://", "https://bob:secret@", "the address of a chart repository has a credential");
    check("chart: prometheus", "chart: --post-renderer=x", "`--post-renderer=x` is not the name of a chart");
    check("25.8.0", "25.8.0\n  digset: x", "a service has no field `digset`");
    check("25.8.0", "25.8.0\n  digest: md5:1", "`md5:1` is not a digest");
    check("monitoring", "[]", "`namespace` must be a text");
    check("namespace: monitoring", "---\na: b", "the file of a service has one mapping, with `name` and `helm`");
}

#[test]
fn other_files_are_reported() {
    let services = read(&[("a/prometheus.yaml", PROMETHEUS), ("b.yaml", "a: 1\na: 2\n"), ("C.yaml", "- x\n")]);
    let names: Vec<_> = services.all.iter().map(|service| service.name.as_str()).collect();
    assert_eq!((names, services.problems.len()), (vec!["C", "b"], 4), "{:?}", services.problems);
    let twice = read(&[("prometheus.yaml", PROMETHEUS), ("prometheus.yml", PROMETHEUS)]);
    assert_eq!((twice.all.len(), twice.all[0].reference.as_ref()), (1, None));
    assert_eq!(messages(&twice).last(), Some(&"service `prometheus` has two files"));
}

#[test]
fn a_pinned_chart_is_downloaded_once() {
    let (programs, digest) = repository("25.8.0");
    let folder = tempfile::tempdir().unwrap();
    let pinned = PROMETHEUS.replace("25.8.0", &format!("25.8.0\n  digest: {digest}"));
    for _ in 0..2 {
        let mut services = read(&[("prometheus.yaml", &pinned)]);
        services.fetch(&programs, &store(&folder)).unwrap();
        assert_eq!(messages(&services), Vec::<&str>::new());
        assert!(services.all[0].chart.as_ref().unwrap().files.get("Chart.yaml").is_some());
    }
    assert_eq!(programs.downloads(), 1);
}

#[test]
fn a_damaged_file_of_the_store_is_not_used() {
    let (programs, digest) = repository("25.8.0");
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("charts")).unwrap();
    let kept = folder.path().join("charts").join(format!("{}.tgz", digest.digits()));
    std::fs::write(&kept, archive(&[("Chart.yaml", "name: evil\n")])).unwrap();
    let mut services =
        read(&[("prometheus.yaml", &PROMETHEUS.replace("25.8.0", &format!("25.8.0\n  digest: {digest}")))]);
    services.fetch(&programs, &store(&folder)).unwrap();
    let chart = services.all[0].chart.as_ref().unwrap();
    assert_eq!((&chart.digest, programs.downloads()), (&digest, 1));
    assert_eq!(ContentDigest::of_content(&std::fs::read(kept).unwrap()), digest);
}

#[test]
fn another_digest_stops_only_its_service() {
    let (programs, found) = repository("25.8.0");
    let expected = ContentDigest::of_content(b"another archive");
    let pinned = PROMETHEUS.replace("25.8.0", &format!("25.8.0\n  digest: {expected}"));
    let grafana = PROMETHEUS.replace("name: prometheus", "name: grafana");
    let mut services = read(&[("prometheus.yaml", &pinned), ("grafana.yaml", &grafana)]);
    services.fetch(&programs, &store(&tempfile::tempdir().unwrap())).unwrap();
    let problem = services.problems.last().unwrap();
    let message =
        format!("service `prometheus`: the chart has the digest {found}, but the file of the service names {expected}");
    assert_eq!((problem.code, &problem.message), (Code::ChartDigest, &message));
    let have_charts: Vec<_> = services.all.iter().map(|service| service.chart.is_some()).collect();
    assert_eq!(have_charts, [true, false]);
}

#[test]
fn a_chart_that_is_not_there_is_an_error_in_its_file() {
    let (programs, _) = repository("25.7.0");
    let mut services = read(&[("prometheus.yaml", PROMETHEUS)]);
    services.fetch(&programs, &store(&tempfile::tempdir().unwrap())).unwrap();
    let problem = services.problems.last().unwrap();
    assert_eq!(problem.code, Code::ChartNotAvailable);
    assert!(matches!(problem.labels[0].origin, Origin::Span(..)), "{problem:?}");
}

#[test]
fn without_helm_nothing_is_rendered() {
    let programs = RealPrograms::new(ProgramEnvironment::default()).unwrap();
    let mut services = read(&[("prometheus.yaml", PROMETHEUS)]);
    let error = services.fetch(&programs, &store(&tempfile::tempdir().unwrap())).unwrap_err();
    assert_eq!(error.to_string(), "`helm` is not installed: it is not on the path");
}

/// The updates of `prometheus.yaml` with this text, with a repository that has a newer version.
fn updates(text: &str, version: UpdateVersion<'_>) -> (Vec<ServiceUpdate>, Vec<Diagnostic>) {
    let (mut programs, _) = repository("25.8.0");
    programs.publish(published("25.9.1", archive(&[("Chart.yaml", "version: 25.9.1\n")])));
    let files = FileSet::of_texts(&Arc::new(Source::directory()), [("prometheus.yaml", text)]);
    let folder = tempfile::tempdir().unwrap();
    let request = UpdateRequest { files: &files, names: &[], version, programs: &programs, store: &store(&folder) };
    Services::read(&files, &mut Files::default()).updates(&request).unwrap()
}

fn content(update: &ServiceUpdate) -> &str {
    update.edit.as_ref().map_or("", |edit| std::str::from_utf8(&edit.content).unwrap())
}

#[test]
fn an_update_writes_the_newest_version_and_keeps_every_other_byte() {
    let (updates, problems) = updates(PROMETHEUS, UpdateVersion::Newest);
    assert_eq!((updates.len(), problems.len()), (1, 0), "{problems:?}");
    let digest = &updates[0].edit.as_ref().unwrap().digest;
    assert_eq!(content(&updates[0]), PROMETHEUS.replace("25.8.0", &format!("25.9.1\n  digest: {digest}")));
    assert_eq!(updates[0].newest.as_deref(), Some("25.9.1"));
}

#[test]
fn the_newest_version_stays() {
    for version in ["25.9.1", "26.0.0-rc.1"] {
        let (updates, _) = updates(&PROMETHEUS.replace("25.8.0", version), UpdateVersion::Newest);
        assert_eq!((updates[0].newest.as_deref(), &updates[0].edit), (Some("25.9.1"), &None), "{version}");
    }
}

#[test]
fn pins_change_only_missing_digests() {
    let (_, digest) = repository("25.8.0");
    let pinned = PROMETHEUS.replace("25.8.0", &format!("25.8.0\n  digest: {digest}"));
    assert_eq!(content(&updates(PROMETHEUS, UpdateVersion::Current).0[0]), pinned);
    assert_eq!(updates(&pinned, UpdateVersion::Current).0[0].edit, None);
}

#[test]
fn an_exact_version_may_be_older() {
    let text = PROMETHEUS.replace("25.8.0", "25.9.1");
    let (_, digest) = repository("25.8.0");
    let expected = PROMETHEUS.replace("25.8.0", &format!("25.8.0\n  digest: {digest}"));
    assert_eq!(content(&updates(&text, UpdateVersion::Exact("25.8.0")).0[0]), expected);
    let (found, problems) = updates(&text, UpdateVersion::Exact("1.0.0"));
    assert_eq!((found.len(), problems[0].code), (0, Code::ChartNotAvailable));
}
