//! Fleets of single clusters, of any number. The files are generated one at a time and are not kept in memory.

use std::fmt::Write as _;

use simulator::random::Random;

use super::labels::{RINGS, SIZES, Spread};
use super::{GeneratedFile, config, names, objects, schema};

const CLUSTERS_PER_FILE: usize = 5_000;
const CONFIG_MAPS_PER_FILE: usize = 100;
/// One of this many clusters has values of its own.
const CLUSTERS_PER_OWN_VALUES: usize = 100;
/// The number of clusters of a site.
const CLUSTERS_PER_SITE: usize = 100;
const REGIONS: usize = 20;
const SCHEMAS: usize = 2;

/// The size of a fleet of clusters. Every target is assigned to every cluster and to no cluster type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clusters {
    /// Number of `Cluster`s.
    pub clusters: usize,
    /// Number of cluster types of these clusters.
    pub cluster_types: usize,
    /// Number of deployment targets of the one workload, at most four.
    pub targets: usize,
}

impl Clusters {
    /// A million clusters of 20 types, with three targets each.
    pub const MILLION: Self = Self { clusters: 1_000_000, cluster_types: 20, targets: 3 };

    /// The number of assignments of such a fleet.
    pub fn assignments(self) -> usize {
        self.clusters * self.targets
    }

    /// The number of clusters that have a `ConfigMap` of their own.
    pub fn with_own_values(self) -> usize {
        self.clusters.div_ceil(CLUSTERS_PER_OWN_VALUES)
    }
}

/// Generates the files of a fleet one at a time. A file holds at most 5,000 clusters, or 100 `ConfigMap`s of single clusters, or one other object.
///
/// Policies select by the label `region`. Clusters have this label, cluster types do not.
pub fn files(size: Clusters, seed: u64) -> impl Iterator<Item = GeneratedFile> {
    let mut random = Random::new(seed);
    let mut own_random = Random::new(!seed);
    let mut fixed = objects::fixed();
    fixed.push(("destination.yaml".to_owned(), DESTINATION.to_owned()));
    fixed.extend((0..size.cluster_types).map(cluster_type));
    fixed.extend(objects::workload(0, size.targets, Spread::Narrow));
    let labels = config_labels();
    fixed.extend(labels.iter().enumerate().map(|(index, labels)| config::config_map(index, labels, &mut random)));
    fixed.extend((0..SCHEMAS).map(schema::config_schema));
    let own = (0..size.with_own_values().div_ceil(CONFIG_MAPS_PER_FILE)).map(move |file| {
        let first = file * CONFIG_MAPS_PER_FILE;
        let indexes = first..size.with_own_values().min(first + CONFIG_MAPS_PER_FILE);
        let maps = indexes.map(|index| config::of_cluster(&name(index * CLUSTERS_PER_OWN_VALUES), &mut own_random));
        (format!("configs/clusters/own-{file:05}.yaml"), maps.collect::<Vec<_>>().join("---\n"))
    });
    let clusters = (0..size.clusters.div_ceil(CLUSTERS_PER_FILE)).map(move |file| {
        let first = file * CLUSTERS_PER_FILE;
        let indexes = first..size.clusters.min(first + CLUSTERS_PER_FILE);
        let mut text = String::with_capacity(indexes.len() * 200);
        indexes.for_each(|index| write_cluster(&mut text, index, size, &mut random));
        (format!("clusters/clusters-{file:05}.yaml"), text)
    });
    fixed.into_iter().chain(own).chain(clusters)
}

/// The name of a cluster.
pub fn name(index: usize) -> String {
    format!("edge-{index:07}")
}

fn write_cluster(text: &mut String, index: usize, size: Clusters, random: &mut Random) {
    let separator = if text.is_empty() { "" } else { "---\n" };
    let (name, site) = (name(index), index / CLUSTERS_PER_SITE);
    let (region, ring) = (random.below(REGIONS as u64), random.pick(&RINGS));
    let cluster_type = names::cluster_type_name(random.below(size.cluster_types as u64) as usize);
    let _ = write!(
        text,
        "\
{separator}apiVersion: fleet.kalypso.io/v1alpha1
kind: Cluster
metadata:
  name: {name}
  labels:
    region: region-{region}
    ring: {ring}
    site: site-{site:05}
spec:
  clusterType: {cluster_type}
"
    );
}

/// A cluster type without the label `region`.
fn cluster_type(index: usize) -> GeneratedFile {
    let labels = format!("    size: {}\n    hardware: model-{}\n", SIZES[index % SIZES.len()], index % 3);
    let path = format!("cluster-types/{}.yaml", names::cluster_type_name(index));
    (path, objects::cluster_type_with(index, &labels))
}

/// The labels of the maps: one map for all clusters, one for each region, size and ring, and one for the team.
fn config_labels() -> Vec<String> {
    let regions = (0..REGIONS).map(|region| format!("    region: region-{region}\n"));
    let sizes = SIZES.iter().map(|size| format!("    size: {size}\n"));
    let rings = RINGS.iter().map(|ring| format!("    ring: {ring}\n"));
    let team = format!("    team: {}\n", Spread::Narrow.team(0));
    std::iter::once(String::new()).chain(regions).chain(sizes).chain(rings).chain([team]).collect()
}

/// This many folders need two folder levels above them.
const DESTINATION: &str = "\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: GitOpsRepo
metadata:
  name: edge
  annotations:
    output.kalypso.io/fan-out: \"true\"
spec:
  repo: https://git.example/acme/edge-gitops
  branch: prod
  path: .
";
