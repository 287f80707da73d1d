//! The text of a pull request that proposes a change: the plan, its sources, and the hidden digest of the change.

use std::collections::BTreeSet;

use engine::output::Relocation;
use engine::plan::PlannedId;
use model::diagnostic::Diagnostic;
use model::digest::DigestBuilder;
use model::git_id::GitId;
use model::tree::Child;

use crate::output::changes::markdown::{self, PlanText};
use crate::output::planned::Planned;
use crate::sources::loaded::Loaded;

/// The begin and end of the last line of a body. Between them is the digest of the proposed change.
const CONTENT_MARKER: (&str, &str) = ("<!-- kalypso content ", " -->");
/// The number of characters of a body that are kept free for the marker.
const MARKER_CHARACTERS: usize = 80;

/// The body: the plan, its sources, and the hidden digest of the change.
pub(super) fn text(
    (loaded, planned): (&Loaded, &Planned),
    diagnostics: &[Diagnostic],
    characters_max: usize,
) -> String {
    let changes: Vec<_> = planned.plan.changes.iter().collect();
    let sources = sources(loaded);
    let rest = characters_max.saturating_sub(sources.chars().count() + MARKER_CHARACTERS);
    let plan = PlanText { loaded, planned, changes: &changes, diagnostics };
    let (begin, end) = CONTENT_MARKER;
    format!("{}\n{sources}\n\n{begin}{}{end}", plan.markdown(rest), digest(planned))
}

/// The commits of the platform that the output was made from.
fn sources(loaded: &Loaded) -> String {
    let own = loaded
        .reads
        .iter()
        .filter(|read| !matches!(read.role, git::load::ReadRole::Application(_) | git::load::ReadRole::Manifests(_)));
    let named = own.map(|read| format!("{}@{} {}", read.url.label(), read.revision, read.commit.short()));
    let named: BTreeSet<_> = named.collect();
    let lines: Vec<_> = named.iter().map(|source| markdown::code(source)).collect();
    format!("Made by Kalypso from {}.", model::count::named(&lines))
}

/// The digest of a change: what is replaced by what. It does not depend on the commits of the branches.
pub(super) fn digest(planned: &Planned) -> String {
    let mut digest = DigestBuilder::new("proposal");
    for (id, change) in &planned.plan.changes {
        let PlannedId { place, target } = id;
        let _ = digest.text(place).text(target);
        for child in [&change.before, &change.after] {
            digest.value(&child.as_ref().map(child_id));
        }
    }
    for file in &planned.plan.other_files {
        digest.text(&file.path);
        for blob in [&file.before, &file.after] {
            digest.value(&blob.as_ref().map(model::tree::Blob::id));
        }
    }
    for path in planned.plan.relocation.iter().flat_map(Relocation::removed_folders) {
        digest.text(&path);
    }
    digest.finish().to_string()
}

fn child_id(child: &Child) -> GitId {
    match child {
        Child::File(entry) => entry.blob.id(),
        Child::Tree(tree) => tree.id(),
        Child::Sealed(sealed) => sealed.id,
    }
}

/// The digest in the last line of a body.
pub(super) fn digest_in(body: &str) -> Option<&str> {
    let line = body.trim_end().lines().next_back()?.trim();
    line.strip_prefix(CONTENT_MARKER.0)?.strip_suffix(CONTENT_MARKER.1)
}

/// A body without its last line, if that is the digest.
pub(super) fn without_marker(body: &str) -> &str {
    match digest_in(body) {
        Some(_) => body.trim_end().rsplit_once('\n').map_or("", |(before, _)| before.trim_end()),
        None => body.trim_end(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_line_is_the_marker() {
        assert_eq!(digest_in("text\n\n<!-- kalypso content ab -->\n"), Some("ab"));
        assert_eq!(digest_in("<!-- kalypso content ab -->\ntext"), None);
        assert_eq!(without_marker("text\n\n<!-- kalypso content ab -->\n"), "text");
        assert_eq!(without_marker("text\n"), "text");
    }
}
