//! Functions that break lines.

use super::arguments::{bytes, charge_text, int};
use super::function;
use crate::function::{Call, Function, FunctionError, Type};
use crate::value::Value;

use Type::{Int, Text};

pub(super) const FUNCTIONS: &[Function] = &[
    function("wrap", &[Int, Text], |call, args| {
        wrapped(call, bytes(args, 1)?, &Breaks { width: width(args)?, newline: b"\n", inside_words: false })
    }),
    function("wrapWith", &[Int, Text, Text], |call, args| {
        let newline = bytes(args, 1)?;
        let newline = if newline.is_empty() { b"\n" } else { newline };
        wrapped(call, bytes(args, 2)?, &Breaks { width: width(args)?, newline, inside_words: true })
    }),
];

/// Where a text can be broken into lines.
struct Breaks<'a> {
    /// The width of a line, in bytes.
    width: usize,
    newline: &'a [u8],
    /// Whether words that are longer than a line are broken, too.
    inside_words: bool,
}

fn width(args: &[Value]) -> Result<usize, FunctionError> {
    Ok(int(args, 0)?.max(1) as usize)
}

fn wrapped(call: &mut Call<'_>, text: &[u8], breaks: &Breaks<'_>) -> Result<Value, FunctionError> {
    // Two adjacent lines together are longer than the width of a line.
    let lines_max = 2 * (text.len() / breaks.width + 1);
    charge_text(call, lines_max.saturating_mul(breaks.newline.len()).saturating_add(text.len()))?;
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while rest.len() > breaks.width {
        if let Some(after_space) = rest.strip_prefix(b" ") {
            rest = after_space;
            continue;
        }
        let Some((line, following)) = next_line(rest, breaks) else { break };
        out.extend_from_slice(line);
        out.extend_from_slice(breaks.newline);
        rest = following;
    }
    out.extend_from_slice(rest);
    Ok(Value::text(out))
}

/// The next line of `rest`, which is longer than one line, and the text after it. None if `rest` can't be broken.
fn next_line<'a>(rest: &'a [u8], breaks: &Breaks<'_>) -> Option<(&'a [u8], &'a [u8])> {
    let is_space = |&byte: &u8| byte == b' ';
    let (line, beyond) = rest.split_at_checked(breaks.width)?;
    let space = if beyond.first().is_some_and(is_space) { Some(line.len()) } else { line.iter().rposition(is_space) };
    let space = match space {
        None if breaks.inside_words => return Some((line, beyond)),
        None => beyond.iter().position(is_space).map(|at| line.len() + at)?,
        Some(space) => space,
    };
    Some((rest.get(..space)?, rest.get(space + 1..)?))
}
