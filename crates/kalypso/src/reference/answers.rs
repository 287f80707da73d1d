//! What the structured answers of commands hold, field by field.

/// A field of an answer, and what it means.
pub type Field = (&'static str, &'static str);

/// The answers of commands with `-o json`: `[]` stands for each item of a list. What is inside `report` is on the page of diagnostics.
pub const ANSWERS: &[(&str, &[Field])] =
    &[("render", RENDER), ("plan", PLAN), ("publish", PUBLISH), ("explain", EXPLAIN), ("explain KEY", EXPLAIN_KEY)];

/// The field of other answers that holds a whole report.
pub const REPORT: &str = "report";

const RENDER: &[Field] = &[
    ("environment", "the environment"),
    ("tree", "the git tree id of the result"),
    ("assignments", "how many assignments there are"),
    ("clusterTypes", "how many cluster types there are"),
    ("clusters", "how many clusters there are that are places of their own"),
    ("failed[]", "assignments that could not be rendered, as `CLUSTER_TYPE/TARGET`"),
    ("files", "`null` with `--digest`"),
    ("files[].path", "a file of the result"),
    ("files[].id", "its git blob id"),
    ("report", "what is wrong, as `check -o json` says it"),
];

const PLAN: &[Field] = &[
    ("environment", "the environment"),
    ("change", "what is compared, with `--commit` and `--patch`; `null` without them"),
    ("change.branch", "the branch that changes; `null` for a plain directory"),
    ("change.from", "its commit before; `null` for a plain directory"),
    ("change.to", "its commit after; `null` with `--patch`"),
    ("change.patch", "the patch, as it was named"),
    ("change.files[]", "the files that the patch names"),
    ("plans[]", "one for each `GitOpsRepo`; with `--commit` and `--patch` one for all"),
    ("plans[].gitopsRepo", "its name, or what it was compared with instead"),
    ("plans[].branch", "the branch that was compared with: `REPOSITORY@BRANCH`, or the folder"),
    ("plans[].commit", "the commit of that branch; `null` for a folder"),
    ("plans[].tree", "the git tree id that the branch should have"),
    ("plans[].counts.changed", "assignments that change"),
    ("plans[].counts.added", "assignments that are added"),
    ("plans[].counts.removed", "assignments that are removed"),
    ("plans[].counts.unchanged", "assignments that stay as they are"),
    ("plans[].counts.moved", "folders of cluster types that move, because the layout of the branch changes"),
    ("plans[].counts.kept", "assignments that fail, and keep their last good output"),
    ("plans[].counts.missing", "assignments that fail, and have no output yet"),
    ("plans[].needsConfirmation", "whether so much is removed that `publish --direct` needs `--confirm`"),
    ("plans[].changes[].assignment", "`CLUSTER_TYPE/TARGET`"),
    ("plans[].changes[].kind", "`added`, `changed` or `removed`"),
    ("plans[].changes[].workload", "its workload; empty if it is not known"),
    ("plans[].changes[].values[].key", "the way to a value that changes"),
    ("plans[].changes[].values[].before", "what it was; `null` if it is new"),
    ("plans[].changes[].values[].after", "what it will be; `null` if it is gone"),
    ("plans[].changes[].values[].because", "where it is written, `REPOSITORY@BRANCH:FILE:LINE`; may be `null`"),
    ("plans[].changes[].reasons[]", "other reasons, in words"),
    ("plans[].changes[].files[].path", "a file that changes"),
    ("plans[].changes[].files[].kind", "`added`, `changed` or `removed`"),
    ("plans[].changes[].files[].before", "its git blob id before; `null` if it is new"),
    ("plans[].changes[].files[].after", "its git blob id after; `null` if it is gone"),
    ("plans[].changes[].files[].diff", "the difference, with `--diff`"),
    ("plans[].otherFiles[]", "files that belong to no assignment, with the same fields"),
    ("plans[].otherFiles[].path", ""),
    ("plans[].otherFiles[].kind", ""),
    ("plans[].otherFiles[].before", ""),
    ("plans[].otherFiles[].after", ""),
    ("plans[].otherFiles[].diff", ""),
    ("plans[].kept[]", "the assignments that keep their last good output"),
    ("plans[].missing[]", "the assignments that have no output yet"),
    ("report", "what is wrong, as `check -o json` says it"),
];

const PUBLISH: &[Field] = &[
    ("environment", "the environment"),
    ("published[]", "one for each `GitOpsRepo`"),
    ("published[].gitopsRepo", "its name"),
    (
        "published[].result",
        "`pushed`; `proposed`, if the proposing branch holds it already; `unchanged`, if there is nothing to do; `withdrawn`, if a needless proposing branch was removed; `refused`",
    ),
    ("published[].branch", "the branch that was pushed to; `null` if none was"),
    ("published[].commit", "the new commit; `null` if there is none"),
    ("published[].counts.changed", "assignments that change"),
    ("published[].counts.added", "assignments that are added"),
    ("published[].counts.removed", "assignments that are removed"),
    ("published[].counts.unchanged", "assignments that stay as they are"),
    ("published[].counts.kept", "assignments that fail, and keep their last good output"),
    ("report", "what is wrong, as `check -o json` says it"),
];

const EXPLAIN: &[Field] = &[
    ("clusterType", "the cluster type"),
    ("target", "the deployment target"),
    ("workload", "its workload"),
    ("workspace", "the workspace (the team) that it belongs to"),
    ("registration", "the `WorkloadRegistration` that brought the workload; may be `null`"),
    ("place", "where the target is written: a place (below)"),
    ("policies[].policy", "a policy that says so"),
    ("policies[].place", "where it is written"),
    ("policies[].target[]", "its requirements of the target, in words"),
    ("policies[].clusterType[]", "its requirements of the cluster type, in words"),
    ("mappedLabels[].label", "a label that a `LabelMapping` added to the target"),
    ("mappedLabels[].value", "its value"),
    ("mappedLabels[].labelMapping", "that `LabelMapping`"),
    ("mappedLabels[].place", "where the label is written"),
    ("templates[]", "the names of the templates: reconciler, namespace, configuration"),
    ("configVersion", "the version of the configuration: the same for the same values"),
    ("values[]", "every value, as `explain KEY` says it"),
];

const EXPLAIN_KEY: &[Field] = &[
    ("key", "the way to the value"),
    ("value", "what it is, as it may be shown; `null` if there is none"),
    ("setBy", "who set it; `null` if nobody did, or if it is put together of values below it"),
    ("setBy.configMap", "the `ConfigMap`"),
    ("setBy.place", "where it is written"),
    ("setBy.value", "what is written there"),
    ("setBy.matches[]", "why that `ConfigMap` matches, in words"),
    ("overrides[]", "what it took the place of, with the same fields, the latest first"),
    ("overrides[].configMap", ""),
    ("overrides[].place", ""),
    ("overrides[].value", ""),
    ("overrides[].matches[]", ""),
    ("notUsed[].configMap", "a `ConfigMap` that has the value too, and does not match"),
    ("notUsed[].place", "where it is written"),
    ("notUsed[].because[]", "why it does not match, in words"),
    ("checks[].place", "a schema that asks for something of this value, where it is written"),
    ("checks[].demands", "what it asks for, in words"),
    ("endsUpIn[].file", "a file of the assignment that holds the value"),
    ("endsUpIn[].line", "the line"),
];
