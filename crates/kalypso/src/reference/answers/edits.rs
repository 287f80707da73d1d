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
