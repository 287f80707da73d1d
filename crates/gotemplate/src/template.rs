//! Templates: parsed once, rendered many times.

use std::sync::Arc;

use crate::budget::{Budget, Exhausted, RenderLimits};
use crate::error::{ErrorKind, ErrorPlace, TemplateError};
use crate::exec::Run;
use crate::function::FunctionError;
use crate::map_changes::MapChanges;
use crate::parse::{self, ParseError, tree::Program};
use crate::part_cache::PartCache;
use crate::reads::Reads;
use crate::references::{self, Refusal};
use crate::taint::{Output, SharedPart, TaintedRange};
use crate::value::Value;

/// A parsed template. Can be shared between threads.
#[derive(Debug)]
pub struct Template {
    name: Arc<str>,
    program: Program,
    reads: Reads,
}

/// The options of a rendering.
#[derive(Clone, Copy, Debug, Default)]
pub struct RenderOptions<'a> {
    /// The limits of all passes together.
    pub limits: RenderLimits,
    /// Whether output that contains `{{` stays as it is. Otherwise it is rendered again.
    pub is_literal: bool,
    /// A cache for renderings whose data have the same map in one field. Parts of the template that read only this field are rendered once for all.
    pub part_cache: Option<&'a Arc<PartCache>>,
    /// The top-level fields of the data that tainted text may refer to, as in `{{ .Name }}`. These references are replaced before output is rendered again.
    /// All other text in tainted text that looks like an action is an error, unless the output is literal.
    pub references: &'a [&'a str],
    /// Whether looking up a field that a map does not have is an error, as with the option `missingkey=error` in Go. Otherwise its value is missing, as in text
    /// that is rendered again.
    pub requires_keys: bool,
}

/// The result of a rendering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The output.
    pub bytes: Vec<u8>,
    /// The number of passes. Above 1, text that came out of the data was rendered too, and [`Template::reads`] does not cover the fields that this
    /// text reads.
    pub passes: u32,
    /// The ranges of the output that come from tainted texts, in order.
    pub tainted_ranges: Vec<TaintedRange>,
    /// The long parts of the output that other renderings with the same [`PartCache`] share, in order.
    pub shared_parts: Vec<SharedPart>,
    /// The missing values that were printed, such as `<no value>`, each place once.
    pub missing: Vec<MissingField>,
}

/// A place in a template that printed a missing value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MissingField {
    /// The field as the template writes it, such as `.Manifests.branch`. For other values that are missing, the whole action.
    pub field: String,
    /// Line and column in the template, both from 1. None if output was rendered again, and its text prints the value.
    pub position: Option<(usize, usize)>,
}

impl MissingField {
    /// The field, or the action, that begins at a place.
    fn from_place(place: ErrorPlace<'_>) -> Self {
        let rest = place.source.get(place.at..).unwrap_or_default();
        let is_of_field =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$') || !byte.is_ascii();
        let end = if rest.starts_with(b".") || rest.starts_with(b"$") {
            rest.iter().position(|byte| !is_of_field(byte))
        } else {
            rest.windows(2).position(|two| two == b"}}")
        };
        let written = String::from_utf8_lossy(rest.get(..end.unwrap_or(rest.len())).unwrap_or_default());
        let field = written.trim_end_matches(['-', ' ', '\n', '\t']).to_owned();
        Self { field, position: (place.pass == 0).then(|| place.line_and_column()) }
    }
}

impl Template {
    /// Parses the text of a template. `name` appears in errors.
    ///
    /// # Errors
    /// Returns the first syntax error, the use of a function that does not exist, or the use of a function whose result would depend on the machine,
    /// the time or chance.
    pub fn parse(name: &str, text: &str) -> Result<Self, TemplateError> {
        let source: Arc<[u8]> = Arc::from(text.as_bytes());
        let mut program = parse::parse(name, Arc::clone(&source), Vec::new())
            .map_err(|error| syntax_error(name, &source, 0, error))?;
        parse::mark(&mut program);
        Ok(Self { name: Arc::from(name), reads: Reads::from_program(&program), program })
    }

    /// The name that was given to [`Template::parse`].
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The fields of the data that the template can read. Fields that are read when its output is rendered again are not included.
    pub fn reads(&self) -> &Reads {
        &self.reads
    }

    /// Whether all branches and loops of the template depend on this field of the data. Then renderings with the same value in this field print each line from
    /// the same place of the template.
    pub fn is_straight(&self, field: &str) -> bool {
        self.program.is_straight(field)
    }

    /// Renders the template with `dot` as its data, in one pass.
    ///
    /// # Errors
    /// Returns an error if an action fails or a limit is reached.
    pub fn render(&self, dot: &Value, limits: &RenderLimits) -> Result<Vec<u8>, TemplateError> {
        let options = RenderOptions { limits: *limits, is_literal: true, ..RenderOptions::default() };
        self.render_with(dot, &options).map(|rendered| rendered.bytes)
    }

    /// Renders the template. While the output contains `{{`, it is parsed and rendered again, with the same dot.
    /// Changes that one pass makes to maps are visible in the next pass. The limits apply to all passes together. Tainted texts are data in every pass.
    ///
    /// # Errors
    /// Returns the errors of [`Template::render`], for each pass, and an error if [`RenderLimits::passes`] is reached.
    pub fn render_nested(&self, dot: &Value, limits: &RenderLimits) -> Result<Vec<u8>, TemplateError> {
        let options = RenderOptions { limits: *limits, ..RenderOptions::default() };
        self.render_with(dot, &options).map(|rendered| rendered.bytes)
    }

    /// Renders like [`Template::render`] or [`Template::render_nested`], depending on the options. Returns the number of passes and the tainted ranges too.
    ///
    /// # Errors
    /// Returns the errors of these functions. [`TemplateError::pass`] is the pass that failed.
    pub fn render_with(&self, dot: &Value, options: &RenderOptions<'_>) -> Result<Rendered, TemplateError> {
        let limits = &options.limits;
        let mut rendering = Rendering {
            dot,
            options,
            changes: MapChanges::with_cache(options.part_cache.cloned()),
            budget: Budget::new(*limits),
            pass: 0,
            missing: Vec::new(),
        };
        let mut output = execute(&self.name, &self.program, &mut rendering)?;
        while !options.is_literal
            && let Some(at) = references::find(&output)
        {
            rendering.pass += 1;
            if rendering.pass >= limits.passes {
                let place = ErrorPlace { template: &self.name, source: &output.bytes, at, pass: rendering.pass };
                return Err(TemplateError::new(place, ErrorKind::Limit, Exhausted::Passes(limits.passes).to_string()));
            }
            output = self.replaced(output, &mut rendering)?;
            if references::find(&output).is_none() {
                break;
            }
            let source: Arc<[u8]> = output.bytes.into();
            let program = parse::parse(&self.name, Arc::clone(&source), output.tainted_ranges)
                .map_err(|error| syntax_error(&self.name, &source, rendering.pass, error))?;
            output = execute(&self.name, &program, &mut rendering)?;
        }
        let Rendering { pass, missing, .. } = rendering;
        let Output { bytes, tainted_ranges, shared_parts, .. } = output;
        Ok(Rendered { bytes, passes: pass + 1, tainted_ranges, shared_parts, missing })
    }

    /// Returns the places in the template that write these bytes of the first pass's output: line and column, both from 1.
    /// For literal text this is the place of the byte itself, otherwise the place of the action. None where the output has no such byte.
    pub fn source_positions(&self, bytes: &[usize], dot: &Value, limits: &RenderLimits) -> Vec<Option<(usize, usize)>> {
        let (mut changes, mut budget) = (MapChanges::default(), Budget::new(*limits));
        let positions = Run::new(&self.program, dot, &mut changes, &mut budget).source_positions(bytes);
        let place = |at| ErrorPlace { template: &self.name, source: &self.program.source, at, pass: 0 };
        positions.into_iter().map(|position| Some(place(position?).line_and_column())).collect()
    }

    /// Replaces the plain references in the tainted parts of an output by their values.
    fn replaced(&self, output: Output, rendering: &mut Rendering<'_>) -> Result<Output, TemplateError> {
        if output.tainted_ranges.is_empty() {
            return Ok(output);
        }
        let source = output.bytes.clone();
        let names = rendering.options.references;
        references::replaced(output, rendering.dot, names, &mut rendering.budget).map_err(|refusal| {
            let place = |at| ErrorPlace { template: &self.name, source: &source, at, pass: rendering.pass };
            match refusal {
                Refusal::Exhausted(limit) => TemplateError::new(place(0), ErrorKind::Limit, limit.to_string()),
                Refusal::Text(at, refused) => tainted(place(at), refused),
            }
        })
    }
}

fn tainted(place: ErrorPlace<'_>, refused: Vec<String>) -> TemplateError {
    TemplateError { refused, ..TemplateError::new(place, ErrorKind::Tainted, "data would have to be evaluated".into()) }
}

fn syntax_error(name: &str, source: &[u8], pass: u32, error: ParseError) -> TemplateError {
    let place = ErrorPlace { template: name, source, at: error.at, pass };
    match error.refused {
        Some(text) => tainted(place, vec![text]),
        None => TemplateError::new(place, ErrorKind::Parse, error.message),
    }
}

fn execute(name: &str, program: &Program, rendering: &mut Rendering<'_>) -> Result<Output, TemplateError> {
    let pass = rendering.pass;
    let place = |at| ErrorPlace { template: name, source: &program.source, at, pass };
    // Text that comes out of the data is not part of the template.
    let requires_keys = rendering.options.requires_keys && pass == 0;
    let run = Run::new(program, rendering.dot, &mut rendering.changes, &mut rendering.budget);
    let executed = run.render(requires_keys).map_err(|stop| {
        let missing = stop.0.missing.map(|at| MissingField::from_place(place(at)));
        let place = place(stop.0.at);
        match stop.0.failure {
            FunctionError::Error(message) => {
                let missing_field = missing.map(|missing| missing.field);
                TemplateError { missing_field, ..TemplateError::new(place, ErrorKind::Execute, message) }
            }
            FunctionError::Exhausted(limit) => TemplateError::new(place, ErrorKind::Limit, limit.to_string()),
        }
    })?;
    rendering.missing.extend(executed.missing.into_iter().map(|at| MissingField::from_place(place(at))));
    Ok(executed.output)
}

/// The state that all passes of one rendering share.
struct Rendering<'a> {
    dot: &'a Value,
    options: &'a RenderOptions<'a>,
    changes: MapChanges,
    budget: Budget,
    pass: u32,
    missing: Vec<MissingField>,
}

#[cfg(test)]
mod tests;
