//! The fields of the answers about environments, template packs, configurations and releases.

use super::Described;

/// The fields of a new environment.
pub(super) const ENVIRONMENT: &[Described] = &[
    ("environment", "the new environment"),
    ("after", "the environment before it in the order of promotion, whose branch is copied"),
    ("branch", "the new branch of the control plane"),
    ("workingTree", "the folder of its working tree; `null` without one"),
    ("files[]", "the path of each changed file of the main branch"),
    ("values[]", "the `ConfigMap` and the key of each value that names the new environment in place of the other one"),
    (
        "sources[].kind",
        "the kind of an object that reads a branch or a folder of another repository which is that of the new environment now",
    ),
    ("sources[].name", "its name"),
    ("sources[].repo", "the URL of the repository, as in the object"),
    ("sources[].branch", "the branch, if it is named after the environment; else there is `folder`"),
    ("sources[].folder", "the path of the folder"),
    ("sources[].file", "the file with the object"),
    ("sharedSources[]", "the same for branches and folders that are still those of the other environment"),
    ("assignments", "the number of its assignments"),
    ("isDryRun", "whether nothing is written"),
    ("commit", "the id of the commit of the main branch, with `--commit`"),
];

/// The fields of the list of template packs.
pub(super) const PACKS: &[Described] = &[
    ("packs[].name", "the name of the pack"),
    ("packs[].template", "the name of its template, without `--as`"),
    ("packs[].field", "the field of a cluster type that names it: `reconciler`, `namespaceService` or `configType`"),
    ("packs[].summary", "what it generates"),
];

/// The fields of a release.
pub(super) const RELEASE: &[Described] = &[
    ("name", "the name"),
    ("createdOn", "when it was made"),
    ("by", "who made it"),
    ("environment", "the environment that proved it"),
    ("platform", "the commit of the main branch; null if the environment does not use it"),
    ("configuration", "the commit of the environment's own branch"),
    ("workloads[].name", "a workload"),
    ("workloads[].key", "the key of `manifests` that names its version"),
    ("workloads[].version", "its version; null if its targets have several, or none"),
    ("workloads[].configurations[].version", "a version of its configuration"),
    ("workloads[].configurations[].assignments", "the number of assignments with this version"),
    ("isNew", "of `create`: whether the release did not exist before"),
];

/// The fields of `releases list`.
pub(super) const RELEASES: &[Described] = &[
    ("items[].name", "the name"),
    ("items[].createdOn", "when it was made"),
    ("items[].by", "who made it"),
    ("items[].environment", "the environment that proved it"),
    ("items[].platform", "the commit of the main branch; null if the environment does not use it"),
    ("items[].configuration", "the commit of the environment's own branch"),
    ("items[].workloads[].name", "a workload"),
    ("items[].workloads[].key", "the key of `manifests` that names its version"),
    ("items[].workloads[].version", "its version; null if its targets have several, or none"),
    ("items[].workloads[].configurations[].version", "a version of its configuration"),
    ("items[].workloads[].configurations[].assignments", "the number of assignments with this version"),
];

/// The fields of `releases diff`.
pub(super) const RELEASES_DIFF: &[Described] = &[
    ("from", "the first release"),
    ("to", "the other release, or the environment"),
    ("items[].what", "what differs: `main`, a workload, or a workload's configuration"),
    ("items[].from", "its version in the first one; null if it is not there"),
    ("items[].to", "its version in the other one"),
];
