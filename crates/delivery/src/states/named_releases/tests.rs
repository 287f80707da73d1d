//! Named releases: they are read as they were written, and never change.

use git::{MemoryRepositories, RepositoryUrl};
use model::rollout::EnvironmentOrder;

use super::*;
use crate::access::{ControlPlaneSettings, StateKeys};

fn access() -> RepositoryAccess {
    let repo = RepositoryUrl::from_object("https://git.example/platform").unwrap();
    let repositories = Arc::new(MemoryRepositories::default());
    repositories.create(&repo);
    let (git, branch) = (git::Settings::new("cache"), "main".to_owned());
    let settings = ControlPlaneSettings {
        repo,
        branch,
        git,
        acknowledgements: Arc::default(),
        state_keys: StateKeys::default(),
        environment_order: EnvironmentOrder::default(),
    };
    RepositoryAccess::with(settings, repositories as _, Progress::default())
}

fn release(name: &str, version: &str) -> NamedRelease {
    let checkout = ReleasedWorkload {
        version: Some(("tag".into(), version.into())),
        configurations: BTreeMap::from([("00112233aabbccdd".into(), 12), ("1234567812345678".into(), 1)]),
    };
    NamedRelease {
        name: name.into(),
        created: "2026-11-24T10:00:00Z".parse().unwrap(),
        by: "Ann <ann@example.com>".into(),
        environment: EnvironmentName::new("stage").unwrap(),
        platform: Some(GitId::from_bytes([1; 20])),
        configuration: None,
        workloads: BTreeMap::from([("checkout".into(), checkout), ("cart".into(), ReleasedWorkload::default())]),
    }
}

fn author() -> Person {
    Person { name: "Ann".to_owned(), email: "ann@example.com".to_owned() }
}

#[test]
fn a_release_is_read_as_it_was_written() {
    let access = access();
    let one = release("2026-11", "2.4.0-rc.1+build.7");
    assert!(matches!(make(&access, &one, &author()), Ok(MadeRelease::New(_))));
    make(&access, &release("2026-10", "1.0"), &author()).unwrap();
    let names: Vec<_> = list(&access).unwrap().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["2026-10".into(), "2026-11".into()]);
    assert_eq!(find(&access, "2026-11").unwrap().unwrap().1, Ok(one));
    assert!(find(&access, "2026-12").unwrap().is_none());
}

#[test]
fn a_release_never_changes() {
    let access = access();
    make(&access, &release("r", "1"), &author()).unwrap();
    let later = NamedRelease { created: "2026-12-01T10:00:00Z".parse().unwrap(), ..release("r", "1") };
    assert!(matches!(make(&access, &later, &author()), Ok(MadeRelease::Known)));
    assert!(matches!(make(&access, &release("r", "2"), &author()), Err(ReleaseError::Exists(_))));
    assert_eq!(find(&access, "r").unwrap().unwrap().1, Ok(release("r", "1")));
    assert!(matches!(make(&access, &release("../r", "2"), &author()), Err(ReleaseError::Name(..))));
}

#[test]
fn people_can_read_a_release() {
    let expected = "\
apiVersion: fleet.kalypso.io/v1alpha1
kind: Release
name: r
created: \"2026-11-24T10:00:00Z\"
by: \"Ann <ann@example.com>\"
environment: stage
platform: \"0101010101010101010101010101010101010101\"
workloads:
  cart: {}
  checkout:
    key: tag
    version: \"1\"
    configurations:
      \"00112233aabbccdd\": 12
      \"1234567812345678\": 1
";
    assert_eq!(file::write(&release("r", "1")), expected);
}

#[test]
fn mistakes_in_a_file_have_their_line() {
    let read = |text: &str| file::read("r", ("releases/r.yaml", text)).map_err(|error| error.to_string());
    let text = file::write(&release("r", "1"));
    let wrong = |from: &str, to: &str| read(&text.replace(from, to)).unwrap_err();
    assert!(read(&text).is_ok());
    assert_eq!(wrong("name: r", "name: s"), "releases/r.yaml:3:7: `r` is expected, not `s`");
    assert!(wrong("platform:", "platfrom:").starts_with("releases/r.yaml:7:1: unknown field `platfrom`"));
    assert!(wrong("    key: tag\n", "").contains("`version` needs a `key`"));
    assert!(wrong("stage", "\"St age\"").starts_with("releases/r.yaml:6:14:"));
}
