//! Reads the provenance of published output from the trailers in the commits of a GitOps branch.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use model::diagnostic::AssignmentId;
use model::git_id::GitId;
use model::kind::Kind;
use model::name::{DeploymentTargetName, EnvironmentName, PlaceName};
use model::object::AnyObject;
use model::object::workload::WorkloadTarget;
use model::object_key::ObjectKey;

use crate::limits::PUBLICATIONS_REACH;
use crate::repositories::{Commit, Repositories, RepositoryError};
use crate::trailer;
use crate::url::host_and_path;

/// The trailer that names a source of the output: `<URL> <revision> <commit>`.
pub const SOURCE: &str = "Kalypso-Source";

/// The URL of a repository, and a branch or tag. If the object names a commit instead, the second part is the id of that commit.
pub type SourceBranch = (String, String);

/// The trailer that names a kept object: `<URL> <revision> <commit> <kind> <name>`. The object is still rendered, although no file that can be read
/// contains it. For a deployment target of a `Workload`, the name is `<workload>/<target>`.
pub const KEPT: &str = "Kalypso-Kept";

/// The trailer that names assignments rendered from the commits of an earlier publication: `<commit of that publication> <target> <place> <place>…`.
pub const HELD: &str = "Kalypso-Held";

/// The trailer that names the commit with the states of the environment's rollouts, on the branch `kalypso-rollouts/<environment>` of the control plane.
pub const ROLLOUTS: &str = "Kalypso-Rollouts";
/// The trailer that names the commit of the main branch that was admitted. The `BaseRepo` named `main` on the environment's branch may name another one.
pub const PROMOTED: &str = "Kalypso-Promoted";
/// The trailer for the admitted release of a workload: `workload=version`.
pub const RELEASE: &str = "Kalypso-Release";
/// The trailer with the version of Kalypso that rendered all of the output, where a promotion leads to the environment.
pub const RENDERER: &str = "Kalypso-Renderer";
/// The trailer with the reason why output was published past a gate.
pub const OVERRIDE: &str = "Kalypso-Override";

/// The maximum number of places in one `Kalypso-Held` trailer. It keeps the lines short for people who read the message.
const HELD_IN_LINE: usize = 20;

/// An object that is kept because a file that can't be read may still contain it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeptObject {
    /// The commit at which the object could last be read.
    pub commit: GitId,
    /// The kind and name.
    pub key: KeptKey,
}

/// The identity of a unit that is kept separately: an object, or one deployment target of a `Workload`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeptKey {
    /// The object.
    pub object: ObjectKey,
    /// The name of the deployment target. None: the key is for the object itself.
    pub target: Option<Arc<str>>,
}

impl KeptKey {
    /// The key of the object itself.
    pub fn of_object(object: ObjectKey) -> Self {
        Self { object, target: None }
    }

    /// The keys of an object: of the object itself, and of each of its deployment targets.
    pub(crate) fn all_of(object: &AnyObject) -> Vec<Self> {
        let key = object.key();
        let targets = match object {
            AnyObject::Workload(workload) => workload.spec.deployment_targets.as_slice(),
            _ => &[],
        };
        let target = |found: &WorkloadTarget| Self { object: key.clone(), target: Some(Arc::clone(&found.name)) };
        let targets: Vec<_> = targets.iter().map(target).collect();
        [Self::of_object(key)].into_iter().chain(targets).collect()
    }
}

/// Writes ``Workload `shop` `` or ``target `eu` of Workload `shop` ``.
impl fmt::Display for KeptKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(target) = &self.target {
            write!(f, "target `{target}` of ")?;
        }
        self.object.fmt(f)
    }
}

/// The admitted releases of workloads: the version of each, by its name.
pub type AdmittedReleases = BTreeMap<Arc<str>, Arc<str>>;

/// No release is admitted: workloads have those that their objects name.
pub static NO_RELEASES: AdmittedReleases = AdmittedReleases::new();

/// A source as it was last published.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublishedSource {
    /// The commit.
    pub commit: GitId,
    /// Objects that were kept in addition to those in the files of the commit.
    pub kept: BTreeSet<KeptObject>,
}

/// One commit that Kalypso published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedCommit {
    /// The commit in the GitOps repository.
    pub commit: GitId,
    /// The commits of its sources.
    pub sources: BTreeMap<SourceBranch, GitId>,
    /// The kept objects, by source.
    pub kept: BTreeMap<SourceBranch, BTreeSet<KeptObject>>,
    /// The values of the `Kalypso-Held` trailers, not parsed.
    pub held: Vec<Box<str>>,
    /// The commit of the main branch that was admitted. None: the `BaseRepo` named `main` says it.
    pub promoted: Option<GitId>,
    /// The releases of workloads that were admitted. A workload that is not here has the release that its objects name.
    pub releases: AdmittedReleases,
    /// The commit with the states of the environment's rollouts.
    pub states: Option<GitId>,
    /// The version of Kalypso that rendered all of it. None: it is not known, or several did.
    pub renderer: Option<Box<str>>,
    /// Why it was published past a gate, if it was.
    pub override_reason: Option<Box<str>>,
}

/// The publications of one environment on a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Publications {
    /// The publications within the searched generations, newest first.
    pub publications: Vec<PublishedCommit>,
}

impl Publications {
    /// Reads the publications of an environment from the head of a branch. Commits and merges of people between them are skipped.
    ///
    /// # Errors
    /// If the history can't be read.
    pub fn read(
        repositories: &dyn Repositories,
        head: &Commit,
        environment: &EnvironmentName,
    ) -> Result<Self, RepositoryError> {
        Self::read_back(repositories, (head, PUBLICATIONS_REACH), environment)
    }

    /// Same as [`Self::read`], with the number of generations to search.
    ///
    /// # Errors
    /// Same as [`Self::read`].
    pub fn read_back(
        repositories: &dyn Repositories,
        (head, reach): (&Commit, usize),
        environment: &EnvironmentName,
    ) -> Result<Self, RepositoryError> {
        let ancestry = repositories.ancestry(head, reach)?;
        let publication = |(commit, info): (GitId, crate::repositories::CommitInfo)| {
            let is_ours = trailer::trailers(&info.message, trailer::ENVIRONMENT).contains(&environment.as_str());
            is_ours.then(|| PublishedCommit::from_message(commit, &info.message))
        };
        Ok(Self { publications: ancestry.into_iter().filter_map(publication).collect() })
    }

    /// The newest publication.
    pub fn newest(&self) -> Option<&PublishedCommit> {
        self.publications.first()
    }

    /// The last published commit of a source, with its kept objects. It finds the source by the rules of [`Self::commits`]. The name of a pinned
    /// source is its commit, and changes with each new pin. Therefore, a pinned source is also found under its previous pin, if that publication has
    /// exactly one pinned source at this URL.
    pub fn last(&self, name: &SourceBranch) -> Option<PublishedSource> {
        self.publications.iter().find_map(|publication| publication.last(name))
    }

    /// The published commits of a source, oldest first. Consecutive equal commits are listed once. The notation of the URL does not matter: if a
    /// registration changes from `https://` to `ssh://`, it still names the same branch.
    pub fn commits(&self, name: &SourceBranch) -> Vec<GitId> {
        let commit = |publication: &PublishedCommit| publication.source(name).map(|(_, commit)| *commit);
        let mut commits: Vec<_> = self.publications.iter().rev().filter_map(commit).collect();
        commits.dedup();
        commits
    }
}

impl PublishedCommit {
    /// The newest publication of an environment at the head of a branch. The history is read only if the head itself is none.
    ///
    /// # Errors
    /// If the history can't be read.
    pub fn newest(
        repositories: &dyn Repositories,
        head: &Commit,
        environment: &EnvironmentName,
    ) -> Result<Option<Self>, RepositoryError> {
        let at_head = Publications::read_back(repositories, (head, 1), environment)?.publications.pop();
        match at_head {
            None => Ok(Publications::read(repositories, head, environment)?.newest().cloned()),
            newest => Ok(newest),
        }
    }

    /// Parses the trailers of a commit message.
    pub fn from_message(commit: GitId, message: &str) -> Self {
        let held = trailer::trailers(message, HELD).into_iter().map(Box::from).collect();
        let text = |key| trailer::trailers(message, key).first().map(|text| Box::from(*text));
        let (renderer, override_reason) = (text(RENDERER), text(OVERRIDE));
        let id = |key| trailer::trailers(message, key).first().and_then(|text| GitId::from_hex(text));
        let (promoted, states) = (id(PROMOTED), id(ROLLOUTS));
        let (sources, kept, releases) = (sources(message), kept(message), releases(message));
        Self { commit, sources, kept, held, promoted, releases, states, renderer, override_reason }
    }

    /// The assignments that were rendered from an earlier publication, with the commit of that publication.
    pub fn held(&self) -> BTreeMap<AssignmentId, GitId> {
        let of_line = |line: &str| {
            let mut words = line.split(' ');
            let (commit, target) = (GitId::from_hex(words.next()?)?, DeploymentTargetName::new(words.next()?).ok()?);
            let places = words.filter_map(|place| PlaceName::new(place).ok());
            let ids = places.map(|place| (AssignmentId { place, target: target.clone() }, commit));
            Some(ids.collect::<Vec<_>>())
        };
        self.held.iter().filter_map(|line| of_line(line)).flatten().collect()
    }

    /// Finds a source by its name, or by another notation of its URL.
    fn source(&self, name: &SourceBranch) -> Option<(&SourceBranch, &GitId)> {
        let (url, revision) = name;
        let repository = repository_key(url);
        let is_same = |(other, of): &SourceBranch| of == revision && repository_key(other) == repository;
        let same = || self.sources.iter().find(|(other, _)| is_same(other));
        self.sources.get_key_value(name).or_else(same)
    }

    /// The commit of a branch of a repository, from the head of the branch or pinned. None: the output was not rendered from it, or from several commits.
    pub fn branch_commit(&self, url: &str, branch: &str) -> Option<GitId> {
        let repository = repository_key(url);
        let is_of_branch = |(found, revision): &SourceBranch| {
            (revision == branch || GitId::from_hex(revision).is_some()) && repository_key(found) == repository
        };
        let mut commits = self.sources.iter().filter(|(name, _)| is_of_branch(name)).map(|(_, commit)| *commit);
        commits.next().filter(|first| commits.all(|commit| commit == *first))
    }

    /// Whether the output was rendered from this commit of a repository, which an object names. Each publication also lists the head of the main branch, from
    /// which the `Environment` objects are read: that is not what was published.
    pub fn has_pinned_source(&self, url: &str, commit: GitId) -> bool {
        let repository = repository_key(url);
        let is_it = |(found, revision): &SourceBranch, id: &GitId| {
            *id == commit && *revision == commit.to_string() && repository_key(found) == repository
        };
        self.promoted == Some(commit) || self.sources.iter().any(|(name, id)| is_it(name, id))
    }

    fn last(&self, name: &SourceBranch) -> Option<PublishedSource> {
        let pinned = || {
            let repository = repository_key(&name.0);
            let is_pinned = |(_, revision): &SourceBranch| GitId::from_hex(revision).is_some();
            let mut all =
                self.sources.iter().filter(|(found, _)| is_pinned(found) && repository_key(&found.0) == repository);
            all.next().filter(|_| is_pinned(name) && all.next().is_none())
        };
        let (name, commit) = self.source(name).or_else(pinned)?;
        Some(PublishedSource { commit: *commit, kept: self.kept.get(name).cloned().unwrap_or_default() })
    }
}

fn releases(message: &str) -> AdmittedReleases {
    let releases = trailer::trailers(message, RELEASE).into_iter().filter_map(|value| value.split_once('='));
    releases.map(|(workload, version)| (workload.into(), version.into())).collect()
}

/// The value of the `Kalypso-Release` trailer for a workload.
pub fn release_trailer(workload: &str, version: &str) -> String {
    format!("{workload}={version}")
}

/// The host and path of a URL. If it can't be parsed, the URL itself.
fn repository_key(url: &str) -> String {
    host_and_path(url).unwrap_or_else(|| url.to_owned())
}

/// The value of the `Kalypso-Kept` trailer for an object of a source.
pub fn kept_trailer((url, revision): &SourceBranch, kept: &KeptObject) -> String {
    let KeptObject { commit, key } = kept;
    let ObjectKey { kind, name, .. } = &key.object;
    let target = key.target.as_ref().map_or_else(String::new, |target| format!("/{target}"));
    format!("{url} {revision} {commit} {} {name}{target}", kind.name())
}

/// The values of the `Kalypso-Held` trailers for assignments that are rendered from earlier publications.
pub fn held_trailers(held: &BTreeMap<AssignmentId, GitId>) -> Vec<String> {
    let mut places: BTreeMap<(GitId, &str), Vec<&str>> = BTreeMap::new();
    for (id, commit) in held {
        places.entry((*commit, id.target.as_str())).or_default().push(id.place.as_str());
    }
    let lines = |((commit, target), places): ((GitId, &str), Vec<&str>)| {
        let line = |places: &[&str]| format!("{commit} {target} {}", places.join(" "));
        places.chunks(HELD_IN_LINE).map(line).collect::<Vec<_>>()
    };
    places.into_iter().flat_map(lines).collect()
}

/// Parses the `Kalypso-Kept` trailers of a message.
fn kept(message: &str) -> BTreeMap<SourceBranch, BTreeSet<KeptObject>> {
    let kept = |value: &str| {
        let mut words = value.rsplitn(5, ' ');
        let (name, kind, commit) = (words.next()?, words.next()?, GitId::from_hex(words.next()?)?);
        let (revision, url) = (words.next()?, words.next()?);
        let kind = Kind::ALL.iter().copied().find(|known| known.name() == kind)?;
        let (name, target) = name.split_once('/').map_or((name, None), |(name, target)| (name, Some(target.into())));
        let key = KeptKey { object: ObjectKey { kind, name: name.into(), of: None }, target };
        Some(((url.to_owned(), revision.to_owned()), KeptObject { commit, key }))
    };
    let mut by_source: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for (source, object) in trailer::trailers(message, KEPT).into_iter().filter_map(kept) {
        by_source.entry(source).or_default().insert(object);
    }
    by_source
}

/// The value of the `Kalypso-Source` trailer for a source.
pub fn source_trailer((url, revision): &SourceBranch, commit: GitId) -> String {
    format!("{url} {revision} {commit}")
}

/// Parses the `Kalypso-Source` trailers of a message.
fn sources(message: &str) -> BTreeMap<SourceBranch, GitId> {
    let source = |value: &str| {
        let mut words = value.rsplitn(3, ' ');
        let (commit, revision, url) = (words.next()?, words.next()?, words.next()?);
        Some(((url.to_owned(), revision.to_owned()), GitId::from_hex(commit)?))
    };
    trailer::trailers(message, SOURCE).into_iter().filter_map(source).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &str = "4fb8c440e19eca604bbdc14dbba63e5fb98b2c52";

    #[test]
    fn a_message_names_its_sources() {
        let url = "https://git.example/acme/control-plane";
        let message = format!(
            "dev: 1 added\n\nKalypso-Environment: dev\nKalypso-Source: {url} dev {COMMIT}\nKalypso-Source: nonsense\n"
        );
        let expected = BTreeMap::from([((url.to_owned(), "dev".to_owned()), GitId::from_hex(COMMIT).unwrap())]);
        assert_eq!(sources(&message), expected);
    }

    #[test]
    fn kept_trailers_round_trip() {
        let name = ("https://git.example/a b".to_owned(), "dev".to_owned());
        let commit = GitId::from_hex(COMMIT).unwrap();
        let object = |name: &str| {
            let (name, target) = name.split_once('/').map_or((name, None), |(name, target)| (name, Some(target)));
            let object = ObjectKey { kind: Kind::Workload, name: name.into(), of: None };
            KeptObject { commit, key: KeptKey { object, target: target.map(Into::into) } }
        };
        let trailers = ["shop", "till/eu"].map(|object_name| kept_trailer(&name, &object(object_name)));
        assert!(trailers[1].ends_with(" Workload till/eu"));
        let message = format!("x\n\n{KEPT}: {}\n{KEPT}: {}\n{KEPT}: nonsense\n", trailers[0], trailers[1]);
        assert_eq!(kept(&message), BTreeMap::from([(name, BTreeSet::from([object("shop"), object("till/eu")]))]));
    }

    #[test]
    fn held_trailers_round_trip() {
        let id = |place: usize, target: &str| AssignmentId {
            place: PlaceName::new(format!("p{place}")).unwrap(),
            target: DeploymentTargetName::new(target).unwrap(),
        };
        let [one, two] = ["1", "2"].map(|text| GitId::of_blob(text.as_bytes()));
        let held: BTreeMap<_, _> = (0..50)
            .map(|place| (id(place, "till"), one))
            .chain([(id(3, "shop"), two), (id(99, "till"), two)])
            .collect();
        let trailers = held_trailers(&held);
        assert_eq!(trailers.len(), 5);
        let lines: String = trailers.iter().map(|value| format!("{HELD}: {value}\n")).collect();
        let publication =
            PublishedCommit::from_message(one, &format!("x\n\n{lines}{HELD}: nonsense\n{HELD}: {one} ../x y\n"));
        assert_eq!(publication.held(), held);
    }

    #[test]
    fn commit_pin_falls_back_to_the_published_commit_pin() {
        let [one, two] = ["1", "2"].map(|text| GitId::of_blob(text.as_bytes()));
        let name = |revision: &str| ("u".to_owned(), revision.to_owned());
        let check = |sources: &[(&str, GitId)], requested: &str, expected: Option<GitId>| {
            let sources = sources.iter().map(|(revision, commit)| (name(revision), *commit)).collect();
            let publication = PublishedCommit { sources, ..PublishedCommit::from_message(one, "") };
            let published = Publications { publications: vec![publication] };
            assert_eq!(published.last(&name(requested)).map(|source| source.commit), expected);
        };
        let (pin, other) = (one.to_string(), two.to_string());
        check(&[("main", one)], "main", Some(one));
        check(&[("main", one)], "dev", None);
        check(&[("main", two), (&pin, one)], &other, Some(one));
        check(&[("main", two), (&pin, one)], "dev", None);
        check(&[(&other, two), (&pin, one)], &GitId::of_blob(b"3").to_string(), None);
    }

    #[test]
    fn the_commits_of_a_source_are_in_the_order_of_their_publication() {
        let name = ("u".to_owned(), "main".to_owned());
        let [one, two] = ["1", "2"].map(|text| GitId::of_blob(text.as_bytes()));
        let publication = |source: Option<GitId>| PublishedCommit {
            sources: source.map(|id| (name.clone(), id)).into_iter().collect(),
            ..PublishedCommit::from_message(one, "")
        };
        let published = [Some(two), None, Some(one), Some(one), Some(two)].map(publication);
        assert_eq!(Publications { publications: published.into() }.commits(&name), [two, one, two]);
    }

    #[test]
    fn a_source_is_known_however_its_url_is_written() {
        let main = |url: &str| (url.to_owned(), "main".to_owned());
        let commit = GitId::of_blob(b"1");
        let sources = BTreeMap::from([(main("https://git.example/acme/app"), commit)]);
        let published = Publications {
            publications: vec![PublishedCommit { sources, ..PublishedCommit::from_message(commit, "") }],
        };
        assert_eq!(published.commits(&main("git@git.example:acme/app.git")), [commit]);
        assert_eq!(published.commits(&main("https://git.example/acme/other")), []);
    }
}
