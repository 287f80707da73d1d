//! The differences of files, in the format of `diff -u`, without content that depends on sensitive values.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use delivery::output::planned::Planned;
use engine::compile::Compiled;
use engine::layout::own_files::{OWNER_FILE, TRACKING_FILE};
use engine::masking::{Lines, ShownFiles, plain};
use engine::plan::{FileChange, PlannedId};
use model::tree::Blob;
use similar::{Algorithm, ChangeTag, DiffOp};

/// The number of context lines around a difference.
const CONTEXT_LINES: usize = 3;

/// The file that marks the folder of a cluster type.
const MARKER_FILE: &str = "/README.md";

/// The files of an assignment in the form in which they may be shown.
struct Sides<'a> {
    /// The files before and after the change, if the fleets can render them.
    files: [Option<ShownFiles>; 2],
    /// The files that an earlier fleet renders, if the assignment is held.
    held: &'a [ShownFiles],
    /// Whether no value is sensitive on either side.
    are_all_public: bool,
}

/// Computes the differences of files.
pub struct FileDiffs<'a> {
    planned: &'a Planned,
}

impl<'a> FileDiffs<'a> {
    /// The differences of the files of a plan.
    pub fn new(planned: &'a Planned) -> Self {
        Self { planned }
    }

    /// The differences of an assignment's files, in their order.
    pub fn files(&self, id: &PlannedId, files: &[FileChange]) -> Vec<String> {
        let Some(sides) = self.sides(id) else { return files.iter().map(not_shown).collect() };
        files.iter().map(|file| self.of_file(file, &sides)).collect()
    }

    /// The difference of a file that belongs to no assignment. Kalypso's own such files contain no values. Foreign files are not shown if the
    /// environment has sensitive values.
    pub fn other(&self, change: &FileChange) -> String {
        let is_ours = [MARKER_FILE, TRACKING_FILE, OWNER_FILE].iter().any(|name| change.path.ends_with(name));
        if !is_ours && !self.planned.sensitive().is_empty() {
            return not_shown(change);
        }
        let [before, after] = [&change.before, &change.after].map(|blob| self.content(blob.as_ref()));
        unified(change, [&plain(&before), &plain(&after)])
    }

    /// The files of an assignment before and after the change, in the form in which they may be shown. None if the assignment is unknown.
    fn sides(&self, id: &PlannedId) -> Option<Sides<'_>> {
        let id = id.assignment()?;
        let old = self.planned.earlier.as_ref().map(|old| &old.compiled);
        let is_known = |side: &&Compiled| side.get(&id).is_some();
        self.planned.sides().find(is_known)?;
        // A path that is sensitive on one side is hidden on both sides: the mark is often added after the value.
        let sides = self.planned.sides();
        let mut sensitive: BTreeSet<_> = sides.flat_map(|side| side.prepared().sensitive_paths(&id)).collect();
        let held = self.planned.output.held.get(&id);
        sensitive.extend(held.into_iter().flat_map(|held| held.sensitive.iter().cloned()));
        let shown = |side: &Compiled| side.prepared().shown_files(&id, &sensitive);
        let files = [old.and_then(shown), shown(&self.planned.compiled)];
        let held = held.map_or(&[][..], |held| &held.shown);
        Some(Sides { files, held, are_all_public: sensitive.is_empty() })
    }

    fn of_file(&self, change: &FileChange, Sides { files: [old, new], held, are_all_public }: &Sides<'_>) -> String {
        let name = change.path.rsplit('/').next().unwrap_or_default();
        let [before, after] =
            [&change.before, &change.after].map(|blob| blob.as_ref().map(|blob| self.content(Some(blob))));
        let lines = |content: &Option<Arc<[u8]>>, sides: [&Option<ShownFiles>; 2]| match content {
            None => Some(Vec::new()),
            // Content that the fleets do not render is shown only if no value is sensitive.
            Some(content) => {
                let sides = sides.into_iter().flatten().chain(*held);
                let known = sides.into_iter().find_map(|side| Some(owned(side.lines(name, content)?)));
                known.or_else(|| are_all_public.then(|| owned(plain(content))))
            }
        };
        match (lines(&before, [old, new]), lines(&after, [new, old])) {
            (Some(before), Some(after)) => unified(change, [&before, &after]),
            _ => not_shown(change),
        }
    }

    fn content(&self, blob: Option<&Blob>) -> Arc<[u8]> {
        let known = |blob: &Blob| blob.bytes().cloned().or_else(|| self.planned.target.branch.content(blob.id()));
        blob.and_then(known).unwrap_or_default()
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

fn not_shown(change: &FileChange) -> String {
    format!("{}(not shown: what is sensitive in it is not known any more)\n", header(change))
}

/// A difference in the format of `diff -u`. The original lines are compared, and their shown forms are printed.
fn unified(change: &FileChange, [before, after]: [&[Lines<'_>]; 2]) -> String {
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
