//! Reads the values that gates and rings consist of, and reports wrong ones.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use super::{Amount, Share};
use crate::decode::{self, Decoder};
use crate::diagnostic::Code;
use crate::duration;
use crate::limits::PROMOTION_ITEMS_MAX;
use crate::yaml::{Node, Resolved, Scalar, Span};

/// A text in a message, quoted, and cut if it is long.
pub(super) fn shown(text: &str) -> String {
    format!("{:?}", decode::cut(text))
}

/// The share in the field `key`.
pub(super) fn share(node: &Node, key: &str, decoder: &mut Decoder<'_>) -> Option<Share> {
    let field = node.get(key)?;
    let share = parsed(field, (key, "a share"), decoder)?;
    if share == Share::of_hundredths(0) {
        decoder.error(Code::InvalidPromotion, field.span, format!("`{key}` is 0%"));
        decoder.help("write a share above 0%");
        return None;
    }
    Some(share)
}

/// The amount in the field `key`.
pub(super) fn amount(node: &Node, key: &str, decoder: &mut Decoder<'_>) -> Option<Amount> {
    parsed(node.get(key)?, (key, "a number or a share"), decoder)
}

fn parsed<T: FromStr>(field: &Node, (key, what): (&str, &str), decoder: &mut Decoder<'_>) -> Option<T> {
    let text = decode::scalar_text(field);
    let value = text.parse().ok();
    if value.is_none() {
        decoder.error(Code::InvalidPromotion, field.span, format!("`{key}` is not {what}: {}", shown(&text)));
        let share = "a share is a number from 0 to 100 with at most two decimals and a percent sign, such as `2.5%`";
        decoder.help(if what == "a share" { share.to_owned() } else { format!("write a number such as `2`; {share}") });
    }
    value
}

/// The duration in the field `key`.
pub(super) fn duration(node: &Node, key: &str, decoder: &mut Decoder<'_>) -> Option<Duration> {
    let field = node.get(key)?;
    let text = decode::scalar_text(field);
    match duration::parse(&text) {
        Ok(duration) if !duration.is_zero() => Some(duration),
        Ok(_) => {
            decoder.error(Code::InvalidPromotion, field.span, format!("`{key}` is zero"));
            decoder.help(format!("write a longer duration, or remove `{key}`"));
            None
        }
        Err(error) => {
            decoder.error(Code::InvalidPromotion, field.span, format!("`{key}` is no duration: {}", shown(&text)));
            decoder.help(error.to_string());
            None
        }
    }
}

/// The whole number in the field `key`, in a range.
pub(super) fn number(node: &Node, key: &str, range: RangeInclusive<u32>, decoder: &mut Decoder<'_>) -> Option<u32> {
    let field = node.get(key)?;
    let number = match field.as_scalar().map(Scalar::resolve) {
        Some(Resolved::Int(number)) => u32::try_from(number).ok().filter(|number| range.contains(number)),
        _ => None,
    };
    if number.is_none() {
        let text = decode::scalar_text(field);
        decoder.error(Code::InvalidPromotion, field.span, format!("`{key}` can't be {}", decode::cut(&text)));
        decoder.help(format!("write a whole number from {} to {}", range.start(), range.end()));
    }
    number
}

/// A decimal number: its text and its value.
pub(super) fn decimal(field: &Node, key: &str, decoder: &mut Decoder<'_>) -> Option<(Arc<str>, f64)> {
    let text = decode::scalar_text(field);
    let is_possible = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite() && text.bytes().all(is_possible));
    if value.is_none() {
        decoder.error(Code::InvalidPromotion, field.span, format!("`{key}` is no number: {}", shown(&text)));
        decoder.help("write a decimal number, such as `0.99`");
    }
    value.map(|value| (text, value))
}

/// Reports a field that has no effect without another one.
pub(super) fn without<T>(span: Span, (field, other): (&str, &str), decoder: &mut Decoder<'_>) -> Option<T> {
    decoder.error(Code::InvalidPromotion, span, format!("`{field}` needs `{other}`"));
    decoder.help(format!("add `{other}`, or remove `{field}`"));
    None
}

/// Checks that the items of a list have different names.
pub(super) fn check_names(items: &[Node], what: &str, decoder: &mut Decoder<'_>) {
    let names: Vec<_> = items.iter().filter_map(|item| item.get("name")).collect();
    check_different(&names, &format!("{what} named"), decoder);
}

/// Checks that texts differ.
pub(super) fn check_different(nodes: &[&Node], what: &str, decoder: &mut Decoder<'_>) {
    let mut seen = BTreeSet::new();
    for node in nodes {
        let text = decode::scalar_text(node);
        if !seen.insert(Arc::clone(&text)) {
            let message = format!("there is another {what} `{}`", decode::cut(&text));
            decoder.error(Code::InvalidPromotion, node.span, message);
            decoder.help("remove one of them, or change one");
        }
    }
}

/// Checks that a list is not too long.
pub(super) fn check_count(root: &Node, keys: &[&str], decoder: &mut Decoder<'_>) {
    let items = decode::items(root, keys);
    if let (Some(node), true) = (decode::node(root, keys), items.len() > PROMOTION_ITEMS_MAX) {
        let key = keys.last().copied().unwrap_or_default();
        let message = format!("`{key}` has {} items; at most {PROMOTION_ITEMS_MAX} are allowed", items.len());
        decoder.error(Code::InvalidPromotion, node.span, message);
        decoder.help("write fewer");
    }
}
