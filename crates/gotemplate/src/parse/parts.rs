//! Finds the parts of a program whose result depends on only one field of the data. Their results can be cached for many renderings.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use super::tree::{
    Body, Choice, Command, Loop, Node, Operand, Part, PartPrefix, Path, Pipeline, Program, ROOT_VARIABLE, TemplateId,
    Term, VariableId,
};
use crate::value::Key;

/// Parts of longer texts are not searched: the search visits a part once for each level that it is nested.
const SOURCE_MAX: usize = 256 << 10;

/// How often the analysis visits a program to find the templates that are called with another dot than the data.
const ROUNDS_MAX: usize = 4;

/// The id of the next program.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Marks the parts of a program that read one field of the data and do some work. Each part is as large as possible.
pub(crate) fn mark(program: &mut Program) {
    if program.source.len() > SOURCE_MAX {
        return;
    }
    let mut analysis = Analysis { assigned: assigned(program), ..Analysis::default() };
    for _ in 0..ROUNDS_MAX {
        let known = analysis.called_with_other_dot.len();
        analysis.templates(program);
        if analysis.called_with_other_dot.len() == known {
            analysis.is_marking = true;
            analysis.templates(program);
            break;
        }
    }
    program.parts = analysis.parts;
    program.id = NEXT.fetch_add(1, Ordering::Relaxed);
}

/// What a value depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Dependency {
    /// Only the text of the template.
    Constant,
    /// This field of the data.
    Field(Key),
    /// The value is the data as a whole.
    Data,
    /// Anything.
    Anything,
}

impl Dependency {
    /// The dependency of a value that is made of both.
    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Constant, other) | (other, Self::Constant) if other != Self::Data => other,
            (Self::Field(one), Self::Field(other)) if one == other => Self::Field(one),
            _ => Self::Anything,
        }
    }
}

/// The dependency of a part, and whether computing it is work: it calls a function or contains a loop.
#[derive(Clone, Debug)]
struct Analyzed {
    dependency: Dependency,
    is_work: bool,
}

impl Analyzed {
    const CONSTANT: Self = Self { dependency: Dependency::Constant, is_work: false };
    const ANYTHING: Self = Self { dependency: Dependency::Anything, is_work: true };

    fn join(self, other: Self) -> Self {
        Self { dependency: self.dependency.join(other.dependency), is_work: self.is_work || other.is_work }
    }

    /// The field, if the result is worth caching.
    fn field(&self) -> Option<&Key> {
        match &self.dependency {
            Dependency::Field(field) if self.is_work => Some(field),
            _ => None,
        }
    }
}

/// The dot and the variables that are visible at a place.
#[derive(Clone, Debug)]
struct Scope {
    dot: Dependency,
    variables: Vec<(VariableId, Dependency)>,
    /// Whether the place is in a loop inside the node that is analyzed, so that the node contains what `break` and `continue` skip.
    is_in_loop: bool,
}

impl Scope {
    fn variable(&self, variable: VariableId) -> Dependency {
        let found = self.variables.iter().rfind(|(number, _)| *number == variable);
        found.map_or(Dependency::Anything, |(_, dependency)| dependency.clone())
    }

    fn with_dot(&self, dot: Dependency) -> Self {
        Self { dot, variables: self.variables.clone(), is_in_loop: self.is_in_loop }
    }
}

/// Adjacent nodes that depend on the same field.
#[derive(Default)]
struct Group {
    nodes: Body,
    field: Option<Key>,
    work: usize,
}

/// The least work that makes a part worth caching: one function call, one loop, or this many printed fields.
const WORK_MIN: usize = 4;

impl Group {
    fn fits(&self, found: &Analyzed, declares_nothing: bool) -> bool {
        declares_nothing
            && match &found.dependency {
                Dependency::Constant => true,
                Dependency::Field(field) => self.field.as_ref().is_none_or(|own| own == field),
                Dependency::Data | Dependency::Anything => false,
            }
    }

    fn add(&mut self, node: Node, found: Analyzed) {
        if let Dependency::Field(field) = found.dependency {
            self.field = Some(field);
            self.work += if found.is_work { WORK_MIN } else { 1 };
        }
        self.nodes.push(node);
    }
}

#[derive(Default)]
struct Analysis {
    /// Variables that are assigned again later.
    assigned: BTreeSet<VariableId>,
    /// The templates that are called with another dot than the data.
    called_with_other_dot: BTreeSet<TemplateId>,
    /// Whether this is the final round, which marks the parts.
    is_marking: bool,
    parts: usize,
}

impl Analysis {
    fn templates(&mut self, program: &mut Program) {
        for (id, (_, body)) in program.templates.iter_mut().enumerate() {
            let Some(body) = body else { continue };
            let dot = if self.called_with_other_dot.contains(&id) { Dependency::Anything } else { Dependency::Data };
            let root = if self.assigned.contains(&ROOT_VARIABLE) { Dependency::Anything } else { dot.clone() };
            let mut scope = Scope { dot, variables: vec![(ROOT_VARIABLE, root)], is_in_loop: false };
            self.mark_body(&mut scope, body);
        }
    }

    fn part(&mut self, field: &Key) -> Part {
        self.parts += 1;
        Part { field: field.clone(), slot: self.parts - 1 }
    }

    /// Marks the parts of a body. Adjacent nodes are one part, together with the text between them.
    fn mark_body(&mut self, scope: &mut Scope, body: &mut Body) {
        let mut marked = Body::with_capacity(body.len());
        let mut group = Group::default();
        for mut node in std::mem::take(body) {
            let before = scope.variables.len();
            let found = self.node(scope, &node);
            let declared = scope.variables.split_off(before);
            if !group.fits(&found, declared.is_empty()) {
                self.finish_group(&mut group, &mut marked);
            }
            if group.fits(&found, declared.is_empty()) {
                group.add(node, found);
            } else {
                self.mark_inside(scope, &mut node);
                scope.variables.truncate(before);
                scope.variables.extend(declared);
                marked.push(node);
            }
        }
        self.finish_group(&mut group, &mut marked);
        *body = marked;
    }

    /// Moves a group to `marked`: as a part if it is worth caching, otherwise as separate nodes. Text at the ends of a part is not included.
    fn finish_group(&mut self, group: &mut Group, marked: &mut Body) {
        let Group { mut nodes, field, work } = std::mem::take(group);
        let Some(field) = field.filter(|_| self.is_marking && work >= WORK_MIN) else {
            marked.extend(nodes);
            return;
        };
        let is_text = |node: &Node| matches!(node, Node::Text(_));
        let end = nodes.iter().rposition(|node| !is_text(node)).map_or(0, |last| last + 1);
        let behind = nodes.split_off(end);
        let begin = nodes.iter().position(|node| !is_text(node)).unwrap_or_default();
        marked.extend(nodes.drain(..begin));
        let part = self.part(&field);
        marked.push(Node::Part(Box::new((part, nodes))));
        marked.extend(behind);
    }

    fn mark_inside(&mut self, scope: &mut Scope, node: &mut Node) {
        match node {
            Node::Action(pipeline) => self.mark_pipeline(scope, pipeline),
            Node::If(choice) => self.mark_choice(scope, choice, false),
            Node::With(choice) => self.mark_choice(scope, choice, true),
            Node::Range(range) => {
                self.mark_pipeline(scope, &mut range.items);
                self.declare(scope, &range.items, &Dependency::Anything);
                self.mark_body(&mut scope.with_dot(Dependency::Anything), &mut range.body);
                self.mark_body(scope, &mut range.otherwise);
            }
            Node::Template(call) => {
                let argument =
                    call.argument.as_ref().map_or(Dependency::Anything, |it| self.pipeline(scope, it).dependency);
                if argument != Dependency::Data {
                    self.called_with_other_dot.insert(call.id);
                }
                if let Some(argument) = &mut call.argument {
                    self.mark_pipeline(scope, argument);
                }
            }
            Node::Text(_) | Node::Break | Node::Continue | Node::Part(_) => {}
        }
    }

    fn mark_choice(&mut self, scope: &mut Scope, choice: &mut Choice, sets_dot: bool) {
        for (condition, body) in &mut choice.branches {
            let dependency = self.pipeline(scope, condition).dependency;
            self.mark_pipeline(scope, condition);
            self.declare(scope, condition, &dependency);
            let dot = if sets_dot { dependency } else { scope.dot.clone() };
            self.mark_body(&mut scope.with_dot(dot), body);
        }
        self.mark_body(scope, &mut choice.otherwise);
    }

    /// Marks the longest prefix of a pipeline that is a part, and parts in the parentheses of the other commands.
    fn mark_pipeline(&mut self, scope: &Scope, pipeline: &mut Pipeline) {
        let found = |count: usize| self.commands(scope, pipeline.commands.get(..count).unwrap_or_default());
        let whole = (1..=pipeline.commands.len()).rev().find_map(|count| Some((count, found(count).field()?.clone())));
        let shared = whole.as_ref().map_or(0, |(count, _)| *count);
        if let Some((commands, field)) = whole.filter(|_| self.is_marking) {
            let part = self.part(&field);
            pipeline.cached_prefix = Some(Box::new(PartPrefix { part, commands }));
        }
        for command in pipeline.commands.iter_mut().skip(shared) {
            self.mark_operand(scope, &mut command.first);
            command.arguments.iter_mut().for_each(|argument| self.mark_operand(scope, argument));
        }
    }

    fn mark_operand(&mut self, scope: &Scope, operand: &mut Operand) {
        match &mut operand.term {
            Term::Pipeline(pipeline) => self.mark_pipeline(scope, pipeline),
            Term::Chain(receiver, _) => self.mark_operand(scope, receiver),
            _ => {}
        }
    }

    /// Makes the variables of a pipeline visible.
    fn declare(&self, scope: &mut Scope, pipeline: &Pipeline, dependency: &Dependency) {
        if pipeline.assigns {
            return;
        }
        let dependency = |variable| if self.assigned.contains(variable) { &Dependency::Anything } else { dependency };
        scope.variables.extend(pipeline.variables.iter().map(|variable| (*variable, dependency(variable).clone())));
    }

    fn body(&self, scope: &mut Scope, body: &[Node]) -> Analyzed {
        let before = scope.variables.len();
        let found = body.iter().fold(Analyzed::CONSTANT, |found, node| found.join(self.node(scope, node)));
        scope.variables.truncate(before);
        found
    }

    /// The dependency of a node. Variables that later nodes see are added to the scope.
    fn node(&self, scope: &mut Scope, node: &Node) -> Analyzed {
        match node {
            Node::Text(_) => Analyzed::CONSTANT,
            Node::Break | Node::Continue if scope.is_in_loop => Analyzed::CONSTANT,
            Node::Break | Node::Continue | Node::Template(_) | Node::Part(_) => Analyzed::ANYTHING,
            Node::Action(pipeline) => {
                let found = self.pipeline(scope, pipeline);
                self.declare(scope, pipeline, &found.dependency);
                if pipeline.assigns { Analyzed::ANYTHING } else { found }
            }
            Node::If(choice) => self.choice(scope, choice, false),
            Node::With(choice) => self.choice(scope, choice, true),
            Node::Range(range) => self.range(scope, range),
        }
    }

    fn choice(&self, scope: &mut Scope, choice: &Choice, sets_dot: bool) -> Analyzed {
        let before = scope.variables.len();
        let mut all = Analyzed::CONSTANT;
        for (condition, body) in &choice.branches {
            let found = self.pipeline(scope, condition);
            self.declare(scope, condition, &found.dependency);
            let dot = if sets_dot { found.dependency.clone() } else { scope.dot.clone() };
            all = all.join(found).join(self.body(&mut scope.with_dot(dot), body));
            if condition.assigns {
                all = Analyzed::ANYTHING;
            }
        }
        all = all.join(self.body(scope, &choice.otherwise));
        scope.variables.truncate(before);
        all
    }

    fn range(&self, scope: &mut Scope, range: &Loop) -> Analyzed {
        let before = scope.variables.len();
        let items = self.pipeline(scope, &range.items);
        self.declare(scope, &range.items, &items.dependency);
        let mut inside = Scope { is_in_loop: true, ..scope.with_dot(items.dependency.clone()) };
        let body = self.body(&mut inside, &range.body);
        let otherwise = self.body(scope, &range.otherwise);
        scope.variables.truncate(before);
        if range.items.assigns {
            return Analyzed::ANYTHING;
        }
        Analyzed { is_work: true, ..items.join(body).join(otherwise) }
    }

    fn pipeline(&self, scope: &Scope, pipeline: &Pipeline) -> Analyzed {
        self.commands(scope, &pipeline.commands)
    }

    fn commands(&self, scope: &Scope, commands: &[Command]) -> Analyzed {
        let one = |last: Option<Analyzed>, command| Some(self.command(scope, command, last));
        commands.iter().fold(None, one).unwrap_or(Analyzed::ANYTHING)
    }

    fn command(&self, scope: &Scope, command: &Command, last: Option<Analyzed>) -> Analyzed {
        let first = self.operand(scope, &command.first);
        if command.arguments.is_empty() && last.is_none() {
            return first;
        }
        let arguments = command.arguments.iter().map(|argument| self.operand(scope, argument));
        let all = arguments.chain(last).fold(first, Analyzed::join);
        Analyzed { is_work: true, ..all }
    }

    fn operand(&self, scope: &Scope, operand: &Operand) -> Analyzed {
        let quick = |dependency| Analyzed { dependency, is_work: false };
        match &operand.term {
            Term::Dot => quick(scope.dot.clone()),
            Term::Nil | Term::Constant(_) | Term::Number(_) => Analyzed::CONSTANT,
            Term::Function(_) => Analyzed { dependency: Dependency::Constant, is_work: true },
            Term::Field(path) => quick(of_fields(scope.dot.clone(), path)),
            Term::Variable(variable, path) => quick(of_fields(scope.variable(*variable), path)),
            Term::Pipeline(pipeline) => self.pipeline(scope, pipeline),
            Term::Chain(receiver, path) => {
                let Analyzed { dependency, is_work } = self.operand(scope, receiver);
                Analyzed { dependency: of_fields(dependency, path), is_work }
            }
        }
    }
}

/// The dependency of a value's fields.
fn of_fields(dependency: Dependency, path: &Path) -> Dependency {
    match (dependency, path.first()) {
        (Dependency::Data, Some(field)) => Dependency::Field(field.name.clone()),
        (dependency, _) => dependency,
    }
}

/// The variables that a program assigns with `=`.
fn assigned(program: &Program) -> BTreeSet<VariableId> {
    fn of_pipeline(pipeline: &Pipeline, all: &mut BTreeSet<VariableId>) {
        if pipeline.assigns {
            all.extend(&pipeline.variables);
        }
    }

    fn of_body(body: &Body, all: &mut BTreeSet<VariableId>) {
        for node in body {
            match node {
                Node::Action(pipeline) => of_pipeline(pipeline, all),
                Node::If(choice) | Node::With(choice) => {
                    for (condition, body) in &choice.branches {
                        of_pipeline(condition, all);
                        of_body(body, all);
                    }
                    of_body(&choice.otherwise, all);
                }
                Node::Range(range) => {
                    of_pipeline(&range.items, all);
                    of_body(&range.body, all);
                    of_body(&range.otherwise, all);
                }
                Node::Text(_) | Node::Template(_) | Node::Part(_) | Node::Break | Node::Continue => {}
            }
        }
    }

    let mut all = BTreeSet::new();
    program.templates.iter().filter_map(|(_, body)| body.as_ref()).for_each(|body| of_body(body, &mut all));
    all
}
