//! Single changes of a generated fleet, of which it is known how many assignments they reach.

use super::labels::{RINGS, Spread};
use super::{Size, config, objects};

/// A change of one file.
#[derive(Clone, Debug)]
pub struct GeneratedChange {
    /// What changes.
    pub what: &'static str,
    /// The file.
    pub path: String,
    /// How many assignments have other inputs afterwards.
    pub reached: usize,
    line: Line,
}

#[derive(Clone, Debug)]
enum Line {
    /// A comment becomes the first line.
    Comment,
    /// The line that begins so gets another value.
    Value { beginning: String },
    /// The line of the ring, of which this one is given, becomes one of another.
    Ring { given: usize },
}

impl GeneratedChange {
    /// One value, for all targets on a cluster type.
    pub fn value_on_cluster_type(size: Size) -> Self {
        let index = Spread::of(size).first_for_cluster_type();
        Self::value("one value of a cluster type", index, size.targets)
    }

    /// One value, for one target on one cluster type. The fleet must have more than 200 `ConfigMap`s.
    pub fn value_of_assignment(size: Size) -> Self {
        Self::value("one value of an assignment", Spread::of(size).first_for_assignment(), 1)
    }

    /// A comment in a `ConfigMap` that is for everybody.
    pub fn comment() -> Self {
        Self { what: "a comment", path: config::path(0), reached: 0, line: Line::Comment }
    }

    /// A label of a cluster type, by which values find it.
    pub fn label_of_cluster_type(size: Size) -> Self {
        let spread = Spread::of(size);
        let given = RINGS.iter().position(|ring| *ring == spread.ring(0)).unwrap_or_default();
        let line = Line::Ring { given };
        let path = objects::cluster_type_path(0, spread);
        Self { what: "a label of a cluster type", path, reached: size.targets, line }
    }

    fn value(what: &'static str, index: usize, reached: usize) -> Self {
        Self { what, path: config::path(index), reached, line: Line::Value { beginning: config::own_text(index) } }
    }

    /// The file's text after the change. Different turns make different changes; with labels, up to three.
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
