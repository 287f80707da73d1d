//! Templates: parsed once, rendered many times.

use std::sync::Arc;

use crate::error::{ErrorKind, Place, TemplateError};
use crate::exec;
use crate::fuel::{Exhausted, Fuel, Limits};
use crate::function::Failure;
use crate::heap::Heap;
use crate::parse::{self, tree::Program};
use crate::value::Value;
use crate::written::Written;

/// A parsed template. Can be shared between threads.
#[derive(Debug)]
pub struct Template {
    name: Arc<str>,
    program: Program,
}

impl Template {
    /// Parses a text.
    ///
    /// # Errors
    /// The first mistake in the text, a function that does not exist, or one whose result would depend on the machine, the moment or chance.
    pub fn parse(name: &str, text: &str) -> Result<Self, TemplateError> {
        Self::parse_bytes(name, Arc::from(text.as_bytes()), 0)
    }

    fn parse_bytes(name: &str, source: Arc<[u8]>, pass: u32) -> Result<Self, TemplateError> {
        let program = parse::parse(name, Arc::clone(&source)).map_err(|error| {
            let place = Place { template: name, source: &source, at: error.at, pass };
            TemplateError::new(place, ErrorKind::Parse, error.message)
        })?;
        Ok(Self { name: Arc::from(name), program })
    }

    /// The name it was parsed with.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Renders once.
    ///
    /// # Errors
    /// The first action that fails, or the limit that was reached.
    pub fn render(&self, dot: &Value, limits: &Limits) -> Result<Vec<u8>, TemplateError> {
        self.execute(dot, &mut Rendering::new(limits, None))
    }

    /// [`Template::render`], faster where `toYaml` is called with a map that other renderings have too.
    ///
    /// # Errors
    /// As [`Template::render`].
    pub fn render_sharing(
        &self,
        dot: &Value,
        limits: &Limits,
        written: &Arc<Written>,
    ) -> Result<Vec<u8>, TemplateError> {
        self.execute(dot, &mut Rendering::new(limits, Some(written)))
    }

    /// Renders, and while the output contains `{{` parses and renders that, with the same dot. What one rendering changes in maps, the next
    /// one sees; the limits are for all together.
    ///
    /// # Errors
    /// As [`Template::render`], in whichever text; or [`Limits::passes`] was reached.
    pub fn render_nested(&self, dot: &Value, limits: &Limits) -> Result<Vec<u8>, TemplateError> {
        self.nested(dot, limits, Rendering::new(limits, None))
    }

    /// [`Template::render_nested`], faster where `toYaml` is called with a map that other renderings have too.
    ///
    /// # Errors
    /// As [`Template::render_nested`].
    pub fn render_nested_sharing(
        &self,
        dot: &Value,
        limits: &Limits,
        written: &Arc<Written>,
    ) -> Result<Vec<u8>, TemplateError> {
        self.nested(dot, limits, Rendering::new(limits, Some(written)))
    }

    fn nested(&self, dot: &Value, limits: &Limits, mut rendering: Rendering) -> Result<Vec<u8>, TemplateError> {
        let mut output = self.execute(dot, &mut rendering)?;
        while let Some(at) = memchr::memmem::find(&output, b"{{") {
            rendering.pass += 1;
            let source: Arc<[u8]> = output.into();
            if rendering.pass >= limits.passes {
                let place = Place { template: &self.name, source: &source, at, pass: rendering.pass };
                return Err(TemplateError::new(place, ErrorKind::Limit, Exhausted::Passes(limits.passes).to_string()));
            }
            output = Self::parse_bytes(&self.name, source, rendering.pass)?.execute(dot, &mut rendering)?;
        }
        Ok(output)
    }

    fn execute(&self, dot: &Value, rendering: &mut Rendering) -> Result<Vec<u8>, TemplateError> {
        exec::execute(&self.program, dot, &mut rendering.heap, &mut rendering.fuel).map_err(|stop| {
            let source = &self.program.source;
            let place = Place { template: &self.name, source, at: stop.0.at, pass: rendering.pass };
            match stop.0.failure {
                Failure::Error(message) => TemplateError::new(place, ErrorKind::Execute, message),
                Failure::Exhausted(limit) => TemplateError::new(place, ErrorKind::Limit, limit.to_string()),
            }
        })
    }
}

/// What all passes of one rendering share.
struct Rendering {
    heap: Heap,
    fuel: Fuel,
    pass: u32,
}

impl Rendering {
    fn new(limits: &Limits, written: Option<&Arc<Written>>) -> Self {
        Self { heap: Heap::knowing(written.cloned()), fuel: Fuel::new(*limits), pass: 0 }
    }
}

#[cfg(test)]
mod tests;
