//! Adds and removes entries and items of collections that are written with brackets or braces.

use model::yaml::{Node, Span};

use super::{Scene, Splice, children};

impl Scene<'_> {
    /// The ways to add an entry or item at the end of a collection.
    pub(super) fn flow_added(&self, collection: &Node, text: &str) -> Vec<Splice> {
        let (inner, end) = (collection.span.start as usize + 1, (collection.span.end as usize).saturating_sub(1));
        let children = children(collection);
        if children.is_empty() {
            return vec![Splice { range: inner..inner, text: text.to_owned() }];
        }
        let mut ways = Vec::new();
        if let Some(Some(last)) = children.last() {
            let at = last.end as usize;
            ways.push(Splice { range: at..at, text: format!(", {text}") });
        }
        let content = self.text.get(inner..end).unwrap_or_default().trim_end();
        let at = inner + content.len();
        let separator = match content.chars().next_back() {
            Some(',') => " ",
            // A comma directly after a colon makes the colon a part of the key, for Go's libraries.
            Some(':') => " , ",
            _ => ", ",
        };
        ways.push(Splice { range: at..at, text: format!("{separator}{text}") });
        ways
    }
}

/// The ways to remove a child of a collection, with the comma before or after it.
pub(super) fn flow_removed(parent: &Node, children: &[Option<Span>], position: usize) -> Vec<Splice> {
    let removed = |start: u32, end: u32| Splice { range: start as usize..end as usize, text: String::new() };
    let Some(Some(child)) = children.get(position) else { return Vec::new() };
    if children.len() == 1 {
        return vec![removed(child.start, child.end), removed(parent.span.start + 1, parent.span.end - 1)];
    }
    let before = position.checked_sub(1).and_then(|before| children.get(before).copied().flatten());
    let after = children.get(position + 1).copied().flatten();
    let with_comma_before = before.map(|before| removed(before.end, child.end));
    let with_comma_after = after.map(|after| removed(child.start, after.start));
    with_comma_before.into_iter().chain(with_comma_after).collect()
}
