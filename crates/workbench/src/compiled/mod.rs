//! Answers questions about compiled environments for programs that stay: the API of the service.
//!
//! The answers are those of [`crate::answers`], limited to what the caller may see. [`store`] keeps compiled environments between questions.

mod assignments;
mod contract;
mod explain;
mod files;
mod findings;
mod limits;
mod published_folder;
mod scope;
pub mod store;
mod values;
mod why_not;

use std::sync::{Arc, OnceLock};

use delivery::access::RepositoryAccess;
use delivery::output::compilation::KnownResults;
use delivery::reading::{self, ReadAt};
use delivery::sources::loaded::Loaded;
use engine::compile::{Compiled, Prepared};
use model::name::EnvironmentName;
use model::progress::Progress;

use self::findings::StateFindings;
use crate::Error;

/// An environment that was read and compiled.
pub struct CompiledState {
    /// The environment. It may be incomplete.
    loaded: Loaded,
    compiled: Compiled,
    findings: OnceLock<StateFindings>,
}

/// Which environment is read, and at which commits.
#[derive(Clone, Copy)]
pub struct StateSource<'a> {
    /// The access to its repositories.
    pub access: &'a Arc<RepositoryAccess>,
    /// Its name in its control plane.
    pub environment: &'a EnvironmentName,
    /// The commits.
    pub at: ReadAt,
}

impl CompiledState {
    /// Reads and compiles an environment. `earlier` is an earlier state of it: only what differs is compiled then. Otherwise, only what no run has compiled
    /// before.
    ///
    /// # Errors
    /// If the environment can't be read.
    fn read(StateSource { access, environment, at }: StateSource<'_>, earlier: Option<Self>) -> Result<Self, Error> {
        let loaded = reading::from_git(access, Some(environment), at)?
            .pop()
            .ok_or_else(|| crate::Failure::refused(format!("there is no environment `{environment}`")))?;
        let compiled = if let Some(Self { mut compiled, .. }) = earlier {
            compiled.update(&loaded.fleet);
            compiled
        } else {
            let mut known = KnownResults::new(Some(access.settings.memo_file(environment)));
            known.compile(&loaded, &Progress::default(), None)
        };
        Ok(Self { loaded, compiled, findings: OnceLock::new() })
    }

    /// The findings. They are collected for the first question about them.
    fn findings(&self) -> &StateFindings {
        self.findings.get_or_init(|| StateFindings::new(self))
    }

    fn prepared(&self) -> &Prepared {
        self.compiled.prepared()
    }
}
