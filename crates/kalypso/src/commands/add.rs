//! `kalypso add`: adds objects to the control plane and to applications.

mod application;
mod cluster;
mod cluster_type;
mod config;
mod policy;
mod registered_application;
mod schema;
mod target;
mod workload;

use authoring::additions::{AddOptions, Additions, add};
use authoring::new_object::NewObject;
use workbench::contained_files;

use super::branch_edit::{BranchEdit, EditVerb, OpenBranch, labels, name, names};
use super::platform_edit;
use crate::arguments::{Add, AddKind, EditOptions, FileOptions};
use crate::exit::{Exit, Failure};

pub(super) use self::config::{choice as config_choice, finish as config_finish};
pub(super) use self::target::{remove as remove_target, set as set_target};

pub(super) fn run(options: &Add) -> anyhow::Result<Exit> {
    match &options.kind {
        AddKind::Environment(options) => platform_edit::environment::add(options),
        AddKind::ClusterType(options) => cluster_type::run(options),
        AddKind::Cluster(options) => cluster::run(options),
        AddKind::Policy(options) => policy::run(options),
        AddKind::Config(options) => config::run(options),
        AddKind::Workload(options) => workload::run(options),
        AddKind::Target(options) => target::run(options),
        AddKind::Schema(options) => schema::run(options),
        AddKind::Template(options) => platform_edit::template::add(options),
    }
}

/// New objects with what is shown about them.
struct NewObjects<'a> {
    objects: Vec<NewObject>,
    /// The name of a new file for many objects.
    shared_name: Option<&'a str>,
    warnings: Vec<String>,
    /// The words for the name of a proposal's branch.
    slug: String,
}

impl NewObjects<'_> {
    fn one(object: NewObject, kind: &str) -> Self {
        let slug = format!("{kind}-{}", object.name);
        Self { objects: vec![object], shared_name: None, warnings: Vec::new(), slug }
    }
}

/// Adds objects to an open branch.
fn finish(open: OpenBranch, new: NewObjects<'_>, (place, edit): (&FileOptions, &EditOptions)) -> anyhow::Result<Exit> {
    let file = place.file.as_deref().map(|file| path_of(&open, file)).transpose()?;
    let options = AddOptions { file: file.as_deref(), shared_name: new.shared_name };
    let added = add(&open.files(), &new.objects, options).map(|Additions { edits, objects }| {
        let edit = BranchEdit::new(EditVerb::Add, objects, edits, new.slug);
        BranchEdit { warnings: new.warnings, ..edit }
    });
    open.finish(added, edit)
}

/// The path of a file that the command line names, from the root of the branch.
fn path_of(open: &OpenBranch, file: &str) -> Result<String, Failure> {
    let file = file.trim_start_matches("./");
    let folder = open.branch.folder();
    let path = if folder.is_empty() { file.to_owned() } else { format!("{folder}/{file}") };
    if !contained_files::is_inside(&path) {
        return Err(Failure::usage(format!("`{file}` is not a path below the environment's folder")));
    }
    if !model::read::is_read(&path) || model::read::is_kustomization(&path) {
        return Err(Failure::usage(format!("`{file}` is not a file that Kalypso reads: name it .yaml or .yml")));
    }
    Ok(path)
}

/// The name of a file or folder without its extension, as the name of a new file.
fn plain_name(text: &str) -> Option<&str> {
    let name = text.rsplit(['/', '\\']).next()?.split('.').next()?;
    model::name::check(name).ok().map(|()| name)
}
