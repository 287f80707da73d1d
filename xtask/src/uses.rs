//! Finds the items of the same crate that a Rust file uses: paths that begin with `crate`, `self` or `super`.

use syn::visit::{self, Visit};
use syn::{UseTree, Visibility};

/// A path of the same crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    /// The segments as written, such as `super`, `label`, `Labels`. A `*` at the end stands for all items.
    pub(crate) segments: Vec<String>,
    /// The line, from 1.
    pub(crate) line: usize,
    /// The name that a `use` gives the item in this module.
    pub(crate) name: Option<String>,
}

/// All such paths of a file, except those in macros. Modules inside the file are not considered: they have no other file.
pub(crate) fn uses(file: &syn::File) -> Vec<Use> {
    let mut uses = Uses::default();
    uses.visit_file(file);
    uses.found
}

#[derive(Default)]
struct Uses {
    found: Vec<Use>,
}

impl Uses {
    fn add_tree(&mut self, tree: &UseTree, prefix: &[String]) {
        let with = |name: &syn::Ident| [prefix, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.add_tree(&path.tree, &with(&path.ident)),
            UseTree::Group(group) => group.items.iter().for_each(|item| self.add_tree(item, prefix)),
            UseTree::Name(name) if name.ident == "self" => {
                self.add(prefix.to_vec(), name.ident.span(), prefix.last().cloned());
            }
            UseTree::Name(name) => self.add(with(&name.ident), name.ident.span(), Some(name.ident.to_string())),
            UseTree::Rename(rename) => {
                self.add(with(&rename.ident), rename.ident.span(), Some(rename.rename.to_string()));
            }
            UseTree::Glob(glob) => {
                let all = [prefix, &["*".to_owned()]].concat();
                self.add(all, glob.star_token.spans[0], None);
            }
        }
    }

    fn add(&mut self, segments: Vec<String>, span: proc_macro2::Span, name: Option<String>) {
        // A `use` can name a module of this file without `self`.
        let is_own = segments.first().is_some_and(|first| matches!(first.as_str(), "crate" | "self" | "super"));
        if is_own || name.is_some() {
            self.found.push(Use { segments, line: span.start().line, name });
        }
    }
}

impl<'ast> Visit<'ast> for Uses {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.add_tree(&item.tree, &[]);
    }

    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if let Some(first) = path.segments.first().filter(|_| segments.len() > 1) {
            self.add(segments, first.ident.span(), None);
        }
        visit::visit_path(self, path);
    }
}
