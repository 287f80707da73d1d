//! The fields of lists and descriptions.

use super::Described;

/// The output of `kalypso get` and `kalypso describe`, by command.
pub(super) const LISTS: &[(&str, &[Described])] = &[
    ("get environments", ENVIRONMENTS),
    ("get promotions", PROMOTIONS),
    ("get cluster-types", CLUSTER_TYPES),
    ("get clusters", CLUSTERS),
    ("get workloads", WORKLOADS),
    ("get targets", TARGETS),
    ("get policies", POLICIES),
    ("get configs", CONFIGS),
    ("get schemas", SCHEMAS),
    ("get templates", TEMPLATES),
    ("get pins", PINS),
    ("get mappings", MAPPINGS),
    ("get registrations", REGISTRATIONS),
    ("get base-repos", BASE_REPOS),
    ("get gitops-repos", GITOPS_REPOS),
    ("get assignments", ASSIGNMENTS),
    ("get values", KEYS),
    ("get values --key", VALUES),
    ("describe", DESCRIPTION),
];

const ENVIRONMENTS: &[Described] = &[
    ("items[].environment", "the environment"),
    ("items[].name", "the name"),
    ("items[].place", "where it is written: a place (below)"),
    ("items[].labels", "its labels"),
    ("items[].repository", "the repository of the environment's objects; `null` for a plain folder"),
    ("items[].branch", "its branch; `null` for a plain folder"),
    ("items[].path", "the folder in it; `null` for a plain folder"),
    ("items[].commit", "the commit that was read; `null` for a plain folder"),
    ("items[].main", "the commit of the `BaseRepo` named `main` that was read; may be `null`"),
    ("items[].mainIsPinned", "whether exactly that commit is promoted; otherwise, the head of the branch counts"),
    ("items[].gitopsRepos[]", "where the output goes: `REPOSITORY@BRANCH`"),
    ("items[].clusterTypes", "how many cluster types there are; the same for the other kinds"),
    ("items[].clusters", ""),
    ("items[].workloads", ""),
    ("items[].targets", ""),
    ("items[].policies", ""),
    ("items[].configs", ""),
    ("items[].assignments", ""),
    ("more", "whether there are more than `--limit`"),
    ("total", "the total number, independent of the limit"),
];

const PROMOTIONS: &[Described] = &[
    ("items[].environment", "the environment that changes reach"),
    ("items[].name", "the name"),
    ("items[].place", "where it is written: a place (below)"),
    ("items[].labels", "its labels"),
    ("items[].from[]", "the environments before it; none: changes reach it first"),
    ("items[].to", "the environment that changes reach"),
    ("items[].require", "`all` or `any`"),
    ("items[].gates[].name", "the name of a gate"),
    ("items[].gates[].condition", "its condition, in words"),
    ("items[].rings[].name", "the name of a ring, in the order of the rings"),
    ("items[].rings[].members", "its places, in words"),
    ("items[].rings[].enter[].name", "the name of a gate before the ring"),
    ("items[].rings[].enter[].condition", "its condition, in words"),
    ("items[].rings[].gates[].name", "the name of a gate before the next ring"),
    ("items[].rings[].gates[].condition", "its condition, in words"),
    ("items[].start", "`automatic` or `manual`"),
    ("items[].delivery", "`pullRequest` or `direct`"),
    ("items[].newer", "`wait`, `queue` or `supersede`"),
    ("items[].onFailure", "`stop`, `rollBackRing` or `rollBackEnvironment`"),
    ("more", "whether there are more than `--limit`"),
    ("total", "the total number, independent of the limit"),
];

const CLUSTER_TYPES: &[Described] = &[
    ("items[].environment", "the environment"),
    ("items[].name", "the name"),
    ("items[].place", "where it is written: a place (below)"),
    ("items[].labels", "its labels"),
    ("items[].reconciler", "the name of its reconciler template"),
    ("items[].configType", "the name of its configuration template"),
    ("items[].namespaceService", "the name of its namespace template"),
    ("items[].clusters", "how many `Cluster`s are of this type"),
    ("items[].assignments", "its assignments, with those of its clusters"),
    ("items[].ownAssignments", "its assignments without those of its clusters"),
    ("more", "whether there are more than `--limit`"),
    ("total", "the total number, independent of the limit"),
];

const CLUSTERS: &[Described] = &[
    ("items[].environment", "the environment"),
    ("items[].name", "the name"),
    ("items[].place", "where it is written: a place (below)"),
    ("items[].labels", "its labels"),
    ("items[].clusterType", "its cluster type"),
    ("items[].assignments", "how many targets run on it"),
    ("more", "whether there are more than `--limit`"),
    ("total", "the total number, independent of the limit"),
];

const WORKLOADS: &[Described] = &[
    ("items[].environment", "the environment"),
    ("items[].name", "the name"),
    ("items[].place", "where it is written: a place (below)"),
    ("items[].labels", "its labels"),
    ("items[].workspace", "the workspace (the team) that it belongs to"),
    ("items[].registration", "the `WorkloadRegistration` that brought it; may be `null`"),
    ("items[].repository", "the repository of that registration; may be `null`"),
    ("items[].targets", "how many deployment targets it has in the environment"),
    ("items[].assignments", "how many assignments these have"),
    ("more", "whether there are more than `--limit`"),
    ("total", "the total number, independent of the limit"),
];

const TARGETS: &[Described] = &[
    ("items[].environment", "the environment"),
    ("items[].name", "the name"),
    ("items[].place", "where it is written: a place (below)"),
    ("items[].labels", "its labels"),
    ("items[].workload", "its workload"),
    ("items[].workspace", "its workspace"),
    ("items[].registration", "the `WorkloadRegistration` that brought it; may be `null`"),
    ("items[].manifests", "where its manifests are, key by key, as in `spec.manifests`"),
    ("items[].assignments", "on how many places it runs"),
    ("items[].clusterTypes", "how many of these are cluster types"),
    ("items[].clusters", "how many of these are clusters"),
    ("more", "whether there are more than `--limit`"),
    ("total", "the total number, independent of the limit"),
];

const POLICIES: &[Described] = &[
    ("items[].environment", "the environment"),
    ("items[].name", "the name"),
    ("items[].place", "where it is written: a place (below)"),
    ("items[].labels", "its labels"),
    ("items[].targetRequirements[]", "its requirements of targets, in words"),
    ("items[].clusterTypeRequirements[]", "its requirements of cluster types and clusters, in words"),
    ("items[].targets", "how many targets it selects"),
    ("items[].places", "how many cluster types and clusters it selects"),
    ("items[].assignments", "how many assignments that makes"),
    ("more", "whether there are more than `--limit`"),
    ("total", "the total number, independent of the limit"),
];

const CONFIGS: &[Described] = &[
    ("items[].environment", "the environment"),
    ("items[].name", "the name"),
    ("items[].place", "where it is written: a place (below)"),
    ("items[].labels", "its labels"),
    (
        "items[].takesPart",
        "whether its values are used: the label `platform-config`, or a name that begins with `azure-app-config`",
    ),
    (
        "items[].for",
        "the labels that an assignment must have, as in `metadata.labels`; empty if the keys contain the labels",
    ),
    ("items[].priority", "its priority; `null` if the keys contain the labels"),
    ("items[].keys[]", "the keys that it sets"),
    ("items[].assignments", "how many assignments it reaches"),
    ("more", "whether there are more than `--limit`"),
    ("total", "the total number, independent of the limit"),
];

const SCHEMAS: &[Described] = &[
    ("items[].environment", "the environment"),
    ("items[].name", "the name"),
    ("items[].place", "where it is written: a place (below)"),
    ("items[].labels", "its labels"),
    ("items[].for", "the labels that an assignment must have, as in `metadata.labels`"),
    ("items[].registration", "the registration whose repository contains it; `null` for a schema of the platform"),
    ("items[].assignments", "how many assignments it reaches"),
    ("more", "whether there are more than `--limit`"),
    ("total", "the total number, independent of the limit"),
];

const TEMPLATES: &[Described] = &[
    ("items[].environment", "the environment"),
    ("items[].name", "the name"),
    ("items[].place", "where it is written: a place (below)"),
    ("items[].labels", "its labels"),
    ("items[].type", "`reconciler`, `namespace` or `config`"),
    ("items[].manifests", "how many manifests it has"),
    ("items[].clusterTypes", "how many cluster types use it"),
    ("more", "whether there are more than `--limit`"),
    ("total", "the total number, independent of the limit"),
];

const PINS: &[Described] = &[
    ("items[].environment", "the environment"),
    ("items[].name", "the name"),
    ("items[].place", "where it is written: a place (below)"),
    ("items[].labels", "its labels"),
    ("items[].manifests", "the keys of the manifests that it overrides, with their values, as in `spec.manifests`"),
    ("items[].reason", "the reason that it gives"),
    ("items[].expires", "the day after which it is warned of; `null` if there is none"),
    ("items[].targetRequirements[]", "its requirements of targets, in words"),
    ("items[].clusterTypeRequirements[]", "its requirements of cluster types and clusters, in words"),
    ("items[].assignments", "how many assignments it holds"),
    ("more", "whether there are more than `--limit`"),
    ("total", "the total number, independent of the limit"),
];

const MAPPINGS: &[Described] = &[
    ("items[].environment", "the environment"),
    ("items[].name", "the name"),
    ("items[].place", "where it is written: a place (below)"),
    ("items[].labels", "its labels"),
    ("items[].from", "the labels that a target must have, as in `spec.from`"),
    ("items[].add", "the labels that it gets, as in `spec.add`"),
    ("items[].targets", "how many targets get labels"),
    ("more", "whether there are more than `--limit`"),
    ("total", "the total number, independent of the limit"),
];

const REGISTRATIONS: &[Described] = &[
    ("items[].environment", "the environment"),
    ("items[].name", "the name"),
    ("items[].place", "where it is written: a place (below)"),
    ("items[].labels", "its labels"),
    ("items[].workspace", "the workspace of its targets"),
    ("items[].repository", "the repository, without credentials"),
    ("items[].branch", "the branch"),
    ("items[].path", "the folder"),
    ("items[].workloads[]", "the workloads that it brings"),
    ("items[].readable", "whether the repository could be read"),
    ("more", "whether there are more than `--limit`"),
    ("total", "the total number, independent of the limit"),
];

const BASE_REPOS: &[Described] = &[
    ("items[].environment", "the environment"),
    ("items[].name", "the name"),
    ("items[].place", "where it is written: a place (below)"),
    ("items[].labels", "its labels"),
    ("items[].repository", "the repository, without credentials"),
    ("items[].branch", "the branch"),
    ("items[].path", "the folder"),
    ("items[].commit", "the promoted commit; `null` for the head of the branch"),
    ("more", "whether there are more than `--limit`"),
    ("total", "the total number, independent of the limit"),
];

const GITOPS_REPOS: &[Described] = &[
    ("items[].environment", "the environment"),
    ("items[].name", "the name"),
    ("items[].place", "where it is written: a place (below)"),
    ("items[].labels", "its labels"),
    ("items[].repository", "the repository, without credentials"),
    ("items[].branch", "the branch"),
    ("items[].path", "the folder"),
    ("items[].autoMerge", "whether the git host merges pull requests by itself"),
    ("more", "whether there are more than `--limit`"),
    ("total", "the total number, independent of the limit"),
];

const ASSIGNMENTS: &[Described] = &[
    ("items[].environment", "the environment"),
    ("items[].name", "`CLUSTER_TYPE/TARGET`"),
    ("items[].clusterType", "the cluster type"),
    ("items[].cluster", "the cluster; `null` if the assignment is the cluster type's"),
    ("items[].target", "the deployment target"),
    ("items[].workload", "its workload"),
    ("items[].workspace", "its workspace"),
    ("items[].policies[]", "the policies that assign it"),
    ("items[].releasePins[]", "the release pins that hold it"),
    ("items[].release", "the desired release of the workload there; `null` if no key names it"),
    ("items[].rollout", "what is published, if it is something else: the same as `rollout` of `explain`; else `null`"),
    ("more", "whether there are more than `--limit`"),
    ("total", "the total number, independent of the limit"),
];

const KEYS: &[Described] = &[
    ("items[].environment", "the environment"),
    ("items[].key", "a key that a `ConfigMap` sets"),
    ("items[].configs", "how many `ConfigMap`s set it"),
    ("more", "whether there are more than `--limit`"),
    ("total", "the total number, independent of the limit"),
];

const VALUES: &[Described] = &[
    ("items[].environment", "the environment"),
    ("items[].key", "the key, as it was asked for"),
    ("items[].value", "a value, as `explain` shows it; `null` for the assignments without a value"),
    ("items[].sensitive", "whether the value is sensitive; then `value` is a digest"),
    ("items[].assignments", "how many assignments have this value from these `ConfigMap`s"),
    ("items[].clusterTypes", "on how many cluster types they are"),
    ("items[].clusters", "on how many clusters they are"),
    ("items[].targets", "of how many targets they are"),
    ("items[].workloads", "of how many workloads they are"),
    ("items[].setBy[].configMap", "a `ConfigMap` that sets it; several if each sets a part"),
    ("items[].setBy[].place", "where it is written"),
    ("items[].examples[]", "the first 10 of these assignments"),
    ("more", "whether there are more than `--limit`"),
    ("total", "the total number, independent of the limit"),
];

const DESCRIPTION: &[Described] = &[
    ("items[].kind", "the kind of the object"),
    ("items[].fields", "the fields of this kind, the same as `get` has for it"),
    ("items[].environment", "the environment"),
    ("items[].name", "the name"),
    ("items[].place", "where it is written"),
    ("items[].labels", "its labels"),
    ("items[].annotations", "its annotations, as in `metadata.annotations`"),
    ("items[].reaches.assignments", "how many assignments it reaches; `reaches` is `null` for kinds that reach none"),
    ("items[].reaches.clusterTypes", "on how many cluster types; the same for the others"),
    ("items[].reaches.clusters", ""),
    ("items[].reaches.targets", ""),
    ("items[].reaches.workloads", ""),
    ("items[].reaches.byWorkload[].workload", "a workload, the one with most assignments first"),
    ("items[].reaches.byWorkload[].assignments", ""),
    ("items[].reaches.byClusterType[].clusterType", "a cluster type, with its clusters"),
    ("items[].reaches.byClusterType[].assignments", ""),
    ("items[].reaches.examples[]", "the first assignments"),
    (
        "items[].rollouts[]",
        "the assignments of the object with another published content than the desired one: `assignment`, and the same as `rollout` of `explain`",
    ),
    ("items[].reachedBy[].kind", "the kind of an object that reaches some of these assignments"),
    ("items[].reachedBy[].name", "its name"),
    ("items[].reachedBy[].place", "where it is written"),
    ("items[].reachedBy[].assignments", "how many of these assignments it reaches"),
    ("items[].report", "the diagnostics that are about it, as in `check -o json`; at most 1,000"),
    ("items[].values[].key", "of a `ConfigMap`: a key that it sets"),
    ("items[].values[].value", "its value; a digest if it is sensitive"),
    ("items[].values[].place", "where it is written"),
    ("items[].deploymentTargets[].name", "of a workload: a target of it"),
    ("items[].deploymentTargets[].assignments", "on how many places it runs"),
    ("items[].mappedLabels[].label", "of a target: a label that a `LabelMapping` added"),
    ("items[].mappedLabels[].labelMapping", "that `LabelMapping`"),
    ("items[].ringPlaces[].ring", "of a promotion: a ring, also the last one that is not written"),
    ("items[].ringPlaces[].members", "its places, in words"),
    ("items[].ringPlaces[].places", "how many places it has"),
    ("items[].clusterNames[]", "of a cluster type: its clusters"),
    ("items[].clusterTypeNames[]", "of a template: the cluster types that use it"),
];
