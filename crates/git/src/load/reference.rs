//! Objects that refer to a place in a repository.

use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::fleet::Limits;
use model::git_id::GitId;
use model::object::environment::RepositoryPlace;
use model::object::{BaseRepo, Environment, FluxGitRepository, FluxKustomization, Object, Spec, WorkloadRegistration};
use model::object_key::ObjectKey;
use model::source::Address;

use super::place::{PlaceError, SourcePlace};
use super::{ControlPlane, ReadRole, diagnostics};
use crate::repositories::{RepositoryError, Revision};
use crate::settings::{repository_key, rewrite};
use crate::url::{RepositoryUrl, UrlError};

/// A reference from an object to a place, with the fields that contain it.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    pub(super) key: ObjectKey,
    role: ReadRole,
    url: FieldText,
    branch: FieldText,
    tag: Option<FieldText>,
    commit: Option<FieldText>,
    path: FieldText,
    /// What the place may bring. Empty for places of the platform, whose limits depend on the way to them.
    limits: Limits,
}

/// The text of a field, and where the field is.
#[derive(Clone, Debug)]
struct FieldText {
    text: Arc<str>,
    origin: Origin,
}

/// The branch that Flux uses if a `GitRepository` names none.
pub(super) const FLUX_BRANCH: &str = "master";

impl Reference {
    pub(super) fn of_environment(object: &Object<Environment>) -> Self {
        let origin = |field: &str| at(object.address, &["spec", "controlPlane", field]);
        Self::new(object, ReadRole::Environment, &object.spec.control_plane, origin)
    }

    /// The reference of a registration in a file with these limits.
    pub(super) fn of_registration(object: &Object<WorkloadRegistration>, limits: &Limits) -> Self {
        let key = object.key();
        let origin = |field: &str| Origin::field(&key, FieldPath::from(["spec", "workload", field]));
        let reference = Self::new(object, ReadRole::Application(object.name.clone()), &object.spec.workload, origin);
        Self { limits: limits.clone(), ..reference }
    }

    pub(super) fn of_base_repo(object: &Object<BaseRepo>) -> Self {
        let origin = |field: &str| at(object.address, &["spec", field]);
        let reference = Self::new(object, ReadRole::Base(object.name.clone()), &object.spec.place, origin);
        let commit = object.spec.commit.clone().map(|text| FieldText { text, origin: origin("commit") });
        Self { commit, ..reference }
    }

    pub(super) fn of_flux(repository: &Object<FluxGitRepository>, object: &Object<FluxKustomization>) -> Self {
        let field_text =
            |text: &Arc<str>, fields: &[&str]| FieldText { text: text.clone(), origin: at(repository.address, fields) };
        let some = |text: &Arc<str>, field: &str| (!text.is_empty()).then(|| field_text(text, &["spec", "ref", field]));
        let FluxGitRepository { url, branch, tag, commit } = &repository.spec;
        let master = || field_text(&FLUX_BRANCH.into(), &["spec", "ref"]);
        Self {
            key: object.key(),
            role: ReadRole::Flux(object.key().name),
            url: field_text(url, &["spec", "url"]),
            branch: some(branch, "branch").unwrap_or_else(master),
            tag: some(tag, "tag"),
            commit: some(commit, "commit"),
            path: FieldText { text: object.spec.path.clone(), origin: at(object.address, &["spec", "path"]) },
            limits: Limits::default(),
        }
    }

    fn new<S: Spec>(
        object: &Object<S>,
        role: ReadRole,
        place: &RepositoryPlace,
        origin: impl Fn(&str) -> Origin,
    ) -> Self {
        let field_text = |text: &Arc<str>, field| FieldText { text: text.clone(), origin: origin(field) };
        Self {
            key: object.key(),
            role,
            url: field_text(&place.repo, "repo"),
            branch: field_text(&place.branch, "branch"),
            tag: None,
            commit: None,
            path: field_text(&place.path, "path"),
            limits: Limits::default(),
        }
    }

    /// The place that the object refers to.
    ///
    /// # Errors
    /// A diagnostic if the URL or the commit is not valid.
    pub(super) fn place(&self, control_plane: &ControlPlane<'_>) -> Result<SourcePlace, Diagnostic> {
        let url = allowed(&self.url.text, control_plane).map_err(|reason| self.refuse_url(reason))?;
        let branch = Arc::clone(&self.branch.text);
        let revision = match (&self.commit, &self.tag) {
            (Some(commit), _) => {
                let id = GitId::from_hex(&commit.text).ok_or_else(|| self.refuse_commit(commit))?;
                Revision::Commit { id, branch: (!branch.is_empty()).then_some(branch) }
            }
            (None, Some(tag)) => Revision::Tag(Arc::clone(&tag.text)),
            (None, None) => Revision::Branch(branch),
        };
        let (path, role, limits) = (Arc::clone(&self.path.text), self.role.clone(), self.limits.clone());
        let key = |url: &str| repository_key(control_plane.rewrite, url);
        let is_control_plane = key(url.as_str()) == key(control_plane.url.as_str());
        Ok(SourcePlace { url, revision, path, role, limits, is_control_plane })
    }

    /// The diagnostic for a place that can't be read. It points at the field that causes the error.
    pub(super) fn diagnostic(&self, error: &PlaceError) -> Diagnostic {
        let field_text = match error {
            PlaceError::Repository(RepositoryError::NoRevision { revision: Revision::Commit { .. }, .. }) => {
                self.commit.as_ref().unwrap_or(&self.branch)
            }
            PlaceError::Repository(RepositoryError::NoRevision { revision: Revision::Tag(_), .. }) => {
                self.tag.as_ref().unwrap_or(&self.branch)
            }
            PlaceError::Repository(RepositoryError::NoRevision { .. }) => &self.branch,
            PlaceError::Repository(_) => &self.url,
            PlaceError::Path(_) => &self.path,
        };
        diagnostics::place(error, &self.path.text).at(field_text.origin.clone(), "named here").about(&self.key)
    }

    /// The field with the commit; the field with the branch if there is none.
    pub(super) fn commit_origin(&self) -> Origin {
        self.commit.as_ref().unwrap_or(&self.branch).origin.clone()
    }

    /// The field with the URL.
    pub(super) fn origin(&self) -> Origin {
        self.url.origin.clone()
    }

    fn refuse_url(&self, reason: UrlError) -> Diagnostic {
        // The message does not repeat the URL, because it may contain a credential.
        Diagnostic::error(Code::InvalidUrl, format!("the URL of {} is not allowed: {reason}", self.key))
            .at(self.origin(), "named here")
            .help("write `https://…`, `ssh://…` or `user@host:path`, without a password; configure credentials and mirrors under `[git]` in `kalypso.toml`")
            .about(&self.key)
    }

    fn refuse_commit(&self, commit: &FieldText) -> Diagnostic {
        let message = format!("`{}` of {} is not the id of a commit", commit.text.escape_debug(), self.key);
        Diagnostic::error(Code::RevisionNotFound, message)
            .at(commit.origin.clone(), "40 hexadecimal digits are expected")
            .help("`git rev-parse` prints the full id of an abbreviated one")
            .about(&self.key)
    }
}

/// Checks the URL of an object. `http` is allowed only if a rewrite rule of the configuration applies to the URL.
pub(super) fn allowed(text: &str, control_plane: &ControlPlane<'_>) -> Result<RepositoryUrl, UrlError> {
    match RepositoryUrl::from_object(text) {
        Err(UrlError::Scheme) if text.starts_with("http://") && rewrite(control_plane.rewrite, text) != text => {
            RepositoryUrl::from_configuration(text)
        }
        other => other,
    }
}

fn at(address: Address, fields: &[&str]) -> Origin {
    let steps = fields.iter().map(|field| model::field_path::FieldStep::Key((*field).into()));
    Origin::At(address, steps.collect())
}
