//! Plans a deployment: the edits of a branch that bring the rendered targets into it. Pure, apart from opening the folders of the branch.

use std::collections::BTreeMap;
use std::sync::Arc;

use git::{Edit, Edits};
use model::diagnostic::{Code, Diagnostic, Origin};
use model::git_id::GitId;
use model::object::{Object, Workload};
use model::source::FileId;
use model::tree::{Open, OpenError};

use super::descriptor::{DescribedDeployment, DescriptorPlace};
use super::{DeployedBranch, DeployedTarget, Provenance, RecordedFiles, TRACKING_FOLDER};
use crate::declarations::TargetDeclarations;
use crate::files::joined;
use crate::images::PinnedImages;
use crate::render::{InputsId, RenderedTarget, TargetFiles, TargetState};
use crate::settings::{ApplicationSettings, DESCRIPTOR_FILE, EnvironmentSettings, KUSTOMIZATION_FILE};
use crate::values::TargetPath;
use crate::version::ApplicationVersion;

/// The share of the deployed targets that may be removed without a word of a person, and the number up to which the share does not matter.
const REMOVALS_MAX: (f64, usize) = (0.2, 5);

/// What is deployed, and where.
#[derive(Clone, Copy)]
pub struct PlanRequest<'a> {
    /// The settings.
    pub settings: &'a ApplicationSettings,
    /// The file with the settings.
    pub settings_file: FileId,
    /// The environment.
    pub environment: &'a EnvironmentSettings,
    /// The workload.
    pub workload: &'a Object<Workload>,
    /// What is deployed.
    pub provenance: &'a Provenance,
    /// The place of the source.
    pub source: &'a DescriptorPlace,
    /// The rendered targets.
    pub targets: &'a [RenderedTarget],
    /// The branch as it is.
    pub current: &'a DeployedBranch,
    /// Opens the folders of the branch.
    pub open: &'a Open<'a>,
    /// What a person allowed.
    pub options: PlanOptions,
}

/// What a person allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanOptions {
    /// Files that are in the way become files of the deployment.
    pub adopt: bool,
    /// Files that people edited are replaced.
    pub overwrite: bool,
    /// Many targets may be removed.
    pub confirm_removals: bool,
}

/// What happens to a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TargetAction {
    /// It is deployed for the first time.
    Added,
    /// Its manifests change.
    Changed,
    /// Only its version changes.
    Described,
    /// It stays as it is.
    Unchanged,
    /// It is removed.
    Removed,
    /// It stays as it is, because of an error.
    Kept,
}

/// The change of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetDeployment {
    /// The target.
    pub path: TargetPath,
    /// What happens to it.
    pub action: TargetAction,
    /// The version that is deployed now.
    pub before: Option<String>,
    /// Whether the application has another version than the one that is deployed now.
    pub has_new_version: bool,
}

/// A planned deployment.
#[derive(Clone, Debug, Default)]
pub struct DeploymentPlan {
    /// The targets, by path.
    pub targets: Vec<TargetDeployment>,
    /// The edits of the branch. Empty: nothing changes.
    pub edits: Edits,
    /// What stops targets, or the whole deployment.
    pub problems: Vec<Diagnostic>,
    /// Whether nothing may be deployed.
    pub is_refused: bool,
}

impl DeploymentPlan {
    /// Plans a deployment.
    ///
    /// # Errors
    /// If a folder of the branch can't be opened.
    pub fn new(request: &PlanRequest<'_>) -> Result<Self, OpenError> {
        let mut planning = Planning { request, plan: Self::default(), files: BTreeMap::new() };
        for target in request.targets {
            planning.target(target)?;
        }
        planning.removals();
        planning.tracking();
        let Planning { mut plan, files, .. } = planning;
        plan.targets.sort_by(|left, right| left.path.cmp(&right.path));
        if !plan.is_refused {
            plan.edits = files.into_iter().collect();
        }
        Ok(plan)
    }

    /// The number of targets with an action.
    pub fn count(&self, action: TargetAction) -> usize {
        self.targets.iter().filter(|target| target.action == action).count()
    }
}

/// What a descriptor says about the manifests of its target.
struct DescribedManifests<'a> {
    inputs: &'a InputsId,
    /// The version: that of the application, or of the chart of a service.
    version: &'a ApplicationVersion,
    /// The digests that images got.
    images: &'a PinnedImages,
}

/// The new content of a target.
struct Writing<'a> {
    described: DescribedManifests<'a>,
    /// What is deployed.
    own: Option<&'a DeployedTarget>,
    /// The new files. None: they stay.
    files: Option<TargetFiles>,
}

struct Planning<'a> {
    request: &'a PlanRequest<'a>,
    plan: DeploymentPlan,
    /// The changed files of the branch. None: it is removed.
    files: BTreeMap<Arc<str>, Edit>,
}

impl Planning<'_> {
    fn target(&mut self, target: &RenderedTarget) -> Result<(), OpenError> {
        let deployed = self.request.current.targets.get(&target.path);
        let own = deployed.filter(|deployed| self.is_own(deployed));
        let version = &self.request.provenance.version;
        let mut change = TargetDeployment {
            path: target.path.clone(),
            action: TargetAction::Kept,
            before: own.map(DeployedTarget::whole_version),
            has_new_version: own.map(DeployedTarget::release_version) != Some(version.to_string()),
        };
        let version = target.version.as_ref().unwrap_or(version);
        if let Some(other) = deployed.filter(|_| own.is_none()) {
            self.plan.problems.push(of_other(&target.path, other));
            self.plan.targets.push(change);
            return Ok(());
        }
        let Some(inputs) = &target.inputs else {
            self.plan.targets.extend(own.map(|_| change));
            return Ok(());
        };
        let no_images = PinnedImages::default();
        let (files, images) = match &target.state {
            TargetState::Failed => {
                self.plan.targets.extend(own.map(|_| change));
                return Ok(());
            }
            TargetState::Known => (None, own.map_or(&no_images, |own| &own.images)),
            TargetState::Rendered(manifests) if manifests.are_files => (Some(manifests.files.clone()), &no_images),
            TargetState::Rendered(manifests) => (Some(self.with_kustomization(&manifests.files)), &manifests.pinned),
        };
        if !self.is_free(&target.path, (own, files.as_ref()))? {
            self.plan.targets.push(change);
            return Ok(());
        }
        change.action =
            self.write(&target.path, Writing { described: DescribedManifests { inputs, version, images }, own, files });
        self.plan.targets.push(change);
        Ok(())
    }

    fn is_own(&self, deployed: &DeployedTarget) -> bool {
        deployed.workload == self.request.workload.name.as_str()
            && deployed.environment == self.request.environment.environment
    }

    fn with_kustomization(&self, files: &TargetFiles) -> TargetFiles {
        let mut files = files.clone();
        if self.request.settings.output.kustomization && !files.contains_key(KUSTOMIZATION_FILE) {
            let text = kustomization(files.keys());
            files.insert(KUSTOMIZATION_FILE.to_owned(), text.into_bytes().into());
        }
        files
    }

    /// Whether no file of others would be replaced.
    fn is_free(
        &mut self,
        target: &TargetPath,
        (own, files): (Option<&DeployedTarget>, Option<&TargetFiles>),
    ) -> Result<bool, OpenError> {
        let PlanRequest { options, current, open, .. } = *self.request;
        let edited = own.map(|own| &own.edited).filter(|edited| !edited.is_empty());
        if let Some(edited) = edited {
            self.plan.problems.push(edited_files(target, edited, options.overwrite));
            if !options.overwrite {
                return Ok(false);
            }
        }
        let recorded = own.map(|own| &own.recorded.0);
        let mut in_the_way = Vec::new();
        for (name, content) in files.into_iter().flatten() {
            let path = self.branch_path(target, name);
            let existing = current.tree.find(&path, open)?;
            let is_recorded = recorded.is_some_and(|recorded| recorded.contains_key(name));
            if existing.is_some_and(|existing| !is_recorded && existing.id() != GitId::of_blob(content)) {
                in_the_way.push(path);
            }
        }
        if in_the_way.is_empty() || options.adopt {
            return Ok(true);
        }
        self.plan.problems.push(foreign_files(target, &in_the_way));
        Ok(false)
    }

    fn branch_path(&self, target: &TargetPath, name: &str) -> String {
        joined(&joined(&self.request.current.path, target.as_str()), name)
    }

    /// Adds the files of a target to the edits. Without files, its manifests stay.
    fn write(&mut self, target: &TargetPath, writing: Writing<'_>) -> TargetAction {
        let Writing { described, own, files } = writing;
        let recorded = own.map(|own| own.recorded.clone()).unwrap_or_default();
        let (new, files) = match files {
            None => (recorded.clone(), BTreeMap::new()),
            Some(files) => (
                RecordedFiles(files.iter().map(|(name, content)| (name.clone(), GitId::of_blob(content))).collect()),
                files,
            ),
        };
        let is_edited = own.is_some_and(|own| !own.edited.is_empty());
        let is_same = new == recorded && !is_edited;
        for (name, content) in files.into_iter().filter(|_| !is_same) {
            let path = self.branch_path(target, &name);
            self.files.insert(path.into(), Edit::Content(GitId::of_blob(&content), content));
        }
        for name in recorded.0.keys().filter(|name| !new.0.contains_key(*name)) {
            self.files.insert(self.branch_path(target, name).into(), Edit::Removed);
        }
        let descriptor: Arc<[u8]> = self.descriptor(target, &described, &new).into_bytes().into();
        let path = self.branch_path(target, DESCRIPTOR_FILE);
        let id = GitId::of_blob(&descriptor);
        let existing = self.request.current.tree.find(&path, self.request.open).ok().flatten();
        let is_described = existing.is_some_and(|existing| existing.id() == id);
        if !is_described {
            self.files.insert(path.into(), Edit::Content(id, descriptor));
        }
        match (own, is_same, is_described) {
            (None, ..) => TargetAction::Added,
            (Some(_), false, _) => TargetAction::Changed,
            (Some(_), true, false) => TargetAction::Described,
            (Some(_), true, true) => TargetAction::Unchanged,
        }
    }

    fn descriptor(&self, target: &TargetPath, described: &DescribedManifests<'_>, files: &RecordedFiles) -> String {
        let PlanRequest { settings, environment, workload, provenance, source, .. } = *self.request;
        let path = joined(&self.request.current.path, target.as_str());
        let declared = TargetDeclarations::new(settings, environment, workload).find(target);
        let manifest = |key: &str| declared.and_then(|one| one.spec.manifests.get(key)).map(ToString::to_string);
        let names = crate::settings::PatternNames {
            workload: workload.name.as_str(),
            environment: &environment.name,
            ..Default::default()
        };
        let manifests = DescriptorPlace {
            repo: manifest("repo").unwrap_or_else(|| settings.gitops.repo.clone()),
            branch: manifest("branch").unwrap_or_else(|| settings.gitops.branch.text(names)),
            path: manifest("path").unwrap_or_else(|| format!("./{path}")),
        };
        let name = declared.map_or_else(|| target.as_str().replace('/', "-"), |one| one.name.to_string());
        DescribedDeployment {
            workload: workload.name.as_str(),
            application: settings.application.as_deref().unwrap_or(workload.name.as_str()),
            workspace: &settings.workspace,
            source,
            target: &name,
            environment: &environment.environment,
            manifests: &manifests,
            provenance,
            version: described.version,
            inputs: described.inputs,
            images: described.images,
            files,
        }
        .text()
    }

    /// Removes the targets that are gone. The files of others in their folders stay.
    fn removals(&mut self) {
        let PlanRequest { environment, workload, targets, current, options, .. } = *self.request;
        let deployed: Vec<_> = current.of(workload.name.as_str(), &environment.environment).collect();
        let gone = deployed.iter().filter(|(path, _)| targets.iter().all(|target| target.path != **path));
        let gone: Vec<_> = gone.copied().collect();
        let is_many = gone.len() >= REMOVALS_MAX.1 && gone.len() as f64 > REMOVALS_MAX.0 * deployed.len() as f64;
        let is_all = !deployed.is_empty() && gone.len() == deployed.len();
        if (is_many || is_all) && !options.confirm_removals {
            self.plan.problems.push(many_removals(
                (gone.len(), deployed.len()),
                environment,
                self.request.settings_file,
            ));
            self.plan.is_refused = true;
        }
        for (path, target) in gone {
            let mut change = TargetDeployment {
                path: path.clone(),
                action: TargetAction::Removed,
                before: Some(target.whole_version()),
                has_new_version: false,
            };
            if !target.edited.is_empty() {
                self.plan.problems.push(edited_files(path, &target.edited, options.overwrite));
                if !options.overwrite {
                    change.action = TargetAction::Kept;
                    self.plan.targets.push(change);
                    continue;
                }
            }
            for name in target.recorded.0.keys().map(String::as_str).chain([DESCRIPTOR_FILE]) {
                self.files.insert(self.branch_path(path, name).into(), Edit::Removed);
            }
            self.plan.targets.push(change);
        }
    }

    /// Writes the tracking files, if anything else changes.
    fn tracking(&mut self) {
        let PlanRequest { settings, provenance, current, .. } = *self.request;
        if !settings.output.tracking || self.files.is_empty() {
            return;
        }
        let values = provenance.values.unwrap_or(provenance.source);
        let files = [
            ("Promoted_Commit_Id", provenance.source.to_string()),
            ("Config_Commit_Id", values.to_string()),
            ("Version", provenance.version.to_string()),
            ("Image_tag", provenance.image_tag()),
        ];
        for (name, text) in files {
            if current.tracking.get(name) == Some(&text) {
                continue;
            }
            let path = joined(&joined(&current.path, TRACKING_FOLDER), name);
            let content: Arc<[u8]> = format!("{text}\n").into_bytes().into();
            self.files.insert(path.into(), Edit::Content(GitId::of_blob(&content), content));
        }
    }
}

/// The file that names the manifests, as `kustomize create --autodetect` writes it.
fn kustomization<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let resources: String = names.map(|name| format!("- {name}\n")).collect();
    format!("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n{resources}")
}

fn of_other(target: &TargetPath, other: &DeployedTarget) -> Diagnostic {
    let DeployedTarget { workload, environment, .. } = other;
    let message = format!(
        "folder `{target}` of the GitOps branch belongs to workload `{workload}` in environment `{environment}`"
    );
    Diagnostic::error(Code::ForeignManifests, message)
        .help("give one of the two targets another folder, or set another `path` in `[gitops]`")
}

fn foreign_files(target: &TargetPath, files: &[String]) -> Diagnostic {
    let message = format!(
        "target `{target}` is not deployed: the GitOps branch has files there that no deployment wrote: {}",
        files.join(", ")
    );
    Diagnostic::error(Code::ForeignManifests, message)
        .help("`--adopt` replaces them, such as those of another pipeline; or give the target another folder")
}

fn edited_files(target: &TargetPath, files: &[String], is_replaced: bool) -> Diagnostic {
    let files = files.join(", ");
    if is_replaced {
        let message = format!("changes of others in the GitOps branch are replaced in `{target}`: {files}");
        return Diagnostic::warning(Code::EditedManifests, message);
    }
    let message = format!("target `{target}` is not deployed: others changed its files in the GitOps branch: {files}");
    Diagnostic::error(Code::EditedManifests, message)
        .help("bring the change into the values or the chart, or revert it; `--overwrite` replaces it")
}

fn many_removals((gone, all): (usize, usize), environment: &EnvironmentSettings, file: FileId) -> Diagnostic {
    let message = format!("{gone} of {all} deployed targets of environment `{}` would be removed", environment.name);
    Diagnostic::error(Code::ManyRemovals, message)
        .at(Origin::File(file), "")
        .help("are the values read from the right branch and folder? `--confirm-removals` removes the targets")
}
