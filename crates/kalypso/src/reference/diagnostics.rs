//! The page of diagnostics.

use model::diagnostic::Code;

const INTRODUCTION: &str = "\
# Diagnostics

What can be wrong with inputs, by code. A code keeps its meaning; the text of a message may change. This page is generated from the codes.

An **error** stops only the assignments that it affects: they keep their last published output. A **warning** stops nothing, but something is probably
a mistake; with `--strict`, warnings count as problems, unless they are [acknowledged](../how-to/keep-check-strict-clean.md). A **note** is a hint: it never counts as a problem,
and only `check` shows it. The fields of objects are in the [reference of kinds](kinds.md).

## For programs

`kalypso check -o json` prints one object. Its shape is stable: fields are added, never renamed or removed. `-o yaml` is the same as YAML, `-o sarif` is for
code scanning, `-o github` for annotations of a workflow.

| field | value |
|---|---|
| `diagnostics[].code` | the code, `K0312` |
| `diagnostics[].severity` | `error`, `warning` or `note` |
| `diagnostics[].message` | one sentence about this case |
| `diagnostics[].labels[]` | places; the first one is the place to fix |
| `diagnostics[].labels[].repository`, `.revision`, `.commit` | where the file is from; `null` for a plain directory |
| `diagnostics[].labels[].path` | the file, relative to the repository's root; `null` if the place is in no file |
| `diagnostics[].labels[].file` | with `--working-tree`: the file on this machine, from the current directory. `commit` is `null` then. Left out for other files |
| `diagnostics[].labels[].line`, `.column`, `.end_line`, `.end_column` | from 1, columns in characters, the end exclusive; `null` for a file as a whole |
| `diagnostics[].labels[].text` | a note about the place; may be empty |
| `diagnostics[].notes[]`, `.help[]` | facts, and what to do |
| `diagnostics[].environments[]` | the environments in which it was found |
| `diagnostics[].assignments[]` | the assignments that it reaches, each with `environment`, `cluster_type` and `target`: the first 1,000 |
| `diagnostics[].assignment_count` | how many these are, listed or not |
| `diagnostics[].object` | the object that it is about, with `kind` and `name`; may be `null` |
| `acknowledged[]` | warnings that were acknowledged, as in `diagnostics[]`, with `reason` and `until`, which may be `null`; left out if there are none |
| `summary.acknowledged` | how many these are; left out if there are none |
| `summary.notes` | how many diagnostics are notes; left out if there are none |
| `summary` | `errors`, `warnings`, `files` and `repositories` that were read; in the answer of `check` also how many `assignments` there are, and how many were `recomputed` because no earlier run knew them |
| `summary.not_listed` | how many diagnostics are left out of other answers, which list 1,000; 0 in that of `check` |
";

/// The groups of codes, by the first three characters of their ids.
const GROUPS: &[(&str, &str)] = &[
    ("K01", "Reading files"),
    ("K02", "Scheduling"),
    ("K03", "Configuration"),
    ("K04", "Rendering"),
    ("K05", "Publishing"),
    ("K06", "Repositories"),
    ("K07", "Applications"),
];

/// The page of diagnostics, as Markdown: `docs/reference/diagnostics.md`.
pub fn diagnostics() -> String {
    let groups = GROUPS.iter().map(|(prefix, title)| group(prefix, title));
    std::iter::once(INTRODUCTION.to_owned()).chain(groups).collect()
}

fn group(prefix: &str, title: &str) -> String {
    let codes: Vec<_> = Code::ALL.iter().filter(|code| code.id().starts_with(prefix)).collect();
    let row = |code: &&Code| format!("| [{code}](#{}) | {} |\n", code.id().to_lowercase(), code.title());
    let rows: String = codes.iter().map(row).collect();
    let sections: String = codes.iter().map(|code| section(**code)).collect();
    format!("\n## {title}\n\n| code | |\n|---|---|\n{rows}{sections}")
}

/// The heading is only the code, so that links to it stay valid.
fn section(code: Code) -> String {
    let manual = crate::diagnostics::manual(code);
    let (title, text) = manual.split_once('\n').unwrap_or((&manual, ""));
    format!("\n### {code}\n\n**{}**\n{text}", title.trim())
}
