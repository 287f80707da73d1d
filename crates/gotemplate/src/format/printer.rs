//! Formats one value with one verb.

use super::flags::Flags;
use super::float::{FloatFormat, format_float};
use super::integer::{self, Integer, Notation};
use super::quote::{self, Charset};
use crate::runes::first_char;
use crate::types::type_name;
use crate::value::{List, ListKind, Map, Struct, Value};

/// Formats values and appends them to an output.
pub(super) struct Printer<'a> {
    pub(super) output: &'a mut Vec<u8>,
    pub(super) flags: Flags,
    /// Nothing more is written when the output is longer than this number of bytes.
    limit: usize,
}

impl<'a> Printer<'a> {
    pub(super) fn new(output: &'a mut Vec<u8>) -> Self {
        Self::up_to(usize::MAX, output)
    }

    pub(super) fn up_to(limit: usize, output: &'a mut Vec<u8>) -> Self {
        Self { output, flags: Flags::default(), limit }
    }

    /// Whether the output is longer than the limit.
    pub(super) fn is_full(&self) -> bool {
        self.output.len() > self.limit
    }

    /// Writes a value that is an operand.
    pub(super) fn value(&mut self, value: &Value, verb: char) {
        match (value, verb) {
            (Value::Missing | Value::Nil, 'v' | 'T') => self.pad(b"<nil>"),
            (Value::Missing | Value::Nil, _) => self.bad_verb(None, verb),
            (_, 'T') => self.text(type_name(value).as_bytes(), 's'),
            _ => self.nested(value, verb),
        }
    }

    /// Writes a value inside another value.
    fn nested(&mut self, value: &Value, verb: char) {
        if self.is_full() {
            return;
        }
        match value {
            Value::Missing | Value::Nil if self.flags.sharp_v => self.put("interface {}(nil)"),
            Value::Missing | Value::Nil => self.put("<nil>"),
            Value::Bool(bool) => match verb {
                't' | 'v' => self.pad(if *bool { b"true" } else { b"false" }),
                _ => self.bad_verb(Some(value), verb),
            },
            Value::Int(int, kind) if matches!(verb, 'v' | 's' | 'x' | 'X' | 'q') && !self.flags.sharp_v => {
                match kind.name_of(*int) {
                    Some(name) => self.text(name.as_bytes(), verb),
                    None => self.integer(value, Integer::from(*int), verb),
                }
            }
            Value::Int(int, _) => self.integer(value, Integer::from(*int), verb),
            Value::Uint(uint, _) if verb == 'v' && self.flags.sharp_v => self.hexadecimal(*uint),
            Value::Uint(uint, _) => self.integer(value, Integer::from(*uint), verb),
            Value::Float(float) => self.float(value, *float, verb),
            Value::Complex(..) => self.complex(value, verb),
            Value::Text(text) => match verb {
                's' | 'v' | 'x' | 'X' | 'q' => self.text(text.as_bytes(), verb),
                _ => self.bad_verb(Some(value), verb),
            },
            Value::List(list) => self.list(value, list, verb),
            Value::Map(map) => self.map(value, map, verb),
            Value::Struct(fields) => self.fields(fields, verb),
            Value::Time(time) => self.stringer(value, &time.to_string(), verb),
            Value::Version(version) => self.stringer(value, &version.to_string(), verb),
            Value::Tainted(tainted) => self.value(&tainted.value, verb),
            Value::Duration(nanoseconds) => match verb {
                'v' | 's' | 'x' | 'X' | 'q' if !self.flags.sharp_v => {
                    self.text(crate::time::duration_text(*nanoseconds).as_bytes(), verb);
                }
                _ => self.integer(value, Integer::from(*nanoseconds), verb),
            },
        }
    }

    /// Writes a value whose Go type implements `fmt.Stringer`.
    fn stringer(&mut self, value: &Value, shown: &str, verb: char) {
        match verb {
            'v' | 's' | 'x' | 'X' | 'q' => self.text(shown.as_bytes(), verb),
            _ => self.bad_verb(Some(value), verb),
        }
    }

    fn integer(&mut self, value: &Value, integer: Integer, verb: char) {
        let notation = match verb {
            'v' | 'd' => Notation::DECIMAL,
            'b' => Notation::of_base(2),
            'o' => Notation::of_base(8),
            'O' => Notation { octal_prefix: true, ..Notation::of_base(8) },
            'x' => Notation::of_base(16),
            'X' => Notation { upper: true, ..Notation::of_base(16) },
            'c' | 'q' => return self.rune(integer, verb),
            'U' => {
                let Integer { is_negative, magnitude } = integer;
                let code = if is_negative { magnitude.wrapping_neg() } else { magnitude };
                let text = integer::unicode(&self.flags, code);
                return self.pad_with(text.as_bytes(), b' ');
            }
            _ => return self.bad_verb(Some(value), verb),
        };
        let text = integer::written(&self.flags, integer, notation);
        self.pad_with(&text, b' ');
    }

    fn rune(&mut self, integer: Integer, verb: char) {
        let code = u32::try_from(integer.magnitude).ok().filter(|_| !integer.is_negative);
        let rune = code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER);
        if verb == 'c' {
            self.pad(rune.encode_utf8(&mut [0; 4]).as_bytes());
        } else {
            let charset = if self.flags.plus { Charset::Ascii } else { Charset::Unicode };
            self.pad(quote::quote_rune_with(rune, charset).as_bytes());
        }
    }

    /// Writes `0x..`, as `%#v` does for unsigned integers.
    fn hexadecimal(&mut self, uint: u64) {
        let flags = Flags { sharp: true, ..self.flags };
        let text = integer::written(&flags, Integer::from(uint), Notation::of_base(16));
        self.pad_with(&text, b' ');
    }

    fn float(&mut self, value: &Value, float: f64, verb: char) {
        let (format, default) = match verb {
            'v' | 'g' | 'G' => (FloatFormat::General, None),
            'b' => (FloatFormat::Binary, None),
            'x' | 'X' => (FloatFormat::Hexadecimal, None),
            'f' | 'F' => (FloatFormat::Plain, Some(6)),
            'e' | 'E' => (FloatFormat::Exponent, Some(6)),
            _ => return self.bad_verb(Some(value), verb),
        };
        let mut number = format_float(float, format, self.flags.precision.or(default));
        if matches!(verb, 'G' | 'E' | 'X') {
            number.make_ascii_uppercase();
        }
        if !number.starts_with(['+', '-']) {
            number.insert(0, '+');
        }
        if self.flags.space && number.starts_with('+') && !self.flags.plus {
            number.replace_range(..1, " ");
        }
        if float.is_nan() || float.is_infinite() {
            return self.not_a_number(float, &number);
        }
        if self.flags.sharp && verb != 'b' {
            number = with_decimal_point(&number, verb, self.flags.precision);
        }
        if !self.flags.plus && number.starts_with('+') {
            return self.pad(&number.as_bytes()[1..]);
        }
        let missing = self.flags.width.unwrap_or(0).saturating_sub(number.len());
        if self.flags.zero && !self.flags.minus && missing > 0 {
            // Zeros go between the sign and the digits.
            let (sign, digits) = number.split_at(1);
            self.put(sign);
            self.output.extend(std::iter::repeat_n(b'0', missing));
            self.put(digits);
        } else {
            self.pad(number.as_bytes());
        }
    }

    fn not_a_number(&mut self, float: f64, signed: &str) {
        let zero = std::mem::replace(&mut self.flags.zero, false);
        let signed = signed.replace("INF", "Inf").replace("NAN", "NaN");
        let keeps_sign = !float.is_nan() || self.flags.space || self.flags.plus;
        let is_plain_plus = signed.starts_with('+') && !self.flags.plus && float.is_nan();
        self.pad(if keeps_sign && !is_plain_plus { &signed } else { signed.get(1..).unwrap_or_default() }.as_bytes());
        self.flags.zero = zero;
    }

    fn complex(&mut self, value: &Value, verb: char) {
        let (Value::Complex(real, imaginary), 'v' | 'b' | 'g' | 'G' | 'x' | 'X' | 'f' | 'F' | 'e' | 'E') =
            (value, verb)
        else {
            return self.bad_verb(Some(value), verb);
        };
        self.put("(");
        self.float(value, *real, verb);
        let plus = std::mem::replace(&mut self.flags.plus, true);
        self.float(value, *imaginary, verb);
        self.flags.plus = plus;
        self.put("i)");
    }

    fn text(&mut self, text: &[u8], verb: char) {
        match verb {
            'v' if self.flags.sharp_v => self.quoted(text),
            'q' => self.quoted(text),
            'x' | 'X' => self.encoded(text, verb == 'X'),
            _ => {
                let text = self.truncated(text);
                self.pad(text);
            }
        }
    }

    fn quoted(&mut self, text: &[u8]) {
        let text = self.truncated(text);
        let quoted = if self.flags.sharp && quote::can_backquote(text) {
            format!("`{}`", String::from_utf8_lossy(text))
        } else {
            let charset = if self.flags.plus { Charset::Ascii } else { Charset::Unicode };
            quote::quote_with(text, charset)
        };
        self.pad(quoted.as_bytes());
    }

    /// The text, cut to the number of characters in the precision.
    fn truncated<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let Some(precision) = self.flags.precision else {
            return text;
        };
        let mut end = 0;
        for _ in 0..precision {
            match text.get(end..).and_then(first_char) {
                Some((_, length)) => end += length,
                None => break,
            }
        }
        text.get(..end).unwrap_or(text)
    }

    /// Writes every byte as two hexadecimal digits.
    fn encoded(&mut self, text: &[u8], upper: bool) {
        let length = self.flags.precision.map_or(text.len(), |precision| precision.min(text.len()));
        let mut encoded = String::with_capacity(length * 2);
        let prefix = match (self.flags.sharp, upper) {
            (false, _) => "",
            (true, false) => "0x",
            (true, true) => "0X",
        };
        for (index, byte) in text.iter().take(length).enumerate() {
            if index > 0 && self.flags.space {
                encoded.push(' ');
            }
            if index == 0 || self.flags.space {
                encoded.push_str(prefix);
            }
            encoded.extend([byte >> 4, byte & 0xf].into_iter().filter_map(|digit| {
                let digit = char::from_digit(u32::from(digit), 16)?;
                Some(if upper { digit.to_ascii_uppercase() } else { digit })
            }));
        }
        self.pad(encoded.as_bytes());
    }

    fn list(&mut self, value: &Value, list: &std::sync::Arc<List>, verb: char) {
        if list.kind == ListKind::Bytes && matches!(verb, 's' | 'q' | 'x' | 'X') {
            let bytes = list.items().iter().filter_map(|item| match item {
                Value::Uint(byte, _) => u8::try_from(*byte).ok(),
                _ => None,
            });
            let bytes: Vec<u8> = bytes.collect();
            return self.text(&bytes, verb);
        }
        if verb == 'p' {
            return self.bad_verb(Some(value), verb);
        }
        let sharp_v = self.flags.sharp_v;
        if sharp_v {
            let name = if list.kind == ListKind::Bytes { "[]byte" } else { type_name(value) };
            self.put(name);
            if list.is_nil() {
                return self.put("(nil)");
            }
        }
        self.put(if sharp_v { "{" } else { "[" });
        for (index, item) in list.items().iter().enumerate() {
            self.separate(index);
            self.nested(item, verb);
        }
        self.put(if sharp_v { "}" } else { "]" });
    }

    fn map(&mut self, value: &Value, map: &Map, verb: char) {
        let sharp_v = self.flags.sharp_v;
        if sharp_v {
            self.put(type_name(value));
        }
        self.put(if sharp_v { "{" } else { "map[" });
        for (index, (key, item)) in map.entries().iter().enumerate() {
            self.separate(index);
            self.nested(&key.to_value(), verb);
            self.put(":");
            self.nested(item, verb);
        }
        self.put(if sharp_v { "}" } else { "]" });
    }

    fn fields(&mut self, fields: &Struct, verb: char) {
        let named = self.flags.sharp_v || self.flags.plus_v;
        if self.flags.sharp_v {
            self.put(fields.type_name);
        }
        self.put("{");
        for (index, (name, item)) in fields.fields.iter().enumerate() {
            self.separate(index);
            if named {
                self.put(name);
                self.put(":");
            }
            self.nested(item, verb);
        }
        self.put("}");
    }

    fn separate(&mut self, index: usize) {
        if index > 0 {
            self.put(if self.flags.sharp_v { ", " } else { " " });
        }
    }

    /// Writes Go's text for a verb that does not fit the value: `%!d(string=x)`.
    fn bad_verb(&mut self, value: Option<&Value>, verb: char) {
        self.put("%!");
        self.put(verb.encode_utf8(&mut [0; 4]));
        self.put("(");
        match value {
            Some(value) => {
                self.put(type_name(value));
                self.put("=");
                self.nested(value, 'v');
            }
            None => self.put("<nil>"),
        }
        self.put(")");
    }

    /// Writes a text padded to the width, with zeros if the flag `0` is set.
    pub(super) fn pad(&mut self, text: &[u8]) {
        let fill = if self.flags.zero && !self.flags.minus { b'0' } else { b' ' };
        self.pad_with(text, fill);
    }

    fn pad_with(&mut self, text: &[u8], fill: u8) {
        let missing = match self.flags.width {
            None | Some(0) => 0,
            Some(width) => width.saturating_sub(count_chars(text)),
        };
        if self.flags.minus {
            self.output.extend_from_slice(text);
        }
        self.output.extend(std::iter::repeat_n(fill, missing));
        if !self.flags.minus {
            self.output.extend_from_slice(text);
        }
    }

    pub(super) fn put(&mut self, text: &str) {
        self.output.extend_from_slice(text.as_bytes());
    }
}

/// The number of characters as Go counts them. An invalid byte counts as one.
fn count_chars(text: &[u8]) -> usize {
    let mut count = 0;
    let mut rest = text;
    while let Some((_, length)) = first_char(rest) {
        count += 1;
        rest = rest.get(length..).unwrap_or_default();
    }
    count
}

/// Applies the flag `#`: adds a decimal point, and for `%g` trailing zeros up to the precision.
fn with_decimal_point(number: &str, verb: char, precision: Option<usize>) -> String {
    let mut digits = match verb {
        'v' | 'g' | 'G' | 'x' | 'X' => precision.unwrap_or(6),
        _ => 0,
    };
    let is_exponent = |character: char| match verb {
        'x' | 'X' => matches!(character, 'p' | 'P'),
        _ => matches!(character, 'e' | 'E'),
    };
    let (body, tail) = number.split_at(number.find(is_exponent).unwrap_or(number.len()));
    let significant = body.chars().skip_while(|character| matches!(character, '+' | '-' | ' ' | '.' | '0'));
    digits = digits.saturating_sub(significant.filter(|character| *character != '.').count());
    let mut result = body.to_owned();
    if !body.contains('.') {
        if body.len() == 2 && body.ends_with('0') {
            digits = digits.saturating_sub(1);
        }
        result.push('.');
    }
    result.extend(std::iter::repeat_n('0', digits));
    result.push_str(tail);
    result
}
