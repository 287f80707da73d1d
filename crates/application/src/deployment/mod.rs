//! Deployments.
/// The descriptor.
pub const DESCRIPTOR_FILE: &str = "descriptor.yaml";
