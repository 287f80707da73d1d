//! Names of the cluster types, workloads and deployment targets of a generated fleet.

pub(super) const TARGETS_PER_WORKLOAD: usize = 4;
pub(super) const PURPOSES: [&str; TARGETS_PER_WORKLOAD] = ["functional", "performance", "acceptance", "live"];

pub(super) fn cluster_type_name(index: usize) -> String {
    format!("ct-{index:04}")
}

pub(super) fn workload_name(index: usize) -> String {
    format!("app-{index:04}")
}
