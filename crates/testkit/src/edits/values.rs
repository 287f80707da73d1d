//! Edits of `ConfigMap`s: of their values, and of the annotations that control the merge.

use simulator::random::Random;

use super::draft::{Draft, Health};
use super::object::{ANNOTATIONS, FileObject, METADATA, body, mapping, parts, with_mapping};
use super::state::{State, pick};

const DATA: &str = "data:";
const WORDS: [&str; 6] = ["ivory", "juniper", "kelp", "lagoon", "maple", "nectar"];

/// Changes a value or a nested value. In some cases, a schema rejects the new value.
pub(super) fn changed(state: &State, random: &mut Random) -> Option<Draft> {
    let object = state.one_of("ConfigMap", 0, random)?;
    let (before, data, after) = body(&object.text, DATA)?;
    let lines: Vec<&str> = data.lines().collect();
    let scalars: Vec<usize> = (0..lines.len()).filter(|index| has_scalar(lines[*index])).collect();
    let line = *pick(&scalars, random)?;
    let (key, old) = lines[line].split_once(": ")?;
    let is_top_level = key.starts_with("  ") && !key.starts_with("   ");
    let (new, health) = value(key.trim(), old, random);
    let new = if is_top_level { format!("\"{new}\"") } else { new };
    let changed = format!("{key}: {new}");
    let lines = lines.iter().enumerate().map(|(index, old)| if index == line { &*changed } else { *old });
    let data: String = lines.map(|line| format!("{line}\n")).collect();
    let what = format!("{} of {object}: {old} becomes {new}", key.trim());
    Some(state.replace(&object, format!("{before}{data}{after}"), what).with_health(health))
}

/// Adds a key. Often another map has the same key, or only this map has it.
pub(super) fn added(state: &State, random: &mut Random) -> Option<Draft> {
    let object = state.one_of("ConfigMap", 0, random)?;
    let (before, data, after) = body(&object.text, DATA)?;
    let keys = ["SETTING_03", "SETTING_11", "LIMIT_07", "REPLICAS", "LOG_LEVEL", "FRESH"];
    let key = random.pick(&keys);
    let value = match key {
        "LOG_LEVEL" => "debug".to_owned(),
        "LIMIT_07" | "REPLICAS" => format!("\"{}\"", 1 + random.below(90)),
        _ => random.pick(&WORDS).to_owned(),
    };
    if data.contains(&format!("  {key}:")) {
        return None;
    }
    Some(state.replace(&object, format!("{before}  {key}: {value}\n{data}{after}"), format!("{key} added to {object}")))
}

/// Removes a key. A schema may require it.
pub(super) fn removed(state: &State, random: &mut Random) -> Option<Draft> {
    let object = state.one_of("ConfigMap", 0, random)?;
    let (before, data, after) = body(&object.text, DATA)?;
    let mut entries = parts(data, 2);
    if entries.len() < 3 {
        return None;
    }
    let gone = entries.remove(random.below(entries.len() as u64) as usize);
    let what = format!("{} removed from {object}", gone.trim().split(':').next().unwrap_or_default());
    let text = format!("{before}{}{after}", entries.concat());
    Some(state.replace(&object, text, what).with_health(object.health_if_changed()))
}

/// Changes the priority of a map, or the merge strategy of one of its keys.
pub(super) fn annotation(state: &State, random: &mut Random) -> Option<Draft> {
    let object = state.one_of("ConfigMap", 0, random)?;
    let choices = [
        ("config.kalypso.io/priority", "\"10\""),
        ("config.kalypso.io/priority", "\"-1\""),
        ("config.kalypso.io/merge", "DATABASE=replace"),
        ("config.kalypso.io/merge", "append"),
    ];
    let (key, value) = *pick(&choices, random)?;
    let (text, what) = toggled(&object, (key, value));
    Some(state.replace(&object, text, what))
}

/// The text with this annotation. If the annotation already has this value, it is removed.
pub(super) fn toggled(object: &FileObject, (key, value): (&str, &str)) -> (String, String) {
    let mut annotations = mapping(&object.text, METADATA, ANNOTATIONS);
    let is_set = annotations.iter().any(|(name, old)| name == key && old == value);
    annotations.retain(|(name, _)| name != key);
    let what = if is_set {
        format!("annotation {key} of {object} removed")
    } else {
        annotations.push((key.to_owned(), value.to_owned()));
        format!("annotation {key} of {object} becomes {value}")
    };
    (with_mapping(&object.text, (METADATA, ANNOTATIONS), &annotations), what)
}

fn has_scalar(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(_, value)| value != "|") && !line.trim_start().starts_with('#')
}

/// Another value, and whether its type is one that a schema may reject.
fn value(key: &str, old: &str, random: &mut Random) -> (String, Health) {
    let is_number = old.trim_matches('"').parse::<i64>().is_ok();
    match key {
        "LOG_LEVEL" => (random.pick(&["debug", "info", "warning"]).to_owned(), Health::Same),
        _ if is_number && random.below(6) == 0 => ("several".to_owned(), Health::Breaks),
        _ if is_number => ((1 + random.below(90)).to_string(), Health::Same),
        _ => (random.pick(&WORDS).to_owned(), Health::Same),
    }
}
