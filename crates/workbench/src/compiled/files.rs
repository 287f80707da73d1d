//! The rendered files of an assignment, as compiled and as published, and their differences.

use std::sync::Arc;

use engine::compile::Prepared;
use engine::plan::{ChangeKind, FileChange, file_changes};
use hub_api::compiled::{
    AssignmentDifference, AssignmentFile, AssignmentFileChange, AssignmentFiles, AssignmentName, CompiledAnswer,
    CompiledRefusal, DifferenceQuery, FilesQuery, FolderFileChange, NotShownReason,
};
use model::diagnostic::AssignmentId;
use model::tree::{Blob, Open, OpenError, Sealed, Tree, closed, shown as shown_name};

use super::limits::{FILE_BYTES_MAX, FILES_BYTES_MAX, FILES_MAX};
use super::published_folder::{GitOpsOutput, PublishedFolder};
use super::scope::VisibleState;
use crate::answers::shown_files::{ShownSides, Side};

/// The files of an assignment in one state.
enum FolderState<'a> {
    /// As they are compiled now.
    Compiled { prepared: &'a Prepared, folder: Tree },
    /// As they were published.
    Published(Box<PublishedFolder>),
}

/// The files of an assignment in one or two states, in the form in which they may be shown.
struct ComparedStates<'a> {
    before: Option<&'a FolderState<'a>>,
    after: &'a FolderState<'a>,
    shown: ShownSides<'static>,
}

impl VisibleState<'_> {
    /// The files of an assignment, as they are compiled now or as they were published.
    ///
    /// # Errors
    /// If there is no such assignment or publication.
    pub fn files(
        &self,
        name: &AssignmentName,
        query: &FilesQuery,
    ) -> Result<CompiledAnswer<AssignmentFiles>, CompiledRefusal> {
        self.check_complete()?;
        let id = self.assignment(name)?;
        let mut notes = Vec::new();
        let output = GitOpsOutput::read(self)?;
        let state = match &query.at {
            Some(commit) => self.published(&id, output.as_ref(), commit)?,
            None => self.compiled(&id, &mut notes),
        };
        let found = listed(state.folder(), &|sealed| state.open(sealed)).map_err(|error| self.unreadable(&error))?;
        let states = ComparedStates::new((&id, self.state.prepared()), None, &state);
        let mut room = FILES_BYTES_MAX;
        let files = found.iter().take(FILES_MAX).map(|(path, blob)| states.file(path, blob, &mut room));
        let publications = output.map_or(Ok(Vec::new()), |output| output.publications(self, &id))?;
        let answer = AssignmentFiles {
            at: state.publication().map(|published| published.shown.clone()),
            folder: state.publication().map_or_else(|| self.folder(&id), |published| Some(published.path.clone())),
            files: files.collect(),
            more: found.len().saturating_sub(FILES_MAX),
            publications,
        };
        Ok(self.answer(answer, notes))
    }

    /// The differences of the files of an assignment.
    ///
    /// # Errors
    /// If there is no such assignment or publication.
    pub fn difference(
        &self,
        name: &AssignmentName,
        query: &DifferenceQuery,
    ) -> Result<CompiledAnswer<AssignmentDifference>, CompiledRefusal> {
        self.check_complete()?;
        let id = self.assignment(name)?;
        let mut notes = Vec::new();
        let output = GitOpsOutput::read(self)?;
        let newest = || output.as_ref().and_then(|output| output.newest(self));
        let from = query.from.clone().or_else(newest);
        let before = from.map(|commit| self.published(&id, output.as_ref(), &commit)).transpose()?;
        let after = match &query.to {
            Some(commit) => self.published(&id, output.as_ref(), commit)?,
            None => self.compiled(&id, &mut notes),
        };
        let open = |sealed: &Sealed| match &before {
            Some(before) => before.open(sealed).or_else(|_| after.open(sealed)),
            None => after.open(sealed),
        };
        let none = Tree::default();
        let folders = (before.as_ref().map_or(&none, FolderState::folder), after.folder());
        let changes = file_changes(folders, "", &open).map_err(|error| self.unreadable(&error))?;
        let states = ComparedStates::new((&id, self.state.prepared()), before.as_ref(), &after);
        let mut room = FILES_BYTES_MAX;
        let publication = |state: &FolderState<'_>| state.publication().map(|published| published.shown.clone());
        let answer = AssignmentDifference {
            from: before.as_ref().and_then(publication),
            to: publication(&after),
            files: changes.iter().take(FILES_MAX).map(|change| states.change(change, &mut room)).collect(),
            more: changes.len().saturating_sub(FILES_MAX),
        };
        Ok(self.answer(answer, notes))
    }

    fn compiled(&self, id: &AssignmentId, notes: &mut Vec<String>) -> FolderState<'_> {
        let rendered = self.state.compiled.get(id).and_then(|assignment| assignment.files().ok());
        if rendered.is_none() {
            notes.push("the assignment has errors, so no files are compiled; the published ones stay".to_owned());
        }
        let mut folder = Tree::default();
        rendered.into_iter().flatten().for_each(|(path, bytes)| folder.write(&path, bytes));
        FolderState::Compiled { prepared: self.state.prepared(), folder }
    }

    fn published(
        &self,
        id: &AssignmentId,
        output: Option<&GitOpsOutput>,
        commit: &str,
    ) -> Result<FolderState<'_>, CompiledRefusal> {
        let found = output.map_or(Ok(None), |output| output.at(self, id, commit))?;
        let found = found.ok_or_else(|| {
            let hint = "the files of the assignment list the newest publications; a publication is named by the full id of its commit";
            self.unknown("publication", commit, Some(hint.to_owned()))
        })?;
        Ok(FolderState::Published(Box::new(found)))
    }
}

impl FolderState<'_> {
    fn folder(&self) -> &Tree {
        match self {
            Self::Compiled { folder, .. } => folder,
            Self::Published(published) => &published.folder,
        }
    }

    fn publication(&self) -> Option<&PublishedFolder> {
        match self {
            Self::Compiled { .. } => None,
            Self::Published(published) => Some(published),
        }
    }

    /// The fleet that renders the files. None: it is not known any more.
    fn prepared(&self) -> Option<&Prepared> {
        match self {
            Self::Compiled { prepared, .. } => Some(prepared),
            Self::Published(published) => published.prepared.as_ref(),
        }
    }

    fn open(&self, sealed: &Sealed) -> Result<Tree, OpenError> {
        self.publication().map_or_else(|| closed(sealed), |published| published.branch.open(sealed))
    }

    /// The content of a file. None if it is too large, or can't be read.
    fn content(&self, blob: &Blob) -> Option<Arc<[u8]>> {
        blob.bytes().cloned().or_else(|| self.publication()?.branch.content(blob.id()))
    }
}

impl<'a> ComparedStates<'a> {
    /// What is sensitive now is hidden in all states.
    fn new(
        (id, now): (&AssignmentId, &Prepared),
        before: Option<&'a FolderState<'a>>,
        after: &'a FolderState<'a>,
    ) -> Self {
        let sides = [before.and_then(FolderState::prepared), after.prepared()];
        let shown = ShownSides::new(id, sides, now.sensitive_paths(id));
        let is_known = before.is_none_or(|before| before.prepared().is_some()) && after.prepared().is_some();
        Self { before, after, shown: if is_known { shown } else { shown.with_unknown() } }
    }

    /// A file of the later state. `room`: how many bytes the answer may still show.
    fn file(&self, path: &str, blob: &Blob, room: &mut usize) -> AssignmentFile {
        let content = self.after.content(blob);
        let bytes = content.as_ref().map(|content| content.len() as u64);
        let shown = readable(content, room).and_then(|content| {
            let lines = self.shown.lines(Side::After, path, &content).ok_or(NotShownReason::Sensitive)?;
            Ok(lines.iter().map(|line| &*line.shown).collect::<String>())
        });
        let not_shown = shown.as_ref().err().copied();
        AssignmentFile { path: shown_name(path).into_owned(), bytes, content: shown.ok(), not_shown }
    }

    /// A file that differs.
    fn change(&self, change: &FileChange, room: &mut usize) -> AssignmentFileChange {
        let mut read = |state: Option<&FolderState<'_>>, blob: &Option<Blob>| {
            let blob = blob.as_ref().zip(state);
            blob.map(|(blob, state)| readable(state.content(blob), room)).transpose()
        };
        let contents =
            read(self.before, &change.before).and_then(|before| Ok([before, read(Some(self.after), &change.after)?]));
        let difference =
            contents.and_then(|contents| self.shown.difference(change, contents).ok_or(NotShownReason::Sensitive));
        let kind = match change.kind {
            ChangeKind::Added => FolderFileChange::Added,
            ChangeKind::Changed | ChangeKind::Renamed => FolderFileChange::Changed,
            ChangeKind::Removed => FolderFileChange::Removed,
        };
        let not_shown = difference.as_ref().err().copied();
        AssignmentFileChange { path: change.path.to_string(), change: kind, difference: difference.ok(), not_shown }
    }
}

/// The files of a folder, by path.
fn listed(folder: &Tree, open: &Open<'_>) -> Result<Vec<(String, Blob)>, OpenError> {
    folder.files(open).map(|found| found.map(|(path, entry)| (path, entry.blob))).collect()
}

/// The content, if it is text that the answer has room for.
fn readable(content: Option<Arc<[u8]>>, room: &mut usize) -> Result<Arc<[u8]>, NotShownReason> {
    let content = content.ok_or(NotShownReason::TooLarge)?;
    if content.contains(&0) || std::str::from_utf8(&content).is_err() {
        return Err(NotShownReason::Binary);
    }
    if content.len() > FILE_BYTES_MAX.min(*room) {
        return Err(NotShownReason::TooLarge);
    }
    *room -= content.len();
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content: &[u8], room: usize, expected: Result<(), NotShownReason>) {
        let mut left = room;
        assert_eq!(readable(Some(Arc::from(content)), &mut left).map(drop), expected);
        assert_eq!(left, if expected.is_ok() { room - content.len() } else { room });
    }

    #[test]
    fn only_text_that_has_room_is_shown() {
        check(b"a: 1\n", 5, Ok(()));
        check(b"a: 1\n", 4, Err(NotShownReason::TooLarge));
        check(b"a\0b", 100, Err(NotShownReason::Binary));
        check(b"a\xffb", 100, Err(NotShownReason::Binary));
        check(&vec![b'a'; FILE_BYTES_MAX + 1], FILES_BYTES_MAX, Err(NotShownReason::TooLarge));
    }
}
