//! The reasons why a text can't be used as a schema.

use model::diagnostic::{Code, Diagnostic, FieldPart, Origin};

use crate::schedule::target::SchemaText;

/// The reason why a schema can't be used, and the place in its text, if it is known.
#[derive(Clone, Debug)]
pub(super) struct SchemaError {
    pub(super) reason: String,
    pub(super) part: FieldPart,
    help: Option<String>,
}

impl SchemaError {
    pub(super) fn new(reason: impl Into<String>, part: FieldPart) -> Self {
        Self { reason: reason.into(), part, help: None }
    }

    /// Sets what to do next.
    pub(super) fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    pub(super) fn diagnostic(&self, text: &SchemaText) -> Diagnostic {
        let diagnostic = Diagnostic::error(Code::InvalidSchema, format!("this schema can't be used: {}", self.reason))
            .at(Origin::part(&text.object, text.path.clone(), self.part.clone()), "")
            .about(&text.object);
        match &self.help {
            Some(help) => diagnostic.help(help.clone()),
            None => diagnostic,
        }
    }
}
