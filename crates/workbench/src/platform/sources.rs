//! The files of a new platform, from its answers.

use crate::source::environment_name;
use authoring::scaffold::microsoft::{self, MicrosoftPlatform};
use authoring::scaffold::platform::MAIN;
use authoring::scaffold::{NewFile, Pack, Platform};
use model::name::EnvironmentName;

use super::answers::Answers;
use super::repository::NewBranch;
use super::{CONTROL_PLANE, ENVIRONMENTS, GITOPS};
use crate::Failure;

/// The branches of the control plane.
pub(super) fn branches(answers: &Answers) -> Result<Vec<NewBranch>, Failure> {
    let names = answers.environments.iter().map(|name| environment_name(name));
    let names = names.collect::<Result<Vec<_>, _>>()?;
    let (main, of_environment) = files(answers, &names);
    let main =
        NewBranch { name: MAIN.to_owned(), message: "The objects of all environments\n".to_owned(), files: main };
    let environments = names.iter().zip(of_environment).map(|(name, files)| NewBranch {
        name: name.to_string(),
        message: format!("The environment {name}\n"),
        files,
    });
    Ok(std::iter::once(main).chain(environments).collect())
}

/// The branch of the sample application, if the platform has one on this machine.
pub(super) fn application(answers: &Answers) -> Option<NewBranch> {
    let is_local = answers.control_plane.remote.is_none() && answers.gitops.remote.is_none();
    let name = answers.environments.first().and_then(|name| EnvironmentName::new(name.as_str()).ok());
    let name = name.filter(|_| answers.is_like_microsoft && is_local)?;
    let files = microsoft_platform(answers, name).application_branch();
    Some(NewBranch { name: MAIN.to_owned(), message: "The sample application\n".to_owned(), files })
}

fn microsoft_platform(answers: &Answers, environment: EnvironmentName) -> MicrosoftPlatform {
    MicrosoftPlatform {
        environment,
        control_plane: answers.control_plane.url.clone(),
        gitops: answers.gitops.url.clone(),
        application: format!("{}/{}", answers.base_url, microsoft::APPLICATION),
    }
}

fn files(answers: &Answers, names: &[EnvironmentName]) -> (Vec<NewFile>, Vec<Vec<NewFile>>) {
    if answers.is_like_microsoft {
        let platform = |name: &EnvironmentName| microsoft_platform(answers, name.clone());
        let main = names.first().map(|name| platform(name).main_branch()).unwrap_or_default();
        return (main, names.iter().map(|name| platform(name).environment_branch()).collect());
    }
    let (control_plane, gitops) = (answers.control_plane.url.clone(), answers.gitops.url.clone());
    let reconcilers = answers.reconcilers.iter().filter_map(|name| Pack::find(name)).collect();
    let platform = Platform { environments: names.to_vec(), reconcilers, control_plane, gitops };
    (platform.main_branch(), names.iter().map(|name| platform.environment_branch(name)).collect())
}

/// The description of the folder.
pub(super) fn readme(answers: &Answers) -> String {
    let gitops = match &answers.gitops.remote {
        None => format!("| `{GITOPS}` | the GitOps repository: Kalypso writes it, clusters pull it |\n"),
        Some(_) => String::new(),
    };
    let application = match application(answers) {
        Some(_) => format!("| `{}` | the repository of the sample application |\n", microsoft::APPLICATION),
        None => String::new(),
    };
    format!(
        "\
# Platform

`kalypso init` made this folder. Kalypso reads commits, so a change counts when it is committed.

| folder or file | content |
|---|---|
| `{CONTROL_PLANE}` | the control plane, with `{MAIN}` checked out: templates, workloads, values for all environments |
| `{ENVIRONMENTS}/ENV` | a working tree of the same repository for each environment, with its branch checked out |
{gitops}{application}| `kalypso.toml` | how Kalypso reads the repositories |
| `.kalypso` | the answers that `kalypso init` got |

    kalypso check            is everything right?
    kalypso plan -e ENV      what would be written?
    kalypso publish -e ENV   write it
"
    )
}
