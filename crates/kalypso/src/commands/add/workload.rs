//! `kalypso add workload`: the registration of an application, or the file with which it begins.

use std::path::Path;
use std::sync::Arc;

use authoring::file_edits::FileEdits;
use authoring::new_object::NewObject;
use authoring::objects::{self, LabelList, RepositoryFolder};
use authoring::style::Style;
use authoring::targets::{self, NewTarget};
use git::{RepositoryUrl, UrlError};
use model::kind::Kind;
use workbench::answers::target_edit::NewWorkloadFields;
use workbench::source::environment_name;

use super::application::Application;
use super::target::{checked, manifests};
use super::{NewObjects, OpenBranch, finish, labels, name};
use crate::arguments::{AddWorkload, Format};
use crate::exit::{Exit, Failure};
use crate::terminal;

/// The name of the file with a new workload.
const FILE: &str = "workload.yaml";

pub(super) fn run(options: &AddWorkload) -> anyhow::Result<Exit> {
    match (&options.repo, &options.checkout) {
        (_, Some(folder)) => make(options, folder),
        (Some(repo), None) => register(options, repo),
        (None, None) => Err(Failure::usage("--repo or --checkout is needed").into()),
    }
}

fn register(options: &AddWorkload, repo: &str) -> anyhow::Result<Exit> {
    RepositoryUrl::from_object(repo).map_err(|error| {
        let failure = Failure::usage(format!("--repo: {error}"));
        match error {
            UrlError::Local | UrlError::File => {
                failure.help("name the URL that all machines use; a rule in `git.rewrite` of kalypso.toml maps it to a path of this machine")
            }
            _ => failure,
        }
    })?;
    let [repo, branch, path] = [repo, &options.branch, &options.path].map(Arc::from);
    let place = RepositoryFolder { repo, branch, path };
    let workspace = options.workspace.as_deref().map(Arc::from);
    let object = objects::registration(&name(&options.name, "registration")?, &place, workspace.as_ref());
    let open = OpenBranch::new(&options.edit, None)?;
    finish(open, NewObjects::one(object, "workload"), (&options.place, &options.edit))
}

/// Makes the file of a new workload in a checkout of its application.
fn make(options: &AddWorkload, folder: &Path) -> anyhow::Result<Exit> {
    let workload =
        targets::workload(&name(&options.name, "workload")?, &new_targets(options)?, labels(&options.labels)?);
    let application = Application::read(folder)?;
    let outside = || Failure::usage(format!("`{}` is not below the checkout", options.path));
    let path = application.path(folder, &format!("{}/{FILE}", options.path)).ok_or_else(outside)?;
    let files = application.files();
    if let Some(found) = files.find(Kind::Workload, &workload.name) {
        let message = format!("workload `{}` exists already, in `{}`", workload.name, application.shown(&found.path));
        return Err(Failure::refused(message).help("add targets to it with `kalypso add target`").into());
    }
    let mut edits = FileEdits::default();
    edits.write(Arc::clone(&path), workload.write(&Style::default(), None).into_bytes());
    if files.content(&path).is_some() {
        let message = format!("`{}` exists already", application.shown(&path));
        return Err(Failure::refused(message).help("choose another folder with --path").into());
    }
    if !options.edit.dry_run {
        application.write(&edits)?;
    }
    show(options, &workload, &application.shown(&path))?;
    Ok(Exit::Good)
}

fn show(options: &AddWorkload, workload: &NewObject, path: &str) -> anyhow::Result<()> {
    let is_written = !options.edit.dry_run;
    if options.edit.output != Format::Human {
        let answer = NewWorkloadFields::new(&workload.name, path, is_written);
        terminal::answer(&terminal::structured(&answer, options.edit.output))?;
        return Ok(());
    }
    let text = if is_written {
        format!(
            "Added Workload {name} in {path}\n\nCommit and push it. Then the platform team registers the repository:\n  \
             kalypso add workload {name} --repo URL --path {folder} --workspace NAME\n",
            name = workload.name,
            folder = options.path,
        )
    } else {
        format!("Would add Workload {} in {path}:\n\n{}", workload.name, workload.write(&Style::default(), None))
    };
    terminal::answer(&text)?;
    Ok(())
}

fn new_targets(options: &AddWorkload) -> Result<Vec<NewTarget>, Failure> {
    let places = manifests(&options.manifests)?;
    if places.is_empty() {
        let failure = Failure::usage("the place of the manifests is not known");
        return Err(failure.help(
            "name it: -m repo=https://git.example/acme/checkout-manifests -m 'branch={env}' -m 'path=./{target}'",
        ));
    }
    options.targets.iter().map(|text| new_target(text, &places)).collect()
}

fn new_target(text: &str, places: &LabelList) -> Result<NewTarget, Failure> {
    let usage = || Failure::usage(format!("`{text}` is not a target: write NAME:ENV or NAME:ENV:KEY=VALUE"));
    let (target, rest) = text.split_once(':').ok_or_else(usage)?;
    let (environment, of_target) = rest.split_once(':').unwrap_or((rest, ""));
    let filled = |value: &str| value.replace("{env}", environment).replace("{target}", target);
    let manifests = places.iter().map(|(key, value)| (Arc::clone(key), filled(value).into())).collect();
    Ok(NewTarget {
        name: checked(target)?.into(),
        environment: environment_name(environment)?,
        labels: Some(labels(&[of_target.to_owned()])?),
        manifests: Some(manifests),
    })
}
