//! Executes parsed templates, by the rules of Go's text/template.

mod arguments;
mod cache;
mod call;
mod evaluate;
mod fields;
mod missing;
mod number;
mod range;
mod walk;

use std::sync::Arc;

use self::missing::MissingKeys;
use crate::budget::{Budget, Exhausted};
use crate::function::FunctionError;
use crate::map_changes::MapChanges;
use crate::parse::tree::{Program, ROOT_VARIABLE, VariableId};
use crate::part_cache::{PartCache, Slot};
use crate::taint::{Output, Taint};
use crate::value::Value;

/// The reason why a rendering ended early. Boxed, because results are moved far more often than errors occur.
#[derive(Debug)]
pub(crate) struct Stop(pub(crate) Box<Cause>);

/// The failure, and its byte in the text.
#[derive(Debug)]
pub(crate) struct Cause {
    pub(crate) at: usize,
    pub(crate) failure: FunctionError,
    /// The byte of the field whose last key does not exist, if this is the reason.
    pub(crate) missing: Option<usize>,
}

type Eval<T> = Result<T, Stop>;

/// The result of an execution.
pub(crate) struct Executed {
    pub(crate) output: Output,
    /// The bytes of the fields in the text whose missing values were printed.
    pub(crate) missing: Vec<usize>,
}

/// A byte of the output whose position in the template is searched for.
#[derive(Clone, Copy, Debug)]
struct WatchedByte {
    byte: usize,
    position: Option<usize>,
}

/// The cached results that an execution can use.
#[derive(Clone, Copy)]
struct CacheAccess<'a> {
    cache: &'a PartCache,
    /// The places of the program's parts in the cache.
    slots: &'a [Slot],
    /// Whether a part is being computed. Results of parts inside it are not stored.
    is_in_part: bool,
}

/// The state of one execution.
pub(crate) struct Run<'a> {
    program: &'a Program,
    /// The dot of the main template.
    data: &'a Value,
    output: Output,
    /// The variables of all templates that are being executed, the innermost last.
    variables: Vec<(VariableId, Value)>,
    /// The index in `variables` where those of the innermost template begin.
    frame: usize,
    /// The arguments of all calls that are being prepared, the innermost last. One vector for all saves allocations.
    arguments: Vec<Value>,
    /// The number of bodies, templates and parentheses around the current node.
    depth: u32,
    changes: &'a mut MapChanges,
    budget: &'a mut Budget,
    watched: Vec<WatchedByte>,
    cache_access: Option<CacheAccess<'a>>,
    /// Whether looking up a field that a map does not have is an error, as with `missingkey=error` in Go.
    requires_keys: bool,
    missing: MissingKeys,
}

impl<'a> Run<'a> {
    /// The beginning of an execution of the main template of `program`, with `data` as its dot.
    pub(crate) fn new(
        program: &'a Program,
        data: &'a Value,
        changes: &'a mut MapChanges,
        budget: &'a mut Budget,
    ) -> Self {
        let variables = vec![(ROOT_VARIABLE, data.clone())];
        let (arguments, missing) = (Vec::new(), MissingKeys::default());
        Self {
            program,
            data,
            output: Output::default(),
            variables,
            frame: 0,
            arguments,
            depth: 0,
            changes,
            budget,
            watched: Vec::new(),
            cache_access: None,
            requires_keys: false,
            missing,
        }
    }

    /// Executes the template. `requires_keys`: looking up a field that a map does not have is an error.
    pub(crate) fn render(self, requires_keys: bool) -> Eval<Executed> {
        let (program, cache) = (self.program, self.changes.cache.as_ref());
        let cache = cache.filter(|cache| program.parts > 0 && cache.applies_to(self.data)).map(Arc::clone);
        let slots = cache.as_ref().map(|cache| cache.slots(program.id, program.parts));
        let cache_access = cache.as_deref().zip(slots.as_deref());
        let cache_access = cache_access.map(|(cache, slots)| CacheAccess { cache, slots, is_in_part: false });
        let cached_bytes: usize = slots.iter().flat_map(|slots| slots.iter()).map(Slot::cached_bytes).sum();
        let output = Output::with_capacity(program.source.len() + cached_bytes);
        let mut run = Run { output, cache_access, requires_keys, ..self };
        run.main()?;
        Ok(Executed { output: run.output, missing: run.missing.printed })
    }

    /// Finds the bytes of the template that write these bytes of the output. If an action writes one, returns the start of the action. None where the output
    /// has no such byte.
    pub(crate) fn source_positions(mut self, bytes: &[usize]) -> Vec<Option<usize>> {
        self.watched = bytes.iter().map(|byte| WatchedByte { byte: *byte, position: None }).collect();
        // If the execution fails, the output before the failure counts too.
        drop(self.main());
        self.watched.into_iter().map(|watched| watched.position).collect()
    }
}

/// How the execution continues after a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
}

impl Run<'_> {
    #[inline]
    fn enter(&mut self, at: usize) -> Eval<()> {
        self.depth += 1;
        let limit = self.budget.limits().depth;
        if self.depth > limit { Err(stop(at, Exhausted::Depth(limit))) } else { Ok(()) }
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    #[inline]
    fn spend(&mut self, at: usize, steps: u64) -> Eval<()> {
        self.budget.steps(steps).map_err(|exhausted| stop(at, exhausted))
    }

    #[inline]
    fn write(&mut self, at: usize, bytes: &[u8], taint: Taint) -> Eval<()> {
        self.budget.output(bytes.len()).map_err(|exhausted| stop(at, exhausted))?;
        self.output.write(bytes, taint);
        Ok(())
    }
}

#[cold]
fn stop(at: usize, failure: impl Into<FunctionError>) -> Stop {
    Stop(Box::new(Cause { at, failure: failure.into(), missing: None }))
}

#[cold]
fn error(at: usize, message: impl Into<String>) -> Stop {
    stop(at, FunctionError::Error(message.into()))
}
