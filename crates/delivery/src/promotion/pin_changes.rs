//! The release pins of people that commits of an environment's branch make, change or remove.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::promotion::report::EventKind;
use git::limits::FILE_BYTES_MAX;
use git::{Commit, CommitInfo, FileContent, Repositories, RepositoryError, opener};
use model::git_id::GitId;
use model::kind::Kind;
use model::object::AnyObject;
use model::object::release_pin::ReleasePin;
use model::read::{is_read, read_kind};
use model::source::FileId;
use model::tree::{Entry, OpenError, Sealed};

/// A change of a release pin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PinChange {
    /// The name of the pin.
    pub(crate) name: Arc<str>,
    /// Whether it was made or changed, or removed.
    pub(crate) kind: EventKind,
    /// What the pin says: `tag=2.3.0: the new version is too large`.
    pub(crate) text: String,
}

/// The reason why the pins of a commit can't be read.
#[derive(Debug, thiserror::Error)]
pub enum PinChangesError {
    /// The repository can't be read.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// A folder can't be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// The commits of a branch, whose pins are compared.
#[derive(Clone, Copy)]
pub(crate) struct PinnedBranch<'a> {
    /// Where the branch is.
    pub(crate) repositories: &'a dyn Repositories,
    /// Its head.
    pub(crate) head: &'a Commit,
}

impl PinnedBranch<'_> {
    /// The pins that a commit makes, changes or removes: those that differ from all its parents. The parents must be in the repository.
    pub(crate) fn changes(self, (id, info): (GitId, &CommitInfo)) -> Result<Vec<PinChange>, PinChangesError> {
        let mut changes = self.since(id, info.parents.first().copied())?;
        for other in info.parents.iter().skip(1) {
            let others = self.since(id, Some(*other))?;
            changes.retain(|change| others.contains(change));
        }
        Ok(changes)
    }

    /// The pins that differ from those of a parent.
    fn since(self, id: GitId, parent: Option<GitId>) -> Result<Vec<PinChange>, PinChangesError> {
        let at = |id| Commit { id, ..self.head.clone() };
        let commit = at(id);
        let tree = self.repositories.tree(&commit)?;
        let before = parent.map(|parent| self.repositories.tree(&at(parent))).transpose()?.unwrap_or_default();
        let open = |sealed: &Sealed| opener(self.repositories, &commit)(sealed);
        let (mut old, mut new) = (BTreeMap::new(), BTreeMap::new());
        for file in before.diff(&tree, &open) {
            let file = file?;
            if is_read(&file.path) {
                old.extend(self.pins_of(&commit, file.before.as_ref())?);
                new.extend(self.pins_of(&commit, file.after.as_ref())?);
            }
        }
        let change =
            |(name, pin): (&Arc<str>, &ReleasePin), kind| PinChange { name: Arc::clone(name), kind, text: shown(pin) };
        let changed = new.iter().filter(|(name, pin)| old.get(*name) != Some(*pin));
        let changed = changed.map(|pin| change(pin, EventKind::Pinned));
        let gone = old.iter().filter(|(name, _)| !new.contains_key(*name));
        let gone = gone.map(|pin| change(pin, EventKind::Unpinned));
        Ok(changed.chain(gone).collect())
    }

    /// The pins of people in a file.
    fn pins_of(self, commit: &Commit, file: Option<&Entry>) -> Result<BTreeMap<Arc<str>, ReleasePin>, RepositoryError> {
        let Some(file) = file else { return Ok(BTreeMap::new()) };
        let content = self.repositories.content(commit, file.blob.id(), FILE_BYTES_MAX)?;
        let FileContent::Bytes(bytes) = content else { return Ok(BTreeMap::new()) };
        let pins = read_kind(FileId::default(), &bytes, Kind::ReleasePin).objects.into_iter();
        let pins = pins.filter_map(|object| match object {
            AnyObject::ReleasePin(pin) if !pin.is_promoted() => Some((Arc::clone(pin.name.as_arc()), pin.spec.clone())),
            _ => None,
        });
        Ok(pins.collect())
    }
}

fn shown(pin: &ReleasePin) -> String {
    let keys: Vec<_> = pin.manifests.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let reason = if pin.reason.is_empty() { String::new() } else { format!(": {}", pin.reason.trim()) };
    format!("{}{reason}", keys.join(", "))
}
