//! The command line of edits of a whole platform: environments and template packs.

use clap::Args;

use super::EditOptions;

/// Add an environment after another one, with a copy of its branch
#[derive(Args, Debug)]
#[command(after_help = "\
The new branch of the control plane begins with the cluster types, policies and values of PREV; names of PREV in its destination and its values become
those of the new environment. If PREV has a working tree of its own, the new environment gets one beside it.

Examples:
  kalypso add environment qa --after dev             dev, qa, and then what came after dev
  kalypso add environment qa --after dev --empty     without clusters and policies
  kalypso add environment qa --after dev --dry-run   only the plan")]
pub(crate) struct AddEnvironment {
    /// The name, also of its branches
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The environment before it in the order of promotion
    #[arg(long, value_name = "ENV")]
    pub(crate) after: String,
    /// Leave out cluster types, clusters, policies and release pins
    #[arg(long)]
    pub(crate) empty: bool,
    #[command(flatten)]
    pub(crate) edit: EditOptions,
}

/// Add a template that is ready to use
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso add template --list             the packs
  kalypso add template argocd             templates/argocd.yaml on the main branch
  kalypso add template flux --as flux-oci under another name, as a start for your own")]
pub(crate) struct AddTemplate {
    /// The pack
    #[arg(value_name = "PACK", required_unless_present = "list")]
    pub(crate) pack: Option<String>,
    /// The name of the template [default: that of the pack]
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// List the packs
    #[arg(long, conflicts_with_all = ["pack", "name"])]
    pub(crate) list: bool,
    #[command(flatten)]
    pub(crate) edit: EditOptions,
}

/// Remove an environment from the platform
#[derive(Args, Debug)]
#[command(after_help = "\
Its branches stay, in the control plane and in the GitOps repository: clusters keep what they have.

Examples:
  kalypso remove environment qa --dry-run    what would no longer be published")]
pub(crate) struct RemoveEnvironment {
    /// The name
    #[arg(value_name = "ENV")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) edit: EditOptions,
}
