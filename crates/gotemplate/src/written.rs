//! The YAML of a map that many renderings share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::fuel::Fuel;
use crate::function::Failure;
use crate::text::Text;
use crate::value::{Map, Value};

/// What `toYaml` makes of one map, kept from the second rendering on that asks for it: a map that only one rendering has costs no memory.
///
/// It changes only the time that a rendering takes: each pays for the text as if it had written it itself.
#[derive(Debug)]
pub struct Written {
    map: Arc<Map>,
    was_asked: AtomicBool,
    yaml: OnceLock<Yaml>,
}

/// A text and what writing it takes.
#[derive(Debug)]
struct Yaml {
    text: Text,
    steps: u64,
    output_bytes: u64,
}

impl Written {
    /// For a map.
    pub fn of(map: Arc<Map>) -> Self {
        Self { map, was_asked: AtomicBool::new(false), yaml: OnceLock::new() }
    }

    /// The text of `value`, made by `write` where it is not known.
    pub(crate) fn text(
        &self,
        value: &Value,
        fuel: &mut Fuel,
        write: impl FnOnce(&mut Fuel) -> Result<Text, Failure>,
    ) -> Result<Text, Failure> {
        if !matches!(value, Value::Map(map) if Arc::ptr_eq(map, &self.map)) {
            return write(fuel);
        }
        if let Some(Yaml { text, steps, output_bytes }) = self.yaml.get() {
            fuel.steps(*steps)?;
            fuel.output(usize::try_from(*output_bytes).unwrap_or(usize::MAX))?;
            return Ok(text.clone());
        }
        let (steps, output_bytes) = fuel.left();
        let text = write(fuel)?;
        if self.was_asked.swap(true, Ordering::Relaxed) {
            let (steps_left, output_left) = fuel.left();
            let (steps, output_bytes) = (steps - steps_left, output_bytes - output_left);
            self.yaml.get_or_init(|| Yaml { text: text.clone(), steps, output_bytes });
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuel::Limits;
    use crate::template::{Options, Template};

    /// What each of three renderings gives, and what it is without sharing.
    fn check(text: &str, limits: Limits) {
        let data = Value::dict([("a", Value::int(1)), ("b", Value::texts(["x"]))]);
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
        check("{{ toYaml .data.b }}", Limits::default());
    }

    #[test]
    fn a_map_that_a_rendering_has_changed_is_written_anew() {
        check(r#"{{ toYaml .data }}{{ $_ := set .data "c" 2 }}{{ toYaml .data }}"#, Limits::default());
    }

    #[test]
    fn everybody_pays_for_the_text() {
        for steps in 0..40 {
            check("{{ toYaml .data }}", Limits { steps, ..Limits::default() });
        }
        for output_bytes in 0..40 {
            check("{{ toYaml .data }}", Limits { output_bytes, ..Limits::default() });
        }
    }
}
