//! What a template means: the tree that the executor walks.

use std::ops::Range;
use std::sync::Arc;

use crate::function::Function;
use crate::taint::Stretch;
use crate::text::Text;
use crate::value::{Key, Value};

/// A parsed text with all templates that it defines.
#[derive(Debug)]
pub(crate) struct Program {
    /// The text, which [`Node::Text`] points into.
    pub(crate) source: Arc<[u8]>,
    /// The parts of the text that are data, whatever is in them.
    pub(crate) stretches: Vec<Stretch>,
    /// The templates, the main one first. `None`: called by name, but never defined.
    pub(crate) templates: Vec<(Text, Option<Body>)>,
    /// How many parts of it are marked as shared.
    pub(crate) parts: usize,
    /// Its number in this process, if parts of it are; no other program has it.
    pub(crate) id: u64,
}

/// A part of a program whose result follows from one field of the data.
#[derive(Debug)]
pub(crate) struct Part {
    /// The name of the field.
    pub(crate) field: Key,
    /// Which of the program's parts it is.
    pub(crate) slot: usize,
}

/// The beginning of a pipeline that is a part.
#[derive(Debug)]
pub(crate) struct SharedPrefix {
    pub(crate) part: Part,
    /// How many commands it is, at least one.
    pub(crate) commands: usize,
}

/// An index into [`Program::templates`].
pub(crate) type TemplateId = usize;

/// The number of a variable's name; `$` is 0. Two variables of the same name have the same number: which is meant is only known
/// when the template runs, as in Go.
pub(crate) type VariableId = u32;

/// The number of `$`.
pub(crate) const ROOT_VARIABLE: VariableId = 0;

/// Nodes that are executed one after another.
pub(crate) type Body = Vec<Node>;

/// Something that is executed.
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
    /// Nodes that are a part together. They declare no variable that others see.
    Shared(Box<(Part, Body)>),
    /// `{{ break }}`
    Break,
    /// `{{ continue }}`
    Continue,
}

/// The first branch whose condition is true is executed, or else `otherwise`.
#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) branches: Vec<(Pipeline, Body)>,
    pub(crate) otherwise: Body,
}

/// The body is executed once per item; `otherwise` if there is none.
#[derive(Debug)]
pub(crate) struct Loop {
    pub(crate) items: Pipeline,
    pub(crate) body: Body,
    pub(crate) otherwise: Body,
}

/// The template is executed with the value of the argument (else nil) as dot.
#[derive(Debug)]
pub(crate) struct TemplateCall {
    pub(crate) at: usize,
    pub(crate) id: TemplateId,
    pub(crate) argument: Option<Pipeline>,
}

/// `$variable := command | command`
#[derive(Debug)]
pub(crate) struct Pipeline {
    /// Where it begins.
    pub(crate) at: usize,
    /// The variables that get its value (two only in `range`).
    pub(crate) variables: Vec<VariableId>,
    /// Whether `variables` exist already (`=`) or are new (`:=`).
    pub(crate) assigns: bool,
    /// At least one.
    pub(crate) commands: Vec<Command>,
    /// The beginning that is a part, if one is.
    pub(crate) shared: Option<Box<SharedPrefix>>,
}

/// An operand with arguments.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) first: Operand,
    pub(crate) arguments: Vec<Operand>,
}

/// A term and where it is.
#[derive(Debug)]
pub(crate) struct Operand {
    pub(crate) at: usize,
    pub(crate) term: Term,
}

/// A value in the making.
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

/// Fields that are looked up one in the other.
pub(crate) type Path = Box<[Field]>;

/// A field or method, and where its dot is.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) at: usize,
    pub(crate) name: Key,
}

/// What a function's name means.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Callee {
    /// `and`, which stops at the first false argument.
    And,
    /// `or`, which stops at the first true argument.
    Or,
    /// Any other.
    Function(&'static Function),
}

/// A numeric constant: what it can be converted to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Number {
    /// As signed integer, if it is one.
    pub(crate) int: Option<i64>,
    /// As unsigned integer, if it is one.
    pub(crate) uint: Option<u64>,
    /// As float, if it is one.
    pub(crate) float: Option<f64>,
    /// As complex number, if it is written as one.
    pub(crate) complex: Option<(f64, f64)>,
    /// Whether it is written like a float, which decides its type where there is no other hint.
    pub(crate) looks_like_float: bool,
}
