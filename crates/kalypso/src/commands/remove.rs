//! `kalypso remove`: removes objects from the control plane and from applications.

use std::sync::Arc;

use authoring::config_values;
use authoring::removals::{Removals, remove_named};
use model::kind::Kind;

use super::branch_edit::{BranchEdit, EditVerb, OpenBranch, different_names, labels, slug};
use super::platform_edit;
use crate::arguments::{EditOptions, Remove, RemoveConfig, RemoveKind};
use crate::commands::add::{config_choice, config_finish, remove_target};
use crate::exit::Exit;

pub(super) fn run(options: &Remove) -> anyhow::Result<Exit> {
    match &options.kind {
        RemoveKind::Environment(options) => platform_edit::removal::remove(options),
        RemoveKind::ClusterType(options) => {
            let what = What { kind: Kind::ClusterType, word: "cluster-type", is_cascading: options.cascade };
            named(what, (&options.names, Some(&options.environment)), &options.edit)
        }
        RemoveKind::Cluster(options) => {
            named(What::new(Kind::Cluster, "cluster"), (&options.names, Some(&options.environment)), &options.edit)
        }
        RemoveKind::Policy(options) => named(
            What::new(Kind::SchedulingPolicy, "policy"),
            (&options.names, Some(&options.environment)),
            &options.edit,
        ),
        RemoveKind::Schema(options) => named(
            What::new(Kind::ConfigSchema, "schema"),
            (&options.names, options.environment.as_deref()),
            &options.edit,
        ),
        RemoveKind::Workload(options) => {
            named(What::new(Kind::WorkloadRegistration, "workload"), (&options.names, None), &options.edit)
        }
        RemoveKind::Template(options) => {
            named(What::new(Kind::Template, "template"), (&options.names, None), &options.edit)
        }
        RemoveKind::Config(options) => config(options),
        RemoveKind::Target(options) => remove_target(options),
    }
}

/// The kind of the objects to remove.
#[derive(Clone, Copy)]
struct What {
    kind: Kind,
    /// The kind on the command line.
    word: &'static str,
    is_cascading: bool,
}

impl What {
    fn new(kind: Kind, word: &'static str) -> Self {
        Self { kind, word, is_cascading: false }
    }
}

fn named(what: What, (texts, environment): (&[String], Option<&str>), options: &EditOptions) -> anyhow::Result<Exit> {
    let names = different_names(texts)?;
    named_in(what, &names, OpenBranch::new(options, environment)?, options)
}

fn named_in(what: What, names: &[Arc<str>], open: OpenBranch, options: &EditOptions) -> anyhow::Result<Exit> {
    let removed = remove_named(&open.files(), what.kind, names, what.is_cascading);
    let slug = slug(what.word, names);
    let edit = removed.map(|Removals { edits, objects }| BranchEdit::new(EditVerb::Remove, objects, edits, slug));
    open.finish(edit, options)
}

/// Values of a container, or the whole container.
fn config(options: &RemoveConfig) -> anyhow::Result<Exit> {
    let open = || OpenBranch::of_source(&options.edit, options.environment.as_deref(), options.repo.as_deref());
    if options.keys.is_empty() {
        let names = different_names(options.name.as_slice())?;
        return named_in(What::new(Kind::ConfigMap, "config"), &names, open()?, &options.edit);
    }
    let has_labels = options.name.is_none() || !options.labels.is_empty();
    let labels = has_labels.then(|| labels(&options.labels)).transpose()?;
    let choice = config_choice(labels, options.name.as_deref())?;
    let keys: Vec<Arc<str>> = options.keys.iter().map(|key| key.as_str().into()).collect();
    let open = open()?;
    let removed = config_values::remove(&open.files(), &choice, &keys);
    config_finish((open, &options.edit), removed, None)
}
