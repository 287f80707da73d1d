//! Templates: parsed once, rendered many times.

use std::sync::Arc;

use crate::error::{ErrorKind, Place, TemplateError};
use crate::exec;
use crate::fuel::{Exhausted, Fuel, Limits};
use crate::function::Failure;
use crate::heap::Heap;
use crate::parse::{self, tree::Program};
use crate::text::Text;
use crate::value::Value;

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
    pub fn render(&self, dot: &Value, limits: &Limits) -> Result<Text, TemplateError> {
        let output = self.pass(dot, 0, &mut Heap::default(), &mut Fuel::new(*limits))?;
        Ok(Text::from(output))
    }

    /// Renders, and while the output contains `{{` parses and renders that, with the same dot. What one rendering changes in maps, the next
    /// one sees; the limits are for all together.
    ///
    /// # Errors
    /// As [`Template::render`], in whichever text; or [`Limits::passes`] was reached.
    pub fn render_nested(&self, dot: &Value, limits: &Limits) -> Result<Text, TemplateError> {
        let (mut heap, mut fuel) = (Heap::default(), Fuel::new(*limits));
        let mut output = self.pass(dot, 0, &mut heap, &mut fuel)?;
        let mut pass = 1;
        while let Some(at) = output.windows(2).position(|pair| pair == b"{{") {
            let source: Arc<[u8]> = output.into();
            if pass >= limits.passes {
                let place = Place { template: &self.name, source: &source, at, pass };
                return Err(TemplateError::new(place, ErrorKind::Limit, Exhausted::Passes(limits.passes).to_string()));
            }
            let produced = Self::parse_bytes(&self.name, source, pass)?;
            output = produced.pass(dot, pass, &mut heap, &mut fuel)?;
            pass += 1;
        }
        Ok(Text::from(output))
    }

    fn pass(&self, dot: &Value, pass: u32, heap: &mut Heap, fuel: &mut Fuel) -> Result<Vec<u8>, TemplateError> {
        exec::execute(&self.program, dot, heap, fuel).map_err(|stop| {
            let place = Place { template: &self.name, source: &self.program.source, at: stop.at, pass };
            match stop.failure {
                Failure::Error(message) => TemplateError::new(place, ErrorKind::Execute, message),
                Failure::Exhausted(limit) => TemplateError::new(place, ErrorKind::Limit, limit.to_string()),
            }
        })
    }
}
