//! Splits the text of a template into tokens.

use memchr::memmem;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory as _};

use super::ParseError;
use crate::runes::first_char;
use crate::taint::{TaintedRange, overlaps};

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// Text outside of actions.
    Text,
    LeftDelimiter,
    RightDelimiter,
    /// Blanks inside an action, which separate arguments.
    Space,
    Bool,
    /// Any other printable ASCII character.
    Character,
    CharacterConstant,
    Complex,
    Number,
    QuotedText,
    RawText,
    Assign,
    Declare,
    Pipe,
    LeftParenthesis,
    RightParenthesis,
    Dot,
    /// `.name`
    Field,
    /// `$name` or `$`
    Variable,
    Identifier,
    Block,
    Break,
    Continue,
    Define,
    Else,
    End,
    If,
    Nil,
    Range,
    Template,
    With,
    EndOfText,
}

/// A piece of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// All tokens of a text up to the first error. The last token is [`TokenKind::EndOfText`]. If `error` is set, the error occurred at that place.
pub(super) struct Tokens {
    pub(super) tokens: Vec<Token>,
    pub(super) error: Option<ParseError>,
}

/// Splits `text` into tokens. A delimiter that touches one of the tainted ranges is plain text, not the start of an action.
pub(super) fn tokenize(text: &[u8], tainted_ranges: &[TaintedRange]) -> Tokens {
    let mut lexer = Lexer { text, tainted_ranges, at: 0, start: 0, closed: 0, parentheses: 0, tokens: Vec::new() };
    let error = lexer.run().err();
    lexer.start = lexer.at.min(text.len());
    lexer.emit(TokenKind::EndOfText);
    Tokens { tokens: lexer.tokens, error }
}

const SPACES: &[u8] = b" \t\r\n";

struct Lexer<'a> {
    text: &'a [u8],
    tainted_ranges: &'a [TaintedRange],
    at: usize,
    start: usize,
    /// The end of the last action, without the blanks after it.
    closed: usize,
    parentheses: usize,
    tokens: Vec<Token>,
}

impl Lexer<'_> {
    fn run(&mut self) -> Result<(), ParseError> {
        while self.outside() {
            let (opened, known) = (self.start, self.tokens.len());
            let read = self.action();
            let action = opened..if read.is_ok() { self.closed } else { self.at };
            if overlaps(self.tainted_ranges, &action) {
                self.tokens.truncate(known);
                let text = String::from_utf8_lossy(self.slice(action.start, action.end)).into_owned();
                return Err(ParseError {
                    refused: Some(text),
                    ..ParseError::new(opened, "there is data in an action")
                });
            }
            read?;
        }
        Ok(())
    }

    /// Reads an action. The left delimiter is already read.
    fn action(&mut self) -> Result<(), ParseError> {
        if self.comment()? {
            return Ok(());
        }
        self.emit(TokenKind::LeftDelimiter);
        if is_left_trim(self.rest()) {
            self.at += 2;
        }
        self.start = self.at;
        self.parentheses = 0;
        while !self.inside()? {}
        Ok(())
    }

    /// The byte where the next action begins.
    fn delimiter(&self) -> Option<usize> {
        let mut from = self.at;
        loop {
            let at = from + memmem::find(self.text.get(from..)?, b"{{")?;
            if !overlaps(self.tainted_ranges, &(at..at + 2)) {
                return Some(at);
            }
            from = at + 1;
        }
    }

    /// Reads text up to the next action, and the action's left delimiter. Returns `false` at the end of the text.
    fn outside(&mut self) -> bool {
        let Some(delimiter) = self.delimiter() else {
            self.at = self.text.len();
            if self.at > self.start {
                self.emit(TokenKind::Text);
            }
            return false;
        };
        let mut end = delimiter;
        if is_left_trim(self.text.get(delimiter + 2..).unwrap_or_default()) {
            let text = self.slice(self.start, delimiter);
            end = self.start + text.iter().rposition(|byte| !SPACES.contains(byte)).map_or(0, |last| last + 1);
        }
        if end > self.start {
            self.at = end;
            self.emit(TokenKind::Text);
        }
        self.start = delimiter;
        self.at = delimiter + 2;
        true
    }

    /// Skips a comment. Returns `false` if there is no comment after the delimiter.
    fn comment(&mut self) -> Result<bool, ParseError> {
        let marker = if is_left_trim(self.rest()) { 2 } else { 0 };
        if !self.rest().get(marker..).unwrap_or_default().starts_with(b"/*") {
            return Ok(false);
        }
        let opened = self.at + marker;
        let Some(length) = memmem::find(self.slice(opened + 2, self.text.len()), b"*/") else {
            return Err(ParseError::new(opened, "unclosed comment"));
        };
        self.at = opened + 2 + length + 2;
        let Some(trims) = self.right_delimiter() else {
            return Err(ParseError::new(opened, "comment ends before closing delimiter"));
        };
        self.leave(trims);
        Ok(true)
    }

    /// Whether the action ends here, and if so, whether it trims the text after it.
    fn right_delimiter(&self) -> Option<bool> {
        let rest = self.rest();
        if is_right_trim(rest) && rest.get(2..).unwrap_or_default().starts_with(b"}}") {
            return Some(true);
        }
        rest.starts_with(b"}}").then_some(false)
    }

    /// Skips the right delimiter, and the blanks after it if it trims them.
    fn leave(&mut self, trims: bool) {
        self.closed = self.at + if trims { 4 } else { 2 };
        if trims {
            let after = self.slice(self.at + 4, self.text.len());
            let blanks = after.iter().take_while(|byte| SPACES.contains(byte)).count();
            self.at += 4 + blanks;
        } else {
            self.at += 2;
        }
        self.start = self.at;
    }

    /// Reads one token inside an action. Returns `true` at the end of the action.
    fn inside(&mut self) -> Result<bool, ParseError> {
        if let Some(trims) = self.right_delimiter() {
            if self.parentheses > 0 {
                return Err(self.error("unclosed left paren"));
            }
            self.tokens.push(Token { kind: TokenKind::RightDelimiter, start: self.at, end: self.at + 2 });
            self.leave(trims);
            return Ok(true);
        }
        let Some(character) = self.next() else {
            return Err(self.error("unclosed action"));
        };
        match character {
            ' ' | '\t' | '\r' | '\n' => self.space(),
            '=' => self.emit(TokenKind::Assign),
            ':' if self.next() == Some('=') => self.emit(TokenKind::Declare),
            ':' => return Err(self.error("expected :=")),
            '|' => self.emit(TokenKind::Pipe),
            '"' => self.quoted('"', TokenKind::QuotedText, "unterminated quoted string")?,
            '\'' => self.quoted('\'', TokenKind::CharacterConstant, "unterminated character constant")?,
            '`' => self.raw()?,
            '$' => self.name_after_mark(TokenKind::Variable)?,
            '.' if !self.rest().first().is_some_and(u8::is_ascii_digit) => self.name_after_mark(TokenKind::Field)?,
            '.' | '+' | '-' | '0'..='9' => self.number()?,
            '(' => {
                self.parentheses += 1;
                self.emit(TokenKind::LeftParenthesis);
            }
            ')' => {
                let Some(left) = self.parentheses.checked_sub(1) else {
                    return Err(self.error("unexpected right paren"));
                };
                self.parentheses = left;
                self.emit(TokenKind::RightParenthesis);
            }
            other if is_alphanumeric(other) => self.identifier()?,
            other if other.is_ascii_graphic() => self.emit(TokenKind::Character),
            other => return Err(self.error(format!("unrecognized character in action: {}", code_point(other)))),
        }
        Ok(false)
    }

    /// Skips blanks, but not the blank that belongs to a trimming right delimiter.
    fn space(&mut self) {
        while self.rest().first().is_some_and(|byte| SPACES.contains(byte)) {
            self.at += 1;
        }
        self.at -= 1;
        if self.right_delimiter() != Some(true) {
            self.at += 1;
        }
        if self.at > self.start {
            self.emit(TokenKind::Space);
        }
    }

    fn quoted(&mut self, quote: char, kind: TokenKind, unterminated: &str) -> Result<(), ParseError> {
        loop {
            match self.next() {
                None | Some('\n') => return Err(self.error(unterminated)),
                Some('\\') if matches!(self.next(), None | Some('\n')) => return Err(self.error(unterminated)),
                Some(end) if end == quote => break,
                Some(_) => {}
            }
        }
        self.emit(kind);
        Ok(())
    }

    fn raw(&mut self) -> Result<(), ParseError> {
        let Some(length) = self.rest().iter().position(|byte| *byte == b'`') else {
            return Err(self.error("unterminated raw quoted string"));
        };
        self.at += length + 1;
        self.emit(TokenKind::RawText);
        Ok(())
    }

    /// Reads the name after `.` or `$`, if there is one.
    fn name_after_mark(&mut self, kind: TokenKind) -> Result<(), ParseError> {
        if self.is_at_terminator() {
            self.emit(if kind == TokenKind::Field { TokenKind::Dot } else { kind });
            return Ok(());
        }
        self.alphanumerics();
        self.expect_terminator()?;
        self.emit(kind);
        Ok(())
    }

    fn identifier(&mut self) -> Result<(), ParseError> {
        self.alphanumerics();
        self.expect_terminator()?;
        let kind = match self.slice(self.start, self.at) {
            b"block" => TokenKind::Block,
            b"break" => TokenKind::Break,
            b"continue" => TokenKind::Continue,
            b"define" => TokenKind::Define,
            b"else" => TokenKind::Else,
            b"end" => TokenKind::End,
            b"if" => TokenKind::If,
            b"nil" => TokenKind::Nil,
            b"range" => TokenKind::Range,
            b"template" => TokenKind::Template,
            b"with" => TokenKind::With,
            b"true" | b"false" => TokenKind::Bool,
            _ => TokenKind::Identifier,
        };
        self.emit(kind);
        Ok(())
    }

    fn alphanumerics(&mut self) {
        while self.peek().is_some_and(is_alphanumeric) {
            self.next();
        }
    }

    fn expect_terminator(&self) -> Result<(), ParseError> {
        if self.is_at_terminator() {
            return Ok(());
        }
        let found = self.peek().unwrap_or(char::REPLACEMENT_CHARACTER);
        Err(ParseError::new(self.at, format!("bad character {}", code_point(found))))
    }

    /// Whether a name can end here. `.X.Y` is two fields, `$x+2` is an error.
    fn is_at_terminator(&self) -> bool {
        match self.rest().first() {
            None => true,
            Some(byte) => SPACES.contains(byte) || b".,|:()".contains(byte) || self.rest().starts_with(b"}}"),
        }
    }

    fn number(&mut self) -> Result<(), ParseError> {
        self.at = self.start;
        let mut kind = TokenKind::Number;
        let mut good = self.scan_number();
        if good && matches!(self.peek(), Some('+' | '-')) {
            kind = TokenKind::Complex;
            good = self.scan_number() && self.slice(self.start, self.at).ends_with(b"i");
        }
        if !good {
            let text = String::from_utf8_lossy(self.slice(self.start, self.at)).into_owned();
            return Err(self.error(format!("bad number syntax: {text:?}")));
        }
        self.emit(kind);
        Ok(())
    }

    /// Skips the characters of a number. It accepts some texts that are not numbers: the parser checks them.
    fn scan_number(&mut self) -> bool {
        self.accept(b"+-");
        let mut digits: &[u8] = b"0123456789_";
        if self.accept(b"0") {
            if self.accept(b"xX") {
                digits = b"0123456789abcdefABCDEF_";
            } else if self.accept(b"oO") {
                digits = b"01234567_";
            } else if self.accept(b"bB") {
                digits = b"01_";
            }
        }
        while self.accept(digits) {}
        if self.accept(b".") {
            while self.accept(digits) {}
        }
        let exponent: &[u8] = match digits.len() {
            11 => b"eE",
            23 => b"pP",
            _ => b"",
        };
        if self.accept(exponent) {
            self.accept(b"+-");
            while self.accept(b"0123456789_") {}
        }
        self.accept(b"i");
        if self.peek().is_some_and(is_alphanumeric) {
            self.next();
            return false;
        }
        true
    }

    fn accept(&mut self, any_of: &[u8]) -> bool {
        let found = self.rest().first().is_some_and(|byte| any_of.contains(byte));
        self.at += usize::from(found);
        found
    }

    fn next(&mut self) -> Option<char> {
        let (character, length) = first_char(self.rest())?;
        self.at += length;
        Some(character)
    }

    fn peek(&self) -> Option<char> {
        first_char(self.rest()).map(|(character, _)| character)
    }

    fn emit(&mut self, kind: TokenKind) {
        self.tokens.push(Token { kind, start: self.start, end: self.at });
        self.start = self.at;
    }

    fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError::new(self.start, message)
    }

    fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn slice(&self, start: usize, end: usize) -> &[u8] {
        self.text.get(start..end).unwrap_or_default()
    }
}

/// Go's `%#U`.
fn code_point(character: char) -> String {
    format!("U+{:04X} '{character}'", u32::from(character))
}

/// Whether Go's lexer accepts the character in a name: letters, decimal digits and `_`.
fn is_alphanumeric(character: char) -> bool {
    if character.is_ascii() {
        return character == '_' || character.is_ascii_alphanumeric();
    }
    character.general_category_group() == GeneralCategoryGroup::Letter
        || character.general_category() == GeneralCategory::DecimalNumber
}

fn is_left_trim(text: &[u8]) -> bool {
    matches!(text, [b'-', blank, ..] if SPACES.contains(blank))
}

fn is_right_trim(text: &[u8]) -> bool {
    matches!(text, [blank, b'-', ..] if SPACES.contains(blank))
}
