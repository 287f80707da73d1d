//! Whether two commits of a source differ in what an environment reads of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use git::{Commit, Repositories};
use model::digest::Digest;
use model::git_id::GitId;
use model::kind::Kind;
use model::name::EnvironmentName;
use model::object::base_repo::MAIN;
use model::object::{AnyObject, BaseRepo, Object, Workload};
use model::read::{is_kustomization, is_read, read_file};
use model::source::FileId;

/// The number of comparisons that are remembered.
const KNOWN_MAX: usize = 10_000;

/// The comparisons of commits that are known already.
#[derive(Debug, Default)]
pub(crate) struct KnownDifferences(BTreeMap<Compared, bool>);

/// The environment, the two commits, the paths, and the workloads whose releases are decided elsewhere.
type Compared = (EnvironmentName, (GitId, GitId), BTreeSet<Arc<str>>, BTreeSet<Arc<str>>);

/// Who reads the files.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) environment: &'a EnvironmentName,
    /// The workloads whose releases are admitted: the pins that promotions write for them change nothing by themselves.
    pub(crate) releases: &'a BTreeSet<Arc<str>>,
}

/// Two commits of a source.
#[derive(Clone, Copy)]
pub(crate) struct SourceCommits<'a> {
    pub(crate) old: &'a Commit,
    pub(crate) new: &'a Commit,
    /// The paths whose files are read.
    pub(crate) paths: &'a BTreeSet<Arc<str>>,
}

impl KnownDifferences {
    /// Whether two commits of a source differ in what the environment reads at their paths. The promoted commit and the promoted releases do not count: they are
    /// decided elsewhere. Of a workload, only the targets of this environment count.
    ///
    /// # Errors
    /// If the files can't be read. The message is for people.
    pub(crate) fn differ(
        &mut self,
        repositories: &dyn Repositories,
        SourceCommits { old, new, paths }: SourceCommits<'_>,
        reader: Reader<'_>,
    ) -> Result<bool, String> {
        let Reader { environment, releases } = reader;
        let key = (environment.clone(), (old.id, new.id), paths.clone(), releases.clone());
        if let Some(known) = self.0.get(&key) {
            return Ok(*known);
        }
        let mut is_change = false;
        for path in paths {
            let files = |commit: &Commit| git::load::files(repositories, commit, path);
            is_change |= is_different(files(old)?, files(new)?, reader);
        }
        if self.0.len() >= KNOWN_MAX {
            self.0.clear();
        }
        self.0.insert(key, is_change);
        Ok(is_change)
    }
}

type FilesByPath = BTreeMap<Arc<str>, Arc<[u8]>>;

fn is_different(mut old: FilesByPath, mut new: FilesByPath, reader: Reader<'_>) -> bool {
    let same = old.iter().filter(|(path, content)| new.get(*path) == Some(*content));
    for path in same.map(|(path, _)| Arc::clone(path)).collect::<Vec<_>>() {
        old.remove(&path);
        new.remove(&path);
    }
    contents(&old, reader) != contents(&new, reader)
}

/// What files mean for an environment: the objects by kind and name, and what can't be read.
fn contents(files: &FilesByPath, reader: Reader<'_>) -> BTreeMap<(Option<Kind>, Arc<str>), Vec<Digest>> {
    let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (path, content) in files.iter().filter(|(path, _)| is_read(path)) {
        let read = read_file(FileId::default(), path, content);
        if is_kustomization(path) || !read.is_good() {
            found.entry((None, Arc::clone(path))).or_default().push(Digest::from_value(content));
        }
        for object in &read.objects {
            if let Some(digest) = meaning(object, reader) {
                found.entry((Some(object.kind()), Arc::clone(object.name()))).or_default().push(digest);
            }
        }
    }
    found.values_mut().for_each(|digests| digests.sort_unstable());
    found
}

/// The meaning of an object for an environment. None: it has none.
fn meaning(object: &AnyObject, Reader { environment, releases }: Reader<'_>) -> Option<Digest> {
    match object {
        AnyObject::BaseRepo(base) if base.name.as_str() == MAIN => Some(without_commit(base)),
        AnyObject::ReleasePin(pin) if pin.promoted_workload().is_some_and(|of| releases.contains(of)) => None,
        AnyObject::DeploymentTarget(target) if *target.spec.environment != *environment.as_str() => None,
        AnyObject::Workload(workload) => Some(in_environment(workload, environment)),
        other => Some(other.digest()),
    }
}

fn without_commit(base: &Object<BaseRepo>) -> Digest {
    let spec = BaseRepo { commit: None, ..base.spec.clone() };
    Digest::from_value(&(&base.labels, &base.annotations, spec))
}

fn in_environment(workload: &Object<Workload>, environment: &EnvironmentName) -> Digest {
    let targets = workload.spec.deployment_targets.iter();
    let targets = targets.filter(|target| *target.spec.environment == *environment.as_str());
    let targets: Vec<_> = targets.map(|target| (&target.name, &target.labels, &target.spec)).collect();
    Digest::from_value(&(&workload.labels, &workload.annotations, &workload.spec.config_schemas, targets))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &[(&str, &str)], new: &[(&str, &str)], expected: bool) {
        let files = |texts: &[(&str, &str)]| {
            texts.iter().map(|(path, text)| (Arc::from(*path), Arc::from(text.as_bytes()))).collect::<FilesByPath>()
        };
        let environment = EnvironmentName::new("prod").unwrap();
        let releases = &["shop".into()].into();
        let reader = Reader { environment: &environment, releases };
        assert_eq!(is_different(files(old), files(new), reader), expected, "{old:?} {new:?}");
    }

    fn workload(dev: &str, prod: &str) -> String {
        let target = |environment: &str, tag: &str| {
            format!("{{name: {environment}, environment: {environment}, manifests: {{tag: \"{tag}\"}}}}")
        };
        format!(
            "{{apiVersion: scheduler.kalypso.io/v1alpha1, kind: Workload, metadata: {{name: shop}}, \
             spec: {{deploymentTargets: [{}, {}]}}}}",
            target("dev", dev),
            target("prod", prod)
        )
    }

    fn base(commit: &str, path: &str) -> String {
        format!(
            "{{apiVersion: scheduler.kalypso.io/v1alpha1, kind: BaseRepo, metadata: {{name: main}}, \
             spec: {{repo: r, branch: main, path: {path}{commit}}}}}"
        )
    }

    fn pin(name: &str) -> String {
        format!(
            "{{apiVersion: fleet.kalypso.io/v1alpha1, kind: ReleasePin, metadata: {{name: {name}}}, \
             spec: {{deploymentTargetSelector: {{labelSelector: {{matchLabels: {{workload: shop}}}}}}, clusterTypeSelector: {{labelSelector: {{}}}}, manifests: {{tag: \"2\"}}}}}}"
        )
    }

    #[test]
    fn only_targets_of_the_environment_count() {
        check(&[("w.yaml", &workload("1", "1"))], &[("w.yaml", &workload("2", "1"))], false);
        check(&[("w.yaml", &workload("1", "1"))], &[("w.yaml", &workload("1", "2"))], true);
        check(&[("w.yaml", &workload("1", "1"))], &[("moved/w.yaml", &workload("1", "1"))], false);
        check(&[("w.yaml", &workload("1", "1"))], &[], true);
    }

    #[test]
    fn edits_by_promotions_do_not_count() {
        check(&[("b.yaml", &base("", "."))], &[("b.yaml", &base(", commit: abc", "."))], false);
        check(&[("b.yaml", &base("", "."))], &[("b.yaml", &base("", "other"))], true);
        check(&[], &[("p.yaml", &pin("promoted-shop"))], false);
        check(&[], &[("p.yaml", &pin("mine"))], true);
        check(&[], &[("p.yaml", &pin("promoted-other"))], true);
    }

    #[test]
    fn files_that_are_not_read_do_not_count_and_broken_ones_do() {
        check(&[], &[("readme.md", "text")], false);
        check(&[], &[("a.yaml", "kind: [")], true);
        check(&[("kustomization.yaml", "resources: [a.yaml]")], &[("kustomization.yaml", "resources: []")], true);
    }
}
