//! The command line of `codeowners`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Format;

/// Print the CODEOWNERS file of a repository, from the owners in the hierarchy
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso codeowners --owners @acme/platform > CODEOWNERS                the control plane's main branch
  kalypso codeowners --owners @acme/platform -e prod                     the branch of an environment
  kalypso codeowners --owners @acme/platform --repository https://git.example/acme/chicago
  kalypso codeowners --owners @acme/platform --check CODEOWNERS          in CI: fails if the file is not up to date")]
pub(crate) struct Codeowners {
    /// The branch of this environment, instead of the control plane's main branch
    #[arg(short, long = "env", value_name = "ENV", conflicts_with_all = ["repository", "branch"])]
    pub(crate) environment: Option<String>,
    /// Another repository of the hierarchy, as objects name it
    #[arg(long, value_name = "URL")]
    pub(crate) repository: Option<String>,
    /// Its branch [default: the one that objects name]
    #[arg(long, value_name = "BRANCH", requires = "repository")]
    pub(crate) branch: Option<String>,
    /// An owner of the control plane's main branch, for which no object names owners; can be repeated
    #[arg(long, value_name = "OWNER")]
    pub(crate) owners: Vec<String>,
    /// The notation of the git host
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Notation,
    /// Write nothing, and compare this file with the result
    #[arg(long, value_name = "FILE")]
    pub(crate) check: Option<PathBuf>,
    /// The configuration file [default: kalypso.toml here or in a directory above]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// The notation of CODEOWNERS files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Notation {
    /// GitHub and GitLab: patterns, of which the last matching one counts
    #[default]
    Github,
    /// Gitea and Forgejo: regular expressions
    Gitea,
}
