//! Reads the fields of a state file strictly: every field must be known, and every error has its line.

use std::str::FromStr;
use std::sync::Arc;

use model::source::Positions;
use model::yaml::{Node, Options, Resolved, Span, read};

pub use crate::state_file::StateFileError;

/// A state file.
pub(crate) struct StateFile<'f> {
    /// The path.
    pub(crate) path: &'f str,
    /// The content.
    pub(crate) text: &'f str,
}

impl StateFile<'_> {
    pub(crate) fn error(&self, span: Span, message: impl Into<String>) -> StateFileError {
        let at = Positions::new(self.text.as_bytes()).of(span.start as usize);
        StateFileError { file: self.path.into(), line: at.line, column: at.column, message: message.into() }
    }

    /// The only document of the file.
    pub(crate) fn root(&self) -> Result<Node, StateFileError> {
        let mut reading = read(self.text, &Options::OBJECTS);
        if let Some(problem) = reading.problems.first() {
            return Err(self.error(problem.span, problem.message.clone()));
        }
        match (reading.documents.pop(), reading.documents.len()) {
            (Some(document), 0) => Ok(document.root),
            (Some(document), _) => Err(self.error(document.root.span, "the file has more than one document")),
            (None, _) => Err(self.error(Span::default(), "the file is empty")),
        }
    }
}

/// A value of a state file.
#[derive(Clone, Copy)]
pub(crate) struct Item<'a> {
    pub(crate) file: &'a StateFile<'a>,
    pub(crate) node: &'a Node,
}

/// A mapping whose keys are all known.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a>(Item<'a>);

impl<'a> Item<'a> {
    pub(crate) fn error(&self, message: impl Into<String>) -> StateFileError {
        self.file.error(self.node.span, message)
    }

    fn with(&self, node: &'a Node) -> Self {
        Self { file: self.file, node }
    }

    /// The value as a mapping that has no other keys than these.
    pub(crate) fn fields(&self, known: &[&str]) -> Result<Fields<'a>, StateFileError> {
        let entries = self.node.as_mapping().ok_or_else(|| self.error("fields are expected"))?;
        for (key, _) in entries {
            let name = self.with(key).text()?;
            if !known.contains(&&*name) {
                return Err(self.with(key).error(format!("unknown field `{name}`")));
            }
        }
        Ok(Fields(*self))
    }

    /// The entries of a mapping with keys of any name.
    pub(crate) fn entries(&self) -> Result<Vec<(Arc<str>, Self)>, StateFileError> {
        let entries = self.node.as_mapping().ok_or_else(|| self.error("fields are expected"))?;
        entries.iter().map(|(key, value)| Ok((self.with(key).text()?, self.with(value)))).collect()
    }

    /// The items of a list, read with `one`.
    pub(crate) fn list<T>(&self, one: impl Fn(Self) -> Result<T, StateFileError>) -> Result<Vec<T>, StateFileError> {
        let items = self.node.as_sequence().ok_or_else(|| self.error("a list is expected"))?;
        items.iter().map(|item| one(self.with(item))).collect()
    }

    pub(crate) fn text(&self) -> Result<Arc<str>, StateFileError> {
        match self.node.as_scalar().map(|scalar| scalar.resolve()) {
            Some(Resolved::Text(text)) => Ok(text.into()),
            _ => Err(self.error("a text is expected")),
        }
    }

    pub(crate) fn number(&self) -> Result<u64, StateFileError> {
        let number = match self.node.as_scalar().map(|scalar| scalar.resolve()) {
            Some(Resolved::Int(number)) => u64::try_from(number).ok(),
            Some(Resolved::Uint(number)) => Some(number),
            _ => None,
        };
        number.ok_or_else(|| self.error("a number is expected that is not negative"))
    }

    pub(crate) fn boolean(&self) -> Result<bool, StateFileError> {
        match self.node.as_scalar().map(|scalar| scalar.resolve()) {
            Some(Resolved::Bool(value)) => Ok(value),
            _ => Err(self.error("`true` or `false` is expected")),
        }
    }

    /// A text in the form of a type. `form`: the form in words.
    pub(crate) fn parsed<T: FromStr>(&self, form: &str) -> Result<T, StateFileError> {
        self.text()?.parse().map_err(|_| self.error(format!("{form} is expected")))
    }
}

impl<'a> Fields<'a> {
    pub(crate) fn optional(&self, key: &str) -> Option<Item<'a>> {
        self.0.node.get(key).map(|node| self.0.with(node))
    }

    pub(crate) fn required(&self, key: &str) -> Result<Item<'a>, StateFileError> {
        self.optional(key).ok_or_else(|| self.error(format!("field `{key}` is missing")))
    }

    /// The value of an optional field, read with `one`.
    pub(crate) fn maybe<T>(
        &self,
        key: &str,
        one: impl Fn(Item<'a>) -> Result<T, StateFileError>,
    ) -> Result<Option<T>, StateFileError> {
        self.optional(key).map(one).transpose()
    }

    /// The items of an optional list, read with `one`.
    pub(crate) fn list<T>(
        &self,
        key: &str,
        one: impl Fn(Item<'a>) -> Result<T, StateFileError>,
    ) -> Result<Vec<T>, StateFileError> {
        self.optional(key).map_or_else(|| Ok(Vec::new()), |item| item.list(one))
    }

    pub(crate) fn error(&self, message: impl Into<String>) -> StateFileError {
        self.0.error(message)
    }
}
