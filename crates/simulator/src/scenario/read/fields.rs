//! Strict access to the fields of a scenario: every mistake is reported at its place.

use std::sync::Arc;
use std::time::Duration;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::duration;
use model::similar::nearest;
use model::source::{FileId, Positions};
use model::yaml::{Node, Span};

/// The reader of one file, with the mistakes that it found.
pub(super) struct Reader<'t> {
    file: FileId,
    positions: Positions<'t>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl<'t> Reader<'t> {
    pub(super) fn new(file: FileId, content: &'t [u8]) -> Self {
        Self { file, positions: Positions::new(content), diagnostics: Vec::new() }
    }

    /// Reports a mistake.
    pub(super) fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.diagnostics.push(self.diagnostic(code, span, message));
    }

    /// The diagnostic of a mistake, to which advice can be added.
    pub(super) fn diagnostic(&self, code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, message).at(Origin::Span(self.file, span), "")
    }

    /// The line of a node, from 1.
    pub(super) fn line(&self, node: &Node) -> usize {
        self.positions.position(node.span.range().start).line
    }

    /// The entries of a mapping. Reports another value.
    pub(super) fn mapping<'n>(&mut self, node: &'n Node, what: &str) -> &'n [(Node, Node)] {
        if let Some(entries) = node.as_mapping() {
            return entries;
        }
        self.error(Code::WrongType, node.span, format!("{what} is a mapping"));
        &[]
    }

    /// The entries of a mapping, if each key is one of these. Reports others.
    pub(super) fn fields<'n>(&mut self, node: &'n Node, what: &str, known: &[&str]) -> &'n [(Node, Node)] {
        let entries = self.mapping(node, what);
        for (key, _) in entries {
            let name = text(key);
            if !known.contains(&&*name) {
                let help = match nearest(&name, known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("{what} has {}", listed(known)),
                };
                let message = format!("{what} has no field `{name}`");
                self.diagnostics.push(self.diagnostic(Code::UnknownField, key.span, message).help(help));
            }
        }
        entries
    }

    /// The text of a scalar. Reports another value.
    pub(super) fn text(&mut self, node: &Node, what: &str) -> Arc<str> {
        let found = text(node);
        if found.is_empty() {
            self.error(Code::WrongType, node.span, format!("{what} is a text"));
        }
        found
    }

    /// The texts of a scalar or a list of scalars.
    pub(super) fn texts(&mut self, node: &Node, what: &str) -> Vec<Arc<str>> {
        match node.as_sequence() {
            Some(items) => items.iter().map(|item| self.text(item, what)).collect(),
            None => vec![self.text(node, what)],
        }
    }

    /// A number from 0 to this limit.
    pub(super) fn number(&mut self, node: &Node, what: &str, limit: u32) -> u32 {
        let number = text(node).parse::<u32>().ok().filter(|number| *number <= limit);
        number.unwrap_or_else(|| {
            self.error(Code::WrongType, node.span, format!("{what} is a number from 0 to {limit}"));
            0
        })
    }

    /// A duration, such as `1h30m`.
    pub(super) fn duration(&mut self, node: &Node, what: &str) -> Duration {
        duration::parse(&text(node)).unwrap_or_else(|error| {
            self.error(Code::WrongType, node.span, format!("{what}: {error}"));
            Duration::ZERO
        })
    }
}

/// The text of a scalar. Empty for other nodes.
pub(super) fn text(node: &Node) -> Arc<str> {
    node.as_scalar().map_or_else(|| "".into(), |scalar| Arc::clone(&scalar.text))
}

/// Writes "`a`, `b` and `c`".
pub(super) fn listed(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}
