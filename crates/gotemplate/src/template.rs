//! Templates: parsed once, rendered many times.

use std::sync::Arc;

use crate::error::{ErrorKind, Place, TemplateError};
use crate::exec;
use crate::fuel::{Exhausted, Fuel, Limits};
use crate::function::Failure;
use crate::heap::Heap;
use crate::parse::{self, tree::Program};
use crate::reads::Reads;
use crate::value::Value;
use crate::written::Written;

/// A parsed template. Can be shared between threads.
#[derive(Debug)]
pub struct Template {
    name: Arc<str>,
    program: Program,
    reads: Reads,
}

/// How to render.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// What all passes together may spend.
    pub limits: Limits,
    /// Whether output that contains `{{` is left as it is instead of being rendered again.
    pub is_literal: bool,
    /// A map that other renderings have too: what `toYaml` and `stringify` make of it is written once for all.
    pub written: Option<&'a Arc<Written>>,
}

/// What a template gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The output.
    pub bytes: Vec<u8>,
    /// How many times it took rendering: above 1, texts were rendered that came out of the data, and [`Template::reads`] knows nothing
    /// of what these read.
    pub passes: u32,
}

impl Template {
    /// Parses a text.
    ///
    /// # Errors
    /// The first mistake in the text, a function that does not exist, or one whose result would depend on the machine, the moment or chance.
    pub fn parse(name: &str, text: &str) -> Result<Self, TemplateError> {
        let program = parse(name, Arc::from(text.as_bytes()), 0)?;
        Ok(Self { name: Arc::from(name), reads: Reads::of(&program), program })
    }

    /// The name it was parsed with.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The fields of the data that it can read, nested renderings of its output aside.
    pub fn reads(&self) -> &Reads {
        &self.reads
    }

    /// Renders once.
    ///
    /// # Errors
    /// The first action that fails, or the limit that was reached.
    pub fn render(&self, dot: &Value, limits: &Limits) -> Result<Vec<u8>, TemplateError> {
        let options = Options { limits: *limits, is_literal: true, written: None };
        self.render_with(dot, &options).map(|rendered| rendered.bytes)
    }

    /// Renders, and while the output contains `{{` parses and renders that, with the same dot. What one rendering changes in maps, the next
    /// one sees; the limits are for all together.
    ///
    /// # Errors
    /// As [`Template::render`], in whichever text; or [`Limits::passes`] was reached.
    pub fn render_nested(&self, dot: &Value, limits: &Limits) -> Result<Vec<u8>, TemplateError> {
        let options = Options { limits: *limits, is_literal: false, written: None };
        self.render_with(dot, &options).map(|rendered| rendered.bytes)
    }

    /// [`Template::render`] or [`Template::render_nested`], and how often that took rendering. An error tells by
    /// [`pass`](TemplateError::pass).
    ///
    /// # Errors
    /// As these.
    pub fn render_with(&self, dot: &Value, options: &Options<'_>) -> Result<Rendered, TemplateError> {
        let limits = &options.limits;
        let mut rendering =
            Rendering { heap: Heap::knowing(options.written.cloned()), fuel: Fuel::new(*limits), pass: 0 };
        let mut output = execute(&self.name, &self.program, dot, &mut rendering)?;
        while !options.is_literal
            && let Some(at) = memchr::memmem::find(&output, b"{{")
        {
            rendering.pass += 1;
            let source: Arc<[u8]> = output.into();
            if rendering.pass >= limits.passes {
                let place = Place { template: &self.name, source: &source, at, pass: rendering.pass };
                return Err(TemplateError::new(place, ErrorKind::Limit, Exhausted::Passes(limits.passes).to_string()));
            }
            let program = parse(&self.name, source, rendering.pass)?;
            output = execute(&self.name, &program, dot, &mut rendering)?;
        }
        Ok(Rendered { bytes: output, passes: rendering.pass + 1 })
    }
}

fn parse(name: &str, source: Arc<[u8]>, pass: u32) -> Result<Program, TemplateError> {
    parse::parse(name, Arc::clone(&source)).map_err(|error| {
        let place = Place { template: name, source: &source, at: error.at, pass };
        TemplateError::new(place, ErrorKind::Parse, error.message)
    })
}

fn execute(name: &str, program: &Program, dot: &Value, rendering: &mut Rendering) -> Result<Vec<u8>, TemplateError> {
    exec::execute(program, dot, &mut rendering.heap, &mut rendering.fuel).map_err(|stop| {
        let place = Place { template: name, source: &program.source, at: stop.0.at, pass: rendering.pass };
        match stop.0.failure {
            Failure::Error(message) => TemplateError::new(place, ErrorKind::Execute, message),
            Failure::Exhausted(limit) => TemplateError::new(place, ErrorKind::Limit, limit.to_string()),
        }
    })
}

/// What all passes of one rendering share.
struct Rendering {
    heap: Heap,
    fuel: Fuel,
    pass: u32,
}

#[cfg(test)]
mod tests;
