//! Templates: parsed once, rendered many times.

use std::sync::Arc;

use crate::error::{ErrorKind, Place, TemplateError};
use crate::exec;
use crate::fuel::{Exhausted, Fuel, Limits};
use crate::function::Failure;
use crate::heap::Heap;
use crate::parse::{self, tree::Program};
use crate::reads::Reads;
use crate::references::{self, Refusal};
use crate::shared::Shared;
use crate::taint::{Output, Stretch};
use crate::value::Value;

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
    /// What is shared with other renderings whose data have the same map in a field: parts that read nothing else are made once for all.
    pub shared: Option<&'a Arc<Shared>>,
    /// The top-level fields of the data that tainted text may refer to, as in `{{ .Name }}`: such references are replaced before output is rendered
    /// again. Everything else in tainted text that looks like an action is an error, unless the output is left as it is.
    pub references: &'a [&'a str],
}

/// What a template gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The output.
    pub bytes: Vec<u8>,
    /// How many times it took rendering: above 1, texts were rendered that came out of the data, and [`Template::reads`] knows nothing
    /// of what these read.
    pub passes: u32,
    /// The parts of the output that come from tainted texts, in order.
    pub stretches: Vec<Stretch>,
}

impl Template {
    /// Parses a text.
    ///
    /// # Errors
    /// The first mistake in the text, a function that does not exist, or one whose result would depend on the machine, the moment or chance.
    pub fn parse(name: &str, text: &str) -> Result<Self, TemplateError> {
        let mut program = parse(name, Arc::from(text.as_bytes()), (Vec::new(), 0))?;
        parse::mark(&mut program);
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
        let options = Options { limits: *limits, is_literal: true, ..Options::default() };
        self.render_with(dot, &options).map(|rendered| rendered.bytes)
    }

    /// Renders, and while the output contains `{{` parses and renders that, with the same dot. What one rendering changes in maps, the next
    /// one sees; the limits are for all together. What comes from tainted texts is data in every rendering.
    ///
    /// # Errors
    /// As [`Template::render`], in whichever text; or [`Limits::passes`] was reached.
    pub fn render_nested(&self, dot: &Value, limits: &Limits) -> Result<Vec<u8>, TemplateError> {
        let options = Options { limits: *limits, ..Options::default() };
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
            Rendering { heap: Heap::sharing(options.shared.cloned()), fuel: Fuel::new(*limits), pass: 0 };
        let mut output = execute(&self.name, &self.program, dot, &mut rendering)?;
        while !options.is_literal
            && let Some(at) = references::find(&output)
        {
            rendering.pass += 1;
            if rendering.pass >= limits.passes {
                let place = Place { template: &self.name, source: &output.bytes, at, pass: rendering.pass };
                return Err(TemplateError::new(place, ErrorKind::Limit, Exhausted::Passes(limits.passes).to_string()));
            }
            output = self.replaced(output, (dot, options.references), &mut rendering)?;
            if references::find(&output).is_none() {
                break;
            }
            let program = parse(&self.name, output.bytes.into(), (output.stretches, rendering.pass))?;
            output = execute(&self.name, &program, dot, &mut rendering)?;
        }
        Ok(Rendered { bytes: output.bytes, passes: rendering.pass + 1, stretches: output.stretches })
    }

    /// Where in the text the byte `at` of the first rendering's output is written, as line and column from 1, of what is literal text; else the line
    /// and column of the action that writes it.
    pub fn writer_of(&self, at: usize, dot: &Value, limits: &Limits) -> Option<(usize, usize)> {
        let (mut heap, mut fuel) = (Heap::default(), Fuel::new(*limits));
        let writer = exec::writer_of(at, &self.program, dot, (&mut heap, &mut fuel))?;
        let place = Place { template: &self.name, source: &self.program.source, at: writer, pass: 0 };
        Some(place.line_and_column())
    }

    /// An output with what its tainted parts refer to.
    fn replaced(
        &self,
        output: Output,
        (dot, names): (&Value, &[&str]),
        rendering: &mut Rendering,
    ) -> Result<Output, TemplateError> {
        if output.stretches.is_empty() {
            return Ok(output);
        }
        let source = output.bytes.clone();
        references::replaced(output, dot, names, &mut rendering.fuel).map_err(|refusal| {
            let place = |at| Place { template: &self.name, source: &source, at, pass: rendering.pass };
            match refusal {
                Refusal::Exhausted(limit) => TemplateError::new(place(0), ErrorKind::Limit, limit.to_string()),
                Refusal::Text(at, refused) => tainted(place(at), refused),
            }
        })
    }
}

fn tainted(place: Place<'_>, refused: Vec<String>) -> TemplateError {
    TemplateError { refused, ..TemplateError::new(place, ErrorKind::Tainted, "data would have to be evaluated".into()) }
}

fn parse(name: &str, source: Arc<[u8]>, (stretches, pass): (Vec<Stretch>, u32)) -> Result<Program, TemplateError> {
    parse::parse(name, Arc::clone(&source), stretches).map_err(|error| {
        let place = Place { template: name, source: &source, at: error.at, pass };
        match error.refused {
            Some(text) => tainted(place, vec![text]),
            None => TemplateError::new(place, ErrorKind::Parse, error.message),
        }
    })
}

fn execute(name: &str, program: &Program, dot: &Value, rendering: &mut Rendering) -> Result<Output, TemplateError> {
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
