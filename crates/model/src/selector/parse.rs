//! Parses label selectors that users type, with the syntax of `kubectl --selector`.

use std::sync::Arc;

use super::{LabelSelector, Operator, Requirement};
use crate::label;

/// Why a text is not a selector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a requirement: {reason}", requirement.escape_debug())]
pub struct SelectorError {
    /// The invalid requirement.
    pub requirement: String,
    /// The reason why it is invalid.
    pub reason: &'static str,
}

impl LabelSelector {
    /// Parses requirements that are separated by commas: `a=b`, `a==b`, `a!=b`, `a in (b, c)`, `a notin (b, c)`, `a`, `!a`. The empty text selects everything.
    ///
    /// # Errors
    /// The first invalid requirement.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let parts = split(text).map_err(|reason| SelectorError { requirement: text.trim().to_owned(), reason })?;
        let parse = |part: &str| {
            requirement(part).map_err(|reason| SelectorError { requirement: part.trim().to_owned(), reason })
        };
        let requirements = if text.trim().is_empty() { Ok(Vec::new()) } else { parts.into_iter().map(parse).collect() };
        Ok(Self { requirements: requirements? })
    }
}

/// Splits the text at the commas outside of parentheses.
fn split(text: &str) -> Result<Vec<&str>, &'static str> {
    let (mut parts, mut start, mut is_inside) = (Vec::new(), 0, false);
    for (position, character) in text.char_indices() {
        match (character, is_inside) {
            ('(', false) => is_inside = true,
            (')', true) => is_inside = false,
            ('(' | ')', _) => return Err("parentheses stand around one list of values"),
            (',', false) => {
                parts.push(&text[start..position]);
                start = position + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    if is_inside { Err("a parenthesis is not closed") } else { Ok(parts) }
}

fn requirement(text: &str) -> Result<Requirement, &'static str> {
    let text = text.trim();
    let made = |key: &str, operator| Ok(Requirement { key: key_of(key)?, operator });
    if let Some(key) = text.strip_prefix('!') {
        return made(key, Operator::DoesNotExist);
    }
    if let Some((rest, list)) = text.split_once('(') {
        let list = list.strip_suffix(')').ok_or("nothing stands behind a list of values")?;
        let values = list.split(',').map(value_of).collect::<Result<_, _>>()?;
        return match rest.split_whitespace().collect::<Vec<_>>().as_slice() {
            [key, "in"] => made(key, Operator::In(values)),
            [key, "notin"] => made(key, Operator::NotIn(values)),
            _ => Err("before a list of values stand a key and `in` or `notin`"),
        };
    }
    if let Some((key, value)) = text.split_once("!=") {
        return made(key, Operator::NotIn(vec![value_of(value)?]));
    }
    if let Some((key, value)) = text.split_once("==").or_else(|| text.split_once('=')) {
        return made(key, Operator::In(vec![value_of(value)?]));
    }
    made(text, Operator::Exists)
}

fn key_of(text: &str) -> Result<Arc<str>, &'static str> {
    let key = text.trim();
    match label::check_key(key) {
        Ok(()) => Ok(key.into()),
        Err(_) if key.is_empty() => Err("its key is missing"),
        Err(_) => Err("its key is not one of a label"),
    }
}

fn value_of(text: &str) -> Result<Arc<str>, &'static str> {
    let value = text.trim();
    label::check_value(value).map(|()| value.into()).map_err(|_| "its value is not one of a label")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&[&str], &str>) {
        let parsed = LabelSelector::parse(text);
        let shown = parsed.map(|selector| selector.requirements.iter().map(ToString::to_string).collect::<Vec<_>>());
        let expected = expected.map(|words| words.iter().map(ToString::to_string).collect()).map_err(str::to_owned);
        assert_eq!(shown.map_err(|error| error.to_string()), expected, "{text}");
    }

    #[test]
    fn requirements_are_written_as_for_kubectl() {
        check("", Ok(&[]));
        check("region=west-us,edge==true", Ok(&["region=west-us", "edge=true"]));
        check("a=b, c in (d,e), !f", Ok(&["a=b", "c In (d, e)", "f DoesNotExist"]));
        check("a notin ( b ),example.com/c , d!=e", Ok(&["a NotIn (b)", "example.com/c Exists", "d NotIn (e)"]));
        check("a=,b in (x,)", Ok(&["a=", "b In (x, )"]));
    }

    #[test]
    fn invalid_requirements_are_named() {
        check("a=b,,c=d", Err("`` is not a requirement: its key is missing"));
        check("a=b,=c", Err("`=c` is not a requirement: its key is missing"));
        check("a in (b", Err("`a in (b` is not a requirement: a parenthesis is not closed"));
        check(
            "a of (b)",
            Err("`a of (b)` is not a requirement: before a list of values stand a key and `in` or `notin`"),
        );
        check("a=b c", Err("`a=b c` is not a requirement: its value is not one of a label"));
        check("a>1", Err("`a>1` is not a requirement: its key is not one of a label"));
        check("-a", Err("`-a` is not a requirement: its key is not one of a label"));
        check("a!=b-", Err("`a!=b-` is not a requirement: its value is not one of a label"));
        check("a in (b) c", Err("`a in (b) c` is not a requirement: nothing stands behind a list of values"));
    }
}
