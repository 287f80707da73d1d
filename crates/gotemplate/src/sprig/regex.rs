//! Functions on regular expressions.

use std::borrow::Cow;
use std::sync::Arc;

use regex::{Captures, RegexBuilder};

use super::arguments::{bytes, check_length, int, text};
use super::function;
use crate::compiled_regex::CompiledRegex;
use crate::function::{Call, Function, FunctionError, Type};
use crate::go_regex::translate;
use crate::runes::{is_digit, is_letter, push, runes};
use crate::value::Value;

use Type::{Int, Text};

/// Limits for the size of a compiled expression, in bytes: expressions can come from untrusted data. The sizes are tried in order, and each is
/// charged for before it is tried.
const COMPILED_BYTES: [usize; 4] = [16 << 10, 128 << 10, 1 << 20, 4 << 20];

/// The number of bytes of a compiled expression that one step pays for.
const COMPILED_BYTES_PER_STEP: u64 = 64;

pub(super) const FUNCTIONS: &[Function] = &[
    function("regexFind", &[Text, Text], find),
    function("regexFindAll", &[Text, Text, Int], find_all),
    function("regexMatch", &[Text, Text], matches),
    function("regexReplaceAll", &[Text, Text, Text], |call, args| replace(call, args, false)),
    function("regexReplaceAllLiteral", &[Text, Text, Text], |call, args| replace(call, args, true)),
    function("regexSplit", &[Text, Text, Int], split),
];

/// The text that is searched. Every byte that is not UTF-8 is searched as U+FFFD.
struct Haystack<'a> {
    bytes: &'a [u8],
    searched: Cow<'a, str>,
    /// For each index in `searched`, the index in `bytes`. Empty if they are the same.
    places: Vec<usize>,
}

/// A match.
struct Match<'a> {
    captures: Captures<'a>,
    haystack: &'a Haystack<'a>,
    names: &'a [String],
}

impl CompiledRegex {
    /// Returns the compiled expression. Where Go panics for an invalid expression, returns an error.
    fn compile(call: &mut Call<'_>, pattern: &[u8]) -> Result<Arc<Self>, FunctionError> {
        call.changes.expression_lookups += 1;
        if let Some(compiled) = call.changes.expressions.get(pattern) {
            return Ok(Arc::clone(compiled));
        }
        let expression = Arc::new(Self::compile_new(call, pattern)?);
        call.changes.expressions.insert(pattern.into(), Arc::clone(&expression));
        Ok(expression)
    }

    fn compile_new(call: &mut Call<'_>, pattern: &[u8]) -> Result<Self, FunctionError> {
        call.budget.steps(10 + pattern.len() as u64)?;
        let wrong = |why: String| {
            FunctionError::error(format!("regexp: Compile(`{}`): {why}", String::from_utf8_lossy(pattern)))
        };
        let pattern = std::str::from_utf8(pattern).map_err(|_| wrong("invalid UTF-8".to_owned()))?;
        let translated = translate(pattern).map_err(wrong)?;
        let mut refusal = String::new();
        for bytes in COMPILED_BYTES {
            call.budget.steps(bytes as u64 / COMPILED_BYTES_PER_STEP)?;
            match RegexBuilder::new(&translated.pattern).size_limit(bytes).build() {
                Ok(regex) => {
                    let steps_per_kib = (bytes / COMPILED_BYTES[0]) as u64;
                    return Ok(Self { regex, steps_per_kib, names: translated.names });
                }
                Err(error @ regex::Error::CompiledTooBig(_)) => refusal = error.to_string(),
                Err(error) => return Err(wrong(error.to_string())),
            }
        }
        Err(wrong(refusal))
    }

    /// The first match from `start` on. The cost depends on the length of the rest of the text, because a search can read it to its end.
    fn find<'a>(
        &'a self,
        call: &mut Call<'_>,
        haystack: &'a Haystack<'a>,
        start: usize,
    ) -> Result<Option<Match<'a>>, FunctionError> {
        let bytes = haystack.searched.len().saturating_sub(start) as u64;
        let groups = self.names.len() as u64 / 8;
        call.budget.steps(1 + groups + bytes.saturating_mul(self.steps_per_kib) / 1_024)?;
        let captures = self.regex.captures_at(&haystack.searched, start);
        Ok(captures.map(|captures| Match { captures, haystack, names: &self.names }))
    }

    /// At most `count` matches, or all if `count` is negative. An empty match directly after another match is not included.
    fn find_all<'a>(
        &'a self,
        call: &mut Call<'_>,
        haystack: &'a Haystack<'a>,
        count: i64,
    ) -> Result<Vec<Match<'a>>, FunctionError> {
        let most = usize::try_from(count).unwrap_or(usize::MAX);
        let (mut found, mut start, mut previous_end) = (Vec::new(), 0, None);
        while found.len() < most && start <= haystack.searched.len() {
            let Some(next) = self.find(call, haystack, start)? else { break };
            let (begin, end) = next.range();
            let empty = end == start;
            start = if empty { haystack.after(start) } else { end };
            if !(empty && previous_end == Some(begin)) {
                found.push(next);
            }
            previous_end = Some(end);
        }
        Ok(found)
    }
}

impl<'a> Haystack<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        if let Ok(text) = std::str::from_utf8(bytes) {
            return Self { bytes, searched: Cow::Borrowed(text), places: Vec::new() };
        }
        let (mut searched, mut places, mut place) = (Vec::new(), Vec::new(), 0);
        for rune in runes(bytes) {
            push(&mut searched, rune.char);
            places.resize(searched.len(), place);
            place += rune.bytes.len();
        }
        places.push(place);
        Self { bytes, searched: Cow::Owned(String::from_utf8_lossy(&searched).into_owned()), places }
    }

    /// The bytes between two indexes in `searched`.
    fn part(&self, start: usize, end: usize) -> &'a [u8] {
        let place = |at: usize| self.places.get(at).copied().unwrap_or(at);
        self.bytes.get(place(start)..place(end)).unwrap_or_default()
    }

    /// The index of the next character after `start`.
    fn after(&self, start: usize) -> usize {
        let next = self.searched.get(start..).and_then(|rest| rest.chars().next());
        start + next.map_or(1, char::len_utf8)
    }
}

impl<'a> Match<'a> {
    fn range(&self) -> (usize, usize) {
        self.captures.get(0).map_or((0, 0), |whole| (whole.start(), whole.end()))
    }

    /// The text that the group with this number matched. Empty if the group is not part of the match.
    fn group(&self, number: usize) -> &'a [u8] {
        self.captures.get(number).map_or(&[], |group| self.haystack.part(group.start(), group.end()))
    }

    fn named(&self, name: &str) -> &'a [u8] {
        self.names.iter().position(|other| other == name).map_or(&[], |number| self.group(number))
    }
}

fn find(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let expression = CompiledRegex::compile(call, bytes(args, 0)?)?;
    let haystack = Haystack::new(bytes(args, 1)?);
    let found = expression.find(call, &haystack, 0)?;
    Ok(Value::text(found.map_or(&[][..], |found| found.group(0))))
}

fn find_all(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let expression = CompiledRegex::compile(call, bytes(args, 0)?)?;
    let haystack = Haystack::new(bytes(args, 1)?);
    let found = expression.find_all(call, &haystack, int(args, 2)?)?;
    if found.is_empty() {
        return Ok(Value::nil_texts());
    }
    Ok(Value::texts(found.iter().map(|found| found.group(0))))
}

/// Unlike the other functions, returns false for an invalid expression.
fn matches(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let expression = match CompiledRegex::compile(call, bytes(args, 0)?) {
        Err(FunctionError::Error(_)) => return Ok(Value::Bool(false)),
        expression => expression?,
    };
    let haystack = Haystack::new(bytes(args, 1)?);
    Ok(Value::Bool(expression.find(call, &haystack, 0)?.is_some()))
}

/// Replaces every match by the third argument. `$` references to groups are expanded unless `literal` is set. An empty match directly after another
/// match is not replaced.
fn replace(call: &mut Call<'_>, args: &[Value], literal: bool) -> Result<Value, FunctionError> {
    let template = bytes(args, 2)?;
    let dollars = if literal { 0 } else { memchr::memchr_iter(b'$', template).count() };
    let expression = CompiledRegex::compile(call, bytes(args, 0)?)?;
    let haystack = Haystack::new(bytes(args, 1)?);
    let (mut out, mut start, mut copied, mut changed) = (Vec::new(), 0, 0, false);
    while start <= haystack.searched.len() {
        let Some(found) = expression.find(call, &haystack, start)? else { break };
        let (begin, end) = found.range();
        out.extend_from_slice(haystack.part(copied, begin));
        if end > copied || begin == 0 {
            // A group is never longer than the match.
            let longest = dollars.saturating_mul(end - begin).saturating_add(template.len());
            check_length(call, longest.saturating_add(out.len()))?;
            if literal {
                out.extend_from_slice(template);
            } else {
                call.budget.steps((dollars as u64).saturating_mul(1 + expression.names.len() as u64) / 16)?;
                expand(&mut out, &found, template);
            }
            changed = true;
        }
        copied = end;
        start = end.max(haystack.after(start));
    }
    if !changed {
        return Ok(Value::Text(text(args, 1)?.clone()));
    }
    out.extend_from_slice(haystack.part(copied, haystack.searched.len()));
    Ok(Value::text(out))
}

/// Appends `template`, with `$1`, `${1}`, `$name` and `${name}` replaced by the groups. A name is as long as possible: `$1x` is the group `1x`.
fn expand(out: &mut Vec<u8>, found: &Match<'_>, template: &[u8]) {
    let mut rest = template;
    while let Some(dollar) = rest.iter().position(|&byte| byte == b'$') {
        let (before, after) = rest.split_at(dollar);
        out.extend_from_slice(before);
        rest = after.get(1..).unwrap_or_default();
        if let Some(following) = rest.strip_prefix(b"$") {
            out.push(b'$');
            rest = following;
        } else if let Some((name, following)) = group_name(rest) {
            out.extend_from_slice(match group_number(&name) {
                Some(number) => found.group(number),
                None => found.named(&name),
            });
            rest = following;
        } else {
            out.push(b'$');
        }
    }
    out.extend_from_slice(rest);
}

/// The name of a group, and the text after it. None if the dollar is not followed by a name.
fn group_name(text: &[u8]) -> Option<(String, &[u8])> {
    let braced = text.strip_prefix(b"{");
    let text = braced.unwrap_or(text);
    let in_name = |char: char| is_letter(char) || is_digit(char) || char == '_';
    let length: usize = runes(text).take_while(|rune| in_name(rune.char)).map(|rune| rune.bytes.len()).sum();
    let (name, rest) = text.split_at_checked(length).filter(|(name, _)| !name.is_empty())?;
    let rest = if braced.is_some() { rest.strip_prefix(b"}")? } else { rest };
    Some((String::from_utf8_lossy(name).into_owned(), rest))
}

/// The number of a group whose name is a number without leading zeros.
fn group_number(name: &str) -> Option<usize> {
    let plain = name.bytes().all(|byte| byte.is_ascii_digit()) && (name == "0" || !name.starts_with('0'));
    plain.then(|| name.parse().unwrap_or(usize::MAX))
}

fn split(call: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let (pattern, whole, count) = (bytes(args, 0)?, bytes(args, 1)?, int(args, 2)?);
    let expression = CompiledRegex::compile(call, pattern)?;
    if count == 0 {
        return Ok(Value::nil_texts());
    }
    if !pattern.is_empty() && whole.is_empty() {
        return Ok(Value::texts([""]));
    }
    let haystack = Haystack::new(whole);
    let found = expression.find_all(call, &haystack, count)?;
    let (mut parts, mut begin, mut end) = (Vec::new(), 0, 0);
    for found in found {
        if count > 0 && parts.len() as i64 == count - 1 {
            break;
        }
        let range = found.range();
        end = range.0;
        if range.1 != 0 {
            parts.push(haystack.part(begin, end));
        }
        begin = range.1;
    }
    if end != haystack.searched.len() {
        parts.push(haystack.part(begin, haystack.searched.len()));
    }
    Ok(Value::texts(parts))
}
