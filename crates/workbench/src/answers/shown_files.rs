//! Files of an assignment in the form in which they may be shown, and their differences in the format of `diff -u`. Content that depends on sensitive values is
//! not in them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use engine::compile::Prepared;
use engine::masking::{Lines, ShownFiles, plain};
use engine::plan::FileChange;
use model::diagnostic::AssignmentId;
use model::field_path::FieldPath;
use model::tree::Blob;
use similar::{Algorithm, ChangeTag, DiffOp};

/// The number of context lines around a difference.
const CONTEXT_LINES: usize = 3;

/// The files of an assignment in two states of its environment, in the form in which they may be shown.
pub(crate) struct ShownSides<'a> {
    /// The files in both states, if the fleets can render them.
    files: [Option<ShownFiles>; 2],
    /// The files that an earlier fleet renders, if the assignment is held.
    held: &'a [ShownFiles],
    /// Whether no value is sensitive in either state.
    are_all_public: bool,
}

/// One of two states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    After,
}

impl<'a> ShownSides<'a> {
    /// The files in both states. A path that is sensitive in one of them, or is in `sensitive`, is hidden in both: the mark is often added after the value.
    pub(crate) fn new(id: &AssignmentId, sides: [Option<&Prepared>; 2], mut sensitive: BTreeSet<FieldPath>) -> Self {
        sensitive.extend(sides.into_iter().flatten().flat_map(|side| side.sensitive_paths(id)));
        let files = sides.map(|side| side?.shown_files(id, &sensitive));
        Self { files, held: &[], are_all_public: sensitive.is_empty() }
    }

    /// The same with the files that an earlier fleet renders.
    pub(crate) fn with_held(self, held: &'a [ShownFiles]) -> Self {
        Self { held, ..self }
    }

    /// The same if it is not known what was sensitive in one of the states.
    pub(crate) fn with_unknown(self) -> Self {
        Self { are_all_public: false, ..self }
    }

    /// The lines of a file of one of the states. None: nothing of it may be shown.
    pub(crate) fn lines(&self, side: Side, path: &str, content: &[u8]) -> Option<Vec<Lines<'static>>> {
        let name = path.rsplit('/').next().unwrap_or_default();
        let [old, new] = &self.files;
        let sides = match side {
            Side::Before => [old, new],
            Side::After => [new, old],
        };
        let sides = sides.into_iter().flatten().chain(self.held);
        let known = sides.into_iter().find_map(|side| Some(owned(side.lines(name, content)?)));
        // Content that the fleets do not render is shown only if no value is sensitive.
        known.or_else(|| self.are_all_public.then(|| owned(plain(content))))
    }

    /// The difference of a file, from its contents before and after the change. None: nothing of it may be shown.
    pub(crate) fn difference(&self, change: &FileChange, [before, after]: [Option<Arc<[u8]>>; 2]) -> Option<String> {
        let lines = |side, content: Option<Arc<[u8]>>| match content {
            None => Some(Vec::new()),
            Some(content) => self.lines(side, &change.path, &content),
        };
        Some(unified(change, [&lines(Side::Before, before)?, &lines(Side::After, after)?]))
    }
}

fn owned(lines: Vec<Lines<'_>>) -> Vec<Lines<'static>> {
    lines.into_iter().map(Lines::into_owned).collect()
}

fn header(change: &FileChange) -> String {
    let name = |side: &str, blob: &Option<Blob>| {
        if blob.is_some() { format!("{side}/{}", change.path) } else { "/dev/null".to_owned() }
    };
    format!("--- {}\n+++ {}\n", name("a", &change.before), name("b", &change.after))
}

/// What is said of a file of which nothing may be shown.
pub(crate) fn not_shown(change: &FileChange) -> String {
    format!("{}(not shown: what is sensitive in it is not known any more)\n", header(change))
}

/// A difference in the format of `diff -u`. The original lines are compared, and their shown forms are printed.
pub(crate) fn unified(change: &FileChange, [before, after]: [&[Lines<'_>]; 2]) -> String {
    let texts = |lines: &[Lines<'_>]| lines.iter().map(|lines| lines.text.to_string()).collect::<Vec<_>>();
    let ops = similar::capture_diff_slices(Algorithm::Myers, &texts(before), &texts(after));
    let mut text = String::new();
    for hunk in similar::group_diff_ops(ops, CONTEXT_LINES) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
        if text.is_empty() {
            text.push_str(&header(change));
        }
        let range = |start: usize, end: usize| match end - start {
            1 => format!("{}", start + 1),
            0 => format!("{start},0"),
            length => format!("{},{length}", start + 1),
        };
        let old = range(first.old_range().start, last.old_range().end);
        let new = range(first.new_range().start, last.new_range().end);
        let _ = writeln!(text, "@@ -{old} +{new} @@");
        hunk.iter().for_each(|op| lines_of(op, [before, after], &mut text));
    }
    text
}

fn lines_of(op: &DiffOp, [before, after]: [&[Lines<'_>]; 2], text: &mut String) {
    let sides = match op.tag() {
        similar::DiffTag::Equal => vec![(ChangeTag::Equal, before.get(op.old_range()))],
        _ => vec![(ChangeTag::Delete, before.get(op.old_range())), (ChangeTag::Insert, after.get(op.new_range()))],
    };
    for (tag, lines) in sides {
        for lines in lines.unwrap_or_default() {
            let _ = write!(text, "{tag}{}", lines.shown);
            if !lines.shown.ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
}
