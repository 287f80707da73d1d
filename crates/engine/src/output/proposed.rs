//! Folders that are proposed, and whose targets are not known now: for example, the repository of their application can't be reached. As what was published stays
//! on the branch, what was proposed stays in the proposal.

use std::sync::Arc;

use model::tree::{Child, OpenError, Tree};

use super::{BranchTree, PlaceFolders};
use crate::layout::is_marked;

/// The folders of an open proposal, and those of the commit that it is based on.
#[derive(Clone, Debug)]
pub struct ProposedFolders {
    /// The folders that the proposal changes.
    pub before: PlaceFolders,
    /// The folders that it proposes.
    pub after: PlaceFolders,
}

/// The folders of a place.
struct Sides {
    /// In the commit that the proposal is based on.
    before: Tree,
    /// In the proposal.
    after: Tree,
    /// In the branch now. None: it has no such place.
    now: Option<Tree>,
}

impl ProposedFolders {
    /// The tree of a branch with the proposed folders of unknown targets. A folder that the branch has changed since the proposal stays as the branch has it.
    ///
    /// # Errors
    /// If a folder can't be opened.
    pub(super) fn added_to(
        &self,
        branch: BranchTree<'_>,
        is_unknown: &dyn Fn(&Arc<str>, &str) -> bool,
    ) -> Result<Tree, OpenError> {
        let BranchTree { tree: branch, destination, open } = branch;
        let current = PlaceFolders::read(branch, &destination.folder, open)?;
        let opened =
            |folders: &PlaceFolders, place: &str| folders.get(place).map_or(Ok(None), |child| child.opened(open));
        let mut tree = branch.clone();
        for place in self.after.names().filter(|place| self.before.get(place) != self.after.get(place)) {
            let path = destination.folder.join(&destination.layout.path(place));
            let before = opened(&self.before, place)?.unwrap_or_default();
            let (Some(after), now) = (opened(&self.after, place)?, opened(&current, place)?) else { continue };
            // In a new layout, a folder is not where it was.
            let is_moved = now.is_some() && tree.find(&path, open)?.is_none();
            if is_moved || !is_marked(&after) || now.as_ref().is_some_and(|now| !is_marked(now)) {
                continue;
            }
            let sides = Sides { before, after, now };
            if let Some(folder) = sides.with_unknown(&|target| is_unknown(place, target)) {
                tree.put(&path, Child::Tree(folder), open)?;
            }
        }
        Ok(tree)
    }
}

impl Sides {
    /// The folder of the place with the proposed folders of unknown targets. None: there are none.
    fn with_unknown(&self, is_unknown: &dyn Fn(&str) -> bool) -> Option<Tree> {
        let files = || self.after.children().filter(|(_, child)| !child.is_folder());
        let files = || Tree::from_children(files().map(|(name, child)| (Arc::clone(name), child.clone())));
        let mut folder = self.now.clone().unwrap_or_else(files);
        let is_target = |child: Option<&Child>| child.is_none_or(Child::is_folder);
        let edits = self.before.changes(&self.after).filter(|(target, before, after)| {
            let is_current = folder.child(target) == *before;
            is_target(*before) && is_target(*after) && is_current && is_unknown(target)
        });
        let edits: Vec<_> = edits.map(|(target, _, after)| (Arc::clone(target), after.cloned())).collect();
        (!edits.is_empty()).then(|| {
            folder.edit(edits);
            folder
        })
    }
}

#[cfg(test)]
mod tests {
    use model::tree::closed;

    use super::*;
    use crate::layout::Folder;
    use crate::layout::own_files::MARKER;
    use crate::output::Destination;

    /// A branch with folders of targets: `place/target text`. Each place has its marker.
    fn branch(targets: &str) -> Tree {
        let mut tree = Tree::default();
        for (path, text) in targets.split(", ").filter_map(|target| target.split_once(' ')) {
            let place = path.split_once('/').unwrap().0;
            tree.write(&format!("{place}/README.md"), MARKER.as_bytes());
            tree.write(&format!("{path}/x.yaml"), text.as_bytes());
        }
        tree
    }

    fn added(
        proposed: &ProposedFolders,
        tree: &Tree,
        is_unknown: &dyn Fn(&Arc<str>, &str) -> bool,
    ) -> Result<Tree, OpenError> {
        proposed.added_to(BranchTree { tree, destination: &Destination::default(), open: &closed }, is_unknown)
    }

    /// Adds what is proposed of the targets whose name begins with `lost` to a branch.
    fn check(before: &str, after: &str, now: &str, expected: &str) {
        let folders = |targets| PlaceFolders::read(&branch(targets), &Folder::default(), &closed).unwrap();
        let proposed = ProposedFolders { before: folders(before), after: folders(after) };
        let is_unknown = |_: &Arc<str>, target: &str| target.starts_with("lost");
        let added = added(&proposed, &branch(now), &is_unknown);
        let files = |tree: &Tree| tree.files(&closed).map(|file| file.unwrap().0).collect::<Vec<_>>();
        let (added, expected) = (added.unwrap(), branch(expected));
        assert_eq!(files(&added), files(&expected), "{before} -> {after}");
        assert_eq!(added, expected, "{before} -> {after}");
    }

    #[test]
    fn proposed_folders_of_unknown_targets_stay() {
        check("a/lost 1, a/shop 1", "a/lost 2, a/shop 2", "a/lost 1, a/shop 1", "a/lost 2, a/shop 1");
        check("a/shop 1", "a/lost 1, a/shop 1, b/lost 1", "a/shop 1", "a/lost 1, a/shop 1, b/lost 1");
        check("a/lost 1, a/shop 1", "a/shop 1", "a/lost 1, a/shop 1", "a/shop 1");
        check("", "a/lost 1, b/shop 1", "", "a/lost 1");
        check("a/lost 1", "a/lost 1", "a/lost 1", "a/lost 1");
    }

    #[test]
    fn later_changes_of_the_branch_replace_the_proposal() {
        check("a/lost 1", "a/lost 2", "a/lost 3", "a/lost 3");
        check("a/shop 1", "a/lost 1, a/shop 1", "a/lost 3, a/shop 1", "a/lost 3, a/shop 1");
        check("a/shop 1", "a/shop 1, b/shop 1", "a/lost 1, a/shop 1", "a/lost 1, a/shop 1");
    }

    #[test]
    fn foreign_folders_stay() {
        let folders = |tree: &Tree| PlaceFolders::read(tree, &Folder::default(), &closed).unwrap();
        let mut others = Tree::default();
        others.write("a/lost/x.yaml", *b"theirs");
        let check = |[after, now]: [&Tree; 2]| {
            let proposed = ProposedFolders { before: folders(&Tree::default()), after: folders(after) };
            let added = added(&proposed, now, &|_, _| true).unwrap();
            assert_eq!(added, *now);
        };
        check([&others, &Tree::default()]);
        check([&branch("a/shop 1"), &others]);
    }
}
