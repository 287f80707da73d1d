//! `kalypso rename`: gives an object another name, with everything that names it.

mod joint;

use std::sync::Arc;

use authoring::config_values::ConfigValueChange;
use authoring::renames::{NamedKind, NewName, Renaming, follow, rename};
use model::kind::Kind;
use model::name::{ClusterName, ClusterTypeName};

use super::branch_edit::{BranchEdit, EditVerb, OpenBranch, name};
use crate::arguments::{Rename, RenameInEnvironment, RenameKind};
use crate::exit::Exit;
use crate::terminal::{count, named};

pub(super) fn run(options: &Rename) -> anyhow::Result<Exit> {
    match &options.kind {
        RenameKind::ClusterType(options) => {
            name::<ClusterTypeName>(&options.new_name, "cluster type")?;
            in_environment((Kind::ClusterType, "cluster-type"), options)
        }
        RenameKind::Cluster(options) => {
            name::<ClusterName>(&options.new_name, "cluster")?;
            in_environment((Kind::Cluster, "cluster"), options)
        }
        RenameKind::Workload(options) => joint::workload(options),
        RenameKind::Target(options) => joint::target(options),
    }
}

/// The note about objects of the main branch that name it. They are for all environments, and stay.
fn of_main(open: &OpenBranch, name: NewName) -> Option<String> {
    let main = open.branch.main().ok()?;
    let referring = follow(&main.objects(main.files()), std::slice::from_ref(&name)).ok()?.referring;
    let names: Vec<_> = referring.iter().map(|object| format!("{} {}", object.kind, object.name)).collect();
    (!names.is_empty()).then(|| {
        let number = count(names.len(), "object");
        format!("{number} of the main branch for `{}` stay, for all environments: {}", name.old, named(&names))
    })
}

/// Renames an object in the branch of an environment. `word` is the kind on the command line.
fn in_environment((kind, word): (Kind, &str), options: &RenameInEnvironment) -> anyhow::Result<Exit> {
    let RenameInEnvironment { name: old, new_name: new, environment, edit: options } = options;
    let open = OpenBranch::new(options, Some(environment))?;
    let what = if kind == Kind::ClusterType { NamedKind::ClusterType } else { NamedKind::Cluster };
    let edit = rename(&open.files(), kind, (old, new)).map(|Renaming { edits, object, referring }| {
        let mut notes = Vec::new();
        if !referring.is_empty() {
            let names: Vec<_> = referring.iter().map(|object| format!("{} {}", object.kind, object.name)).collect();
            notes.push(format!("{} that named it: {}", count(names.len(), "object"), named(&names)));
        }
        notes.extend(of_main(&open, NewName { named: what, old: old.as_str().into(), new: new.as_str().into() }));
        notes.push(format!(
            "reconcilers that pull its folder must pull the new one: kalypso bootstrap {new} -e {environment}"
        ));
        let value = |text: &str| Some(Arc::from(text));
        let values = vec![ConfigValueChange { key: "name".into(), old: value(old), new: value(new) }];
        let edit = BranchEdit::new(EditVerb::Rename, object, edits, format!("{word}-{old}-to-{new}"));
        BranchEdit { values, notes, ..edit }
    });
    open.finish(edit, options)
}
