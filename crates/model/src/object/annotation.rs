//! The annotations that mean something to Kalypso.

use super::Kind;
use super::config_map::{MERGE, PRIORITY};
use super::environment::{LONG_NAMES, MISSING_VALUES};
use super::gitops_repo::FAN_OUT;
use super::template::{EXTENSION, LITERAL, UNCHECKED};

/// What all of them end with, before the slash.
pub const DOMAIN: &str = "kalypso.io";

/// Their keys, with the kinds that may carry them.
pub const ALL: &[(&str, &[Kind])] = &[
    (PRIORITY, &[Kind::ConfigMap]),
    (MERGE, &[Kind::ConfigMap]),
    (MISSING_VALUES, &[Kind::Environment, Kind::ConfigSchema]),
    (LONG_NAMES, &[Kind::Environment]),
    (FAN_OUT, &[Kind::GitOpsRepo]),
    (LITERAL, &[Kind::Template]),
    (UNCHECKED, &[Kind::Template]),
    (EXTENSION, &[Kind::Template]),
];
