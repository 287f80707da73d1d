//! Replaces sensitive values by other values. Rendered text that then differs depends on the sensitive values.

use std::collections::BTreeSet;

use gotemplate::value::{Key, MapKind, Value};
use model::field_path::{FieldPath, FieldStep};

use crate::compose::record::key_text;
use crate::sensitive::redaction::covers;

/// A kind of replacement values. Each kind finds dependencies that the other kind misses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Canary {
    /// Values of the same form: the same length and the same separators, so that templates can split them like the original value.
    Alike,
    /// Values of another length and another form, with another character at each position.
    Unlike,
}

impl Canary {
    pub(crate) const ALL: [Self; 2] = [Self::Alike, Self::Unlike];

    /// Returns `data` with other values at and below the paths `sensitive`. The result is deterministic.
    pub(crate) fn replaced(self, data: &Value, sensitive: &BTreeSet<FieldPath>) -> Value {
        Replacing { canary: self, sensitive, path: FieldPath::default(), count: 0 }.value(data)
    }
}

/// Characters at which values are often split. Values of the same form keep them.
const SEPARATORS: &str = ":/@.,#-_=;|& \t\r\n";

/// The characters of values of another form: all common separators, and no YAML syntax.
const FILLER: &[u8] = b"kq:wz/xv@jy.uf,hg#bt_np=rd;ms|cl-ea";

/// Walks through the data. The recursion is at most as deep as the YAML that the values were read from.
struct Replacing<'s> {
    canary: Canary,
    sensitive: &'s BTreeSet<FieldPath>,
    path: FieldPath,
    /// The number of replaced values. It makes replacements of equal values different.
    count: usize,
}

impl Replacing<'_> {
    fn value(&mut self, value: &Value) -> Value {
        match value {
            Value::Map(map) if !map.entries().is_empty() => {
                let entries = map.entries().iter().map(|(key, value)| {
                    let below = self.below(FieldStep::Key(key_text(key)), value);
                    (key.clone(), below)
                });
                Value::map(map.kind, entries.collect())
            }
            Value::List(list) if !list.items().is_empty() => {
                let items = list.items().iter().enumerate();
                Value::list(items.map(|(index, value)| self.below(FieldStep::Index(index), value)).collect())
            }
            leaf if covers(self.sensitive, &self.path) => {
                self.count += 1;
                self.leaf(leaf)
            }
            leaf => leaf.clone(),
        }
    }

    fn below(&mut self, step: FieldStep, value: &Value) -> Value {
        self.path.push(step);
        let value = self.value(value);
        self.path.pop();
        value
    }

    fn leaf(&self, leaf: &Value) -> Value {
        let salt = self.count as i64;
        let is_alike = self.canary == Canary::Alike;
        match leaf {
            Value::Bool(value) => Value::Bool(*value ^ (is_alike || salt % 2 == 0)),
            Value::Int(number, kind) => Value::Int(self.integer(*number, salt), *kind),
            Value::Uint(number, kind) => {
                let other = if is_alike { number / 2 } else { number / 3 };
                Value::Uint(other.wrapping_add(self.count as u64), *kind)
            }
            Value::Float(number) if is_alike => Value::Float(number / 2.0 + 1.5),
            Value::Float(number) => Value::Float(number / 4.0 - 2.25 - salt as f64),
            Value::Text(text) => Value::text(self.text(&text.to_str()).as_str()),
            Value::List(_) => Value::list(vec![Value::text(self.text("").as_str())]),
            Value::Map(map) => {
                let kind = if map.kind == MapKind::TextToText { MapKind::TextToAny } else { map.kind };
                let key = Key::Text(self.text("").as_str().into());
                Value::map(kind, std::iter::once((key, Value::Bool(is_alike))).collect())
            }
            _ => Value::text(self.text("").as_str()),
        }
    }

    /// Returns another number that is not much larger, because templates may loop up to it.
    fn integer(&self, number: i64, salt: i64) -> i64 {
        let other = match self.canary {
            Canary::Alike => number.saturating_mul(2).saturating_add(1).min(number.saturating_add(1_000)),
            Canary::Unlike => number / 2 + salt,
        };
        if other == number { number ^ 1 } else { other }
    }

    fn text(&self, text: &str) -> String {
        match text {
            "true" => return "false".to_owned(),
            "false" => return "true".to_owned(),
            "" => return format!("kalypso{}{}", self.count, if self.canary == Canary::Alike { "" } else { "x" }),
            _ => {}
        }
        let is_digit = |c: char| c.is_ascii_digit();
        let is_number = text.contains(is_digit) && text.chars().all(|c| is_digit(c) || "+-.".contains(c));
        match self.canary {
            Canary::Alike => text.chars().map(|c| alike(c, 3)).collect(),
            Canary::Unlike if is_number => {
                let digits = text.chars().map(|c| if is_digit(c) { alike(c, 7) } else { '8' }).collect::<String>();
                format!("{digits}{}", 1 + self.count % 9)
            }
            Canary::Unlike => text.split('\n').map(|line| self.unlike(line)).collect::<Vec<_>>().join("\n"),
        }
    }

    /// Returns a longer line with another character at each position. An empty line stays empty, so that the number of lines is the same.
    fn unlike(&self, line: &str) -> String {
        if line.is_empty() {
            return String::new();
        }
        let mut others = line.chars();
        let letters = format!("k{}x", self.count).into_bytes().into_iter().chain(FILLER.iter().copied().cycle());
        let length = line.chars().count() + 3;
        let other = |letter: u8| match others.next() {
            Some(taken) if taken == char::from(letter) => {
                if taken == 'Q' {
                    'R'
                } else {
                    'Q'
                }
            }
            _ => char::from(letter),
        };
        letters.take(length - 1).map(other).chain(['z']).collect()
    }
}

/// Returns another character of the same kind. A separator stays the same.
fn alike(character: char, by: u32) -> char {
    let turned = |first: char, size: u32| {
        let place = (u32::from(character) - u32::from(first) + by) % size;
        char::from_u32(u32::from(first) + place).unwrap_or(first)
    };
    match character {
        'a'..='z' => turned('a', 26),
        'A'..='Z' => turned('A', 26),
        '0'..='9' => turned('0', 10),
        _ if SEPARATORS.contains(character) => character,
        '!' => '~',
        _ if character.is_ascii() => '!',
        'ü' => 'ö',
        _ => 'ü',
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn paths(keys: &[&str]) -> BTreeSet<FieldPath> {
        keys.iter().map(|key| FieldPath::from([*key])).collect()
    }

    fn other(canary: Canary, value: Value) -> Value {
        let replaced = canary.replaced(&Value::dict([("A", value)]), &paths(&["A"]));
        crate::compose::trace::follow(&replaced, &[FieldStep::Key("A".into())]).unwrap().clone()
    }

    #[test]
    fn only_sensitive_values_are_replaced() {
        let data = Value::dict([("A", Value::text("a")), ("B", Value::text("b"))]);
        for canary in Canary::ALL {
            let replaced = canary.replaced(&data, &paths(&["A"]));
            let at = |key: &str| {
                crate::answers::explain::shown(
                    crate::compose::trace::follow(&replaced, &[FieldStep::Key(key.into())]).unwrap(),
                )
            };
            assert_ne!(at("A"), r#""a""#);
            assert_eq!(at("B"), r#""b""#);
        }
    }

    #[test]
    fn canary_values_differ_from_the_original() {
        let values = [
            Value::Bool(true),
            Value::int(0),
            Value::int(-1),
            Value::int(i64::MAX),
            Value::int(i64::MIN),
            Value::Float(0.5),
            Value::text("5432"),
            Value::text("true"),
            Value::text("vault:secret/prod#key"),
            Value::text("!\"§$%&/()=?"),
            Value::list(Vec::new()),
            Value::Nil,
        ];
        for value in values {
            let shown = crate::answers::explain::shown(&value);
            assert_ne!(crate::answers::explain::shown(&other(Canary::Alike, value.clone())), shown);
            let text = matches!(&value, Value::Bool(_));
            let unlike = crate::answers::explain::shown(&other(Canary::Unlike, value));
            assert!(text || unlike != shown, "{shown}");
        }
    }

    #[test]
    fn equal_values_get_different_canaries() {
        for value in [Value::text("hunter22"), Value::int(7), Value::Bool(true)] {
            let data = Value::dict([("A", value.clone()), ("B", value)]);
            let replaced = Canary::Unlike.replaced(&data, &paths(&["A", "B"]));
            let at = |key: &str| {
                crate::answers::explain::shown(
                    crate::compose::trace::follow(&replaced, &[FieldStep::Key(key.into())]).unwrap(),
                )
            };
            assert_ne!(at("A"), at("B"));
        }
    }

    proptest! {
        #[test]
        fn text_canaries_differ_in_every_character(text in "[^\n]{1,40}") {
            let at = |canary| match other(canary, Value::text(text.as_str())) {
                Value::Text(text) => text.to_str().into_owned(),
                _ => String::new(),
            };
            let (alike, unlike) = (at(Canary::Alike), at(Canary::Unlike));
            prop_assert_eq!(alike.chars().count(), text.chars().count());
            for ((one, other), third) in text.chars().zip(alike.chars()).zip(unlike.chars()) {
                prop_assert!(one != third && (one != other || SEPARATORS.contains(one)), "{alike} {unlike}");
            }
        }
    }
}
