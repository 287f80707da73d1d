//! Services: charts of other people, each with a file that says which version is deployed.

mod chart;
mod read;
mod store;
mod update;

use std::sync::Arc;

use model::diagnostic::{Diagnostic, Origin};
use model::source::FileId;
use model::yaml::Node;
use rayon::prelude::*;

pub use self::chart::ChartReference;
pub use self::store::{ChartError, ChartStore, PulledChart};
pub use self::update::{ServiceEdit, ServiceUpdate, UpdateRequest, UpdateVersion};
use crate::programs::{ProgramError, Programs};
use crate::version::ApplicationVersion;

/// The services of an application.
#[derive(Clone, Debug, Default)]
pub struct Services {
    /// The services, by name.
    pub all: Vec<ChartService>,
    /// What is wrong with their files and charts.
    pub problems: Vec<Diagnostic>,
}

/// A service.
#[derive(Clone, Debug)]
pub struct ChartService {
    /// The name: that of its file, and of its folder in the GitOps branch.
    pub name: String,
    /// The chart that its file names. None: the file has an error.
    pub reference: Option<ChartReference>,
    /// The version of the chart.
    pub version: Option<ApplicationVersion>,
    /// The namespace of the release. None: that of the configuration file.
    pub namespace: Option<String>,
    /// The chart. None: it is not there yet, or an error stops the service.
    pub chart: Option<Arc<PulledChart>>,
    /// The path of its file, from the folder of the services.
    pub path: String,
    file: FileId,
    root: Option<Node>,
}

impl ChartService {
    /// The place of a field of its file, or the nearest one above it.
    pub fn origin(&self, path: &[&str]) -> Origin {
        let Some(root) = &self.root else { return Origin::File(self.file) };
        let mut found = None;
        let mut node = root;
        for key in path {
            let Some(child) = node.get(key) else { break };
            found = Some(child.span);
            node = child;
        }
        found.map_or(Origin::File(self.file), |span| Origin::Span(self.file, span))
    }
}

impl Services {
    /// Gets the charts of all services, those of the store first. A chart that can't be had stops only its own service.
    ///
    /// # Errors
    /// If Helm is needed and can't be started.
    pub fn fetch(&mut self, programs: &dyn Programs, store: &ChartStore) -> Result<(), ProgramError> {
        let get = |service: &ChartService| Some(store.chart(programs, service.reference.as_ref()?));
        let charts: Vec<_> = self.all.par_iter().map(get).collect();
        for (service, chart) in self.all.iter_mut().zip(charts) {
            match chart {
                Some(Ok(chart)) => service.chart = Some(chart),
                Some(Err(ChartError::Program(error))) if error.is_outside() => return Err(error),
                Some(Err(error)) => self.problems.push(error.diagnostic(service)),
                None => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
