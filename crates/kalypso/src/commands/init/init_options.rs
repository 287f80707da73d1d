//! The options of `kalypso init`, and the answers that follow from them.

use std::path::Path;

use anyhow::Context as _;
use authoring::scaffold::Pack;
use authoring::scaffold::microsoft;
use authoring::scaffold::platform::check_environments;
use git_host::HostKind;
use git_host::settings::public_url;
use workbench::platform::answers::{Answers, HostAnswer, VERSION};
use workbench::platform::{Hosted, Locations, locations};
use workbench::source::environment_name;

use super::questions::{HostAnswers, Questions, list};
use crate::arguments::{Init, InitHost, Likeness};
use crate::exit::Failure;

/// The environments of a platform for which none are given.
pub(super) const ENVIRONMENTS: &str = "dev,stage,prod";
/// The reconcilers of a platform for which none are given.
pub(super) const RECONCILERS: &str = "flux";
/// The variable with the token of the git host, unless another one is given.
const TOKEN_VARIABLE: &str = "KALYPSO_HOST_TOKEN";

/// The options, checked.
#[derive(Debug)]
pub(super) struct InitOptions<'a> {
    options: &'a Init,
}

impl<'a> InitOptions<'a> {
    /// Checks the options, before anything is asked or written.
    pub(super) fn new(options: &'a Init) -> anyhow::Result<Self> {
        if !options.environments.is_empty() {
            environments(&options.environments)?;
        }
        reconcilers(&options.reconcilers)?;
        if let Some(kind) = &options.host.kind {
            host_kind(kind)?;
        }
        if options.host.kind.is_none() {
            locations(
                (options.control_plane.as_deref(), options.gitops.as_deref()),
                options.base_url.as_deref(),
                None,
            )?;
        }
        Ok(Self { options })
    }

    /// The answers of an earlier run, if the options do not contradict them.
    pub(super) fn same_as(&self, earlier: &Answers) -> anyhow::Result<Answers> {
        let options = self.options;
        let differs = |given: &[String], stored: &[String]| !given.is_empty() && given != stored;
        let is_other_url = |given: &Option<String>, stored: &Option<String>| given.is_some() && given != stored;
        let wrong = if differs(&options.environments, &earlier.environments) {
            Some(("--environments", "`kalypso add environment NAME --after PREV` adds one"))
        } else if differs(&options.reconcilers, &earlier.reconcilers) {
            Some(("--reconcilers", "`kalypso add template PACK` adds a template"))
        } else if is_other_url(&options.control_plane, &earlier.control_plane.remote) {
            Some(("--control-plane", OTHER_FOLDER))
        } else if is_other_url(&options.gitops, &earlier.gitops.remote) {
            Some(("--gitops", OTHER_FOLDER))
        } else if self.is_like_microsoft() && !earlier.is_like_microsoft {
            Some(("--like", OTHER_FOLDER))
        } else {
            None
        };
        match wrong {
            None => Ok(earlier.clone()),
            Some((option, help)) => {
                let message = format!("this platform was made with another {option}: {}", stored(option, earlier));
                Err(Failure::usage(message).help(help).into())
            }
        }
    }

    /// The answers for a new platform. With `questions`, asks for the answers that the options do not give.
    pub(super) fn answers(&self, mut questions: Option<&mut Questions<'_>>) -> anyhow::Result<Answers> {
        let options = self.options;
        let is_like_microsoft = self.is_like_microsoft();
        let names = match (is_like_microsoft, &mut questions) {
            (true, _) => vec![microsoft::ENVIRONMENT.to_owned()],
            _ if !options.environments.is_empty() => options.environments.clone(),
            (_, Some(questions)) => {
                questions.list(("Environments, in the order of promotion", ENVIRONMENTS), environments)?
            }
            (_, None) => list(ENVIRONMENTS),
        };
        let packs = match (is_like_microsoft, &mut questions) {
            (true, _) => Vec::new(),
            _ if !options.reconcilers.is_empty() => options.reconcilers.clone(),
            (_, Some(questions)) => {
                let known: Vec<_> = Pack::reconcilers().map(|pack| pack.name).collect();
                let question = format!("Reconcilers, of {}", known.join(", "));
                questions.list((&question, RECONCILERS), reconcilers)?
            }
            (_, None) => list(RECONCILERS),
        };
        let asked = match questions {
            Some(questions) if self.has_no_place() => questions.host()?,
            _ => HostAnswers::default(),
        };
        self.placed(names, packs, &asked)
    }

    fn placed(
        &self,
        environments: Vec<String>,
        reconcilers: Vec<String>,
        asked: &HostAnswers,
    ) -> anyhow::Result<Answers> {
        let options = self.options;
        let kind = options.host.kind.as_ref().or(asked.kind.as_ref()).map(|kind| host_kind(kind)).transpose()?;
        let host = kind.map(|kind| host(kind, &options.host, asked)).transpose()?;
        let hosted = kind.zip(host.as_ref()).map(|(kind, host)| Hosted { kind, url: &host.url, owner: &host.owner });
        let control_plane = options.control_plane.as_deref().or(asked.control_plane.as_deref());
        let gitops = options.gitops.as_deref().or(asked.gitops.as_deref());
        let found = locations((control_plane, gitops), options.base_url.as_deref(), hosted)?;
        let Locations { base_url, control_plane, gitops } = found;
        Ok(Answers {
            version: VERSION,
            is_like_microsoft: self.is_like_microsoft(),
            environments,
            reconcilers,
            control_plane,
            gitops,
            base_url,
            host,
        })
    }

    fn is_like_microsoft(&self) -> bool {
        self.options.like == Some(Likeness::Microsoft)
    }

    /// Whether no option says where the repositories are.
    fn has_no_place(&self) -> bool {
        let Init { control_plane, gitops, host, .. } = self.options;
        control_plane.is_none() && gitops.is_none() && host.kind.is_none()
    }

    /// The options that were not given, with their values.
    pub(super) fn missing(&self, answers: &Answers) -> Vec<String> {
        let Init { environments, reconcilers, like, .. } = self.options;
        if like.is_some() {
            return Vec::new();
        }
        let missing = [
            ("--environments", environments.is_empty(), &answers.environments),
            ("--reconcilers", reconcilers.is_empty(), &answers.reconcilers),
        ];
        missing
            .into_iter()
            .filter(|(_, is_missing, _)| *is_missing)
            .map(|(option, _, values)| format!("{option} {}", values.join(",")))
            .collect()
    }
}

const OTHER_FOLDER: &str = "make another platform in another folder";

fn stored(option: &str, earlier: &Answers) -> String {
    let place = |remote: &Option<String>| remote.clone().unwrap_or_else(|| "on this machine".to_owned());
    match option {
        "--environments" => earlier.environments.join(","),
        "--reconcilers" => earlier.reconcilers.join(","),
        "--control-plane" => place(&earlier.control_plane.remote),
        "--gitops" => place(&earlier.gitops.remote),
        _ => "none".to_owned(),
    }
}

/// Checks names of environments.
fn environments(names: &[String]) -> anyhow::Result<()> {
    let names = names.iter().map(|name| environment_name(name)).collect::<Result<Vec<_>, _>>()?;
    Ok(check_environments(&names).map_err(|error| Failure::usage(error.to_string()))?)
}

/// Checks names of packs.
fn reconcilers(names: &[String]) -> anyhow::Result<()> {
    let known: Vec<_> = Pack::reconcilers().map(|pack| pack.name).collect();
    match names.iter().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let failure = Failure::usage(format!("there is no pack for a reconciler `{name}`"));
            Err(failure.help(format!("the packs for reconcilers are {}", known.join(", "))).into())
        }
    }
}

pub(in crate::commands) fn host_kind(text: &str) -> Result<HostKind, Failure> {
    let kind: HostKind = text.parse().map_err(|error| Failure::usage(format!("--host: {error}")))?;
    if kind == HostKind::Git {
        let failure = Failure::usage("a plain git server has no API, so --host can't name it");
        return Err(failure.help("name its repositories with --control-plane URL and --gitops URL"));
    }
    Ok(kind)
}

pub(in crate::commands) fn host(kind: HostKind, options: &InitHost, asked: &HostAnswers) -> anyhow::Result<HostAnswer> {
    let url = options.url.as_ref().or(asked.url.as_ref()).map(|url| url.trim_end_matches('/').to_owned());
    let missing = || {
        Failure::usage(format!("--host-url is missing: {} has no public host", kind.title()))
            .help("name the address of its pages, such as --host-url https://git.example")
    };
    let url = url.or_else(|| public_url(kind).map(str::to_owned)).ok_or_else(missing)?;
    let owner = options.owner.clone().or_else(|| asked.owner.clone()).unwrap_or_default();
    let is_azure = kind == HostKind::AzureDevOps;
    if is_azure != owner.contains('/') && (is_azure || kind != HostKind::GitLab) {
        let form = if is_azure { "ORGANIZATION/PROJECT" } else { "one name" };
        return Err(Failure::usage(format!("--owner: on {}, it is {form}", kind.title())).into());
    }
    let token_file = options.token_file.as_deref().map(absolute).transpose()?;
    let variable = options.token_env.clone().unwrap_or_else(|| TOKEN_VARIABLE.to_owned());
    Ok(HostAnswer {
        kind: kind.as_str().to_owned(),
        url,
        api_url: options.api_url.clone(),
        owner,
        token_variable: token_file.is_none().then_some(variable),
        token_file,
    })
}

fn absolute(path: &Path) -> anyhow::Result<String> {
    let absolute = std::path::absolute(path).context("the current directory can't be read")?;
    Ok(absolute.display().to_string())
}

/// The token of the git host. None if the variable is not set: then git uses its own credentials.
pub(in crate::commands) fn token(host: &HostAnswer) -> anyhow::Result<Option<String>> {
    let text = match (&host.token_file, &host.token_variable) {
        (Some(file), _) => {
            let failed = |error| Failure::usage(format!("--token-file: `{file}` can't be read: {error}"));
            Some(std::fs::read_to_string(file).map_err(failed)?)
        }
        (None, Some(variable)) => std::env::var(variable).ok(),
        (None, None) => None,
    };
    Ok(text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()))
}
