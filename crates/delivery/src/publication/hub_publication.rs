//! Sends publications to the hub: the folders of a GitOps branch with their places and targets, which the folders alone do not contain.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use engine::compile::Assignment;
use engine::compile::renames::Renames;
use engine::layout::Folder;
use engine::plan::{PlaceFolder, PlacePart};
use engine::promotion::release::{PlacedRelease, assigned_release, pinned_assignments};
use engine::schedule::place::Place;
use engine::schedule::target::Target;
use hub_api::client::ClientError;
use hub_api::endpoint::Endpoint;
use hub_api::limits::{EARLIER_NAMES_MAX, LABELS_MAX, NAME_CHARACTERS_MAX};
use hub_api::publication::{
    DesiredPlace, DesiredTarget, DesiredVersion, PathRange, Publication, PublicationQuery, PublicationReceipt,
    PublicationState, PublishedOutput, Role, check_name,
};
use hub_api::timestamp::Timestamp;
use model::diagnostic::AssignmentId;
use model::earlier_names::{self, RENAMED_FROM, RENAMED_TARGETS};
use model::fleet::Fleet;
use model::git_id::GitId;
use model::name::{DeploymentTargetName, PlaceName, RegistrationName};
use model::tree::{Child, OpenError, Sealed, Tree};

use crate::branches::push::Delivered;
use crate::output::gitops_destination::folders_of_branch;
use crate::output::planned::Planned;
use crate::sources::loaded::Loaded;

/// The maximum time for which a request to a busy or unreachable hub is repeated.
const RETRY_TIME: Duration = Duration::from_secs(10);

/// The maximum number of folders in one request. Each may have some kilobytes of labels, and a request may have 16 MiB.
const FOLDERS_MAX: usize = 2_000;

/// The number of generations of the branch that are searched for publications with the output at another path, and of publications that are read.
const PUBLICATIONS_REACH: usize = 50;
const PUBLICATIONS_READ: usize = 2;

/// The label that names the application of a workload.
const APPLICATION_LABEL: &str = "application";

/// The workspace of targets whose registration names none.
const NO_WORKSPACE: &str = "default";

/// A hub that receives publications.
pub trait Hub {
    /// Sends a publication. If the hub is busy or can't be reached, the request is repeated for at most `retry_time`.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the publication.
    fn publish(&self, publication: &Publication, retry_time: Duration) -> Result<PublicationReceipt, ClientError>;

    /// The last commit of which all places of an output were sent.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the query: with the status 404 or 405 if its version is earlier.
    fn publication_state(&self, query: &PublicationQuery) -> Result<PublicationState, ClientError>;
}

/// A hub, with the data of publications that does not depend on folders.
#[derive(Clone, Copy)]
pub struct HubReceiver<'a> {
    /// The hub.
    pub hub: &'a dyn Hub,
    /// The environments in the order of promotion, if the order is configured. Empty: that of the control plane's graph.
    pub environments: &'a [String],
}

/// The reason why the hub has not received a publication.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    /// The hub can't be reached, or refuses the publication.
    #[error("{0}")]
    Client(ClientError),
    /// A folder can't be opened.
    #[error("the publication for the hub can't be read: {0}")]
    Unreadable(OpenError),
}

impl From<OpenError> for HubError {
    fn from(error: OpenError) -> Self {
        Self::Unreadable(error)
    }
}

/// Sends what the hub does not have after a delivery: the folders of a proposed change, and all that changed on the branch since the last commit that was sent
/// completely. So a publication that ended before it reached the hub is completed by the next one. Returns the number of folders. None if the hub has everything.
pub fn send_changes(
    receiver: HubReceiver<'_>,
    loaded: &Loaded,
    (planned, delivered): (&Planned, &Delivered),
) -> Option<Result<usize, HubError>> {
    let branch = &planned.target.branch;
    let renames = Renames::new(planned.compiled.prepared());
    let sender = Sender { receiver, loaded, planned, renames: &renames, commit: None, completes: None };
    let at_head = Sender { commit: head(planned), ..sender.clone() };
    match delivered {
        Delivered::LostRace => None,
        Delivered::Pushed { branch: pushed, commit, seconds } if **pushed == *planned.target.place.branch => {
            let sender = Sender { commit: Some((commit.to_string(), *seconds)), ..sender };
            sender.send_commit(&planned.output.tree, Some(&branch.tree))
        }
        Delivered::UpToDate | Delivered::Withdrawn { .. } | Delivered::Left(_) => {
            at_head.send_commit(&branch.tree, None)
        }
        Delivered::Pushed { .. } | Delivered::Proposed { .. } => {
            let proposed = sender.send_changes(&branch.tree, &planned.output.tree);
            let is_published = planned.earlier.is_some() && proposed.is_ok();
            let merged = is_published.then(|| at_head.send_commit(&branch.tree, None)).flatten();
            Some(proposed.and_then(|count| Ok(count + merged.transpose()?.unwrap_or_default())))
        }
    }
}

/// Sends all folders of the branch. The hub deletes all others. Returns the number of folders.
///
/// # Errors
/// If a folder can't be opened, or the hub does not accept it.
pub fn send_branch(receiver: HubReceiver<'_>, loaded: &Loaded, planned: &Planned) -> Result<usize, HubError> {
    let renames = Renames::new(planned.compiled.prepared());
    let sender = Sender { receiver, loaded, planned, renames: &renames, commit: head(planned), completes: None };
    let completes = sender.published()?.map(|_| sender.output());
    Sender { completes, ..sender }.send_all(&planned.target.branch.tree)
}

/// The head of the branch, with its time in seconds since 1970.
fn head(planned: &Planned) -> Option<(String, i64)> {
    let branch = &planned.target.branch;
    branch.commit().zip(branch.committed_on()).map(|(commit, seconds)| (commit.to_string(), seconds))
}

/// Sends publications of one branch.
#[derive(Clone)]
struct Sender<'a> {
    receiver: HubReceiver<'a>,
    loaded: &'a Loaded,
    planned: &'a Planned,
    /// The earlier names that count.
    renames: &'a Renames,
    /// The commit with these folders, with its time in seconds since 1970. None: the change is only proposed.
    commit: Option<(String, i64)>,
    /// The output that is complete after the last request. None: the hub does not learn it.
    completes: Option<PublishedOutput>,
}

impl Sender<'_> {
    /// Sends what changed since the last commit that was sent completely. `before` is the tree before a push. None: nothing was pushed.
    fn send_commit(&self, tree: &Tree, before: Option<&Tree>) -> Option<Result<usize, HubError>> {
        let (commit, _) = self.commit.as_ref()?;
        let known = match (self.published(), before) {
            (Ok(Some(known)), _) => known,
            // Without an answer, the hub gets the changes of this push at least.
            (Ok(None) | Err(_), Some(before)) => return Some(self.send_changes(before, tree)),
            (Ok(None), None) => return None,
            (Err(error), None) => return Some(Err(error)),
        };
        if known.commit.as_ref() == Some(commit) {
            return None;
        }
        let sender = Self { completes: Some(self.output()), ..self.clone() };
        // The hub never had the output at this path. It may have it at an earlier one.
        let left = if known.commit.is_none() { self.send_left(tree) } else { Ok(0) };
        let left = match left {
            Ok(count) => count,
            Err(error) => return Some(Err(error)),
        };
        let known = known.commit.as_deref().and_then(GitId::from_hex);
        let sent = match known.and_then(|known| self.planned.target.branch.tree_at(known).ok()) {
            Some(before) => sender.send_changes(&before, tree),
            None => match sender.send_all(tree) {
                // A token for some environments may not say that there are no other folders.
                Err(HubError::Client(ClientError::Refused { status: 403, .. })) => {
                    sender.send_changes(&Tree::default(), tree)
                }
                sent => sent,
            },
        };
        Some(sent.map(|count| left + count))
    }

    /// Sends that folders are gone which the last publications had at other paths of the branch.
    fn send_left(&self, tree: &Tree) -> Result<usize, HubError> {
        let mut count = 0;
        for (folder, published) in self.earlier_folders() {
            let Ok(before) = self.planned.target.branch.tree_at(published) else { continue };
            for changed in self.changes_in(&folder, &before, tree)? {
                for places in self.desired_places_in(&folder, &changed)?.chunks(FOLDERS_MAX) {
                    count += self.send(Part::some(places.to_vec()))?;
                }
            }
        }
        Ok(count)
    }

    /// The folders of the output at the last publications that the environment does not name any more, with the commits of these publications.
    fn earlier_folders(&self) -> BTreeMap<Folder, GitId> {
        let Self { loaded, planned, .. } = self;
        let (branch, place) = (&planned.target.branch, &planned.target.place);
        let (now, mut earlier) = (folders_of_branch(&loaded.fleet, place), BTreeMap::new());
        let publications = branch.publications(loaded, PUBLICATIONS_REACH).ok().flatten().unwrap_or_default();
        for publication in publications.publications.iter().take(PUBLICATIONS_READ) {
            let Some(read) = branch.load_publication(loaded, publication) else { continue };
            for folder in folders_of_branch(&read.fleet, place).difference(&now) {
                earlier.entry(folder.clone()).or_insert(publication.commit);
            }
        }
        earlier
    }

    /// The last commit that was sent completely. None: the hub is of an earlier version, which does not know it.
    fn published(&self) -> Result<Option<PublicationState>, HubError> {
        let place = &self.planned.target.place;
        let PublishedOutput { environment, folder } = self.output();
        let (repository, branch) = (git::without_credential(&place.repo), place.branch.to_string());
        match self.receiver.hub.publication_state(&PublicationQuery { repository, branch, environment, folder }) {
            Ok(state) => Ok(Some(state)),
            Err(ClientError::Refused { status: 404 | 405, .. }) => Ok(None),
            Err(error) => Err(HubError::Client(error)),
        }
    }

    fn output(&self) -> PublishedOutput {
        let folder = self.planned.target.folder.as_str().to_owned();
        PublishedOutput { environment: self.loaded.fleet.environment.to_string(), folder }
    }

    /// Sends the folders that differ between two states of the branch. Even if there are none, the hub gets the commit: clusters report it.
    fn send_changes(&self, before: &Tree, after: &Tree) -> Result<usize, HubError> {
        let (mut places, mut count) = (Vec::new(), 0);
        let mut folders = self.changes(before, after)?;
        if self.commit.is_some() {
            folders.extend(self.pinned_folders(after)?);
        }
        for changed in folders {
            places.extend(self.desired_places(&changed)?);
            while places.len() >= FOLDERS_MAX {
                let rest = places.split_off(FOLDERS_MAX);
                count += self.send(Part::some(std::mem::replace(&mut places, rest)))?;
            }
        }
        if !places.is_empty() || self.commit.is_some() {
            count += self.send(Part { is_last: true, ..Part::some(places) })?;
        }
        Ok(count)
    }

    /// Sends all folders, in the order of their paths. Each request has all folders between its first and its last path.
    fn send_all(&self, tree: &Tree) -> Result<usize, HubError> {
        let mut folders = self.changes(&Tree::default(), tree)?;
        folders.sort_by(|left, right| path(left).cmp(&path(right)));
        let (mut ready, mut waiting) = (Vec::new(), BTreeMap::new());
        let (mut last, mut count) = (None, 0);
        for folder in folders {
            // Sorted by path, `edge-2` and its subfolders come between `edge` and `edge/checkout`.
            let later = path(&folder).map(|path| waiting.split_off(&self.planned.target.folder.join(path)));
            ready.extend(waiting.into_values());
            waiting = later.unwrap_or_default();
            let places = self.desired_places(&folder)?;
            waiting.extend(places.into_iter().map(|place: DesiredPlace| (place.path.clone(), place)));
            count += self.send_full(&mut ready, &mut last)?;
        }
        ready.extend(waiting.into_values());
        count += self.send_full(&mut ready, &mut last)?;
        Ok(count + self.send(Part { places: ready, range: Some((last, None)), is_last: true })?)
    }

    /// Sends all full requests. The range of the first one begins after the last path that was sent.
    fn send_full(&self, ready: &mut Vec<DesiredPlace>, last: &mut Option<String>) -> Result<usize, HubError> {
        let mut count = 0;
        while ready.len() >= FOLDERS_MAX {
            let rest = ready.split_off(FOLDERS_MAX);
            let until = ready.last().map(|place| place.path.clone());
            let places = std::mem::replace(ready, rest);
            count += self.send(Part { places, range: Some((last.take(), until.clone())), is_last: false })?;
            *last = until;
        }
        Ok(count)
    }

    /// The folders of the places that people pinned to a release. A pin does not change the folder of a place that has the release already, but what others get from now on
    /// is not desired there.
    fn pinned_folders(&self, tree: &Tree) -> Result<Vec<PlaceFolder>, OpenError> {
        let open = |sealed: &Sealed| self.planned.open(sealed);
        let Some(inside) = tree.folder(self.planned.target.folder.as_str(), &open)? else { return Ok(Vec::new()) };
        let pinned: BTreeSet<PlaceName> =
            pinned_assignments(&self.planned.compiled).into_iter().map(|id| id.place).collect();
        let mut folders = Vec::new();
        for place in pinned {
            let path = self.planned.target.layout.path(place.as_str());
            if let Some(child) = inside.find(&path, &open)? {
                folders.push(PlaceFolder {
                    name: Arc::clone(place.as_arc()),
                    before: None,
                    after: Some((path, child)),
                });
            }
        }
        Ok(folders)
    }

    fn changes(&self, before: &Tree, after: &Tree) -> Result<Vec<PlaceFolder>, OpenError> {
        self.changes_in(&self.planned.target.folder, before, after)
    }

    fn changes_in(&self, folder: &Folder, before: &Tree, after: &Tree) -> Result<Vec<PlaceFolder>, OpenError> {
        let open = |sealed: &Sealed| self.planned.open(sealed);
        let inside = |tree: &Tree| Ok(tree.folder(folder.as_str(), &open)?.unwrap_or_default());
        Ok(engine::plan::folder_changes(inside(before)?, inside(after)?, &open)?.places)
    }

    /// Sends folders.
    fn send(&self, Part { places, range, is_last }: Part) -> Result<usize, HubError> {
        let HubReceiver { hub, environments } = self.receiver;
        let place = &self.planned.target.place;
        let count = places.len();
        let (commit, seconds) = self.commit.clone().unzip();
        let publication = Publication {
            repository: git::without_credential(&place.repo),
            branch: place.branch.to_string(),
            commit,
            committed_on: seconds.map(|seconds| Timestamp::from_millis(seconds.saturating_mul(1000))),
            places,
            range: range.map(|(after, until)| PathRange {
                below: self.planned.target.folder.as_str().to_owned(),
                after,
                until,
            }),
            environments: self.order(),
            completes: self.completes.clone().filter(|_| is_last),
        };
        let sent = match hub.publish(&publication, RETRY_TIME) {
            // A token for some environments may not change the order, and no configuration names one here.
            Err(ClientError::Refused { status: 403, .. })
                if environments.is_empty() && !publication.environments.is_empty() =>
            {
                let publication = Publication { environments: Vec::new(), ..publication };
                hub.publish(&publication, RETRY_TIME)
            }
            sent => sent,
        };
        sent.map(|_| count).map_err(HubError::Client)
    }

    /// The environments in the order of promotion. Empty if nothing says the order.
    fn order(&self) -> Vec<String> {
        let graph = &self.loaded.graph;
        match self.receiver.environments {
            [] if graph.has_steps() => graph.order().iter().map(ToString::to_string).collect(),
            configured => configured.to_vec(),
        }
    }

    /// The folder of a place, and the folders of its assignments.
    fn desired_places(&self, changed: &PlaceFolder) -> Result<Vec<DesiredPlace>, OpenError> {
        self.desired_places_in(&self.planned.target.folder, changed)
    }

    /// The same in a folder of the branch.
    fn desired_places_in(&self, folder: &Folder, changed: &PlaceFolder) -> Result<Vec<DesiredPlace>, OpenError> {
        let parts = changed.parts(&|sealed: &Sealed| self.planned.open(sealed))?;
        let place = self.planned.place(&changed.name);
        let cluster = place.as_ref().and_then(|place| place.cluster.as_ref()).map(|cluster| cluster.name.to_string());
        // The cluster type of a deleted place may not be known.
        let cluster_type = place.as_ref().map(|place| place.cluster_type.name.to_string());
        let earlier_names = place.map(|place| earlier_place_names(&place, self.renames)).unwrap_or_default();
        let desired_place = |part: PlacePart| {
            let assignment = self.assignment(&part);
            let held = self.planned.held(&part.place, part.target.as_ref(), part.folder.as_ref().map(Child::id));
            let is_of = |assignment: &Assignment<'_>| assignment.folder() == part.folder.as_ref().map(Child::id);
            let composition = assignment.filter(is_of).and_then(|assignment| assignment.composition());
            let config_version = composition.map(|composition| composition.version().to_string());
            let release = assignment.filter(is_of).and_then(assigned_release);
            let release = release.or_else(|| held.and_then(|held| held.release.clone()));
            let target = assignment.and_then(|assignment| assignment.target());
            let target = target.map(|target| desired_target(target, (&self.loaded.fleet, self.renames)));
            DesiredPlace {
                path: folder.join(&part.path),
                tree: part.folder.map(|folder| folder.id().to_string()),
                role: Role::Platform,
                environment: Some(self.loaded.fleet.environment.to_string()),
                cluster_type: cluster_type.clone(),
                cluster: cluster.clone(),
                earlier_names: earlier_names.clone(),
                config_version: config_version.or_else(|| held.map(|held| held.version.to_string())),
                targets: target.map(|one| DesiredTarget { version: version_of(release), ..one }).into_iter().collect(),
            }
        };
        Ok(parts.into_iter().map(desired_place).collect())
    }

    fn assignment(&self, part: &PlacePart) -> Option<Assignment<'_>> {
        let place = PlaceName::new(part.place.clone()).ok()?;
        let target = DeploymentTargetName::new(part.target.clone()?).ok()?;
        self.planned.assignment(&AssignmentId { place, target }, part.folder.as_ref()?.id())
    }
}

/// The folders of one request.
struct Part {
    places: Vec<DesiredPlace>,
    /// The folders are all those after the first path, up to and including the second one. None: no limit at that end.
    range: Option<(Option<String>, Option<String>)>,
    /// Whether no request about the commit follows.
    is_last: bool,
}

impl Part {
    fn some(places: Vec<DesiredPlace>) -> Self {
        Self { places, range: None, is_last: false }
    }
}

/// The path of a place's folder, relative to the folder of the output. None if the folder is deleted.
fn path(folder: &PlaceFolder) -> Option<&String> {
    folder.after.as_ref().map(|(path, _)| path)
}

/// The release of a folder as a version. None: there is none, or the hub can't store its text.
fn version_of(release: Option<PlacedRelease>) -> Option<DesiredVersion> {
    let PlacedRelease { release, is_pinned } = release?;
    let version = release.text().to_string();
    check_name("version", Some(&version)).ok()?;
    Some(DesiredVersion { pinned: is_pinned, ..DesiredVersion::named(version) })
}

/// Converts a target to the form of deployment descriptors, so that both identify the same target. Its name is the part after the name of its workload. Its
/// application is its label `application`. If it has no such label, the application is the name of the registration, or else of the workload.
fn desired_target(target: &Target, (fleet, renames): (&Fleet, &Renames)) -> DesiredTarget {
    let full_name = target.name.as_str();
    let workload = Some(target.workload()).filter(|name| !name.is_empty()).unwrap_or(full_name);
    let own_name = full_name.strip_prefix(workload).and_then(|rest| rest.strip_prefix('-')).unwrap_or(full_name);
    let workspace = Some(target.workspace()).filter(|name| !name.is_empty()).unwrap_or(NO_WORKSPACE);
    let label = target.labels.get(APPLICATION_LABEL).map(|name| &**name).filter(|name| !name.is_empty());
    let registration = target.registration.as_ref();
    let application = label.or_else(|| registration.map(RegistrationName::as_str)).unwrap_or(workload);
    let source = registration.and_then(|name| fleet.registrations.get(name.as_str())).and_then(|object| {
        let place = &object.spec.workload;
        Endpoint::new(&place.repo, &place.branch, &place.path).ok()
    });
    let mut labels: BTreeMap<_, _> =
        target.labels.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let earlier = earlier_names((fleet, renames), (workload, own_name));
    labels.extend(earlier.into_iter().take(LABELS_MAX.saturating_sub(target.labels.len())));
    DesiredTarget {
        workspace: workspace.to_owned(),
        application: application.to_owned(),
        workload: workload.to_owned(),
        name: own_name.to_owned(),
        environment: fleet.environment.to_string(),
        labels,
        source_endpoint: source.map(|source| source.to_string()),
        version: None,
    }
}

/// The earlier names of a place that count, the latest first. The hub refuses more of them, so the oldest names are left out.
fn earlier_place_names(place: &Place, renames: &Renames) -> Vec<String> {
    let annotations = place.cluster.as_ref().map_or(&place.cluster_type.annotations, |cluster| &cluster.annotations);
    let counts = |earlier: &&str| renames.place(earlier).is_some_and(|present| present == place.name_text());
    let names = earlier_names::of_object(annotations).into_iter().filter(counts);
    names.take(EARLIER_NAMES_MAX).map(str::to_owned).collect()
}

/// The earlier names of a workload and of its target that count, as labels: the hub finds what happened under them.
fn earlier_names((fleet, renames): (&Fleet, &Renames), (workload, own_name): (&str, &str)) -> Vec<(String, String)> {
    let annotations = fleet.workloads.get(workload).map(|workload| &workload.object.annotations);
    let mut of_workload = annotations.map(earlier_names::of_object).unwrap_or_default();
    of_workload.retain(|earlier| renames.workloads().get(*earlier).is_some_and(|present| **present == *workload));
    let of_target = annotations.map(earlier_names::of_targets).unwrap_or_default().into_iter();
    let counts = |(present, earlier): &(&str, &str)| {
        let target = renames.target(&format!("{workload}-{earlier}"));
        *present == own_name && target.is_some_and(|target| **target == *format!("{workload}-{own_name}"))
    };
    let of_target: Vec<_> = of_target.filter(counts).map(|(_, earlier)| earlier).collect();
    // The hub refuses longer texts, so the oldest names are left out.
    let joined = |names: Vec<&str>| {
        names.into_iter().map(str::to_owned).reduce(|all, name| {
            let longer = format!("{all}, {name}");
            if longer.len() <= NAME_CHARACTERS_MAX { longer } else { all }
        })
    };
    let labels = [(RENAMED_FROM, joined(of_workload)), (RENAMED_TARGETS, joined(of_target))];
    labels.into_iter().filter_map(|(key, names)| Some((key.to_owned(), names?))).collect()
}
