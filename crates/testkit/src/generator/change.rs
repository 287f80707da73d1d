//! Single changes of a generated fleet. The number of assignments that each change affects is known.

use super::labels::{RINGS, Spread};
use super::{Size, config, objects};

/// A change of one file.
#[derive(Clone, Debug)]
pub struct GeneratedChange {
    /// A description of the change.
    pub what: &'static str,
    /// The path of the file.
    pub path: String,
    /// The number of assignments whose inputs are different after the change.
    pub reached: usize,
    line: Line,
}

#[derive(Clone, Debug)]
enum Line {
    /// Adds a comment as the first line.
    Comment,
    /// Gives the line with this beginning another value.
    Value { beginning: String },
    /// Changes the line of the ring from the given ring to another one.
    Ring { given: usize },
}

impl GeneratedChange {
    /// Changes one value, for all targets on a cluster type.
    pub fn value_on_cluster_type(size: Size) -> Self {
        let index = Spread::from_size(size).first_for_cluster_type();
        Self::value("one value of a cluster type", index, size.targets)
    }

    /// Changes one value, for one target on one cluster type. The fleet must have more than 200 `ConfigMap`s.
    pub fn value_of_assignment(size: Size) -> Self {
        Self::value("one value of an assignment", Spread::from_size(size).first_for_assignment(), 1)
    }

    /// Adds a comment to a `ConfigMap` that applies to all assignments.
    pub fn comment() -> Self {
        Self { what: "a comment", path: config::path(0), reached: 0, line: Line::Comment }
    }

    /// Changes a label of a cluster type that selects its `ConfigMap`s.
    pub fn label_of_cluster_type(size: Size) -> Self {
        let spread = Spread::from_size(size);
        let given = RINGS.iter().position(|ring| *ring == spread.ring(0)).unwrap_or_default();
        let line = Line::Ring { given };
        let path = objects::cluster_type_path(0, spread);
        Self { what: "a label of a cluster type", path, reached: size.targets, line }
    }

    fn value(what: &'static str, index: usize, reached: usize) -> Self {
        Self { what, path: config::path(index), reached, line: Line::Value { beginning: config::own_text(index) } }
    }

    /// The text of the file after the change. Different turns make different changes. For labels, there are at most three.
    pub fn apply(&self, text: &str, turn: usize) -> String {
        let (beginning, value) = match &self.line {
            Line::Comment => return format!("# Nobody reads this ({turn}).\n{text}"),
            Line::Value { beginning } => (&**beginning, format!("https://changed-{turn}.example/")),
            Line::Ring { given } => {
                ("    ring: ", RINGS[(given + 1 + turn % (RINGS.len() - 1)) % RINGS.len()].to_owned())
            }
        };
        let by = format!("{beginning}{value}");
        text.lines().map(|line| format!("{}\n", if line.starts_with(beginning) { &by } else { line })).collect()
    }
}
