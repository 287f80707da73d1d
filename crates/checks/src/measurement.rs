//! Measurements: what was seen, before it is compared with what is expected.

use std::sync::Arc;

use model::secret::Secret;

/// What was seen. The error is the reason why nothing was.
pub(crate) type Measured = Result<Measurement, String>;

/// What was seen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Measurement {
    /// An answer of an HTTP server.
    Http(HttpAnswer),
    /// The values of all series of a query.
    Prometheus(Vec<f64>),
    /// A command that ended.
    Command(Ended),
}

/// An answer of an HTTP server.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    /// The type that the server names.
    pub(crate) content_type: Option<String>,
    /// The body, or why it is not complete.
    pub(crate) body: Result<Arc<[u8]>, String>,
}

impl HttpAnswer {
    /// The answer without a secret, in case the server repeats it.
    pub(crate) fn without(self, secret: &Secret) -> Self {
        let clean = |body: Arc<[u8]>| match std::str::from_utf8(&body) {
            Ok(text) if !secret.reveal().is_empty() && text.contains(secret.reveal()) => {
                Arc::from(secret.removed_from(text).into_bytes())
            }
            _ => body,
        };
        let body = self.body.map(clean).map_err(|reason| secret.removed_from(&reason));
        let content_type = self.content_type.map(|text| secret.removed_from(&text));
        Self { content_type, body, ..self }
    }
}

/// A command that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) end: CommandEnd,
    /// The last line of its output.
    pub(crate) line: String,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandEnd {
    /// With an exit status.
    Exit(i32),
    /// By a signal. None: the system does not know it.
    Signal(Option<i32>),
}

/// The size of a measurement in memory, in bytes.
pub(crate) fn size(measured: &Measured) -> usize {
    let content = match measured {
        Ok(Measurement::Http(answer)) => answer.body.as_ref().map_or(0, |body| body.len()),
        Ok(Measurement::Prometheus(values)) => values.len() * size_of::<f64>(),
        Ok(Measurement::Command(ended)) => ended.line.len(),
        Err(reason) => reason.len(),
    };
    content + size_of::<Measured>()
}
