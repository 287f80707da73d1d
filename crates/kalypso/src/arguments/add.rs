//! Arguments of `add`, `remove` and `rename`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{AddEnvironment, AddTemplate, Format, RemoveEnvironment};

/// Add an object to the control plane, and show what it would change
#[derive(Args, Debug)]
#[command(after_help = "\
Files are edited in the working tree of the branch, in their present style: all other bytes stay. An edit that would cause an
error of `kalypso check` is refused, and nothing is written.")]
pub(crate) struct Add {
    #[command(subcommand)]
    pub(crate) kind: AddKind,
}

/// The kinds that can be added.
#[derive(Debug, Subcommand)]
pub(crate) enum AddKind {
    Environment(AddEnvironment),
    ClusterType(AddClusterType),
    Cluster(AddCluster),
    Policy(AddPolicy),
    Config(AddConfig),
    Workload(AddWorkload),
    Target(AddTarget),
    Schema(AddSchema),
    Template(AddTemplate),
}

/// Remove an object from the control plane, and show what would disappear
#[derive(Args, Debug)]
#[command(after_help = "\
Files are edited in the working tree of the branch: all other bytes stay, and a file without objects is removed. An object that other
objects use is not removed.")]
pub(crate) struct Remove {
    #[command(subcommand)]
    pub(crate) kind: RemoveKind,
}

/// The kinds that can be removed.
#[derive(Debug, Subcommand)]
pub(crate) enum RemoveKind {
    Environment(RemoveEnvironment),
    ClusterType(RemoveClusterType),
    Cluster(RemoveFromEnvironment),
    Policy(RemoveFromEnvironment),
    Config(RemoveConfig),
    Workload(RemoveFromMain),
    Target(RemoveTarget),
    Schema(RemoveAnywhere),
    Template(RemoveTemplates),
}

/// Give a workload, a deployment target, a cluster type or a cluster another name, and show what moves
#[derive(Args, Debug)]
#[command(after_help = "\
Everything that names the object follows: clusters, policies, release pins, registrations, and the conditions of values and schemas. The
object keeps its earlier name in an annotation, so that plans, rings and the hub know it. In the GitOps repository, folders move.")]
pub(crate) struct Rename {
    #[command(subcommand)]
    pub(crate) kind: RenameKind,
}

/// The kinds that can be renamed.
#[derive(Debug, Subcommand)]
pub(crate) enum RenameKind {
    /// Rename a cluster type of an environment
    ClusterType(RenameInEnvironment),
    /// Rename a cluster of an environment
    Cluster(RenameInEnvironment),
    Workload(RenameWorkload),
    Target(RenameTarget),
}

/// Rename an object of an environment
#[derive(Args, Debug)]
#[command(after_help = "\
Reconcilers must then pull the new folder: see `kalypso bootstrap`.
In a cluster, a reconciler that prunes removes the objects with the old name, such as the namespace with its volumes.

Examples:
  kalypso rename cluster store-7 store-007 -e prod --dry-run    what would move
  kalypso rename cluster-type small kiosk -e dev --commit")]
pub(crate) struct RenameInEnvironment {
    /// The present name
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The new name
    #[arg(value_name = "NEW_NAME")]
    pub(crate) new_name: String,
    /// The environment
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: String,
    #[command(flatten)]
    pub(crate) edit: EditOptions,
}

/// Rename a workload, in the repository of its application and in all branches that name it
#[derive(Args, Debug)]
#[command(after_help = "\
The repository of the application, the main branch and the branches of environments are edited in one step. Each that changes must be
checked out, or is proposed with --propose.
In a cluster, a reconciler that prunes removes the objects with the old name, such as the namespace with its volumes.

Examples:
  kalypso rename workload checkout store-checkout --dry-run              what would move, in each environment
  kalypso rename workload checkout store-checkout --checkout ../checkout --commit
  kalypso rename workload checkout store-checkout --propose              one pull request for each branch")]
pub(crate) struct RenameWorkload {
    /// The present name
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The new name
    #[arg(value_name = "NEW_NAME")]
    pub(crate) new_name: String,
    /// A checkout of the application [default: that of the current directory]
    #[arg(long, value_name = "DIR", conflicts_with = "propose")]
    pub(crate) checkout: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) edit: EditOptions,
}

/// Rename a deployment target of a workload in all environments, and in all branches that name it
#[derive(Args, Debug)]
#[command(after_help = "\
In a cluster, a reconciler that prunes removes the objects with the old name, such as the namespace with its volumes.

Examples:
  kalypso rename target eu europe --workload checkout --dry-run
  kalypso rename target eu europe --workload checkout --checkout ../checkout --commit")]
pub(crate) struct RenameTarget {
    /// The present name, without that of the workload
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The new name, without that of the workload
    #[arg(value_name = "NEW_NAME")]
    pub(crate) new_name: String,
    /// The workload
    #[arg(long, value_name = "WORKLOAD")]
    pub(crate) workload: String,
    /// A checkout of the application [default: that of the current directory]
    #[arg(long, value_name = "DIR", conflicts_with = "propose")]
    pub(crate) checkout: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) edit: EditOptions,
}

/// What happens with an edit.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct EditOptions {
    /// A folder in the working tree to edit [default: that of the control plane's repository, of the current directory, or `control-plane` beside kalypso.toml]
    #[arg(long, value_name = "DIR", conflicts_with = "propose")]
    pub(crate) working_tree: Option<PathBuf>,
    /// Commit the edited files, and no others
    #[arg(long, conflicts_with_all = ["propose", "dry_run"])]
    pub(crate) commit: bool,
    /// Change no working tree: push a new branch, and open a pull request if kalypso.toml has a `[host]`
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) propose: bool,
    /// The message of the commit, and the title of the pull request [default: what is added or removed]
    #[arg(long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The configuration file [default: kalypso.toml here or in a directory above]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// The repository of an application that is edited, and what is done there.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct ApplicationOptions {
    /// A checkout of the application [default: the current directory]
    #[arg(long, value_name = "DIR", conflicts_with = "propose")]
    pub(crate) checkout: Option<PathBuf>,
    /// Commit the edited files in the checkout, and no others
    #[arg(long, conflicts_with_all = ["propose", "dry_run"])]
    pub(crate) commit: bool,
    /// Change no checkout: push a new branch to the repository that is registered for the workload, and open a pull request if kalypso.toml has a `[host]` for it
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) propose: bool,
    /// The message of the commit, and the title of the pull request [default: what is added, changed or removed]
    #[arg(long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The configuration file, to show the plan, and to find the repository [default: kalypso.toml here or in a directory above]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// Where new objects are written.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct FileOptions {
    /// The file, relative to the environment's folder [default: as for other objects of the kind]
    #[arg(long = "in", value_name = "FILE")]
    pub(crate) file: Option<String>,
}

/// Add a cluster type to an environment
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso add cluster-type large -e dev --reconciler flux --namespace default --config-type configmap
  kalypso add cluster-type small -e dev -l region=west-us,size=small    with the templates of the other cluster types
  kalypso add cluster-type small -e dev --propose                       as a pull request")]
pub(crate) struct AddClusterType {
    /// The name
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The environment
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: String,
    /// Labels, several with commas
    #[arg(short = 'l', long = "labels", value_name = "KEY=VALUE")]
    pub(crate) labels: Vec<String>,
    /// The template of the reconciler's manifests [default: that of the other cluster types, else the only one]
    #[arg(long, value_name = "TEMPLATE")]
    pub(crate) reconciler: Option<String>,
    /// The template of the namespace [default: that of the other cluster types, else the only one]
    #[arg(long, value_name = "TEMPLATE")]
    pub(crate) namespace: Option<String>,
    /// The template of the configuration [default: that of the other cluster types, else the only one]
    #[arg(long, value_name = "TEMPLATE")]
    pub(crate) config_type: Option<String>,
    #[command(flatten)]
    pub(crate) place: FileOptions,
    #[command(flatten)]
    pub(crate) edit: EditOptions,
}

/// Add clusters with their own values, workloads or releases to an environment
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso add cluster chicago-line-7 -e prod --cluster-type plant -l line=7
  kalypso add cluster 'store-[001-075]' -e prod --cluster-type store -l region=west-us    75 clusters
  kalypso add cluster -e prod --csv stores.csv     columns: name, cluster-type, and one for each label")]
pub(crate) struct AddCluster {
    /// The names; `[001-075]` stands for these numbers
    #[arg(value_name = "NAME", required_unless_present = "csv")]
    pub(crate) names: Vec<String>,
    /// The environment
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: String,
    /// The cluster type, whose labels and templates the clusters inherit
    #[arg(long, value_name = "NAME", required_unless_present = "csv")]
    pub(crate) cluster_type: Option<String>,
    /// Labels of all these clusters, several with commas
    #[arg(short = 'l', long = "labels", value_name = "KEY=VALUE")]
    pub(crate) labels: Vec<String>,
    /// A file with a row for each cluster: the columns `name` and `cluster-type`; each other column is a label
    #[arg(long, value_name = "FILE", conflicts_with = "names")]
    pub(crate) csv: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) place: FileOptions,
    #[command(flatten)]
    pub(crate) edit: EditOptions,
}

/// Add a policy, which assigns deployment targets to cluster types and clusters
#[derive(Args, Debug)]
#[command(after_help = "\
Selectors are those of `kubectl -l`: a=b, a!=b, 'a in (b,c)', 'a notin (b,c)', a, '!a'

Examples:
  kalypso add policy checkout-edge -e prod --workspace store-team --targets role=api --on edge=true
  kalypso add policy smoke-tests -e dev --targets purpose=smoke-test --on 'region in (west-us,east-us),!kiosk'")]
pub(crate) struct AddPolicy {
    /// The name
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The environment
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: String,
    /// Only deployment targets of this workspace
    #[arg(long, value_name = "NAME")]
    pub(crate) workspace: Option<String>,
    /// The labels of the deployment targets; '' selects all
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) targets: String,
    /// The labels of the cluster types and clusters; '' selects all
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) on: String,
    #[command(flatten)]
    pub(crate) place: FileOptions,
    #[command(flatten)]
    pub(crate) edit: EditOptions,
}

/// Add or change values for assignments with some labels
#[derive(Args, Debug)]
#[command(after_help = "\
The values go to the ConfigMap that has exactly these labels. If there is none, it is added. A value that no assignment would use is
refused: because nothing has these labels, or because other ConfigMaps override it.

Examples:
  kalypso add config LOG_LEVEL=debug -e dev                      for all assignments of dev
  kalypso add config REGION='West US' -e prod --for region=west-us
  kalypso add config LOG_LEVEL=debug -e prod --for cluster=store-017 --priority 10    before ConfigMaps with lower priorities
  kalypso add config VAT=19 -e prod --repo germany --for country=de    in the repository that BaseRepo `germany` names, within its limits
  kalypso add config CURRENCY=USD                                on the main branch, for all environments
  kalypso add config --from-file 'database=pool.yaml' -e prod --for tier=store,size=large")]
pub(crate) struct AddConfig {
    /// The values; one that exists is changed
    #[arg(value_name = "KEY=VALUE", required_unless_present = "from_file")]
    pub(crate) values: Vec<String>,
    /// The environment [default: the main branch, for all environments]
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: Option<String>,
    /// Write to another repository that the environment reads: the name of its `BaseRepo`, or its URL [default: the environment's own branch]
    #[arg(long, value_name = "REPOSITORY", requires = "environment")]
    pub(crate) repo: Option<String>,
    /// The labels of the assignments, several with commas [default: all assignments]
    #[arg(long = "for", value_name = "KEY=VALUE")]
    pub(crate) labels: Vec<String>,
    /// The name of the `ConfigMap` [default: the one with these labels, or a new name]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// A value that is the content of a file
    #[arg(long, value_name = "KEY=FILE")]
    pub(crate) from_file: Vec<String>,
    /// The priority of the `ConfigMap`, for all its values: of several values for one key, the one with the highest priority counts [default: as it is, or 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) priority: Option<i64>,
    /// Also write values that no assignment uses
    #[arg(long)]
    pub(crate) allow_unused: bool,
    #[command(flatten)]
    pub(crate) place: FileOptions,
    #[command(flatten)]
    pub(crate) edit: EditOptions,
}

/// Register the repository of an application; or make the file of a new workload, in a checkout of the application
#[derive(Args, Debug)]
#[command(after_help = "\
The application team makes the file of the workload, with --checkout. The platform team registers the repository, with --repo: the
registration goes to the main branch.

Examples:
  kalypso add workload checkout --checkout . -t api:dev:role=api -t api:prod:role=api \\
    -m repo=https://git.example/acme/checkout-manifests -m 'branch={env}' -m 'path=./{target}'
  kalypso add workload checkout --repo https://git.example/acme/checkout --workspace store-team")]
pub(crate) struct AddWorkload {
    /// The name
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Register this repository of an application
    #[arg(long, value_name = "URL", required_unless_present = "checkout")]
    pub(crate) repo: Option<String>,
    /// The branch
    #[arg(long, value_name = "BRANCH", default_value = "main")]
    pub(crate) branch: String,
    /// The folder with the workload
    #[arg(long, value_name = "PATH", default_value = "./workload")]
    pub(crate) path: String,
    /// The workspace: the team of the application
    #[arg(long, value_name = "NAME", requires = "repo")]
    pub(crate) workspace: Option<String>,
    /// Make `workload.yaml` in the folder PATH of this checkout
    #[arg(long, value_name = "DIR", conflicts_with_all = ["repo", "propose", "commit"], requires = "targets")]
    pub(crate) checkout: Option<PathBuf>,
    /// A deployment target of the new workload: its name, environment and labels
    #[arg(id = "targets", short = 't', long = "target", value_name = "NAME:ENV[:KEY=VALUE,…]", requires = "checkout")]
    pub(crate) targets: Vec<String>,
    /// A key of the manifests of these targets, usually `repo`, `branch` and `path`; `{target}` and `{env}` stand for their names
    #[arg(short = 'm', long = "manifests", value_name = "KEY=VALUE", requires = "checkout")]
    pub(crate) manifests: Vec<String>,
    /// Labels of the new workload, several with commas
    #[arg(short = 'l', long = "labels", value_name = "KEY=VALUE", requires = "checkout")]
    pub(crate) labels: Vec<String>,
    #[command(flatten)]
    pub(crate) place: FileOptions,
    #[command(flatten)]
    pub(crate) edit: EditOptions,
}

/// Add a deployment target to a workload, in a checkout of the application
#[derive(Args, Debug)]
#[command(after_help = "\
A target of the same name in another environment is the example: labels and manifests are as there, with the new environment's name
in place of the other's.

Examples:
  kalypso add target checkout api -e prod                           in the checkout of the current directory
  kalypso add target checkout api -e prod --checkout ../checkout
  kalypso add target checkout api -e dev -l role=api -m repo=https://git.example/acme/checkout-manifests -m branch=dev -m path=./api")]
pub(crate) struct AddTarget {
    /// The workload
    #[arg(value_name = "WORKLOAD")]
    pub(crate) workload: String,
    /// The name of the target, without that of the workload
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The environment
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: String,
    /// Labels, several with commas [default: those of the target with this name in another environment]
    #[arg(short = 'l', long = "labels", value_name = "KEY=VALUE")]
    pub(crate) labels: Vec<String>,
    /// The place of its manifests, usually `repo`, `branch` and `path` [default: as in another environment]
    #[arg(short = 'm', long = "manifests", value_name = "KEY=VALUE")]
    pub(crate) manifests: Vec<String>,
    #[command(flatten)]
    pub(crate) application: ApplicationOptions,
}

/// Add a JSON schema for the values of assignments with some labels
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso add schema regions schema.json                         on the main branch, for all assignments
  kalypso add schema plants plants.json -e prod --for tier=plant
  kalypso add schema checkout checkout.json --for workload=checkout")]
pub(crate) struct AddSchema {
    /// The name
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The file with the JSON schema
    #[arg(value_name = "FILE")]
    pub(crate) schema: PathBuf,
    /// The environment [default: the main branch, for all environments]
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: Option<String>,
    /// The labels of the assignments, several with commas [default: all assignments]
    #[arg(long = "for", value_name = "KEY=VALUE")]
    pub(crate) labels: Vec<String>,
    #[command(flatten)]
    pub(crate) place: FileOptions,
    #[command(flatten)]
    pub(crate) edit: EditOptions,
}

/// Remove cluster types from an environment
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso remove cluster-type large -e dev --dry-run    what would disappear
  kalypso remove cluster-type large -e dev --cascade    with its clusters")]
pub(crate) struct RemoveClusterType {
    /// The names
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
    /// The environment
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: String,
    /// Also remove the clusters of these types
    #[arg(long)]
    pub(crate) cascade: bool,
    #[command(flatten)]
    pub(crate) edit: EditOptions,
}

/// Remove objects from an environment
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso remove cluster 'store-[001-075]' -e prod --dry-run
  kalypso remove policy checkout-edge -e prod --commit")]
pub(crate) struct RemoveFromEnvironment {
    /// The names; `[001-075]` stands for these numbers
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
    /// The environment
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: String,
    #[command(flatten)]
    pub(crate) edit: EditOptions,
}

/// Remove objects from an environment, or from the main branch
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso remove schema plants -e prod
  kalypso remove schema regions              from the main branch")]
pub(crate) struct RemoveAnywhere {
    /// The names
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
    /// The environment [default: the main branch]
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: Option<String>,
    #[command(flatten)]
    pub(crate) edit: EditOptions,
}

/// Remove the registrations of applications
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso remove workload checkout --dry-run    what would disappear in each environment")]
pub(crate) struct RemoveFromMain {
    /// The names of the registrations
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) edit: EditOptions,
}

/// Remove templates from the main branch. A template that cluster types use is not removed
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso remove template argocd --dry-run")]
pub(crate) struct RemoveTemplates {
    /// The names
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) edit: EditOptions,
}

/// Remove values, or a whole `ConfigMap`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso remove config LOG_LEVEL -e dev                        of the ConfigMap for all assignments of dev
  kalypso remove config REGION CURRENCY -e prod --for region=west-us
  kalypso remove config --name west-us -e prod                  the ConfigMap with all its values
  kalypso remove config VAT -e prod --repo germany --for country=de    in the repository that BaseRepo `germany` names")]
pub(crate) struct RemoveConfig {
    /// The keys of the values
    #[arg(value_name = "KEY", required_unless_present = "name")]
    pub(crate) keys: Vec<String>,
    /// The environment [default: the main branch]
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: Option<String>,
    /// Remove from another repository that the environment reads: the name of its `BaseRepo`, or its URL [default: the environment's own branch]
    #[arg(long, value_name = "REPOSITORY", requires = "environment")]
    pub(crate) repo: Option<String>,
    /// The labels of the `ConfigMap`, several with commas [default: none]
    #[arg(long = "for", value_name = "KEY=VALUE")]
    pub(crate) labels: Vec<String>,
    /// The name of the `ConfigMap` [default: the one with these labels]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) edit: EditOptions,
}

/// Remove a deployment target from a workload, in a checkout of the application
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso remove target checkout api -e prod --checkout ../checkout")]
pub(crate) struct RemoveTarget {
    /// The workload
    #[arg(value_name = "WORKLOAD")]
    pub(crate) workload: String,
    /// The name of the target, without that of the workload
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The environment
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: String,
    #[command(flatten)]
    pub(crate) application: ApplicationOptions,
}
