//! The command line of `app`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{AppImages, AppPinning, Format, InitHost, PlanFormat};

/// Render an application's manifests from its values, and deploy them
#[derive(Args, Debug)]
#[command(after_help = "\
The commands read kalypso-app.toml, which names the chart or folder, the values, and the GitOps repository of the application.

Examples:
  kalypso app init shop --workspace store-team    begin an application, or describe one that exists
  kalypso app check                               everything renders, for all environments
  kalypso app diff -e dev --version 2.4.0         what would a deployment change?
  kalypso app deploy -e dev --version 2.4.0       deploy it
  kalypso app deploy -e dev                       deploy changed values with the version that is there
  kalypso app explain -e dev eu image.tag         where does that value come from?")]
pub(crate) struct App {
    #[command(subcommand)]
    pub(crate) command: AppCommand,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum AppCommand {
    Init(AppInit),
    Render(AppRender),
    Check(AppCheck),
    Explain(AppExplain),
    Images(AppImages),
    Diff(AppDiff),
    Deploy(AppDeploy),
    Release(AppReleases),
    Status(AppStatus),
    Update(AppUpdate),
}

/// The application that is read.
#[derive(Args, Debug, Clone)]
pub(crate) struct AppOptions {
    /// The configuration file [default: kalypso-app.toml here or in a directory above]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Read the sections git and host from this file instead: in CI, that of the main branch, because a pull request could send a token elsewhere
    #[arg(long, value_name = "FILE")]
    pub(crate) access: Option<PathBuf>,
}

/// Make an application, or describe one that exists: its source, its values, its GitOps repository, and kalypso-app.toml
#[derive(Args, Debug)]
#[command(after_help = "\
A chart, a folder for Kustomize and a Workload that exist are used. Run it again to complete an interrupted run, or to add what is missing. No file that exists is
changed. The files are committed only if the repository has no commit yet.

Examples:
  kalypso app init shop --workspace store-team                          on this machine
  kalypso app init --workspace store-team -e dev,stage --target eu,us   in this folder, with two environments and two targets
  kalypso app init --workspace store-team --gitops https://git.example/acme/shop-gitops --configs https://git.example/acme/shop-configs
  kalypso app init shop --workspace store-team --host github --owner acme --create
  kalypso app init shop --workspace store-team --like microsoft         the layout of Microsoft's application workflows")]
pub(crate) struct AppInit {
    /// The folder of the source: a new one, an empty one, or that of an application
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) directory: PathBuf,
    /// The name of the workload [default: that of the Workload, or of the folder]
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Option<String>,
    /// The team, as in the registration of the workload
    #[arg(long, value_name = "NAME")]
    pub(crate) workspace: Option<String>,
    /// The environments in the order of promotion [default: those of the Workload, or dev]
    #[arg(short, long = "env", value_name = "NAMES", value_delimiter = ',')]
    pub(crate) environments: Vec<String>,
    /// The folders of the targets [default: those of the Workload, or one named like the workload]
    #[arg(long = "target", value_name = "NAMES", value_delimiter = ',')]
    pub(crate) targets: Vec<String>,
    /// What is rendered [default: what is there, or a new chart]
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) source: Option<AppSource>,
    /// The repository with the values, with a branch for each environment: a URL or a path [default: the folder `values` of the source]
    #[arg(long, value_name = "REPO")]
    pub(crate) configs: Option<String>,
    /// The repository that reconcilers pull: a URL or a path [default: `DIR-gitops.git` beside the folder]
    #[arg(long, value_name = "REPO")]
    pub(crate) gitops: Option<String>,
    /// Use the layout of another tool
    #[arg(long, value_enum, value_name = "TOOL")]
    pub(crate) like: Option<AppLikeness>,
    #[command(flatten)]
    pub(crate) host: InitHost,
}

/// What is rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AppSource {
    /// A Helm chart
    Chart,
    /// A folder for Kustomize
    Kustomize,
    /// Plain manifests
    Manifests,
}

/// Another tool whose layout a new application has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AppLikeness {
    /// The application workflows of Microsoft's Kalypso: repositories for values and manifests with a branch for each environment, the chart in `helm`
    Microsoft,
}

/// What is rendered.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct AppRelease {
    /// The version, a semantic version such as 2.4.0 or 2.4.0-rc.1+57
    #[arg(long, value_name = "VERSION")]
    pub(crate) version: Option<String>,
    /// The tag of the image [default: the version, with `-` instead of `+`]
    #[arg(long, value_name = "TAG")]
    pub(crate) image_tag: Option<String>,
    /// The image, for the variable IMAGE
    #[arg(long, value_name = "IMAGE")]
    pub(crate) image: Option<String>,
    /// The file of the package, or its digest (`sha256:` and 64 digits), for the variable `PACKAGE_SHA256`
    #[arg(long, value_name = "FILE")]
    pub(crate) package: Option<String>,
    /// The commit, branch or tag of the source
    #[arg(long, value_name = "REV")]
    pub(crate) commit: Option<String>,
    /// The commit of the values, if they are in another repository or branch [default: the newest one]
    #[arg(long, value_name = "COMMIT")]
    pub(crate) values_commit: Option<String>,
}

/// Render the manifests of an environment's targets
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso app render -e dev                       how many objects of which kind
  kalypso app render -e dev eu                    the manifests of one target
  kalypso app render -e dev --out out             all of them, into a folder
  kalypso app render -e dev --commit v2.3.0       those of a commit instead of the working tree
  kalypso app render -e dev --version 2.4.0 --pin-images    with the digests of the images")]
pub(crate) struct AppRender {
    /// The environment
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: String,
    /// Print the manifests of this target
    #[arg(value_name = "TARGET", conflicts_with = "out")]
    pub(crate) target: Option<String>,
    /// Write all targets into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write into a folder that has other files
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) pinning: AppPinning,
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

/// Render all environments, and list everything that is wrong
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso app check
  kalypso app check -e dev --strict               one environment; warnings count as problems
  kalypso app check -o github                     in CI: annotations of the pull request")]
pub(crate) struct AppCheck {
    /// The environment [default: all]
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: Option<String>,
    #[command(flatten)]
    pub(crate) release: AppRelease,
    #[command(flatten)]
    pub(crate) app: AppOptions,
    /// Treat warnings as errors
    #[arg(long)]
    pub(crate) strict: bool,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: crate::diagnostics::ReportFormat,
}

/// Show which file and line each value of a target comes from
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso app explain -e dev eu                   all values
  kalypso app explain -e dev eu image             those below a key
  kalypso app explain -e dev eu image.tag         one value, and what it overrides")]
pub(crate) struct AppExplain {
    /// The environment
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: String,
    /// The target
    #[arg(value_name = "TARGET")]
    pub(crate) target: String,
    /// The key, with dots between its parts
    #[arg(value_name = "KEY", default_value = "")]
    pub(crate) key: String,
    #[command(flatten)]
    pub(crate) release: AppRelease,
    #[command(flatten)]
    pub(crate) app: AppOptions,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// Show what a deployment would change, object by object
#[derive(Args, Debug)]
#[command(after_help = "\
Without --against, the manifests are compared with those in the GitOps branch. The version is the deployed one, unless --version gives another. With
--against, the GitOps repository is not read, and both states have the same version.

Examples:
  kalypso app diff -e dev                         the working tree, compared with what is deployed
  kalypso app diff -e dev --version 2.4.0
  kalypso app diff -e dev --against main          compared with a branch of the source
  kalypso app diff -e dev -o markdown             for a pull request
  kalypso app diff -e dev --against main --comment    in CI: a comment on the pull request")]
pub(crate) struct AppDiff {
    /// The environment
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: String,
    /// Compare with this commit, branch or tag of the source, instead of the GitOps branch
    #[arg(long, value_name = "REV")]
    pub(crate) against: Option<String>,
    /// Write the answer as a comment on this pull request of the source [default: the one of the CI job]
    #[arg(long, value_name = "NUMBER", num_args = 0..=1, default_missing_value = "0")]
    pub(crate) comment: Option<u64>,
    #[command(flatten)]
    pub(crate) pinning: AppPinning,
    #[command(flatten)]
    pub(crate) release: AppRelease,
    #[command(flatten)]
    pub(crate) app: AppOptions,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: PlanFormat,
}

/// What a person allows a deployment to do.
#[derive(Args, Debug, Clone, Copy)]
pub(crate) struct AppPermissions {
    /// Take over files in the GitOps branch that no deployment wrote
    #[arg(long)]
    pub(crate) adopt: bool,
    /// Replace changes of others in the GitOps branch
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Remove many targets, or all
    #[arg(long)]
    pub(crate) confirm_removals: bool,
}

/// Deploy an application: write its manifests to the GitOps repository
#[derive(Args, Debug)]
#[command(after_help = "\
With --version, the version is deployed from the commit that is checked out, or from --commit. Without it, the version that is deployed now is rendered again from
its commit, with the newest values. Uncommitted changes are never deployed.

Examples:
  kalypso app deploy -e dev --version 2.4.0
  kalypso app deploy -e dev                       new values only
  kalypso app deploy -e dev --dry-run             show what would be done
  kalypso app deploy --version 2.4.0              for all environments, if a promotion moves versions (`promoted = true`)
  kalypso app deploy -e dev --version 2.3.0 --commit v2.3.0 --older    back to an older version")]
pub(crate) struct AppDeploy {
    /// The environment [default: all, if a promotion moves versions]
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: Option<String>,
    #[command(flatten)]
    pub(crate) release: AppRelease,
    #[command(flatten)]
    pub(crate) pinning: AppPinning,
    /// Show what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) permissions: AppPermissions,
    /// Deploy a commit that is older than the deployed one
    #[arg(long)]
    pub(crate) older: bool,
    #[command(flatten)]
    pub(crate) app: AppOptions,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// List and show the releases of an application: its versions, with their commits and who deployed them
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso app release list
  kalypso app release show 2.4.0")]
pub(crate) struct AppReleases {
    #[command(subcommand)]
    pub(crate) command: AppReleaseCommand,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum AppReleaseCommand {
    /// List the versions, the last deployed one first
    List(AppReleaseList),
    /// Show one version: its deployments, with commits, programs and authors
    Show(AppReleaseShow),
}

/// The options of `app release list`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso app release list
  kalypso app release list -e prod -o json")]
pub(crate) struct AppReleaseList {
    /// Only those of this environment
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: Option<String>,
    #[command(flatten)]
    pub(crate) app: AppOptions,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// The options of `app release show`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso app release show 2.4.0")]
pub(crate) struct AppReleaseShow {
    /// The version
    #[arg(value_name = "VERSION")]
    pub(crate) version: String,
    #[command(flatten)]
    pub(crate) app: AppOptions,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// Show what is deployed and proposed in each environment, and what runs
#[derive(Args, Debug)]
#[command(after_help = "\
What runs is shown if a hub is named: with --hub, the variable KALYPSO_HUB_URL, or `hub.url` of kalypso.toml.

Examples:
  kalypso app status
  kalypso app status -o json")]
pub(crate) struct AppStatus {
    /// The hub [default: the variable `KALYPSO_HUB_URL`, else `hub.url` of kalypso.toml]
    #[arg(long, value_name = "URL")]
    pub(crate) hub: Option<String>,
    /// A file with the token for the hub [default: the variable `KALYPSO_HUB_TOKEN`]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) app: AppOptions,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// Show newer versions of the charts of services, and write them into their files
#[derive(Args, Debug)]
#[command(after_help = "\
For each service, the chart repository is asked for its newest version that is no pre-release. The manifests of both versions are compared, for each environment.

Examples:
  kalypso app update                              which charts are old, and what would change?
  kalypso app update prometheus --write           write the newest version and its digest
  kalypso app update prometheus --to 25.8.0       another version
  kalypso app update --pin                        write the digests that are missing, nothing else")]
pub(crate) struct AppUpdate {
    /// The services [default: all]
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Write the digests that are missing, and change nothing else
    #[arg(long, conflicts_with = "to")]
    pub(crate) pin: bool,
    /// The version, instead of the newest one
    #[arg(long, value_name = "VERSION", requires = "names")]
    pub(crate) to: Option<String>,
    /// Write the versions and digests into the files
    #[arg(long)]
    pub(crate) write: bool,
    #[command(flatten)]
    pub(crate) app: AppOptions,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}
