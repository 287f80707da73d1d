//! The annotations and labels that Kalypso reads.

use model::earlier_names::{RENAMED_FROM, RENAMED_TARGETS};
use model::kind::Kind;
use model::object::annotation::{
    APPLICATION_FILES, APPLICATION_IMAGES, APPLICATION_INPUTS, APPLICATION_RELEASE, APPLICATION_VERSION,
};
use model::object::config_map::{MERGE, PLATFORM_CONFIG, PRIORITY};
use model::object::deployment_target::{WORKLOAD_LABEL, WORKSPACE_LABEL};
use model::object::environment::{LONG_NAMES, MISSING_VALUES, NEXT, PRECEDENCE};
use model::object::gitops_repo::FAN_OUT;
use model::object::template::{EXTENSION, LITERAL, MISSING_KEY, UNCHECKED};
use model::object::workload_registration::RELEASE;
use model::owners::OWNERS;

/// An annotation or label that Kalypso reads.
pub(crate) struct Setting {
    /// The kinds that it is valid on.
    pub(crate) kinds: &'static [Kind],
    /// Its key.
    pub(crate) key: &'static str,
    /// A regular expression for its values. None if any text is valid.
    pub(crate) pattern: Option<&'static str>,
    /// The values, as Markdown.
    pub(crate) values: &'static str,
    /// Its meaning, as Markdown.
    pub(crate) doc: &'static str,
}

/// The annotations.
pub(crate) const ANNOTATIONS: &[Setting] = &[
    Setting {
        kinds: &[Kind::ConfigMap],
        key: PRIORITY,
        pattern: Some(r"^\s*[-+]?[0-9]+\s*$"),
        values: "an integer in quotes, `\"0\"` if left out",
        doc: "Where several `ConfigMap`s give one value, the one with the higher priority wins; with equal priority, the later one by name. \
              `azure-app-config` maps win over all others.",
    },
    Setting {
        kinds: &[Kind::ConfigMap],
        key: MERGE,
        pattern: Some(r"^\s*([^,=]+=\s*)?(deep|replace|append)\s*(,\s*([^,=]+=\s*)?(deep|replace|append)\s*)*$"),
        values: "`deep` (if left out), `replace` or `append`; for single keys `KEY=replace`; several with commas between them",
        doc: "How a value of this map is merged with the same value of earlier maps. `deep` merges mappings by key, and list items by their \
              `name`; `replace` takes this map's value as a whole; `append` merges mappings by key, and concatenates lists.",
    },
    Setting {
        kinds: &[Kind::Environment, Kind::ConfigSchema],
        key: MISSING_VALUES,
        pattern: Some("^(enforce|warn)$"),
        values: "`enforce` (if left out) or `warn`",
        doc: "What happens if a required value is missing. `enforce` stops the assignment; `warn` reports it, and ships \
              the assignment without the value. Wrong values always stop it.",
    },
    Setting {
        kinds: &[Kind::Environment],
        key: LONG_NAMES,
        pattern: Some("^(error|shorten)$"),
        values: "`error` (if left out) or `shorten`",
        doc: "What happens to namespace names beyond Kubernetes' 63 characters. `error` stops the assignment; `shorten` cuts the name, and ends it \
              with a short hash that stays the same.",
    },
    Setting {
        kinds: &[Kind::Environment, Kind::BaseRepo],
        key: PRECEDENCE,
        pattern: Some("^(name|specificity)$"),
        values: "`name` (if left out) or `specificity`",
        doc: "Which `ConfigMap` counts if several set a key. `name`: the one with the highest priority, then the one whose name comes last, as in Microsoft's \
              Kalypso. `specificity`: one for a cluster, then one for a cluster type, then the one with the most labels, then by priority and name. \
              A `BaseRepo` sets it for the whole environment that it is in; it must not contradict another one, and can't be below a limit (`allow`).",
    },
    Setting {
        kinds: &[Kind::Environment],
        key: NEXT,
        pattern: None,
        values: "the name of an environment",
        doc: "The environment that changes reach after this one. It describes the order of promotion; output does not depend on it.",
    },
    Setting {
        kinds: &[Kind::WorkloadRegistration],
        key: RELEASE,
        pattern: Some("^(pin|pullRequest)$"),
        values: "`pin` (if left out) or `pullRequest`",
        doc: "How a promotion writes a release of the workload into an environment. `pin` writes a `ReleasePin` on the environment's branch; \
              `pullRequest` proposes the manifests of the environment before in the repository of the manifests.",
    },
    Setting {
        kinds: &[Kind::GitOpsRepo],
        key: FAN_OUT,
        pattern: Some("^(true|false)$"),
        values: "`\"true\"` or `\"false\"` (if left out)",
        doc: "Whether the folders of cluster types are spread over others, `d3/5c/large/` in place of `large/`: the first four digits of the SHA-256 \
              of the name, as `printf %s large | sha256sum` prints it. Needed for more than 10,000 of them.",
    },
    Setting {
        kinds: &[Kind::Template],
        key: LITERAL,
        pattern: Some("^(true|false)$"),
        values: "`\"true\"` or `\"false\"` (if left out)",
        doc: "Output that still contains `{{` is rendered again, so that values can contain templates. `\"true\"` switches this off, for output \
              that contains braces on purpose.",
    },
    Setting {
        kinds: &[Kind::Template],
        key: UNCHECKED,
        pattern: Some("^(true|false)$"),
        values: "`\"true\"` or `\"false\"` (if left out)",
        doc: "Texts of application teams must not change the structure of the YAML or JSON that they are printed into. `\"true\"` lets them: only \
              for templates that print whole pieces of YAML out of labels or manifests. And `.yaml`, `.yml` and `.json` files must be YAML; \
              `\"true\"` lets them be anything.",
    },
    Setting {
        kinds: &[Kind::Template],
        key: MISSING_KEY,
        pattern: Some("^(default|error)$"),
        values: "`default` (if left out) or `error`",
        doc: "What happens if the template looks up a key that does not exist, such as `.Manifests.brach`. `default` prints `<no value>`, with a \
              warning. `error` stops the assignment, as Go's option `missingkey=error`. Optional keys are then read with `index .Manifests \"commit\"`.",
    },
    Setting {
        kinds: &[Kind::Template],
        key: EXTENSION,
        pattern: Some(r"^[A-Za-z0-9_-]([A-Za-z0-9_.-]{0,30}[A-Za-z0-9_-])?$"),
        values: "letters, digits, `-`, `_` and `.`, at most 32",
        doc: "The extension of the file that a configuration template makes: `env` makes `platform-config.env`. Left out, it is `sh` for \
              `contentType: sh`, and else `yaml`.",
    },
    Setting {
        kinds: &[Kind::Environment, Kind::BaseRepo, Kind::WorkloadRegistration],
        key: OWNERS,
        pattern: Some(r"^\s*\S*@\S+(\s+\S*@\S+)*\s*$"),
        values: "`@user`, `@organization/team` or e-mail addresses, with spaces between them",
        doc: "Who reviews changes of the repository, branch and folder that the object refers to. `kalypso codeowners` writes them into `CODEOWNERS`.",
    },
    Setting {
        kinds: &[Kind::ClusterType, Kind::Cluster, Kind::Workload, Kind::DeploymentTarget, Kind::WorkloadRegistration],
        key: RENAMED_FROM,
        pattern: Some(NAMES),
        values: "earlier names, the latest first, with commas between them",
        doc: "The names that the object had. `kalypso rename` writes it. An assignment that is removed under an earlier name and added under the present one is \
              renamed: its folder moves in one step, also in rings. Without effect once nothing is published under an earlier name. \
              The name of a workload in the repository of an application counts if its registration has or lists it.",
    },
    Setting {
        kinds: &[Kind::Workload],
        key: RENAMED_TARGETS,
        pattern: Some(PAIRS_OF_NAMES),
        values: "`NEW=OLD`; several with commas between them",
        doc: "The earlier names of the workload's deployment targets, without the name of the workload. `kalypso rename` writes it.",
    },
    Setting {
        kinds: &[Kind::DeploymentDescriptor],
        key: APPLICATION_INPUTS,
        pattern: None,
        values: "a digest",
        doc: "Everything that the manifests beside the descriptor depend on. `kalypso app deploy` writes it, and renders only targets with another digest.",
    },
    Setting {
        kinds: &[Kind::DeploymentDescriptor],
        key: APPLICATION_FILES,
        pattern: None,
        values: "JSON: blob ids by the paths of files",
        doc: "The files that were written with the descriptor. `kalypso app deploy` writes it, and changes no other file.",
    },
    Setting {
        kinds: &[Kind::DeploymentDescriptor],
        key: APPLICATION_VERSION,
        pattern: None,
        values: "a semantic version",
        doc: "The version of the application, where the descriptor has the version of the chart of a service. `kalypso app deploy` writes it.",
    },
    Setting {
        kinds: &[Kind::DeploymentDescriptor],
        key: APPLICATION_RELEASE,
        pattern: None,
        values: "JSON: `image`, `imageTag` and `packageSha256`",
        doc: "What the version consists of, beside its number. `kalypso app deploy` writes it where options named it, and renders new values with the same.",
    },
    Setting {
        kinds: &[Kind::DeploymentDescriptor],
        key: APPLICATION_IMAGES,
        pattern: None,
        values: "JSON: digests by the references of images",
        doc: "The digests that the images of the manifests beside the descriptor got. `kalypso app deploy` writes it where images are pinned, and renders new values with the same images.",
    },
];

/// Names with commas between them.
const NAMES: &str = r"^\s*[a-z0-9.-]+\s*(,\s*[a-z0-9.-]+\s*)*$";
/// Pairs of names with commas between them.
const PAIRS_OF_NAMES: &str = r"^\s*[a-z0-9.-]+\s*=\s*[a-z0-9.-]+\s*(,\s*[a-z0-9.-]+\s*=\s*[a-z0-9.-]+\s*)*$";

/// The labels.
pub(crate) const LABELS: &[Setting] = &[
    Setting {
        kinds: &[Kind::ConfigMap],
        key: PLATFORM_CONFIG,
        pattern: None,
        values: "`\"true\"`",
        doc: "The map takes part in composition. Without it, a `ConfigMap` is ignored by Kalypso.",
    },
    Setting {
        kinds: &[Kind::ConfigMap, Kind::ConfigSchema],
        key: "cluster-type",
        pattern: None,
        values: "the name of a `ClusterType`",
        doc: "Only for assignments of this cluster type, and of the clusters of it.",
    },
    Setting {
        kinds: &[Kind::ConfigMap, Kind::ConfigSchema],
        key: "cluster",
        pattern: None,
        values: "the name of a `Cluster`",
        doc: "Only for assignments of this cluster.",
    },
    Setting {
        kinds: &[Kind::ConfigMap, Kind::ConfigSchema],
        key: "deployment-target",
        pattern: None,
        values: "the whole name of a target, `<workload>-<name>`",
        doc: "Only for assignments of this deployment target.",
    },
    Setting {
        kinds: &[Kind::ConfigMap, Kind::ConfigSchema],
        key: WORKLOAD_LABEL,
        pattern: None,
        values: "the name of a `Workload`",
        doc: "Only for assignments of this workload. An application repository may bring a `ConfigSchema` only with this label.",
    },
    Setting {
        kinds: &[Kind::ConfigMap, Kind::ConfigSchema],
        key: "any other label",
        pattern: None,
        values: "any",
        doc: "Only for assignments whose cluster type, cluster or deployment target has the same label. All labels must match.",
    },
    Setting {
        kinds: &[Kind::DeploymentTarget],
        key: WORKLOAD_LABEL,
        pattern: None,
        values: "the name of a `Workload`",
        doc: "The workload of the target. Targets inside a `Workload` get this label automatically.",
    },
    Setting {
        kinds: &[Kind::DeploymentTarget],
        key: WORKSPACE_LABEL,
        pattern: None,
        values: "a team",
        doc: "The workspace that a policy can ask for. Targets inside a `Workload` get it from the `WorkloadRegistration`.",
    },
];
