//! Parses pipelines: declarations, commands and operands.

use super::lex::{Token, TokenKind};
use super::tree::{Command, Field, Operand, Path, Pipeline, Term, VariableId};
use super::{NESTING_MAX, ParseError, Parser, VARIABLES_MAX, number};
use crate::names::{self, Name};
use crate::text::Text;
use crate::value::{Key, Value};

impl Parser<'_> {
    /// Parses a pipeline and the token that ends it.
    pub(super) fn pipeline(&mut self, context: &str, end: TokenKind) -> Result<Pipeline, ParseError> {
        let at = self.peek_non_space().start;
        self.nesting += 1;
        if self.nesting > NESTING_MAX {
            return Err(ParseError::new(at, format!("nested more than {NESTING_MAX} levels deep")));
        }
        let mut pipeline =
            Pipeline { at, variables: Vec::new(), assigns: false, commands: Vec::new(), cached_prefix: None };
        while self.declaration(&mut pipeline, context)? {}
        loop {
            let token = self.next_non_space();
            match token.kind {
                kind if kind == end => break,
                kind if begins_operand(kind) => {
                    self.at -= 1;
                    let command = self.command()?;
                    pipeline.commands.push(command);
                }
                _ => return Err(self.unexpected(token, context)),
            }
        }
        check_commands(&pipeline, context)?;
        self.nesting -= 1;
        Ok(pipeline)
    }

    /// Parses `$x :=`, `$x =` or `$x,`, if there is one. Returns `true` if another variable must follow.
    fn declaration(&mut self, pipeline: &mut Pipeline, context: &str) -> Result<bool, ParseError> {
        let variable = self.peek_non_space();
        if variable.kind != TokenKind::Variable {
            return Ok(false);
        }
        let back = self.at;
        self.next();
        let sign = self.peek_non_space();
        let is_comma = sign.kind == TokenKind::Character && self.text(sign) == b",";
        if !is_comma && !matches!(sign.kind, TokenKind::Assign | TokenKind::Declare) {
            self.at = back;
            return Ok(false);
        }
        self.next();
        let number = self.variable_number(variable);
        pipeline.variables.push(number);
        if sign.kind != TokenKind::Assign || !self.variables.contains(&number) {
            self.variables.push(number);
        }
        if self.variables.len() > VARIABLES_MAX {
            return Err(ParseError::new(variable.start, format!("more than {VARIABLES_MAX} variables at once")));
        }
        if !is_comma {
            pipeline.assigns = sign.kind == TokenKind::Assign;
            return Ok(false);
        }
        if context != "range" || pipeline.variables.len() > 1 {
            return Err(ParseError::new(sign.start, format!("too many declarations in {context}")));
        }
        match self.peek_non_space().kind {
            TokenKind::Variable | TokenKind::RightDelimiter | TokenKind::RightParenthesis => Ok(true),
            _ => Err(ParseError::new(sign.start, "range can only initialize variables")),
        }
    }

    fn variable_number(&mut self, token: Token) -> VariableId {
        let name = self.text(token).to_vec();
        let next = VariableId::try_from(self.variable_numbers.len()).unwrap_or(VariableId::MAX);
        *self.variable_numbers.entry(name).or_insert(next)
    }

    /// Parses operands up to `|` or the end of the pipeline.
    fn command(&mut self) -> Result<Command, ParseError> {
        let mut operands = Vec::new();
        loop {
            self.skip_space();
            operands.extend(self.operand()?);
            let token = self.next();
            match token.kind {
                TokenKind::Space => {}
                TokenKind::RightDelimiter | TokenKind::RightParenthesis => {
                    self.at -= 1;
                    break;
                }
                TokenKind::Pipe => break,
                _ => return Err(self.unexpected(token, "operand")),
            }
        }
        let mut operands = operands.into_iter();
        match operands.next() {
            Some(first) => Ok(Command { first, arguments: operands.collect() }),
            None => Err(ParseError::new(self.peek().start, "empty command")),
        }
    }

    /// Parses a term with the fields after it. None if there is no term.
    fn operand(&mut self) -> Result<Option<Operand>, ParseError> {
        let Some(mut operand) = self.term()? else {
            return Ok(None);
        };
        if self.peek().kind != TokenKind::Field {
            return Ok(Some(operand));
        }
        let mut fields = Vec::new();
        while self.peek().kind == TokenKind::Field {
            let token = self.next();
            fields.push(self.field(token));
        }
        operand.term = match operand.term {
            Term::Field(first) => Term::Field(first.into_iter().chain(fields).collect()),
            Term::Variable(variable, _) => Term::Variable(variable, fields.into()),
            Term::Dot | Term::Nil | Term::Constant(_) | Term::Number(_) => {
                let at = fields.first().map_or(operand.at, |field| field.at);
                return Err(ParseError::new(at, "unexpected . after a constant or `.`"));
            }
            term => Term::Chain(Box::new(Operand { at: operand.at, term }), fields.into()),
        };
        Ok(Some(operand))
    }

    fn term(&mut self) -> Result<Option<Operand>, ParseError> {
        let token = self.next_non_space();
        let term = match token.kind {
            TokenKind::Identifier => Term::Function(self.function(token)?),
            TokenKind::Dot => Term::Dot,
            TokenKind::Nil => Term::Nil,
            TokenKind::Variable => Term::Variable(self.visible_variable(token)?, Path::default()),
            TokenKind::Field => Term::Field([self.field(token)].into()),
            TokenKind::Bool => Term::Constant(Value::Bool(self.text(token) == b"true")),
            TokenKind::CharacterConstant | TokenKind::Complex | TokenKind::Number => Term::Number(self.number(token)?),
            TokenKind::LeftParenthesis => {
                Term::Pipeline(Box::new(self.pipeline("parenthesized pipeline", TokenKind::RightParenthesis)?))
            }
            TokenKind::QuotedText | TokenKind::RawText => Term::Constant(Value::Text(self.unquoted(token)?)),
            _ => {
                self.at -= 1;
                return Ok(None);
            }
        };
        Ok(Some(Operand { at: token.start, term }))
    }

    fn function(&self, token: Token) -> Result<names::Callee, ParseError> {
        let name = String::from_utf8_lossy(self.text(token));
        match names::find(&name) {
            Name::Callee(callee) => Ok(callee),
            Name::Forbidden(reason) => Err(ParseError::new(token.start, format!("`{name}` {reason}"))),
            Name::Unknown => Err(ParseError::new(token.start, format!("function {name:?} not defined"))),
        }
    }

    fn visible_variable(&mut self, token: Token) -> Result<VariableId, ParseError> {
        let number = self.variable_number(token);
        if self.variables.contains(&number) {
            return Ok(number);
        }
        let name = String::from_utf8_lossy(self.text(token));
        Err(ParseError::new(token.start, format!("undefined variable {name:?}")))
    }

    fn field(&self, token: Token) -> Field {
        let name = self.text(token).get(1..).unwrap_or_default();
        Field { at: token.start, name: Key::Text(Text::from(name)) }
    }

    fn number(&self, token: Token) -> Result<super::tree::Number, ParseError> {
        let text = self.text(token);
        let written = String::from_utf8_lossy(text);
        let number = match token.kind {
            TokenKind::CharacterConstant => number::character(text),
            TokenKind::Complex => number::complex_number(&written),
            _ => number::number(&written),
        };
        number.map_err(|message| ParseError::new(token.start, message))
    }
}

/// Checks that only the first command of a pipeline is a term without arguments.
fn check_commands(pipeline: &Pipeline, context: &str) -> Result<(), ParseError> {
    if pipeline.commands.is_empty() {
        return Err(ParseError::new(pipeline.at, format!("missing value for {context}")));
    }
    for (stage, command) in pipeline.commands.iter().enumerate().skip(1) {
        if matches!(command.first.term, Term::Dot | Term::Nil | Term::Constant(_) | Term::Number(_)) {
            let message = format!("non executable command in pipeline stage {}", stage + 1);
            return Err(ParseError::new(command.first.at, message));
        }
    }
    Ok(())
}

fn begins_operand(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Bool
            | TokenKind::CharacterConstant
            | TokenKind::Complex
            | TokenKind::Dot
            | TokenKind::Field
            | TokenKind::Identifier
            | TokenKind::Number
            | TokenKind::Nil
            | TokenKind::RawText
            | TokenKind::QuotedText
            | TokenKind::Variable
            | TokenKind::LeftParenthesis
    )
}
