//! The texts of a map that many renderings share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::fuel::{Exhausted, Fuel};
use crate::function::Failure;
use crate::text::Text;
use crate::value::{Map, Value};

/// What `toYaml` and `stringify` make of one map, and `indent` and `nindent` of that, kept from the second rendering on that asks for it: a map that
/// only one rendering has costs no memory.
///
/// It changes only the time that a rendering takes: each pays for the texts as if it had written them itself.
#[derive(Debug)]
pub struct Written {
    map: Arc<Map>,
    /// The steps that it takes to read the map all levels down.
    size: OnceLock<u64>,
    yaml: Slot,
    stringified: Slot,
}

/// A text that a function makes of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `toYaml`
    Yaml,
    /// `stringify`
    Stringified,
}

/// The place of a text that is not kept before it is asked for twice.
#[derive(Debug, Default)]
struct Slot {
    was_asked: AtomicBool,
    made: OnceLock<Box<Made>>,
}

/// A text and what writing it takes.
#[derive(Debug)]
struct Made {
    text: Text,
    steps: u64,
    output_bytes: u64,
    /// The text with its lines indented, in the ways that were asked for first.
    indented: [OnceLock<Indented>; INDENTED_MAX],
}

/// In how many ways an indented text is kept. A fleet's templates indent its values in one or two.
const INDENTED_MAX: usize = 4;

#[derive(Debug)]
struct Indented {
    by: Indentation,
    text: Text,
}

/// How to indent a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Indentation {
    /// How many blanks every line gets.
    pub(crate) spaces: usize,
    /// Whether the text gets a newline in front.
    pub(crate) on_new_line: bool,
}

impl Written {
    /// For a map.
    pub fn of(map: Arc<Map>) -> Self {
        Self { map, size: OnceLock::new(), yaml: Slot::default(), stringified: Slot::default() }
    }

    /// Whether `value` is the map.
    pub(crate) fn is_of(&self, value: &Value) -> bool {
        matches!(value, Value::Map(map) if Arc::ptr_eq(map, &self.map))
    }

    /// Charges for reading the map all levels down, which `charge` does by going through it.
    pub(crate) fn charge(
        &self,
        fuel: &mut Fuel,
        charge: impl FnOnce(&mut Fuel) -> Result<(), Exhausted>,
    ) -> Result<(), Exhausted> {
        if let Some(steps) = self.size.get() {
            return fuel.steps(*steps);
        }
        let (steps, _) = fuel.left();
        charge(fuel)?;
        let (steps_left, _) = fuel.left();
        self.size.get_or_init(|| steps - steps_left);
        Ok(())
    }

    /// The text of `value` in a form, made by `write` where it is not known.
    pub(crate) fn text(
        &self,
        (form, value): (Form, &Value),
        fuel: &mut Fuel,
        write: impl FnOnce(&mut Fuel) -> Result<Text, Failure>,
    ) -> Result<Text, Failure> {
        if !self.is_of(value) {
            return write(fuel);
        }
        let slot = match form {
            Form::Yaml => &self.yaml,
            Form::Stringified => &self.stringified,
        };
        if let Some(made) = slot.made.get() {
            fuel.steps(made.steps)?;
            fuel.output(usize::try_from(made.output_bytes).unwrap_or(usize::MAX))?;
            return Ok(made.text.clone());
        }
        let (steps, output_bytes) = fuel.left();
        let text = write(fuel)?;
        if slot.was_asked.swap(true, Ordering::Relaxed) {
            let (steps_left, output_left) = fuel.left();
            let (steps, output_bytes) = (steps - steps_left, output_bytes - output_left);
            let indented = Default::default();
            slot.made.get_or_init(|| Box::new(Made { text: text.clone(), steps, output_bytes, indented }));
        }
        Ok(text)
    }

    /// What indenting `text` gives, if it is one of the map's and was indented like that before.
    pub(crate) fn indented(&self, text: &Text, by: Indentation) -> Option<&Text> {
        let mut known = self.made(text)?.indented.iter().map_while(OnceLock::get);
        known.find(|indented| indented.by == by).map(|indented| &indented.text)
    }

    /// Keeps what indenting `text` gives, if it is one of the map's and there is room.
    pub(crate) fn keep_indented(&self, text: &Text, by: Indentation, indented: &Text) {
        let Some(made) = self.made(text) else { return };
        for place in &made.indented {
            if place.get_or_init(|| Indented { by, text: indented.clone() }).by == by {
                return;
            }
        }
    }

    fn made(&self, text: &Text) -> Option<&Made> {
        let made = [&self.yaml, &self.stringified].into_iter().filter_map(|slot| slot.made.get());
        made.map(|made| &**made).find(|made| made.text.is_same(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuel::Limits;
    use crate::template::{Options, Template};

    /// What each of three renderings gives, and what it is without sharing.
    fn check(text: &str, limits: Limits) {
        let data =
            Value::dict([("a", Value::int(1)), ("b", Value::texts(["x"])), ("d", Value::dict([("e", Value::Nil)]))]);
        let Value::Map(map) = &data else { return };
        let written = Arc::new(Written::of(Arc::clone(map)));
        let template = Template::parse("t", text).expect("a template");
        let dot = Value::dict([("data", data.clone())]);
        let alone = template.render_nested(&dot, &limits).map_err(|error| error.message);
        for _ in 0..3 {
            let options = Options { limits, written: Some(&written), ..Options::default() };
            let shared = template.render_with(&dot, &options).map_err(|error| error.message);
            assert_eq!(shared.map(|rendered| rendered.bytes), alone, "{text}");
        }
    }

    #[test]
    fn sharing_changes_no_byte() {
        check("{{ toYaml .data }}{{ .data | toYaml | indent 2 }}", Limits::default());
        check("{{ stringify .data }}{{ toYaml .data | indent 2 }}{{ stringify .data | indent 2 }}", Limits::default());
        let ways = ["indent 2", "nindent 2", "indent 4", "indent 0", "nindent 1", "indent 2 | indent 2"];
        let all: String = ways.iter().map(|way| format!("{{{{ toYaml .data | {way} }}}}")).collect();
        check(&all, Limits::default());
        check("{{ toYaml .data.b }}", Limits::default());
    }

    #[test]
    fn a_map_that_a_rendering_has_changed_is_written_anew() {
        check(r#"{{ toYaml .data }}{{ $_ := set .data "c" 2 }}{{ toYaml .data | indent 2 }}"#, Limits::default());
        check(r#"{{ $_ := set .data.d "c" 2 }}{{ toYaml .data | indent 2 }}"#, Limits::default());
    }

    #[test]
    fn everybody_pays_for_the_text() {
        for spent in 0..100 {
            check("{{ toYaml .data | indent 2 }}", Limits { steps: spent, ..Limits::default() });
            check("{{ stringify .data | nindent 2 }}", Limits { output_bytes: spent, ..Limits::default() });
        }
    }
}
