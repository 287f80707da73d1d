//! The example company compiles as its README says, with nothing to complain about but what the demo acknowledges.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::compile::Compiled;
use model::diagnostic::Diagnostic;
use model::fleet::{AuthorRole, Fleet, FleetFile, FleetInput};
use model::git_id::GitId;
use model::name::{EnvironmentName, RegistrationName};
use model::source::{File, Files, Source};

/// The application repositories, with the folders that are registered. Each is registered under its own name.
const APPLICATIONS: [(&str, &str); 3] =
    [("checkout", "workload"), ("line-monitor", "workload"), ("platform-services", "workloads")];

fn company() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/acme")
}

/// What an environment reads: main, its own branch, and every application.
fn fleet(environment: &str) -> Fleet {
    let mut files = Files::default();
    let mut contents = Vec::new();
    let platform = ["main", environment].map(|branch| (format!("control-plane/{branch}"), AuthorRole::Platform));
    let application =
        |(name, folder)| (format!("{name}/{folder}"), AuthorRole::Application(RegistrationName::new(name).unwrap()));
    for (folder, role) in platform.into_iter().chain(APPLICATIONS.map(application)) {
        let source = Arc::new(Source { url: folder.as_str().into(), ..Source::directory() });
        for file in testkit::directory::tree(&company().join(&folder)).unwrap().files(&model::tree::closed) {
            let (path, entry) = file.unwrap();
            if !model::read::is_read(&path) {
                continue;
            }
            let content = entry.blob.bytes().unwrap();
            let (source, id) = (Arc::clone(&source), GitId::of_blob(content));
            let file = files.add(File { source, path: path.as_str().into(), id, content: Arc::clone(content) });
            contents.push(FleetFile::read(role.clone(), file, &files));
        }
    }
    let environment = EnvironmentName::new(environment).unwrap();
    let input = FleetInput { environment, files: Arc::new(files), contents, unavailable: BTreeSet::new() };
    let (fleet, diagnostics) = Fleet::build(input);
    assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    fleet
}

fn check(environment: &str, cluster_types: usize, policies: usize, assignments: usize) {
    let fleet = Arc::new(fleet(environment));
    let compiled = Compiled::new(&fleet);
    // What the demo's `kalypso.toml` acknowledges. In dev there is no place in `north-europe`, which the same file names on all branches.
    let found = compiled.diagnostics();
    let about = |found: &Diagnostic| {
        (found.code.to_string(), found.object.as_ref().map(|key| key.name.to_string()).unwrap_or_default())
    };
    let said: Vec<_> = found.iter().map(about).collect();
    let dead = ("K0303".to_owned(), "azure-app-config".to_owned());
    let rivals = ("K0304".to_owned(), "plants".to_owned());
    let known = if environment == "dev" { vec![dead, rivals] } else { vec![rivals] };
    assert_eq!(said, known, "{found:#?}");
    let counts = (fleet.cluster_types.len(), fleet.policies.len(), compiled.len());
    assert_eq!(counts, (cluster_types, policies, assignments), "cluster types, policies and assignments");
}

#[test]
fn dev_compiles_without_a_complaint() {
    check("dev", 7, 9, 31);
}

#[test]
fn stage_compiles_without_a_complaint() {
    check("stage", 5, 10, 22);
}

#[test]
fn prod_compiles_without_a_complaint() {
    check("prod", 12, 9, 48);
}
