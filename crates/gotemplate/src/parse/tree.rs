//! The tree of a parsed template, as the executor uses it.

use std::ops::Range;
use std::sync::Arc;

use crate::names::Callee;
use crate::taint::TaintedRange;
use crate::text::Text;
use crate::value::{Key, Value};

/// A parsed text, with all templates that it defines.
#[derive(Debug)]
pub(crate) struct Program {
    /// The text. [`Node::Text`] contains ranges of it.
    pub(crate) source: Arc<[u8]>,
    /// The ranges of the text that are always data.
    pub(crate) tainted_ranges: Vec<TaintedRange>,
    /// The templates, the main one first. The body is `None` if the template is called but not defined.
    pub(crate) templates: Vec<(Text, Option<Body>)>,
    /// The number of parts that are marked for caching.
    pub(crate) parts: usize,
    /// The program's id, unique in this process. Only used if the program has parts.
    pub(crate) id: u64,
}

impl Program {
    /// Whether all branches, loops and calls of the main template are in parts that read this field. Then the same actions write every output in which the
    /// field is the same.
    pub(crate) fn is_straight(&self, field: &str) -> bool {
        let body = self.templates.first().and_then(|(_, body)| body.as_ref());
        body.is_some_and(|body| body.iter().all(|node| node.is_straight(field)))
    }
}

/// A part of a program whose result depends on only one field of the data.
#[derive(Debug)]
pub(crate) struct Part {
    /// The name of the field.
    pub(crate) field: Key,
    /// The index among the program's parts.
    pub(crate) slot: usize,
}

/// The beginning of a pipeline that is a part.
#[derive(Debug)]
pub(crate) struct PartPrefix {
    pub(crate) part: Part,
    /// The number of its commands, at least one.
    pub(crate) commands: usize,
}

/// An index into [`Program::templates`].
pub(crate) type TemplateId = usize;

/// The number of a variable's name; `$` is 0. Variables with the same name have the same number: as in Go, the execution determines which of them a
/// name refers to.
pub(crate) type VariableId = u32;

/// The number of `$`.
pub(crate) const ROOT_VARIABLE: VariableId = 0;

/// Nodes that are executed one after another.
pub(crate) type Body = Vec<Node>;

/// An element of a body.
#[derive(Debug)]
pub(crate) enum Node {
    /// Text between actions: a range of the source.
    Text(Range<usize>),
    /// `{{ pipeline }}`
    Action(Pipeline),
    /// `{{ if }} ... {{ else if }} ... {{ else }} ... {{ end }}`
    If(Choice),
    /// `{{ with }} ... {{ else with }} ... {{ else }} ... {{ end }}`
    With(Choice),
    /// `{{ range }} ... {{ else }} ... {{ end }}`
    Range(Box<Loop>),
    /// `{{ template "name" pipeline }}`
    Template(Box<TemplateCall>),
    /// Nodes that together are a part. They declare no variable that is visible outside.
    Part(Box<(Part, Body)>),
    /// `{{ break }}`
    Break,
    /// `{{ continue }}`
    Continue,
}

impl Node {
    /// Whether it has no branch, loop or call, except in parts that read this field.
    fn is_straight(&self, field: &str) -> bool {
        match self {
            Self::Text(_) | Self::Action(_) => true,
            Self::Part(part) => {
                let (Part { field: own, .. }, body) = &**part;
                let is_of_field = matches!(own, Key::Text(name) if name.as_bytes() == field.as_bytes());
                is_of_field || body.iter().all(|node| node.is_straight(field))
            }
            _ => false,
        }
    }
}

/// Executes the first branch whose condition is true. If there is none, executes `otherwise`.
#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) branches: Vec<(Pipeline, Body)>,
    pub(crate) otherwise: Body,
}

/// Executes the body once for each item. If there are no items, executes `otherwise`.
#[derive(Debug)]
pub(crate) struct Loop {
    pub(crate) items: Pipeline,
    pub(crate) body: Body,
    pub(crate) otherwise: Body,
}

/// Executes a template. Its dot is the value of the argument, or nil without an argument.
#[derive(Debug)]
pub(crate) struct TemplateCall {
    pub(crate) at: usize,
    pub(crate) id: TemplateId,
    pub(crate) argument: Option<Pipeline>,
}

/// `$variable := command | command`
#[derive(Debug)]
pub(crate) struct Pipeline {
    /// The byte where it begins.
    pub(crate) at: usize,
    /// The variables that get the value. Two only in `range`.
    pub(crate) variables: Vec<VariableId>,
    /// Whether the pipeline assigns to existing variables (`=`). Otherwise it declares them (`:=`).
    pub(crate) assigns: bool,
    /// The commands, at least one.
    pub(crate) commands: Vec<Command>,
    /// The beginning that is a part, if there is one.
    pub(crate) cached_prefix: Option<Box<PartPrefix>>,
}

/// An operand with arguments.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) first: Operand,
    pub(crate) arguments: Vec<Operand>,
}

/// A term, and its byte in the text.
#[derive(Debug)]
pub(crate) struct Operand {
    pub(crate) at: usize,
    pub(crate) term: Term,
}

/// An expression.
#[derive(Debug)]
pub(crate) enum Term {
    /// `.`
    Dot,
    /// `nil`
    Nil,
    /// `true`, `"text"`
    Constant(Value),
    /// `3`, `2.5`, `'a'`, `1i`
    Number(Number),
    /// `.a.b`
    Field(Path),
    /// `$x` or `$x.a.b`
    Variable(VariableId, Path),
    /// A function.
    Function(Callee),
    /// `(pipeline)`
    Pipeline(Box<Pipeline>),
    /// `(pipeline).a.b`
    Chain(Box<Operand>, Path),
}

/// Fields, each looked up in the value of the one before it.
pub(crate) type Path = Box<[Field]>;

/// A field or method, and the byte of its dot.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) at: usize,
    pub(crate) name: Key,
}

/// A numeric constant, in all types that can represent it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Number {
    /// As signed integer, if possible.
    pub(crate) int: Option<i64>,
    /// As unsigned integer, if possible.
    pub(crate) uint: Option<u64>,
    /// As float, if possible.
    pub(crate) float: Option<f64>,
    /// As complex number, if the notation is one.
    pub(crate) complex: Option<(f64, f64)>,
    /// Whether the notation is that of a float. It determines the type if no parameter does.
    pub(crate) looks_like_float: bool,
}
