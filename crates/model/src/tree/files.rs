//! Iterates over all files of a tree, in the order of their paths.

use super::{Child, DEPTH_MAX, Entry, Open, OpenError, Tree};

impl Tree {
    /// All files, in the order of their paths. Folders are opened one after the other, so only one folder of each level is in memory.
    pub fn files<'a>(&self, open: &'a Open<'a>) -> TreeFiles<'a> {
        TreeFiles { open, folders: vec![(self.clone(), 0, 0)], path: String::new() }
    }
}

/// The files of a tree. Ends after the first error.
pub struct TreeFiles<'a> {
    open: &'a Open<'a>,
    /// The open folders, each with the index of its next child and the length of its path.
    folders: Vec<(Tree, usize, usize)>,
    path: String,
}

impl Iterator for TreeFiles<'_> {
    type Item = Result<(String, Entry), OpenError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.advance();
        if let Some(Err(_)) = next {
            self.folders.clear();
        }
        next
    }
}

impl TreeFiles<'_> {
    fn advance(&mut self) -> Option<<Self as Iterator>::Item> {
        while let Some((tree, next, length)) = self.folders.last_mut() {
            self.path.truncate(*length);
            let Some((name, child)) = tree.0.children.get(*next) else {
                self.folders.pop();
                continue;
            };
            *next += 1;
            if *length > 0 {
                self.path.push('/');
            }
            self.path.push_str(name);
            let opened = match child {
                Child::File(entry) => return Some(Ok((self.path.clone(), entry.clone()))),
                Child::Tree(tree) => Ok(tree.clone()),
                Child::Sealed(sealed) => sealed.opened(self.open),
            };
            match opened {
                Ok(_) if self.folders.len() > DEPTH_MAX => {
                    return Some(Err(OpenError::TooDeep { path: self.path.clone() }));
                }
                Ok(tree) => self.folders.push((tree, 0, self.path.len())),
                Err(error) => return Some(Err(error)),
            }
        }
        None
    }
}
