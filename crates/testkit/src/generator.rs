//! Fleets of any size, made from a seed: the same files for the same seed, everywhere.
//!
//! What such a fleet looks like is described in `docs/performance.md`.

mod config;
mod objects;
mod schema;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crate::random::Random;

/// The environment of every generated fleet.
pub const ENVIRONMENT: &str = "prod";

/// How large a fleet is. Every target is assigned to every cluster type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Cluster types.
    pub cluster_types: usize,
    /// Deployment targets, four to a workload.
    pub targets: usize,
    /// `ConfigMap`s of the platform.
    pub config_maps: usize,
    /// `ConfigSchema`s; each applies to every assignment.
    pub schemas: usize,
}

impl Size {
    /// The size at which the original system was measured: 100 cluster types, 100 targets, 100 `ConfigMap`s, two schemas.
    pub const HUNDRED: Self = Self { cluster_types: 100, targets: 100, config_maps: 100, schemas: 2 };

    /// How many assignments such a fleet has.
    pub fn assignments(self) -> usize {
        self.cluster_types * self.targets
    }
}

/// The files of a fleet by path. A file holds one object.
pub fn fleet(size: Size, seed: u64) -> BTreeMap<String, String> {
    let mut random = Random::new(seed);
    let mut files: BTreeMap<_, _> = objects::fixed().into_iter().collect();
    files.extend((0..size.cluster_types).map(objects::cluster_type));
    files.extend((0..size.targets.div_ceil(objects::TARGETS_PER_WORKLOAD)).flat_map(|index| {
        let first = index * objects::TARGETS_PER_WORKLOAD;
        objects::workload(index, (size.targets - first).min(objects::TARGETS_PER_WORKLOAD))
    }));
    files.extend((0..size.config_maps).map(|index| config::config_map(index, &mut random)));
    files.extend((0..size.schemas).map(schema::config_schema));
    files
}

/// Writes the files of a fleet below a directory.
///
/// # Errors
/// If one can't be written.
pub fn write(directory: &Path, files: &BTreeMap<String, String>) -> io::Result<()> {
    for (path, text) in files {
        let path = directory.join(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
