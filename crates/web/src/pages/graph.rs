//! The graph of environments: where each is drawn, and the edges on which changes move.

use std::collections::BTreeMap;

/// The size of nodes, and the distances between them, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) width: usize,
    pub(crate) height: usize,
    gap_x: usize,
    gap_y: usize,
}

/// Nodes with their numbers in words.
const FULL: Shape = Shape { width: 208, height: 92, gap_x: 64, gap_y: 20 };

/// Nodes of a graph with very many.
const COMPACT: Shape = Shape { width: 152, height: 24, gap_x: 72, gap_y: 4 };

/// The number of environments from which on nodes are compact.
const FULL_MAX: usize = 60;

/// The number of nodes in a row, if the order of promotion is not known.
const ROW: usize = 5;

/// The nodes and edges of a graph, with their positions.
#[derive(Clone, Debug)]
pub(crate) struct Graph<T> {
    pub(crate) nodes: Vec<Node<T>>,
    pub(crate) edges: Edges,
    pub(crate) shape: Shape,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// An environment in the graph.
#[derive(Clone, Debug)]
pub(crate) struct Node<T> {
    pub(crate) name: String,
    pub(crate) x: usize,
    pub(crate) y: usize,
    pub(crate) content: T,
}

/// The edges of the graph as paths for SVG: from each environment to the next ones in the order of promotion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edges {
    /// The lines on which nothing moves.
    pub(crate) calm: String,
    /// The lines on which a change moves or waits.
    pub(crate) active: String,
}

/// An environment, and the environments before it.
pub(crate) struct Given<T> {
    pub(crate) name: String,
    pub(crate) before: Vec<String>,
    pub(crate) is_active: bool,
    pub(crate) content: T,
}

impl<T> Graph<T> {
    /// Draws environments in columns: each is in the column after the last of those before it. Without any order, they are in rows.
    pub(crate) fn new(given: Vec<Given<T>>) -> Self {
        let shape = if given.len() > FULL_MAX { COMPACT } else { FULL };
        let places = places(&given);
        let mut edges = Edges::default();
        for one in &given {
            let Some(&to) = places.get(&one.name) else { continue };
            let path = if one.is_active { &mut edges.active } else { &mut edges.calm };
            one.before
                .iter()
                .filter_map(|before| places.get(before))
                .for_each(|from| path.push_str(&shape.line([*from, to])));
        }
        let most = |number: fn(&(usize, usize)) -> usize| places.values().map(number).max().map_or(0, |last| last + 1);
        let (columns, rows) = (most(|place| place.0), most(|place| place.1));
        let node = |one: Given<T>| {
            let (x, y) = shape.corner(places.get(&one.name).copied().unwrap_or_default());
            Node { name: one.name, x, y, content: one.content }
        };
        Self {
            nodes: given.into_iter().map(node).collect(),
            edges,
            shape,
            width: shape.corner((columns, 0)).0.saturating_sub(shape.gap_x) + 1,
            height: shape.corner((0, rows)).1.saturating_sub(shape.gap_y) + 1,
        }
    }

    /// Whether the nodes have no place for words.
    pub(crate) fn is_compact(&self) -> bool {
        self.shape == COMPACT
    }
}

/// The column and the row of each environment.
fn places<T>(given: &[Given<T>]) -> BTreeMap<String, (usize, usize)> {
    if given.iter().all(|one| one.before.is_empty()) {
        let place = |(number, one): (usize, &Given<T>)| (one.name.clone(), (number % ROW, number / ROW));
        return given.iter().enumerate().map(place).collect();
    }
    let columns = columns(given);
    let mut rows: BTreeMap<usize, usize> = BTreeMap::new();
    let place = |one: &Given<T>| {
        let column = columns.get(&one.name).copied().unwrap_or_default();
        let row = rows.entry(column).or_default();
        *row += 1;
        (one.name.clone(), (column, *row - 1))
    };
    given.iter().map(place).collect()
}

impl Shape {
    /// The upper left corner of a node, with a pixel for its border.
    fn corner(self, (column, row): (usize, usize)) -> (usize, usize) {
        (column * (self.width + self.gap_x) + 1, row * (self.height + self.gap_y) + 1)
    }

    /// A line between two nodes, with horizontal ends.
    fn line(self, [from, to]: [(usize, usize); 2]) -> String {
        let ((x1, y1), (x2, y2)) = (self.corner(from), self.corner(to));
        let (x1, y1, y2) = (x1 + self.width, y1 + self.height / 2, y2 + self.height / 2);
        let middle = usize::midpoint(x1, x2);
        format!("M{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}")
    }
}

/// The column of each environment. The order of promotion has no circles; if one arrives, its environments stay in the columns that were found until then.
fn columns<T>(given: &[Given<T>]) -> BTreeMap<String, usize> {
    let mut columns: BTreeMap<String, usize> = given.iter().map(|one| (one.name.clone(), 0)).collect();
    for _ in 0..given.len() {
        let mut is_stable = true;
        for one in given {
            let after = one.before.iter().filter_map(|before| columns.get(before)).max().map_or(0, |last| last + 1);
            if columns.get(&one.name).is_some_and(|column| *column < after && after < given.len()) {
                columns.insert(one.name.clone(), after);
                is_stable = false;
            }
        }
        if is_stable {
            break;
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(edges: &[(&str, &[&str])]) -> Vec<(String, usize, usize)> {
        let given = edges.iter().map(|(name, before)| Given {
            name: (*name).to_owned(),
            before: before.iter().map(ToString::to_string).collect(),
            is_active: false,
            content: (),
        });
        let graph = Graph::new(given.collect());
        let place =
            |node: Node<()>| (node.name, node.x / (FULL.width + FULL.gap_x), node.y / (FULL.height + FULL.gap_y));
        graph.nodes.into_iter().map(place).collect()
    }

    fn check(edges: &[(&str, &[&str])], expected: &[(&str, usize, usize)]) {
        let expected: Vec<_> = expected.iter().map(|(name, x, y)| ((*name).to_owned(), *x, *y)).collect();
        assert_eq!(draw(edges), expected);
    }

    #[test]
    fn environments_are_behind_all_that_come_before_them() {
        check(
            &[("prod", &["stage", "canary"]), ("canary", &["stage"]), ("dev", &[]), ("stage", &["dev"]), ("lab", &[])],
            &[("prod", 3, 0), ("canary", 2, 0), ("dev", 0, 0), ("stage", 1, 0), ("lab", 0, 1)],
        );
    }

    #[test]
    fn environments_without_an_order_are_in_rows() {
        let names = ["a", "b", "c", "d", "e", "f"].map(|name| (name, &[][..]));
        check(&names, &[("a", 0, 0), ("b", 1, 0), ("c", 2, 0), ("d", 3, 0), ("e", 4, 0), ("f", 0, 1)]);
    }

    #[test]
    fn circles_and_unknown_environments_are_drawn() {
        assert_eq!(draw(&[("a", &["b"]), ("b", &["a", "gone"])]).len(), 2);
    }
}
