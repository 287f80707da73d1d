//! Functions that change the case of letters.

use super::arguments::bytes;
use super::function;
use crate::function::{Call, Function, FunctionError, Type};
use crate::runes::{
    is_digit, is_letter, is_lower, is_number, is_punct, is_space, is_title, is_upper, map, push, runes, to_lower,
    to_title, to_upper,
};
use crate::value::Value;

use Type::Text;

pub(super) const FUNCTIONS: &[Function] = &[
    function("camelcase", &[Text], |_, args| Ok(Value::text(camel_case(bytes(args, 0)?)))),
    function("initials", &[Text], initials),
    function("kebabcase", &[Text], |_, args| Ok(Value::text(lower_words(bytes(args, 0)?, '-')))),
    function("lower", &[Text], |_, args| Ok(Value::text(map(bytes(args, 0)?, to_lower)))),
    function("snakecase", &[Text], |_, args| Ok(Value::text(lower_words(bytes(args, 0)?, '_')))),
    function("swapcase", &[Text], |_, args| Ok(Value::text(swapped(bytes(args, 0)?)))),
    function("title", &[Text], |_, args| Ok(Value::text(titled(bytes(args, 0)?)))),
    function("untitle", &[Text], |_, args| Ok(Value::text(untitled(bytes(args, 0)?)))),
    function("upper", &[Text], |_, args| Ok(Value::text(map(bytes(args, 0)?, to_upper)))),
];

/// Reads bytes, not characters, like the original: the initial of `日` is `æ`, its first byte as a character.
fn initials(_: &mut Call<'_>, args: &[Value]) -> Result<Value, FunctionError> {
    let mut after_gap = true;
    let mut out = String::new();
    for char in bytes(args, 0)?.iter().map(|&byte| char::from(byte)) {
        if !is_space(char) && after_gap {
            out.push(char);
        }
        after_gap = is_space(char);
    }
    Ok(Value::text(out))
}

/// `strings.Title`: a word begins after a character that is not a letter, a digit or an underscore.
fn titled(text: &[u8]) -> Vec<u8> {
    let mut previous = ' ';
    let mut out = Vec::with_capacity(text.len());
    for rune in runes(text) {
        push(&mut out, if separates(previous) { to_title(rune.char) } else { rune.char });
        previous = rune.char;
    }
    out
}

fn separates(char: char) -> bool {
    if char.is_ascii() {
        return !char.is_ascii_alphanumeric() && char != '_';
    }
    !is_letter(char) && !is_digit(char) && is_space(char)
}

fn untitled(text: &[u8]) -> Vec<u8> {
    let mut after_space = true;
    let mut out = Vec::with_capacity(text.len());
    for rune in runes(text) {
        let begins = after_space && !is_space(rune.char);
        push(&mut out, if begins { to_lower(rune.char) } else { rune.char });
        after_space = is_space(rune.char);
    }
    out
}

fn swapped(text: &[u8]) -> Vec<u8> {
    let mut after_space = true;
    let mut out = Vec::with_capacity(text.len());
    for rune in runes(text) {
        let char = rune.char;
        let letter = is_upper(char) || is_title(char) || is_lower(char);
        push(
            &mut out,
            match char {
                upper if is_upper(upper) || is_title(upper) => to_lower(upper),
                lower if is_lower(lower) && after_space => to_title(lower),
                lower if is_lower(lower) => to_upper(lower),
                other => other,
            },
        );
        after_space = !letter && is_space(char);
    }
    out
}

/// Whether the character joins words: `-`, `_` or white space.
fn joins(char: char) -> bool {
    char == '-' || char == '_' || is_space(char)
}

/// Joins the words, each with a capital first letter and all other letters in lower case.
/// Joining characters at the ends of the text stay. Of several joining characters in a row, all but one stay.
fn camel_case(text: &[u8]) -> Vec<u8> {
    let chars: Vec<char> = runes(text).map(|rune| rune.char).collect();
    let mut out = Vec::with_capacity(text.len());
    let leading = chars.iter().take_while(|&&char| joins(char)).count();
    let (lead, words) = chars.split_at(leading);
    for &char in lead {
        push(&mut out, char);
    }
    let Some((&first, following)) = words.split_first() else {
        // If the text has only joining characters, the original writes the last one twice.
        lead.last().into_iter().for_each(|&char| push(&mut out, char));
        return out;
    };
    let mut pending = to_upper(first);
    for &char in following {
        let capital = joins(pending) && !joins(char);
        if !capital {
            push(&mut out, pending);
        }
        pending = match (joins(char), capital) {
            (true, _) => char,
            (false, true) => to_upper(char),
            (false, false) => to_lower(char),
        };
    }
    push(&mut out, pending);
    out
}

/// The kind of a run of characters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    /// No characters are left.
    None,
    /// Digits.
    Number,
    /// Letters that begin with a capital.
    Capital,
    /// Letters without capitals.
    Letters,
    /// Joining characters.
    Joint,
    /// Punctuation.
    Punctuation,
    /// Symbols and the like.
    Other,
}

/// A text that is split into words.
struct Words<'a> {
    rest: &'a [char],
    out: String,
    joint: char,
}

/// The words in lower case, with `joint` between them. Digits are handled as in xstrings: `HTTP20xOK` becomes `http_20x_ok`.
fn lower_words(text: &[u8], joint: char) -> String {
    let chars: Vec<char> = runes(text).map(|rune| rune.char).collect();
    let mut words = Words { rest: &chars, out: String::with_capacity(text.len()), joint };
    let (mut kind, mut word) = words.next();
    while !words.rest.is_empty() {
        if kind != Word::Joint {
            words.write(kind, word);
        }
        let (before, last) = (kind, word);
        (kind, word) = words.next();
        match before {
            Word::Number => (kind, word) = words.write_number_tail(kind, word),
            Word::Joint => words.write(before, last),
            Word::Punctuation => {}
            _ => (kind, word) = words.after_letters(kind, word),
        }
    }
    words.write(kind, word);
    words.out
}

impl<'a> Words<'a> {
    /// Handles the word after a word of letters. A number can belong to that word, or to the letters after the number.
    fn after_letters(&mut self, kind: Word, word: &'a [char]) -> (Word, &'a [char]) {
        if kind != Word::Number {
            self.join_unless(&[Word::Joint, Word::Punctuation], kind);
            return (kind, word);
        }
        if self.rest.is_empty() {
            return (kind, word);
        }
        let number = word;
        let (kind, word) = self.next();
        if kind != Word::Letters {
            self.write(Word::Number, number);
            self.join_unless(&[Word::Joint, Word::Punctuation], kind);
            return (kind, word);
        }
        self.out.push(self.joint);
        self.write(Word::Number, number);
        self.write_number_tail(kind, word)
    }

    /// Writes the letters and digits directly after a number. They belong to the number.
    fn write_number_tail(&mut self, mut kind: Word, mut word: &'a [char]) -> (Word, &'a [char]) {
        while kind == Word::Letters || kind == Word::Number {
            self.write(kind, word);
            (kind, word) = self.next();
        }
        self.join_unless(&[Word::None, Word::Joint, Word::Punctuation], kind);
        (kind, word)
    }

    fn join_unless(&mut self, joined: &[Word], kind: Word) {
        if !joined.contains(&kind) {
            self.out.push(self.joint);
        }
    }

    fn write(&mut self, kind: Word, word: &[char]) {
        let lowers = kind == Word::Capital || kind == Word::Joint;
        self.out.extend(word.iter().map(|&char| match char {
            joint if lowers && joins(joint) => self.joint,
            upper if lowers && is_upper(upper) => to_lower(upper),
            other => other,
        }));
    }

    fn next(&mut self) -> (Word, &'a [char]) {
        let Some(&first) = self.rest.first() else { return (Word::None, &[]) };
        let kind = kind_of(first);
        let length = match kind {
            Word::Joint => self.run(0, joins),
            Word::Punctuation => self.run(0, is_punct),
            Word::Number => self.run(0, is_number),
            Word::Letters => self.run(0, |char| is_alphabetic(char) && !is_upper(char)),
            Word::Capital => self.capitals(),
            Word::Other | Word::None => self.run(1, |char| kind_of(char) == Word::Other),
        };
        let (word, rest) = self.rest.split_at(length.min(self.rest.len()));
        self.rest = rest;
        (kind, word)
    }

    /// The number of capitals that are one word: `HTTPServer` begins with the words `HTTP` and `Server`.
    fn capitals(&self) -> usize {
        let upper = self.run(0, is_upper);
        let letter_follows = self.rest.get(upper).is_some_and(|&char| is_alphabetic(char));
        match upper {
            1 => self.run(1, |char| is_alphabetic(char) && !is_upper(char)),
            _ if letter_follows => upper - 1,
            _ => upper,
        }
    }

    /// The end of the run of characters from `start` on for which `matches` is true.
    fn run(&self, start: usize, matches: impl Fn(char) -> bool) -> usize {
        start + self.rest.iter().skip(start).take_while(|&&char| matches(char)).count()
    }
}

fn kind_of(char: char) -> Word {
    match char {
        joint if joins(joint) => Word::Joint,
        mark if is_punct(mark) => Word::Punctuation,
        upper if is_upper(upper) => Word::Capital,
        letter if is_alphabetic(letter) => Word::Letters,
        digit if is_number(digit) => Word::Number,
        _ => Word::Other,
    }
}

/// Whether the character is a letter of a script with words of several letters: not a Chinese character.
fn is_alphabetic(char: char) -> bool {
    is_letter(char) && !matches!(char, '\u{3400}'..='\u{4D85}' | '\u{4E00}'..='\u{9FCC}' | '\u{20000}'..='\u{2B81D}')
}
