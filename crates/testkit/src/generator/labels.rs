//! Labels of a generated fleet: the regions of cluster types, the teams of workloads, and the labels by which `ConfigMap`s apply.

use super::Size;
use super::names::{PURPOSES, cluster_type_name, workload_name};

pub(super) const SIZES: [&str; 4] = ["small", "medium", "large", "huge"];
pub(super) const RINGS: [&str; 4] = ["canary", "early", "broad", "late"];

/// The number of different labels. A fleet with more values has more regions and teams, so that the number of values that apply to an assignment
/// stays the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spread {
    /// Up to 100 `ConfigMap`s.
    Narrow,
    /// More than 100 `ConfigMap`s.
    Wide,
    /// As many labels as `Wide`, but more of the maps are for a single workload.
    Fine,
    /// As many labels as `Wide`, with 200 of 1,000 maps for single cluster types and 200 for single workloads.
    Nested,
}

/// The assignments to which a `ConfigMap` applies.
#[derive(Clone, Copy, Debug)]
enum Audience {
    Everybody,
    Region,
    Size,
    Ring,
    Team,
    RegionAndRing,
    RegionAndTeam,
    ClusterType,
    Workload,
    /// A single target on a single cluster type.
    Assignment,
}

const NESTED: [(usize, Audience); 5] = [
    (2, Audience::Everybody),
    (24, Audience::Region),
    (4, Audience::Team),
    (10, Audience::ClusterType),
    (10, Audience::Workload),
];
const WIDE: [(usize, Audience); 10] = large(120, 10);
const FINE: [(usize, Audience); 10] = large(117, 13);

/// The audiences of the maps of a large fleet, with the number of maps for teams in regions and for workloads.
const fn large(of_regions_and_teams: usize, of_workloads: usize) -> [(usize, Audience); 10] {
    [
        (1, Audience::Everybody),
        (8, Audience::Region),
        (2, Audience::Size),
        (2, Audience::Ring),
        (10, Audience::Team),
        (16, Audience::RegionAndRing),
        (of_regions_and_teams, Audience::RegionAndTeam),
        (30, Audience::ClusterType),
        (of_workloads, Audience::Workload),
        (1, Audience::Assignment),
    ]
}

impl Spread {
    pub(super) fn from_size(size: Size) -> Self {
        if size.config_maps > Size::HUNDRED.config_maps { Self::Wide } else { Self::Narrow }
    }

    fn regions(self) -> usize {
        match self {
            Self::Narrow => 10,
            Self::Wide | Self::Fine | Self::Nested => 20,
        }
    }

    fn teams(self) -> usize {
        match self {
            Self::Narrow => 10,
            Self::Wide | Self::Fine | Self::Nested => 25,
        }
    }

    /// The audiences with the number of consecutive maps of each. The sequence starts again after the last one.
    fn audiences(self) -> &'static [(usize, Audience)] {
        match self {
            Self::Narrow => &[
                (1, Audience::Everybody),
                (6, Audience::Region),
                (3, Audience::Size),
                (2, Audience::Ring),
                (4, Audience::Team),
                (2, Audience::RegionAndTeam),
                (1, Audience::ClusterType),
                (1, Audience::Workload),
            ],
            Self::Wide => &WIDE,
            Self::Fine => &FINE,
            Self::Nested => &NESTED,
        }
    }

    /// The region of a cluster type. Regions change fastest, then sizes, then rings.
    pub(super) fn region(self, cluster_type: usize) -> String {
        format!("region-{}", cluster_type % self.regions())
    }

    pub(super) fn size(self, cluster_type: usize) -> &'static str {
        SIZES[cluster_type / self.regions() % SIZES.len()]
    }

    pub(super) fn ring(self, cluster_type: usize) -> &'static str {
        let turn = match self {
            Self::Narrow => cluster_type / 3,
            // Each ring occurs in each region with each size.
            Self::Wide | Self::Fine | Self::Nested => {
                cluster_type + cluster_type / self.regions() + cluster_type / (self.regions() * SIZES.len())
            }
        };
        RINGS[turn % RINGS.len()]
    }

    /// The team of a workload.
    pub(super) fn team(self, workload: usize) -> String {
        format!("team-{}", workload % self.teams())
    }

    /// The labels that select the assignments of a map, as lines below `labels`.
    pub(super) fn of_config_map(self, index: usize) -> String {
        let (nth, audience) = self.audience(index);
        let region = format!("    region: region-{}\n", nth % self.regions());
        match audience {
            Audience::Everybody => String::new(),
            Audience::Region => region,
            Audience::Size => format!("    size: {}\n", SIZES[nth % SIZES.len()]),
            Audience::Ring => format!("    ring: {}\n", RINGS[nth % RINGS.len()]),
            Audience::Team => format!("    team: {}\n", self.team(nth)),
            Audience::RegionAndRing => format!("{region}    ring: {}\n", RINGS[nth / self.regions() % RINGS.len()]),
            Audience::RegionAndTeam => {
                let of_a_team = if self == Self::Narrow { 2 } else { self.regions() };
                format!("{region}    team: {}\n", self.team(nth / of_a_team))
            }
            Audience::ClusterType => format!("    cluster-type: {}\n", cluster_type_name(nth)),
            Audience::Workload => format!("    workload: {}\n", workload_name(nth)),
            Audience::Assignment => {
                let (cluster_type, workload, purpose) = (cluster_type_name(nth), workload_name(nth), PURPOSES[0]);
                format!("    cluster-type: {cluster_type}\n    deployment-target: {workload}-{purpose}\n")
            }
        }
    }

    /// The index of the first map for a single cluster type.
    pub(super) fn first_for_cluster_type(self) -> usize {
        self.first(|audience| matches!(audience, Audience::ClusterType))
    }

    /// The index of the first map for a single assignment. The sequence must contain one.
    pub(super) fn first_for_assignment(self) -> usize {
        self.first(|audience| matches!(audience, Audience::Assignment))
    }

    fn first(self, is_wanted: impl Fn(Audience) -> bool) -> usize {
        let before = self.audiences().iter().take_while(|(_, audience)| !is_wanted(*audience));
        before.map(|(count, _)| count).sum()
    }

    /// The audience of a map, and the number of earlier maps with the same audience.
    fn audience(self, index: usize) -> (usize, Audience) {
        let audiences = self.audiences();
        let row: usize = audiences.iter().map(|(count, _)| count).sum();
        let (round, mut left) = (index / row, index % row);
        for (count, audience) in audiences {
            if left < *count {
                return (round * count + left, *audience);
            }
            left -= count;
        }
        (index, Audience::Everybody)
    }
}
