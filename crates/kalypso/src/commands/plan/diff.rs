//! The differences of files, without what is sensitive in them.

use std::fmt::Write as _;
use std::sync::Arc;

use engine::compile::Compiled;
use engine::plan::{FileChange, PlannedId};
use engine::sensitive::Secrets;
use model::tree::{Blob, OpenError};

use super::Planned;
use super::selection::View;
use crate::terminal::count;

/// How many assignments' differences are shown, unless somebody wants more or fewer.
const DIFFS_MAX: usize = 1_000;

/// What differences are made of.
pub(super) struct Diffs<'a> {
    planned: &'a Planned<'a>,
}

impl<'a> Diffs<'a> {
    pub(super) fn new(planned: &'a Planned<'a>) -> Self {
        Self { planned }
    }

    /// The differences of what is shown.
    pub(super) fn text(&self, view: &View<'_>) -> Result<String, OpenError> {
        let limit = view.limit.unwrap_or(DIFFS_MAX);
        let mut text = String::new();
        for (id, _) in view.changes.iter().take(limit) {
            text.extend(self.of(id, &self.planned.files(id)?));
        }
        let other_files = &self.planned.plan.other_files;
        text.extend(other_files.iter().take(limit).map(|change| self.other(change)));
        let more = view.changes.len().saturating_sub(limit) + other_files.len().saturating_sub(limit);
        if more > 0 {
            let _ = writeln!(text, "\n  and {}: --limit N shows more", count(more, "more difference"));
        }
        Ok(text)
    }

    /// The differences of an assignment's files, in their order.
    pub(super) fn of(&self, id: &PlannedId, files: &[FileChange]) -> Vec<String> {
        let secrets = self.secrets(id, files);
        files.iter().map(|file| self.unified(file, secrets.as_ref())).collect()
    }

    /// The difference of a file that belongs to no assignment, and so holds none of its values.
    pub(super) fn other(&self, change: &FileChange) -> String {
        self.unified(change, Some(&Secrets::default()))
    }

    /// What is sensitive in an assignment's files; none if nobody can say.
    fn secrets(&self, id: &PlannedId, files: &[FileChange]) -> Option<Secrets> {
        let id = id.assignment()?;
        let old = self.planned.old.as_ref().map(|old| &old.compiled);
        let sides = [Some(self.planned.compiled), old].into_iter().flatten().map(Compiled::prepared);
        let mut found = sides.filter_map(|side| Some((side.secrets(&id)?, side.sensitive_paths(&id)))).peekable();
        found.peek()?;
        let (mut secrets, mut paths) = (Secrets::default(), std::collections::BTreeSet::new());
        for (some, at) in found {
            secrets.extend(some);
            paths.extend(at);
        }
        // What a file was made of is not always known, and values may become others while they are rendered.
        for blob in files.iter().flat_map(|file| [&file.before, &file.after]) {
            secrets.add_file(&self.content(blob.as_ref()), &paths);
        }
        Some(secrets)
    }

    fn content(&self, blob: Option<&Blob>) -> Arc<[u8]> {
        let known = |blob: &Blob| blob.bytes().cloned().or_else(|| self.planned.target.branch.content(blob.id()));
        blob.and_then(known).unwrap_or_default()
    }

    fn unified(&self, change: &FileChange, secrets: Option<&Secrets>) -> String {
        let name = |side: &str, blob: &Option<Blob>| {
            if blob.is_some() { format!("{side}/{}", change.path) } else { "/dev/null".to_owned() }
        };
        let (from, to) = (name("a", &change.before), name("b", &change.after));
        let Some(secrets) = secrets else {
            return format!("--- {from}\n+++ {to}\n(not shown: nobody can say any more what is sensitive in it)\n");
        };
        let text = |blob: Option<&Blob>| secrets.hide(&String::from_utf8_lossy(&self.content(blob)));
        let (before, after) = (text(change.before.as_ref()), text(change.after.as_ref()));
        similar::TextDiff::from_lines(&before, &after).unified_diff().header(&from, &to).to_string()
    }
}
