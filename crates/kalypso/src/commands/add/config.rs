//! `kalypso add config`, and `kalypso remove config KEY`.

use std::fs;
use std::sync::Arc;

use authoring::additions::AddOptions;
use authoring::config_values::{self, ConfigError, ContainerChoice, NewValues, ValueChanges};
use authoring::objects::LabelList;
use model::name::ConfigMapName;

use super::{OpenBranch, labels, name, path_of};
use crate::arguments::{AddConfig, EditOptions};
use crate::commands::branch_edit::{BranchEdit, EditVerb, ExpectedValues};
use crate::exit::{Exit, Failure};

/// The maximum size of a file with a value, in bytes: the largest `ConfigMap` of Kubernetes.
const VALUE_BYTES_MAX: u64 = 1 << 20;

pub(super) fn run(options: &AddConfig) -> anyhow::Result<Exit> {
    let values = values(options)?;
    let choice = choice(Some(labels(&options.labels)?), options.name.as_deref())?;
    let choice = if options.name.is_some() && options.labels.is_empty() {
        ContainerChoice { labels: None, ..choice }
    } else {
        choice
    };
    let open = OpenBranch::of_source(&options.edit, options.environment.as_deref(), options.repo.as_deref())?;
    let file = options.place.file.as_deref().map(|file| path_of(&open, file)).transpose()?;
    let place = AddOptions { file: file.as_deref(), shared_name: None };
    let new = NewValues { values: &values, priority: options.priority };
    let set = config_values::set(&open.files(), &choice, new, place);
    let keys = values.into_iter().map(|(key, _)| key).collect();
    finish((open, &options.edit), set, Some(ExpectedValues { keys, may_be_unused: options.allow_unused }))
}

/// Carries out a change of values, or shows why it is refused. `expected` are the values that assignments must use afterwards.
pub(in crate::commands) fn finish(
    (open, options): (OpenBranch, &EditOptions),
    changes: Result<ValueChanges, ConfigError>,
    expected: Option<ExpectedValues>,
) -> anyhow::Result<Exit> {
    let changes = match changes {
        Ok(changes) => changes,
        Err(ConfigError::Refused(refusal)) => return open.finish(Err(refusal), options),
        Err(error) => return Err(failure(&error).into()),
    };
    let verb = match (changes.is_new, changes.is_gone) {
        (true, _) => EditVerb::Add,
        (false, true) => EditVerb::Remove,
        (false, false) => EditVerb::Change,
    };
    let objects: Vec<_> = changes.container.into_iter().collect();
    let slug = objects.first().map_or_else(|| "config".to_owned(), |object| format!("config-{}", object.name));
    let notes = changes.priority.map(|priority| format!("priority {priority}")).into_iter().collect();
    let edit = BranchEdit::new(verb, objects, changes.edits, slug);
    open.finish(Ok(BranchEdit { values: changes.values, notes, expected, ..edit }), options)
}

/// The container that the command line names.
pub(in crate::commands) fn choice(labels: Option<LabelList>, text: Option<&str>) -> Result<ContainerChoice, Failure> {
    let name: Option<ConfigMapName> = text.map(|text| name(text, "ConfigMap")).transpose()?;
    Ok(ContainerChoice { labels, name })
}

fn values(options: &AddConfig) -> anyhow::Result<Vec<(Arc<str>, Arc<str>)>> {
    let mut values: Vec<(Arc<str>, Arc<str>)> = Vec::new();
    let split = |text: &'_ str, form: &str| -> Result<(Arc<str>, String), Failure> {
        let usage = || Failure::usage(format!("`{text}` is not a value: write {form}"));
        let (key, value) = text.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or_else(usage)?;
        let is_key = key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
        let not_a_key =
            || Failure::usage(format!("`{key}` is not a key: only letters, digits, `-`, `_` and `.` can be in it"));
        if is_key { Ok((key.into(), value.to_owned())) } else { Err(not_a_key()) }
    };
    for text in &options.values {
        let (key, value) = split(text, "KEY=VALUE")?;
        values.push((key, value.into()));
    }
    for text in &options.from_file {
        let (key, file) = split(text, "KEY=FILE")?;
        let failed = |error: std::io::Error| Failure::usage(format!("`{file}` can't be read: {error}"));
        if fs::metadata(&file).map_err(failed)?.len() > VALUE_BYTES_MAX {
            return Err(Failure::usage(format!("`{file}` is larger than a ConfigMap can be (1 MB)")).into());
        }
        values.push((key, fs::read_to_string(&file).map_err(failed)?.into()));
    }
    let twice = values
        .iter()
        .enumerate()
        .find(|(position, (key, _))| values[..*position].iter().any(|(other, _)| other == key));
    if let Some((_, (key, _))) = twice {
        return Err(Failure::usage(format!("`{key}` has two values")).into());
    }
    Ok(values)
}

fn failure(error: &ConfigError) -> Failure {
    let failure = Failure::refused(error.to_string());
    match error {
        ConfigError::Several(_) => failure.help("choose one with --name"),
        ConfigError::NoContainer => {
            failure.help("`--for` names all its labels beside `platform-config`; --name names it")
        }
        ConfigError::OtherLabels(_) => failure.help("leave --for out, or choose another name"),
        ConfigError::Name(_) => failure.help("choose a name with --name"),
        ConfigError::NoValue { nearest: Some(nearest), .. } => failure.help(format!("did you mean `{nearest}`?")),
        ConfigError::NoValue { .. } | ConfigError::Refused(_) => failure,
    }
}
