//! The `DeploymentDescriptor` of a target.

use std::collections::BTreeMap;

use authoring::scaffold::quoting::yaml;
use model::git_id::GitId;
use model::kind::Kind;
use model::object::annotation::{
    APPLICATION_FILES, APPLICATION_IMAGES, APPLICATION_INPUTS, APPLICATION_RELEASE, APPLICATION_VERSION,
};
use model::object::{AnyObject, DeploymentDescriptor};
use model::read::read_kind;
use model::source::FileId;

use super::{Provenance, ReleaseKeys};
use crate::images::PinnedImages;
use crate::render::InputsId;
use crate::version::ApplicationVersion;

/// A place in a repository, as descriptors name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescriptorPlace {
    /// The repository.
    pub repo: String,
    /// The branch.
    pub branch: String,
    /// The path.
    pub path: String,
}

/// Files with their blob ids, by their paths from the folder of a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedFiles(pub BTreeMap<String, GitId>);

/// Everything that the descriptor of a target says.
#[derive(Clone, Copy, Debug)]
pub struct DescribedDeployment<'a> {
    /// The name of the workload.
    pub workload: &'a str,
    /// The name of the application.
    pub application: &'a str,
    /// The workspace of the application.
    pub workspace: &'a str,
    /// The place of the source.
    pub source: &'a DescriptorPlace,
    /// The name of the deployment target.
    pub target: &'a str,
    /// The environment of the platform.
    pub environment: &'a str,
    /// The place of the manifests.
    pub manifests: &'a DescriptorPlace,
    /// What is deployed.
    pub provenance: &'a Provenance,
    /// The version of the manifests: that of the application, or of the chart of a service.
    pub version: &'a ApplicationVersion,
    /// The digest of what the manifests depend on.
    pub inputs: &'a InputsId,
    /// The digests that the images of the manifests got.
    pub images: &'a PinnedImages,
    /// The files that are written with the descriptor.
    pub files: &'a RecordedFiles,
}

impl DescribedDeployment<'_> {
    /// The file. It contains no time, so that the same deployment has the same bytes.
    pub fn text(&self) -> String {
        let Self {
            workload, application, workspace, source, target, environment, manifests, provenance, version, ..
        } = *self;
        let place = |place: &DescriptorPlace, indent: &str| {
            let DescriptorPlace { repo, branch, path } = place;
            format!("{indent}repo: {}\n{indent}branch: {}\n{indent}path: {}\n", yaml(repo), yaml(branch), yaml(path))
        };
        let of_application = if *version == provenance.version {
            String::new()
        } else {
            format!("    {APPLICATION_VERSION}: {}\n", quoted(&provenance.version.to_string()))
        };
        let keys = if provenance.keys.is_empty() {
            String::new()
        } else {
            format!("    {APPLICATION_RELEASE}: {}\n", quoted(&provenance.keys.text()))
        };
        let images = if self.images.0.is_empty() {
            String::new()
        } else {
            format!("    {APPLICATION_IMAGES}: {}\n", quoted(&self.images.text()))
        };
        let build = version.build();
        let build = if build.is_empty() { String::new() } else { format!("    build: {}\n", quoted(build)) };
        format!(
            "\
# Which version the manifests beside it are. Written by `kalypso app deploy`, in the same commit.
apiVersion: hub.kalypso.io/v1alpha1
kind: DeploymentDescriptor
metadata:
  name: {name}
  annotations:
    {APPLICATION_INPUTS}: {inputs}
    {APPLICATION_FILES}: {files}
{of_application}{keys}{images}spec:
  workload:
    name: {workload}
    source:
{source}    application:
      name: {application}
      workspace:
        name: {workspace}
  deploymentTarget:
    name: {target}
    environment: {environment}
    manifests:
{manifests}  workloadVersion:
    version: {version}
{build}    commit: {commit}
",
            name = yaml(&format!("{workload}-{target}")),
            inputs = quoted(&self.inputs.to_string()),
            files = quoted(&self.files.text()),
            workload = yaml(workload),
            source = place(source, "      "),
            application = yaml(application),
            workspace = yaml(workspace),
            target = yaml(target),
            environment = yaml(environment),
            manifests = place(manifests, "      "),
            version = quoted(&version.without_build()),
            commit = quoted(&provenance.source.to_string()),
        )
    }
}

/// A text that stays a text in every reader, whatever it looks like.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A descriptor in a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReadDescriptor {
    pub(super) spec: DeploymentDescriptor,
    pub(super) inputs: Option<InputsId>,
    /// The version of the application, if it is not that of the manifests.
    pub(super) application_version: Option<String>,
    pub(super) keys: ReleaseKeys,
    pub(super) images: PinnedImages,
    pub(super) files: RecordedFiles,
}

/// Reads a file with a descriptor. None if it contains none that is valid.
pub(super) fn read(content: &[u8]) -> Option<ReadDescriptor> {
    let objects = read_kind(FileId::default(), content, Kind::DeploymentDescriptor).objects;
    let descriptor = objects.into_iter().find_map(|object| match object {
        AnyObject::DeploymentDescriptor(descriptor) => Some(descriptor),
        _ => None,
    })?;
    let annotation = |key| descriptor.annotations.get(key).map(ToString::to_string);
    Some(ReadDescriptor {
        application_version: annotation(APPLICATION_VERSION),
        keys: annotation(APPLICATION_RELEASE).and_then(|text| ReleaseKeys::parse(&text)).unwrap_or_default(),
        images: annotation(APPLICATION_IMAGES).and_then(|text| PinnedImages::parse(&text)).unwrap_or_default(),
        inputs: annotation(APPLICATION_INPUTS).map(InputsId::from_text),
        files: annotation(APPLICATION_FILES).and_then(|text| RecordedFiles::parse(&text)).unwrap_or_default(),
        spec: descriptor.spec.clone(),
    })
}

impl RecordedFiles {
    /// The files as JSON.
    fn text(&self) -> String {
        let files: BTreeMap<_, _> = self.0.iter().map(|(name, id)| (name, id.to_string())).collect();
        serde_json::json!(files).to_string()
    }

    /// Reads what [`Self::text`] writes. None if it is something else.
    fn parse(text: &str) -> Option<Self> {
        let files: BTreeMap<String, String> = serde_json::from_str(text).ok()?;
        let file = |(name, id): (String, String)| {
            let name = crate::files::normalized(&name).filter(|normalized| *normalized == name && !name.is_empty())?;
            Some((name, GitId::from_hex(&id)?))
        };
        files.into_iter().map(file).collect::<Option<_>>().map(Self)
    }
}
