//! The style of a YAML file: indentation, quotes and line ends.

use std::collections::BTreeMap;

use model::yaml::{self, Node, NodeValue, ScalarStyle, YamlOptions};

/// How a file is written. The default is the style of Kalypso's own examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// The number of spaces that a mapping is deeper than the mapping around it.
    pub indentation: usize,
    /// Whether lists are deeper than their keys.
    pub are_items_indented: bool,
    /// The quotes of texts that need some.
    pub quote: Quote,
    /// The ends of lines.
    pub line_end: LineEnd,
}

/// The quotes of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quote {
    /// `"text"`
    Double,
    /// `'text'`
    Single,
}

/// The ends of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnd {
    /// As on Unix.
    Lf,
    /// As on Windows.
    CrLf,
}

impl Default for Style {
    fn default() -> Self {
        Self { indentation: 2, are_items_indented: true, quote: Quote::Double, line_end: LineEnd::Lf }
    }
}

impl LineEnd {
    /// The end of a line as text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }

    /// The text with these ends of lines, from a text with `\n` only.
    pub(crate) fn applied(self, text: String) -> String {
        match self {
            Self::Lf => text,
            Self::CrLf => text.replace('\n', self.as_str()),
        }
    }

    /// The usual line end of a text.
    pub fn from_text(text: &str) -> Self {
        let all = text.matches('\n').count();
        let with_return = text.matches("\r\n").count();
        if with_return * 2 > all { Self::CrLf } else { Self::Lf }
    }
}

impl Style {
    /// The style of a text. What the text does not show is as in the default.
    pub fn from_text(text: &str) -> Self {
        let mut seen = Seen::default();
        for document in yaml::read(text, &YamlOptions::OBJECTS).documents {
            seen.look(text, &document.root);
        }
        let default = Self::default();
        let is_single = seen.single_quotes > seen.double_quotes;
        Self {
            indentation: most_frequent(&seen.indentations).unwrap_or(default.indentation),
            are_items_indented: most_frequent(&seen.indented_items).unwrap_or(default.are_items_indented),
            quote: if is_single { Quote::Single } else { Quote::Double },
            line_end: LineEnd::from_text(text),
        }
    }
}

/// What a text shows of its style, with counts.
#[derive(Default)]
struct Seen {
    indentations: BTreeMap<usize, usize>,
    indented_items: BTreeMap<bool, usize>,
    single_quotes: usize,
    double_quotes: usize,
}

impl Seen {
    fn look(&mut self, text: &str, node: &Node) {
        match &node.value {
            NodeValue::Scalar(scalar) => match scalar.style {
                ScalarStyle::SingleQuoted => self.single_quotes += 1,
                ScalarStyle::DoubleQuoted => self.double_quotes += 1,
                _ => {}
            },
            NodeValue::Sequence(items) => items.iter().for_each(|item| self.look(text, item)),
            NodeValue::Mapping(entries) => {
                for (key, value) in entries.iter() {
                    self.compare(text, key, value);
                    self.look(text, value);
                }
            }
        }
    }

    /// Compares the columns of a key and of the block that is its value.
    fn compare(&mut self, text: &str, key: &Node, value: &Node) {
        let source = text.get(value.span.range()).unwrap_or_default();
        let key = column(text, key.span.start as usize);
        match &value.value {
            NodeValue::Mapping(entries) if !entries.is_empty() && !source.starts_with('{') => {
                let value = column(text, value.span.start as usize);
                if value > key {
                    *self.indentations.entry(value - key).or_default() += 1;
                }
            }
            NodeValue::Sequence(items) if !source.starts_with('[') => {
                let first = items.first().and_then(|item| text.get(..item.span.start as usize));
                let dash = first.map(|before| before.trim_end_matches(' ')).and_then(|before| before.strip_suffix('-'));
                if let Some(dash) = dash.map(|before| column(text, before.len())) {
                    *self.indented_items.entry(dash > key).or_default() += 1;
                }
            }
            _ => {}
        }
    }
}

/// The column of a byte in its line, counted in characters from zero.
pub(crate) fn column(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.rsplit(['\n', '\r', '\u{feff}']).next().unwrap_or_default().chars().count()
}

fn most_frequent<T: Copy + Ord>(counts: &BTreeMap<T, usize>) -> Option<T> {
    counts.iter().max_by_key(|(_, count)| **count).map(|(value, _)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Style) {
        assert_eq!(Style::from_text(text), expected, "{text:?}");
    }

    #[test]
    fn a_style_is_seen_in_a_file() {
        let default = Style::default();
        check("", default);
        check("a:\n  - b: 1\n    c:\n      d: \"1\"\n", default);
        check("a:\n    b:\n        c: 1\n", Style { indentation: 4, ..default });
        check("a:\n- b\n", Style { are_items_indented: false, ..default });
        check("a: 'x'\r\nb: 'y'\r\n", Style { quote: Quote::Single, line_end: LineEnd::CrLf, ..default });
        check("a: {b: {c: 1}}\nd: [\n- 1]\n", default);
    }
}
