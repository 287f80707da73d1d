//! Arguments that select environments, and the state of the control plane in which they are read.

use std::path::{Path, PathBuf};

use clap::Args;
use delivery::reading::ReadAt;

use super::{Check, Plan, Publish, Render, SourceOptions};

/// One environment or all.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct EnvironmentOrAll {
    /// The environment
    #[arg(short, long = "env", value_name = "ENV", required_unless_present = "all")]
    pub(crate) environment: Option<String>,
    /// All environments, one after the other
    #[arg(long, conflicts_with = "environment")]
    pub(crate) all: bool,
}

/// The state of the control plane that is read, if it is not the current one.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct StateOptions {
    /// Read the control plane with all uncommitted changes, from its working trees; DIR is a folder in one of them
    #[arg(long, value_name = "DIR", num_args = 0..=1, conflicts_with_all = ["from", "commit", "patch"])]
    #[expect(clippy::option_option, reason = "so clap has an option whose value may be left out")]
    pub(crate) working_tree: Option<Option<PathBuf>>,
    /// Read the control plane at a commit of the environment's branch or, without one environment, of the main branch
    #[arg(long, value_name = "COMMIT", conflicts_with_all = ["from", "patch"])]
    pub(crate) commit: Option<String>,
    /// Read the control plane with a patch: the output of `git diff`; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) patch: Option<PathBuf>,
}

/// Whether the heads are read instead of what was admitted.
#[derive(Args, Debug, Clone, Copy, Default)]
pub(crate) struct HeadOption {
    /// Read the heads of all branches, as if everything that waits for its gates were admitted
    #[arg(long, conflicts_with_all = ["from"])]
    pub(crate) head: bool,
}

impl HeadOption {
    /// The commits at which environments are read.
    pub(crate) fn at(self) -> ReadAt {
        if self.head { ReadAt::Candidates } else { ReadAt::Admitted }
    }
}

impl StateOptions {
    /// Whether the current state is read.
    pub(crate) fn is_current(&self) -> bool {
        self.working_tree.is_none() && self.commit.is_none() && self.patch.is_none()
    }
}

/// Whether a command reads the branches of a control plane in their current state, and the configuration file that names it.
pub(crate) type CurrentBranches<'a> = (bool, Option<&'a Path>);

impl SourceOptions {
    /// What is read. `is_current`: no other state is selected.
    pub(crate) fn branches(&self, is_current: bool) -> CurrentBranches<'_> {
        (self.from.is_none() && is_current, self.config.as_deref())
    }
}

impl Check {
    /// What is read.
    pub(crate) fn branches(&self) -> CurrentBranches<'_> {
        self.source.branches(self.state.is_current())
    }
}

impl Render {
    /// What is read.
    pub(crate) fn branches(&self) -> CurrentBranches<'_> {
        self.source.branches(self.state.is_current())
    }
}

impl Plan {
    /// What is read.
    pub(crate) fn branches(&self) -> CurrentBranches<'_> {
        self.source.branches(self.working_tree.is_none() && self.commit.is_none() && self.patch.is_none())
    }
}

impl Publish {
    /// What is read.
    pub(crate) fn branches(&self) -> CurrentBranches<'_> {
        (!self.publication_hub.hub_only, self.config.as_deref())
    }
}
