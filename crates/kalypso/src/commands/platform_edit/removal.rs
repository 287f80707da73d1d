//! `kalypso remove environment`: removes the declaration of an environment.

use authoring::additions::PlacedObject;
use authoring::scaffold::environment::NewEnvironment;
use authoring::scaffold::environment_copy::EnvironmentDeclarations;
use delivery::reading::ReadAt;
use model::kind::Kind;
use workbench::source::environment_name;

use crate::arguments::{RemoveEnvironment, SourceOptions};
use crate::commands::branch_edit::{BranchEdit, EditVerb, OpenBranch};
use crate::exit::Exit;
use crate::progress::Watch;
use crate::terminal::count;
use crate::{compiling, loading};

pub(in crate::commands) fn remove(options: &RemoveEnvironment) -> anyhow::Result<Exit> {
    let name = environment_name(&options.name)?;
    let open = OpenBranch::new(&options.edit, None)?;
    let contents = open.branch.declarations()?;
    let files = match EnvironmentDeclarations(&contents).without(&name) {
        Ok(files) => files,
        Err(refusal) => return open.finish(Err(refusal), &options.edit),
    };
    let path =
        files.iter().map(|(path, _)| path.clone()).find(|path| **path == *NewEnvironment::declaration_path(&name));
    let path = path.or_else(|| files.iter().next().map(|(path, _)| path.clone())).unwrap_or_default();
    let object = PlacedObject { kind: Kind::Environment, name: name.as_arc().clone(), path };
    let notes = notes(options)?;
    let edit = BranchEdit::new(EditVerb::Remove, vec![object], files, format!("environment-{name}"));
    open.finish(Ok(BranchEdit { notes, ..edit }), &options.edit)
}

/// What is no longer published, and what stays.
fn notes(options: &RemoveEnvironment) -> anyhow::Result<Vec<String>> {
    let mut watch = Watch::start();
    let source = SourceOptions { config: options.edit.config.clone(), ..SourceOptions::default() };
    let environments = loading::environments(&source, Some(&options.name), ReadAt::Heads, watch.progress())?;
    let mut notes = Vec::new();
    for loaded in &environments {
        let compiled = compiling::compile(loaded, watch.progress());
        let (assignments, types) = (compiled.len(), loaded.fleet.cluster_types.len());
        let assignments = count(assignments, "assignment");
        notes.push(format!("no longer published: {assignments} on {}", count(types, "cluster type")));
        for object in loaded.fleet.gitops_repos.values() {
            let place = &object.spec.place;
            let url = git::without_credential(&place.repo);
            notes.push(format!("stays: branch {} of {url}, and what clusters pulled from it", place.branch));
        }
    }
    watch.end();
    notes.push(format!("stays: branch {} of the control plane; `git branch -D {0}` deletes it", options.name));
    Ok(notes)
}
