//! The arguments of `kalypso bootstrap`.

use clap::{Args, ValueEnum};

use super::SourceOptions;

/// Print the one-time setup for a cluster or host to pull its folder
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso bootstrap -e prod chicago-edge | kubectl apply -f -     Flux or Argo CD, as the templates of its cluster type say
  kalypso bootstrap -e prod chicago-edge --hub https://hub.example --token-secret kalypso-hub    with its reports to the hub
  kalypso bootstrap -e prod west-kiosk --reconciler script --apply /opt/acme/apply > pull.sh     a host without containers
  kalypso bootstrap -e prod west-kiosk --reconciler ansible > pull.sh                            the same, with playbooks

Nothing is applied, and no secret is printed: the output only names the secrets.")]
pub(crate) struct Bootstrap {
    /// The environment
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: String,
    /// The cluster, or the cluster type whose folder it pulls
    #[arg(id = "cluster_type", value_name = "CLUSTER")]
    pub(crate) place: String,
    /// The program that pulls [default: Flux or Argo CD, as the reconciler template of the cluster type says]
    #[arg(long, value_enum)]
    pub(crate) reconciler: Option<Reconciler>,
    /// The `GitOpsRepo` to pull from, if the environment has several
    #[arg(long, value_name = "NAME")]
    pub(crate) gitops_repo: Option<String>,
    /// The Secret with the credentials for the GitOps repository (Flux)
    #[arg(long, value_name = "NAME")]
    pub(crate) secret: Option<String>,
    /// How often the cluster polls, as Flux and systemd write it
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = duration)]
    pub(crate) interval: String,
    /// The hub that gets the reports of Flux
    #[arg(long, value_name = "URL", requires = "token_secret")]
    pub(crate) hub: Option<String>,
    /// The Secret with the token for the hub, in its key `headers` (Flux)
    #[arg(long, value_name = "NAME", requires = "hub")]
    pub(crate) token_secret: Option<String>,
    /// The command that the script runs in each changed target's folder
    #[arg(long, value_name = "COMMAND", required_if_eq("reconciler", "script"))]
    pub(crate) apply: Option<String>,
    #[command(flatten)]
    pub(crate) source: SourceOptions,
}

/// What pulls the folder on a cluster or host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Reconciler {
    /// Flux: a `GitRepository` and a `Kustomization`
    Flux,
    /// Argo CD: an `Application`
    Argocd,
    /// A script for a timer, which plays each target's playbooks
    Ansible,
    /// A script for a timer, which runs a command for each target
    Script,
}

/// Parses a duration such as `30s`, `1m` or `2h`.
fn duration(text: &str) -> Result<String, String> {
    let is_duration = text
        .strip_suffix(['s', 'm', 'h'])
        .is_some_and(|number| (1..=6).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit()));
    if is_duration { Ok(text.to_owned()) } else { Err("write a number with s, m or h, such as 30s or 5m".to_owned()) }
}
