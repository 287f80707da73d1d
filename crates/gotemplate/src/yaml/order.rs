//! The order of keys in YAML text.

use std::cmp::Ordering;

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::value::{Entries, Key, Value};

/// Sorts the entries in yaml.v3's natural order: numbers and booleans by value, then nil, then texts. In texts, runs of digits are compared as
/// numbers, and letters are after all other characters.
pub(super) fn sorted(entries: &Entries) -> Vec<(&Key, &Value)> {
    let mut entries: Vec<_> = entries.iter().collect();
    if !entries.is_sorted_by(|left, right| !is_less(right.0, left.0)) {
        merge_sort(&mut entries);
    }
    entries
}

/// yaml.v3's order is not total, because runs of digits can overflow. The standard library's sorts can panic for such an order.
fn merge_sort(entries: &mut Vec<(&Key, &Value)>) {
    let mut width = 1;
    while width < entries.len() {
        let mut merged = Vec::with_capacity(entries.len());
        for pair in entries.chunks(2 * width) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            while let ([first_left, rest_left @ ..], [first_right, rest_right @ ..]) = (left, right) {
                if is_less(first_right.0, first_left.0) {
                    merged.push(*first_right);
                    right = rest_right;
                } else {
                    merged.push(*first_left);
                    left = rest_left;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        *entries = merged;
        width *= 2;
    }
}

fn is_less(left: &Key, right: &Key) -> bool {
    if let (Key::Text(left), Key::Text(right)) = (left, right) {
        let mut differing = left.as_bytes().iter().zip(right.as_bytes()).skip_while(|(left, right)| left == right);
        if let Some((left, right)) = differing.next()
            && left.is_ascii_alphabetic()
            && right.is_ascii_alphabetic()
        {
            return left < right;
        }
        return is_text_less(&left.to_str(), &right.to_str());
    }
    let by_number = number(left).partial_cmp(&number(right));
    match (number(left).is_some() && number(right).is_some(), by_number) {
        (true, Some(Ordering::Equal)) if kind(left) == kind(right) => left < right,
        (true, Some(Ordering::Less | Ordering::Greater) | None) => by_number == Some(Ordering::Less),
        _ => kind(left) < kind(right),
    }
}

/// Numbers and booleans are first compared as floats.
fn number(key: &Key) -> Option<f64> {
    match key {
        Key::Bool(flag) => Some(f64::from(u8::from(*flag))),
        Key::Int(number) => Some(*number as f64),
        Key::Uint(number) => Some(*number as f64),
        Key::Float(number) => Some(number.0),
        Key::Nil | Key::Text(_) => None,
    }
}

/// The order of Go's `reflect.Kind`.
fn kind(key: &Key) -> u8 {
    match key {
        Key::Bool(_) => 1,
        Key::Int(_) => 2,
        Key::Uint(_) => 3,
        Key::Float(_) => 4,
        Key::Nil => 5,
        Key::Text(_) => 6,
    }
}

fn is_text_less(left: &str, right: &str) -> bool {
    let common = left.bytes().zip(right.bytes()).take_while(|(left, right)| left == right).count();
    let (before, left, right) = split_at_difference(left, right, common);
    let (Some(left_char), Some(right_char)) = (left.chars().next(), right.chars().next()) else {
        return left.len() < right.len();
    };
    match (is_letter(left_char), is_letter(right_char)) {
        (true, true) => return left_char < right_char,
        (false, false) => {}
        (left_is_letter, right_is_letter) => {
            let behind_digit = before.chars().next_back().is_some_and(is_digit);
            return if behind_digit { left_is_letter } else { right_is_letter };
        }
    }
    // Zeros inside a number count, leading zeros do not.
    let inside_number = (left_char == '0' || right_char == '0')
        && before.chars().rev().take_while(|char| is_digit(*char)).any(|char| char != '0');
    let start = i64::from(inside_number);
    let (left_number, left_digits) = leading_number(left, start);
    let (right_number, right_digits) = leading_number(right, start);
    (left_number, left_digits, left_char) < (right_number, right_digits, right_char)
}

/// The common beginning of both texts, and the rest of each. The first characters of the rests differ.
fn split_at_difference<'a>(left: &'a str, right: &'a str, common: usize) -> (&'a str, &'a str, &'a str) {
    let at = (0..=common).rev().find(|at| left.is_char_boundary(*at) && right.is_char_boundary(*at)).unwrap_or(0);
    let (before, left) = left.split_at(at);
    (before, left, right.get(at..).unwrap_or_default())
}

/// The number at the beginning of `text`, with its digits appended to `start`, and the number of digits. Overflows wrap, as in Go.
fn leading_number(text: &str, start: i64) -> (i64, usize) {
    text.chars().take_while(|char| is_digit(*char)).fold((start, 0), |(number, digits), char| {
        let digit = i64::from(u32::from(char)) - i64::from(u32::from('0'));
        (number.wrapping_mul(10).wrapping_add(digit), digits + 1)
    })
}

fn is_letter(char: char) -> bool {
    if char.is_ascii() {
        return char.is_ascii_alphabetic();
    }
    char.general_category_group() == GeneralCategoryGroup::Letter
}

fn is_digit(char: char) -> bool {
    if char.is_ascii() {
        return char.is_ascii_digit();
    }
    char.general_category() == GeneralCategory::DecimalNumber
}
