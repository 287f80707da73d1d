//! Parses templates: the language of Go's text/template (Go 1.26).
//!
//! This is an own lexer and parser, although there are crates with one. The reasons:
//!
//! - The output of a rendering can be parsed again, and can contain bytes that are not UTF-8.
//! - Function names, map keys and variables are resolved once. So a rendering looks up nothing by name.
//! - Every operand and every field has a place in the text.
//! - Nesting has a limit of this crate's own. A long `else if` chain does not count as nesting.

mod lex;
mod number;
mod parts;
mod pipeline;
mod quote;
#[cfg(test)]
mod tests;
pub(crate) mod tree;

use std::collections::HashMap;
use std::sync::Arc;

use crate::taint::TaintedRange;
use crate::text::Text;
use lex::{Token, TokenKind};
use tree::{Body, Choice, Loop, Node, Program, TemplateCall, TemplateId, VariableId};

pub(crate) use parts::mark;

/// How deep actions and parentheses can be nested in one text. A person writes up to ten levels. The parser and the executor are recursive over them.
pub(crate) const NESTING_MAX: usize = 100;

/// How many variables can be visible at one place. The search for a variable is linear.
pub(crate) const VARIABLES_MAX: usize = 1_000;

/// A syntax error, and its byte in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParseError {
    pub(crate) at: usize,
    pub(crate) message: String,
    /// The text of the action, if the action is in tainted text.
    pub(crate) refused: Option<String>,
}

impl ParseError {
    pub(crate) fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), refused: None }
    }
}

/// Parses `source` as the template `name`. The text in the tainted ranges is data.
pub(crate) fn parse(name: &str, source: Arc<[u8]>, tainted_ranges: Vec<TaintedRange>) -> Result<Program, ParseError> {
    let lexed = lex::tokenize(&source, &tainted_ranges);
    let mut parser = Parser {
        source: &source,
        tokens: lexed.tokens,
        lex_error: lexed.error,
        at: 0,
        nesting: 0,
        variables: vec![tree::ROOT_VARIABLE],
        variable_numbers: HashMap::from([(b"$".to_vec(), tree::ROOT_VARIABLE)]),
        range_nesting: 0,
        templates: Vec::new(),
        names: HashMap::new(),
    };
    let main = parser.template_id(Text::from(name));
    let body = parser.top()?;
    parser.define(main, body, 0)?;
    let templates = parser.templates;
    Ok(Program { source, tainted_ranges, templates, parts: 0, id: 0 })
}

struct Parser<'a> {
    source: &'a [u8],
    tokens: Vec<Token>,
    lex_error: Option<ParseError>,
    /// The index of the next token.
    at: usize,
    /// The number of open actions and parentheses.
    nesting: usize,
    /// The variables that are visible at this place.
    variables: Vec<VariableId>,
    variable_numbers: HashMap<Vec<u8>, VariableId>,
    /// The number of open `range` actions.
    range_nesting: usize,
    templates: Vec<(Text, Option<Body>)>,
    names: HashMap<Text, TemplateId>,
}

/// The action that ended a list of nodes.
enum End {
    /// `{{ end }}`
    Whole,
    /// `{{ else }}`
    Else,
    /// `{{ else if`. The rest of the action is not read yet.
    ElseIf,
    /// `{{ else with`. The rest of the action is not read yet.
    ElseWith,
}

/// The kind of a choice.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ChoiceKind {
    If,
    With,
}

impl Parser<'_> {
    /// Parses the whole text.
    fn top(&mut self) -> Result<Body, ParseError> {
        let mut body = Body::new();
        loop {
            let token = self.next_non_space();
            match token.kind {
                TokenKind::EndOfText if self.lex_error.is_none() => return Ok(body),
                TokenKind::Text => body.push(Node::Text(token.start..token.end)),
                TokenKind::LeftDelimiter if self.peek_non_space().kind == TokenKind::Define => {
                    self.next_non_space();
                    self.definition()?;
                }
                TokenKind::LeftDelimiter => match self.action()? {
                    ParsedAction::Node(node) => body.push(node),
                    ParsedAction::End(End::Whole) => return Err(ParseError::new(token.start, "unexpected {{end}}")),
                    ParsedAction::End(_) => return Err(ParseError::new(token.start, "unexpected {{else}}")),
                },
                _ => return Err(self.unexpected(token, "input")),
            }
        }
    }

    /// Parses `{{ define "name" }} ... {{ end }}`, from the name on.
    fn definition(&mut self) -> Result<(), ParseError> {
        let context = "define clause";
        let token = self.next_non_space();
        let id = self.template_name(token, context)?;
        self.expect(TokenKind::RightDelimiter, context)?;
        let body = self.separate_body(context)?;
        self.define(id, body, token.start)
    }

    /// Parses the body of a separate template: the variables and loops around it do not apply inside.
    fn separate_body(&mut self, context: &str) -> Result<Body, ParseError> {
        let variables = std::mem::replace(&mut self.variables, vec![tree::ROOT_VARIABLE]);
        let range_nesting = std::mem::take(&mut self.range_nesting);
        let (body, end, at) = self.body()?;
        self.variables = variables;
        self.range_nesting = range_nesting;
        match end {
            End::Whole => Ok(body),
            _ => Err(ParseError::new(at, format!("unexpected {{{{else}}}} in {context}"))),
        }
    }

    /// Defines the body of a template. If the template is already defined, one of the two bodies must be empty.
    fn define(&mut self, id: TemplateId, body: Body, at: usize) -> Result<(), ParseError> {
        let is_new_empty = self.is_empty(&body);
        let is_old_empty = self.templates[id].1.as_ref().is_none_or(|old| self.is_empty(old));
        if is_old_empty {
            self.templates[id].1 = Some(body);
        } else if !is_new_empty {
            let name = self.templates[id].0.to_str();
            return Err(ParseError::new(at, format!("multiple definition of template {name:?}")));
        }
        Ok(())
    }

    /// Whether the body contains only blanks.
    fn is_empty(&self, body: &Body) -> bool {
        body.iter().all(|node| match node {
            Node::Text(range) => {
                let text = self.source.get(range.clone()).unwrap_or_default();
                String::from_utf8_lossy(text).trim().is_empty()
            }
            _ => false,
        })
    }

    /// Parses nodes up to `{{ end }}` or `{{ else`. Returns the place of that action, too.
    fn body(&mut self) -> Result<(Body, End, usize), ParseError> {
        let at = self.peek_non_space().start;
        self.nesting += 1;
        if self.nesting > NESTING_MAX {
            return Err(ParseError::new(at, format!("nested more than {NESTING_MAX} levels deep")));
        }
        let mut body = Body::new();
        loop {
            let token = self.next_non_space();
            match token.kind {
                TokenKind::Text => body.push(Node::Text(token.start..token.end)),
                TokenKind::LeftDelimiter => match self.action()? {
                    ParsedAction::Node(node) => body.push(node),
                    ParsedAction::End(end) => {
                        self.nesting -= 1;
                        return Ok((body, end, token.start));
                    }
                },
                TokenKind::EndOfText if self.lex_error.is_none() => {
                    return Err(ParseError::new(token.start, "unexpected EOF"));
                }
                _ => return Err(self.unexpected(token, "input")),
            }
        }
    }

    /// Parses an action. The left delimiter is already read.
    fn action(&mut self) -> Result<ParsedAction, ParseError> {
        let token = self.next_non_space();
        let node = match token.kind {
            TokenKind::End => {
                self.expect(TokenKind::RightDelimiter, "end")?;
                return Ok(ParsedAction::End(End::Whole));
            }
            TokenKind::Else => return self.else_clause().map(ParsedAction::End),
            TokenKind::If => Node::If(self.choice(ChoiceKind::If)?),
            TokenKind::With => Node::With(self.choice(ChoiceKind::With)?),
            TokenKind::Range => Node::Range(Box::new(self.range()?)),
            TokenKind::Block => self.block()?,
            TokenKind::Template => self.template_call()?,
            TokenKind::Break => self.jump(token, "{{break}}", Node::Break)?,
            TokenKind::Continue => self.jump(token, "{{continue}}", Node::Continue)?,
            _ => {
                self.at -= 1;
                Node::Action(self.pipeline("command", TokenKind::RightDelimiter)?)
            }
        };
        Ok(ParsedAction::Node(node))
    }

    fn else_clause(&mut self) -> Result<End, ParseError> {
        match self.peek_non_space().kind {
            TokenKind::If => Ok(End::ElseIf),
            TokenKind::With => Ok(End::ElseWith),
            _ => self.expect(TokenKind::RightDelimiter, "else").map(|_| End::Else),
        }
    }

    /// Parses `if` or `with`, after the keyword. An `else if` adds a branch to the same choice.
    fn choice(&mut self, kind: ChoiceKind) -> Result<Choice, ParseError> {
        let visible = self.variables.len();
        let context = if kind == ChoiceKind::If { "if" } else { "with" };
        let mut choice = Choice { branches: Vec::new(), otherwise: Body::new() };
        loop {
            let condition = self.pipeline(context, TokenKind::RightDelimiter)?;
            let (body, end, at) = self.body()?;
            choice.branches.push((condition, body));
            match (end, kind) {
                (End::Whole, _) => break,
                (End::ElseIf, ChoiceKind::If) | (End::ElseWith, ChoiceKind::With) => {
                    self.next_non_space();
                }
                (End::Else, _) => {
                    choice.otherwise = self.last_body()?;
                    break;
                }
                _ => return Err(ParseError::new(at, format!("this else does not belong to {{{{{context}}}}}"))),
            }
        }
        self.variables.truncate(visible);
        Ok(choice)
    }

    /// Parses `range`, after the keyword.
    fn range(&mut self) -> Result<Loop, ParseError> {
        let visible = self.variables.len();
        let items = self.pipeline("range", TokenKind::RightDelimiter)?;
        self.range_nesting += 1;
        let (body, end, at) = self.body()?;
        self.range_nesting -= 1;
        let otherwise = match end {
            End::Whole => Body::new(),
            End::Else => self.last_body()?,
            _ => return Err(ParseError::new(at, "this else does not belong to {{range}}")),
        };
        self.variables.truncate(visible);
        Ok(Loop { items, body, otherwise })
    }

    /// Parses the body after `{{ else }}`.
    fn last_body(&mut self) -> Result<Body, ParseError> {
        match self.body()? {
            (body, End::Whole, _) => Ok(body),
            (_, _, at) => Err(ParseError::new(at, "expected end; found {{else}}")),
        }
    }

    /// Parses `block`, after the keyword: it defines a template and calls it.
    fn block(&mut self) -> Result<Node, ParseError> {
        let context = "block clause";
        let token = self.next_non_space();
        let id = self.template_name(token, context)?;
        let argument = self.pipeline(context, TokenKind::RightDelimiter)?;
        let body = self.separate_body(context)?;
        self.define(id, body, token.start)?;
        Ok(Node::Template(Box::new(TemplateCall { at: token.start, id, argument: Some(argument) })))
    }

    /// Parses `template`, after the keyword.
    fn template_call(&mut self) -> Result<Node, ParseError> {
        let context = "template clause";
        let token = self.next_non_space();
        let id = self.template_name(token, context)?;
        let argument = if self.peek_non_space().kind == TokenKind::RightDelimiter {
            self.next_non_space();
            None
        } else {
            Some(self.pipeline(context, TokenKind::RightDelimiter)?)
        };
        Ok(Node::Template(Box::new(TemplateCall { at: token.start, id, argument })))
    }

    fn template_name(&mut self, token: Token, context: &str) -> Result<TemplateId, ParseError> {
        if !matches!(token.kind, TokenKind::QuotedText | TokenKind::RawText) {
            return Err(self.unexpected(token, context));
        }
        let name = self.unquoted(token)?;
        Ok(self.template_id(name))
    }

    fn jump(&mut self, token: Token, word: &str, node: Node) -> Result<Node, ParseError> {
        self.expect(TokenKind::RightDelimiter, word)?;
        if self.range_nesting == 0 {
            return Err(ParseError::new(token.start, format!("{word} outside {{{{range}}}}")));
        }
        Ok(node)
    }

    fn template_id(&mut self, name: Text) -> TemplateId {
        let next = self.templates.len();
        let id = *self.names.entry(name.clone()).or_insert(next);
        if id == next {
            self.templates.push((name, None));
        }
        id
    }

    /// The content of a text constant.
    fn unquoted(&self, token: Token) -> Result<Text, ParseError> {
        quote::unquote(self.text(token)).map(Text::from).ok_or_else(|| ParseError::new(token.start, "invalid syntax"))
    }

    fn text(&self, token: Token) -> &[u8] {
        self.source.get(token.start..token.end).unwrap_or_default()
    }

    /// The next token. At the end of the text always [`TokenKind::EndOfText`].
    fn next(&mut self) -> Token {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn peek(&self) -> Token {
        let end = Token { kind: TokenKind::EndOfText, start: self.source.len(), end: self.source.len() };
        self.tokens.get(self.at).copied().unwrap_or(end)
    }

    fn next_non_space(&mut self) -> Token {
        self.skip_space();
        self.next()
    }

    fn peek_non_space(&mut self) -> Token {
        self.skip_space();
        self.peek()
    }

    fn skip_space(&mut self) {
        while self.peek().kind == TokenKind::Space {
            self.at += 1;
        }
    }

    fn expect(&mut self, kind: TokenKind, context: &str) -> Result<Token, ParseError> {
        let token = self.next_non_space();
        if token.kind == kind { Ok(token) } else { Err(self.unexpected(token, context)) }
    }

    fn unexpected(&self, token: Token, context: &str) -> ParseError {
        let text = String::from_utf8_lossy(self.text(token));
        let found = match token.kind {
            TokenKind::EndOfText => match &self.lex_error {
                Some(error) => return error.clone(),
                None => "EOF".to_owned(),
            },
            TokenKind::Dot
            | TokenKind::Block
            | TokenKind::Break
            | TokenKind::Continue
            | TokenKind::Define
            | TokenKind::Else
            | TokenKind::End
            | TokenKind::If
            | TokenKind::Nil
            | TokenKind::Range
            | TokenKind::Template
            | TokenKind::With => format!("<{text}>"),
            _ => format!("{text:?}"),
        };
        ParseError::new(token.start, format!("unexpected {found} in {context}"))
    }
}

/// An action, or the end of a list of nodes.
enum ParsedAction {
    Node(Node),
    End(End),
}
