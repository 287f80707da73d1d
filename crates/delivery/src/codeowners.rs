//! The owners of the files of a repository, by the hierarchy of the objects that refer to it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use git::load::{ControlPlane, Snapshot};
use git::{Revision, Rewrite};
use model::fleet::Fleet;
use model::label::Labels;
use model::object::environment::RepositoryPlace;
use model::object::{Object, Spec};
use model::object_key::ObjectKey;
use model::owners;
use model::source::File;

use crate::access::{ControlPlaneSettings, RepositoryAccess};
use crate::error::ReadError;
use crate::reading;
use crate::sources::loaded::Loaded;

/// The folder of `Environment` objects.
const ENVIRONMENTS: &str = "/.environments/";

/// The repository and branch whose owners are asked for.
#[derive(Clone, Copy, Debug)]
pub struct OwnersQuestion<'a> {
    /// The URL of the repository.
    pub repository: &'a str,
    /// The branch.
    pub branch: &'a str,
    /// The control plane's URL and main branch.
    pub main: (&'a str, &'a str),
    /// The owners of the control plane's main branch.
    pub main_owners: &'a [Arc<str>],
    /// The rewrite rules, by which two notations of a URL can name one repository.
    pub rewrite: &'a [Rewrite],
}

/// The owners of files, in the order in which later rules override earlier ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeOwners {
    /// The rules.
    pub rules: Vec<OwnersRule>,
    /// Owners that have no effect, and limits that the limited team can change.
    pub warnings: Vec<String>,
}

/// The owners of some files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnersRule {
    /// The files.
    pub files: FilePattern,
    /// The owners.
    pub owners: Vec<Arc<str>>,
    /// Why: the objects with their files.
    pub reasons: Vec<String>,
}

/// The files of a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FilePattern {
    /// All files.
    All,
    /// The files below a folder, given without slashes at its ends.
    Folder(String),
    /// One file.
    File(String),
    /// Files with this name in any folder.
    Named(&'static str),
}

/// An object that refers to a place.
struct Declaration<'f> {
    key: ObjectKey,
    file: &'f File,
    place: &'f RepositoryPlace,
    owners: Vec<Arc<str>>,
    is_limit: bool,
}

/// The repository and branch of a file or place, and its path.
type At = (String, String, String);

/// The hierarchy of all environments.
struct Hierarchy<'f> {
    question: OwnersQuestion<'f>,
    declarations: Vec<Declaration<'f>>,
}

/// The owners of the files of a repository.
pub fn code_owners<'f>(fleets: impl IntoIterator<Item = &'f Fleet>, question: OwnersQuestion<'f>) -> CodeOwners {
    let mut declarations: Vec<_> = fleets.into_iter().flat_map(declarations).collect();
    declarations.sort_by(|one, other| (&one.key, one.file.to_string()).cmp(&(&other.key, other.file.to_string())));
    declarations.dedup_by(|later, first| later.key == first.key && later.file.to_string() == first.file.to_string());
    let mut hierarchy = Hierarchy { question, declarations };
    let mut warnings = hierarchy.remove_owners_of_main();
    let rules = hierarchy.rules(&mut warnings);
    warnings.sort();
    warnings.dedup();
    CodeOwners { rules, warnings }
}

/// The environments of a control plane, all with the head of its main branch.
///
/// # Errors
/// If the control plane can't be read, or declares no environments.
pub fn hierarchy(access: &Arc<RepositoryAccess>) -> Result<Vec<Loaded>, ReadError> {
    let names = reading::environment_names(access)?;
    let ControlPlaneSettings { repo, branch, .. } = &access.settings;
    let head = access.repositories.resolve(repo, &Revision::branch(branch)).ok();
    let control_plane = ControlPlane { promoted: head.map(|head| head.id), ..access.control_plane() };
    let snapshot = Snapshot::new(&*access.repositories, control_plane);
    Ok(names.iter().map(|name| Loaded::new(snapshot.load(name), None, Some(access))).collect())
}

/// The branches of a repository that objects name, for a question without a branch.
pub fn branches<'f>(
    fleets: impl IntoIterator<Item = &'f Fleet>,
    (repository, rewrite): (&str, &[Rewrite]),
) -> BTreeSet<String> {
    let key = git::repository_key(rewrite, repository);
    let of = fleets.into_iter().flat_map(declarations);
    let named = of.filter(|found| git::repository_key(rewrite, &found.place.repo) == key);
    named.map(|found| found.place.branch.to_string()).collect()
}

fn declarations(fleet: &Fleet) -> Vec<Declaration<'_>> {
    let environment = fleet.declaration.iter().map(|object| {
        let spec = &object.spec;
        declaration(fleet, object, (&spec.control_plane, spec.allow.is_some()))
    });
    let bases = fleet
        .base_repos
        .values()
        .map(|object| declaration(fleet, object, (&object.spec.place, object.spec.allow.is_some())));
    let registrations =
        fleet.registrations.values().map(|object| declaration(fleet, object, (&object.spec.workload, false)));
    environment.chain(bases).chain(registrations).collect()
}

fn declaration<'f, S: Spec>(
    fleet: &'f Fleet,
    object: &'f Object<S>,
    (place, is_limit): (&'f RepositoryPlace, bool),
) -> Declaration<'f> {
    let annotations: &Labels = &object.annotations;
    let file = fleet.files.get(object.address.file);
    Declaration { key: object.key(), file, place, owners: owners::from_annotations(annotations), is_limit }
}

impl Declaration<'_> {
    fn reason(&self) -> String {
        format!("{}, declared in {}:{}", self.key, self.file.source.label, self.file.path)
    }
}

impl Hierarchy<'_> {
    fn key(&self, url: &str) -> String {
        git::repository_key(self.question.rewrite, url)
    }

    fn place(&self, declaration: &Declaration<'_>) -> At {
        let place = declaration.place;
        (self.key(&place.repo), place.branch.to_string(), normalized(&place.path))
    }

    fn file(&self, declaration: &Declaration<'_>) -> At {
        let source = &declaration.file.source;
        let repository = self.key(&source.url);
        // A commit is read in place of the branch that the object with the commit also names.
        let of_commit = || self.declarations.iter().find(|other| self.key(&other.place.repo) == repository);
        let branch = match of_commit().filter(|_| source.is_pinned) {
            Some(pinning) => pinning.place.branch.to_string(),
            None => source.revision.to_string(),
        };
        (repository, branch, declaration.file.path.to_string())
    }

    fn is_main(&self, (repository, branch, _): &At) -> bool {
        let (main, main_branch) = self.question.main;
        *repository == self.key(main) && branch == main_branch
    }

    /// Removes owners of the main branch that an object on another branch names: everything else is below the main branch.
    fn remove_owners_of_main(&mut self) -> Vec<String> {
        let is_foreign = |declaration: &Declaration<'_>| {
            let is_limited = !declaration.owners.is_empty() || declaration.is_limit;
            is_limited && self.is_main(&self.place(declaration)) && !self.is_main(&self.file(declaration))
        };
        let foreign: Vec<_> = self.declarations.iter().map(is_foreign).collect();
        let mut warnings = Vec::new();
        for (declaration, _) in self.declarations.iter_mut().zip(foreign).filter(|(_, is_foreign)| *is_foreign) {
            if !std::mem::take(&mut declaration.owners).is_empty() {
                let reason = declaration.reason();
                warnings.push(format!("the owners of {reason}, are ignored: it is not on the main branch, which it refers to; name owners of the main branch with `--owners`"));
            }
        }
        warnings
    }

    fn rules(&self, warnings: &mut Vec<String>) -> Vec<OwnersRule> {
        let asked = (self.key(self.question.repository), self.question.branch.to_owned());
        let is_asked = |(repository, branch, _): &At| (repository, branch) == (&asked.0, &asked.1);
        let mut rules: BTreeMap<(usize, FilePattern), OwnersRule> = BTreeMap::new();
        let mut add = |rank: usize, files: FilePattern, owners: Vec<Arc<str>>, reason: String| {
            let empty = || OwnersRule { files: files.clone(), owners: Vec::new(), reasons: Vec::new() };
            let rule = rules.entry((rank, files.clone())).or_insert_with(empty);
            for owner in owners {
                if !rule.owners.contains(&owner) {
                    rule.owners.push(owner);
                }
            }
            rule.reasons.push(reason);
        };
        let root = (asked.0.clone(), asked.1.clone(), String::new());
        if self.is_main(&root) && !self.question.main_owners.is_empty() {
            let (owners, reason) = (self.question.main_owners.to_vec(), "the main branch of the control plane");
            add(0, FilePattern::All, owners.clone(), reason.to_owned());
            add(usize::MAX - 1, FilePattern::Folder(".environments".into()), owners, "the environments".to_owned());
        }
        let mut above_all: Vec<Arc<str>> =
            if self.is_main(&root) { self.question.main_owners.to_vec() } else { Vec::new() };
        for declaration in &self.declarations {
            let (place, file) = (self.place(declaration), self.file(declaration));
            if is_asked(&place) && !declaration.owners.is_empty() {
                let files = pattern(&place.2);
                if !is_writable(&place.2) {
                    warnings.push(format!(
                        "the owners of {} can't be written: its path has special characters",
                        declaration.reason()
                    ));
                    continue;
                }
                if files == FilePattern::All {
                    above_all.extend(self.owners_above(declaration));
                }
                add(depth(&place.2), files, declaration.owners.clone(), declaration.reason());
            }
            if !is_asked(&file) || (!declaration.is_limit && declaration.owners.is_empty()) {
                continue;
            }
            let above = self.owners_above(declaration);
            if declaration.is_limit && !declaration.owners.is_empty() && is_alone(&above, &declaration.owners) {
                warnings.push(format!(
                    "{} limits its owners, who can change the limit: no owners above own that file",
                    declaration.reason()
                ));
            }
            if !above.is_empty() && is_writable(&file.2) && !format!("/{}", file.2).starts_with(ENVIRONMENTS) {
                let reason = format!("{} is declared here", declaration.key);
                add(usize::MAX - 2, FilePattern::File(file.2), above, reason);
            }
        }
        if !above_all.is_empty() {
            add(
                usize::MAX,
                FilePattern::Named("CODEOWNERS"),
                above_all,
                "the owners above, who decide about this file".to_owned(),
            );
        }
        rules.into_values().collect()
    }

    /// The owners of the file of a declaration, by the places that contain the file, without the place of the declaration itself.
    fn owners_above(&self, declaration: &Declaration<'_>) -> Vec<Arc<str>> {
        let (repository, branch, path) = self.file(declaration);
        let own = self.place(declaration);
        let containing = self.declarations.iter().filter(|other| !other.owners.is_empty()).filter_map(|other| {
            let place = self.place(other);
            let is_there = (&place.0, &place.1) == (&repository, &branch) && contains(&place.2, &path) && place != own;
            is_there.then_some((place.2, other))
        });
        let containing: Vec<_> = containing.collect();
        let deepest = containing.iter().map(|(path, _)| depth(path)).max();
        let of_deepest = containing.iter().filter(|(path, _)| Some(depth(path)) == deepest);
        let mut owners: Vec<Arc<str>> = of_deepest.flat_map(|(_, other)| other.owners.clone()).collect();
        if owners.is_empty() && self.is_main(&(repository, branch, path)) {
            owners = self.question.main_owners.to_vec();
        }
        owners
    }
}

/// Whether there are no other owners.
fn is_alone(above: &[Arc<str>], owners: &[Arc<str>]) -> bool {
    above.iter().all(|owner| owners.contains(owner))
}

fn normalized(path: &str) -> String {
    let names = path.split('/').filter(|name| !matches!(*name, "" | "."));
    names.collect::<Vec<_>>().join("/")
}

fn depth(path: &str) -> usize {
    if path.is_empty() { 0 } else { 1 + path.matches('/').count() }
}

/// Whether a path is at or below a place.
fn contains(place: &str, path: &str) -> bool {
    place.is_empty() || path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn pattern(path: &str) -> FilePattern {
    let is_file = [".yaml", ".yml"].iter().any(|extension| path.ends_with(extension));
    match path {
        "" => FilePattern::All,
        _ if is_file => FilePattern::File(path.to_owned()),
        _ => FilePattern::Folder(path.to_owned()),
    }
}

/// Whether a path has only characters that mean themselves in all formats.
fn is_writable(path: &str) -> bool {
    path.chars().all(|c| c.is_alphanumeric() || matches!(c, '/' | '-' | '_' | '.' | '+' | '@' | '~'))
}

impl FilePattern {
    /// The pattern as GitHub and GitLab write it.
    pub fn as_glob(&self) -> String {
        match self {
            Self::All => "*".to_owned(),
            Self::Folder(path) => format!("/{path}/"),
            Self::File(path) => format!("/{path}"),
            Self::Named(name) => (*name).to_owned(),
        }
    }

    /// The pattern as Gitea and Forgejo write it: a regular expression for the whole path.
    pub fn as_regex(&self) -> String {
        let escaped = |path: &str| path.replace('.', "\\\\.").replace('+', "\\\\+");
        match self {
            Self::All => ".*".to_owned(),
            Self::Folder(path) => format!("{}/.*", escaped(path)),
            Self::File(path) => escaped(path),
            Self::Named(name) => format!("(.*/)?{}", escaped(name)),
        }
    }
}

#[cfg(test)]
mod tests;
