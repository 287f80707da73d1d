//! The newest values of a workload as a change of their own: on top of the commit of the main branch and of the release that each place has, where a newer one is
//! half-way or was rejected.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::output::rings::PlaceContents;
use engine::promotion::revision::{self, Revisions};
use engine::promotion::rings::Ahead;
use engine::promotion::rings::wanted::MIXED;
use engine::promotion::state::{BranchPosition, Proved, Revision};
use engine::promotion::vector::{AheadOf, Part, Vector};
use git::publications::SourceBranch;
use git::repository_key;
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::tree::Sealed;

use super::origins::Reader;
use super::{Movement, Rings, WorkloadRollout};
use crate::access::RepositoryAccess;
use crate::access::renderer::SUBJECT;
use crate::sources::found_sources::{self, FoundSource};
use crate::sources::loaded::Loaded;
use crate::sources::source_difference::{self, KnownDifferences, SourceCommits};
use crate::states::rollout_store::RevisionSources;

/// What the sources give a workload that moves, or a part of which was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Newest {
    /// The revision, or the rejected one whose parts it has.
    pub desired: Revision,
    /// The part in which the revision differs from the stable one.
    pub part: Part,
    /// The newest values as a change of their own, or why they can't be one. None: there are none.
    pub ahead: Option<Result<NewestValues, Arc<str>>>,
}

/// Newer values as a change of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewestValues {
    revision: Revision,
    rest: Option<Revision>,
    /// The sources of both revisions.
    sources: BTreeMap<Revision, RevisionSources>,
}

/// The sources from which the newest values are rendered.
struct NewestSources {
    /// The sources as they are now.
    latest: RevisionSources,
    /// The sources of the newest values, on top of what places have.
    ahead: AheadOf<RevisionSources>,
}

impl Newest {
    /// The newest values, for a step.
    pub fn ahead(&self) -> Option<Result<Ahead<'_>, &str>> {
        Some(match self.ahead.as_ref()? {
            Ok(NewestValues { revision, rest, .. }) => Ok(Ahead { revision, rest: rest.as_ref() }),
            Err(why) => Err(&**why),
        })
    }

    /// The sources of a revision of the newest values.
    pub fn sources(&self, revision: &Revision) -> Option<&RevisionSources> {
        self.ahead.as_ref()?.as_ref().ok()?.sources.get(revision)
    }
}

/// The revision to which a rollback by a person returns, with its sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Returning {
    /// The revision.
    pub revision: Revision,
    /// The earlier commit of the main branch and release, with the present values.
    pub sources: RevisionSources,
}

/// What changes from environment to environment, and moves as one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Platform {
    /// The commit of the main branch.
    pub(super) main: Option<GitId>,
    /// The release of the workload.
    release: Option<Arc<str>>,
    /// The version of Kalypso, if one was admitted because it changes output.
    renderer: Option<Arc<str>>,
}

/// The commits of values and applications. Of commits that an environment reads the same of, one stands for all.
type Configuration = BTreeMap<SourceBranch, GitId>;
type Commits = Vector<Platform, Configuration>;

impl Rings {
    /// Finds the newest values of a workload. None: the sources give what moves, or what is stable.
    pub(super) fn find_newest(&mut self, reader: &mut Reader<'_>, rollout: WorkloadRollout<'_>) -> Option<Newest> {
        let WorkloadRollout { workload, stored } = rollout;
        let desired = self.revisions.desired(workload)?;
        let state = &stored.state;
        if state.stable.is_none() || state.present() == Some(&desired) {
            return None;
        }
        let latest = RevisionSources::read(reader.loaded, &reader.target.branch).ok()?;
        let mut vectors = Vectors::new(reader.loaded, workload, reader.known.differences())?;
        let newest = vectors.vector(&latest);
        let named = stored.revisions.iter().map(|(revision, sources)| (revision, vectors.vector(sources)));
        let named: BTreeMap<_, _> = named.collect();
        let wanted = state.wanted((&desired, &newest), |revision| named.get(revision).cloned());
        let stable = state.stable.as_ref().and_then(|stable| stored.revisions.get(&stable.revision));
        let sources = |vector: &Commits| {
            let is_newest = vector.configuration == newest.configuration;
            let configuration = if is_newest { &latest } else { stable.unwrap_or(&latest) };
            vectors.sources(&vector.platform, configuration)
        };
        let ahead = wanted.ahead.as_ref().map(|AheadOf { moving, rest }| {
            let ahead = AheadOf { moving: sources(moving), rest: rest.as_ref().map(sources) };
            NewestSources { latest: latest.clone(), ahead }
        });
        let ahead = ahead.map(|newest| self.values(reader, rollout, newest).map_err(Arc::from));
        let ahead = ahead.and_then(Result::transpose);
        Some(Newest { desired: wanted.desired, part: wanted.part, ahead })
    }

    /// Finds what a rollback by a person returns to, or why it can't be rendered. None: no rollback begins.
    pub(super) fn find_returning(
        &mut self,
        reader: &mut Reader<'_>,
        rollout: WorkloadRollout<'_>,
    ) -> Option<Result<Returning, Arc<str>>> {
        let target = rollout.stored.state.rolled_back.as_ref()?.target.as_ref()?;
        Some(self.render_returning(reader, rollout, target).map_err(Arc::from))
    }

    fn render_returning(
        &mut self,
        reader: &mut Reader<'_>,
        rollout: WorkloadRollout<'_>,
        target: &Proved,
    ) -> Result<Returning, String> {
        let WorkloadRollout { workload, stored } = rollout;
        let unknown = "its state does not name the sources of both revisions";
        let stable = stored.state.stable.as_ref().and_then(|stable| stored.revisions.get(&stable.revision));
        let (earlier, present) = stored.revisions.get(&target.revision).zip(stable).ok_or(unknown)?;
        let mut vectors = Vectors::new(reader.loaded, workload, reader.known.differences()).ok_or(unknown)?;
        let back = vectors.vector(earlier);
        if back.configuration == vectors.vector(present).configuration {
            // Without a commit of the branch, its folders are rendered again.
            if target.at == BranchPosition::default() {
                self.revision(reader, rollout, &target.revision)?;
            }
            return Ok(Returning { revision: target.revision.clone(), sources: earlier.clone() });
        }
        if let Some(version) = self.renderer.as_ref().filter(|_| self.kept.contains(workload)) {
            return Err(kept_by(version));
        }
        let sources = vectors.sources(&back.platform, present);
        let revision = self.revisions_of(reader, &sources)?.desired(workload);
        Ok(Returning { revision: revision.ok_or("it can't be rendered with the present values")?, sources })
    }

    /// Renders the newest values. None: no folder has them.
    fn values(
        &mut self,
        reader: &mut Reader<'_>,
        rollout: WorkloadRollout<'_>,
        NewestSources { latest, ahead: AheadOf { moving, rest } }: NewestSources,
    ) -> Result<Option<NewestValues>, String> {
        let WorkloadRollout { workload, stored } = rollout;
        let mut sources = BTreeMap::new();
        let mut render = |rings: &mut Self, of: RevisionSources| {
            let revision = if of == latest {
                rings.revisions.desired(workload)
            } else {
                rings.revisions_of(reader, &of)?.desired(workload)
            };
            let revision = revision.ok_or("they can't be rendered on top of what places have")?;
            sources.insert(revision.clone(), of);
            Ok::<_, String>(revision)
        };
        let revision = render(self, moving)?;
        let rest = rest.map(|rest| render(self, rest)).transpose()?;
        let stable = stored.state.stable.as_ref().map(|stable| &stable.revision);
        let is_rest = rest.as_ref().is_none_or(|rest| Some(rest) == stable);
        if stored.state.present() == Some(&revision) && is_rest {
            return Ok(None);
        }
        let renderer = |sources: &RevisionSources| sources.releases.get(SUBJECT).cloned();
        let of_stable = stable.and_then(|stable| Some((stable, renderer(stored.revisions.get(stable)?))));
        if let Some((stable, version)) = of_stable.filter(|(_, version)| *version != renderer(&latest))
            && self.is_rendered_differently(reader, rollout, stable)
        {
            let version = version.as_deref().unwrap_or("an earlier version").to_owned();
            return Err(format!("{version} of {SUBJECT} rendered what the other places have"));
        }
        if !self.is_stable_below(reader, rollout)? {
            return Err(MIXED.to_owned());
        }
        Ok(Some(NewestValues { revision, rest, sources }))
    }

    /// Keeps the folders of a workload that this version of Kalypso changes, as long as it is not admitted. None: nothing of it is kept.
    pub(super) fn keep(&mut self, reader: &mut Reader<'_>, rollout: WorkloadRollout<'_>) -> Option<Newest> {
        let version = self.renderer.clone()?;
        let present = rollout.stored.state.present()?;
        if !self.is_rendered_differently(reader, rollout, present) {
            return None;
        }
        self.kept.insert(Arc::clone(rollout.workload));
        Some(Newest { desired: present.clone(), part: Part::Both, ahead: Some(Err(kept_by(&version).into())) })
    }

    /// Whether the sources of a revision give another one with this version of Kalypso. What can't be rendered is changed.
    fn is_rendered_differently(
        &mut self,
        reader: &mut Reader<'_>,
        WorkloadRollout { workload, stored }: WorkloadRollout<'_>,
        revision: &Revision,
    ) -> bool {
        if *revision == revision::empty() || self.revisions.desired(workload).as_ref() == Some(revision) {
            return false;
        }
        let Some(sources) = stored.revisions.get(revision) else { return true };
        let without_version = |mut sources: RevisionSources| {
            sources.releases.remove(SUBJECT);
            sources
        };
        let latest = RevisionSources::read(reader.loaded, &reader.target.branch).map(without_version);
        if latest.is_ok_and(|latest| latest == without_version(sources.clone())) {
            return true;
        }
        let now = self.revisions_of(reader, sources).map(|found| found.desired(workload));
        !now.is_ok_and(|now| now.as_ref() == Some(revision))
    }

    /// The revisions that sources give. They are rendered once in a run.
    fn revisions_of(&mut self, reader: &mut Reader<'_>, sources: &RevisionSources) -> Result<Arc<Revisions>, String> {
        if let Some(known) = reader.known.revisions(sources) {
            return Ok(known);
        }
        let index = reader.render(sources, &mut self.earlier)?;
        let compiled = self.earlier.get(index).ok_or("they can't be rendered")?;
        let revisions = Arc::new(Revisions::new(compiled));
        reader.known.set_revisions(sources.clone(), Arc::clone(&revisions));
        Ok(revisions)
    }

    /// Whether all places that the move has not reached have what the stable revision has there.
    fn is_stable_below(&mut self, reader: &mut Reader<'_>, rollout: WorkloadRollout<'_>) -> Result<bool, String> {
        let Some(stable) = self.stable(reader, rollout, true) else { return Ok(false) };
        let movement = Movement { stable, ..self.movement(rollout.workload).into_owned() };
        let each = self.move_contents(&movement);
        let open = |sealed: &Sealed| reader.target.branch.open(sealed);
        let contents = PlaceContents { movement: &each, compiled: reader.compiled, published: &self.head, open: &open };
        let is_below = |place: &&Arc<str>| {
            let location = self.membership.locate(place);
            !each.state.is_reached(location.ring, &location.domain, location.hash)
        };
        let below = self.membership.places.iter().filter(is_below);
        contents.is_stable_below(below).map_err(|error| error.to_string())
    }
}

/// Why the folders of a workload stay as they are.
fn kept_by(version: &str) -> String {
    format!("{SUBJECT} {version} changes its folders, and is not admitted yet")
}

/// The vectors of a workload's revisions.
struct Vectors<'a> {
    workload: &'a Arc<str>,
    access: &'a RepositoryAccess,
    environment: &'a EnvironmentName,
    /// The workloads whose releases are admitted.
    releases: BTreeSet<Arc<str>>,
    /// The sources of values and applications, by their name in publications.
    sources: BTreeMap<SourceBranch, FoundSource>,
    differences: &'a mut KnownDifferences,
}

impl<'a> Vectors<'a> {
    fn new(loaded: &'a Loaded, workload: &'a Arc<str>, differences: &'a mut KnownDifferences) -> Option<Self> {
        let access = loaded.access.as_deref()?;
        let sources = found_sources::of_reads(access, &loaded.reads).into_iter();
        let sources = sources.map(|source| (source.source_name(), source)).collect();
        let releases = loaded.admission.iter().flat_map(|admission| admission.releases.keys().cloned()).collect();
        Some(Self { workload, access, environment: &loaded.fleet.environment, releases, sources, differences })
    }

    fn vector(&mut self, sources: &RevisionSources) -> Commits {
        let platform = platform(self.access, self.workload, sources);
        let commits = sources.sources.iter();
        let configuration = commits.filter_map(|(name, commit)| Some((name.clone(), self.alike(name, *commit)?)));
        Vector { platform, configuration: configuration.collect() }
    }

    /// The newest commit of a source if the environment reads the same of it as of this one, or else this one. None: it is no source of values or of an application.
    fn alike(&mut self, name: &SourceBranch, commit: GitId) -> Option<GitId> {
        let Self { access, environment, releases, sources, differences, .. } = self;
        let source = sources.get(name)?;
        let reader = source_difference::Reader { environment, releases };
        let (old, new) = (&source.at(commit), &source.at(source.commit));
        let commits = SourceCommits { old, new, paths: &source.paths };
        // What can't be compared differs.
        let is_same =
            commit == source.commit || differences.differ(&*access.repositories, commits, reader) == Ok(false);
        Some(if is_same { source.commit } else { commit })
    }

    /// The sources of a vector: another commit of the main branch, and another release, with the other sources of this configuration.
    fn sources(&self, platform: &Platform, configuration: &RevisionSources) -> RevisionSources {
        let Platform { main, release, renderer } = platform;
        let mut found = configuration.clone();
        if main_commit(self.access, configuration) != *main {
            found.promoted = *main;
        }
        for (name, version) in [(&**self.workload, release), (SUBJECT, renderer)] {
            match version {
                Some(version) => drop(found.releases.insert(name.into(), Arc::clone(version))),
                None => drop(found.releases.remove(name)),
            }
        }
        found
    }
}

/// What a revision of a workload was rendered from, without values and applications.
pub(crate) fn platform(access: &RepositoryAccess, workload: &str, sources: &RevisionSources) -> Platform {
    let version = |name: &str| sources.releases.get(name).cloned();
    Platform { main: main_commit(access, sources), release: version(workload), renderer: version(SUBJECT) }
}

/// The commit of the main branch: the admitted one, or else the one that a source names, or the head.
fn main_commit(access: &RepositoryAccess, sources: &RevisionSources) -> Option<GitId> {
    let key = |url: &str| repository_key(&access.settings.git.rewrite, url);
    let own = key(access.settings.repo.as_str());
    let is_own = |(url, _): &SourceBranch| key(url) == own;
    let named = |is_named: &dyn Fn(&str, &GitId) -> bool| {
        let mut commits = sources.sources.iter().filter(|(name, _)| is_own(name));
        commits.find(|(name, commit)| is_named(&name.1, commit)).map(|(_, commit)| *commit)
    };
    let of_head = || named(&|revision, _| *revision == *access.settings.branch);
    sources.promoted.or_else(|| named(&|revision, commit| *revision == *commit.to_string())).or_else(of_head)
}
