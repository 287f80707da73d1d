//! The command line of `app images`, and the options for images of other commands.

use clap::Args;

use super::{AppOptions, AppRelease, Format};

/// List the images that the targets of an environment need, with their digests
#[derive(Args, Debug)]
#[command(after_help = "\
Images are those of containers, init containers, ephemeral containers and image volumes, also in custom resources. With --digests, each registry is asked for what
its tag is now. The credentials are those in `auths` of Docker's config.json: in the folder of the variable DOCKER_CONFIG, else in ~/.docker. Credential helpers are
not run.

Examples:
  kalypso app images -e dev --version 2.4.0                  which images does that version need?
  kalypso app images -e dev --version 2.4.0 eu --digests     those of one target, with their digests
  kalypso app images -e dev --version 2.4.0 --digests -o json
  kalypso app deploy -e dev --version 2.4.0 --pin-images     deploy them with their digests")]
pub(crate) struct AppImages {
    /// The environment
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: String,
    /// Only those of this target
    #[arg(value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// Ask the registries for the digests
    #[arg(long)]
    pub(crate) digests: bool,
    #[command(flatten)]
    pub(crate) registries: AppRegistries,
    #[command(flatten)]
    pub(crate) release: AppRelease,
    #[command(flatten)]
    pub(crate) app: AppOptions,
    /// Treat warnings as errors
    #[arg(long)]
    pub(crate) strict: bool,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// How registries are asked.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct AppRegistries {
    /// Ask this registry without encryption, such as registry.local:5000; can be repeated. Those on this machine are always asked so
    #[arg(long = "insecure-registry", value_name = "HOST")]
    pub(crate) insecure: Vec<String>,
}

/// Whether images get their digests.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct AppPinning {
    /// Write the digest behind the tag of each image, as its registry has it now [default: `pin` of `[images]`, if a version is rendered]
    #[arg(long)]
    pub(crate) pin_images: bool,
    #[command(flatten)]
    pub(crate) registries: AppRegistries,
}
