//! Parses the format of `printf`: flags, widths, precisions and argument indexes.

use super::flags::Flags;
use super::printer::Printer;
use crate::runes::first_char;
use crate::types::type_name;
use crate::value::Value;

/// The largest width and precision that Go accepts.
const NUMBER_MAX: i64 = 1_000_000;

/// Writes `format`. Its directives are replaced by `values`.
pub(super) fn print(printer: &mut Printer<'_>, format: &[u8], values: &[Value]) {
    let mut reader = Reader { format, at: 0, values, next: 0, reordered: false, good_index: true, after_index: false };
    while let Some(length) = reader.rest().iter().position(|byte| *byte == b'%') {
        if printer.is_full() {
            return;
        }
        printer.output.extend_from_slice(reader.rest().get(..length).unwrap_or_default());
        reader.at += length + 1;
        reader.directive(printer);
    }
    printer.output.extend_from_slice(reader.rest());
    if !reader.reordered && reader.next < values.len() {
        printer.flags = Flags::default();
        extra(printer, values.get(reader.next..).unwrap_or_default());
    }
}

/// Writes the arguments that no directive used.
fn extra(printer: &mut Printer<'_>, values: &[Value]) {
    printer.put("%!(EXTRA ");
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            printer.put(", ");
        }
        if !matches!(value, Value::Nil | Value::Missing) {
            printer.put(type_name(value));
            printer.put("=");
        }
        printer.value(value, 'v');
    }
    printer.put(")");
}

struct Reader<'a> {
    format: &'a [u8],
    at: usize,
    values: &'a [Value],
    /// The index of the next argument.
    next: usize,
    /// Whether the format has an argument index. Then unused arguments are not an error.
    reordered: bool,
    /// Whether the argument index of this directive is valid.
    good_index: bool,
    /// Whether the previous element was an index.
    after_index: bool,
}

impl Reader<'_> {
    /// Reads and writes one directive. Its `%` is already read.
    fn directive(&mut self, printer: &mut Printer<'_>) {
        self.good_index = true;
        self.after_index = false;
        printer.flags = self.flags();
        self.index();
        self.width(printer);
        self.precision(printer);
        if !self.after_index {
            self.index();
        }
        let Some((verb, length)) = first_char(self.rest()) else {
            printer.put("%!(NOVERB)");
            return;
        };
        self.at += length;
        if verb == '%' {
            printer.put("%");
        } else if !self.good_index {
            bad(printer, verb, "(BADINDEX)");
        } else if let Some(value) = self.values.get(self.next) {
            if verb == 'v' {
                printer.flags.sharp_v = std::mem::take(&mut printer.flags.sharp);
                printer.flags.plus_v = std::mem::take(&mut printer.flags.plus);
            }
            printer.value(value, verb);
            self.next += 1;
        } else {
            bad(printer, verb, "(MISSING)");
        }
    }

    fn flags(&mut self) -> Flags {
        let mut flags = Flags::default();
        while let Some(byte) = self.rest().first() {
            match byte {
                b'#' => flags.sharp = true,
                b'0' => flags.zero = true,
                b'+' => flags.plus = true,
                b'-' => flags.minus = true,
                b' ' => flags.space = true,
                _ => break,
            }
            self.at += 1;
        }
        flags
    }

    fn width(&mut self, printer: &mut Printer<'_>) {
        if self.accept(b'*') {
            match self.number_argument() {
                Some(width) => {
                    printer.flags.minus |= width < 0;
                    printer.flags.width = usize::try_from(width.unsigned_abs()).ok();
                }
                None => printer.put("%!(BADWIDTH)"),
            }
            self.after_index = false;
            return;
        }
        printer.flags.width = self.number();
        if self.after_index && printer.flags.width.is_some() {
            self.good_index = false;
        }
    }

    fn precision(&mut self, printer: &mut Printer<'_>) {
        if self.rest().len() < 2 || !self.accept(b'.') {
            return;
        }
        if self.after_index {
            self.good_index = false;
        }
        self.index();
        if self.accept(b'*') {
            printer.flags.precision = self.number_argument().and_then(|precision| usize::try_from(precision).ok());
            if printer.flags.precision.is_none() {
                printer.put("%!(BADPREC)");
            }
            self.after_index = false;
        } else {
            printer.flags.precision = Some(self.number().unwrap_or(0));
        }
    }

    /// Reads an index like `[3]`: the next argument is the third.
    fn index(&mut self) {
        self.after_index = false;
        if self.rest().first() != Some(&b'[') {
            return;
        }
        self.reordered = true;
        let close = self.rest().iter().position(|byte| *byte == b']').filter(|_| self.rest().len() >= 3);
        let Some(close) = close else {
            self.good_index = false;
            self.at += 1;
            return;
        };
        let digits = self.rest().get(1..close).unwrap_or_default();
        let number = std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let number = number.and_then(|digits| digits.parse::<usize>().ok());
        self.at += close + 1;
        self.after_index = number.is_some();
        match number.and_then(|number| number.checked_sub(1)).filter(|index| *index < self.values.len()) {
            Some(index) => self.next = index,
            None => self.good_index = false,
        }
    }

    /// Reads digits. As in Go, after a number that is too large the rest of the format is not read.
    fn number(&mut self) -> Option<usize> {
        let mut number = None;
        while let Some(digit) = self.rest().first().and_then(|byte| char::from(*byte).to_digit(10)) {
            let sum = number.unwrap_or(0);
            if sum > NUMBER_MAX {
                self.at = self.format.len();
                return None;
            }
            number = Some(sum * 10 + i64::from(digit));
            self.at += 1;
        }
        number.and_then(|number| usize::try_from(number).ok())
    }

    /// The value of a `*`.
    fn number_argument(&mut self) -> Option<i64> {
        let number = match self.values.get(self.next)? {
            Value::Int(int, _) | Value::Duration(int) => Some(*int),
            Value::Uint(uint, _) => i64::try_from(*uint).ok(),
            _ => None,
        };
        self.next += 1;
        number.filter(|number| (-NUMBER_MAX..=NUMBER_MAX).contains(number))
    }

    fn accept(&mut self, byte: u8) -> bool {
        let found = self.rest().first() == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn rest(&self) -> &[u8] {
        self.format.get(self.at..).unwrap_or_default()
    }
}

fn bad(printer: &mut Printer<'_>, verb: char, what: &str) {
    printer.put("%!");
    printer.put(verb.encode_utf8(&mut [0; 4]));
    printer.put(what);
}
