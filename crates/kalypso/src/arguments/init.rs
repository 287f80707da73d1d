//! The command line of `kalypso init`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Make the repositories of a new platform: its control plane, its GitOps repository, and kalypso.toml
#[derive(Args, Debug, Default)]
#[command(after_help = "\
Examples:
  kalypso init platform                                      on this machine; asks for what is not given
  kalypso init platform --environments dev,prod --reconcilers flux,argocd --yes
  kalypso init platform --control-plane https://git.example/acme/control-plane --gitops https://git.example/acme/platform-gitops
  kalypso init platform --host github --owner acme --create  creates both repositories, private, and pushes
  kalypso init platform --like microsoft                     the layout of Microsoft's bootstrap

Run it again to complete an interrupted run, or to add what is missing. Nothing is overwritten.")]
pub(crate) struct Init {
    /// Where to make it: an empty folder, or the folder of an earlier run
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) directory: PathBuf,
    /// The environments in the order of promotion [default: dev,stage,prod]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) environments: Vec<String>,
    /// The template packs of the reconcilers [default: flux]
    #[arg(long, value_name = "PACKS", value_delimiter = ',')]
    pub(crate) reconcilers: Vec<String>,
    /// Push the control plane to this empty repository [default: only on this machine]
    #[arg(long, value_name = "URL")]
    pub(crate) control_plane: Option<String>,
    /// The empty repository that clusters pull [default: platform-gitops.git on this machine]
    #[arg(long, value_name = "URL")]
    pub(crate) gitops: Option<String>,
    /// The start of the URLs that objects name, for repositories without such a URL [default: `https://git.example/platform`]
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Use the layout of another tool for the control plane
    #[arg(long, value_enum, value_name = "TOOL", conflicts_with_all = ["environments", "reconcilers"])]
    pub(crate) like: Option<Likeness>,
    #[command(flatten)]
    pub(crate) host: InitHost,
    /// Do not ask questions: use the defaults
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// The git host of a new platform.
#[derive(Args, Debug, Default)]
pub(crate) struct InitHost {
    /// The kind of git host: github, gitlab, gitea (also Forgejo), azure-devops
    #[arg(long = "host", value_name = "KIND", requires = "owner")]
    pub(crate) kind: Option<String>,
    /// The address of its pages [default: that of the public host]
    #[arg(long = "host-url", value_name = "URL", requires = "kind")]
    pub(crate) url: Option<String>,
    /// The address of its API, if it is not the usual one
    #[arg(long = "host-api-url", value_name = "URL", requires = "kind")]
    pub(crate) api_url: Option<String>,
    /// The owner of the repositories: an organization, a group, an account; for Azure DevOps ORGANIZATION/PROJECT
    #[arg(long, value_name = "NAME", requires = "kind")]
    pub(crate) owner: Option<String>,
    /// Create the repositories on the git host, unless they exist
    #[arg(long, requires = "kind")]
    pub(crate) create: bool,
    /// Create public repositories
    #[arg(long, requires = "create")]
    pub(crate) public: bool,
    /// The variable with the token of the git host [default: `KALYPSO_HOST_TOKEN`]
    #[arg(long, value_name = "NAME", requires = "kind", conflicts_with = "token_file")]
    pub(crate) token_env: Option<String>,
    /// A file with the token of the git host
    #[arg(long, value_name = "FILE", requires = "kind")]
    pub(crate) token_file: Option<PathBuf>,
}

/// Another tool whose layout a new platform has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Likeness {
    /// The bootstrap of Microsoft's Kalypso: one environment, one cluster type, one policy, one sample application
    Microsoft,
}
