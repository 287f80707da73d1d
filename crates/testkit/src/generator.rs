//! Generates fleets of any size from a seed. The same seed gives the same files on every machine.
//!
//! `docs/performance.md` describes the content of such a fleet.

pub mod change;
pub mod clusters;
pub(crate) mod config;
mod labels;
mod names;
mod objects;
pub(crate) mod schema;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use simulator::random::Random;

use labels::Spread;

/// The environment of every generated fleet.
pub const ENVIRONMENT: &str = "prod";

/// A file: its path and its text.
pub type GeneratedFile = (String, String);

/// The size of a fleet. Every target is assigned to every cluster type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Number of cluster types.
    pub cluster_types: usize,
    /// Number of deployment targets. A workload has four of them.
    pub targets: usize,
    /// Number of `ConfigMap`s of the platform. With up to 100, the fleet has 10 regions and 10 teams. With more, it has 20 regions and 25 teams.
    pub config_maps: usize,
    /// Number of `ConfigSchema`s. Each schema applies to every assignment.
    pub schemas: usize,
}

impl Size {
    /// The size at which the original system was measured: 100 cluster types, 100 targets, 100 `ConfigMap`s, two schemas.
    pub const HUNDRED: Self = Self { cluster_types: 100, targets: 100, config_maps: 100, schemas: 2 };
    /// A million assignments: 1,000 cluster types, 1,000 targets, 1,000 `ConfigMap`s, three schemas.
    pub const MILLION: Self = Self { cluster_types: 1_000, targets: 1_000, config_maps: 1_000, schemas: 3 };

    /// The number of assignments of such a fleet.
    pub fn assignments(self) -> usize {
        self.cluster_types * self.targets
    }
}

/// The files of a fleet by path. Each file holds one object.
pub fn fleet(size: Size, seed: u64) -> BTreeMap<String, String> {
    files(size, Spread::from_size(size), seed)
}

/// The files of a fleet of [`Size::MILLION`] or smaller, whose `ConfigMap`s have texts only, as clusters require.
pub fn million(size: Size, seed: u64) -> BTreeMap<String, String> {
    let mut files = fleet(size, seed);
    files.extend([objects::printing_texts()]);
    files
}

/// The files of a fleet of [`Size::MILLION`] or smaller, with more distinct sets of values. All cluster types use one config template, which prints a
/// hash of the values and all values as texts.
pub fn sets(size: Size, seed: u64) -> BTreeMap<String, String> {
    let mut files = files(size, Spread::Fine, seed);
    files.extend(objects::hashing());
    files
}

/// The files of a fleet of [`Size::MILLION`] or smaller, whose values are nested: texts of several lines, lists of maps and maps of maps. A fifth of the maps
/// is for single cluster types, and a fifth for single workloads. All cluster types use the config template of [`sets`].
pub fn nested(size: Size, seed: u64) -> BTreeMap<String, String> {
    let mut files = files(size, Spread::Nested, seed);
    files.extend(objects::hashing());
    for index in 1..size.config_maps {
        if let Some(text) = files.get_mut(&config::path(index)) {
            text.push_str(&config::script(index));
        }
    }
    files
}

fn files(size: Size, spread: Spread, seed: u64) -> BTreeMap<String, String> {
    let mut random = Random::new(seed);
    let mut files: BTreeMap<_, _> = objects::fixed().into_iter().collect();
    files.extend((0..size.cluster_types).map(|index| objects::cluster_type(index, spread)));
    files.extend((0..size.targets.div_ceil(names::TARGETS_PER_WORKLOAD)).flat_map(|index| {
        let first = index * names::TARGETS_PER_WORKLOAD;
        objects::workload(index, (size.targets - first).min(names::TARGETS_PER_WORKLOAD), spread)
    }));
    let config_map = |index| config::config_map(index, &spread.of_config_map(index), &mut random);
    files.extend((0..size.config_maps).map(config_map));
    files.extend((0..size.schemas).map(schema::config_schema));
    files
}

/// Writes the files of a fleet below a directory, one file at a time.
///
/// # Errors
/// Returns an error if a file cannot be written.
pub fn write(directory: &Path, files: impl IntoIterator<Item = GeneratedFile>) -> io::Result<()> {
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
