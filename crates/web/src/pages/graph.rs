//! The graph of environments: where each is drawn, and the edges on which changes move.

use std::collections::BTreeMap;

/// The size of a node, and the distances between nodes, in pixels.
const WIDTH: usize = 208;
const HEIGHT: usize = 92;
const GAP_X: usize = 64;
const GAP_Y: usize = 20;

/// The nodes and edges of a graph, with their positions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph<T> {
    pub(crate) nodes: Vec<Node<T>>,
    pub(crate) edges: Vec<Edge>,
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

/// A line from an environment to one that its changes reach next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    /// The path of the line, for SVG.
    pub(crate) path: String,
    /// Whether a change moves or waits on it.
    pub(crate) is_active: bool,
}

/// An environment, and the environments before it.
pub(crate) struct Given<T> {
    pub(crate) name: String,
    pub(crate) before: Vec<String>,
    pub(crate) is_active: bool,
    pub(crate) content: T,
}

impl<T> Graph<T> {
    /// Draws environments in columns: each is in the column after the last of those before it.
    pub(crate) fn new(given: Vec<Given<T>>) -> Self {
        let columns = columns(&given);
        let mut rows: BTreeMap<usize, usize> = BTreeMap::new();
        let mut places: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for one in &given {
            let column = columns.get(&one.name).copied().unwrap_or_default();
            let row = rows.entry(column).or_default();
            places.insert(one.name.clone(), (column * (WIDTH + GAP_X) + 1, *row * (HEIGHT + GAP_Y) + 1));
            *row += 1;
        }
        let mut edges = Vec::new();
        for one in &given {
            let Some(&to) = places.get(&one.name) else { continue };
            let starts = one.before.iter().filter_map(|before| places.get(before));
            edges.extend(starts.map(|from| Edge { path: line(*from, to), is_active: one.is_active }));
        }
        let width = rows.keys().next_back().map_or(0, |last| (last + 1) * (WIDTH + GAP_X) - GAP_X + 2);
        let height = rows.values().max().map_or(0, |most| most * (HEIGHT + GAP_Y) - GAP_Y + 2);
        let node = |one: Given<T>| {
            let (x, y) = places.get(&one.name).copied().unwrap_or_default();
            Node { name: one.name, x, y, content: one.content }
        };
        Self { nodes: given.into_iter().map(node).collect(), edges, width, height }
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

/// A line between two nodes, with horizontal ends.
fn line((from_x, from_y): (usize, usize), (to_x, to_y): (usize, usize)) -> String {
    let (x1, y1, x2, y2) = (from_x + WIDTH, from_y + HEIGHT / 2, to_x, to_y + HEIGHT / 2);
    let middle = usize::midpoint(x1, x2);
    format!("M{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}")
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
        let place = |node: Node<()>| (node.name, node.x / (WIDTH + GAP_X), node.y / (HEIGHT + GAP_Y));
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
    fn circles_and_unknown_environments_are_drawn() {
        assert_eq!(draw(&[("a", &["b"]), ("b", &["a", "gone"])]).len(), 2);
    }
}
