//! Newer versions of charts, and the edits of the files of services.

use authoring::edit::{Change, EditError, ObjectPosition, edit};
use authoring::value::NewValue;
use model::diagnostic::{Code, Diagnostic};
use model::field_path::FieldPath;
use model::yaml::{self, Node, YamlOptions};
use rayon::prelude::*;

use super::{ChartError, ChartReference, ChartService, ChartStore, Services};
use crate::digest::ContentDigest;
use crate::files::FileSet;
use crate::programs::{Program, ProgramError, Programs, RemoteChart};
use crate::version::ApplicationVersion;

/// The version that services get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateVersion<'a> {
    /// The newest one that their repositories have.
    Newest,
    /// This one.
    Exact(&'a str),
    /// The one that they have. Only missing digests are written.
    Current,
}

/// Which services get which version.
#[derive(Clone, Copy)]
pub struct UpdateRequest<'a> {
    /// The files of the services.
    pub files: &'a FileSet,
    /// The names of the services. Empty: all of them.
    pub names: &'a [String],
    /// The version.
    pub version: UpdateVersion<'a>,
    /// The programs.
    pub programs: &'a dyn Programs,
    /// The downloaded charts.
    pub store: &'a ChartStore,
}

/// The update of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceUpdate {
    /// The name of the service.
    pub name: String,
    /// The path of its file, from the folder of the services.
    pub path: String,
    /// The chart that its file names.
    pub current: ChartReference,
    /// The newest version in the repository that is no pre-release. None: the repository was not asked.
    pub newest: Option<String>,
    /// The change of its file. None: it stays.
    pub edit: Option<ServiceEdit>,
}

/// A change of the file of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceEdit {
    /// The version.
    pub version: String,
    /// The digest of its archive.
    pub digest: ContentDigest,
    /// The file after the change. All other bytes are as before.
    pub content: Vec<u8>,
}

impl Services {
    /// The updates of services. A service with an error has no update, but a diagnostic.
    ///
    /// # Errors
    /// If Helm can't be started.
    pub fn updates(&self, request: &UpdateRequest<'_>) -> Result<(Vec<ServiceUpdate>, Vec<Diagnostic>), ProgramError> {
        let is_chosen = |service: &&ChartService| request.names.is_empty() || request.names.contains(&service.name);
        let chosen: Vec<_> = self.all.iter().filter(is_chosen).collect();
        let found = chosen.into_par_iter().filter_map(|service| {
            let current = service.reference.as_ref()?;
            Some((service, update(service, current, request)))
        });
        let found: Vec<_> = found.collect();
        let (mut updates, mut problems) = (Vec::new(), Vec::new());
        for (service, update) in found {
            match update {
                Ok(update) => updates.push(update),
                Err(UpdateError::Chart(ChartError::Program(error))) if error.is_outside() => return Err(error),
                Err(UpdateError::Chart(error)) => problems.push(error.diagnostic(service)),
                Err(UpdateError::Edit(error)) => {
                    let message = format!("the file of service `{}` can't be edited: {error}", service.name);
                    let found = Diagnostic::error(Code::ServiceFile, message).at(service.origin(&["helm"]), "");
                    problems.push(found.help("write `helm` as a plain mapping, with one field on each line"));
                }
            }
        }
        Ok((updates, problems))
    }
}

/// The reason why a service has no update.
enum UpdateError {
    Chart(ChartError),
    Edit(EditError),
}

fn update(
    service: &ChartService,
    current: &ChartReference,
    request: &UpdateRequest<'_>,
) -> Result<ServiceUpdate, UpdateError> {
    let newest = match request.version {
        UpdateVersion::Newest => Some(newest(request, current).map_err(|error| UpdateError::Chart(error.into()))?),
        UpdateVersion::Exact(_) | UpdateVersion::Current => None,
    };
    let version = match (request.version, &newest) {
        (UpdateVersion::Exact(version), _) if version != current.version => Some(version),
        (UpdateVersion::Exact(_) | UpdateVersion::Current, _) => {
            Some(current.version.as_str()).filter(|_| current.digest.is_none())
        }
        (UpdateVersion::Newest, newest) => newest.as_deref().filter(|newest| is_newer(newest, &current.version)),
    };
    let edit = version.map(|version| {
        let chart = ChartReference { version: version.to_owned(), digest: None, ..current.clone() };
        let digest = request.store.chart(request.programs, &chart).map_err(UpdateError::Chart)?.digest.clone();
        let content = request.files.get(&service.path).map(|file| &*file.content).unwrap_or_default();
        let content = edited(content, version, &digest).map_err(UpdateError::Edit)?;
        Ok(ServiceEdit { version: version.to_owned(), digest, content })
    });
    Ok(ServiceUpdate {
        name: service.name.clone(),
        path: service.path.clone(),
        current: current.clone(),
        newest,
        edit: edit.transpose()?,
    })
}

fn newest(request: &UpdateRequest<'_>, chart: &ChartReference) -> Result<String, ProgramError> {
    let newest = RemoteChart { version: None, ..chart.remote() };
    let content = request.programs.helm_show_chart(&newest, request.store.time_limit())?;
    let reading = yaml::read_bytes(&content, &YamlOptions::OBJECTS);
    let root = reading.documents.into_iter().next().map(|document| document.root);
    let version = root.as_ref().and_then(|root| root.get("version")).and_then(Node::as_scalar);
    let version = version.map(|version| version.text.to_string());
    let version = version.filter(|version| version.parse::<ApplicationVersion>().is_ok());
    version.ok_or_else(|| ProgramError::Failed(Program::Helm, "the newest chart has no semantic version".to_owned()))
}

fn is_newer(newest: &str, current: &str) -> bool {
    let parse = |text: &str| text.parse::<ApplicationVersion>().ok();
    parse(newest) > parse(current)
}

/// The content of a file with another version and digest.
fn edited(content: &[u8], version: &str, digest: &ContentDigest) -> Result<Vec<u8>, EditError> {
    let set = |field: &str, text: &str| Change::Set(FieldPath::from(["helm", field]), NewValue::text(text));
    let changed = edit(content, ObjectPosition::default(), &set("version", version))?;
    edit(&changed, ObjectPosition::default(), &set("digest", &digest.to_string()))
}
