//! The problems of what was admitted into environments, where it differs from the heads that `check` reads.

use std::collections::BTreeSet;
use std::sync::Arc;

use delivery::publication::enforcement::{self, NotAdmitted};
use delivery::reading;
use delivery::sources::loaded::Loaded;
use delivery::sources::shared_objects::without_possibly_used;
use engine::compile::Compiled;
use model::diagnostic::{Code, Diagnostic, Severity};
use model::name::EnvironmentName;

use crate::compiling;
use crate::progress::Watch;

/// An environment at what was admitted.
pub(super) struct AdmittedEnvironment {
    pub(super) loaded: Loaded,
    pub(super) compiled: Compiled,
}

/// What was admitted into environments.
#[derive(Default)]
pub(super) struct AdmittedStates {
    /// For each environment: None if its output has the heads.
    pub(super) environments: Vec<Option<AdmittedEnvironment>>,
    /// The environments of which it is not known, and why.
    pub(super) unknown: Vec<(EnvironmentName, String)>,
}

/// Reads what was admitted into environments that were read at their heads.
pub(super) fn read(heads: &[Arc<Loaded>], watch: &Watch) -> AdmittedStates {
    let mut states = AdmittedStates::default();
    for heads in heads {
        let found = match heads.access.as_ref().filter(|_| heads.is_complete) {
            Some(access) => reading::admitted(access, heads).unwrap_or_else(|error| {
                states.unknown.push((heads.fleet.environment.clone(), error.to_string()));
                None
            }),
            None => None,
        };
        states.environments.push(found.filter(|loaded| loaded.is_complete).map(|loaded| {
            let compiled = compiling::compile(&loaded, watch.progress());
            AdmittedEnvironment { loaded, compiled }
        }));
    }
    states
}

impl AdmittedEnvironment {
    /// What is wrong with what was admitted, and not with the heads; and what waits, as notes.
    pub(super) fn diagnostics(&self, heads: &[Diagnostic]) -> Vec<Diagnostic> {
        let key = |found: &Diagnostic| (found.code, found.message.clone());
        let known: BTreeSet<(Code, String)> = heads.iter().map(key).collect();
        let all = self.loaded.diagnostics.iter().cloned().chain(self.compiled.diagnostics());
        let own = all.filter(|found| !found.is_note()).map(|found| {
            found.note("this is in what was admitted: the newest commits do not have it, and wait for their gates")
        });
        let waits = enforcement::not_admitted(&self.loaded).into_iter().map(|NotAdmitted { diagnostic, .. }| {
            // That a change waits is no problem of the files.
            let is_wait = diagnostic.code == Code::NotAdmitted;
            Diagnostic { severity: if is_wait { Severity::Note } else { diagnostic.severity }, ..diagnostic }
        });
        let found = own.chain(waits).filter(|found| !known.contains(&key(found)));
        without_possibly_used(&self.loaded, &model::diagnostic::merged(found.collect()))
    }
}
