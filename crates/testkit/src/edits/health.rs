//! Edits that break a file, and edits that fix it.

use simulator::random::Random;

use super::draft::{Draft, Health};
use super::object::{ANNOTATIONS, METADATA, body, with_mapping};
use super::state::{State, pick};

/// Makes a map unusable: its priority is not a number, the file is not YAML, or a value is not a text.
pub(super) fn config_map_broken(state: &State, random: &mut Random) -> Option<Draft> {
    let object = state.one_of("ConfigMap", 0, random)?;
    let (before, data, after) = body(&object.text, "data:")?;
    let priority = vec![("config.kalypso.io/priority".to_owned(), "high".to_owned())];
    let text = match random.below(3) {
        0 => with_mapping(&object.text, (METADATA, ANNOTATIONS), &priority),
        1 => format!("{before}  : ]\n{data}{after}"),
        _ => format!("{before}  LIST: [1, 2]\n{data}{after}"),
    };
    Some(state.replace(&object, text, format!("{object} broken")).with_health(Health::Breaks))
}

/// Makes a template that cannot be parsed, or that fails when it is rendered.
pub(super) fn template_broken(state: &State, random: &mut Random) -> Option<Draft> {
    let object = state.one_of("Template", 0, random)?;
    let line = random.pick(&["{{ .Unclosed", "{{ fail .ClusterType }}"]);
    let text = object.text.replacen("    - |\n", &format!("    - |\n      {line}\n"), 1);
    Some(state.replace(&object, text, format!("{object} broken")).with_health(Health::Breaks))
}

/// Makes a schema that is not valid.
pub(super) fn schema_broken(state: &State, random: &mut Random) -> Option<Draft> {
    let object = state.one_of("ConfigSchema", 0, random)?;
    let text = object.text.replacen("\"type\": \"object\"", "\"type\": 7", 1);
    Some(state.replace(&object, text, format!("{object} broken")).with_health(Health::Breaks))
}

/// Restores a broken file to its earlier text.
pub(super) fn fixed(state: &State, random: &mut Random) -> Option<Draft> {
    let broken: Vec<_> = state.broken.iter().collect();
    let (path, text) = *pick(&broken, random)?;
    Some(Draft::new(format!("{path} fixed"), [(path.clone(), Some(text.clone()))]).with_health(Health::Fixes))
}
