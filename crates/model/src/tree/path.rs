//! Access to files and folders of a tree by path. Paths have `/` between their parts, and no `/` at their ends.

use std::sync::Arc;

use super::{Child, DEPTH_MAX, Entry, Open, OpenError, Tree, closed};

impl Tree {
    /// Writes an ordinary file with these bytes at `path`, and replaces an existing entry. For trees that are completely in memory.
    ///
    /// # Panics
    /// A folder on the path is sealed, or there are more than [`DEPTH_MAX`] folders. For trees from outside, use [`Self::put`].
    pub fn write(&mut self, path: &str, bytes: impl Into<Arc<[u8]>>) {
        let written = self.put(path, Child::File(Entry::file(bytes)), &closed);
        assert!(written.is_ok(), "`{path}` is written into a tree that is not in memory: {written:?}");
    }

    /// Sets the child at `path`, and replaces an existing entry. Missing folders are created, also in place of files.
    ///
    /// # Errors
    /// A folder on the path can't be opened, or the path is too deep.
    pub fn put(&mut self, path: &str, child: Child, open: &Open<'_>) -> Result<(), OpenError> {
        let parts = parts(path)?;
        let Some((name, folders)) = parts.split_last() else { return Ok(()) };
        let mut tree = self;
        for folder in folders {
            tree = tree.folder_mut(folder, open)?;
        }
        tree.set(*name, child);
        Ok(())
    }

    /// Removes the entry at `path`, and the folders that become empty.
    ///
    /// # Errors
    /// A folder on the path can't be opened, or the path is too deep.
    pub fn remove(&mut self, path: &str, open: &Open<'_>) -> Result<Option<Child>, OpenError> {
        if self.find(path, open)?.is_none() {
            return Ok(None);
        }
        let mut rest = parts(path)?;
        let Some(name) = rest.pop() else { return Ok(None) };
        let mut tree = &mut *self;
        for folder in &rest {
            tree = tree.folder_mut(folder, open)?;
        }
        let taken = tree.take(name);
        let mut is_empty = tree.is_empty();
        // From the innermost folder out, until a folder is not empty.
        while let Some(name) = rest.pop().filter(|_| is_empty) {
            let mut tree = &mut *self;
            for folder in &rest {
                tree = tree.folder_mut(folder, open)?;
            }
            tree.take(name);
            is_empty = tree.is_empty();
        }
        Ok(taken)
    }

    /// The entry at `path`. The empty path stands for the tree itself.
    ///
    /// # Errors
    /// A folder on the path can't be opened.
    pub fn find(&self, path: &str, open: &Open<'_>) -> Result<Option<Child>, OpenError> {
        let mut found = Child::Tree(self.clone());
        for part in path.split('/').filter(|part| !part.is_empty()) {
            let Some(child) = found.opened(open)?.and_then(|tree| tree.child(part).cloned()) else { return Ok(None) };
            found = child;
        }
        Ok(Some(found))
    }

    /// The file at `path`, if there is one.
    ///
    /// # Errors
    /// A folder on the path can't be opened.
    pub fn file(&self, path: &str, open: &Open<'_>) -> Result<Option<Entry>, OpenError> {
        Ok(self.find(path, open)?.and_then(|child| child.as_file().cloned()))
    }

    /// The folder at `path`, if there is one.
    ///
    /// # Errors
    /// The folder, or a folder on the path, can't be opened.
    pub fn folder(&self, path: &str, open: &Open<'_>) -> Result<Option<Self>, OpenError> {
        match self.find(path, open)? {
            Some(child) => child.opened(open),
            None => Ok(None),
        }
    }

    /// The folder with this name, for a change. It is created if it does not exist.
    fn folder_mut(&mut self, name: &str, open: &Open<'_>) -> Result<&mut Self, OpenError> {
        match self.child(name) {
            Some(Child::Tree(_)) => {}
            Some(Child::Sealed(sealed)) => {
                let opened = sealed.opened(open)?;
                self.set(name, Child::Tree(opened));
            }
            Some(Child::File(_)) | None => {
                self.set(name, Child::Tree(Self::default()));
            }
        }
        let position = self.position(name);
        let child = position.and_then(|position| self.changed().children.get_mut(position));
        let Some((_, Child::Tree(tree))) = child else { unreachable!("the folder was just put there") };
        Ok(tree)
    }
}

fn parts(path: &str) -> Result<Vec<&str>, OpenError> {
    let parts: Vec<_> = path.split('/').filter(|part| !part.is_empty()).collect();
    if parts.len() > DEPTH_MAX {
        return Err(OpenError::TooDeep { path: path.to_owned() });
    }
    Ok(parts)
}
