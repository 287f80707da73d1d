//! Finds scalars of a structured value that are printed in another form than they are written.

use gotemplate::value::Value;
use model::field_path::{FieldPath, FieldStep};
use model::yaml::{Node, NodeValue, Resolved, ScalarStyle};

/// The maximum number of scalars that are kept of one value.
const SCALARS_MAX: usize = 100;

/// A scalar without quotes that is a number or a boolean, and that is printed in another form.
#[derive(Clone, Debug)]
pub(crate) struct Retyped {
    /// The path below the value, with keys as they are written. Of a key, the path that ends with it.
    pub(crate) written_path: FieldPath,
    /// The same path with keys as they are printed.
    pub(crate) path: FieldPath,
    pub(crate) written: Box<str>,
    pub(crate) printed: Box<str>,
    pub(crate) kind: RetypedKind,
    /// Whether the scalar is a key.
    pub(crate) is_key: bool,
}

/// What a scalar is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetypedKind {
    Number,
    Boolean,
}

/// The scalars of a structured value that are printed in another form, in the order of the text.
pub(crate) fn find(root: &Node) -> Box<[Retyped]> {
    let mut search = Search::default();
    search.node(root);
    search.found.into()
}

#[derive(Default)]
struct Search {
    written_path: FieldPath,
    path: FieldPath,
    found: Vec<Retyped>,
}

impl Search {
    /// The recursion is at most as deep as the reader of YAML allows.
    fn node(&mut self, node: &Node) {
        if self.found.len() >= SCALARS_MAX {
            return;
        }
        match &node.value {
            NodeValue::Scalar(_) => self.scalar(node, false),
            NodeValue::Sequence(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.below((FieldStep::Index(index), FieldStep::Index(index)), |search| search.node(item));
                }
            }
            NodeValue::Mapping(entries) => {
                for (key, value) in entries.iter() {
                    let Some(scalar) = key.as_scalar() else { continue };
                    let written = FieldStep::Key((&*scalar.text).into());
                    let printed = FieldStep::Key(crate::compose::record::key_text(&super::key(key)));
                    self.below((written, printed), |search| {
                        search.scalar(key, true);
                        search.node(value);
                    });
                }
            }
        }
    }

    fn below(&mut self, (written, printed): (FieldStep, FieldStep), search: impl FnOnce(&mut Self)) {
        self.written_path.push(written);
        self.path.push(printed);
        search(self);
        self.written_path.pop();
        self.path.pop();
    }

    fn scalar(&mut self, node: &Node, is_key: bool) {
        let Some(scalar) = node.as_scalar().filter(|scalar| scalar.style == ScalarStyle::Plain && scalar.tag.is_none())
        else {
            return;
        };
        let (kind, value) = match scalar.resolve() {
            Resolved::Null | Resolved::Text(_) => return,
            Resolved::Bool(value) => (RetypedKind::Boolean, Value::Bool(value)),
            _ if is_short_decimal(&scalar.text) => return,
            _ => (RetypedKind::Number, super::from_node(node)),
        };
        let Ok(printed) = gotemplate::yaml::to_yaml(&value) else { return };
        let printed = String::from_utf8_lossy(&printed);
        // `True` is the same word as `true`. `yes`, `no` and `y` are other words.
        if !printed.trim_end().eq_ignore_ascii_case(&scalar.text) {
            self.found.push(Retyped {
                written_path: self.written_path.clone(),
                path: self.path.clone(),
                written: (&*scalar.text).into(),
                printed: printed.trim_end().into(),
                kind,
                is_key,
            });
        }
    }
}

/// Whether a number is printed as it is written: most numbers are, and need no comparison.
fn is_short_decimal(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let has_own_form = digits.len() <= 15 && !digits.starts_with('0') && !digits.is_empty();
    text == "0" || has_own_form && digits.bytes().all(|digit| digit.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::find;

    /// Compares the scalars that change, with their paths.
    fn check(text: &str, expected: &[&str]) {
        let found = find(&model::yaml::structure(text).unwrap());
        let shown = |found: &super::Retyped| {
            let key = if found.is_key { "key " } else { "" };
            format!("{key}{}: {} -> {}", found.written_path, found.written, found.printed)
        };
        assert_eq!(found.iter().map(shown).collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn numbers_printed_in_another_form_are_found() {
        check("{version: 1.10, zip: 0012345}", &["version: 1.10 -> 1.1", "zip: 0012345 -> 5349"]);
        check(
            "[83e2, 123400000e10, 1_000]",
            &["[0]: 83e2 -> 8300", "[1]: 123400000e10 -> 1.234e+18", "[2]: 1_000 -> 1000"],
        );
        check("[0o14, 0x1F, +7, 1.0]", &["[0]: 0o14 -> 12", "[1]: 0x1F -> 31", "[2]: +7 -> 7", "[3]: 1.0 -> 1"]);
        check("a: {b: [{c: .50}]}", &["a.b[0].c: .50 -> 0.5"]);
    }

    #[test]
    fn words_that_become_booleans_are_found() {
        check("[de, no, on]", &["[1]: no -> false", "[2]: on -> true"]);
        check("{x: 1, y: 2}", &["key y: y -> true"]);
        check("{007: a}", &["key 007: 007 -> 7"]);
    }

    #[test]
    fn values_printed_as_written_are_not_found() {
        check("[1, -5, 0, 1.5, true, False, ~, null, 1e+18, 9007199254740993]", &[]);
        check("{a: '1.10', b: \"no\", c: v1.10, d: 1.10.2, e: 2024-01-15, f: !!float 1.10}", &[]);
    }
}
