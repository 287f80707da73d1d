//! Reports folders with manifests that deployment targets of several environments share.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::name::EnvironmentName;
use model::object::environment::comparable_url;
use model::object::release;

use crate::layout::Folder;
use crate::prepare::Prepared;
use crate::schedule::target::Target;

/// A folder of a branch of a repository, in a normal form.
type ManifestsFolder = (String, Arc<str>, Folder);

/// Warnings about folders of manifests that targets of several of these environments share. Those of an environment name its conflicts with earlier ones.
///
/// Only a folder of a branch counts: with a version of their own, such as a tag, targets get different content from one folder.
pub fn shared_manifests<'a>(
    environments: impl Iterator<Item = &'a Prepared>,
) -> BTreeMap<EnvironmentName, Vec<Diagnostic>> {
    let mut seen: BTreeMap<ManifestsFolder, (&EnvironmentName, &Target)> = BTreeMap::new();
    let mut found: BTreeMap<EnvironmentName, Vec<Diagnostic>> = BTreeMap::new();
    for prepared in environments {
        let environment = &prepared.fleet().environment;
        for target in prepared.targets() {
            let Some(folder) = folder(target) else { continue };
            let (other, first) = *seen.entry(folder).or_insert((environment, target));
            if other != environment {
                let diagnostic = diagnostic((other, first), (environment, target));
                found.entry(environment.clone()).or_default().push(diagnostic);
            }
        }
    }
    found
}

/// The folder of a target's manifests. None: no folder of a branch is named.
fn folder(target: &Target) -> Option<ManifestsFolder> {
    let reference = release::git_reference(&target.manifests).filter(|reference| reference.key == "branch")?;
    let repository = comparable_url(reference.repo).to_owned();
    Some((repository, reference.name.into(), Folder::parse(target.manifests.get("path")?)?))
}

fn diagnostic(
    (other, first): (&EnvironmentName, &Target),
    (environment, target): (&EnvironmentName, &Target),
) -> Diagnostic {
    let text = |key: &str| target.manifests.get(key).map_or("", |text| text);
    let (repo, branch, path) = (text("repo"), text("branch"), text("path"));
    let message = format!(
        "targets `{}` of {environment} and `{}` of {other} have the same manifests: `{path}` on branch `{branch}` of `{repo}`",
        target.name, first.name
    );
    let (object, field) = &target.origin;
    Diagnostic::warning(Code::SharedManifests, message)
        .at(Origin::field(object, field.key("manifests")), "these manifests")
        .note(format!("what is merged there for {other} reaches {environment} at the same time"))
        .note("a report of a reconciler about this folder does not name its environment")
        .help(format!(
            "give the target of {environment} a branch or a path of its own: `branch: {environment}`; where promotions move the workload, \
             the `tag` of one version, or a `commit`"
        ))
        .about(object)
}
