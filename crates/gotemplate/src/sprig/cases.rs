//! Functions that change the case of letters.

use super::arguments::bytes;
use super::function;
use crate::function::{Call, Failure, Function, Type};
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

/// Goes byte by byte like the original: the initial of `日` is `æ`, its first byte read as a character.
fn initials(_: &mut Call<'_>, args: &[Value]) -> Result<Value, Failure> {
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

/// `strings.Title`: what follows anything but a letter, a digit or an underscore begins a word.
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

/// A character that joins words: `-`, `_` or white space.
fn joins(char: char) -> bool {
    char == '-' || char == '_' || is_space(char)
}

/// Words joined, each with a capital and the rest in lower case. Joining characters stay at the ends of the text, and where several
/// stand together all but one do.
fn camel_case(text: &[u8]) -> Vec<u8> {
    let chars: Vec<char> = runes(text).map(|rune| rune.char).collect();
    let mut out = Vec::with_capacity(text.len());
    let leading = chars.iter().take_while(|&&char| joins(char)).count();
    let (lead, words) = chars.split_at(leading);
    for &char in lead {
        push(&mut out, char);
    }
    let Some((&first, following)) = words.split_first() else {
        // The original writes the last of nothing but joining characters twice.
        lead.last().into_iter().for_each(|&char| push(&mut out, char));
        return out;
    };
    let mut held = to_upper(first);
    for &char in following {
        let capital = joins(held) && !joins(char);
        if !capital {
            push(&mut out, held);
        }
        held = match (joins(char), capital) {
            (true, _) => char,
            (false, true) => to_upper(char),
            (false, false) => to_lower(char),
        };
    }
    push(&mut out, held);
    out
}

/// What a run of characters is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    /// Nothing is left.
    None,
    /// Digits.
    Number,
    /// Begins with a capital.
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

/// A text taken apart word by word.
struct Words<'a> {
    rest: &'a [char],
    out: String,
    joint: char,
}

/// Words in lower case with `joint` between them, digits treated as xstrings does: `HTTP20xOK` is `http_20x_ok`.
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
    /// What follows a word of letters: a number may belong to it, or to the letters after the number.
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

    /// Letters and digits that directly follow a number belong to it.
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

    /// `HTTPServer` begins with the words `HTTP` and `Server`.
    fn capitals(&self) -> usize {
        let upper = self.run(0, is_upper);
        let letter_follows = self.rest.get(upper).is_some_and(|&char| is_alphabetic(char));
        match upper {
            1 => self.run(1, |char| is_alphabetic(char) && !is_upper(char)),
            _ if letter_follows => upper - 1,
            _ => upper,
        }
    }

    /// The end of the run of characters from `start` that are `wanted`.
    fn run(&self, start: usize, wanted: impl Fn(char) -> bool) -> usize {
        start + self.rest.iter().skip(start).take_while(|&&char| wanted(char)).count()
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

/// A letter of a script whose words are told apart by letters: not a Chinese character.
fn is_alphabetic(char: char) -> bool {
    is_letter(char) && !matches!(char, '\u{3400}'..='\u{4D85}' | '\u{4E00}'..='\u{9FCC}' | '\u{20000}'..='\u{2B81D}')
}
