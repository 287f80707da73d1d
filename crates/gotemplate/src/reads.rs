//! Finds the fields of the data that a template can read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::parse::tree::{
    Choice, Command, Field, Loop, Node, Operand, Pipeline, Program, ROOT_VARIABLE, TemplateId, Term, VariableId,
};
use crate::value::Key;

/// The top-level fields of the data that a template can read. The set can contain too many fields, never too few.
///
/// If two renderings have the same limits, and their data have the same values in these fields, they return the same output or the same error.
///
/// Output that contains `{{` and is rendered again is another template. This set does not cover it.
/// [`Rendered::passes`](crate::template::Rendered::passes) is above 1 then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    fields: BTreeSet<Arc<str>>,
    /// The fields of which only entries with these names are read, written as `.Field.Name`.
    entries: BTreeSet<(Arc<str>, Arc<str>)>,
    /// The fields that are read in another way.
    wholes: BTreeSet<Arc<str>>,
    is_everything: bool,
}

/// How often the analysis visits a template's body to find the variables that can hold the data. Only a chain of assignments against the order of the
/// text takes more than two rounds. A template that needs more rounds than this counts as reading everything.
const ROUNDS_MAX: usize = 8;

impl Reads {
    /// The set of all fields.
    pub fn everything() -> Self {
        Self { is_everything: true, ..Self::default() }
    }

    /// The fields that the templates of `program` read when the main one is rendered.
    pub(crate) fn from_program(program: &Program) -> Self {
        let mut analysis = Analysis {
            program,
            reads: Self::default(),
            calls: BTreeMap::new(),
            pending: Vec::new(),
            holders: BTreeSet::new(),
            is_settled: true,
        };
        analysis.record_call(0, true);
        while let Some(template) = analysis.pending.pop() {
            analysis.template(template);
        }
        analysis.reads
    }

    /// Whether the template can read the data as a whole: print it, pass it to a function, or iterate over it.
    pub fn is_everything(&self) -> bool {
        self.is_everything
    }

    /// Whether the template can read the top-level field `name`.
    pub fn field(&self, name: &str) -> bool {
        self.is_everything || self.fields.contains(name)
    }

    /// Whether the template can read the entry `entry` of the top-level field `name`. The field as a whole counts as all its entries.
    pub fn entry(&self, name: &str, entry: &str) -> bool {
        self.is_everything
            || self.wholes.contains(name)
            || self.entries.iter().any(|(field, read)| **field == *name && **read == *entry)
    }

    /// The entries of the top-level field `name` that the template can read. None: it can read any entry.
    pub fn entries(&self, name: &str) -> Option<impl Iterator<Item = &str>> {
        let is_any = self.is_everything || self.wholes.contains(name);
        (!is_any).then(|| self.entries.iter().filter(move |(field, _)| **field == *name).map(|(_, entry)| &**entry))
    }

    /// The fields that are in either set.
    #[must_use]
    pub fn union(mut self, other: &Self) -> Self {
        self.fields.extend(other.fields.iter().cloned());
        self.entries.extend(other.entries.iter().cloned());
        self.wholes.extend(other.wholes.iter().cloned());
        self.is_everything |= other.is_everything;
        self
    }
}

/// Visits the templates of a program by the rules of the executor. For each value it computes only whether the value can be the data itself. If a new
/// value contains the data, the template counts as reading everything.
struct Analysis<'a> {
    program: &'a Program,
    reads: Reads,
    /// The templates that can be called, each with whether its dot can be the data.
    calls: BTreeMap<TemplateId, bool>,
    /// The templates that are still to be visited.
    pending: Vec<TemplateId>,
    /// The variables of the current template that can hold the data.
    holders: BTreeSet<VariableId>,
    /// Whether this round has found no new holder.
    is_settled: bool,
}

impl Analysis<'_> {
    /// Records that a template can be called, and whether its dot can be the data.
    fn record_call(&mut self, id: TemplateId, with_data: bool) {
        let known = self.calls.get(&id).copied();
        if known.is_none() || (with_data && known == Some(false)) {
            self.calls.insert(id, with_data);
            self.pending.push(id);
        }
    }

    fn template(&mut self, id: TemplateId) {
        let program = self.program;
        let Some((_, Some(body))) = program.templates.get(id) else { return };
        let dot = self.calls.get(&id).copied().unwrap_or(true);
        self.holders.clear();
        if dot {
            self.holders.insert(ROOT_VARIABLE);
        }
        for _ in 0..ROUNDS_MAX {
            self.is_settled = true;
            self.body(dot, body);
            if self.is_settled || self.reads.is_everything {
                return;
            }
        }
        self.reads.is_everything = true;
    }

    fn body(&mut self, dot: bool, body: &[Node]) {
        for node in body {
            match node {
                Node::Text(_) | Node::Break | Node::Continue => {}
                Node::Part(part) => self.body(dot, &part.1),
                Node::Action(pipeline) => {
                    let value = self.pipeline(dot, pipeline);
                    self.reads.is_everything |= value && pipeline.variables.is_empty();
                }
                Node::If(choice) => self.choice(dot, choice, false),
                Node::With(choice) => self.choice(dot, choice, true),
                Node::Range(range) => self.range(dot, range),
                Node::Template(call) => {
                    let argument = call.argument.as_ref().is_some_and(|argument| self.pipeline(dot, argument));
                    self.record_call(call.id, argument);
                }
            }
        }
    }

    /// The data itself is always true, whatever values it contains.
    fn choice(&mut self, dot: bool, choice: &Choice, sets_dot: bool) {
        for (condition, body) in &choice.branches {
            let value = self.pipeline(dot, condition);
            self.body(if sets_dot { value } else { dot }, body);
        }
        self.body(dot, &choice.otherwise);
    }

    fn range(&mut self, dot: bool, range: &Loop) {
        self.reads.is_everything |= self.pipeline(dot, &range.items);
        self.body(false, &range.body);
        self.body(dot, &range.otherwise);
    }

    fn pipeline(&mut self, dot: bool, pipeline: &Pipeline) -> bool {
        let mut value = None;
        for command in &pipeline.commands {
            value = Some(self.command(dot, command, value));
        }
        let value = value.unwrap_or(false);
        for variable in &pipeline.variables {
            if value && self.holders.insert(*variable) {
                self.is_settled = false;
            }
        }
        value
    }

    fn command(&mut self, dot: bool, command: &Command, last: Option<bool>) -> bool {
        let first = self.operand(dot, &command.first);
        if command.arguments.is_empty() && last.is_none() {
            return first;
        }
        for argument in &command.arguments {
            self.reads.is_everything |= self.operand(dot, argument);
        }
        self.reads.is_everything |= last.unwrap_or(false);
        // The result of a function contains the data only if an argument does.
        false
    }

    fn operand(&mut self, dot: bool, operand: &Operand) -> bool {
        match &operand.term {
            Term::Dot => dot,
            Term::Nil | Term::Constant(_) | Term::Number(_) | Term::Function(_) => false,
            Term::Field(path) => self.path(dot, path),
            Term::Variable(variable, path) => {
                let value = self.holders.contains(variable);
                self.path(value, path)
            }
            Term::Pipeline(pipeline) => self.pipeline(dot, pipeline),
            Term::Chain(receiver, path) => {
                let value = self.operand(dot, receiver);
                self.path(value, path)
            }
        }
    }

    fn path(&mut self, receiver: bool, path: &[Field]) -> bool {
        let Some(field) = path.first() else { return receiver };
        if receiver && let Key::Text(name) = &field.name {
            let name: Arc<str> = name.to_str().into();
            match path.get(1).map(|entry| &entry.name) {
                Some(Key::Text(entry)) => drop(self.reads.entries.insert((Arc::clone(&name), entry.to_str().into()))),
                _ => drop(self.reads.wholes.insert(Arc::clone(&name))),
            }
            self.reads.fields.insert(name);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::Reads;
    use crate::template::Template;

    /// Checks the fields that a template reads, in order. `*` is everything.
    fn check(text: &str, expected: &str) {
        let template = Template::parse("t", text).expect("a template");
        let Reads { fields, is_everything, .. } = template.reads();
        let fields: Vec<_> = fields.iter().map(|name| &**name).collect();
        assert_eq!(if *is_everything { "*".to_owned() } else { fields.join(" ") }, expected, "{text}");
    }

    #[test]
    fn fields_of_the_data_count_by_their_first_name() {
        check("text", "");
        check("{{ .A }} {{ .B.c.d }} {{ $.C }} {{ (.D).e }}", "A B C D");
        check("{{ toYaml .A | indent 2 }}{{ .B | default .C.x }}{{ printf \"%s\" $.D }}", "A B C D");
        check("{{ (index .A \"x\").B }}", "A");
        check("{{ (.).A }}{{ ($).B }}", "A B");
    }

    #[test]
    fn entries_of_a_field_count_by_their_names() {
        let entries = |text: &str| {
            let template = Template::parse("t", text).expect("a template");
            ["x", "y"].map(|entry| template.reads().entry("A", entry))
        };
        assert_eq!(entries("{{ .A.x.z }}{{ .B.y }}"), [true, false]);
        assert_eq!(entries("{{ $.A.x }}{{ if .A.y }}{{ end }}"), [true, true]);
        assert_eq!(entries("{{ .B }}"), [false, false]);
        for text in ["{{ .A }}", "{{ (.A).x }}", "{{ with .A }}{{ .x }}{{ end }}", "{{ index .A \"x\" }}", "{{ . }}"] {
            assert_eq!(entries(text), [true, true], "{text}");
        }
    }

    #[test]
    fn uses_of_the_whole_data_read_everything() {
        for text in ["{{ . }}", "{{ $ }}", "{{ index . \"A\" }}", "{{ . | toJson }}", "{{ (toYaml $) }}"] {
            check(text, "*");
        }
        check("{{ range . }}{{ end }}", "*");
        check("{{ range $k, $v := $ }}{{ end }}", "*");
        check("{{ template \"x\" dict \"data\" . }}", "*");
        check("{{ or . .A }}{{ .A . }}", "*");
    }

    #[test]
    fn with_and_range_change_the_object_of_fields() {
        check("{{ with .A }}{{ . }}{{ .B }}{{ $.C }}{{ else }}{{ .D }}{{ end }}", "A C D");
        check("{{ with . }}{{ .A }}{{ end }}{{ if . }}{{ .B }}{{ end }}", "A B");
        check("{{ range $k, $v := .A }}{{ $k }}{{ $v }}{{ .B }}{{ $.C }}{{ else }}{{ .D }}{{ end }}", "A C D");
        check("{{ with .A }}{{ .X }}{{ else with .B }}{{ .Y }}{{ end }}", "A B");
    }

    #[test]
    fn variables_may_hold_the_data() {
        check("{{ $x := .A }}{{ $x }}{{ $x.B }}", "A");
        check("{{ $x := . }}{{ range .A }}{{ $x.B }}{{ end }}", "A B");
        check("{{ $x := . }}{{ $x }}", "*");
        check("{{ with $x := $ }}{{ $x.A }}{{ end }}", "A");
        check("{{ $x := 1 }}{{ range 3 }}{{ $x.A }}{{ $x = $ }}{{ end }}", "A");
        check("{{ $ = .A }}{{ $.B }}", "A B");
    }

    #[test]
    fn called_templates_read_fields_of_their_dot() {
        let define = "{{ define \"d\" }}{{ .B }}{{ $.C }}{{ end }}{{ define \"unused\" }}{{ . }}{{ end }}";
        check(&format!("{define}{{{{ template \"d\" . }}}}"), "B C");
        check(&format!("{define}{{{{ template \"d\" .A }}}}{{{{ template \"d\" }}}}"), "A");
        check(&format!("{define}{{{{ template \"d\" .A }}}}{{{{ template \"d\" $ }}}}"), "A B C");
        check("{{ block \"b\" .A }}{{ .B }}{{ $.C }}{{ end }}", "A");
        check("{{ define \"r\" }}{{ .A }}{{ template \"r\" . }}{{ end }}{{ template \"r\" . }}", "A");
    }

    #[test]
    fn a_long_chain_of_assignments_counts_as_everything() {
        let names: Vec<_> = (0..20).map(|number| format!("$v{number}")).collect();
        let declared: String = names.iter().map(|name| format!("{{{{ {name} := 1 }}}}")).collect();
        let moved: String = names.windows(2).map(|pair| format!("{{{{ {} = {} }}}}", pair[0], pair[1])).collect();
        check(&format!("{declared}{{{{ range 30 }}}}{moved}{{{{ $v19 = $ }}}}{{{{ end }}}}{{{{ $v0.A }}}}"), "*");
    }

    #[test]
    fn a_union_has_the_fields_of_both() {
        let reads = |text| Template::parse("t", text).expect("a template").reads().clone();
        let both = reads("{{ .A }}").union(&reads("{{ .B }}"));
        assert!(both.field("A") && both.field("B") && !both.field("C") && !both.is_everything());
        assert!(both.union(&Reads::everything()).field("C"));
    }
}
