//! Compares two trees. Both are walked together, and equal folders are not opened.

use std::cmp::Ordering;
use std::sync::Arc;

use super::{Child, DEPTH_MAX, Entry, Open, OpenError, Tree, order};

/// A name in two folders, with the children of that name before and after. They differ, and at least one is there.
pub type Pair<'a> = (&'a Arc<str>, Option<&'a Child>, Option<&'a Child>);

/// The children that differ between two folders, in git's order. If a file becomes a folder, these are two entries.
pub struct ChangedChildren<'a> {
    before: &'a Tree,
    after: &'a Tree,
    at: Positions,
}

/// The positions in two folders during the comparison.
#[derive(Clone, Copy, Debug, Default)]
struct Positions {
    before: usize,
    after: usize,
}

/// A file that differs between two trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDifference {
    /// The path of the file.
    pub path: String,
    /// The file before. None if it is new.
    pub before: Option<Entry>,
    /// The file after. None if it was removed.
    pub after: Option<Entry>,
}

/// The files that differ between two trees, in the order of their paths. Ends after the first error.
pub struct Diff<'a> {
    open: &'a Open<'a>,
    folders: Vec<(Tree, Tree, Positions, usize)>,
    path: String,
}

impl Tree {
    /// The children that differ in `after`. Folders are not opened.
    pub fn changes<'a>(&'a self, after: &'a Self) -> ChangedChildren<'a> {
        ChangedChildren { before: self, after, at: Positions::default() }
    }

    /// The files that differ in `after`. A folder is opened if its id differs.
    pub fn diff<'a>(&self, after: &Self, open: &'a Open<'a>) -> Diff<'a> {
        let folders =
            if self == after { Vec::new() } else { vec![(self.clone(), after.clone(), Positions::default(), 0)] };
        Diff { open, folders, path: String::new() }
    }
}

impl<'a> Iterator for ChangedChildren<'a> {
    type Item = Pair<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        self.at.next(self.before, self.after)
    }
}

impl Positions {
    fn next<'a>(&mut self, before: &'a Tree, after: &'a Tree) -> Option<Pair<'a>> {
        loop {
            let pair = (before.0.children.get(self.before), after.0.children.get(self.after));
            let which = match pair {
                (None, None) => return None,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(before), Some(after)) => order(before, after),
            };
            self.before += usize::from(which != Ordering::Greater);
            self.after += usize::from(which != Ordering::Less);
            match (which, pair) {
                (Ordering::Less, (Some((name, child)), _)) => return Some((name, Some(child), None)),
                (Ordering::Greater, (_, Some((name, child)))) => return Some((name, None, Some(child))),
                (_, (Some((_, before)), Some((name, after)))) if before != after => {
                    return Some((name, Some(before), Some(after)));
                }
                _ => {}
            }
        }
    }
}

impl Iterator for Diff<'_> {
    type Item = Result<FileDifference, OpenError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.advance();
        if let Some(Err(_)) = next {
            self.folders.clear();
        }
        next
    }
}

impl Diff<'_> {
    fn advance(&mut self) -> Option<<Self as Iterator>::Item> {
        while let Some((before, after, at, length)) = self.folders.last_mut() {
            self.path.truncate(*length);
            let Some((name, before, after)) = at.next(before, after) else {
                self.folders.pop();
                continue;
            };
            if *length > 0 {
                self.path.push('/');
            }
            self.path.push_str(name);
            let file = |child: Option<&Child>| child.and_then(Child::as_file).cloned();
            let (before_file, after_file) = (file(before), file(after));
            if before_file.is_some() || after_file.is_some() {
                let path = self.path.clone();
                return Some(Ok(FileDifference { path, before: before_file, after: after_file }));
            }
            let opened = |child: Option<&Child>| match child {
                Some(child) => child.opened(self.open).map(Option::unwrap_or_default),
                None => Ok(Tree::default()),
            };
            let pushed = opened(before).and_then(|before| Ok((before, opened(after)?)));
            match pushed {
                Ok(_) if self.folders.len() > DEPTH_MAX => {
                    return Some(Err(OpenError::TooDeep { path: self.path.clone() }));
                }
                Ok((before, after)) => self.folders.push((before, after, Positions::default(), self.path.len())),
                Err(error) => return Some(Err(error)),
            }
        }
        None
    }
}
