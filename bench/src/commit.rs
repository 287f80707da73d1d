//! The time for committing a tree of many assignments to a bare repository, compared with `git fast-import` for the same files.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, bail, ensure};
use git::{GitRepositories, NewCommit, Person, Push, Pushed, Repositories as _, RepositoryUrl, Settings};
use model::git_id::GitId;
use model::progress::Progress;
use model::tree::{Child, Entry, OpenError, Sealed, SealedBy, Tree, closed};
use rayon::prelude::*;

use crate::Options;
use crate::report::{MIB, Row, grouped};

const PLACES: usize = 100;
const TARGETS: usize = 1_000;
/// The number of targets in each place whose value is different in the second commit.
const CHANGED: usize = 10;

/// Measures a first commit of 100,000 assignments, a second commit that changes 1,000 of them, and `git fast-import` of the first.
pub(crate) fn rows(options: &Options) -> Result<Vec<Row>> {
    let folder = tempfile::tempdir()?;
    let places = options.share_of(PLACES);
    let (first, second) = (Fleet::new(places, 0), Fleet::new(places, CHANGED));
    let (bare, imported) = (folder.path().join("gitops.git"), folder.path().join("imported.git"));
    run_git(&["init", "--quiet", "--bare", path(&bare)?], None)?;
    run_git(&["init", "--quiet", "--bare", path(&imported)?], None)?;
    let repositories = GitRepositories::new(Settings::new(folder.path().join("cache")));
    let url = RepositoryUrl::from_configuration(path(&bare)?)?;
    let (id, first_s) = push(&repositories, &url, &first, None)?;
    let (_, second_s) = push(&repositories, &url, &second, Some(id))?;
    let stream = folder.path().join("stream");
    let bytes = first.write_stream(&stream)?;
    let start = Instant::now();
    run_git(&["--git-dir", path(&imported)?, "fast-import", "--quiet"], Some(File::open(&stream)?))?;
    let import_s = start.elapsed().as_secs_f64();
    let tree = |bare: &Path| run_git(&["--git-dir", path(bare)?, "rev-parse", "main~0^{tree}"], None);
    let was = run_git(&["--git-dir", path(&bare)?, "rev-parse", "main~1^{tree}"], None)?;
    ensure!(was == tree(&imported)?, "fast-import made another tree");
    let (count, whole) = (places * TARGETS, places == PLACES);
    let bounded = |row: Row, bound| if whole { row.at_most(bound) } else { row };
    let name = |what: &str| format!("commit of {} assignments: {what}", grouped(count));
    Ok(vec![
        bounded(Row::measured(name("first, into a bare repository"), first_s, "s"), 15.0),
        bounded(Row::measured(format!("  after a change of {}", grouped(places * CHANGED)), second_s, "s"), 1.0),
        Row::measured("  files", bytes as f64 / MIB, "MiB"),
        Row::measured("  git fast-import of the same files", import_s, "s"),
        Row::measured("  first commit beside git fast-import", first_s / import_s, "times").at_most(3.0),
    ])
}

/// A tree whose folders are computed each time they are opened, as the engine does it.
struct Fleet {
    changed: usize,
    root: Tree,
    places: Vec<Tree>,
}

impl Fleet {
    fn new(places: usize, changed: usize) -> Self {
        let places: Vec<_> = (0..places).into_par_iter().map(|place| place_folder(place, changed)).collect();
        let child = |(place, tree): (usize, &Tree)| {
            let sealed = Sealed { id: tree.id(), by: SealedBy::Generator((PLACES * TARGETS + place) as u64) };
            (place_name(place).into(), Child::Sealed(sealed))
        };
        let root = Tree::from_children(places.iter().enumerate().map(child));
        Self { changed, root, places }
    }

    fn open(&self, sealed: &Sealed) -> Result<Tree, OpenError> {
        let SealedBy::Generator(key) = sealed.by else { return closed(sealed) };
        match self.places.get((key as usize).wrapping_sub(PLACES * TARGETS)) {
            Some(place) => Ok(place.clone()),
            None => Ok(target_folder(key as usize, self.changed)),
        }
    }

    /// Writes all files as a stream for `git fast-import`. Returns their size in bytes.
    fn write_stream(&self, to: &Path) -> Result<usize> {
        let mut stream = BufWriter::new(File::create(to)?);
        write!(stream, "commit refs/heads/main\ncommitter A <a@example.com> 0 +0000\ndata 0\n")?;
        let mut bytes = 0;
        for file in self.root.files(&|sealed| self.open(sealed)) {
            let (path, entry) = file?;
            let Some(content) = entry.blob.bytes() else { bail!("{path} has no content") };
            bytes += content.len();
            write!(stream, "M 100644 inline {path}\ndata {}\n", content.len())?;
            stream.write_all(content)?;
            stream.write_all(b"\n")?;
        }
        stream.flush()?;
        Ok(bytes)
    }
}

fn place_name(place: usize) -> String {
    format!("cluster-type-{place:03}")
}

fn place_folder(place: usize, changed: usize) -> Tree {
    let target = |target| {
        let key = place * TARGETS + target;
        let sealed = Sealed { id: target_folder(key, changed).id(), by: SealedBy::Generator(key as u64) };
        (format!("workload-{target:04}-test").into(), Child::Sealed(sealed))
    };
    let readme = ("README.md".into(), Child::File(Entry::file(engine::layout::own_files::MARKER.as_bytes())));
    Tree::from_children((0..TARGETS).map(target).chain([readme]))
}

/// Three manifests of usual sizes, together 6 kB.
fn target_folder(key: usize, changed: usize) -> Tree {
    let (place, target) = (place_name(key / TARGETS), key % TARGETS);
    let name = format!("workload-{target:04}-test");
    let version = usize::from(target < changed);
    let namespace = format!(
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: dev-{place}-{name}\n  labels:\n    environment: dev\n    clusterType: {place}\n    deploymentTarget: {name}\n    managed-by: kalypso\n"
    );
    let reconciler = format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: {name}\n  namespace: flux-system\nspec:\n  interval: 10s\n  targetNamespace: dev-{place}-{name}\n  sourceRef:\n    kind: GitRepository\n    name: {name}\n  path: ./{name}/{place}\n  prune: true\n---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata:\n  name: {name}\n  namespace: flux-system\nspec:\n  interval: 10s\n  url: https://git.example/acme/{name}\n  ref:\n    branch: dev\n"
    );
    let mut config = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: platform-config\n  namespace: dev-{place}-{name}\ndata:\n"
    );
    let mut state = (key as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ version as u64;
    for index in 0..170 {
        // A step of xorshift: the bytes differ everywhere, but not from run to run.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let _ = writeln!(config, "  SETTING_{index:03}: \"region-{}.{:x}\"", index % 7, state >> 40);
    }
    let files = [("namespace.yaml", namespace), ("platform-config.yaml", config), ("reconciler.yaml", reconciler)];
    let file = |(name, text): (&str, String)| (Arc::from(name), Child::File(Entry::file(text.into_bytes())));
    Tree::from_children(files.map(file))
}

/// Pushes a tree. Returns the commit of the branch, and the seconds that the push took.
fn push(
    repositories: &GitRepositories,
    url: &RepositoryUrl,
    fleet: &Fleet,
    parent: Option<GitId>,
) -> Result<(GitId, f64)> {
    let author = Person { name: "Kalypso".to_owned(), email: "kalypso@example.com".to_owned() };
    let (parents, open) = (Vec::from_iter(parent), |sealed: &Sealed| fleet.open(sealed));
    let commit = NewCommit {
        parents: &parents,
        tree: &fleet.root,
        open: &open,
        message: "publish\n",
        author: &author,
        seconds: 0,
        signer: None,
    };
    let push = Push { branch: "main", expected: parent, commit: Some(commit), progress: &Progress::default() };
    let start = Instant::now();
    match repositories.push(url, &push)? {
        Pushed::Moved(id) => Ok((id, start.elapsed().as_secs_f64())),
        other => bail!("the push came to nothing: {other:?}"),
    }
}

fn path(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| anyhow::anyhow!("{} is not UTF-8", path.display()))
}

fn run_git(arguments: &[&str], input: Option<File>) -> Result<String> {
    let input = input.map_or_else(Stdio::null, Stdio::from);
    let output = Command::new("git").args(arguments).stdin(input).output()?;
    ensure!(output.status.success(), "git {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}
