//! Random sequences of changes. After each change, the updated fleet must equal a fleet that is built from all files.

use super::*;
use crate::fleet::limits::Chain;
use crate::locate::Locator;
use crate::name::{EnvironmentName, RegistrationName};
use crate::source::Files;

/// A sequence of numbers that is the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn pick<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.below(texts.len())]
    }
}

/// The expected files with the numbers of their limits, by role and path.
type Paper = BTreeMap<(AuthorRole, String), (String, usize)>;

/// The objects with limits.
const BASES: [&str; 3] =
    ["{kinds: [Cluster, ConfigMap, WorkloadRegistration]}", "{names: [a, b, e]}", "{labels: {workload: a}}"];

/// The file that contains them. It is the first one of every fleet, so its id is always the same.
fn bases() -> File {
    let base = |allow: &&str| {
        format!(
            "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: BaseRepo\nmetadata: {{name: x}}\nspec: {{repo: r, branch: b, path: p, allow: {allow}}}\n"
        )
    };
    file("0.yaml", &BASES.iter().map(base).collect::<Vec<_>>().join("---\n"))
}

/// Limits by their number. 0 stands for none.
fn limits(number: usize) -> Limits {
    let read = crate::read::read_file(crate::source::FileId::default(), "0.yaml", &bases().content);
    let chain = |positions: &[usize]| {
        positions.iter().fold(Chain::default(), |chain, position| match &read.objects[*position] {
            AnyObject::BaseRepo(base) => chain.below(base),
            other => panic!("{other:?}"),
        })
    };
    let chains: [&[&[usize]]; 6] = [&[], &[&[0]], &[&[0, 1]], &[&[1]], &[&[2]], &[&[0, 1], &[2]]];
    let mut found = chains[number].iter().map(|positions| Limits::from_chain(chain(positions)));
    let mut all = found.next().unwrap_or_default();
    found.for_each(|other| all.or(&other));
    all
}

fn object(numbers: &mut Numbers) -> String {
    let kind = numbers.pick(&[
        "v1 ConfigMap",
        "v1 ConfigMap",
        "v1 ConfigMap",
        "scheduler.kalypso.io/v1alpha1 ClusterType",
        "fleet.kalypso.io/v1alpha1 Cluster",
        "fleet.kalypso.io/v1alpha1 Cluster",
        "scheduler.kalypso.io/v1alpha1 Workload",
        "scheduler.kalypso.io/v1alpha1 WorkloadRegistration",
        "scheduler.kalypso.io/v1alpha1 ConfigSchema",
        "scheduler.kalypso.io/v1alpha1 Environment",
        "kustomize.toolkit.fluxcd.io/v1 Kustomization",
    ]);
    let (version, kind) = kind.split_once(' ').unwrap();
    let place = |name: &str| format!("{{repo: 'https://a.b/{name}', branch: main, path: .}}");
    let body = match kind {
        "ConfigMap" => format!("data: {{x: {}}}", numbers.pick(&["one", "two", "three"])),
        "ClusterType" => {
            format!("spec: {{reconciler: {}, namespaceService: b, configType: c}}", numbers.pick(&["a", "b"]))
        }
        "Cluster" => format!("spec: {{clusterType: {}}}", numbers.pick(&["a", "b", "c", "none"])),
        "Workload" => "spec: {deploymentTargets: []}".to_owned(),
        "WorkloadRegistration" => {
            format!("spec: {{workload: {}, workspace: {}}}", place("w"), numbers.pick(&["one", "two"]))
        }
        "ConfigSchema" => format!("spec: {{schema: '{}'}}", numbers.pick(&["{}", "true"])),
        "Environment" => format!("spec: {{controlPlane: {}}}", place("c")),
        _ => "spec: {sourceRef: {kind: GitRepository, name: a}}".to_owned(),
    };
    let label = numbers.pick(&["workload: a", "workload: b", "kustomize.toolkit.fluxcd.io/name: dev-b"]);
    let name = numbers.pick(&["a", "b", "c", "d", "e", "f"]);
    format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}, labels: {{{label}}}}}\n{body}\n")
}

fn text(numbers: &mut Numbers) -> String {
    let objects: Vec<_> = (0..numbers.below(4)).map(|_| object(numbers)).collect();
    objects.join("---\n")
}

/// Makes a random change in the expected files. Returns the change.
fn edit(paper: &mut Paper, numbers: &mut Numbers) -> SourceFileChange {
    let role = match numbers.pick(&["platform", "platform", "platform", "a", "b"]) {
        "platform" => AuthorRole::Platform,
        name => AuthorRole::Application(RegistrationName::new(name).unwrap()),
    };
    let path = numbers.pick(&["1.yaml", "2.yaml", "3.yaml", "4.yaml", "5.yaml"]);
    let (known, number) = paper.get(&(role.clone(), path.to_owned())).cloned().unwrap_or_default();
    let number = if numbers.below(4) == 0 { numbers.below(6) } else { number };
    let text = match numbers.below(12) {
        0 => {
            paper.remove(&(role.clone(), path.to_owned()));
            return SourceFileChange::Removed { role, source: Source::directory().into(), path: path.into() };
        }
        1 => format!("# more\n{known}"),
        2 => known.replace("one", "two"),
        3 => known.replace("name: a", "name: e"),
        4 => format!("{known}---\n{}", object(numbers)),
        5 => format!("{known}---\nbroken: ["),
        6 => format!("{}---\n{known}", object(numbers)),
        7 => known.replace("clusterType: a", "clusterType: b").replace("three", "four"),
        8 => known,
        _ => self::text(numbers),
    };
    paper.insert((role.clone(), path.to_owned()), (text.clone(), number));
    SourceFileChange::Written { role, scope: FileScope::Everything, limits: limits(number), file: file(path, &text) }
}

fn file(path: &str, text: &str) -> File {
    let content = text.as_bytes();
    File { source: Source::directory().into(), path: path.into(), id: GitId::of_blob(content), content: content.into() }
}

fn build(paper: &Paper) -> (Fleet, Vec<Diagnostic>) {
    Fleet::build(input(paper))
}

fn input(paper: &Paper) -> FleetInput {
    let (mut files, mut contents) = (Files::default(), Vec::new());
    files.add(bases());
    for ((role, path), (text, number)) in paper {
        let id = files.add(file(path, text));
        contents.push(FleetFile { limits: limits(*number), ..FleetFile::read(role.clone(), id, &files) });
    }
    let environment = EnvironmentName::new("dev").unwrap();
    FleetInput { environment, files: Arc::new(files), contents, unavailable: BTreeSet::new() }
}

/// The content of a fleet as texts that do not depend on the ids of files.
fn told(fleet: &Fleet, diagnostics: &[Diagnostic]) -> Vec<String> {
    let at = |object: &AnyObject| {
        let address = object.address();
        format!("{} {} {}:{}", object.key(), object.digest(), fleet.files.get(address.file).path, address.document)
    };
    let mut told = Vec::new();
    macro_rules! plain {
        ($($kind:ident $objects:ident),+) => {$(
            told.extend(fleet.$objects.values().map(|object| at(&AnyObject::$kind(Arc::clone(object)))));
        )+};
    }
    plain!(ConfigMap config_maps, ClusterType cluster_types, Cluster clusters, ConfigSchema config_schemas);
    plain!(WorkloadRegistration registrations);
    told.extend(fleet.declaration.iter().map(|object| at(&AnyObject::Environment(Arc::clone(object)))));
    told.extend(fleet.references.values().map(at));
    told.extend(fleet.duplicates.values().flatten().map(|object| format!("again {}", at(object))));
    let conflicting_claims = fleet.conflicting_claims.values().flatten();
    for workload in fleet.workloads.values().chain(conflicting_claims) {
        let object = at(&AnyObject::Workload(Arc::clone(&workload.object)));
        told.push(format!("{object} {:?} {} {:?}", workload.registration, workload.workspace, workload.author));
    }
    told.push(format!("limited schemas: {:?}", fleet.limited_schemas));
    told.push(format!("conflicting_claims: {:?}", fleet.conflicting_claims.keys()));
    for (registration, schemas) in &*fleet.application_schemas {
        let schemas = schemas.values().map(|object| at(&AnyObject::ConfigSchema(Arc::clone(object))));
        told.extend(schemas.map(|schema| format!("of {registration}: {schema}")));
    }
    let mut locator = Locator::new(fleet);
    let mut said: Vec<_> = diagnostics
        .iter()
        .map(|diagnostic| {
            let Diagnostic { severity, code, message, labels, notes, help, object, .. } = diagnostic;
            let labels: Vec<_> = labels.iter().map(|label| (locator.shown(&label.origin), &label.text)).collect();
            format!("{severity} {code} {message} {labels:?} {notes:?} {help:?} {object:?}")
        })
        .collect();
    said.sort();
    told.extend(said);
    told
}

fn check(sources: &Sources, update: &FleetUpdate, paper: &Paper) {
    let (fleet, diagnostics) = build(paper);
    assert_eq!(told(&update.fleet, &update.diagnostics), told(&fleet, &diagnostics));
    assert!(Arc::ptr_eq(&update.fleet, sources.fleet()));
}

#[test]
fn updated_fleet_equals_a_fleet_read_as_a_whole() {
    let (mut patched, mut rebuilt) = (0, 0);
    for seed in 0..12 {
        let (mut numbers, mut paper) = (Numbers(seed), Paper::new());
        let mut sources = Sources::new(input(&paper));
        for _ in 0..40 {
            let changes: Vec<_> = (0..=numbers.below(2)).map(|_| edit(&mut paper, &mut numbers)).collect();
            let earlier = Arc::clone(sources.fleet());
            let before = told(&earlier, &[]);
            let update = sources.update(changes);
            check(&sources, &update, &paper);
            assert_eq!(told(&earlier, &[]), before, "an earlier fleet must not change");
            if update.is_rebuilt { rebuilt += 1 } else { patched += 1 }
        }
    }
    assert!(patched > 40 && rebuilt > 40, "{patched} {rebuilt}");
}

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: one}\n";

fn written(path: &str, text: &str) -> SourceFileChange {
    SourceFileChange::Written {
        role: AuthorRole::Platform,
        scope: FileScope::Everything,
        limits: Limits::default(),
        file: file(path, text),
    }
}

#[test]
fn comments_change_no_object_and_update_line_numbers() {
    let mut sources = Sources::new(input(&Paper::new()));
    let before = sources.update([written("a.yaml", MAP), written("b.yaml", "x: [")]).fleet;
    let update = sources.update([written("a.yaml", &format!("# new\n{MAP}")), written("b.yaml", "x: [")]);
    assert_eq!((update.parsed, update.is_rebuilt), (1, false));
    let (old, new) = (before.config_maps.get("a").unwrap(), update.fleet.config_maps.get("a").unwrap());
    assert!(Arc::ptr_eq(old, new) && update.fleet.config_maps.changes(&before.config_maps).is_empty());
    let origin = crate::diagnostic::Origin::field(&new.key(), crate::field_path::FieldPath::from(["data", "x"]));
    assert_eq!(Locator::new(&update.fleet).shown(&origin).as_deref(), Some("a.yaml:5"));
    assert_eq!(Locator::new(&before).shown(&origin).as_deref(), Some("a.yaml:4"));
}

#[test]
fn a_value_changes_its_object_alone() {
    let mut sources = Sources::new(input(&Paper::new()));
    let other = MAP.replace("name: a", "name: b");
    let before = sources.update([written("a.yaml", &format!("{MAP}---\n{other}"))]).fleet;
    let update = sources.update([written("a.yaml", &format!("{}---\n{other}", MAP.replace("one", "two")))]);
    assert!(!update.is_rebuilt);
    let changes = update.fleet.config_maps.changes(&before.config_maps);
    assert_eq!(changes.iter().filter_map(|(_, new)| Some(new.as_ref()?.name.as_str())).collect::<Vec<_>>(), ["a"]);
    assert!(Arc::ptr_eq(before.config_maps.get("b").unwrap(), update.fleet.config_maps.get("b").unwrap()));
}
